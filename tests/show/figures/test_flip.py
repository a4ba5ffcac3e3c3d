"""The flip's numbers, and the command that writes figures."""

import json

from typer.testing import CliRunner

from holonomy.cli import app


def test_the_flip_by_the_command(tmp_path):
    done = CliRunner().invoke(app, ["reproduce", "flip", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "flip.png").stat().st_size > 10_000
    data = json.loads((tmp_path / "flip.json").read_text())
    assert data["flips"] == 4
    assert data["momentum_drift"] < 1e-12
    (tmp_path / "flip.json").unlink()
    again = CliRunner().invoke(app, ["reproduce", "flip", "--out", str(tmp_path)])
    assert again.exit_code == 2
    assert 'flip.png" is there already' in again.output.replace("\n", "")
    assert not (tmp_path / "flip.json").exists()


def test_an_unknown_figure_is_named_with_the_known_ones(tmp_path):
    done = CliRunner().invoke(app, ["reproduce", "flp", "--out", str(tmp_path / "none")])
    assert done.exit_code == 2
    assert 'Did you mean "flip"' in done.output
    assert not (tmp_path / "none").exists()

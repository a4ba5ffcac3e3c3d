"""What the documents say to type works as it stands."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(block, id=f"{path.relative_to(ROOT)}-{number}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for number, block in enumerate(BLOCK.findall(path.read_text()))
]


def test_the_readme_has_an_example() -> None:
    assert BLOCK.search((ROOT / "README.md").read_text())


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_in_a_document_runs(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "example.py"
    script.write_text(source)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))


def test_every_test_named_in_validation_exists() -> None:
    named = re.findall(r"`(tests/[^`:]+)(?:::[^`]*)?`", (ROOT / "docs" / "validation.md").read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_make_checks_runs_every_file_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of `make test` leave no test out, and those that begin first exist."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    checks = importlib.import_module("checks")
    every = checks.checks()
    named = {word for check in every for command in check.commands for word in command if word.startswith("tests/")}
    here = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert named == {name for name in here if not name.startswith("tests/proof/")}
    assert [name for name in checks.FIRST if name not in {check.name for check in every}] == []

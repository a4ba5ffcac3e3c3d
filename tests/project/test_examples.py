"""The twelve programs of a first day run as they stand, are short, and find what they say."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "first_day"
LONGEST = 25  # lines

# What each program must have found, in the names that it leaves; and the files that it writes.
FACTS: dict[str, tuple[Callable[[dict[str, Any]], bool], tuple[str, ...]]] = {
    "kepler": (lambda p: np.ptp(p["momentum"]) < 1e-13 and abs(p["run"].q[-1, 0] - 0.4) < 1e-7, (".png",)),
    "hoop": (lambda p: p["error"] < 1e-12 and p["rest"][-1] < -1.4, (".png",)),
    "spherical_pendulum": (lambda p: np.ptp(p["spin"]) < 1e-12 and p["run"].certificate.verdict == "good", (".png",)),
    "double_pendulum": (lambda p: p["run"].certificate.energy_drift_relative < 1e-6, (".gif", ".png")),
    "four_bar": (lambda p: p["run"]["constraint_error"].max() < 1e-12 and len(p["run"]) == 201, (".png",)),
    "rolling_disc": (lambda p: np.abs(p["radius"] - 2.0).max() < 1e-12, (".png",)),
    "bouncing_ball": (
        lambda p: abs(p["impacts"][0] - p["first"]) < 1e-12 and abs(p["rest"] - p["end"]) < 1e-6,
        (".png",),
    ),
    "torus_geodesics": (lambda p: p["many"].certificate.members == ("good",) * 10, (".png",)),
    "surface_curvature": (
        lambda p: abs(p["total"]) < 1e-3 and abs(float(p["curvature"].max()) - 4.0) < 1e-12,
        (".png",),
    ),
    "ensemble": (lambda p: 5.0 < p["first"] < 10.0 and len(p["many"]) == 1000, (".png",)),
    "fitted_parameter": (lambda p: abs(float(p["length"]) - 1.3) < 0.01, ()),
    "custom_method": (lambda p: np.abs(p["orders"] - 3.0).max() < 0.05, ()),
}


def test_there_are_twelve_short_programs() -> None:
    found = {path.stem: len(path.read_text().splitlines()) for path in FOLDER.glob("*.py")}
    assert set(found) == set(FACTS)
    assert len(found) == 12
    assert {name: lines for name, lines in found.items() if lines > LONGEST} == {}


def test_the_gallery_shows_every_program() -> None:
    """With its picture where it makes one; the site runs them."""
    page = (FOLDER.parents[1] / "docs" / "gallery.md").read_text()
    shown = set(re.findall(r'--8<-- "(examples/\w+/\w+\.py)"', page))
    there = {path for folder in ("first_day", "gallery") for path in (FOLDER.parent / folder).glob("*.py")}
    assert shown == {str(path.relative_to(FOLDER.parents[1])) for path in there}
    pictures = set(re.findall(r"\(gallery/(\w+\.\w+)\)", page))
    made = {ending for path in there for ending in re.findall(r'"(\w+\.(?:png|gif))"', path.read_text())}
    assert pictures == made
    assert len(pictures) >= 20


# those that take longer than two seconds; the site runs all of them, too
SLOW = ("double_pendulum", "four_bar", "rolling_disc", "bouncing_ball", "spherical_pendulum", "surface_curvature")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.proof) if n in SLOW else n for n in FACTS])
def test_a_program_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    holds, endings = FACTS[name]
    assert holds(runpy.run_path(str(FOLDER / f"{name}.py")))
    assert sorted(path.name for path in tmp_path.iterdir()) == [name + ending for ending in endings]

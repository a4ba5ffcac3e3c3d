"""The numbers behind the figures of locomotion."""

import numpy as np
import pytest

import holonomy as hl
from holonomy.show.figures import FIGURES
from holonomy.show.figures.pmpy_stroke import stationary_by_quadrature


def test_order_of_rigid_motions() -> None:
    data = FIGURES["fig-1.2"]().data
    assert data["distance between the results"] == pytest.approx(3.0)  # twice 3 times the sine of half the turn


def test_raft_and_scallop() -> None:
    assert FIGURES["raft"]().data["largest difference"] < 1e-12
    data = FIGURES["scallop"]().data
    assert np.abs(data["scallop, one joint"]).max() < 1e-14
    assert data["Purcell, two joints"][0] > 0.06


def test_stroke_of_two_balls() -> None:
    data = FIGURES["pmpy-stroke"]().data
    assert data["displacement"] == pytest.approx(data["minus the integral of B"], abs=1e-12)
    # strokes of balls far apart whose cost is stationary, which a quadrature gives
    np.testing.assert_allclose(
        data["stationary strokes: lengths by Wong's equations"], data["stationary strokes: by quadrature"], rtol=1e-8
    )
    np.testing.assert_allclose(
        data["stationary strokes: efficiencies by Wong's equations"], data["stationary strokes: known"], rtol=1e-8
    )


@pytest.mark.parametrize(("far", "largest"), [(2e3, 0.55), (2e3, 0.75), (1e4, 0.75), (5e4, 0.55), (2e5, 0.75)])
def test_strokes_far_apart_are_found_though_they_are_no_minimum(far: float, largest: float) -> None:
    """The cost falls where the balls come near; the place along l is free but for 1/l³ and for rounding."""
    swimmer, known = hl.PushMePullYou(), stationary_by_quadrature(largest)
    found = hl.perform(swimmer, hl.optimal_gait(swimmer, [known.displacement], start=[far, 0.5]))
    assert float(found.length) == pytest.approx(known.length, rel=1e-8)
    assert float(found.displacement[0]) == pytest.approx(known.displacement, rel=1e-8)


@pytest.mark.proof
def test_height_functions_and_curved_space() -> None:
    data = FIGURES["purcell-curvature"]().data
    moved = data["displacement"][0]
    assert moved == pytest.approx(0.087273, abs=5e-7)
    plain = abs(data["integral of the curvature"][0] - moved)
    corrected = abs(data["the same in minimum-perturbation coordinates"][0] - moved)
    assert corrected < 0.1 * plain
    data = FIGURES["curved-swim"]().data
    assert data["displacement"][[0, -1]] == pytest.approx([0.068991762550, -0.242415120642], abs=1e-12)
    assert abs(data["in the plane"]) < 1e-14

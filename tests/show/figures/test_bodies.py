"""The numbers behind the figures of bodies in curved space."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from holonomy.show.figures import FIGURES, rigid_bodies


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_separations_agree_with_reduced_equations():
    data = FIGURES["thesis-2.17"]().data
    assert all(error < 1e-12 for name, error in data.items() if name.endswith("error"))
    assert data["H s23"].max() > 2.0  # stretched in H³
    assert data["S s23"].max() <= 1.0 + 1e-12  # pressed together in S³


def test_orbits_close_and_periods_grow_with_energy():
    data = FIGURES["kepler-s3"]().data
    assert max(data["missed"]) < 1e-10
    assert np.all(np.diff(data["energy"]) > 0)
    assert np.all(np.diff(data["period"]) > 0)


def test_the_detector_feels_the_crossing():
    data = FIGURES["detector"]().data
    np.testing.assert_allclose([data["crossing"], data["peak"]], [14.24668, 56.402212], rtol=2e-6)


@pytest.mark.proof
def test_orders_and_the_floor_of_inner_products():
    data = FIGURES["thesis-2.14"]().data
    for where in "HS":
        for stages in (1, 2, 3):
            errors = data[f"{where} Gauss({stages}) polar"]
            assert abs(np.log2(errors[0] / errors[1]) - 2 * stages) < 0.6
        assert min(data[f"{where} Splitting(8)"]) < 1e-13
    data = FIGURES["thesis-2.15"]().data
    rough = next(values for name, values in data.items() if name.startswith("H the same"))
    assert rough.max() > 1e-6
    assert max(data[f"H {name}"].max() for name in ("Gauss(3) polar", "Splitting(8)")) < 1e-12


@pytest.mark.proof
def test_turning_out_of_the_plane_is_no_isometry():
    """Rods keep their lengths and medians do not; refined, the strain stays; a rod along E feels no curvature."""
    data = FIGURES["h2e-triangle"]().data
    assert data["sides"] < 1e-14
    assert np.ptp(data["median"]) > 0.03
    data = FIGURES["h2e-refine"]().data
    assert data["1 parts"].max() < 1e-14
    strains = [data[f"{parts} parts"].max() for parts in (2, 4, 8)]
    assert min(strains) > 0.03


@pytest.mark.proof
def test_a_rod_out_of_the_plane_and_a_fixed_tolerance():
    data = FIGURES["h2e-rod"]().data
    assert data["length"] < 1e-14
    assert np.max(np.abs(np.diff(data["multiplier"]))) < 0.1  # no jump where the heights of the ends agree
    data = FIGURES["rs2-oddity"]().data
    assert data["tolerance 1e-06"][-1] > data["tolerance 1e-06"][1]
    assert np.all(np.diff(data["to round-off"]) < 0)


@pytest.mark.proof
def test_multipliers_of_the_rigid_triangle_have_the_order_of_the_method():
    """Figures 2.20 and 2.21 in a short form: S³, two steps, t ≤ 2."""
    data = rigid_bodies.multipliers("triangle", "2", "3", steps=(0.1, 0.05), end=2.0, spaces="S").data
    for stages, order in (("2", 2.0), ("3", 5.0)):
        coarse, fine = (data[f"S Radau({stages}), dt = {dt:g}"].max() for dt in (0.1, 0.05))
        assert np.log2(coarse / fine) > order - 0.5
    assert data["S Rattle(6), dt = 0.05"].max() < 1e-13


@pytest.mark.proof
def test_balls_take_the_law_of_maxwell():
    """Their mean speed goes from 1 to (8/3π)^½, as the mean square stays 1."""
    data = FIGURES["collisions"]().data
    assert data["collisions"] > 1500
    assert abs(data["mean speed"] - np.sqrt(8.0 / (3.0 * np.pi))) < 0.015
    assert max(data["momenta"].max(), data["energy, relative"].max()) < 1e-12

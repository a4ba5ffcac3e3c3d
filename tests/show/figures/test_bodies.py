"""The numbers behind the figures of bodies in curved space."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from holonomy.show.figures import FIGURES


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

"""The figures about curved space show what the theorems say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from holonomy.show.figures import FIGURES


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_path_dependence_is_the_area_between_the_paths() -> None:
    data = FIGURES["thesis-2.1"]().data
    assert abs(data["angle"] - data["area"]) < 1e-13
    np.testing.assert_allclose(np.linalg.norm(data["yellow"]), np.linalg.norm(data["green"]), rtol=1e-14)


def test_geodesic_deviation() -> None:
    data = FIGURES["thesis-2.3"]().data
    s, half = data["S"]["s"], 0.35
    np.testing.assert_allclose(np.sin(data["S"]["separation"] / 2), np.sin(half) * np.cos(s), rtol=1e-13)
    np.testing.assert_allclose(data["E"]["separation"], 2 * half, rtol=1e-14)
    np.testing.assert_allclose(np.sinh(data["H"]["separation"] / 2), np.sinh(half) * np.cosh(s), rtol=1e-13)


def test_the_centre_of_the_ring_jumps() -> None:
    figure, data = FIGURES["ring-centre"]()
    above = data["ring"] < np.pi / 2 - 1e-6
    below = data["ring"] > np.pi / 2 + 1e-6
    assert np.all(data["centre"][above] == 0.0)
    assert np.all(data["centre"][below] == np.pi)
    np.testing.assert_allclose(data["distances"].sum(axis=1), np.pi, rtol=1e-14)
    assert len(figure.axes) == 4


@pytest.mark.proof
def test_holonomy_is_curvature() -> None:
    data = FIGURES["gauss-bonnet"]().data
    for surface in ("sphere", "hyperbolic plane", "ellipsoid"):
        assert np.abs(data[surface]["holonomy"] - data[surface]["curvature"]).max() < 1e-10
        assert np.abs(data[surface]["curvature"]).max() > 1.0

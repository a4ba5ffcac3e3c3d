"""The numbers behind the linkage figures."""

import numpy as np
import pytest

from holonomy.show.figures import FIGURES


@pytest.mark.parametrize("name", ["linkage-curvature", "linkage-masses"])
def test_curvature_on_three_spheres(name):
    made = FIGURES[name]()
    assert len(made.data) == 3
    for found in made.data.values():
        assert abs(found["total curvature / 4 pi"] - 1) < 1e-11
        assert found["K"][1] > 1.0
        assert found["bending"][0] > 0
    assert len(made.figure.axes) == 12


def test_the_metric():
    data = FIGURES["linkage-metric"]().data
    np.testing.assert_allclose(
        data["metric at t = pi/2"], [1.9143545256, 0.1660605918, 0.5659680632], rtol=0, atol=1e-10
    )
    assert data["largest difference of h_tt to three rods"] < 1e-12
    assert abs(data["area"] - 21.3263517842) < 1e-9


@pytest.mark.proof
def test_geodesics_and_routes():
    data = FIGURES["linkage-geodesics"]().data
    assert data["distance from the pole at time 1"] < 1e-12
    assert abs(data["energy drift"]) < 1e-12
    np.testing.assert_allclose(data["reference hinges"][1], [1.6101729244237, -0.5524515591697], rtol=0, atol=1e-11)
    data = FIGURES["linkage-routes"]().data
    for route in ("sphere", "chart", "embedding", "rods"):
        assert data[route]["divergence"][20] < 1e-8
        assert np.all(np.isfinite(data[route]["divergence"]))

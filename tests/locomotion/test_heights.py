"""Height functions, and the integrals of curvature that estimate large loops."""

import numpy as np
import pytest

import holonomy as hl
from holonomy.locomotion import body_velocity_integrals, heights


def test_height_functions_are_the_curvature() -> None:
    swimmer = hl.Purcell()
    shapes = np.random.default_rng(5).uniform(-1.5, 1.5, (40, 2))
    found = heights(swimmer, shapes)
    for k in (0, 17, 39):
        np.testing.assert_allclose(found[k], swimmer.curvature(shapes[k]), rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match="a row of 2 numbers for each shape"):
        heights(swimmer, shapes[:, :1])


def test_minimum_perturbation_coordinates_make_the_estimate_good() -> None:
    swimmer = hl.Purcell(length=1 / 3)
    for radius, share in ((0.6, 0.02), (1.0, 0.2)):
        gait = hl.Gait.ellipse(0.0, radius)
        exact, estimate = hl.perform(swimmer, gait).displacement, body_velocity_integrals(swimmer, gait)
        errors = [np.linalg.norm(x - exact) for x in estimate]
        assert errors[1] < share * errors[0]
    # where the group commutes nothing is to be corrected
    pair, gait = hl.PushMePullYou(), hl.Gait.ellipse([3.0, 0.5], [0.4, 0.2])
    estimate = body_velocity_integrals(pair, gait)
    np.testing.assert_allclose(estimate.corrected, hl.perform(pair, gait).displacement, rtol=0, atol=1e-12)

"""Damped springs by Splitting: its orders, and momentum maps that stay while energy goes."""

import numpy as np
import pytest

import holonomy as hl
from holonomy.models import bodies
from holonomy.motion.methods.default import default_method

SPACE = hl.Sphere(3)
TRIANGLE = bodies.triangle(SPACE, 1.0, stiffness=3.0, damping=0.4)
WORLD = hl.World(SPACE, TRIANGLE.body)
VELOCITIES = WORLD.killing_velocities(TRIANGLE.points, rotate_xw=1.0, rotate_yz=0.5)


def moved(method, dt):
    return hl.simulate(WORLD, TRIANGLE.points, VELOCITIES, 1.0, dt=dt, method=method)


@pytest.fixture(scope="module")
def reference():
    return moved(hl.Gauss(3), 0.005)


@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_the_order_of_a_damped_motion_is_that_of_the_splitting(order, reference):
    runs = [moved(hl.Splitting(order), dt) for dt in (0.1, 0.05)]
    errors = [abs(float(run.distance(0, 1)[-1] - reference.distance(0, 1)[-1])) for run in runs]
    assert errors[1] < 1e-13 or np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    assert errors[0] < 2e-3


def test_momentum_maps_stay_and_energy_goes():
    run = moved(hl.Splitting(4), 0.05)
    first, last = (WORLD.momentum_maps(run.q[k], run.v[k]) for k in (0, -1))
    for name, value in first.items():
        assert float(last[name]) == pytest.approx(float(value), abs=2e-15)
    assert np.all(np.diff(run.energy) < 0.0)
    assert run.energy[-1] < run.energy[0] - 5e-3


def test_large_damped_bodies_take_splitting_and_small_ones_gauss():
    sheet = bodies.cloth(SPACE, 6, 7, 0.05, damping=0.1)
    method, why = default_method(hl.World(SPACE, sheet.body))
    assert (method.label, "momentum maps" in why) == ("Splitting(4)", True)
    assert default_method(WORLD)[0].label == "Gauss(3)"


def test_other_forces_that_depend_on_the_velocity_are_refused_still():
    with pytest.raises(ValueError, match="a force on this one depends on v"):
        hl.simulate(WORLD.forced(lambda t, q, v: -v), TRIANGLE.points, VELOCITIES, 0.1, dt=0.1, method=hl.Splitting(4))


def test_deformation_by_kind():
    plane = hl.Euclidean(2)
    springs, cells = [(0, 1, 1.0, 2.0), (1, 2, 1.0, 1.0)], [(0, 1, 2, 1.0, 2.0)]
    body = hl.Body([1.0] * 3, springs=springs, angles=[(1, 0, 2, 1.0, 1.0)], volumes=cells)
    found = hl.World(plane, body).deformation(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]).ravel())
    np.testing.assert_allclose(found["springs"], [0.5, 4.0], rtol=1e-15)
    np.testing.assert_allclose(found["angles"], [np.pi / 2 - 1.0], rtol=1e-14)
    np.testing.assert_allclose(found["areas"], [2.0], rtol=1e-12)
    assert set(found) == {"springs", "angles", "areas"}

"""Coordinates given as arrays: functions get them in their shapes, and the motion is that of the row of numbers."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


def energy(x, u):
    return 0.5 * jnp.sum(u * u) - 0.5 * jnp.sum((x[1:] - x[:-1]) ** 2) - 0.25 * jnp.sum(x**4)


GRID = hl.System.from_lagrangian(lambda t, q, v: energy(q, v), coordinates={"x": (3, 2)})
START = np.random.default_rng(0).normal(size=(3, 2))


def test_one_array():
    row = hl.System.from_lagrangian(lambda t, q, v: energy(q.reshape(3, 2), v.reshape(3, 2)), space=hl.Euclidean(6))
    shaped, flat = (hl.simulate(s, q, 0 * q, 1.0, dt=0.1) for s, q in ((GRID, START), (row, START.ravel())))
    np.testing.assert_array_equal(shaped.q, flat.q)
    np.testing.assert_array_equal(shaped["x"], flat.q.reshape(-1, 3, 2))
    np.testing.assert_array_equal(shaped["x_2_1_dot"], shaped["x_dot"][:, 2, 1])
    np.testing.assert_array_equal(hl.simulate(GRID, {"x": START}, {"x": 0 * START}, 1.0, dt=0.1).q, flat.q)
    assert repr(GRID) == "<System: coordinates x 3 × 2>"


def test_forces_constraints_and_events_see_the_shape():
    held = GRID.forced(lambda t, q, v: -0.5 * v).constrained(holonomic=lambda t, q: q[0] - START[0])
    reset = hl.Event(lambda t, q, v: q[1, 0] - 0.5, action=lambda t, q, v: (q, v), name="half")
    run = hl.simulate(held, START, 0 * START, 3.0, dt=0.05, events=[reset])
    assert np.abs(run["x"][:, 0] - START[0]).max() < 1e-13
    assert run.energy[-1] < run.energy[0]
    assert len(run.events) > 0


def test_several_arrays_by_name():
    def lagrangian(t, q, v, p):
        return 0.5 * jnp.sum(v.x**2) + 0.5 * v.theta**2 - p.k * jnp.sum(q.x**2) * jnp.cos(q.theta)

    system = hl.System.from_lagrangian(
        lagrangian, coordinates={"x": (2, 2), "theta": "angle"}, parameters={"k": 0.5}
    ).forced(lambda t, q, v, p: (jnp.zeros((2, 2)), -v.theta))
    run = hl.simulate(system, {"x": np.ones((2, 2)), "theta": 0.3}, {"x": np.zeros((2, 2)), "theta": 0.0}, 1.0, dt=0.1)
    assert run["x"].shape == (11, 2, 2)
    assert run["theta"].shape == (11,)
    assert repr(system) == "<System: coordinates x 2 × 2, theta; parameters k = 0.5; 1 force>"


@pytest.mark.parametrize("shape", [(0, 3), (), (2, True), -1])
def test_wrong_shapes_are_named(shape):
    with pytest.raises(ValueError, match="shape of coordinates 'x' is a whole number or whole numbers from 1"):
        hl.System.from_lagrangian(lambda t, q, v: 0.0, coordinates={"x": shape})


def test_a_start_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"q0 must have shape \(3, 2\)"):
        hl.simulate(GRID, START[:2], START[:2], 1.0)

"""Which Lagrangians on groups are seen to be left-invariant up to a potential, and which must not be."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.spaces import quaternion
from holonomy.systems import left_invariant
from holonomy.systems.left_invariant import Reduction

TURNS, PLACES = hl.SO3(), hl.SE3()
FREE, POTENTIAL = Reduction.FREE, Reduction.POTENTIAL


def spin(q, v):
    return jnp.dot(jnp.array([1.0, 1.7, 2.3]), TURNS.body_velocity(q, v) ** 2)


def by_matrices(t, q, v):
    """The kinetic energy of four masses in the body, from their places in space."""
    places = jnp.array([[1.0, 0, 0], [0, 1.3, 0], [0, 0, 0.7], [0.4, 0.4, 0]])
    r = quaternion.to_matrix(q)
    rate = quaternion.rotate(q, TURNS.body_velocity(q, v))
    return 0.5 * jnp.sum(jnp.cross(rate[None, :], places @ r.T) ** 2)


def moved(t, g, v):
    return 0.5 * jnp.dot(v[4:], v[4:]) + spin(g[:4], v[:4]) - jnp.sqrt(1.0 + jnp.dot(g[4:], g[4:]))


REDUCED = {
    "rigid body": (lambda t, q, v: 0.5 * spin(q, v), TURNS, FREE),
    "masses by matrices": (by_matrices, TURNS, FREE),
    "not quadratic": (lambda t, q, v: -jnp.sqrt(1.0 - 0.1 * spin(q, v)), TURNS, FREE),
    "a branch of the body velocity": (lambda t, q, v: jnp.where(spin(q, v) > 1.0, 2.0, 1.0) * spin(q, v), TURNS, FREE),
    "driven potential": (lambda t, q, v: spin(q, v) - jnp.cos(t) * q[1] * jnp.abs(q[2]), TURNS, POTENTIAL),
    "velocity in space": (moved, PLACES, POTENTIAL),
    "two bodies": (
        lambda t, q, v: spin(q[:4], v[:4]) + 2.0 * spin(q[4:], v[4:]) - jnp.dot(q[:4], q[4:]) ** 2,
        TURNS**2,
        POTENTIAL,
    ),
}

WHOLE = {
    "velocity in space on SO3": lambda t, q, v: jnp.dot(v[:2], v[:2]) + spin(q, v),
    "mass that depends on the place": lambda t, q, v: (1.0 + q[1] ** 2) * spin(q, v),
    "mass that jumps": lambda t, q, v: jnp.where(q[1] > 0.999, 2.0, 1.0) * spin(q, v),
    "tiny coupling": lambda t, q, v: spin(q, v) + 1e-17 * q[1] * spin(q, v),
    "magnetic": lambda t, q, v: spin(q, v) + 0.1 * q[1] * v[2],
    "division by a coordinate": lambda t, q, v: spin(q, v * q[1]) / q[1] ** 2,
    "an infinite function of a coordinate": lambda t, q, v: (
        spin(q, v) * (1.0 + jax.lax.lgamma(q[1]) - jax.lax.lgamma(q[1]))
    ),
    "no derivative at rest": lambda t, q, v: spin(q, v) + jnp.sqrt(spin(q, v)) - q[1],
}


@pytest.mark.parametrize("name", REDUCED)
def test_found(name):
    lagrangian, space, expected = REDUCED[name]
    assert left_invariant.find(hl.System.from_lagrangian(lagrangian, space=space)) is expected


@pytest.mark.parametrize("name", WHOLE)
def test_not_found(name):
    assert left_invariant.find(hl.System.from_lagrangian(WHOLE[name], space=TURNS)) is None


def test_spaces_that_are_no_groups():
    ball = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.dot(v, v), space=hl.Sphere(2))
    line = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.dot(v, v), coordinates=("x",))
    assert left_invariant.find(ball) is None
    assert left_invariant.find(line) is None


@pytest.mark.parametrize(("space", "stages"), [(TURNS, 1), (TURNS, 3), (PLACES, 2)], ids=str)
def test_motion_is_that_of_the_whole_lagrangian(space, stages, monkeypatch):
    """The reduced equations are the same equations: without the reduction the motion is the same, with a force too."""

    def lagrangian(t, g, v, p):
        turn = TURNS.body_velocity(g[:4], v[:4])
        return 0.5 * jnp.dot(p.inertia, turn**2) + 0.5 * jnp.dot(v[4:], v[4:]) - p.k * g[1] * g[2] - jnp.sum(g[4:] ** 2)

    def drag(t, g, v, p):
        return -0.2 * v

    system = hl.System.from_lagrangian(
        lagrangian, space=space, parameters={"inertia": np.array([1.0, 2.0, 2.5]), "k": 0.8}
    ).forced(drag)
    q = np.asarray(space.project(np.arange(1.0, 1.0 + space.point_dim)))
    v = np.asarray(space.lift(q, np.linspace(0.4, 1.1, space.dim)))

    def end():
        run = hl.simulate(system, q, v, 2.0, dt=0.1, method=hl.Gauss(stages))
        return np.concatenate([run.q[-1], run.v[-1]])

    assert left_invariant.find(system) is POTENTIAL
    reduced = end()
    monkeypatch.setattr(left_invariant, "find", lambda system: None)
    np.testing.assert_allclose(reduced, end(), rtol=0, atol=1e-13)

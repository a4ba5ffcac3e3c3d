"""Steering between configurations: closed forms, and properties of geodesics."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


def test_heisenberg_group_both_ways() -> None:
    """A goal straight above is reached by a circle, at the cost of 2 pi times the height."""
    height = 0.7
    mover = hl.Mover.from_connection(lambda r: jnp.stack([jnp.zeros(()), r[0]])[None], hl.Euclidean(1), 2)
    found = hl.steer(mover, [0.1, 0.0, 0.0], [0.1 + height, 0.0, 0.0])
    assert found.cost == pytest.approx(2 * np.pi * height, rel=1e-9)
    np.testing.assert_allclose(found.q[-1], [0.1 + height, 0.0, 0.0], rtol=0, atol=1e-12)

    def lagrangian(t: Any, q: Any, v: Any) -> Any:
        # in coordinates with z replaced by w = z + xy/2 the cost is still that of x and y alone
        return 0.5 * (v[0] ** 2 + v[1] ** 2 + 1e-12 * v[2] ** 2)

    system = hl.System.from_lagrangian(lagrangian, coordinates=("x", "y", "z"))
    system = system.constrained(velocity=lambda t, q, v: jnp.stack([v[2] - 0.5 * (q[0] * v[1] - q[1] * v[0])]))
    again = hl.steer(system, [0.0, 0.0, 0.0], [0.0, 0.0, height])
    assert again.cost == pytest.approx(2 * np.pi * height, rel=1e-7)
    np.testing.assert_allclose(again.q[-1], [0.0, 0.0, height], rtol=0, atol=1e-12)


@pytest.mark.proof
def test_a_ball_is_rolled_to_another_attitude() -> None:
    """The rotation and the place of contact are prescribed; the ball turns as its path says."""
    ball = hl.Mover.from_connection(lambda r: jnp.array([[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]]), hl.SO3(), 2)
    first, last = hl.SO3().group_exp([0.2, 0.1, -0.3]), hl.SO3().group_exp([0.4, -0.5, 0.6])
    found = hl.steer(ball, [*first, 0.0, 0.0], [*last, 0.3, 0.2])
    assert abs(float(np.dot(found.q[-1, :4], last))) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(found.q[-1, 4:], [0.3, 0.2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.q[:, :4], axis=1), 1.0, rtol=0, atol=1e-13)
    # a geodesic has constant speed
    moved = np.linalg.norm(np.diff(found.q[:, 4:], axis=0), axis=1)
    assert 0.5 * np.sum(moved) ** 2 == pytest.approx(found.cost, rel=1e-3)


@pytest.mark.proof
def test_skate_moves_sideways_at_constant_speed() -> None:
    """A knife edge gets beside itself; geodesics have constant speed, so that the cost is half the length squared."""

    def edge(t: Any, q: Any, v: Any) -> Any:
        return jnp.stack([-jnp.sin(q[2]) * v[0] + jnp.cos(q[2]) * v[1]])

    system = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v, coordinates=("x", "y", "theta"))
    found = hl.steer(system.constrained(velocity=edge), [0.0, 0.0, 0.0], [0.0, 0.5, 0.0])
    np.testing.assert_allclose(found.q[-1], [0.0, 0.5, 0.0], rtol=0, atol=1e-12)
    moved = np.diff(found.q, axis=0)
    middle = 0.5 * (found.q[1:, 2] + found.q[:-1, 2])
    assert np.abs(-np.sin(middle) * moved[:, 0] + np.cos(middle) * moved[:, 1]).max() < 1e-5
    length = np.sum(np.linalg.norm(moved, axis=1))
    assert 0.5 * length**2 == pytest.approx(found.cost, rel=1e-4)
    assert found.miss < 1e-12


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="steer takes a Mover or a System"):
        hl.steer(3.0, [0.0], [1.0])
    with pytest.raises(ValueError, match="start is a configuration of 5 finite numbers"):
        hl.steer(hl.models.car(), [0.0], [1.0])
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v, coordinates=("x", "y"))
    with pytest.raises(ValueError, match="with velocity constraints"):
        hl.steer(free, [0.0, 0.0], [1.0, 0.0])
    closed = hl.Mover.from_connection(lambda r: jnp.ones((1, 1)), hl.Euclidean(1), 1)  # x is minus the shape, always
    with pytest.raises(ValueError, match="No motion to the goal was found"):
        hl.steer(closed, [0.0, 0.0], [1.0, 0.0])

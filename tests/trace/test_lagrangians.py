"""The Lagrangians of the examples: value, gradients, mass matrix and acceleration, against XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.trace.compare import check

G = 9.81


def pendulum(t, q, v):
    return 0.5 * 1.3 * 0.7**2 * v[0] ** 2 + 1.3 * G * 0.7 * jnp.cos(q[0])


def double_pendulum(t, q, v):
    kinetic = v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * jnp.cos(q[0] - q[1])
    return kinetic + G * (2 * jnp.cos(q[0]) + jnp.cos(q[1]))


def spherical_pendulum(t, q, v):
    return 0.5 * (v[0] ** 2 + jnp.sin(q[0]) ** 2 * v[1] ** 2) + G * jnp.cos(q[0])


def kepler(t, q, v):
    return 0.5 * jnp.dot(v, v) + 1.0 / jnp.linalg.norm(q)


def kepler_polar(t, q, v):
    return 0.5 * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2) + 1.0 / q[0]


def hoop(t, q, v):
    """A bead on a hoop that turns, its speed of turning a function of time."""
    return 0.5 * (v[0] ** 2 + (jnp.sin(q[0]) * (2.0 + 0.1 * jnp.sin(t))) ** 2) + G * jnp.cos(q[0])


def ellipse_wire(t, q, v):
    def place(s):
        return jnp.array([2.0 * jnp.cos(s), 0.8 * jnp.sin(s)])

    x, velocity = jax.jvp(place, (q[0],), (v[0],))
    return 0.5 * velocity @ velocity - G * x[1]


def elastic_pendulum(t, q, v):
    x, w = q.reshape(2, 2), v.reshape(2, 2)
    ends = jnp.concatenate([jnp.zeros((1, 2)), x])
    stretch = jnp.sqrt(jnp.sum((ends[1:] - ends[:-1]) ** 2, axis=1)) - 1.0
    return 0.5 * jnp.sum(w * w) - 0.5 * 80.0 * jnp.sum(stretch**2) - G * jnp.sum(x[:, 1])


def chain_by_positions(t, q, v):
    """Five links, from their positions."""

    def place(angles):
        return jnp.cumsum(jnp.stack([jnp.sin(angles), -jnp.cos(angles)], 1), axis=0)

    x, w = jax.jvp(place, (q,), (v,))
    return 0.5 * jnp.sum(w * w) - G * jnp.sum(x[:, 1])


def cart_and_pendulum(t, q, v):
    return 0.5 * 3.0 * v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * jnp.cos(q[1]) + G * jnp.cos(q[1]) - 0.5 * q[0] ** 2


def hyperbolic_plane(t, q, v):
    return 0.5 * (v[0] ** 2 + jnp.sinh(q[0]) ** 2 * v[1] ** 2) - 0.2 * jnp.log(jnp.cosh(q[0]))


def charged_particle(t, q, v):
    """A magnetic field: a term linear in the velocity."""
    return 0.5 * jnp.dot(v, v) + 0.7 * (q[0] * v[1] - q[1] * v[0]) - 0.1 * jnp.exp(-jnp.dot(q, q))


LAGRANGIANS: list[tuple[Callable[..., Any], int]] = [
    (pendulum, 1),
    (double_pendulum, 2),
    (spherical_pendulum, 2),
    (kepler, 3),
    (kepler_polar, 2),
    (hoop, 1),
    (ellipse_wire, 1),
    (elastic_pendulum, 4),
    (chain_by_positions, 5),
    (cart_and_pendulum, 2),
    (hyperbolic_plane, 2),
    (charged_particle, 2),
]


@pytest.mark.parametrize("lagrangian, n", LAGRANGIANS, ids=lambda x: getattr(x, "__name__", ""))
def test_lagrangian_and_its_derivatives_agree_with_xla(lagrangian: Callable[..., Any], n: int) -> None:
    def derivatives(t: Any, q: Any, v: Any) -> Any:
        momentum = jax.grad(lagrangian, 2)
        mass = jax.jacfwd(momentum, 2)(t, q, v)
        _, turning = jax.jvp(lambda s, x: momentum(s, x, v), (t, q), (jnp.ones_like(t), v))
        force = jax.grad(lagrangian, 1)(t, q, v) - turning
        hessian = jax.hessian(lagrangian, 1)(t, q, v)
        return lagrangian(t, q, v), momentum(t, q, v), mass, force, hessian, jnp.linalg.solve(mass, force)

    q = np.linspace(0.6, 1.3, n)
    v = np.linspace(-0.4, 0.7, n)
    check(derivatives, (np.float64(0.3), q, v))


def test_a_third_derivative_agrees_with_xla() -> None:
    def power(x):
        return jnp.sin(x) * jnp.exp(-x * x) / (1 + x * x)

    f = power
    for _ in range(3):
        f = jax.grad(f)
    check(f, (np.float64(0.4),))

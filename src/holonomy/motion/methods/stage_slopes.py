r"""Derivatives of the Lagrangian at a stage of a variational step, on a curved space.

Those of \(\ell(\xi) - V(g)\) on a group (`systems.left_invariant`) are taken in the algebra. With the body velocity
\(\xi = J(y)\,w\) and \(\mu = \partial\ell/\partial\xi\) they are \(J^\top\mu\) by w, \(\partial_y(\mu\cdot J(y)w)\)
by y and none by the base point; the potential adds its torque \(\tau\): \(J^\top\tau\) by y and
\(D^\top J^\top\tau\) by the base point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.spaces import left_translation
from holonomy.systems import left_invariant
from holonomy.systems.in_chart import Local
from holonomy.systems.left_invariant import Reduction
from holonomy.types import Number, Vector


class Slopes(NamedTuple):
    """Derivatives of L at a stage, forces included: by coordinates, by velocities, and by the base point."""

    position: Float[Array, "*stages n"]
    velocity: Float[Array, "*stages n"]
    base: Float[Array, "*stages n"]


Part: TypeAlias = Callable[[Number, Vector, Vector], Slopes]


def parts(local: Local) -> list[Part]:
    """The slopes as a sum: of what depends on the velocity most, and of potential and forces where they are apart."""
    reduction = left_invariant.find(local.system)
    if reduction is None:
        found = [_whole(local)]
    elif reduction is Reduction.FREE:
        found = [_kinetic(local)]
    else:
        found = [_kinetic(local), _potential(local)]
    force = local.force
    return found if force is None else [*found, _work(local, force)]


def added(slopes: list[Slopes]) -> Slopes:
    """The sum of slopes."""
    total = slopes[0]
    for more in slopes[1:]:
        total = Slopes(*(a + b for a, b in zip(total, more, strict=True)))
    return total


def _whole(local: Local) -> Part:
    space, anchor = local.system.space, local.anchor

    def slopes(t: Number, y: Vector, w: Vector) -> Slopes:
        def lagrangian(y: Vector, w: Vector, xi: Vector) -> Array:
            x, v = jax.jvp(lambda z: space.shifted_chart(anchor, xi, z), (y,), (w,))
            return local.system.raw_lagrangian(t, x, v)

        return Slopes(*jax.grad(lagrangian, argnums=(0, 1, 2))(y, w, jnp.zeros_like(y)))

    return slopes


def _kinetic(local: Local) -> Part:
    space = local.system.space

    def slopes(t: Number, y: Vector, w: Vector) -> Slopes:
        xi, pull = jax.vjp(lambda y, w: left_translation.body_rate(space, y, w), y, w)
        by_position, by_velocity = pull(left_invariant.momentum(local.system, t, xi))
        return Slopes(by_position, by_velocity, jnp.zeros_like(y))

    return slopes


def _potential(local: Local) -> Part:
    space = local.system.space

    def slopes(t: Number, y: Vector, w: Vector) -> Slopes:
        pull = jax.vjp(lambda w: left_translation.body_rate(space, y, w), w)[1]
        (torque,) = pull(left_invariant.torque(local.system, t, local.point(y)))
        return Slopes(torque, jnp.zeros_like(y), space.pull_shift(local.anchor, y, torque))

    return slopes


def _work(local: Local, force: Callable[[Number, Vector, Vector], Vector]) -> Part:
    def slopes(t: Number, y: Vector, w: Vector) -> Slopes:
        given = force(t, y, w)
        return Slopes(given, jnp.zeros_like(y), local.system.space.pull_shift(local.anchor, y, given))

    return slopes

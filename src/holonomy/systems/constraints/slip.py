r"""The slip at point contacts: how fast what touches moves along the surface it touches.

A wall \(\sigma(t,q) \ge 0\) acts on particles \(x_k(t,q)\) by the smallest forces that do its work, along
\(N = J(J^\top J)^{-1}\nabla\sigma\), J the derivative of all positions. Where one particle touches a surface, N is the
surface's normal there; where two touch each other, theirs, opposite to each other. The slip is the velocity of the one,
or the relative velocity of the two, in the plane that is orthogonal to N: in the frame of one tangent in the plane
(the normal turned clockwise, so that a floor has x along it), of two in space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from holonomy.systems.constraints.conditions import Friction, Walls
from holonomy.systems.dense_solve import solve
from holonomy.systems.parameters import number
from holonomy.types import ArrayFunction, Numbers

if TYPE_CHECKING:
    from holonomy.systems.system import System
    from holonomy.systems.tracing import Frame

Positions = Callable[..., Float[Array, "particles d"]]


def slip_of(positions: Positions, sigma: Callable[..., Float[Array, " c"]]) -> Callable[..., Float[Array, "c e"]]:
    """The slips \\((t, q, v[, p])\\) of the contacts of sigma(t, q[, p]), one row of d - 1 numbers for each."""

    def slip(t: Any, q: Any, v: Any, *last: Any) -> Any:
        def place(t: Any, q: Any) -> Any:
            return positions(t, q, *last)

        moving = jax.jvp(place, (t, q), (jnp.ones_like(t), v))[1]
        slope = jax.jacfwd(lambda x: place(t, x).reshape(-1))(q)
        gradients = jax.jacrev(lambda x: sigma(t, x, *last))(q)

        def one(gradient: Any) -> Any:
            forces = (slope @ solve(slope.T @ slope, gradient, definite=True)).reshape(moving.shape)
            sizes = jnp.sum(forces**2, axis=1)
            first = jnp.arange(sizes.size) == jnp.argmax(sizes)
            chief = jnp.sum(jnp.where(first[:, None], forces, 0.0), axis=0)
            length = jnp.sqrt(jnp.sum(chief**2))
            normal = chief / jnp.where(length > 0, length, 1.0)
            share = forces @ normal / jnp.where(length > 0, length, 1.0)
            return tangents(normal) @ (share @ moving)

        return jnp.stack([one(gradient) for gradient in gradients])

    return slip


def tangents(normal: Float[Array, " d"]) -> Float[Array, "e d"]:
    """An orthonormal frame, in rows, of the plane orthogonal to a unit vector of the plane or of space."""
    if normal.shape[0] == 2:
        return jnp.stack([normal[1], -normal[0]])[None]
    x, y, z = normal
    sign = jnp.where(z < 0, -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return jnp.stack([jnp.stack([1.0 + sign * x * x * a, sign * b, -sign * x]), jnp.stack([b, sign + y * y * a, -y])])


def with_friction(
    system: System,
    frame: Frame,
    before: Walls,
    changed: Walls,
    friction: Numbers | None,
    slip: ArrayFunction | None,
) -> Walls:
    """The walls `changed`, with friction at those that were not there `before`; a ValueError for what is wrong."""
    known = before.friction
    count = changed.counts[0] - before.counts[0]
    if friction is None:
        if slip is not None:
            raise ValueError("slip= says how fast contacts slide, which only friction needs; pass friction= too.")
        if not known.dim:
            return changed
        friction = 0.0
    given = number("friction", friction)
    if given.shape not in ((), (count,)):
        raise ValueError(
            f"friction must be one number, or one for each of the {count} unilateral constraints; got shape "
            f"{tuple(given.shape)}."
        )
    if not isinstance(given, Tracer) and not np.all(given >= 0):
        raise ValueError(f"friction must not be negative; got {np.asarray(given).tolist()}.")
    if changed.counts[1]:
        raise ValueError("Friction cannot be mixed with conditions on velocities that only push yet; drop one.")
    if before.counts[0] and not known.dim:
        raise ValueError("Pass all unilateral constraints with friction in one call, 0 for those that are smooth.")
    function, numbers = _slips(system, frame, changed.unilateral[-1], count, slip)
    if known.dim and known.dim != numbers:
        raise ValueError(f"All contacts must slide in as many directions; these have {numbers}, others {known.dim}.")
    every = jnp.broadcast_to(jnp.asarray(given, float), (count,))
    if known.dim:
        every = jnp.concatenate([jnp.asarray(known.coefficients), every])
    if not isinstance(every, Tracer):
        every = np.asarray(every)
    return replace(changed, friction=Friction(every, (*known.slips, function), numbers))


def _slips(system: Any, frame: Any, sigma: Any, count: int, slip: Any) -> tuple[Any, int]:
    example = frame.example(velocity=True)
    if slip is None:
        positions = system.positions
        if positions is None:
            raise ValueError(
                "friction needs to know how fast contacts slide: make the system with from_positions, or pass "
                "slip=s(t, q, v), the tangential velocity at each unilateral constraint."
            )
        if not system.flat:
            raise ValueError(
                f"On {system.space}, friction needs slip=s(t, q, v), the tangential velocity at each wall."
            )
        d = jax.eval_shape(positions, *frame.example()).shape[1]
        if d not in (2, 3):
            raise ValueError(f"friction needs particles in the plane or in space; their positions have {d} components.")
        slip = slip_of(positions, sigma)
    traced, shape = frame.trace("slip", frame.given(slip, velocity=True), example)
    if shape == (count,) or (count == 1 and shape == ()):
        return frame.trace("slip", lambda *args: jnp.reshape(traced(*args), (count, 1)), example)[0], 1
    if len(shape) != 2 or shape[0] != count or shape[1] not in (1, 2):
        raise ValueError(
            f"slip must return one number, or one row of two, for each of the {count} unilateral constraints; it "
            f"returned shape {tuple(shape)}."
        )
    return traced, shape[1]

r"""The slip at point contacts: how fast what touches moves along the surface it touches.

A wall \(\sigma(t,q) \ge 0\) acts on particles \(x_k(t,q)\) by the smallest forces that do its work, along
\(N = J(J^\top J)^{-1}\nabla\sigma\), J the derivative of all positions. Where one particle touches a surface, N is the
surface's normal there; where two touch each other, theirs, opposite to each other. The slip is the velocity of the one,
or the relative velocity of the two, in the plane that is orthogonal to N: in the frame of one tangent in the plane
(the normal turned clockwise, so that a floor has x along it), of two in space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.systems.linear import solve

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

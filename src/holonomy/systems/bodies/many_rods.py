r"""Lengths of many rods and their differentials in spaces of constant curvature, one array for each component.

With \(\kappa\) the sign of the curvature, lengths in units of the radius and \(q = \sin^2(d/2)\), \(d^2/4\) or
\(\sinh^2(d/2)\), the gradient of the distance from x to y is at x

\[ \nabla_x d = -\frac{y - x + 2\kappa q\,x}{2\sqrt{q(1-\kappa q)}}. \]

The space's own functions, differentiated rod by rod, are the same and take five times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace
from holonomy.systems.bodies.body import Elements
from holonomy.systems.bodies.many_vertices import FEWEST, ManyVertices, chord, radius_of, ratio_of_lengths, sign_of
from holonomy.types import Number, Point, Tangent

if TYPE_CHECKING:
    from holonomy.systems.bodies.world import World

Lengths = Float[Array, " rods"]
Points = Float[Array, "vertices point"]
Ends = tuple[Float[Array, "point rods"], ...]


def applies(space: AbstractSpace, elements: Elements) -> bool:
    """Whether rods are so many, and the space such a one, that these formulas are worth it."""
    return sign_of(space) is not None and len(elements) >= FEWEST


def stretches(space: AbstractSpace, x: Points, ends: np.ndarray, wanted: Lengths) -> Lengths:
    r"""By how much the distances d of the ends of each rod exceed the lengths l that are wanted.

    In flat space \((d^2 - l^2)/2l\), which vanishes with the same differential and takes no root.
    """
    sign, radius = _known(space)
    if sign == 0:
        apart = columns(x.T, ends[:, 0]) - columns(x.T, ends[:, 1])
        return 0.5 * (_square(apart) / wanted - wanted)
    a, b = (columns(x.T, column) / radius for column in ends.T)
    q = _chord(sign, a, b)
    return (2.0 * radius * ratio_of_lengths(q, sign) * jnp.sqrt(q))[0] - wanted


def gradients(space: AbstractSpace, x: Points, ends: np.ndarray, wanted: Lengths) -> tuple[Ends, Ends]:
    """The gradients of the stretches at both ends of each rod, as covectors and as vectors, by components."""
    sign, radius = _known(space)
    if sign == 0:
        along = (columns(x.T, ends[:, 1]) - columns(x.T, ends[:, 0])) * (1.0 / wanted)[None]
        return (-along, along), (-along, along)
    a, b = (columns(x.T, column) / radius for column in ends.T)
    q = _chord(sign, a, b)
    size = 0.5 / jnp.sqrt(q * (1.0 - sign * q))
    apart = b - a
    vectors = -size * (apart + 2.0 * sign * q * a), size * (apart - 2.0 * sign * q * b)
    signature = np.append(np.ones(x.shape[1] - 1), -1.0 if sign < 0 else 1.0)[:, None]
    return tuple(one * signature for one in vectors), vectors


def columns(x: Float[Array, "*rows n"], index: np.ndarray) -> Array:
    """The entries with these numbers along the last axis: a slice where the numbers follow each other, which reads no
    table and is part of the loop that uses it."""
    first = int(index[0])
    if np.array_equal(index, np.arange(first, first + len(index))):
        return x[..., first : first + len(index)]
    return x.at[..., jnp.asarray(index)].get(mode="promise_in_bounds")


def moved(world: World, h: Number | Float[Array, " vertices"], q: Point, v: Tangent) -> tuple[Point, Tangent]:
    """Every vertex moved along its geodesic for the time h, or each for its own."""
    each = h if isinstance(h, Array) and h.ndim > 0 else None
    if each is None and sign_of(world.point_space) == 0 and q.shape[0] == world.count * world.point_space.point_dim:
        return q + h * v, v
    if sign_of(world.point_space) is not None and world.count >= FEWEST:
        many = ManyVertices(world, None)
        return many.leave(q, *many.drift(h if each is None else each[None], *many.enter(q, v)))
    if each is None:
        return world.drift(h, q, v)
    x, u = jax.vmap(world.point_space.geodesic)(world.points(q), world.points(v), each)
    rest = q[x.size :]
    return jnp.concatenate([x.reshape(-1), rest]), jnp.concatenate([u.reshape(-1), jnp.zeros_like(rest)])


def _known(space: AbstractSpace) -> tuple[int, Number]:
    sign = sign_of(space)
    assert sign is not None
    return sign, radius_of(space)


def _square(apart: Array) -> Array:
    """The sums of squares over components, written out so that they are part of the loop over rods."""
    total = apart[0] * apart[0]
    for k in range(1, apart.shape[0]):
        total = total + apart[k] * apart[k]
    return total


def _chord(sign: int, a: Array, b: Array) -> Array:
    spacelike = slice(0, a.shape[0] - (1 if sign < 0 else 0))
    return chord(sign, a[spacelike], b[spacelike])

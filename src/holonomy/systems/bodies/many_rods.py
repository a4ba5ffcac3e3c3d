r"""Lengths of many rods and their differentials in spaces of constant curvature, one array for each component.

With \(\kappa\) the sign of the curvature, lengths in units of the radius and \(q = \sin^2(d/2)\), \(d^2/4\) or
\(\sinh^2(d/2)\), the gradient of the distance from x to y is at x

\[ \nabla_x d = -\frac{y - x + 2\kappa q\,x}{2\sqrt{q(1-\kappa q)}}. \]

The space's own functions, differentiated rod by rod, are the same and take five times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace
from holonomy.systems.bodies.body import Elements
from holonomy.systems.bodies.many_vertices import FEWEST, ManyVertices, chord, radius_of, ratio_of_lengths, sign_of
from holonomy.types import Number, Point, Tangent

if TYPE_CHECKING:
    from holonomy.systems.bodies.world import World

Points = Float[Array, "vertices point"]
Corners = Float[Array, "rods 2 point"]


def applies(space: AbstractSpace, elements: Elements) -> bool:
    """Whether rods are so many, and the space such a one, that these formulas are worth it."""
    return sign_of(space) is not None and len(elements) >= FEWEST


def lengths(space: AbstractSpace, x: Points, ends: np.ndarray) -> Float[Array, " rods"]:
    """The distances of the ends of each rod."""
    sign, radius = _known(space)
    a, b = ((x[column] / radius).T for column in ends.T)
    q = _chord(sign, a, b)
    return (2.0 * radius * ratio_of_lengths(q, sign) * jnp.sqrt(q))[0]


def gradients(space: AbstractSpace, x: Points, ends: np.ndarray) -> tuple[Corners, Corners]:
    """The gradients of the lengths at both ends of each rod, as covectors and as vectors."""
    sign, radius = _known(space)
    a, b = ((x[column] / radius).T for column in ends.T)
    q = _chord(sign, a, b)
    size = 0.5 / jnp.sqrt(q * (1.0 - sign * q))
    apart = b - a
    vectors = jnp.stack([-size * (apart + 2.0 * sign * q * a), size * (apart - 2.0 * sign * q * b)]).transpose(2, 0, 1)
    signature = np.append(np.ones(x.shape[1] - 1), -1.0 if sign < 0 else 1.0)
    return vectors * signature[None, None], vectors


def moved(world: World, h: Number, q: Point, v: Tangent) -> tuple[Point, Tangent]:
    """Every vertex moved along its geodesic for the time h."""
    if sign_of(world.point_space) is None or world.count < FEWEST:
        return world.drift(h, q, v)
    many = ManyVertices(world, None)
    return many.leave(q, *many.drift(h, *many.enter(q, v)))


def _known(space: AbstractSpace) -> tuple[int, Number]:
    sign = sign_of(space)
    assert sign is not None
    return sign, radius_of(space)


def _chord(sign: int, a: Array, b: Array) -> Array:
    spacelike = slice(0, a.shape[0] - (1 if sign < 0 else 0))
    return chord(sign, a[spacelike], b[spacelike])

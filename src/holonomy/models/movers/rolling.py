"""A ball that is rolled on a plane."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.locomotion import Mover
from holonomy.locomotion.arrays import Shape
from holonomy.models.movers.wheels import scalars
from holonomy.spaces import SO3
from holonomy.types import Number


def rolling_ball(radius: Number = 1.0) -> Mover:
    r"""A ball that rolls on a plane without slipping and without turning about the vertical.

    Shape (x, y): the point of contact; group SO(3), the inverse \(R^{-1}\) of the ball's rotation, since a ball turns
    about axes fixed in space. A loop that closes leaves it turned by `hl.holonomy`: around a circle of radius
    \(\rho\) by the angle \(2\pi\sqrt{1 + \rho^2/r^2}\) about an axis inclined to the vertical.
    """
    (size,) = scalars(radius)

    def connection(r: Shape) -> Float[Array, "3 2"]:
        return jnp.array([[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]]) / size

    return Mover.from_connection(connection, SO3(), ("x", "y"))

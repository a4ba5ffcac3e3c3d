"""Names of axes and the rotations, boosts and translations that Killing fields are made of."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.types import Number

Field: TypeAlias = Callable[[Float[Array, " point"]], Float[Array, " point"]]
Flow: TypeAlias = Callable[[Number, Float[Array, " point"]], Float[Array, " point"]]


def names(n: int) -> list[str]:
    """x, y, z, w for up to four axes, x1, x2, ... for more."""
    return list("xyzw"[:n]) if n <= 4 else [f"x{i + 1}" for i in range(n)]


def planes(n: int) -> Iterator[tuple[str, int, int]]:
    """Every coordinate plane i < j of n axes, with its name, such as ("xy", 0, 1)."""
    axis = names(n)
    for i in range(n):
        for j in range(i + 1, n):
            yield axis[i] + axis[j], i, j


def _unit(x: Float[Array, " point"], i: int) -> Float[Array, " point"]:
    # a constant, so that fields are sums of scaled unit vectors rather than scattered updates
    return jnp.asarray(np.eye(x.shape[0])[i], x.dtype)


def rotation_field(i: int, j: int) -> Field:
    """The velocity of a rotation at unit rate that carries axis i towards axis j."""
    return lambda x: x[i] * _unit(x, j) - x[j] * _unit(x, i)


def rotation_flow(i: int, j: int) -> Flow:
    """The rotation by an angle that carries axis i towards axis j."""

    def flow(s: Number, x: Float[Array, " point"]) -> Float[Array, " point"]:
        less, d = -2.0 * jnp.sin(s / 2.0) ** 2, jnp.sin(s)
        return x + (less * x[i] - d * x[j]) * _unit(x, i) + (d * x[i] + less * x[j]) * _unit(x, j)

    return flow


def boost_field(i: int) -> Field:
    """The velocity of a boost at unit rapidity per time along axis i; time is the last axis."""
    return lambda x: x[-1] * _unit(x, i) + x[i] * _unit(x, -1)


def boost_flow(i: int) -> Flow:
    """The boost by a rapidity along axis i; time is the last axis."""

    def flow(s: Number, x: Float[Array, " point"]) -> Float[Array, " point"]:
        more, d = 2.0 * jnp.sinh(s / 2.0) ** 2, jnp.sinh(s)
        return x + (more * x[i] + d * x[-1]) * _unit(x, i) + (d * x[i] + more * x[-1]) * _unit(x, -1)

    return flow


def translation_field(i: int) -> Field:
    """The velocity of a translation at unit speed along axis i."""
    return lambda x: _unit(x, i)


def translation_flow(i: int) -> Flow:
    """The translation by a length along axis i."""
    return lambda s, x: x + s * _unit(x, i)

r"""Many walls: a few of them at a time enter the laws of impact and contact.

Of more than `WINDOW` unilateral conditions all gaps are watched as one array, which costs one evaluation of the
function; `near` are the numbers of those that the dense computations look at. A step looks at the walls whose gap may
reach zero in it, a state at those that are closest. Which walls these are is data, so that one program of fixed size
serves any number of walls. Where more of them matter at once than are looked at, the result code is `crowded`; the host
then looks at twice as many.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from holonomy.types import AnyArray, Number

_FAR = 1e300  # a distance beyond all others
_NEVER = 2.0  # above every score, of which the largest is 1: a wall that is not looked at
# What a cubic polynomial may be wrong by at an extremum, as parts of its values at the nearer and at the farther end:
# the same as in `motion.events.zero_crossing`, where the second is 0.1 x² (1 - x)², which is at most 0.1/16.
_MARGIN_NEAR, _MARGIN_FAR = 0.25, 0.1 / 16.0
WINDOW = 6  # walls looked at together; a body touches few at once, and compile time grows with their number


def smallest(values: Float[Array, " c"], count: int) -> Int[Array, " k"]:
    """The places of the `count` smallest of the values, which are finite, in the order of the places."""

    def once(k: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
        left, found = now
        place = jnp.argmin(left)
        return left.at[place].set(jnp.inf), found.at[k].set(place)

    start = (values, jnp.zeros(count, jnp.int64))
    return jnp.sort(jax.lax.fori_loop(0, count, once, start)[1])


def may_close(
    first: tuple[Float[Array, " c"], Float[Array, " c"]],
    last: tuple[Float[Array, " c"], Float[Array, " c"]],
    length: Number,
    on: Bool[Array, " c"],
    count: int,
) -> tuple[Int[Array, " k"], Bool[Array, ""]]:
    """The walls whose gaps may reach zero between two instants, and whether there are more of them than `count`.

    `first` and `last` are gaps and their rates. The cubic polynomial of these lies above the least of its four Bézier
    coefficients; a wall for which that is well above zero is not met, nor touched as far as the polynomial can tell.
    """
    (a, m), (b, n) = first, last
    lowest = jnp.minimum(jnp.minimum(a, b), jnp.minimum(a + m * length / 3.0, b - n * length / 3.0))
    margin = _MARGIN_NEAR * jnp.maximum(jnp.minimum(a, b), 0.0) + _MARGIN_FAR * jnp.maximum(jnp.abs(a), jnp.abs(b))
    size = jnp.abs(a) + jnp.abs(b) + length * (jnp.abs(m) + jnp.abs(n))
    score = (lowest - margin) / jnp.where(size > 0, size, 1.0)
    score = jnp.where(on & jnp.isfinite(score), score, _NEVER)
    return smallest(score, count), jnp.sum(score <= 0.0) > count


def closest(
    gaps: Float[Array, " c"],
    slopes: Float[Array, " c"],
    needed: Bool[Array, " c"],
    room: Float[Array, " c"],
    count: int,
) -> tuple[Int[Array, " k"], Bool[Array, ""]]:
    """The walls closest by distance, the `needed` ones first, and whether more than `count` are needed or within
    `room`."""
    distance = gaps / jnp.where(slopes > 0, slopes, 1.0)
    distance = jnp.where(jnp.isfinite(distance), distance, _FAR)
    wanted = needed | (distance <= room)
    return smallest(jnp.where(needed, -_FAR, distance), count), jnp.sum(wanted) > count


def carried(old: Int[AnyArray, " k"], new: Int[AnyArray, " m"], values: Array) -> Array:
    """Values of the walls `old` as those of the walls `new`: zero or False where a wall was not among them."""
    same = new[:, None] == old[None, :]
    if values.dtype == bool:
        return jnp.any(same & values[None, :], axis=1)
    return same.astype(values.dtype) @ values

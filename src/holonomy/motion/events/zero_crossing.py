r"""Where a watched function passes through zero within a step, judged by its values and rates at both ends.

On a step of length \(\ell\) the function is known as the cubic Hermite polynomial of its values and rates. A change of
sign is a crossing. An interior extremum that comes near to zero, as far as the polynomial can tell, is a dip: the
motion may touch zero there, or cross it twice. Both are only told where to look next; the method's own step decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

TINY = 1e-300  # stands for a zero whose sign is known
_SCANNED = 8
_REFINED = 10


class Seen(NamedTuple):
    """Watched values and their rates in the direction of the motion."""

    value: Float[Array, " watches"]
    rate: Float[Array, " watches"]


class Looked(NamedTuple):
    """What is watched: which rows, for falling or rising zeros, and how far below zero still counts as zero."""

    on: Bool[Array, " watches"]
    fall: Bool[Array, " watches"]
    rise: Bool[Array, " watches"]
    slack: Float[Array, " watches"]


class Span(NamedTuple):
    """What may have happened between two instants: crossings, dips, and the fraction of the way where to look."""

    cross: Bool[Array, " watches"]
    dip: Bool[Array, " watches"]
    where: Float[Array, " watches"]

    @property
    def any(self) -> Bool[Array, " watches"]:
        """Rows with one or the other."""
        return self.cross | self.dip


def span(first: Seen, last: Seen, length: Any, looked: Looked) -> Span:
    """Crossings and dips between two instants a `length` of time apart."""
    a, b = first.value, last.value
    # at rest on zero it takes more than rounding to leave it; what comes from afar, or leaves with speed, does not rest
    rests = (jnp.abs(a) <= TINY) & (jnp.abs(first.rate) * length <= looked.slack)
    slack = jnp.where(rests, looked.slack, 0.0)
    fell = looked.fall & (a > 0) & (b <= -slack)
    rose = looked.rise & (a < 0) & (b >= slack)
    cross = looked.on & (fell | rose)
    # the polynomial a + m x + c x² + d x³ with the sign that makes a positive
    sign = jnp.where(a > 0, 1.0, -1.0)
    a, b = sign * a, sign * b
    m, n = sign * first.rate * length, sign * last.rate * length
    c, d = 3.0 * (b - a) - 2.0 * m - n, 2.0 * (a - b) + m + n
    low, depth = _lowest(a, m, c, d)
    turns = looked.on & ~cross & (b > -slack) & (m < 0) & (n > 0)
    near, far = jnp.minimum(a, b) - depth, jnp.maximum(a, b) - depth
    # what the polynomial may be wrong by: little close to the ends, a few per cent of a resolved dip in the middle
    dip = turns & (depth <= 0.25 * near + 0.1 * (low * (1.0 - low)) ** 2 * far)
    return Span(cross, dip, jnp.where(dip, low, _first_zero(a, m, c, d)))


def _lowest(a: Any, m: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Where a polynomial that falls first and rises in the end is lowest, and its value there."""
    root = jnp.sqrt(jnp.maximum(c * c - 3.0 * m * d, 0.0))
    below = c + root
    x = jnp.clip(jnp.where(below > 0, -m / jnp.where(below > 0, below, 1.0), 0.5), 0.0, 1.0)
    return x, a + x * (m + x * (c + x * d))


def _first_zero(a: Any, m: Any, c: Any, d: Any) -> Any:
    """The first zero in (0, 1) of a polynomial that is positive at 0; a zero at 0 itself does not count."""
    at_zero = a <= TINY
    p0, p1, p2, p3 = (jnp.where(at_zero, x, y) for x, y in ((m, a), (c, m), (d, c), (jnp.zeros_like(d), d)))

    def value(x: Any) -> Any:
        return p0 + x * (p1 + x * (p2 + x * p3))

    left, right = jnp.zeros_like(a), jnp.ones_like(a)
    found = jnp.zeros(a.shape, bool)
    for k in range(1, _SCANNED):
        x = jnp.full_like(a, k / _SCANNED)
        below = value(x) <= 0
        right = jnp.where(~found & below, x, right)
        left = jnp.where(~found & ~below, x, left)
        found = found | below

    def once(_: Any, it: Any) -> Any:
        x, left, right = it
        here = value(x)
        left, right = jnp.where(here > 0, x, left), jnp.where(here > 0, right, x)
        slope = p1 + x * (2.0 * p2 + x * 3.0 * p3)
        new = x - here / jnp.where(slope == 0, 1.0, slope)
        return jnp.where((new > left) & (new < right), new, 0.5 * (left + right)), left, right

    return jax.lax.fori_loop(0, _REFINED, once, (0.5 * (left + right), left, right))[0]

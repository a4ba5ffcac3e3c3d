r"""Where a watched function passes through zero within a step, judged by its values and rates at both ends.

On a step of length \(\ell\) the function is known as the cubic Hermite polynomial of its values and rates, whose
extrema cut the step into at most three monotone pieces. A change of sign from one end of the step to the other is a
crossing. A change of sign on a piece alone, or an extremum that comes near to zero as far as the polynomial can tell,
is a dip: the motion may touch zero there, or cross it several times. Both only say where to look next; the method's
own step decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from holonomy.types import Flags, Number, Values

TINY = 1e-300  # stands for a zero whose sign is known
JUMP = 1e-4  # of the size of a function: a smaller change between neighbouring instants is none
_STEEP = 16.0  # in units of what its rates explain: a change above that between neighbouring instants is a jump
_POLE = 1e4  # of the size of a function in the step: it has no larger value between its ends if it is continuous
# What the polynomial may be wrong by at an extremum: this part of its height over the nearer end, and at most this
# part of that over the farther end, a few per cent in the middle of the step.
_NEAR_ENDS, _IN_THE_MIDDLE = 0.25, 0.1
_REFINED = 10  # Newton steps, kept inside a bracket, for a zero of the polynomial


class Seen(NamedTuple):
    """Watched values and their rates in the direction of the motion."""

    value: Float[Array, " watches"]
    rate: Float[Array, " watches"]


class Looked(NamedTuple):
    """What is watched: which rows, for falling or rising zeros, and how far below zero still counts as zero.

    A row that was zero at the beginning is still at that zero while its size is at most `band`.
    """

    on: Bool[Array, " watches"]
    fall: Bool[Array, " watches"]
    rise: Bool[Array, " watches"]
    slack: Float[Array, " watches"]
    band: Float[Array, " watches"]


class Span(NamedTuple):
    """What may have happened between two instants: crossings, dips, and the fraction of the way where to look."""

    cross: Bool[Array, " watches"]
    dip: Bool[Array, " watches"]
    where: Float[Array, " watches"]

    @property
    def any(self) -> Bool[Array, " watches"]:
        """Rows with one or the other."""
        return self.cross | self.dip


def span(first: Seen, last: Seen, length: Number, looked: Looked) -> Span:
    """Crossings and dips between two instants a `length` of time apart."""
    a, b = first.value, last.value
    # at rest on zero it takes more than rounding to leave it; what comes from afar, or leaves with speed, does not rest
    stands = jnp.abs(a) <= TINY
    rests = stands & (jnp.abs(first.rate) * length <= looked.slack)
    slack = jnp.where(rests, looked.slack, 0.0)
    # a function that is identically zero here, such as max(x, 0), does not cross
    flat = stands & (b == 0) & ((first.rate == 0) | (last.rate == 0))
    fell = looked.fall & (a > 0) & (b <= -slack)
    rose = looked.rise & (a < 0) & (b >= slack)
    # around a zero of high order the polynomial sees zeros at every scale; those in the band are the one met before
    on = looked.on & ~((looked.band > 0) & (largest(first, last, length) <= looked.band))
    cross = on & (fell | rose) & ~flat
    cubic = _Cubic(a, first.rate * length, b, last.rate * length)
    lows, highs, changes = _pieces(cubic, looked, slack)
    touches = [_touches(cubic, k, slack) for k in (1, 2)]
    crosses = changes[0] | changes[1] | changes[2]
    away = ~flat & ((slack == 0) | (jnp.abs(b) > slack))
    dip = on & ~cross & (crosses | touches[0] | touches[1]) & away
    left = jnp.where(changes[0], lows[0], jnp.where(changes[1], lows[1], lows[2]))
    right = jnp.where(changes[0], highs[0], jnp.where(changes[1], highs[1], highs[2]))
    # most steps have no zero to be found
    zero = jax.lax.cond(jnp.any(on & crosses), lambda: _zero(cubic, left, right), lambda: jnp.zeros_like(a))
    where = jnp.where(crosses, zero, 0.5)
    far = jnp.where(crosses, where, 1.0)
    for k in (2, 1):
        sooner = touches[k - 1] & (cubic.places[k] < far)
        where, far = jnp.where(sooner, cubic.places[k], where), jnp.where(sooner, cubic.places[k], far)
    return Span(cross, dip, where)


def largest(first: Seen, last: Seen, length: Number) -> Values:
    """How far from zero the function comes between two instants, as far as its values and rates there tell."""
    steepest = jnp.maximum(jnp.abs(first.rate), jnp.abs(last.rate))
    return jnp.maximum(jnp.maximum(jnp.abs(first.value), jnp.abs(last.value)), 0.25 * length * steepest)


class _Cubic:
    """A polynomial on [0, 1] by its values and rates at both ends, with its extrema there: `places` and `values` of
    0, the extrema in order, and 1. An extremum that is missing stands at an end."""

    def __init__(self, a: Any, m: Any, b: Any, n: Any):
        self.powers = (a, m, 3.0 * (b - a) - 2.0 * m - n, 2.0 * (a - b) + m + n)
        _, _, c, d = self.powers
        square = c * c - 3.0 * m * d
        root = jnp.sqrt(jnp.maximum(square, 0.0))
        turn = -(c + jnp.where(c < 0, -root, root))  # no cancellation
        one = jnp.where(d == 0, 0.0, turn / jnp.where(d == 0, 1.0, 3.0 * d))
        other = jnp.where(turn == 0, 0.0, m / jnp.where(turn == 0, 1.0, turn))
        one, other = (jnp.clip(jnp.where(square > 0, x, 0.0), 0.0, 1.0) for x in (one, other))
        inner = (jnp.minimum(one, other), jnp.maximum(one, other))
        self.places = (jnp.zeros_like(a), *inner, jnp.ones_like(a))
        self.values = (a, *(jnp.where(x < 1.0, self.at(x), b) for x in inner), b)

    def at(self, x: Any) -> Any:
        """The value at x."""
        p0, p1, p2, p3 = self.powers
        return p0 + x * (p1 + x * (p2 + x * p3))

    def slope(self, x: Any) -> Any:
        """The derivative at x."""
        _, p1, p2, p3 = self.powers
        return p1 + x * (2.0 * p2 + x * 3.0 * p3)


def _pieces(cubic: _Cubic, looked: Looked, slack: Any) -> tuple[Any, Any, Any]:
    """Both ends of each monotone piece, and whether it passes through zero in a direction that is looked for.

    A zero at the beginning of a piece is the one that was met last and does not count.
    """
    changes = []
    for k in range(3):
        before, after = cubic.values[k], cubic.values[k + 1]
        fell = looked.fall & (before > TINY) & (after <= -slack)
        rose = looked.rise & (before < -TINY) & (after >= slack)
        changes.append(fell | rose)
    return cubic.places[:3], cubic.places[1:], changes


def _touches(cubic: _Cubic, k: int, slack: Any) -> Any:
    """Whether the k-th place is an extremum, seen from zero a lowest one, that may reach zero."""
    x, value = cubic.places[k], cubic.values[k]
    before, after = (jnp.abs(cubic.values[i]) for i in (k - 1, k + 1))
    sign = jnp.where(jnp.where(value == 0, cubic.values[k - 1], value) > 0, 1.0, -1.0)
    depth = jnp.abs(value)
    lowest = (sign * cubic.values[k - 1] > depth) & (sign * cubic.values[k + 1] > depth)
    near, far = jnp.minimum(before, after) - depth, jnp.maximum(before, after) - depth
    bound = _NEAR_ENDS * near + _IN_THE_MIDDLE * (x * (1.0 - x)) ** 2 * far
    return (x > 0) & (x < 1) & lowest & (depth <= bound) & (jnp.maximum(before, after) > slack)


def _zero(cubic: _Cubic, left: Any, right: Any) -> Any:
    """The zero of a polynomial that is monotone between `left` and `right` and changes its sign there."""
    rising = cubic.at(right) > cubic.at(left)

    def once(_: Any, it: Any) -> Any:
        x, left, right = it
        here = cubic.at(x)
        beyond = jnp.where(rising, here, -here) > 0
        left, right = jnp.where(beyond, left, x), jnp.where(beyond, x, right)
        slope = cubic.slope(x)
        new = x - here / jnp.where(slope == 0, 1.0, slope)
        return jnp.where((new >= left) & (new <= right), new, 0.5 * (left + right)), left, right

    return jax.lax.fori_loop(0, _REFINED, once, (0.5 * (left + right), left, right))[0]


def jumps(first: Seen, last: Seen, neighbours: Flags, sizes: Values, tick: Number, noise: Number) -> Flags:
    """Which functions change by more between two neighbouring instants than their size and their rates explain, or
    grow beyond all bounds between two values of different sign, as at a pole.

    What is below `noise` is rounding, as in the gap of a wall that stays at zero.
    """
    change = last.value - first.value
    steep = jnp.maximum(jnp.maximum(jnp.sign(change) * first.rate, jnp.sign(change) * last.rate), 0.0) * tick
    jump = jnp.abs(change) > noise + JUMP * sizes + _STEEP * steep
    return (neighbours & jump) | (jnp.abs(last.value) > _POLE * (sizes + noise))

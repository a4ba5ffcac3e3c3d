r"""Roots of a step's equations by Newton's method with a matrix that stays the same, to round-off.

A tolerance chosen once and for all is wrong for multipliers: they come from residuals divided by powers of the step,
so that what is negligible at one step spoils them at a smaller one. The iteration therefore goes on until corrections
no longer shrink, and only asks that they are small by then: each component against its own size, so that the answer
does not depend on the units of single coordinates, and against the largest correction it had, so that it does not
depend on the origin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from holonomy.types import Count, Flag, Vector

_SIMPLIFIED = 40  # iterations with a frozen matrix at most
_FULL = 25  # iterations with the exact Jacobian at most
_FLOOR = 1e5  # in units of round-off: corrections that do not halve any more below this are noise
_NOISE = 1e-7  # where the system's own functions cancel digits, corrections may stop shrinking as high as this


class _Iterate(NamedTuple):
    z: Any
    most: Any
    change: Any
    last: Any
    best: Any
    best_whole: Any
    stalled: Any
    count: Any
    done: Any


def solve(
    residual: Callable[[Vector], Vector],
    direction: Callable[[Vector], Vector],
    measure: Callable[[Vector], Vector],
    scale: Callable[[Vector], Vector],
    guess: Vector,
    *,
    full: bool = False,
) -> tuple[Vector, Flag, Count]:
    """The root of `residual` near `guess`, whether it was found, and the number of iterations.

    `direction` turns a residual into a correction with a frozen matrix; `full` takes the exact Jacobian at every
    iterate instead. `measure` gives the sizes of a correction, component by component, to be compared with `scale` of
    the iterate. Derivatives of the root are those of the implicit function theorem.
    """

    def correction(z: Any, value: Any) -> Any:
        if not full:
            return direction(value)
        return jnp.linalg.solve(jax.jacfwd(residual)(z), value)

    def once(it: _Iterate) -> _Iterate:
        value = residual(it.z)
        step = correction(it.z, value)
        eps, least = jnp.finfo(step.dtype).eps, jnp.finfo(step.dtype).tiny
        moved, size = measure(step), scale(it.z) + least
        most = jnp.maximum(it.most, moved)
        # with the correction in the scale too, the first one from rest counts as 1 and not as infinitely large
        change, whole = jnp.max(moved / (size + moved)), jnp.max(moved)
        # Components that vanish but for rounding never settle by their own size; the largest ones still do.
        shrinks = (change < 0.9 * it.best) | (whole < 0.9 * it.best_whole)
        stalled = jnp.where(shrinks, 0, it.stalled + 1)
        # the next correction, foreseen from the last three, would be lost in rounding
        shrink = jnp.maximum(change / it.change, it.change / it.last)
        settled = (it.count > 1) & (change * shrink <= 0.25 * eps)
        at_floor = (change >= 0.5 * it.change) & jnp.all(moved <= _FLOOR * eps * (size + most))
        noisy = (stalled >= 4) & (whole <= _NOISE * jnp.max(size + most))
        done = (whole == 0) | settled | at_floor | noisy
        best, best_whole = jnp.minimum(it.best, change), jnp.minimum(it.best_whole, whole)
        return _Iterate(it.z - step, most, change, it.change, best, best_whole, stalled, it.count + 1, done)

    def find(_: Any, start: Any) -> tuple[Any, Any]:
        big = jnp.asarray(jnp.finfo(start.dtype).max, start.dtype)
        none = jnp.zeros_like(measure(start))
        first = _Iterate(start, none, big, big, big, big, jnp.int32(0), jnp.int32(0), jnp.bool_(False))
        limit = _FULL if full else _SIMPLIFIED
        last = jax.lax.while_loop(lambda it: ~it.done & (it.count < limit) & (it.change < jnp.inf), once, first)
        # custom_root gives auxiliary outputs a tangent, which flags and counts cannot have
        return last.z, jnp.stack([last.done.astype(start.dtype), last.count.astype(start.dtype)])

    def tangent_solve(linear: Any, y: Any) -> Any:
        return jnp.linalg.solve(jax.jacfwd(linear)(jnp.zeros_like(y)), y)

    root, aux = jax.lax.custom_root(residual, guess, find, tangent_solve, has_aux=True)
    return root, aux[0] > 0, aux[1].astype(jnp.int32)

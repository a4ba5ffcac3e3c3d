r"""The equations of an implicit variational step, solved to round-off.

Both `Gauss` and `SymplecticEuler` look for stage velocities W at which the momenta \(\partial L/\partial v\) equal what
the forces make of them. A frozen mass matrix turns the residual into a correction; the iteration contracts like h for
systems that are not stiff. Where it does not contract, Newton's method with the exact Jacobian takes over; that is
separate code, compiled only when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

_FIXED_POINT = 60
_NEWTON = 25
_NOISE = 1e-9
_LOST = 0.25


class Balance(NamedTuple):
    """A residual and the sizes that say what round-off in it is: of the momenta, and of the positions over h.

    Each component has its own sizes, so that the answer does not depend on the units of single coordinates and light
    bodies beside heavy ones are solved for as well as alone.
    """

    residual: Any
    momenta: Any
    speeds: Any


class _Iterate(NamedTuple):
    w: Any
    change: Any
    whole: Any
    best: Any
    best_whole: Any
    stalled: Any
    count: Any
    done: Any


def solve(
    balance: Callable[[Any], Balance], precondition: Callable[[Any], Any], guess: Any, iteration: str
) -> tuple[Any, tuple[Any, Any]]:
    """The root of the balance near `guess`, with whether it was found and the number of iterations.

    `iteration` is ``"fixed point"``, ``"newton"``, or ``"both"``, one after the other where the first fails.

    The iteration stops when corrections no longer shrink and are at the level of round-off, so the root is as good as
    the arithmetic allows. Derivatives of the root are those of the implicit function theorem.
    """

    def residual(w: Any) -> Any:
        return balance(w).residual

    def newton_direction(w: Any, value: Any) -> Any:
        matrix = jax.jacfwd(lambda x: residual(x.reshape(w.shape)).ravel())(w.ravel())
        return jnp.linalg.solve(matrix, value.ravel()).reshape(w.shape)

    def find(_: Any, start: Any) -> tuple[Any, tuple[Any, Any]]:
        if iteration == "newton":
            only = _iterate(balance, newton_direction, start, _NEWTON, jnp.bool_(True))
            return only.w, (only.done, only.count)
        fixed = _iterate(balance, lambda w, r: precondition(r), start, _FIXED_POINT, jnp.bool_(True))
        if iteration == "fixed point":
            return fixed.w, (fixed.done, fixed.count)
        second = _iterate(balance, newton_direction, jnp.where(fixed.done, fixed.w, start), _NEWTON, ~fixed.done)
        found = fixed.done | (second.done & (second.count > 0))
        return second.w, (found, fixed.count + second.count)

    def find_as_floats(f: Any, start: Any) -> tuple[Any, Any]:
        # custom_root gives auxiliary outputs a tangent, which flags and counts cannot have
        w, (found, count) = find(f, start)
        return w, jnp.stack([found.astype(w.dtype), count.astype(w.dtype)])

    w, aux = jax.lax.custom_root(residual, guess, find_as_floats, _tangent_solve, has_aux=True)
    return w, (aux[0] > 0, aux[1].astype(jnp.int32))


def _iterate(balance: Callable[[Any], Balance], direction: Any, start: Any, limit: int, active: Any) -> _Iterate:
    """Corrections by `direction` until they are rounding, at most `limit`; none where not `active`."""

    def going(it: _Iterate) -> Any:
        return ~it.done & (it.count < limit) & (it.whole < jnp.inf)

    def once(it: _Iterate) -> _Iterate:
        now = balance(it.w)
        step = direction(it.w, now.residual)
        least = jnp.finfo(step.dtype).tiny
        left = jnp.abs(now.residual) / (now.momenta + least)
        moved = jnp.abs(step)
        # with the correction in the scale too, the first one from rest counts as 1 and not as infinitely large
        change, whole = jnp.max(moved / (jnp.abs(it.w) + moved + now.speeds + least)), jnp.max(moved)
        size = jnp.max(left)
        # Components that vanish but for rounding never settle by their own size; the largest ones still do.
        shrinks = (change < it.best) | (whole < it.best_whole)
        stalled = jnp.where(shrinks, 0, it.stalled + 1)
        at_floor = _round_off(now, left, moved) & (change >= 0.95 * it.change)
        # A correction that shrank so fast that the next would be lost in rounding is the last one needed.
        rate = change / it.change
        sure = (it.count > 0) & (rate < 0.1) & (rate * size <= _LOST * jnp.finfo(size.dtype).eps)
        # Where the Lagrangian itself cancels digits the floor lies higher, and corrections stop shrinking above it.
        noise = jnp.max(jnp.abs(now.residual)) <= _NOISE * jnp.max(now.momenta)
        done = (whole == 0) | at_floor | ((stalled >= 4) & noise) | sure
        best, best_whole = jnp.minimum(it.best, change), jnp.minimum(it.best_whole, whole)
        return _Iterate(it.w - step, change, whole, best, best_whole, stalled, it.count + 1, done)

    big = jnp.asarray(jnp.finfo(start.dtype).max, start.dtype)
    first = _Iterate(start, big, big, big, big, jnp.int32(0), jnp.int32(0), ~active)
    return jax.lax.while_loop(going, once, first)


def _tangent_solve(linear: Any, y: Any) -> Any:
    """The solution of a linear map of an array like y."""
    flat = jax.jacfwd(lambda x: linear(x.reshape(y.shape)).ravel())(jnp.zeros(y.size, y.dtype))
    return jnp.linalg.solve(flat, y.ravel()).reshape(y.shape)


def _round_off(now: Balance, left: Any, moved: Any) -> Any:
    """Whether what is left is rounding: of the momenta, or of the positions, in every component."""
    tiny = 1e4 * jnp.finfo(left.dtype).eps
    return jnp.all((left <= tiny) | (moved <= tiny * now.speeds))

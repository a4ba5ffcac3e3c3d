r"""The equations of an implicit variational step, solved to round-off.

Both `Gauss` and `SymplecticEuler` look for stage velocities W at which the momenta \(\partial L/\partial v\) equal what
the forces make of them. A frozen mass matrix turns the residual into a correction; the iteration contracts like h for
systems that are not stiff. Where it does not contract, Newton's method with the exact Jacobian takes over; that is
separate code, compiled only when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.root_finding import Iterate, Stall, exact_direction, implicit, iterate
from holonomy.types import Count, Flag, Scalar, Tree

_FIXED_POINT = 60  # iterations with a frozen mass matrix at most; a contraction by one half needs 53 for all digits
_NEWTON = 25  # iterations with the exact Jacobian at most
_ROUND_OFF = 1e4  # in units of round-off: residuals and corrections below this may be rounding
_NOISE = 1e-9  # where the Lagrangian cancels digits, residuals may stop shrinking as high as this part of the momenta
_LOST = 0.25  # in units of round-off: a residual that the next correction would leave is lost in rounding


class Balance(NamedTuple):
    """A residual and the sizes that say what round-off in it is: of the momenta, and of the positions over h.

    Each component has its own sizes, so that the answer does not depend on the units of single coordinates and light
    bodies beside heavy ones are solved for as well as alone.
    """

    residual: Float[Array, "*stages n"]
    momenta: Float[Array, "*stages n"]
    speeds: Float[Array, "*stages n"]


class _Correction(NamedTuple):
    """The balance at an iterate, and the correction that it asks for."""

    balance: Balance
    step: Array


def solve(
    balance: Callable[[Array], Balance],
    precondition: Callable[[Array], Array],
    guess: Array,
    iteration: str,
    peeled: bool = False,
) -> tuple[Tree, tuple[Flag, Count]]:
    """The root of the balance near `guess`, with whether it was found and the number of iterations.

    `iteration` is ``"fixed point"``, ``"newton"``, or ``"both"``, one after the other where the first fails.
    `peeled` takes the first iteration out of the loop, so that it shares what the correction was made of.

    The iteration stops when corrections no longer shrink and are at the level of round-off, so the root is as good as
    the arithmetic allows. Derivatives of the root are those of the implicit function theorem.
    """

    def residual(w: Array) -> Array:
        return balance(w).residual

    def simplified(w: Array) -> _Correction:
        now = balance(w)
        return _Correction(now, precondition(now.residual))

    def newton(w: Array) -> _Correction:
        now = balance(w)
        return _Correction(now, exact_direction(residual, w, now.residual))

    def move(w: Array, correction: _Correction) -> Array:
        return w - correction.step

    def find(start: Array) -> tuple[Array, Flag, Count]:
        memory = Stall.begin(start)
        if iteration == "newton":
            only = iterate(newton, _judge, move, start, _NEWTON, memory)
            return only.z, only.done, only.made
        fixed = iterate(simplified, _judge, move, start, _FIXED_POINT, memory, peeled=peeled)
        if iteration == "fixed point":
            return fixed.z, fixed.done, fixed.made
        second = iterate(newton, _judge, move, jnp.where(fixed.done, fixed.z, start), _NEWTON, memory, ~fixed.done)
        found = fixed.done | (second.done & (second.made > 0))
        return second.z, found, fixed.made + second.made

    w, found, count = implicit(residual, find, guess)
    return w, (found, count)


def _judge(it: Iterate, correction: _Correction) -> tuple[Scalar, Stall, Flag]:
    """Whether a correction is the last one needed."""
    now, step = correction
    least = jnp.finfo(step.dtype).tiny
    left = jnp.abs(now.residual) / (now.momenta + least)
    moved = jnp.abs(step)
    # with the correction in the scale too, the first one from rest counts as 1 and not as infinitely large
    change, whole = jnp.max(moved / (jnp.abs(it.z) + moved + now.speeds + least)), jnp.max(moved)
    size = jnp.max(left)
    stall = it.memory.after(change, whole, 1.0)
    at_floor = _is_round_off(now, left, moved) & (change >= 0.95 * it.change)
    # A correction that shrank so fast that the next would be lost in rounding is the last one needed.
    rate = change / it.change
    sure = (it.made > 0) & (rate < 0.1) & (rate * size <= _LOST * jnp.finfo(size.dtype).eps)
    # Where the Lagrangian itself cancels digits the floor lies higher, and corrections stop shrinking above it.
    noise = jnp.max(jnp.abs(now.residual)) <= _NOISE * jnp.max(now.momenta)
    return change, stall, (whole == 0) | at_floor | ((stall.since >= 4) & noise) | sure


def _is_round_off(now: Balance, left: Array, moved: Array) -> Flag:
    """Whether what is left is rounding: of the momenta, or of the positions, in every component."""
    tiny = _ROUND_OFF * jnp.finfo(left.dtype).eps
    return jnp.all((left <= tiny) | (moved <= tiny * now.speeds))

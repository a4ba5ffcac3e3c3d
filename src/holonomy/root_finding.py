r"""Roots and fixed points by iteration to round-off: one loop, one way to its derivatives, and Newton's method.

`iterate` carries out an iteration until a stopping rule ends it; `implicit` gives a root that was found so the
derivatives of the implicit function theorem. `newton` finds roots with a matrix that stays the same, or with the exact
Jacobian.

A tolerance chosen once and for all is wrong for multipliers: they come from residuals divided by powers of the step,
so that what is negligible at one step spoils them at a smaller one. Newton's method therefore goes on until corrections
no longer shrink, and only asks that they are small by then: each component against its own size, so that the answer
does not depend on the units of single coordinates, and against the largest correction it had, so that it does not
depend on the origin.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array

from holonomy.nearest_state import SHRINKS as SHRINKS
from holonomy.types import Count, Flag, Scalar, Tree, Vector

_SIMPLIFIED = 40  # iterations with a frozen matrix at most
_FULL = 25  # iterations with the exact Jacobian at most
_FLOOR = 1e5  # in units of round-off: corrections that do not halve any more below this are noise
_SURE = 2.0**-10  # of round-off: where quadratic convergence foresees less, the last correction was enough
_NOISE = 1e-7  # where the system's own functions cancel digits, corrections may stop shrinking as high as this


class Iterate(NamedTuple):
    """An iterate z, what the stopping rule remembers, the size of the last change, and how many changes were made."""

    z: Array
    memory: Tree
    change: Scalar
    made: Count
    done: Flag


# From an iterate and what was evaluated at it to the size of the change, the memory, and whether the iteration ends.
Judge: TypeAlias = Callable[[Iterate, Tree], tuple[Scalar, Tree, Flag]]


def iterate(
    evaluate: Callable[[Array], Tree],
    judge: Judge,
    move: Callable[[Array, Tree], Array],
    start: Array,
    limit: int,
    memory: Tree = None,
    active: Flag | None = None,
    *,
    peeled: bool = False,
) -> Iterate:
    """The iteration from `start` until `judge` ends it, at most `limit` times; not at all where not `active`.

    `move` makes the next iterate of an iterate and what was evaluated at it; the last one is made too. `peeled`
    writes the first iteration, made in any case, before the loop.

    It also ends where a change is not finite; `done` is then false, as it is at the limit.
    """

    def once(it: Iterate) -> Iterate:
        seen = evaluate(it.z)
        change, kept, done = judge(it, seen)
        return Iterate(move(it.z, seen), kept, change, it.made + 1, done)

    done = jnp.bool_(False) if active is None else ~active
    first = Iterate(start, memory, largest(start), jnp.int32(0), done)
    first = once(first) if peeled else first
    return jax.lax.while_loop(lambda it: ~it.done & (it.made < limit) & (it.change < jnp.inf), once, first)


def largest(like: Array) -> Scalar:
    """The largest finite number of the type of an array, for the size of a change that was not made yet."""
    return jnp.asarray(jnp.finfo(like.dtype).max, like.dtype)


class Stall(NamedTuple):
    """The smallest changes so far, relative and absolute, and how many there were since one of them shrank.

    Components that vanish but for rounding never settle by their own size; the largest ones still do.
    """

    best: Scalar
    best_whole: Scalar
    since: Count

    @staticmethod
    def begin(like: Array) -> Stall:
        """Before the first change."""
        return Stall(largest(like), largest(like), jnp.int32(0))

    def after(self, change: Scalar, whole: Scalar, shrinks: float) -> Stall:
        """With one change more, which shrank if it is below `shrinks` times the smallest one."""
        shrank = (change < shrinks * self.best) | (whole < shrinks * self.best_whole)
        best, best_whole = jnp.minimum(self.best, change), jnp.minimum(self.best_whole, whole)
        return Stall(best, best_whole, jnp.where(shrank, 0, self.since + 1))


_derivatives: ContextVar[bool] = ContextVar("derivatives", default=True)


@contextmanager
def derivatives_of_roots(wanted: bool) -> Generator[None]:
    """While this is entered, roots are traced with their derivatives or, where nothing will ask for those, without.

    The equations that give a root its derivatives are those of its residual differentiated once more, and take longer
    to trace than the root itself. Code that runs from the host, natively or in XLA, is not differentiated from outside;
    a function that differentiates steps inside it says that it wants them.
    """
    before = _derivatives.set(wanted)
    try:
        yield
    finally:
        _derivatives.reset(before)


@jax.custom_jvp
def _not_differentiable(z: Array) -> Array:
    return z


@_not_differentiable.defjvp
def _(primals: Any, tangents: Any) -> Any:
    raise NotImplementedError("A root that was traced for its value alone is being differentiated.")


def implicit(
    residual: Callable[[Array], Array],
    find: Callable[[Array], tuple[Array, Flag, Count]],
    guess: Array,
    solve_map: Callable[[Callable[[Array], Array], Array], Array] | None = None,
    *,
    inner: bool = False,
) -> tuple[Array, Flag, Count]:
    """What `find` finds from `guess`: a root of `residual`, whether it was found, and the number of iterations.

    Derivatives of the root are those of the implicit function theorem, by `solve_map` of a linear map and the value
    that it should have; without it the matrix of the map is formed. An `inner` root is part of equations that a method
    differentiates, so that it has derivatives always.
    """
    if not _derivatives.get() and not inner:
        z, found, count = find(guess)
        return _not_differentiable(z), found, count

    def find_as_floats(_: Callable[[Array], Array], start: Array) -> tuple[Array, Array]:
        # custom_root gives auxiliary outputs a tangent, which flags and counts cannot have
        z, found, count = find(start)
        return z, jnp.stack([found.astype(z.dtype), count.astype(z.dtype)])

    def tangent_solve(linear: Callable[[Array], Array], y: Array) -> Array:
        if solve_map is not None:
            return solve_map(linear, y)
        matrix = jax.jacfwd(lambda x: linear(x.reshape(y.shape)).ravel())(jnp.zeros(y.size, y.dtype))
        return jnp.linalg.solve(matrix, y.ravel()).reshape(y.shape)

    root, aux = jax.lax.custom_root(residual, guess, find_as_floats, tangent_solve, has_aux=True)
    return root, aux[0] > 0, aux[1].astype(jnp.int32)


def exact_direction(residual: Callable[[Array], Array], z: Array, value: Array) -> Array:
    """The correction of Newton's method with the exact Jacobian at z, where the residual has this value."""
    matrix = jax.jacfwd(lambda x: residual(x.reshape(z.shape)).ravel())(z.ravel())
    return jnp.linalg.solve(matrix, value.ravel()).reshape(z.shape)


class _Memory(NamedTuple):
    """Of Newton's method: the largest correction of each component, the size of the last but one, and the smallest."""

    most: Vector
    last: Scalar
    stall: Stall


def newton(
    residual: Callable[[Vector], Vector],
    direction: Callable[[Vector], Vector],
    measure: Callable[[Vector], Vector],
    scale: Callable[[Vector], Vector],
    guess: Vector,
    *,
    full: bool = False,
    direction_at: Callable[[Vector, Vector], Vector] | None = None,
) -> tuple[Vector, Flag, Count]:
    """The root of `residual` near `guess`, whether it was found, and the number of iterations.

    `direction` turns a residual into a correction with a frozen matrix; `full` takes the exact Jacobian at every
    iterate instead, and `direction_at` a matrix of its own at every iterate. `measure` gives the sizes of a correction,
    component by component, to be compared with `scale` of the iterate. Derivatives of the root are those of the
    implicit function theorem.
    """

    def correction(z: Vector) -> Vector:
        value = residual(z)
        if full:
            return exact_direction(residual, z, value)
        return direction(value) if direction_at is None else direction_at(z, value)

    def judge(it: Iterate, step: Vector) -> tuple[Scalar, _Memory, Flag]:
        eps, least = jnp.finfo(step.dtype).eps, jnp.finfo(step.dtype).tiny
        moved, size = measure(step), scale(it.z) + least
        most = jnp.maximum(it.memory.most, moved)
        # with the correction in the scale too, the first one from rest counts as 1 and not as infinitely large
        change, whole = jnp.max(moved / (size + moved)), jnp.max(moved)
        stall = it.memory.stall.after(change, whole, SHRINKS)
        # the next correction, foreseen from the last three, would be lost in rounding
        shrink = jnp.maximum(change / it.change, it.change / it.memory.last)
        settled = (it.made > 1) & (change * shrink <= 0.25 * eps)
        if direction_at is not None:  # quadratic convergence: each correction is of the size of the square of the last
            settled = settled | ((it.made > 0) & (change * (change / it.change) ** 2 <= _SURE * eps))
        at_floor = (change >= 0.5 * it.change) & jnp.all(moved <= _FLOOR * eps * (size + most))
        noisy = (stall.since >= 4) & (whole <= _NOISE * jnp.max(size + most))
        return change, _Memory(most, it.change, stall), (whole == 0) | settled | at_floor | noisy

    def find(start: Vector) -> tuple[Vector, Flag, Count]:
        memory = _Memory(jnp.zeros_like(measure(start)), largest(start), Stall.begin(start))
        last = iterate(correction, judge, jnp.subtract, start, _FULL if full else _SIMPLIFIED, memory)
        return last.z, last.done, last.made

    return implicit(residual, find, guess)


class _Search(NamedTuple):
    """Unknowns and the place they lead to, the sizes of the last two corrections of the place, and their number."""

    z: Array
    x: Array
    change: Scalar
    last: Scalar
    made: Count
    done: Flag


def newton_along(
    correction: Callable[[Array], Vector],
    shift: Callable[[Vector], Array],
    residual: Callable[[Array], Vector],
    base: Array,
    guess: Vector,
    size: Scalar | Array,
) -> tuple[Vector, Flag, Count]:
    """The unknowns z at whose place, `base` and a `shift` that is linear in z, a residual vanishes.

    `correction` is that of Newton's method at a place, with the exact matrix. The place is corrected along with the
    unknowns and compared with its `size`, so that an iteration costs little more than the solve in it.
    """

    def once(it: _Search) -> _Search:
        step = correction(it.x)
        moved = shift(step)
        eps = jnp.finfo(moved.dtype).eps
        change = jnp.max(jnp.abs(moved)) / size if jnp.ndim(size) == 0 else jnp.max(jnp.abs(moved) / size)
        shrink = change / it.change
        settled = (it.made > 1) & (change * jnp.maximum(shrink, it.change / it.last) <= 0.25 * eps)
        settled = settled | ((it.made > 0) & (change * shrink**2 <= _SURE * eps))
        stays = (change >= 0.5 * it.change) & (change <= _FLOOR * eps)
        noisy = (it.made > 8) & (change >= SHRINKS * it.change) & (change <= _NOISE)
        done = (change == 0) | settled | stays | noisy
        return _Search(it.z - step, it.x - moved, change, it.change, it.made + 1, done)

    def find(start: Vector) -> tuple[Vector, Flag, Count]:
        most, none = largest(start), jnp.int32(0)
        first = _Search(start, base + shift(start), most, most, none, jnp.bool_(False))
        last = jax.lax.while_loop(lambda it: ~it.done & (it.made < _SIMPLIFIED) & (it.change < jnp.inf), once, first)
        return last.z, last.done, last.made

    return implicit(lambda z: residual(base + shift(z)), find, guess)

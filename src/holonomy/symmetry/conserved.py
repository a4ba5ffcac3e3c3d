"""A conserved quantity, and whether it jumps where a motion crosses a step of the Lagrangian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.motion import Run
from holonomy.motion.run.watched_integrals import Measured
from holonomy.symmetry.many_states import States, at_rows
from holonomy.systems import System
from holonomy.systems.state_vector import vector
from holonomy.types import AnyArray, Number, Scalar, Tree, VectorLike

Quantity = Callable[[Tree, Tree, Tree], Scalar]


class Integral(eqx.Module):
    """A conserved function of the state that knows the size of its terms."""

    def __call__(self, t: Tree, q: Tree, v: Tree) -> Tree:
        """The value."""
        raise NotImplementedError

    def sizes(self, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree]:
        """The size of the terms, and of all numbers that rounding comes from."""
        raise NotImplementedError


_NEAR = 4e-9  # of the size of what changes: how far from a step both sides are looked at, and at a part of that
_PART = 1 / 16
_JUMP = 1e-9  # of the values: a larger difference of both sides is not rounding
_STAYS = 10.0  # times what each side changes between the two distances: less comes from a slope, a pole, or rounding
_HALVES = 60  # of a line between two states, until its ends differ in the last digits
_LEFT = 1e-4  # of the values: a difference that is left there


@dataclass(frozen=True)
class Conserved:
    """A conserved quantity I(t, q, v): call it with a state, or `along` a run; `print` says what it is.

    `invariance` is ``"exact"`` where the Lagrangian does not change, ``"total derivative"`` where it changes by dF/dt.
    `decided` says whether the formulas of the system show it. Elsewhere it was looked at: `looked_at` says where, and
    `defect` is the largest change that was found there, as a part of the terms that cancel. ``run.watch(found)`` has
    the certificate of a run say how well it was conserved.
    """

    system: System
    quantity: Quantity
    words: str
    invariance: str
    defect: float
    decided: bool = False
    looked_at: str = ""
    name: str = "I"

    def __call__(self, t: Number, q: VectorLike, v: VectorLike) -> Scalar:
        shape = (self.system.space.point_dim,)
        q, v = vector("q", q, shape, self.system), vector("v", v, shape, self.system)
        return _value(self.quantity, jnp.asarray(t, float), jnp.asarray(q), jnp.asarray(v))

    def along(self, run: Run) -> Float[AnyArray, " times"]:
        """The quantity at the saved times of a run."""
        return _values(self.quantity, jnp.asarray(run.t), jnp.asarray(run.q), jnp.asarray(run.v))

    def measured(self, run: Run) -> list[Measured]:
        """The quantity at the saved times of a run, for `Run.watch`."""
        rows = [jnp.asarray(x) for x in (run.t, run.q, run.v)]
        values, terms, rounding = (np.asarray(x) for x in _measured(self.quantity, *rows))
        return [Measured(self.name, values, terms, rounding)]

    def __repr__(self) -> str:
        return self.words


@eqx.filter_jit
def _value(quantity: Quantity, t: Tree, q: Tree, v: Tree) -> Tree:
    return quantity(t, q, v)


@eqx.filter_jit
def _measured(quantity: Quantity, t: Tree, q: Tree, v: Tree) -> tuple[Tree, Tree, Tree]:
    """The quantity, the size of its terms, and of the numbers that its rounding comes from; see `Integral`."""
    assert isinstance(quantity, Integral)
    return jax.vmap(quantity)(t, q, v), *jax.vmap(quantity.sizes)(t, q, v)


@eqx.filter_jit
def _values(quantity: Quantity, t: Tree, q: Tree, v: Tree) -> Tree:
    return jax.vmap(quantity)(t, q, v)


def jump(function: Quantity, looked: States, directions: tuple[np.ndarray, ...] | None = None) -> str | None:
    """Where a function jumps in crossing a special state along a direction, in words; None where it is not seen to.

    `directions` are rows of (t, q, v), by default the lines on which the states were found.
    """
    if not len(looked.special[0]):
        return None
    by, size = jumps(function, looked.special, looked.lines if directions is None else directions)
    if not np.any(by):
        return None
    k = int(np.argmax(by / (size + 1e-300)))
    t, q, v = (x[k] for x in looked.special)
    return f"at t = {float(t):.6g}, q = {shown(q)}, v = {shown(v)} by {by[k]:.3g}"


def jumps(
    function: Quantity, states: tuple[np.ndarray, ...], directions: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """By how much a function jumps in crossing each of some states in a direction, zero where it does not, and the size
    of its values.
    """
    n = states[1].shape[1]
    point, way = (np.concatenate([x[0][:, None], x[1], x[2]], axis=1) for x in (states, directions))
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(way), axis=1)
        here = np.max(np.where(np.abs(way) > 0, np.abs(point), 0.0), axis=1)
        reach = np.where(largest > 0, _NEAR * np.where(here > 0, here, 1.0) / largest, 0.0)

    def side(part: float | np.ndarray) -> np.ndarray:
        z = point + (part * reach)[:, None] * way
        return at_rows(function, z[:, 0], z[:, 1 : 1 + n], z[:, 1 + n :])[0]

    before, behind = (side(-1.0), side(-_PART)), (side(1.0), side(_PART))
    with np.errstate(all="ignore"):
        by, size = np.abs(behind[1] - before[1]), np.abs(behind[1]) + np.abs(before[1])
        changes = np.abs(before[1] - before[0]) + np.abs(behind[1] - behind[0])
        found = np.isfinite(by + changes) & (by > _STAYS * changes) & (by > _JUMP * size)
        if np.any(found):
            found &= _left_between(side, before[1], behind[1]) > 0.25 * by  # sign(0) is half way
    return np.where(found, by, 0.0), size


def _left_between(side: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """What is left of the differences across states when their two sides come together.

    Far out a function that repeats may have the same values at two distances on each side, and jump nowhere.
    """
    begin, end = np.full(len(low), -_PART), np.full(len(low), _PART)
    for _ in range(_HALVES):
        middle = 0.5 * (begin + end)
        value = side(middle)
        lower = np.abs(value - low) >= np.abs(high - value)
        begin, end = np.where(lower, begin, middle), np.where(lower, middle, end)
        low, high = np.where(lower, low, value), np.where(lower, value, high)
    return np.abs(high - low)


def jump_between(function: Quantity, looked: States) -> str | None:
    """Where a function that is no formula jumps on lines between states, in words; None where it is not seen to.

    Each line is cut in halves, of which the one with the larger difference is kept, until both ends are neighbours.
    """
    generator = np.random.default_rng(5)
    here = np.concatenate([looked.t[:, None], looked.q, looked.v], axis=1)
    there, n = here[generator.permutation(len(here))], looked.q.shape[1]
    compiled = jax.jit(jax.vmap(lambda z: function(z[0], z[1 : 1 + n], z[1 + n :])))

    def value(z: np.ndarray) -> np.ndarray:
        return np.asarray(compiled(jnp.asarray(z)))

    low, high = value(here), value(there)
    size, first = np.abs(low) + np.abs(high), np.abs(high - low)
    for _ in range(_HALVES):
        middle = 0.5 * (here + there)
        found = value(middle)
        lower = np.abs(found - low) >= np.abs(high - found)
        here, there = np.where(lower[:, None], here, middle), np.where(lower[:, None], middle, there)
        low, high = np.where(lower, low, found), np.where(lower, found, high)
    left = np.abs(high - low)
    with np.errstate(all="ignore"):
        parts = left / size
        parts = np.where(np.isfinite(parts) & (left <= 2 * first), parts, 0.0)
    k = int(np.argmax(parts))
    if not parts[k] > _LEFT:
        return None
    t, q, v = here[k, 0], here[k, 1 : 1 + n], here[k, 1 + n :]
    return f"at t = {float(t):.6g}, q = {shown(q)}, v = {shown(v)} by {left[k]:.3g}"


def shown(x: Any) -> str:
    """A vector in a sentence."""
    return np.array2string(np.asarray(x), precision=6, separator=", ")

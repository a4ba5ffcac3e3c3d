r"""Many sums that depend on each other, as one table: compiled code is a loop over its rows, whatever their number.

A sum is \(x_o = x_b - \sum_j c_j\), where the terms \(c_j\) are made of values that are known before. Sums that do not
wait for each other stand in one row. All rows have the same number of places and all places room for the same number
of terms; a sum of more terms continues in a later row. So the program that XLA compiles does not grow with the sums,
as it would with a set of array operations for each group of sums that are ready together.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from holonomy.types import AnyArray

Tables: TypeAlias = tuple[Array, ...]
"""Arrays with an entry for each place of the table of sums; in a loop, of one row of it."""

_LATENCY = 100.0  # time of the loop for each row, in that of one term
_WIDTHS = (1, 2, 3, 4, 6, 8)  # terms that a place may have room for


class Rows(eqx.Module):
    """The table of the sums. Values stand one after the other: those that are given, and then those of every place.

    `given` is the number of given values and `base` the place of \\(x_b\\) of each sum, of places that are not used the
    last given value, which is zero.
    """

    given: int = eqx.field(static=True)
    base: Int[AnyArray, "rows places"]

    def run(self, values: Float[Array, " given"], parts: Tables, terms: Callable[[Array, Tables], Array]) -> Array:
        """All values, of those that are given; `terms` makes terms of the values and of the `parts` of a row."""
        rows, places = self.base.shape
        if not rows:
            return values
        begins = (self.given + places * np.arange(rows)).astype(np.int32)

        def once(x: Any, row: Any) -> Any:
            begin, base, given = row
            found = take(x, base) - jnp.sum(terms(x, given), axis=0)
            return jax.lax.dynamic_update_slice_in_dim(x, found, begin, axis=0), None

        start = jnp.concatenate([values, jnp.zeros(rows * places, values.dtype)])
        return jax.lax.scan(once, start, (jnp.asarray(begins), jnp.asarray(self.base), parts))[0]

    def linear(
        self, values: Float[Array, " given"], factors: Float[Array, "rows room places"], source: AnyArray
    ) -> Array:
        """The same of terms that are the product of a factor with the value at a place."""
        return self.run(values, (factors, jnp.asarray(source)), lambda x, row: row[0] * take(x, row[1]))


def take(x: Float[Array, " n"], index: AnyArray) -> Array:
    """Entries at places that exist."""
    return x.at[jnp.asarray(index)].get(mode="promise_in_bounds")


# ── on the host ───────────────────────────────────────────────────────────────────────────────────────


def arrange(
    given: int,
    base: Int[np.ndarray, " sums"],
    level: Int[np.ndarray, " sums"],
    sums: Int[np.ndarray, " terms"],
    operands: Int[np.ndarray, "terms operands"],
) -> tuple[Rows, Int[np.ndarray, "rows room places"], Int[np.ndarray, " values"]]:
    """The table; which term stands where in it, and their number where none does; and where each value stands: a given
    one by its number, and that of sum i as number `given + i`.

    `sums` says to which sum each term belongs, `operands` are the numbers of the values that it is made of. A sum
    depends only on sums of lower `level`, and sums are sorted by it.
    """
    room, places = _shape(np.bincount(sums, minlength=len(base)), level)
    row_of = np.full(given + len(base), -1)
    place_of = np.concatenate([np.arange(given), np.full(len(base), -1)])
    free = _FreeRows(places)
    begin = np.searchsorted(level, np.unique(level))
    terms_at = np.argsort(sums, kind="stable")
    ends = np.searchsorted(sums[terms_at], np.append(begin, len(base)))
    filled: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    bases: list[tuple[int, int]] = []
    for low, high in pairwise(ends.tolist()):
        mine = terms_at[low:high]
        ready = row_of[operands[mine]].max(axis=1)
        order = np.lexsort((ready, sums[mine]))
        mine, ready = mine[order], ready[order]
        first = np.flatnonzero(np.diff(sums[mine], prepend=-1))
        rank = np.arange(len(mine)) - np.repeat(first, np.diff(np.append(first, len(mine))))
        last = np.append((np.diff(sums[mine]) != 0) | (rank[1:] % room == 0), True)
        pieces = np.flatnonzero(last)
        at = np.empty(len(pieces), np.int64)
        for n, (one, after) in enumerate(zip(sums[mine[pieces]].tolist(), ready[pieces].tolist(), strict=True)):
            number = given + one
            # a sum goes on from what it has already
            before = place_of[number] if place_of[number] >= 0 else base[one]
            row, slot = free.take(max(after, int(row_of[number])) + 1)
            at[n] = row * places + slot
            bases.append((int(at[n]), int(before)))
            row_of[number], place_of[number] = row, given + at[n]
        filled.append((np.repeat(at, np.diff(np.append(-1, pieces))), rank % room, mine))
    rows = len(free.used)
    table = np.full((rows, places), given - 1)
    where = np.array(bases, np.int64).reshape(-1, 2)
    table.reshape(-1)[where[:, 0]] = where[:, 1]
    numbers = np.full((rows, room, places), len(sums))
    for at, slot, mine in filled:
        numbers[at // places, slot, at % places] = mine
    return Rows(given, np.ascontiguousarray(table, np.int32)), numbers, place_of


def _shape(counts: np.ndarray, level: np.ndarray) -> tuple[int, int]:
    """How many terms a place should have room for, and how many places a row should have, for little time."""
    if not counts.size:
        return 1, 1
    levels, best = len(np.unique(level)), (np.inf, 1, 1)
    for room in _WIDTHS:
        pieces = float(np.sum(-(-counts // room)))
        places = int(np.clip(np.sqrt(pieces * _LATENCY / (levels * (1 + room))), 4, 4096))
        best = min(best, ((levels + pieces / places) * (_LATENCY + places * (1 + room)), room, places))
    return best[1], best[2]


class _FreeRows:
    """The rows of a table that have places left."""

    def __init__(self, places: int):
        self.places = places
        self.used: list[int] = []
        self._next: list[int] = []  # a row at or after each row that has places left, as far as is known

    def take(self, first: int) -> tuple[int, int]:
        """The first row from this one on that has a place left, and the place."""
        while len(self.used) <= first:
            self._grow()
        row = first
        while self._next[row] != row:
            self._next[row] = self._next[self._next[row]]
            row = self._next[row]
        self.used[row] += 1
        if self.used[row] == self.places:
            if row + 1 == len(self.used):
                self._grow()
            self._next[row] = row + 1
        return row, self.used[row] - 1

    def _grow(self) -> None:
        self._next.append(len(self.used))
        self.used.append(0)

"""The order in which the unknowns of a sparse matrix are eliminated, and which entries that makes; on the host."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from holonomy.systems import remaining_blocks

REST = 24  # unknowns at which a dense matrix is as good
_DENSE = 0.3  # part of all other unknowns that each has as neighbours, from which the rest counts as dense
_MOST_TERMS = 5e5  # products of entries of tables, at most: they take memory

# Times of an elimination on one core in nanoseconds, from measurements: of a product of two entries that are looked
# up, of an operation in dense matrices, and of a block that is factored.
_PRODUCT, _DENSELY, _BLOCK = 3.0, 0.3, 2e4


class Order(NamedTuple):
    """An order: the `unknowns`; how many are eliminated one by one; the `level` of each place, where those of the rest
    have the last; the neighbours of each that is eliminated; and how wide the blocks of the rest are."""

    unknowns: Int[np.ndarray, " n"]
    eliminated: int
    level: Int[np.ndarray, " n"]
    around: list[list[int]]
    width: int

    @property
    def levels(self) -> int:
        """The number of levels before the rest."""
        return int(self.level[self.eliminated - 1]) + 1 if self.eliminated else 0


class Pattern(NamedTuple):
    """Entries by the places of unknowns in their order.

    `pivot` and `column` are those of each entry of the factors beside the diagonal, `rest` the rows and columns of
    those that are left; `changed` is the entry (row times size plus column) that each product changes, and `operands`
    the two entries and the pivot of which it is made.
    """

    pivot: np.ndarray
    column: np.ndarray
    rest: tuple[np.ndarray, np.ndarray]
    changed: np.ndarray
    operands: tuple[np.ndarray, np.ndarray, np.ndarray]


def quickest(size: int, pairs: Int[np.ndarray, "entries 2"]) -> Order:
    """The order of least work: by levels, or all along a band."""
    unknowns, width = remaining_blocks.along_band(size, pairs)
    along = Order(unknowns, 0, np.zeros(size, int), [], _even(size, width))
    blocks = -(-size // along.width)
    most = (size * along.width**2 * 5 * _DENSELY + blocks * _BLOCK) / _PRODUCT
    return _by_levels(size, pairs, min(most, _MOST_TERMS), None) or along


def sparse_order(size: int, pairs: Int[np.ndarray, "entries 2"]) -> Order | None:
    """The order by levels where the matrix never has more entries than at first, until it is small."""
    found = _by_levels(size, pairs, np.inf, len(pairs))
    return found if found is not None and size - found.eliminated <= REST else None


def _even(size: int, width: int) -> int:
    """The least width of blocks, not less than this, of which no fewer are enough; all, where a few would do."""
    if size <= max(REST, 2 * width):
        return max(size, 1)
    return -(-size // (size // width))


def _by_levels(size: int, pairs: np.ndarray, most_terms: float, most: int | None) -> Order | None:
    near: list[set[int]] = [set() for _ in range(size)]
    for i, j in pairs.tolist():
        near[i].add(j)
        near[j].add(i)
    left, chosen, around, counts, terms = set(range(size)), [], [], [], 0
    while len(left) > REST:
        level = _independent(left, near)
        if not level:
            break
        terms += sum(len(near[k]) * (len(near[k]) + 3) // 2 for k in level)
        if terms > most_terms:
            return None
        around += [sorted(near[k]) for k in level]
        chosen += level
        counts.append(len(level))
        for k in level:
            _remove(k, near)
        left.difference_update(level)
        if most is not None and sum(len(near[k]) for k in left) > 2 * most:
            return None
    if terms + len(left) ** 3 * _DENSELY / _PRODUCT > most_terms and most is None:
        return None
    of = np.repeat(np.arange(len(counts) + 1), [*counts, len(left)])
    return Order(np.array(chosen + sorted(left), np.int64), len(chosen), of, around, max(len(left), 1))


def _independent(left: set[int], near: list[set[int]]) -> list[int]:
    """Unknowns of few neighbours, none a neighbour of another; none where each has most others as neighbours."""
    fewest = min(len(near[k]) for k in left)
    if fewest > _DENSE * (len(left) - 1):
        return []
    most, taken, shut = max(2, fewest + fewest // 2), [], set()
    for k in sorted(left):
        if len(near[k]) <= most and k not in shut:
            taken.append(k)
            shut.update(near[k])
    return taken


def _remove(k: int, near: list[set[int]]) -> None:
    """Join the neighbours of an unknown that is eliminated."""
    around = near[k]
    for a in around:
        near[a] |= around
        near[a].discard(a)
        near[a].discard(k)
    near[k] = set()


def pattern(size: int, ends: np.ndarray, chosen: Order, place: np.ndarray) -> Pattern:
    """All entries and products of an elimination, from the pairs of places that the matrix has entries at."""
    count = chosen.eliminated
    degrees = np.array([len(one) for one in chosen.around], np.int64)
    pivot = np.repeat(np.arange(count), degrees)
    column = place[np.array([a for one in chosen.around for a in one], np.int64)]
    by_both = np.lexsort((column, pivot))
    column = column[by_both]
    begin = np.cumsum(degrees) - degrees
    first, second = [np.arange(len(pivot))], [np.arange(len(pivot))]
    for degree in np.unique(degrees):
        a, b = np.triu_indices(degree, 1)
        at = begin[degrees == degree][:, None]
        first.append((at + a).reshape(-1))
        second.append((at + b).reshape(-1))
    i, j = np.concatenate(first), np.concatenate(second)
    changed = column[i] * size + column[j]
    entry = pivot * size + column
    left = np.unique(np.concatenate([changed, ends[:, 0] * size + ends[:, 1]]))
    row, other = left // size, left % size
    staying = (row >= count) & (row < other)
    operands = (entry[i], entry[j], pivot[i] * (size + 1))
    return Pattern(pivot, column, (row[staying], other[staying]), changed, operands)

r"""Sparse systems near a symmetric positive definite one, with the order of elimination found once on the host.

Eliminating an unknown joins its neighbours in the graph of the matrix. Unknowns that are not neighbours of each other
are eliminated together, as one level: every second one of a chain, so that a chain of n unknowns takes
\(\log_2 n\) levels and work of order n; the same holds for trees of bounded degree. What remains when the graph has
become dense is factored as a matrix. Of networks that fill up much, such as large nets, nothing is eliminated in this
way, and all is factored in blocks along a band (`remaining_blocks`).

Unknowns are numbered by the level that eliminates them. All sums over neighbours stand in a table that the host made
(`rows_of_sums`), so that compiled code neither sorts nor scatters, and is the same for any number of levels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from holonomy.systems import elimination_order, remaining_blocks
from holonomy.systems.elimination_order import Order, Pattern
from holonomy.systems.remaining_blocks import BlockFactors, Blocks
from holonomy.systems.rows_of_sums import Rows, Tables, arrange, take
from holonomy.types import AnyArray, Scalar

_MOST_REST = 3000  # unknowns of a dense matrix at the end, at most


class Entries(eqx.Module):
    """How the entries of the factors are found: the terms of their sums are products of the entries at the places
    `left` and `right` over that at `through`.

    The places of what is found: the pivots and the diagonal of the rest (`own`), the entries above and below the
    diagonal (`above`, `below`), and those of the rest (`rest_above`, `rest_below`).
    """

    rows: Rows
    left: Int[AnyArray, "rows room places"]
    right: Int[AnyArray, "rows room places"]
    through: Int[AnyArray, "rows room places"]
    own: Int[AnyArray, " n"]
    above: Int[AnyArray, " factors"]
    below: Int[AnyArray, " factors"]
    rest_above: Int[AnyArray, " rest"]
    rest_below: Int[AnyArray, " rest"]

    def run(self, *given: Array) -> Array:
        """The entries, of those of the matrix."""
        at = (jnp.asarray(self.left), jnp.asarray(self.right), jnp.asarray(self.through))
        values = jnp.concatenate([*given, jnp.array([1.0, 0.0], given[0].dtype)])

        def terms(x: Array, at: Tables) -> Array:
            left, right, through = (take(x, index) for index in at)
            return left * right / through

        return self.rows.run(values, at, terms)


class Elimination(eqx.Module):
    """How a matrix of known pattern is eliminated.

    `levels` is their number. `order` are the unknowns in the order of elimination and `place` its inverse; `turned`
    says of which pairs the second is eliminated first. `symmetric` and `general` make the entries of the factors of
    such matrices, `pivot` is the unknown whose row or column each belongs to. `forward` and `backward` make the
    solution, each term with an entry of the factors (`forth`, `back`) and the value at a place (`source`, `other`);
    `ahead` and `found` are the places of what they find.
    """

    levels: int = eqx.field(static=True)
    order: Int[AnyArray, " n"]
    place: Int[AnyArray, " n"]
    turned: Bool[AnyArray, " entries"]
    symmetric: Entries
    general: Entries
    pivot: Int[AnyArray, " factors"]
    forward: Rows
    forth: Int[AnyArray, "rows room places"]
    source: Int[AnyArray, "rows room places"]
    ahead: Int[AnyArray, " n"]
    backward: Rows
    back: Int[AnyArray, "back_rows back_room back_places"]
    other: Int[AnyArray, "back_rows back_room back_places"]
    found: Int[AnyArray, " n"]
    rest: Blocks

    @property
    def widest(self) -> int:
        """The size of the largest matrix that is factored as a dense one."""
        return self.rest.width

    @property
    def banded(self) -> bool:
        """Whether all is factored in blocks along a band."""
        return self.levels == 0 and self.rest.count > 1

    def factor(self, diagonal: Float[Array, " n"], entries: Float[Array, " entries"]) -> Factors:
        """The factorisation of the symmetric matrix with this diagonal and these entries, one for each pair."""
        how, diagonal = self.symmetric, take(diagonal, self.order)
        x = how.run(diagonal, entries)
        own = take(x, how.own)
        rest = self.rest.factor(own[self._count :], take(x, how.rest_above), None)
        pivots = jnp.concatenate([own[: self._count], self.rest.squared_pivots(rest)])
        return Factors(*self._factors(how, x, own), rest, take(pivots / diagonal, self.place))

    def factor_general(
        self, diagonal: Float[Array, " n"], forth: Float[Array, " entries"], back: Float[Array, " entries"]
    ) -> Factors:
        r"""The same of a matrix with entries \(A_{ij}\) and \(A_{ji}\) of each pair (i, j) of the pattern."""
        how, turned = self.general, jnp.asarray(self.turned)
        x = how.run(take(diagonal, self.order), jnp.where(turned, back, forth), jnp.where(turned, forth, back))
        own = take(x, how.own)
        rest = self.rest.factor(own[self._count :], take(x, how.rest_above), take(x, how.rest_below))
        return Factors(*self._factors(how, x, own), rest, diagonal)

    @property
    def _count(self) -> int:
        """The number of unknowns that are eliminated before the rest."""
        return self.order.shape[0] - self.rest.size

    def _factors(self, how: Entries, x: Array, own: Array) -> tuple[Array, Array, Array]:
        """The inverse pivots, and entries below and above the diagonal over them, where a solution needs them."""
        inverse = 1.0 / own[: self._count]
        scale, zero = take(inverse, self.pivot), jnp.zeros(1, own.dtype)
        below, above = (jnp.concatenate([take(x, at) * scale, zero]) for at in (how.below, how.above))
        return inverse, take(below, self.forth), take(above, self.back)

    def solve(self, factors: Factors, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """The solution for a right-hand side."""
        zero = jnp.zeros(1, b.dtype)
        ahead = self.forward.linear(jnp.concatenate([take(b, self.order), zero]), factors.forth, self.source)
        ahead = take(ahead, self.ahead)
        rest = self.rest.solve(factors.rest, ahead[self._count :])
        given = jnp.concatenate([ahead[: self._count] * factors.inverse, rest, zero])
        return take(self.backward.linear(given, factors.back, self.other), self.found)


class Factors(NamedTuple):
    """The inverse pivots, and entries below and above the diagonal over them; the factors of the rest; and, of a
    symmetric matrix, each pivot over its diagonal entry."""

    inverse: Float[Array, " eliminated"]
    forth: Float[Array, "rows room places"]
    back: Float[Array, "rows room places"]
    rest: BlockFactors
    independence: Float[Array, " n"]

    @property
    def least(self) -> Scalar:
        """The least pivot over its diagonal entry: of products of rows, the least squared sine of the angle of one of
        them to those before it; NaN where the matrix is not positive definite."""
        return jnp.min(self.independence)


# ── on the host ───────────────────────────────────────────────────────────────────────────────────────


def eliminate(size: int, pairs: Int[np.ndarray, "entries 2"]) -> Elimination:
    """The elimination of a matrix of so many unknowns whose entries off the diagonal are these pairs, each once."""
    chosen = elimination_order.quickest(size, pairs)
    found = _tables(size, pairs, chosen)
    if found.widest > _MOST_REST:
        raise ValueError(
            f"The conditions of these bodies depend on each other so much that {found.widest} of {size} multipliers "
            f"would be found by a dense matrix; up to {_MOST_REST} are supported. Join fewer vertices by rods."
        )
    return found


def eliminate_sparsely(size: int, pairs: Int[np.ndarray, "entries 2"]) -> Elimination | None:
    """The same where the matrix stays sparse: as long as it never has more entries than at first, until it is small."""
    chosen = elimination_order.sparse_order(size, pairs)
    return None if chosen is None else _tables(size, pairs, chosen)


def _tables(size: int, pairs: np.ndarray, chosen: Order) -> Elimination:
    place = np.empty(size, np.int64)
    place[chosen.unknowns] = np.arange(size)
    ends = np.sort(place[pairs], axis=1)
    turned = place[pairs[:, 0]] > place[pairs[:, 1]]
    found = elimination_order.pattern(size, ends, chosen, place)
    level, pivot, column = chosen.level, found.pivot, found.column
    (forward, forth, source), ahead = _solution(size, level, column, pivot)
    (backward, back, other), last = _solution(size, -level, pivot, column)
    i, j = (x - chosen.eliminated for x in found.rest)
    return Elimination(
        levels=chosen.levels,
        order=_index(chosen.unknowns),
        place=_index(place),
        turned=turned,
        symmetric=_entries(size, ends, level, found, general=False),
        general=_entries(size, ends, level, found, general=True),
        pivot=_index(pivot),
        forward=forward,
        forth=forth,
        source=source,
        ahead=_index(ahead),
        backward=backward,
        back=back,
        other=other,
        found=_index(last[place]),
        rest=remaining_blocks.blocks(size - chosen.eliminated, chosen.width, i, j),
    )


def _entries(size: int, ends: np.ndarray, level: np.ndarray, found: Pattern, general: bool) -> Entries:
    """The sums for the entries of the factors, above the diagonal or, where the matrix is general, on both sides.

    An entry is known by its row times the size plus its column.
    """

    def across(key: np.ndarray) -> np.ndarray:
        return (key % size) * size + key // size if general else key

    changed, (left, right, through) = found.changed, found.operands
    left, above, row = across(left), found.pivot * size + found.column, found.rest[0] * size + found.rest[1]
    keys = [np.arange(size) * (size + 1), ends[:, 0] * size + ends[:, 1]]
    if general:
        off = changed // size != changed % size
        changed = np.concatenate([changed, across(changed[off])])
        both = np.concatenate([left, across(right[off])]), np.concatenate([right, across(left[off])])
        left, right, through = *both, np.concatenate([through, through[off]])
        keys.append(across(keys[1]))
    given = np.concatenate(keys)
    one, zero, count = len(given), len(given) + 1, len(given) + 2
    sums, of = np.unique(changed, return_inverse=True)
    of_row = level[np.minimum(sums // size, sums % size)]
    by_level = np.argsort(of_row, kind="stable")
    number = np.empty(len(sums), np.int64)
    number[by_level] = count + np.arange(len(sums))
    first = _numbers(given, np.arange(len(given)), zero)
    final = _numbers(np.concatenate([sums, given]), np.concatenate([number, np.arange(len(given))]), zero)
    operands = np.stack([final(key) for key in (left, right, through)], axis=1)
    rows, terms, where = arrange(count, first(sums[by_level]), of_row[by_level], number[of] - count, operands)
    unused = np.append(where[operands], [[zero, zero, one]], axis=0)[terms]
    at = [_index(unused[..., i]) for i in range(3)]
    said = (keys[0], above, across(above), row, across(row))
    return Entries(rows, *at, *(_index(where[final(key)]) for key in said))


def _numbers(keys: np.ndarray, numbers: np.ndarray, otherwise: int) -> Callable[[np.ndarray], np.ndarray]:
    """What finds the number of a key, the first one given for it, or `otherwise`."""
    known, first = np.unique(keys, return_index=True)

    def find(key: np.ndarray) -> np.ndarray:
        at = np.minimum(np.searchsorted(known, key), len(known) - 1)
        return np.where(known[at] == key, numbers[first[at]], otherwise)

    return find


def _solution(
    size: int, level: np.ndarray, target: np.ndarray, source: np.ndarray
) -> tuple[tuple[Rows, np.ndarray, np.ndarray], np.ndarray]:
    """The sums of a solution in one direction, the entry and the value of each term, and where unknowns are found."""
    changed = np.unique(target)
    changed = changed[np.argsort(level[changed], kind="stable")]
    number = np.full(size, -1)
    number[changed] = np.arange(len(changed))
    final = np.where(number >= 0, size + 1 + number, np.arange(size))
    rows, terms, where = arrange(size + 1, changed, level[changed], number[target], final[source][:, None])
    values = np.append(where[final[source]], size)[terms]
    return (rows, _index(terms), _index(values)), where[final]


def _index(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.int32)

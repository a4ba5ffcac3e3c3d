r"""Sparse systems near a symmetric positive definite one, with the order of elimination found once on the host.

Eliminating an unknown joins its neighbours in the graph of the matrix. Unknowns that are not neighbours of each other
are eliminated together, as one level: every second one of a chain, so that a chain of n unknowns takes
\(\log_2 n\) levels of array operations and work of order n; the same holds for trees of bounded degree. What remains
when the graph has become dense is factored as a matrix.

Unknowns are numbered by the level that eliminates them, and every sum over neighbours is a gather from a table that the
host made, so that compiled code neither sorts nor scatters.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from holonomy.types import AnyArray, Scalar

REST = 24  # unknowns at which a dense matrix is as good
_MOST_REST = 3000  # unknowns of a dense matrix at the end, at most
_SHARED = 4  # unknowns of one level that may change the same entry: tables are so wide
_DENSE = 0.3  # part of all other unknowns that each has as neighbours, from which the rest counts as dense

Edge = tuple[int, int]


class Level(eqx.Module):
    """Tables of one level. Index `edges` is an entry that is zero, `count` unknowns are eliminated.

    Row by row of a table: the neighbours among those that are eliminated of each unknown that stays (`edge`, `pivot`);
    the entry before of each entry after (`kept`) and the pairs of entries that change it (`left`, `right`, `through`);
    the entries and unknowns that each eliminated one needs when it is found again (`own`, `other`).
    """

    count: int = eqx.field(static=True)
    edge: Int[AnyArray, "slots stay"]
    pivot: Int[AnyArray, "slots stay"]
    kept: Int[AnyArray, " entries"]
    left: Int[AnyArray, "pairs entries"]
    right: Int[AnyArray, "pairs entries"]
    through: Int[AnyArray, "pairs entries"]
    own: Int[AnyArray, "degree count"]
    other: Int[AnyArray, "degree count"]


class Elimination(eqx.Module):
    """How a matrix of known pattern is eliminated.

    `order` are the unknowns in the order of elimination and `place` its inverse; `turned` says of which pairs the
    second is eliminated first; `rest` are the places of the last entries in a dense matrix.
    """

    order: Int[AnyArray, " n"]
    place: Int[AnyArray, " n"]
    turned: Bool[AnyArray, " entries"]
    levels: tuple[Level, ...]
    rest: Int[AnyArray, "size size"]

    def factor(self, diagonal: Float[Array, " n"], entries: Float[Array, " entries"]) -> Factors:
        """The factorisation of the symmetric matrix with this diagonal and these entries, one for each pair."""
        return self._factor(diagonal, entries, None)

    def factor_general(
        self, diagonal: Float[Array, " n"], forth: Float[Array, " entries"], back: Float[Array, " entries"]
    ) -> Factors:
        r"""The same of a matrix with entries \(A_{ij}\) and \(A_{ji}\) of each pair (i, j) of the pattern."""
        turned = jnp.asarray(self.turned)
        return self._factor(diagonal, jnp.where(turned, back, forth), jnp.where(turned, forth, back))

    def _factor(self, diagonal: Array, upper: Array, lower: Array | None) -> Factors:
        diagonal = first = _take(diagonal, self.order)
        pivots: list[Array] = []
        kept: list[tuple[Array, Array]] = []
        for level in self.levels:
            upper = _with_zero(upper)
            left = upper if lower is None else _with_zero(lower)
            own = diagonal[: level.count]
            across = _take(left, level.edge) * _take(upper, level.edge)
            pairs = _take(left, level.left) * _take(upper, level.right) / _take(own, level.through)
            pivots.append(own)
            kept.append((upper, left))
            diagonal = diagonal[level.count :] - jnp.sum(across / _take(own, level.pivot), axis=0)
            if lower is not None:
                others = _take(left, level.right) * _take(upper, level.left) / _take(own, level.through)
                lower = _take(left, level.kept) - jnp.sum(others, axis=0)
            upper = _take(upper, level.kept) - jnp.sum(pairs, axis=0)
        above = _take(jnp.concatenate([diagonal, _with_zero(upper)]), self.rest)
        if lower is None:
            dense = jnp.linalg.cholesky(above)
            least = jnp.concatenate([*pivots, jnp.diagonal(dense) ** 2]) / first
            return Factors(pivots, kept, (dense, None), _take(least, self.place))
        below = _take(jnp.concatenate([diagonal, _with_zero(lower)]), self.rest)
        both = jsl.lu_factor(jnp.triu(above) + jnp.tril(below, -1))
        return Factors(pivots, kept, both, diagonal)

    def solve(self, factors: Factors, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """The solution for a right-hand side."""
        b = _take(b, self.order)
        eliminated: list[Array] = []
        for level, own, (_, lower) in zip(self.levels, factors.pivots, factors.entries, strict=True):
            scaled = b[: level.count] / own
            b = b[level.count :] - jnp.sum(_take(lower, level.edge) * _take(scaled, level.pivot), axis=0)
            eliminated.append(scaled)
        dense, exchanged = factors.rest
        x = jsl.cho_solve((dense, True), b) if exchanged is None else jsl.lu_solve((dense, exchanged), b)
        every = list(zip(self.levels, factors.pivots, factors.entries, eliminated, strict=True))
        for level, own, (upper, _), scaled in reversed(every):
            back = jnp.sum(_take(upper, level.own) * _take(x, level.other), axis=0)
            x = jnp.concatenate([scaled - back / own, x])
        return _take(x, self.place)


class Factors(NamedTuple):
    """Pivots and entries, right and left of the diagonal, level by level; the Cholesky factor of the rest, or its
    triangular factors and exchanges; and, of a symmetric matrix, each pivot over its diagonal entry."""

    pivots: list[Array]
    entries: list[tuple[Array, Array]]
    rest: tuple[Array, Array | None]
    independence: Float[Array, " n"]

    @property
    def least(self) -> Scalar:
        """The least pivot over its diagonal entry: of products of rows, the least squared sine of the angle of one of
        them to those before it; NaN where the matrix is not positive definite."""
        return jnp.min(self.independence)


def _with_zero(entries: Float[Array, " entries"]) -> Array:
    return jnp.append(entries, jnp.zeros(1, entries.dtype))


def _take(x: Float[Array, " n"], index: AnyArray) -> Array:
    return x.at[jnp.asarray(index)].get(mode="promise_in_bounds")


# ── on the host ───────────────────────────────────────────────────────────────────────────────────────


def eliminate(size: int, pairs: Int[np.ndarray, "entries 2"]) -> Elimination:
    """The elimination of a matrix of so many unknowns whose entries off the diagonal are these pairs, each once."""
    found = _eliminated(size, pairs, None)
    assert found is not None
    return found


def eliminate_sparsely(size: int, pairs: Int[np.ndarray, "entries 2"]) -> Elimination | None:
    """The same where the matrix stays sparse: as long as it never has more entries than at first, until it is small."""
    return _eliminated(size, pairs, len(pairs))


def _eliminated(size: int, pairs: np.ndarray, most: int | None) -> Elimination | None:
    near: list[set[int]] = [set() for _ in range(size)]
    for i, j in pairs.tolist():
        near[i].add(j)
        near[j].add(i)
    left, chosen, graphs = set(range(size)), [], []
    while len(left) > REST:
        level = _independent(left, near)
        if not level:
            break
        graphs.append({k: sorted(near[k]) for k in level})
        chosen.append(level)
        for k in level:
            _remove(k, near)
        left.difference_update(level)
        if most is not None and sum(len(near[k]) for k in left) > 2 * most:
            return None
    if most is not None and len(left) > REST:
        return None
    if len(left) > _MOST_REST:
        raise ValueError(
            f"The conditions of these bodies depend on each other so much that {len(left)} of {size} multipliers would "
            f"be found by a dense matrix; up to {_MOST_REST} are supported. Join fewer vertices by rods."
        )
    order = np.array([k for level in chosen for k in level] + sorted(left), dtype=np.int64)
    place = np.empty(size, np.int64)
    place[order] = np.arange(size)
    return _tables(size, pairs, place, order, [len(level) for level in chosen], graphs)


def _independent(left: set[int], near: list[set[int]]) -> list[int]:
    """Unknowns of few neighbours, none a neighbour of another; none where each has most others as neighbours."""
    fewest = min(len(near[k]) for k in left)
    if fewest > _DENSE * (len(left) - 1):
        return []
    most, taken, shut = max(2, fewest + fewest // 2), [], set()
    changes: dict[int | Edge, int] = {}
    for k in sorted(left):
        around = near[k]
        if len(around) > most or k in shut:
            continue
        touched: list[int | Edge] = [*around, *_pairs(sorted(around))]
        if any(changes.get(one, 0) >= _SHARED for one in touched):
            continue
        for one in touched:
            changes[one] = changes.get(one, 0) + 1
        taken.append(k)
        shut.update(around)
    return taken


def _pairs(members: list[int]) -> list[Edge]:
    return [(a, b) for n, a in enumerate(members) for b in members[n + 1 :]]


def _remove(k: int, near: list[set[int]]) -> None:
    """Join the neighbours of an unknown that is eliminated."""
    around = near[k]
    for a in around:
        near[a] |= around
        near[a].discard(a)
        near[a].discard(k)
    near[k] = set()


def _tables(
    size: int,
    pairs: np.ndarray,
    place: np.ndarray,
    order: np.ndarray,
    counts: list[int],
    graphs: list[dict[int, list[int]]],
) -> Elimination:
    """The tables, with unknowns numbered from the first that is left at each level."""
    ends = np.sort(place[pairs], axis=1)
    entries: dict[Edge, int] = {(int(a), int(b)): n for n, (a, b) in enumerate(ends)}
    levels, begin = [], 0
    for count, graph in zip(counts, graphs, strict=True):
        around = {int(place[k]): sorted(int(place[a]) for a in members) for k, members in graph.items()}
        level, entries = _level(begin, count, size, entries, around)
        levels.append(level)
        begin += count
    rest = size - begin
    where = np.full((rest, rest), rest + len(entries))
    np.fill_diagonal(where, np.arange(rest))
    for (a, b), n in entries.items():
        where[a - begin, b - begin] = where[b - begin, a - begin] = rest + n
    turned = place[pairs[:, 0]] > place[pairs[:, 1]]
    return Elimination(_index(order), _index(place), turned, tuple(levels), _index(where))


def _level(
    begin: int, count: int, size: int, entries: dict[Edge, int], around: dict[int, list[int]]
) -> tuple[Level, dict[Edge, int]]:
    """One level, and the entries after it; unknowns below `begin` are eliminated already."""
    end, none = begin + count, len(entries)
    after = {edge for edge in entries if edge[0] >= end}
    changes: dict[Edge, list[tuple[int, int, int]]] = {}
    touched: dict[int, list[tuple[int, int]]] = {}
    for k, members in around.items():
        edges = {a: entries[k, a] for a in members}
        for a in members:
            touched.setdefault(a, []).append((edges[a], k - begin))
        for a, b in _pairs(members):
            changes.setdefault((a, b), []).append((edges[a], edges[b], k - begin))
            after.add((a, b))
    later = {edge: n for n, edge in enumerate(sorted(after))}
    kept = np.array([entries.get(edge, none) for edge in later], dtype=np.int64)
    edge, pivot = _columns([touched.get(a, []) for a in range(end, size)], (none, 0))
    left, right, through = _columns([changes.get(one, []) for one in later], (none, none, 0))
    needs = [[(entries[k, a], a - end) for a in around[k]] for k in range(begin, end)]
    own, other = _columns(needs, (none, 0))
    tables = (edge, pivot, kept, left, right, through, own, other)
    return Level(count, *(_index(one) for one in tables)), later


def _columns(rows: list[list[tuple[int, ...]]], empty: tuple[int, ...]) -> list[np.ndarray]:
    """Lists of tuples of uneven lengths as one table for each place of the tuples, filled up."""
    width = max((len(row) for row in rows), default=0)
    full = np.array([row + [empty] * (width - len(row)) for row in rows], dtype=np.int64)
    full = full.reshape(len(rows), width, len(empty))
    return [full[:, :, n].T for n in range(len(empty))]


def _index(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.int32)

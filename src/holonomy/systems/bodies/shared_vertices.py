"""Which conditions on sizes share vertices: tables made once on the host for the matrix of their multipliers."""

from __future__ import annotations

from itertools import combinations_with_replacement

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Int

from holonomy.systems.elimination import Elimination, eliminate
from holonomy.trace.by_value import ByValue
from holonomy.types import AnyArray


class Sharing(eqx.Module):
    """Which pairs of differentials make up the entries of A, and how it is eliminated.

    `first` and `second` are columns of the differentials written one after the other, corner by corner, one column for
    each entry, filled up with the last one, which is zero: the diagonal first, then the entries of the elimination.
    """

    first: Int[AnyArray, "slots entries"]
    second: Int[AnyArray, "slots entries"]
    elimination: Elimination


class Following(eqx.Module):
    """Rods of which each shares vertices with the one before and the one after it alone, if at all: chains.

    `joined` says of which rods the second end is the first end of the next; A is then tridiagonal.
    """

    pattern: ByValue = eqx.field(static=True)

    @property
    def joined(self) -> Bool[np.ndarray, " gaps"]:
        return self.pattern.value


class Spreading(eqx.Module):
    """For each vertex the columns of the differentials that act on it, filled up with the last one, which is zero."""

    rows: Int[AnyArray, "slots vertices"]


def spreading_of(count: int, vertex: np.ndarray) -> Spreading:
    """The differentials that act on each of so many vertices."""
    return Spreading(_filled(_by_vertex(count, vertex), len(vertex)))


def following(kinds: tuple[str, ...], ends: np.ndarray) -> Following | None:
    """How rods follow each other, None where they share vertices in other ways or there are other conditions."""
    joined = ends[:-1, 1] == ends[1:, 0]
    # every vertex that rods share is counted once for each rod but one
    meetings = ends.size - len(np.unique(ends))
    return Following(ByValue(joined)) if kinds == ("rods",) and meetings == np.sum(joined) else None


def _by_vertex(count: int, vertex: np.ndarray) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(count)]
    for p, i in enumerate(vertex.tolist()):
        rows[i].append(p)
    return rows


def sharing_by_vertices(owner: np.ndarray, vertex: np.ndarray) -> Sharing:
    """The pairs of differentials of all entries of A, found from the vertices that conditions share."""
    size = int(owner.max()) + 1
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {(r, r): [] for r in range(size)}
    owners = owner.tolist()
    for rows in _by_vertex(int(vertex.max()) + 1, vertex):
        for a, b in combinations_with_replacement(rows, 2):
            first, second = (a, b) if owners[a] <= owners[b] else (b, a)
            pairs.setdefault((owners[first], owners[second]), []).append((first, second))
    shared = [key for key in pairs if key[0] != key[1]]
    columns = [pairs[r, r] for r in range(size)] + [pairs[key] for key in shared]
    first, second = (_filled([[pair[side] for pair in column] for column in columns], len(owners)) for side in (0, 1))
    return Sharing(first, second, eliminate(size, np.array(shared, dtype=np.int64).reshape(-1, 2)))


def _filled(rows: list[list[int]], empty: int) -> np.ndarray:
    width = max((len(row) for row in rows), default=0)
    return np.array([row + [empty] * (width - len(row)) for row in rows], dtype=np.int32).T.copy()

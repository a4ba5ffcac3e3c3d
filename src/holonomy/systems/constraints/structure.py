r"""The structure of many conditions: which entries of their normals \(N\), and of \(N M^{-1} N^\top\), can differ from
zero, found from the traces of the conditions.

Which coordinates a condition depends on follows from the program alone (`trace.hessian_pattern`). Two multipliers are
coupled where their conditions share a coordinate, or coordinates of one block of the mass matrix. Nothing of the size
of N is made. What is not understood depends on everything: conditions are never taken for less coupled than they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count as from_zero
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from holonomy.systems import tracing
from holonomy.systems.elimination import Elimination, eliminate
from holonomy.trace.by_value import ByValue
from holonomy.trace.hessian_pattern import Sets, jacobian_pattern

if TYPE_CHECKING:
    from holonomy.systems.system import System

FEWEST = 8  # conditions up to which whole matrices are as fast
_ENTRIES = 64  # of the normals for each condition, above which they count as dense
_ALWAYS = 2**16  # entries that are followed in any case
_NEIGHBOURS = 48  # conditions that a condition is coupled to at most, where multipliers are found by elimination
_DENSE_REST = 800  # multipliers that elimination may leave for a dense matrix at the end


@dataclass(frozen=True)
class ConditionStructure:
    r"""What the traces say of conditions; `str` says it in words.

    **Fields:** `kind`, how multipliers are coupled: ``"separate"`` (not at all), ``"chain"`` (each to the one before
    and the one after it in some order), ``"sparse"`` or ``"dense"``; `counts`, how many conditions there are on
    positions and on velocities; `size`, the number of coordinates; `entries`, how many entries of the normals can
    differ from zero; `pattern`, their rows and columns; `order`, the conditions in the order of a chain, where that is
    not their own; `pairs`, which multipliers are coupled, where they are eliminated sparsely; `blocks`, where the
    inverse of the mass matrix has entries; None where that is everywhere, so that all this is said of
    \(N M^{-1} N^\top\) with the diagonal of M alone; `whole`, whether whole matrices are used all the same.
    """

    kind: str
    counts: tuple[int, int]
    size: int
    entries: int
    pattern: ByValue | None = None
    order: ByValue | None = None
    pairs: ByValue | None = None
    blocks: ByValue | None = None
    whole: bool = False

    @property
    def direct(self) -> bool:
        """Whether this is the pattern of the matrix of multipliers itself."""
        return self.blocks is not None

    @property
    def of_positions(self) -> ConditionStructure:
        """The structure of the conditions on positions alone."""
        m, k = self.counts
        if not k or self.pattern is None:
            return self
        return _form((m, 0), self.size, ByValue(self.pattern.value[self.pattern.value[:, 0] < m]), self.blocks)

    @property
    def total(self) -> int:
        """The number of conditions."""
        return sum(self.counts)

    @property
    def solvable(self) -> bool:
        """Whether solves gain from the structure."""
        return self.kind != "dense" and (self.kind != "sparse" or self.pairs is not None)

    def __str__(self) -> str:
        said = f"{self.total} conditions"
        if self.kind == "dense":
            return f"{said}, coupled to most coordinates"
        said += f" with {self.entries} entries"
        if self.whole or not self.solvable:
            return f"{said}, multipliers by a dense matrix"
        turned = "" if self.order is None else " in another order"
        how = {
            "separate": "multipliers by division",
            "chain": f"multipliers by elimination along a chain{turned}",
            "sparse": f"multipliers by {self._eliminated}",
        }[self.kind]
        return f"{said}, {how if self.direct else how.replace('by', 'iteratively, near', 1)}"

    @property
    def _eliminated(self) -> str:
        banded = self.elimination is not None and self.elimination.banded
        return "elimination along a band" if banded else "sparse elimination"

    @property
    def elimination(self) -> Elimination | None:
        """How the matrix of multipliers is eliminated, where it is neither diagonal nor a chain."""
        return None if self.pairs is None else _elimination(self.total, self.pairs)

    @property
    def permutation(self) -> np.ndarray:
        """The conditions in the order of a chain."""
        return np.arange(self.total) if self.order is None else self.order.value

    @property
    def colours(self) -> np.ndarray:
        """A number for each multiplier, different for those that are coupled to a common one."""
        assert self.pairs is not None
        return _colours(self.total, self.pairs)

    def seeds(self, of: str) -> np.ndarray:
        """Vectors of zeros and ones, few, whose products with the normals have every entry of these alone once: of the
        `rows`, to multiply from the left, or of the `columns`."""
        assert self.pattern is not None
        colours = _colours_of_lines(self.total, self.size, self.pattern, of == "rows")
        seeds = np.zeros((int(colours.max(initial=0)) + 1, colours.size))
        seeds[colours, np.arange(colours.size)] = 1.0
        return seeds


def find(system: System, blocks: Sets | None) -> ConditionStructure | None:
    """The structure of a system's equations; None where it has none. `blocks` is the pattern of the inverse of its mass
    matrix where that is sparse."""
    equations = system.constraints.equations
    if not equations.total:
        return None
    n, most = system.space.dim, _ENTRIES * (equations.total + system.space.dim) + _ALWAYS
    full = ConditionStructure("dense", equations.counts, n, equations.total * n)
    if not system.flat:
        return full
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
    parts: list[Sets] = []
    for functions, moving in ((equations.holonomic, False), (equations.velocity, True)):
        example: Any = frame.example(velocity=moving)
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in map(jax.typeof, jax.tree.leaves(example))]
        for function in functions:
            found = jacobian_pattern(function, shapes, 2 if moving else 1, most)
            if found is None:
                return full
            parts.append(found.matrix)
    rows: Any = sparse.coo_array(sparse.vstack(parts, format="csr"))
    if 4 * rows.nnz > equations.total * n and equations.total > 1:
        return full
    ordered = np.stack([rows.row, rows.col], axis=1).astype(np.int64)
    ordered = ordered[np.lexsort((ordered[:, 1], ordered[:, 0]))]
    coupled = None if blocks is None else ByValue(np.stack(sparse.coo_array(blocks).nonzero(), axis=1).astype(np.int64))
    return _form(equations.counts, n, ByValue(ordered), coupled)


@lru_cache(maxsize=64)
def _form(counts: tuple[int, int], n: int, pattern: ByValue, blocks: ByValue | None) -> ConditionStructure:
    """The simplest way to solve for the multipliers of conditions with this pattern."""
    m = sum(counts)
    normals = _matrix(pattern.value, (m, n))
    inner: Any = (
        _matrix(np.stack([np.arange(n)] * 2, axis=1), (n, n)) if blocks is None else _matrix(blocks.value, (n, n))
    )
    coupled: Any = sparse.coo_array(normals @ inner @ normals.T)
    off = coupled.row != coupled.col
    row, column = coupled.row[off], coupled.col[off]
    known: dict[str, Any] = {"counts": counts, "size": n, "entries": len(pattern.value), "pattern": pattern}
    known["blocks"] = blocks
    if not row.size:
        return ConditionStructure("separate", **known)
    plain = np.arange(m)
    graph = sparse.csr_matrix((np.ones(row.size), (row, column)), shape=(m, m))
    turned = np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), int)
    for order in (plain, turned):
        place = np.empty(m, int)
        place[order] = plain
        if np.max(np.abs(place[row] - place[column])) == 1:
            return ConditionStructure("chain", order=None if order is plain else ByValue(order), **known)
    return ConditionStructure("sparse", pairs=_pairs(m, row, column), **known)


def _pairs(m: int, row: np.ndarray, column: np.ndarray) -> ByValue | None:
    """Which multipliers are coupled, each pair once; None where too many are for elimination."""
    if np.bincount(row, minlength=m).max() > _NEIGHBOURS:
        return None
    above = row < column
    found = ByValue(np.stack([row[above], column[above]], axis=1).astype(np.int64))
    return found if _elimination(m, found) is not None else None


def _matrix(places: np.ndarray, shape: tuple[int, int]) -> Any:
    return sparse.csr_array((np.ones(len(places), np.int64), (places[:, 0], places[:, 1])), shape=shape)


@lru_cache(maxsize=16)
def _elimination(size: int, pairs: ByValue) -> Elimination | None:
    try:
        found = eliminate(size, pairs.value)
    except ValueError:  # too many multipliers stay coupled to each other
        return None
    return found if found.widest <= _DENSE_REST else None


@lru_cache(maxsize=16)
def _colours(m: int, pairs: ByValue) -> np.ndarray:
    row, column = pairs.value.T
    ones = np.ones(len(row), np.int64)
    upper: Any = sparse.coo_array((ones, (row, column)), shape=(m, m))
    pattern: Any = sparse.csr_array(upper + upper.T + _matrix(np.stack([np.arange(m)] * 2, axis=1), (m, m)))
    return coloured(sparse.csr_array(pattern @ pattern))


@lru_cache(maxsize=32)
def _colours_of_lines(m: int, n: int, pattern: ByValue, rows: bool) -> np.ndarray:
    normals = _matrix(pattern.value, (m, n))
    return coloured(sparse.csr_array(normals @ normals.T if rows else normals.T @ normals))


def coloured(near: Sets) -> np.ndarray:
    """A number for each row of a symmetric pattern, different for those with an entry in common."""
    found = np.full(near.shape[0], -1)
    for k in range(near.shape[0]):
        taken = set(found[near.indices[near.indptr[k] : near.indptr[k + 1]]].tolist())
        found[k] = next(c for c in from_zero() if c not in taken)
    return found

r"""The structure of the equations of an implicit step: which coordinates and conditions they couple.

The matrix of Newton's method holds, for each stage, second derivatives of the Lagrangian by positions and velocities,
first derivatives of the applied forces, and the normals of the conditions. Which of these can differ from zero follows
from the programs alone (`trace.hessian_pattern`). Coordinates and conditions are put in an order in which those that
are coupled are near each other; each of them stands for its unknowns of all stages. Nothing of the size of the matrix
is made, and what is not understood couples everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
import scipy.sparse as sparse
from jaxtyping import Int
from scipy.sparse.csgraph import reverse_cuthill_mckee

from holonomy.systems import tracing
from holonomy.systems.constraints.structure import coloured
from holonomy.trace.by_value import ByValue
from holonomy.trace.function import Function, trace
from holonomy.trace.hessian_pattern import Sets, hessian_pattern, jacobian_pattern

if TYPE_CHECKING:
    from holonomy.systems.system import System

FEWEST = 64  # coordinates and conditions up to which the whole matrix is as fast
_PART = 6  # the band must be narrower than this part of all of them
_ENTRIES = 64  # of the pattern for each coordinate, above which it counts as dense
_ALWAYS = 2**16  # entries that are followed in any case


@dataclass(frozen=True)
class StepStructure:
    """Which coordinates and conditions the equations of a step couple; `str` says it in words.

    **Fields:** `size`, the number of coordinates; `counts`, of conditions on positions and on velocities; `coupled`,
    the pairs of coordinates that are coupled, each in both directions and with itself; `normals`, the rows and columns
    of the entries of the normals; `order`, coordinates and then conditions by their numbers, in the order of the band;
    `width`, how far apart coupled ones are in it.
    """

    size: int
    counts: tuple[int, int]
    coupled: ByValue
    normals: ByValue
    order: ByValue
    width: int

    def __str__(self) -> str:
        return f"implicit steps by a band of {self.width} on each side"

    @property
    def total(self) -> int:
        """The number of coordinates and conditions."""
        return self.size + sum(self.counts)

    @property
    def solvable(self) -> bool:
        """Whether solves gain from the structure."""
        return self.total > FEWEST and _PART * self.width < self.total

    @property
    def colours(self) -> np.ndarray:
        """A number for each coordinate, different for those that occur together in an equation."""
        return _colours(self.size, self.coupled)

    def band(self, stages: int, more: int) -> Band:
        """Where the entries stand, with `stages` unknowns for each coordinate and each condition and so many `more`
        for each coordinate."""
        return _band(self, stages, more)


class Band(NamedTuple):
    """The places of unknowns and entries in a matrix of blocks as wide as its band (`block_band`).

    `unknowns` are the places of those of the coordinates, (stages + more, n), and of the conditions, (stages, r);
    `shape` that of the blocks; `coupled`, `pulls` and `rows` the places of the blocks of entries of pairs of
    coordinates, of the forces of conditions and of the conditions, each with the pairs as last dimension;
    `filled` those of ones for rows that fill up the last block.
    """

    unknowns: tuple[Int[np.ndarray, "slots n"], Int[np.ndarray, "stages r"]]
    shape: tuple[int, int, int]
    coupled: np.ndarray
    pulls: np.ndarray
    rows: np.ndarray
    filled: np.ndarray


def find(system: System) -> StepStructure | None:
    """The structure of a system's steps; None where it is not known or of no use."""
    n, equations = system.space.dim, system.constraints.equations
    if not system.flat or n + equations.total <= FEWEST:
        return None
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
    example: Any = frame.example(velocity=True)
    found = _of_motion(system, example, _ENTRIES * n + _ALWAYS)
    normals = _of_conditions(system, example, frame.example(), _ENTRIES * (n + equations.total) + _ALWAYS)
    if found is None or normals is None:
        return None
    ordered: Any = sparse.coo_array(normals)
    rows = np.stack([ordered.row, ordered.col], axis=1).astype(np.int64)
    pairs: Any = sparse.coo_array(found)
    made = _form(n, equations.counts, _sorted(np.stack([pairs.row, pairs.col], axis=1)), _sorted(rows))
    return made if made is not None and made.solvable else None


def _sorted(pairs: np.ndarray) -> ByValue:
    return ByValue(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].astype(np.int64))


def _of_motion(system: System, example: Any, most: int) -> Sets | None:
    """Which coordinates the Lagrangian and the applied forces couple."""
    n = system.space.dim
    t, q, v, *rest = example

    def joint(s: Any, z: Any, *p: Any) -> Any:
        return system.lagrangian(s, z[:n], z[n:], *p)

    both = jax.ShapeDtypeStruct((2 * n,), jax.typeof(q).dtype)
    known = hessian_pattern(trace(joint, [t, both, *rest]), _shapes([t, both, *rest]), 1, most)
    if known is None:
        return None
    whole: Any = sparse.csr_array(known.matrix, dtype=np.int64)
    total = whole[:n, :n] + whole[:n, n:] + whole[n:, :n] + whole[n:, n:]
    for force in system.forces:
        for variable in (1, 2):
            slopes = _jacobian(force, _shapes([t, q, v, *rest]), variable, most)
            if slopes is None:
                return None
            total = total + slopes
    return total


def _of_conditions(system: System, example: Any, still: Any, most: int) -> Sets | None:
    """The rows of the normals: what the conditions depend on, those on velocities also by positions."""
    equations, n = system.constraints.equations, system.space.dim
    parts: list[Any] = [sparse.csr_array((0, n), dtype=np.int64)]
    parts += [_jacobian(function, _shapes(still), 1, most) for function in equations.holonomic]
    for function in equations.velocity:
        slopes = [_jacobian(function, _shapes(example), variable, most) for variable in (1, 2)]
        parts.append(None if slopes[0] is None or slopes[1] is None else slopes[0] + slopes[1])
    if any(part is None for part in parts):
        return None
    return sparse.vstack(parts, format="csr")


def _jacobian(function: Function, shapes: Any, variable: int, most: int) -> Sets | None:
    found = jacobian_pattern(function, shapes, variable, most)
    return None if found is None else sparse.csr_array(found.matrix, dtype=np.int64)


def _shapes(example: Any) -> list[Any]:
    return [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in map(jax.typeof, jax.tree.leaves(example))]


@lru_cache(maxsize=32)
def _form(n: int, counts: tuple[int, int], motion: ByValue, normals: ByValue) -> StepStructure | None:
    r = sum(counts)
    rows = _matrix(normals.value, (r, n))
    every = _matrix(motion.value, (n, n))
    most = _ENTRIES * n + _ALWAYS
    if np.sum(np.bincount(normals.value[:, 0]).astype(float) ** 2) > most:
        return None
    # multipliers times second derivatives of conditions couple all coordinates of a condition
    pattern: Any = sparse.csr_array(
        every + every.T + rows.T @ rows + _matrix(np.stack([np.arange(n)] * 2, axis=1), (n, n))
    )
    if pattern.nnz > most:
        return None
    graph: Any = sparse.csr_matrix(sparse.block_array([[pattern, rows.T], [rows, sparse.csr_array((r, r))]]))
    entries: Any = sparse.coo_array(graph)
    plain = np.arange(n + r)
    turned = np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), int)
    widths = []
    for order in (plain, turned):
        place = np.empty_like(order)
        place[order] = plain
        widths.append(int(np.max(np.abs(place[entries.row] - place[entries.col]), initial=0)))
    best = int(np.argmin(widths))
    pairs: Any = sparse.coo_array(pattern)
    found = _sorted(np.stack([pairs.row, pairs.col], axis=1))
    return StepStructure(n, counts, found, normals, ByValue((plain, turned)[best].astype(np.int64)), widths[best])


def _matrix(places: np.ndarray, shape: tuple[int, int]) -> Any:
    return sparse.csr_array((np.ones(len(places), np.int64), (places[:, 0], places[:, 1])), shape=shape)


@lru_cache(maxsize=16)
def _colours(n: int, coupled: ByValue) -> np.ndarray:
    pattern = _matrix(coupled.value, (n, n))
    return coloured(sparse.csr_array(pattern @ pattern))


@lru_cache(maxsize=8)
def _band(how: StepStructure, stages: int, more: int) -> Band:
    n, order = how.size, how.order.value
    slots = np.where(order < n, stages + more, stages)
    first = np.empty_like(order)
    first[order] = np.concatenate([[0], np.cumsum(slots)[:-1]])
    of_coordinates = first[:n] + np.arange(stages + more)[:, None]
    of_conditions = first[n:] + np.arange(stages)[:, None]
    (c, d), (k, e) = how.coupled.value.T, how.normals.value.T
    # rows and columns, each (slots of the row, slots of the column, pairs)
    blocks = [
        (of_coordinates[:, None, c], of_coordinates[None, :, d]),
        (of_coordinates[:, None, e], of_conditions[None, :, k]),
        (of_conditions[:, None, k], of_coordinates[None, :, e]),
    ]
    b = max(1, *(int(np.max(np.abs(row - column), initial=0)) for row, column in blocks))
    total = int(np.sum(slots))
    count = -(-total // b)
    last = np.arange(total, count * b)

    def places(row: Any, column: Any) -> np.ndarray:
        return np.ascontiguousarray(3 * b * row + column - (row // b - 1) * b, np.int32)

    coupled, pulls, rows = (places(*one) for one in blocks)
    return Band((of_coordinates, of_conditions), (count, b, 3 * b), coupled, pulls, rows, places(last, last))

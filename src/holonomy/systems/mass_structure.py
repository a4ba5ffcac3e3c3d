r"""The structure of the mass matrix \(\partial^2 L/\partial v^2\), found from the trace of the Lagrangian.

Which entries can differ from zero follows from the program alone (`trace.hessian_pattern`), and so does on what they
depend. Nothing of size \(n^2\) is made. What is not understood is dense: a matrix is never taken for simpler than it
is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from holonomy.systems import tracing
from holonomy.systems.constraints import structure as condition_structure
from holonomy.systems.constraints.structure import ConditionStructure
from holonomy.systems.elimination import Elimination, eliminate_sparsely
from holonomy.systems.step_structure import StepStructure
from holonomy.trace.affine import separates
from holonomy.trace.by_value import ByValue
from holonomy.trace.function import Function, trace
from holonomy.trace.hessian_pattern import Pattern, Sets, hessian_pattern

if TYPE_CHECKING:
    from holonomy.systems.system import System

LARGEST_BLOCK = 16  # rows of a block above which a matrix of blocks is treated as banded or sparse
WIDEST_BORDER = 16  # coordinates that couple to all others, at most, in an arrow
WIDEST_BAND = 32  # entries on each side of the diagonal at most in a band
LARGEST_DENSE = 400  # coordinates up to which a matrix without a simpler form is factored whole
_ENTRIES = 64  # of the pattern for each coordinate, above which it counts as dense
_ALWAYS = 2**16  # entries that are followed in any case


@dataclass(frozen=True)
class MassStructure:
    """What the trace says of a mass matrix; `str` says it in words.

    **Fields:** `kind`, ``"diagonal"``, ``"block-diagonal"``, ``"banded"``, ``"arrow"`` (diagonal but for the rows and
    columns of a few coordinates), ``"sparse"`` or ``"dense"``; `size`, the number of coordinates; `depends`, on which
    of t, q, v and p the entries can depend; `inert`, whether the momentum
    depends on v and parameters alone; `separable`, whether moreover the matrix does not depend on v, nor
    \\(\\partial L/\\partial q\\) on v, so that L = T(v) - V(t, q); `width`, rows of the largest block, or entries on
    each side of the diagonal of a band; `entries`, how many can differ from zero; `order`, the coordinates in the
    order in which the matrix has this form, where that is not their own; `starts`, where the blocks begin in it;
    `border`, the coordinates of an arrow that couple to others; `pairs`, of a sparse matrix that stays sparse when it
    is eliminated, as that of a tree does, the places of its entries above the diagonal; `conditions`, the structure of
    the system's constraints, None where it has no equations; `steps`, that of the equations of implicit steps with all
    derivatives, None where they are solved without it.
    """

    kind: str
    size: int
    depends: tuple[str, ...]
    inert: bool
    separable: bool
    width: int = 0
    entries: int = 0
    order: ByValue | None = None
    starts: ByValue | None = None
    border: ByValue | None = None
    pairs: ByValue | None = None
    conditions: ConditionStructure | None = None
    steps: StepStructure | None = None

    def __str__(self) -> str:
        form = self.kind
        if self.kind == "block-diagonal":
            form += f" ({len(self.block_starts)} blocks of at most {self.width})"
        elif self.kind == "banded":
            turned = "" if self.order is None else ", in another order of the coordinates"
            form += f" ({self.width} beside the diagonal on each side{turned})"
        elif self.kind == "arrow":
            form += f" (diagonal but for {self.width} of the coordinates)"
        elif self.kind == "sparse":
            form += f" ({self.entries} entries{', eliminated sparsely' if self.pairs else ''})"
        named = {"t": "the time", "q": "positions", "v": "velocities", "p": "parameters"}
        moving = [named[name] for name in self.depends]
        said = f"depends on {', '.join(moving)}" if moving else "constant"
        held = "" if self.conditions is None else f"; {self.conditions}"
        steps = "" if self.steps is None else f"; {self.steps}"
        return f"{form}, {said}, {self.size} coordinates{held}{steps}"

    @property
    def block_starts(self) -> np.ndarray:
        """Where the blocks begin."""
        return np.zeros(0, int) if self.starts is None else self.starts.value

    @property
    def permutation(self) -> np.ndarray:
        """The coordinates in the order in which the matrix has this form."""
        return np.arange(self.size) if self.order is None else self.order.value

    @property
    def border_places(self) -> np.ndarray:
        """The coordinates of an arrow that couple to others."""
        return np.zeros(0, int) if self.border is None else self.border.value

    @property
    def elimination(self) -> Elimination | None:
        """How a sparse matrix is eliminated; None where conjugate gradients solve it."""
        return None if self.pairs is None else _elimination(self.size, self.pairs)

    @property
    def solvable(self) -> bool:
        """Whether solves gain from the structure."""
        return self.kind in ("diagonal", "block-diagonal", "banded", "arrow") or (
            self.kind == "sparse" and self.size > LARGEST_DENSE
        )


def find(system: System) -> MassStructure:
    """The structure of a system's mass matrix and of its conditions; on a space whose points are not their own
    coordinates both are dense."""
    found = _of_mass(system)
    if not system.constraints.equations.total:
        return found
    return replace(found, conditions=condition_structure.find(system, _inverse_pattern(found)))


def _inverse_pattern(found: MassStructure) -> Sets | None:
    """Which entries of the inverse can differ from zero, where few can."""
    if found.kind == "diagonal":
        return sparse.eye_array(found.size, dtype=bool, format="csr")
    if found.kind != "block-diagonal":
        return None
    sizes = np.diff(np.append(found.block_starts, found.size))
    places = np.split(found.permutation, np.cumsum(sizes)[:-1])
    row = np.concatenate([np.repeat(one, one.size) for one in places])
    column = np.concatenate([np.tile(one, one.size) for one in places])
    return sparse.csr_array((np.ones(row.size, bool), (row, column)), shape=(found.size, found.size))


def _of_mass(system: System) -> MassStructure:
    example: Any = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric).example(
        velocity=True
    )
    n = system.space.dim
    if not system.flat:
        return MassStructure("dense", n, ("t", "q", "v", "p"), inert=False, separable=False, entries=n * n)
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in map(jax.typeof, jax.tree.leaves(example))]
    pattern = hessian_pattern(system.lagrangian, shapes, 2, _ENTRIES * n + _ALWAYS)
    depends, inert, separable = _dependence(system.lagrangian.program, system.lagrangian, example)
    if pattern is None:
        return MassStructure("dense", n, depends, inert, separable, entries=n * n)
    return _form(pattern, depends, inert, separable)


@lru_cache(maxsize=64)
def _form(found: Pattern, depends: tuple[str, ...], inert: bool, separable: bool) -> MassStructure:
    """The simplest form that holds every entry of the pattern."""
    pattern = found.matrix
    n = pattern.shape[0]
    known: dict[str, Any] = {"size": n, "depends": depends, "inert": inert, "separable": separable}
    known["entries"] = int(pattern.nnz)
    if n > 1 and 2 * pattern.nnz > n * n:
        return MassStructure("dense", **known)
    if _band(pattern, np.arange(n)) == 0:
        return MassStructure("diagonal", **known)
    count, of = connected_components(pattern, directed=False)
    sizes = np.bincount(of, minlength=count)
    if count > 1 and sizes.max() <= LARGEST_BLOCK:
        order = np.argsort(of, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return MassStructure(
            "block-diagonal", width=int(sizes.max()), order=_unless_plain(order), starts=ByValue(starts), **known
        )
    plain = np.arange(n)
    turned = np.asarray(reverse_cuthill_mckee(sparse.csr_matrix(pattern), symmetric_mode=True), int)
    order = min(plain, turned, key=lambda o: _band(pattern, o))
    width = _band(pattern, order)
    if width <= WIDEST_BAND and 2 * width < n:
        return MassStructure("banded", width=width, order=_unless_plain(order), **known)
    border = _border(pattern)
    if 2 * border.size < n and border.size <= WIDEST_BORDER:
        return MassStructure("arrow", width=border.size, border=ByValue(border), **known)
    return MassStructure("sparse", pairs=_pairs(pattern) if n > LARGEST_DENSE else None, **known)


def _pairs(pattern: Sets) -> ByValue | None:
    """The entries above the diagonal, where the matrix stays sparse when it is eliminated."""
    above = sparse.coo_array(sparse.triu(pattern, 1))
    found = ByValue(np.stack([above.row, above.col], axis=1).astype(np.int64))
    return found if _elimination(pattern.shape[0], found) is not None else None


@lru_cache(maxsize=16)
def _elimination(size: int, pairs: ByValue) -> Elimination | None:
    return eliminate_sparsely(size, pairs.value)


def _band(pattern: Sets, order: np.ndarray) -> int:
    """How far from the diagonal entries stand, with the coordinates in this order."""
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    entries = sparse.coo_array(pattern)
    return int(np.max(np.abs(place[entries.row] - place[entries.col]), initial=0))


def _border(pattern: Sets) -> np.ndarray:
    """The coordinates that couple to others, taken away one after the other, the one with most first."""
    entries = sparse.coo_array(pattern)
    off = entries.row != entries.col
    row, column = entries.row[off], entries.col[off]
    found: list[int] = []
    while row.size and len(found) <= WIDEST_BORDER:
        found.append(int(np.argmax(np.bincount(row))))
        kept = (row != found[-1]) & (column != found[-1])
        row, column = row[kept], column[kept]
    return np.array(sorted(found))


def _unless_plain(order: np.ndarray) -> ByValue | None:
    return None if np.array_equal(order, np.arange(order.size)) else ByValue(order)


def _dependence(program: Any, lagrangian: Function, example: Any) -> tuple[tuple[str, ...], bool, bool]:
    """What the mass matrix depends on, whether the momentum is inert, and whether L = T(v) - V(t, q)."""
    leaves = jax.tree.leaves(example)
    types = tuple((tuple(x.shape), str(x.dtype)) for x in map(jax.typeof, leaves))
    constants = tuple((tuple(x.shape), str(x.dtype)) for x in map(jax.typeof, lagrangian.constants))
    return _wired(program, types, constants)


@lru_cache(maxsize=64)
def _wired(program: Any, types: Any, constants: Any) -> tuple[tuple[str, ...], bool, bool]:
    # the inputs as one flat list, constants at the end, so that the answer belongs to the form alone
    example = [jax.ShapeDtypeStruct(*one) for one in (*types, *constants)]

    def value(v: Any, *others: Any) -> Any:
        t, q, *rest = others
        return program(t, q, v, *rest)[0]

    def momentum(t: Any, q: Any, v: Any, *rest: Any) -> Any:
        return jax.grad(value)(v, t, q, *rest)

    def pull(t: Any, q: Any, v: Any, *rest: Any) -> Any:
        return jax.grad(lambda x: value(v, t, x, *rest))(q)

    def product(t: Any, q: Any, v: Any, *rest: Any) -> Any:
        u, *others = rest
        return jax.jvp(lambda w: jax.grad(value)(w, t, q, *others), (v,), (u,))[1]

    t, q, v, *rest = example
    moves = trace(momentum, example)
    matrix = trace(product, [t, q, v, v, *rest])
    depends = [name for slot, name in enumerate("tqv") if matrix.program.depends_on(slot)]
    if any(matrix.program.depends_on(4 + k) for k in range(len(types) - 3)):
        depends.append("p")
    inert = not moves.program.depends_on(0) and not moves.program.depends_on(1)
    if not inert or "v" in depends:
        return tuple(depends), inert, False
    # the form mostly says it; tracing the derivative of a long potential takes longer than all the rest
    separable = separates(program, 1, 2) or not trace(pull, example).program.depends_on(2)
    return tuple(depends), inert, separable

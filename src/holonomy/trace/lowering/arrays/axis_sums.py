"""Sums over one axis of arrays of one shape, products of matrices with few vectors among them, in the same loops.

A matrix is gone through row by row, in the order in which it is stored: a sum over its columns adds to a few totals, a
sum over its rows adds to a row of totals in memory. So one pass gives K x and Kᵀ y, and the forces on both bodies of
all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from holonomy.trace.graph.dag import Node, reachable
from holonomy.trace.jaxpr import Equation
from holonomy.trace.lowering.arrays.deferred import Array, Deferred, all_reads
from holonomy.trace.lowering.arrays.index import Index, Position
from holonomy.trace.lowering.arrays.sweep import WRITTEN_OUT, sweep
from holonomy.trace.lowering.limits import Site
from holonomy.trace.lowering.statements import Block, Buffer, Load, Loop, Statement, Store
from holonomy.trace.lowering.values import Memory

if TYPE_CHECKING:
    from holonomy.trace.lowering.arrays.lowering import ArrayLowering

AXIS_SUMS: Final = "axis sums"
"""The name of an equation of several sums over an axis; its parameter `parts` holds the single equations."""

_SHORT: Final = 8  # rows or columns up to which a sum is written out instead
_ROWS: Final = 4  # gone through at once where their elements are only read
_TOTALS: Final = 8  # that stay in registers
_VECTORS: Final = 16  # that a matrix is multiplied with at most
_IN_A_PASS: Final = 4  # of them
_CHEAP: Final = 2.0  # operations an element, up to which several rows are gone through at once


def axis_sum(eqn: Equation) -> tuple[tuple[int, int], int] | None:
    """The rows and columns that an equation goes through and how many sums it has of each; None for what is no sum
    over one axis.
    """
    found = None
    if eqn.name == "reduce_sum" and len(eqn.params["axes"]) == 1 and eqn.params["axes"][0] < 2:
        shape = eqn.invars[0].aval.shape
        found = (shape, math.prod(shape[2:])) if math.prod(shape[2:]) <= WRITTEN_OUT else None
    elif eqn.name == "dot_general":
        side = _matrix(eqn)
        if side is not None:
            shape, other = eqn.invars[side].aval.shape, eqn.invars[1 - side].aval.shape
            found = shape, math.prod(other) // other[eqn.params["dimension_numbers"][0][1 - side][0]]
    if found is None or len(found[0]) not in (2, 3) or eqn.outvars[0].aval.dtype != "float64":
        return None
    (rows, columns, *_), count = found
    return ((int(rows), int(columns)), count) if min(rows, columns) > _SHORT else None


def totals(eqn: Equation) -> int:
    """How many totals a reduction has in one loop."""
    found = axis_sum(eqn)
    return 1 if found is None else min(found[1], _IN_A_PASS)


def _matrix(eqn: Equation) -> int | None:
    """Which operand of a product is a matrix that few vectors are multiplied with."""
    contracted, batch = eqn.params["dimension_numbers"]
    avals = [a.aval for a in eqn.invars]
    if batch[0] or any(len(c) != 1 for c in contracted) or any(a.dtype != "float64" for a in avals):
        return None
    free = [math.prod(a.shape) // max(1, a.shape[c[0]]) for a, c in zip(avals, contracted, strict=True)]
    for side in (0, 1):
        if (
            len(avals[side].shape) == 2
            and 1 <= free[1 - side] <= min(_VECTORS, free[side] - 1)
            and len(avals[1 - side].shape) < 3
        ):
            return side
    return None


def joined(eqns: Sequence[Equation]) -> Equation:
    """Sums over axes of arrays with the same numbers of rows and columns as one equation."""
    invars = [a for eqn in eqns for a in eqn.invars]
    return Equation(AXIS_SUMS, {"parts": tuple(eqns)}, invars, [eqn.outvars[0] for eqn in eqns])


@dataclass(eq=False, slots=True)
class _Sum:
    """Sums of `term(row, column, number)` over `axis`, 0 over the rows, 1 over the columns, for some `numbers`.

    They are kept as rows, one for each number; `last` says that the result has the number as its last index.
    """

    axis: int
    numbers: range
    term: Callable[[Index, Index, int], Node]
    cost: float
    last: bool
    target: Buffer


def _axis_sums(low: ArrayLowering, site: Site, *values: Any) -> list[Array]:
    left, sums = list(values), []
    shape: tuple[int, int] = (0, 0)
    kept: dict[int, Array] = {}
    for eqn in site.params["parts"]:
        found = axis_sum(eqn)
        assert found is not None
        shape, count = found
        operands, left = left[: len(eqn.invars)], left[len(eqn.invars) :]
        if count > _IN_A_PASS:  # computed once for all passes
            kept.update({id(v): low.kept(v) for v in operands if id(v) not in kept})
            operands = [kept[id(v)] for v in operands]
        sums.append(
            _of_product(low, eqn, count, operands) if len(operands) == 2 else _of_array(low, eqn, count, operands[0])
        )
    for over_rows in [s for s in sums if s.axis == 0]:
        zeros = low.k.constant(0.0, "f8")
        low.fill([(over_rows.target, Deferred((over_rows.target.size,), "f8", lambda _, zeros=zeros: zeros))])
    for first in range(0, max(len(s.numbers) for s in sums), _IN_A_PASS):
        parts = [replace(s, numbers=s.numbers[first : first + _IN_A_PASS]) for s in sums]
        _written(low, shape, [s for s in parts if s.numbers])
    return [_result(low, one, result) for one, result in zip(sums, site.results, strict=True)]


def _of_array(low: ArrayLowering, eqn: Equation, count: int, x: Array) -> _Sum:
    value, axis = low.operand(x), int(eqn.params["axes"][0])
    cost = value.cost if isinstance(value, Deferred) else 0.0
    planar = len(value.shape) == 2

    def term(i: Index, j: Index, n: int) -> Node:
        return low.value_at(value, (i, j) if planar else (i, j, Index(n)))

    return _Sum(axis, range(count), term, cost, True, low.work("f8", count * value.shape[1 - axis]))


def _of_product(low: ArrayLowering, eqn: Equation, count: int, operands: Sequence[Array]) -> _Sum:
    side = _matrix(eqn)
    assert side is not None
    contracted = eqn.params["dimension_numbers"][0]
    matrix, axis = low.operand(operands[side]), int(contracted[side][0])
    vectors = _by_vector(low, operands[1 - side], int(contracted[1 - side][0]))
    cost = matrix.cost if isinstance(matrix, Deferred) else 0.0

    def term(i: Index, j: Index, n: int) -> Node:
        along = (i, j)[axis]
        place = (along,) if len(vectors.shape) == 1 else (Index(n), along)
        return low.k("mul", low.value_at(matrix, (i, j)), low.value_at(vectors, place))

    return _Sum(axis, range(count), term, cost, side == 0, low.work("f8", count * matrix.shape[1 - axis]))


def _by_vector(low: ArrayLowering, vectors: Array, along: int) -> Array:
    """Vectors in memory one after the other: LLVM makes vectors of neighbouring numbers."""
    if len(vectors.shape) == 2 and along == 0:
        value = low.operand(vectors)
        cost = value.cost if isinstance(value, Deferred) else 0.0
        reads = all_reads([value], in_place=False)
        shape = (vectors.shape[1], vectors.shape[0])
        vectors = low.deferred(shape, vectors.dtype, lambda p: low.value_at(value, (p[1], p[0])), cost, reads)
    return low.operand(low.kept(vectors))


def _result(low: ArrayLowering, one: _Sum, result: tuple[tuple[int, ...], str]) -> Array:
    shape, dtype = result
    if len(one.numbers) == 1 or not one.last:
        return Memory(shape, dtype, one.target)
    stored = Memory((len(one.numbers), shape[0]), dtype, one.target)
    reads = all_reads([stored], in_place=False)
    return low.deferred(shape, dtype, lambda p: low.value_at(stored, (p[1], p[0])), 0.0, reads)


def _written(low: ArrayLowering, shape: tuple[int, int], sums: Sequence[_Sum]) -> None:
    """The loops of one pass."""
    rows = shape[0]
    over_rows, over_columns = ([s for s in sums if s.axis == axis] for axis in (0, 1))
    together = max(1, min(_ROWS, _TOTALS // max(1, sum(len(s.numbers) for s in over_columns))))
    if any(s.cost > _CHEAP for s in sums):
        together = 1
    whole = rows // together * together
    for first, count, block in ((0, whole // together, together), (whole, rows - whole, 1)):

        def body(
            positions: list[Position], _: Sequence[Node], first: int = first, block: int = block
        ) -> Sequence[Node]:
            for (at,) in positions:
                begin = at.times(block).plus(first)
                _rows(low, shape, [begin.plus(n) for n in range(block)], over_rows, over_columns)
            return ()

        sweep(low, (count,), (), body)


def _rows(
    low: ArrayLowering, shape: tuple[int, int], at: list[Index], over_rows: list[_Sum], over_columns: list[_Sum]
) -> None:
    """What some rows add to the sums over rows, and their sums over the columns."""
    rows, columns = shape
    mark = len(low.statements)

    def body(positions: list[Position], totals: Sequence[Node]) -> Sequence[Node]:
        now, changed = list(totals), []
        for (j,) in positions:
            places = ((m, n, i) for m, one in enumerate(over_columns) for n in one.numbers for i in at)
            for slot, (m, n, i) in enumerate(places):
                now[slot] = low.k("add", now[slot], over_columns[m].term(i, j, n))
            for one in over_rows:
                for n in one.numbers:
                    index = j.plus(n * columns).node(low.k)
                    total = low.variable("f8")
                    low.emit(Load(one.target, index, total))
                    for i in at:
                        total = low.k("add", total, one.term(i, j, n))
                    changed.append(Store(one.target, index, total))
        for store in changed:
            low.emit(store)
        return now

    zeros = [low.k.constant(0.0, "f8")] * (len(at) * sum(len(s.numbers) for s in over_columns))
    found = iter(sweep(low, (columns,), zeros, body))
    _read_before(low, mark, {one.target for one in over_rows})
    for one in over_columns:
        for n in one.numbers:
            for i in at:
                low.emit(Store(one.target, i.plus(n * rows).node(low.k), next(found)))


def _read_before(low: ArrayLowering, mark: int, written: set[Buffer]) -> None:
    """Take reads that do not change in the loops since `mark` out of them.

    LLVM cannot do so, since it does not know that the totals which a loop writes lie elsewhere.
    """
    ready: list[Statement] = []
    for statement in low.statements[mark:]:
        if isinstance(statement, Loop):
            ready += _unchanging(low, statement.block, written)
        ready.append(statement)
    low.statements[mark:] = ready


def _unchanging(low: ArrayLowering, block: Block, written: set[Buffer]) -> list[Load]:
    """The reads of a loop at places that do not change in it, taken out of its block."""
    early: list[Load] = []
    kept: list[Statement] = []
    for statement in block.statements:
        if isinstance(statement, Load) and _fixed(low, statement, block, written):
            early.append(statement)
            low.homes[statement.result] = low.block
        else:
            kept.append(statement)
    block.statements[:] = kept
    return early


def _fixed(low: ArrayLowering, load: Load, block: Block, written: set[Buffer]) -> bool:
    return load.buffer not in written and not any(low.homes.get(n) is block for n in reachable([load.index]))


RULES: Final[dict[str, Any]] = {AXIS_SUMS: _axis_sums}
"""Rules `rule(lowering, site, *values)` for values that may be deferred."""

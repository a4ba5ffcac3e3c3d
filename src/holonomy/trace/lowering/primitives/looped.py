"""Factorisations and solves as loops over memory, for matrices too large to write out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.statements import Buffer, Store
from holonomy.trace.lowering.values import Memory, Value

if TYPE_CHECKING:
    from holonomy.trace.lowering.lower import Lowering


class _Grid:
    """A stack of matrices in memory, addressed as grid[i, j] in matrix number `matrix`."""

    def __init__(self, low: Lowering, buffer: Buffer, rows: int, columns: int, matrix: Node) -> None:
        self.low, self.buffer, self.columns = low, buffer, columns
        self.base = low.k("mul", matrix, low.index(rows * columns))

    def _spot(self, i: Node, j: Node) -> Node:
        k = self.low.k
        return k("add", self.base, k("add", k("mul", i, self.low.index(self.columns)), j))

    def get(self, i: Node, j: Node) -> Node:
        memory = Memory((self.buffer.size,), self.buffer.dtype, self.buffer)
        return self.low.element(memory, self._spot(i, j))

    def set(self, i: Node, j: Node, value: Node) -> None:
        self.low.emit(Store(self.buffer, self._spot(i, j), value))


def _minus_dot(low: Lowering, start: Node, stop: Node, first: Node, term: Callable[[Node], Node]) -> Node:
    """start - Σ term(m) for m from `first` to `stop`."""

    def body(m: Node, total: Sequence[Node]) -> Sequence[Node]:
        return [low.k("sub", total[0], term(m))]

    return low.fold_range(stop, [start], body, first)[0]


def _finish(low: Lowering, value: Memory) -> Value:
    return low.scalars(value) if value.size <= low.limits.carried else value


def cholesky(low: Lowering, a: Value) -> Value:
    """The lower factor, zeros above."""
    n = a.shape[-1]
    source = low.memory(a)
    zeros = low.k.constant(0, a.dtype)
    target = low.work(a.dtype, a.size)
    low.for_range(a.size, lambda i: low.emit(Store(target, i, zeros)))

    def column(given: _Grid, factor: _Grid, j: Node) -> None:
        below = low.k("add", j, low.index(1))
        zero = low.index(0)
        square = _minus_dot(low, given.get(j, j), j, zero, lambda m: low.k.power(factor.get(j, m), 2))
        pivot = low.k("sqrt", square)
        factor.set(j, j, pivot)

        def row(i: Node) -> None:
            rest = _minus_dot(low, given.get(i, j), j, zero, lambda m: low.k("mul", factor.get(i, m), factor.get(j, m)))
            factor.set(i, j, low.k("div", rest, pivot))

        low.for_range(n, row, below)

    def one(matrix: Node) -> None:
        given, factor = (_Grid(low, b, n, n, matrix) for b in (source.buffer, target))
        low.for_range(n, lambda j: column(given, factor, j))

    low.for_range(a.size // (n * n), one)
    return _finish(low, Memory(a.shape, a.dtype, target))


def triangular_solve(low: Lowering, params: dict[str, Any], a: Value, b: Value) -> Value:
    """A X = B or X A = B by substitution."""
    n = a.shape[-1]
    rows, columns = b.shape[-2:]
    left, flip = params["left_side"], params["transpose_a"] != (not params["left_side"])
    lower = params["lower"] != flip
    matrices, out = low.memory(a), low.copy(b)

    def one(matrix: Node) -> None:
        grid = _Grid(low, matrices.buffer, n, n, matrix)
        x = _Grid(low, out.buffer, rows, columns, matrix)

        def entry(i: Node, j: Node) -> Node:
            return grid.get(j, i) if flip else grid.get(i, j)

        def line(c: Node) -> None:
            def spot(i: Node) -> tuple[Node, Node]:
                return (i, c) if left else (c, i)

            def unknown(turn: Node) -> None:
                i = turn if lower else low.k("sub", low.index(n - 1), turn)
                first = low.index(0) if lower else low.k("add", i, low.index(1))
                stop = i if lower else low.index(n)
                rest = _minus_dot(
                    low, x.get(*spot(i)), stop, first, lambda m: low.k("mul", entry(i, m), x.get(*spot(m)))
                )
                x.set(*spot(i), rest if params["unit_diagonal"] else low.k("div", rest, entry(i, i)))

            low.for_range(n, unknown)

        low.for_range(columns if left else rows, line)

    low.for_range(a.size // (n * n), one)
    return _finish(low, out)


def lu(low: Lowering, a: Value) -> list[Value]:
    """Factors in one matrix, pivots and the order of rows; rows exchanged for the largest pivot."""
    n = a.shape[-1]
    count = a.size // (n * n)
    out = low.copy(a)
    pivots, order = (low.work("i4", count * n) for _ in range(2))

    def one(matrix: Node) -> None:
        grid = _Grid(low, out.buffer, n, n, matrix)
        chosen, rows = (_Grid(low, buffer, 1, n, matrix) for buffer in (pivots, order))
        zero = low.index(0)
        low.for_range(n, lambda i: rows.set(zero, i, low.k("convert", i, dtype="i4")))

        def column(c: Node) -> None:
            where = _largest(low, grid, c, n)
            chosen.set(zero, c, low.k("convert", where, dtype="i4"))
            _exchange(rows, zero, c, zero, where)
            low.for_range(n, lambda j: _exchange(grid, c, j, where, j))
            _eliminate(low, grid, c, n)

        low.for_range(n, column)

    low.for_range(count, one)
    whole = Memory(a.shape[:-1], "i4", pivots), Memory(a.shape[:-1], "i4", order)
    return [_finish(low, m) for m in (out, *whole)]


def _largest(low: Lowering, grid: _Grid, c: Node, n: int) -> Node:
    def better(i: Node, state: Sequence[Node]) -> Sequence[Node]:
        size = low.k("abs", grid.get(i, c))
        larger = low.k("lt", state[0], size)
        return low.k("select", larger, size, state[0]), low.k("select", larger, i, state[1])

    first = low.k("abs", grid.get(c, c))
    return low.fold_range(n, [first, c], better, low.k("add", c, low.index(1)))[1]


def _exchange(grid: _Grid, i: Node, j: Node, k: Node, m: Node) -> None:
    a, b = grid.get(i, j), grid.get(k, m)
    grid.set(i, j, b)
    grid.set(k, m, a)


def _eliminate(low: Lowering, grid: _Grid, c: Node, n: int) -> None:
    pivot = grid.get(c, c)
    zero, one = (low.k.constant(x, pivot.dtype) for x in (0, 1))
    divisor = low.k("select", low.k("eq", pivot, zero), one, pivot)
    below = low.k("add", c, low.index(1))

    def row(i: Node) -> None:
        factor = low.k("div", grid.get(i, c), divisor)
        grid.set(i, c, factor)
        low.for_range(
            n, lambda j: grid.set(i, j, low.k("sub", grid.get(i, j), low.k("mul", factor, grid.get(c, j)))), below
        )

    low.for_range(n, row, below)

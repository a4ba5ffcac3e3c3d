"""Sums, products and extremes over axes of arrays, and contractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.arrays.deferred import Array, Deferred, all_reads
from holonomy.trace.lowering.arrays.grouping import TOGETHER
from holonomy.trace.lowering.arrays.index import Index, Position
from holonomy.trace.lowering.arrays.sweep import WRITTEN_OUT, sweep
from holonomy.trace.lowering.limits import Site, TooLarge
from holonomy.trace.lowering.primitives.reductions import neutral
from holonomy.trace.lowering.statements import Store
from holonomy.trace.lowering.values import Memory, Scalars, strides

if TYPE_CHECKING:
    from holonomy.trace.lowering.arrays.lowering import ArrayLowering

_SHORT: Final = 8  # terms of a sum that are written out
_SHORT_PRODUCTS: Final = 16  # the same of the products of rows and columns of two matrices
_MATRIX: Final = 32**3  # products of a contraction above which XLA's matrix product is faster


def _reduce(op: str) -> Callable[..., Any]:
    def rule(low: ArrayLowering, site: Site, x: Any) -> Array:
        axes = tuple([int(a) for a in site.params["axes"]])
        return reduced(low, op, site.results[0], low.operand(x), axes)

    return rule


def reduced(low: ArrayLowering, op: str, result: tuple[Any, str], x: Array, axes: tuple[int, ...]) -> Array:
    """x combined over `axes`."""
    shape, dtype = result
    extent = tuple([x.shape[a] for a in axes])
    start = low.k.constant(neutral(op, dtype), dtype)

    def placed(kept: Position, inner: Position) -> Position:
        left, along = iter(kept), dict(zip(axes, inner, strict=True))
        return tuple([along[d] if d in along else next(left) for d in range(len(x.shape))])

    if math.prod(extent) <= _SHORT:
        return _written_out(low, op, result, x, extent, placed)
    if low.small(shape):
        everywhere = [tuple([Index(i) for i in p]) for p in _all(shape)]
        nodes = _together(low, op, x, extent, placed, everywhere, start)
        return Scalars(shape, dtype, tuple(nodes))
    target = low.work(dtype, math.prod(shape))

    def body(positions: list[Position], _: Sequence[Node]) -> Sequence[Node]:
        found = _together(low, op, x, extent, placed, positions, start)
        for p, node in zip(positions, found, strict=True):
            low.emit(Store(target, _number(low, p, shape), node))
        return ()

    sweep(low, shape, (), body)
    return Memory(shape, dtype, target)


def _number(low: ArrayLowering, position: Position, shape: tuple[int, ...]) -> Node:
    total = Index(0)
    for i, step in zip(position, strides(shape), strict=True):
        total = total.joined(i.times(step))
    return total.node(low.k)


def _all(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for n in shape:
        found = [(*p, i) for p in found for i in range(n)]
    return found


def _written_out(
    low: ArrayLowering, op: str, result: tuple[Any, str], x: Array, extent: tuple[int, ...], placed: Any
) -> Array:
    shape, dtype = result
    inner = [tuple([Index(i) for i in p]) for p in _all(extent)]

    def element(position: Position) -> Node:
        total = low.k.constant(neutral(op, dtype), dtype)
        for along in inner:
            total = low.k(op, total, low.value_at(x, placed(position, along)))
        return total

    cost = len(inner) * (1.0 + (x.cost if isinstance(x, Deferred) else 0.0))
    return low.deferred(shape, dtype, element, cost, all_reads([x], in_place=False))


def _together(
    low: ArrayLowering, op: str, x: Array, extent: tuple[int, ...], placed: Any, kept: list[Position], start: Node
) -> Sequence[Node]:
    """The combinations at several positions in the same loops; what they share is computed once."""

    def body(positions: list[Position], totals: Sequence[Node]) -> Sequence[Node]:
        now = list(totals)
        for inner in positions:
            now = [low.k(op, t, low.value_at(x, placed(p, inner))) for t, p in zip(now, kept, strict=True)]
        return now

    return sweep(low, extent, [start] * len(kept), body)


def _dot_general(low: ArrayLowering, site: Site, a: Any, b: Any) -> Array:
    shape, dtype = site.results[0]
    (ca, cb), (ba, bb) = site.params["dimension_numbers"]
    ca, cb, ba, bb = (tuple([int(i) for i in axes]) for axes in (ca, cb, ba, bb))
    free_a = [i for i in range(len(a.shape)) if i not in ca + ba]
    free_b = [i for i in range(len(b.shape)) if i not in cb + bb]
    extent = tuple([a.shape[i] for i in ca])
    rows, columns = (math.prod(v.shape[i] for i in free) for v, free in ((a, free_a), (b, free_b)))
    if min(rows, columns) > WRITTEN_OUT and rows * columns * math.prod(extent) > _MATRIX:
        raise TooLarge("A product of large matrices is left to XLA, which is faster.")
    if ba and math.prod(extent) > _SHORT and not low.small(shape):
        raise TooLarge("Products of many matrices are left to XLA, which is faster.")
    thin = not ba and min(rows, columns) > WRITTEN_OUT and math.prod(extent) <= _SHORT_PRODUCTS
    if thin and len(b.shape) == 2 and cb == (1,):  # neighbours along a row of the result lie side by side
        b, cb, free_b = _transposed(low, b), (0,), [1]
    left, right = (low.operand(low.kept(v)) for v in (a, b))
    n, m = len(ba), len(free_a)

    def factor(value: Any, batch: Any, free: Any, contracted: Any, at: Position, first: int, along: Position) -> Node:
        place: list[Index] = [Index(0)] * len(value.shape)
        for axis, i in zip(
            (*batch, *free, *contracted), (*at[:n], *at[first : first + len(free)], *along), strict=True
        ):
            place[axis] = i
        node = low.value_at(value, tuple(place))
        return node if node.dtype == dtype else low.k("convert", node, dtype=dtype)

    def element(position: Position) -> Node:
        at, along = position[: len(shape)], position[len(shape) :]
        one = factor(left, ba, free_a, ca, at, n, along)
        return low.k("mul", one, factor(right, bb, free_b, cb, at, n + m, along))

    product = Deferred((*shape, *extent), dtype, element, 1.0, all_reads([left, right], in_place=False))
    if thin and not low.small(shape):
        return _written_out(low, "add", (shape, dtype), product, extent, lambda kept, inner: (*kept, *inner))
    return reduced(low, "add", (shape, dtype), product, tuple(range(len(shape), len(shape) + len(extent))))


def _transposed(low: ArrayLowering, x: Any) -> Array:
    value = low.operand(x)
    cost = value.cost if isinstance(value, Deferred) else 0.0
    reads = all_reads([value], in_place=False)
    return low.deferred((x.shape[1], x.shape[0]), x.dtype, lambda p: low.value_at(value, (p[1], p[0])), cost, reads)


def _reductions(low: ArrayLowering, site: Site, *values: Any) -> list[Array]:
    """Several arrays of one shape, each combined to one number, in the same loops."""
    ops = [OPERATIONS[name] for name in site.params["names"]]
    operands = [low.operand(x) for x in values]

    def body(positions: list[Position], totals: Sequence[Node]) -> Sequence[Node]:
        now = list(totals)
        for p in positions:
            now = [low.k(op, t, low.value_at(x, p)) for op, t, x in zip(ops, now, operands, strict=True)]
        return now

    starts = [low.k.constant(neutral(op, dtype), dtype) for op, (_, dtype) in zip(ops, site.results, strict=True)]
    totals = sweep(low, operands[0].shape, starts, body)
    return [Scalars((), dtype, (total,)) for total, (_, dtype) in zip(totals, site.results, strict=True)]


OPERATIONS: Final = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_and": "and",
    "reduce_or": "or",
    "reduce_xor": "xor",
}
SUMS: Final[dict[str, Any]] = {
    **{name: _reduce(op) for name, op in OPERATIONS.items()},
    TOGETHER: _reductions,
    "dot_general": _dot_general,
}

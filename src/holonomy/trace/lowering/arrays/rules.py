"""What becomes of JAX primitives on arrays that stay arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.arrays.axis_sums import RULES as AXIS_SUMS
from holonomy.trace.lowering.arrays.deferred import Array, Deferred, all_reads
from holonomy.trace.lowering.arrays.index import Index, Position
from holonomy.trace.lowering.arrays.reshape import reshaped
from holonomy.trace.lowering.arrays.scans import SCANS
from holonomy.trace.lowering.arrays.sums import SUMS
from holonomy.trace.lowering.limits import Site
from holonomy.trace.lowering.statements import Angles
from holonomy.trace.lowering.values import Memory

if TYPE_CHECKING:
    from holonomy.trace.lowering.arrays.lowering import ArrayLowering

_REPEATED: Final = 4  # times that a computed element is used before it is kept


def _moved(low: ArrayLowering, site: Site, x: Any, source: Callable[[Position], Position]) -> Array:
    """The array whose element at a position is that of `x` at another one."""
    shape, dtype = site.results[0]
    value = low.operand(x)
    cost = value.cost if isinstance(value, Deferred) else 0.0
    reads = all_reads([value], in_place=False)
    return low.deferred(shape, dtype, lambda p: low.value_at(value, source(p)), cost, reads)


def _reshape(low: ArrayLowering, site: Site, x: Array, *_: Array) -> Array:
    shape, dtype = site.results[0]
    value = reshaped(low, low.operand(x), shape)
    if isinstance(value, Deferred):
        return low.deferred(shape, dtype, value.element, value.cost, value.reads)
    return value


def _broadcast(low: ArrayLowering, site: Site, x: Any, *_: Array) -> Array:
    shape = site.results[0][0]
    axes = [int(a) for a in site.params["broadcast_dimensions"]]
    if isinstance(x, Deferred) and x.cost > 0 and math.prod(shape) >= _REPEATED * x.size:
        x = low.memory(x)

    def source(position: Position) -> Position:
        return tuple([Index(0) if n == 1 else position[a] for a, n in zip(axes, x.shape, strict=True)])

    return _moved(low, site, x, source)


def _transpose(low: ArrayLowering, site: Site, x: Any) -> Array:
    order = [int(a) for a in site.params["permutation"]]
    return _moved(low, site, x, lambda p: tuple([p[order.index(d)] for d in range(len(order))]))


def _rev(low: ArrayLowering, site: Site, x: Any) -> Array:
    turned = {int(d) for d in site.params["dimensions"]}
    return _moved(
        low, site, x, lambda p: tuple([i.times(-1).plus(x.shape[d] - 1) if d in turned else i for d, i in enumerate(p)])
    )


def _slice(low: ArrayLowering, site: Site, x: Any) -> Array:
    starts = [int(s) for s in site.params["start_indices"]]
    steps = [int(s) for s in site.params["strides"] or (1,) * len(starts)]
    return _moved(low, site, x, lambda p: tuple([i.times(s).plus(a) for i, s, a in zip(p, steps, starts, strict=True)]))


def _split(low: ArrayLowering, site: Site, x: Any) -> list[Array]:
    axis, start, parts = int(site.params["axis"]), 0, []
    for size, result in zip(site.params["sizes"], site.results, strict=True):
        one = Site(site.name, site.params, (result,), site.dead)
        parts.append(_moved(low, one, x, _shifted(axis, start)))
        start += int(size)
    return parts


def _shifted(axis: int, by: int) -> Callable[[Position], Position]:
    return lambda p: tuple([i.plus(by) if d == axis else i for d, i in enumerate(p)])


def _concatenate(low: ArrayLowering, site: Site, *parts: Any) -> Array:
    return _joined(low, site, int(site.params["dimension"]), [p for p in parts if p.size])


def _stack(low: ArrayLowering, site: Site, *parts: Any) -> Array:
    axis = int(site.params["axis"])
    shape = parts[0].shape
    wide = (*shape[:axis], 1, *shape[axis:])
    return _joined(low, site, axis, [reshaped(low, p, wide) for p in parts])


def _unstack(low: ArrayLowering, site: Site, x: Any) -> list[Array]:
    axis = int(site.params["axis"])

    def row(n: int) -> Callable[[Position], Position]:
        return lambda p: (*p[:axis], Index(n), *p[axis:])

    return [
        _moved(low, Site(site.name, site.params, (result,), site.dead), x, row(n))
        for n, result in enumerate(site.results)
    ]


def _joined(low: ArrayLowering, site: Site, axis: int, given: Sequence[Array]) -> Array:
    shape, dtype = site.results[0]
    parts = [low.operand(p) for p in given]
    starts = [sum(p.shape[axis] for p in parts[:n]) for n in range(len(parts))]

    def element(position: Position) -> Node:
        return pick(0, position)

    def pick(n: int, position: Position) -> Node:
        here = low.below(position[axis], starts[n + 1]) if n + 1 < len(parts) else True
        if here is False:
            return pick(n + 1, position)
        inside = _within(low, position[axis].plus(-starts[n]), parts[n].shape[axis])
        value = low.value_at(parts[n], (*position[:axis], inside, *position[axis + 1 :]))
        return value if here is True else low.k("select", here, value, pick(n + 1, position))

    cost = max([p.cost for p in parts if isinstance(p, Deferred)], default=0.0)
    return low.deferred(shape, dtype, element, cost, all_reads(parts, in_place=False))


def _within(low: ArrayLowering, index: Index, count: int) -> Index:
    """The index, made valid where that is not certain."""
    if index.low >= 0 and index.high < count:
        return index
    return low.computed(low.clamp(index.node(low.k), 0, count - 1), 0, count - 1)


def _pad(low: ArrayLowering, site: Site, x: Any, fill: Any) -> Array:
    shape, dtype = site.results[0]
    config = [tuple(int(n) for n in row) for row in site.params["padding_config"]]
    value, blank = low.operand(x), low.element(fill, low.index(0))

    def element(position: Position) -> Node:
        tests: list[Node] = []
        place = []
        for p, n, (before, _, gap) in zip(position, value.shape, config, strict=True):
            at = p.plus(-before)
            starts, ends = low.below(at, 0), low.below(at, (n - 1) * (gap + 1) + 1)
            if starts is True or ends is False or not n:
                return blank
            tests += [low.k("not", starts)] if isinstance(starts, Node) else []
            tests += [ends] if isinstance(ends, Node) else []
            at = _within(low, at, (n - 1) * (gap + 1) + 1)
            if gap:
                at, left = low.divided(at, gap + 1)
                if left.low > 0:
                    return blank
                tests += [low.k("eq", left.node(low.k), low.index(0))] if left.high else []
            place.append(at)
        found = low.value_at(value, tuple(place))
        for test in tests:
            found = low.k("select", test, found, blank)
        return found

    cost = value.cost if isinstance(value, Deferred) else 0.0
    return low.deferred(shape, dtype, element, cost, all_reads([value], in_place=False))


def _iota(low: ArrayLowering, site: Site, *_: Array) -> Array:
    shape, dtype = site.results[0]
    axis = int(site.params["dimension"])
    return low.deferred(shape, dtype, lambda p: low.k("convert", p[axis].node(low.k), dtype=dtype), 0.0, {})


def _sincos(low: ArrayLowering, site: Site, x: Any) -> list[Array]:
    """Sines and cosines of all angles at once, several at a time."""
    if x.dtype != "f8":
        return [low.mapped(site, lambda a, op=op: low.k(op, a), [x]) for op in ("sin", "cos")]
    angles = low.memory(x)
    both = [Memory(x.shape, x.dtype, low.work(x.dtype, x.size)) for _ in range(2)]
    low.emit(Angles(both[0].buffer, both[1].buffer, angles.buffer))
    return [*both]


ARRAY_RULES: Final[dict[str, Any]] = {
    "reshape": _reshape,
    "squeeze": _reshape,
    "broadcast_in_dim": _broadcast,
    "transpose": _transpose,
    "rev": _rev,
    "slice": _slice,
    "split": _split,
    "concatenate": _concatenate,
    "stack": _stack,
    "unstack": _unstack,
    "pad": _pad,
    "iota": _iota,
    "sincos": _sincos,
    **SCANS,
    **SUMS,
    **AXIS_SUMS,
}
"""Rules `rule(lowering, site, *values)` for values that may be deferred."""

LEFT_TO_XLA: Final = frozenset(
    (
        "cholesky", "lu", "lu_pivots_to_permutation", "triangular_solve", "sort", "qr", "eigh", "svd", "argsort",
    )
)  # fmt: skip
"""What XLA does faster than loops."""

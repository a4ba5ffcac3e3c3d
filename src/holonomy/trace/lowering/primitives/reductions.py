"""Primitives that combine many elements: sums, products, extremes, running sums, contractions, sorting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from holonomy.trace.graph.dag import DTYPES, Node
from holonomy.trace.lowering.primitives.shapes import numbering, pick
from holonomy.trace.lowering.statements import Store
from holonomy.trace.lowering.values import Memory, Scalars, Value

if TYPE_CHECKING:
    from holonomy.trace.lowering.limits import Site
    from holonomy.trace.lowering.lower import Lowering


def neutral(op: str, dtype: str) -> Any:
    """The number that changes nothing when it is combined with others by `op`."""
    if op in ("add", "or", "xor"):
        return 0
    if op == "mul":
        return 1
    if op == "and":
        return True if dtype == "b1" else -1  # all bits, in types without a sign as well
    if dtype[0] == "f":
        return -np.inf if op == "max" else np.inf
    if dtype == "b1":
        return op == "min"
    info = np.iinfo(DTYPES[dtype])
    return info.min if op == "max" else info.max


def _reduce(op: str) -> Callable[..., Value]:
    def rule(low: Lowering, site: Site, x: Value) -> Value:
        shape, dtype = site.results[0]
        axes = tuple(site.params["axes"])
        extent = [x.shape[a] for a in axes]
        if isinstance(x, Scalars):
            size = (math.prod(shape), math.prod(extent))  # named, since -1 says nothing of empty arrays
            rows = np.moveaxis(numbering(x), axes, range(-len(axes), 0)).reshape(size)
            nodes = [_combine(low, op, [x.nodes[i] for i in row], dtype) for row in rows]
            return Scalars(shape, dtype, tuple(nodes))
        start = low.k.constant(neutral(op, dtype), dtype)

        def element(position: list[Node]) -> Node:
            kept = iter(position)
            full: list[Node | None] = [None if a in axes else next(kept) for a in range(len(x.shape))]
            return _nested(low, op, x, full, list(zip(axes, extent, strict=True)), start)

        return low.generate(shape, dtype, element, large=True)

    return rule


def _nested(low: Lowering, op: str, x: Value, full: list[Any], axes: list[tuple[int, int]], total: Node) -> Node:
    """`total` combined with x over the remaining axes, by nested loops."""
    if not axes:
        return low.k(op, total, low.at(x, full))
    (axis, n), *rest = axes

    def body(i: Node, totals: Sequence[Node]) -> Sequence[Node]:
        return [_nested(low, op, x, [*full[:axis], i, *full[axis + 1 :]], rest, totals[0])]

    return low.fold_range(n, [total], body)[0]


def _combine(low: Lowering, op: str, terms: list[Node], dtype: str) -> Node:
    if op == "add":
        return low.k.sum(terms, dtype)
    if not terms:
        return low.k.constant(neutral(op, dtype), dtype)
    if op == "mul":
        total = terms[0]
        for term in terms[1:]:
            total = low.k(op, total, term)
        return total
    # Extremes do not depend on the order; in pairs, they need not wait for each other.
    while len(terms) > 1:
        pairs = [low.k(op, a, b) for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
    return terms[0]


def _arg(strict: str) -> Callable[..., Value]:
    """The first position of the extreme; a NaN counts as the extreme, as in XLA."""

    def better(low: Lowering, best: Node, new: Node) -> Node:
        wins = low.k("lt", best, new) if strict == "max" else low.k("lt", new, best)
        if best.dtype[0] != "f":
            return wins
        return low.k("and", low.k("or", wins, low.k("ne", new, new)), low.k("eq", best, best))

    def rule(low: Lowering, site: Site, x: Value) -> Value:
        shape, dtype = site.results[0]
        (axis,) = site.params["axes"]

        def element(position: list[Node]) -> Node:
            def at(i: Node) -> Node:
                return low.at(x, [*position[:axis], i, *position[axis:]])

            def body(i: Node, state: Sequence[Node]) -> Sequence[Node]:
                new = at(i)
                take = better(low, state[0], new)
                return low.k("select", take, new, state[0]), low.k("select", take, i, state[1])

            state: Sequence[Node] = (at(low.index(0)), low.index(0))
            if isinstance(x, Scalars):
                for i in range(1, x.shape[axis]):
                    state = body(low.index(i), state)
            else:
                state = low.fold_range(x.shape[axis], state, body)
            return low.k("convert", state[1], dtype=dtype)

        return low.generate(shape, dtype, element, large=isinstance(x, Memory))

    return rule


def _lines(x: Scalars, axis: int) -> list[list[int]]:
    """The numbers of the elements of each line along an axis; of an array without elements there are no lines."""
    return np.moveaxis(numbering(x), axis, -1).reshape(-1, x.shape[axis]).tolist() if x.size else []


def _cumulative(op: str) -> Callable[..., Value]:
    def rule(low: Lowering, site: Site, x: Value) -> Value:
        axis, flip = site.params["axis"], site.params["reverse"]
        if isinstance(x, Memory) and x.size > low.limits.scalars:
            return _cumulated(low, op, x, axis, flip)
        x = low.scalars(x)
        nodes = list(x.nodes)
        for line in _lines(x, axis):
            order = line[::-1] if flip else line
            for before, here in pairwise(order):
                nodes[here] = low.k(op, nodes[before], nodes[here])
        return Scalars(x.shape, x.dtype, tuple(nodes))

    return rule


def _cumulated(low: Lowering, op: str, x: Memory, axis: int, flip: bool) -> Memory:
    """The same over memory, in loops."""
    n, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    target, k = low.work(x.dtype, x.size), low.k

    def line(start: Node) -> None:
        def body(i: Node, total: Sequence[Node]) -> Sequence[Node]:
            along = k("sub", low.index(n - 1), i) if flip else i
            place = k("add", start, k("mul", along, low.index(inner)))
            new = k(op, total[0], low.element(x, place))
            low.emit(Store(target, place, new))
            return [new]

        low.fold_range(n, [k.constant(neutral(op, x.dtype), x.dtype)], body)

    def lines(outer: Node) -> None:
        low.for_range(inner, lambda j: line(k("add", k("mul", outer, low.index(n * inner)), j)))

    low.for_range(x.size // (n * inner), lines)
    return Memory(x.shape, x.dtype, target)


def _dot_general(low: Lowering, site: Site, a: Value, b: Value) -> Value:
    shape, dtype = site.results[0]
    (ca, cb), (ba, bb) = site.params["dimension_numbers"]
    ca, cb, ba, bb = (tuple(int(i) for i in axes) for axes in (ca, cb, ba, bb))
    free_a = [i for i in range(len(a.shape)) if i not in ca + ba]
    free_b = [i for i in range(len(b.shape)) if i not in cb + bb]
    extent = math.prod([a.shape[i] for i in ca])
    batch = math.prod([a.shape[i] for i in ba])
    size = math.prod(shape)
    if not size * extent:  # a sum of no products
        return low.generate(shape, dtype, lambda _: low.k.constant(0, dtype), large=True)
    if isinstance(a, Scalars) and isinstance(b, Scalars) and size * extent <= low.limits.scalars * 4:
        left = np.transpose(numbering(a), (*ba, *free_a, *ca)).reshape(batch, -1, extent)
        right = np.transpose(numbering(b), (*bb, *free_b, *cb)).reshape(batch, -1, extent)
        nodes = [
            _dot(low, a, b, u, v, dtype) for k in range(batch) for u in left[k].tolist() for v in right[k].tolist()
        ]
        return Scalars(shape, dtype, tuple(nodes))
    left_rows = pick(low, low.memory(a), np.transpose(numbering(a), (*ba, *free_a, *ca)))
    right_rows = pick(low, low.memory(b), np.transpose(numbering(b), (*bb, *free_b, *cb)))
    rows = Memory((batch, max(1, a.size // max(1, batch * extent)), extent), a.dtype, low.memory(left_rows).buffer)
    columns = Memory((batch, max(1, b.size // max(1, batch * extent)), extent), b.dtype, low.memory(right_rows).buffer)

    def element(position: list[Node]) -> Node:
        k, i, j = position
        zero = low.k.constant(0, dtype)

        def body(m: Node, total: Sequence[Node]) -> Sequence[Node]:
            left, right = low.at(rows, [k, i, m]), low.at(columns, [k, j, m])
            return [low.k("add", total[0], low.k("mul", _as(low, left, dtype), _as(low, right, dtype)))]

        return low.fold_range(extent, [zero], body)[0]

    out = low.generate((batch, rows.shape[1], columns.shape[1]), dtype, element, large=True)
    return Scalars(shape, dtype, out.nodes) if isinstance(out, Scalars) else Memory(shape, dtype, out.buffer)


def _dot(low: Lowering, a: Scalars, b: Scalars, u: list[int], v: list[int], dtype: str) -> Node:
    k, terms = low.k, []
    for i, j in zip(u, v, strict=True):
        x, y = a.nodes[i], b.nodes[j]
        if _vanishes(x, y) or _vanishes(y, x):
            continue
        terms.append(k("mul", _as(low, x, dtype), _as(low, y, dtype)))
    return k.sum(terms, dtype)


def _vanishes(x: Node, y: Node) -> bool:
    """Whether x·y is left out of a sum, as `simplify` would do later: zero times what is no number, for most terms."""
    return x.op == "const" and x.data == 0 and y.op != "const"


def _as(low: Lowering, node: Node, dtype: str) -> Node:
    """The node in the product's type: a product may mix whole numbers and floats."""
    return node if node.dtype == dtype else low.k("convert", node, dtype=dtype)


def _sort(low: Lowering, site: Site, *operands: Value) -> list[Value]:
    """A stable sorting network (insertion, by exchange of neighbours); meant for short lines."""
    axis, keys = site.params["dimension"], site.params["num_keys"]
    arrays = [low.scalars(x) for x in operands]
    columns = [list(x.nodes) for x in arrays]
    for line in _lines(arrays[0], axis):
        for end in range(len(line) - 1, 0, -1):
            for i, j in pairwise(line[: end + 1]):
                swap = _less(low, [(c[j], c[i]) for c in columns[:keys]])
                for c in columns:
                    c[i], c[j] = low.k("select", swap, c[j], c[i]), low.k("select", swap, c[i], c[j])
    return [Scalars(x.shape, x.dtype, tuple(c)) for x, c in zip(arrays, columns, strict=True)]


def _less(low: Lowering, pairs: list[tuple[Node, Node]]) -> Node:
    """Whether the first of each pair comes before the second, in lexicographic order, NaN last."""
    (a, b), *rest = pairs
    before = low.k("lt", a, b)
    if a.dtype[0] == "f":
        before = low.k("or", before, low.k("and", low.k("ne", b, b), low.k("eq", a, a)))
    if rest:
        before = low.k("or", before, low.k("and", low.k("eq", a, b), _less(low, rest)))
    return before


RULES: Final[dict[str, Any]] = {
    "reduce_sum": _reduce("add"),
    "reduce_prod": _reduce("mul"),
    "reduce_max": _reduce("max"),
    "reduce_min": _reduce("min"),
    "reduce_and": _reduce("and"),
    "reduce_or": _reduce("or"),
    "reduce_xor": _reduce("xor"),
    "argmax": _arg("max"),
    "argmin": _arg("min"),
    "cumsum": _cumulative("add"),
    "cumprod": _cumulative("mul"),
    "cummax": _cumulative("max"),
    "cummin": _cumulative("min"),
    "dot_general": _dot_general,
    "sort": _sort,
}

"""Primitives that move elements without changing them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from holonomy.trace.graph.dag import DTYPES, Node
from holonomy.trace.lowering.statements import Store
from holonomy.trace.lowering.values import Memory, Scalars, Value, strides

if TYPE_CHECKING:
    from holonomy.trace.lowering.limits import Site
    from holonomy.trace.lowering.lower import Lowering


def pick(low: Lowering, value: Value, source: np.ndarray) -> Value:
    """The array whose element at p is element number `source[p]` of `value`; `source` must be affine in p."""
    shape = tuple(int(n) for n in source.shape)
    if isinstance(value, Scalars):
        nodes = value.nodes
        return Scalars(shape, value.dtype, tuple([nodes[i] for i in source.ravel().tolist()]))
    offset, steps = _affine(source)

    def element(position: list[Node]) -> Node:
        i = low.index(offset)
        for p, step in zip(position, steps, strict=True):
            i = low.k("add", i, low.k("mul", p, low.index(step)))
        return low.element(value, i)

    return low.generate(shape, value.dtype, element, large=True)


def _affine(source: np.ndarray) -> tuple[int, list[int]]:
    if not source.size:
        return 0, [0] * source.ndim
    steps = []
    for axis, n in enumerate(source.shape):
        first = np.take(source, 0, axis).ravel()
        steps.append(int(np.take(source, 1, axis).ravel()[0] - first[0]) if n > 1 else 0)
    return int(source.ravel()[0]), steps


def numbering(value: Value) -> np.ndarray:
    """The row-major numbers of the elements, in the shape of `value`."""
    return np.arange(value.size).reshape(value.shape)


def _moved(move: Callable[[np.ndarray, dict[str, Any], tuple[int, ...]], np.ndarray]) -> Callable[..., Value]:
    def rule(low: Lowering, site: Site, x: Value, *_: Value) -> Value:
        return pick(low, x, move(numbering(x), site.params, site.results[0][0]))

    return rule


def _reshaped(low: Lowering, site: Site, x: Value, *_: Value) -> Value:
    shape = site.results[0][0]
    if isinstance(x, Scalars):
        return Scalars(shape, x.dtype, x.nodes)
    return Memory(shape, x.dtype, x.buffer)


def _broadcast(n: np.ndarray, params: dict[str, Any], shape: tuple[int, ...]) -> np.ndarray:
    expanded = [1] * len(shape)
    for axis, size in zip(params["broadcast_dimensions"], n.shape, strict=True):
        expanded[int(axis)] = size
    return np.broadcast_to(n.reshape(expanded), shape)


def _broadcast_in_dim(low: Lowering, site: Site, x: Value, *_: Value) -> Value:
    shape, dtype = site.results[0]
    size = math.prod(shape)
    if isinstance(x, Scalars) and size > low.limits.scalars:
        if x.size == 1:
            return low.generate(shape, dtype, lambda _: x.nodes[0])
        x = low.memory(x)
    return pick(low, x, _broadcast(numbering(x), site.params, shape))


def _slice(n: np.ndarray, params: dict[str, Any], _: tuple[int, ...]) -> np.ndarray:
    steps = params["strides"] or (1,) * n.ndim
    return n[
        tuple(slice(a, b, s) for a, b, s in zip(params["start_indices"], params["limit_indices"], steps, strict=True))
    ]


def _split(low: Lowering, site: Site, x: Value) -> list[Value]:
    cuts = np.cumsum(site.params["sizes"])[:-1]
    return [pick(low, x, part) for part in np.split(numbering(x), cuts, axis=site.params["axis"])]


def _concatenate(low: Lowering, site: Site, *parts: Value) -> Value:
    shape, dtype = site.results[0]
    axis = site.params["dimension"]
    size = math.prod(shape)
    if size <= low.limits.scalars and all(isinstance(p, Scalars) for p in parts):
        starts = np.cumsum([0, *[p.size for p in parts]])
        source = np.concatenate([numbering(p) + s for p, s in zip(parts, starts, strict=False)], axis=axis)
        nodes = [n for p in parts for n in low.scalars(p).nodes]
        return Scalars(shape, dtype, tuple([nodes[i] for i in source.ravel().tolist()]))
    target = low.work(dtype, size)
    place, start = np.arange(size).reshape(shape), 0
    for part in parts:
        stop = start + part.shape[axis]
        _put(low, target, np.take(place, range(start, stop), axis), part)
        start = stop
    return Memory(shape, dtype, target)


def _stack(low: Lowering, site: Site, *parts: Value) -> Value:
    axis = site.params["axis"]
    shape = parts[0].shape
    widened = (*shape[:axis], 1, *shape[axis:])
    rows = [replace(p, shape=widened) for p in parts]
    return _concatenate(low, replace(site, params={"dimension": axis}), *rows)


def _unstack(low: Lowering, site: Site, x: Value) -> list[Value]:
    axis = site.params["axis"]
    return [pick(low, x, np.take(numbering(x), i, axis)) for i in range(x.shape[axis])]


def _tile(low: Lowering, site: Site, x: Value) -> Value:
    shape, dtype = site.results[0]
    if isinstance(x, Scalars) and math.prod(shape) <= low.limits.scalars:
        return Scalars(shape, dtype, tuple([x.nodes[i] for i in np.tile(numbering(x), site.params["reps"]).ravel()]))

    def element(position: list[Node]) -> Node:
        inner = position[len(position) - len(x.shape) :]
        return low.at(x, [low.k("rem", p, low.index(n)) for p, n in zip(inner, x.shape, strict=True)])

    return low.generate(shape, dtype, element, large=True)


def _put(low: Lowering, target: Any, place: np.ndarray, part: Value) -> None:
    """target[place] = part, `place` affine"""
    if isinstance(part, Scalars):
        for i, node in zip(place.ravel().tolist(), part.nodes, strict=True):
            low.emit(Store(target, low.index(i), node))
        return
    offset, steps = _affine(place)

    def nest(position: list[Node]) -> None:
        if len(position) < place.ndim:
            low.for_range(place.shape[len(position)], lambda i: nest([*position, i]))
            return
        i = low.index(offset)
        for p, step in zip(position, steps, strict=True):
            i = low.k("add", i, low.k("mul", p, low.index(step)))
        low.emit(Store(target, i, low.at(part, position)))

    nest([])


def _pad(low: Lowering, site: Site, x: Value, fill: Value) -> Value:
    shape, dtype = site.results[0]
    config = site.params["padding_config"]
    if isinstance(x, Scalars) and math.prod(shape) <= low.limits.scalars:
        nodes = (*x.nodes, low.element(fill, low.index(0)))
        return Scalars(shape, dtype, tuple([nodes[i] for i in _padded(numbering(x), config).ravel().tolist()]))
    steps = strides(x.shape)
    blank = low.element(fill, low.index(0))

    def element(position: list[Node]) -> Node:
        inside, i = low.k.constant(True, "b1"), low.index(0)
        for p, n, step, (before, _, gap) in zip(position, x.shape, steps, config, strict=True):
            p = low.k("sub", p, low.index(before))
            quotient = low.k("div", p, low.index(gap + 1))
            if gap:
                inside = low.k("and", inside, low.k("eq", low.k("mul", quotient, low.index(gap + 1)), p))
            inside = low.k("and", inside, low.k("le", low.index(0), p))
            inside = low.k("and", inside, low.k("lt", quotient, low.index(n)))
            i = low.k("add", i, low.k("mul", low.clamp(quotient, 0, max(n - 1, 0)), low.index(step)))
        if (inside.op == "const" and not inside.data) or x.size == 0:
            return blank
        return low.k("select", inside, low.element(x, i), blank)

    return low.generate(shape, dtype, element, large=isinstance(x, Memory))


def _padded(numbers: np.ndarray, config: Any) -> np.ndarray:
    """Where each element of the padded array comes from; -1 is the filling. Negative padding cuts."""
    for axis, (before, after, gap) in enumerate(config):
        n = numbers.shape[axis]
        wide = list(numbers.shape)
        wide[axis] = n + max(0, n - 1) * gap
        spread = np.full(wide, -1)
        spread[(slice(None),) * axis + (slice(None, None, gap + 1),)] = numbers
        edges = [(0, 0)] * numbers.ndim
        edges[axis] = (max(before, 0), max(after, 0))
        spread = np.pad(spread, edges, constant_values=-1)
        stop = spread.shape[axis] + min(after, 0)
        numbers = spread[(slice(None),) * axis + (slice(max(-before, 0), stop),)]
    return numbers


def _iota(low: Lowering, site: Site, *_: Value) -> Value:
    shape, dtype = site.results[0]
    axis = site.params["dimension"]
    size = math.prod(shape)
    if size > low.limits.scalars:
        return low.generate(shape, dtype, lambda p: low.k("convert", p[axis], dtype=dtype))
    view = np.arange(shape[axis]).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return low.constant(np.broadcast_to(view, shape).astype(DTYPES[dtype]))


def _empty(low: Lowering, site: Site) -> Value:
    """Values that nobody reads: what one branch of a `cond` does not save for the derivative of another. Zeros."""
    shape, dtype = site.results[0]
    return low.constant(np.zeros(shape, DTYPES[dtype]))


RULES: Final[dict[str, Any]] = {
    "empty": _empty,
    "empty2": _empty,
    "reshape": _reshaped,
    "squeeze": _reshaped,
    "broadcast_in_dim": _broadcast_in_dim,
    "transpose": _moved(lambda n, params, _: np.transpose(n, params["permutation"])),
    "rev": _moved(lambda n, params, _: np.flip(n, params["dimensions"])),
    "slice": _moved(_slice),
    "split": _split,
    "concatenate": _concatenate,
    "stack": _stack,
    "unstack": _unstack,
    "tile": _tile,
    "pad": _pad,
    "iota": _iota,
}

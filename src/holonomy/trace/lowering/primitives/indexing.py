"""Primitives that read or write elements at positions known only when the code runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from holonomy.trace.graph.dag import DTYPES, Node
from holonomy.trace.lowering.statements import Store
from holonomy.trace.lowering.values import Memory, Scalars, Value

if TYPE_CHECKING:
    from holonomy.trace.lowering.limits import Site
    from holonomy.trace.lowering.lower import Lowering


def _dynamic_slice(low: Lowering, site: Site, x: Value, *starts: Value) -> Value:
    shape, dtype = site.results[0]
    first = _clamped(low, starts, x.shape, shape)

    def element(position: list[Node]) -> Node:
        return low.at(source, [low.k("add", s, p) for s, p in zip(first, position, strict=True)])

    source = _addressable(low, x, first)
    return low.generate(shape, dtype, element, large=isinstance(source, Memory))


def _addressable(low: Lowering, x: Value, position: Sequence[Node]) -> Value:
    """`x` in a form in which elements at moving positions can be read many times."""
    if isinstance(x, Memory) or x.size <= _FEW or low.flat or all(i.op == "const" for i in position):
        return x
    return low.memory(x)


def _clamped(low: Lowering, starts: Sequence[Value], shape: tuple[int, ...], window: tuple[int, ...]) -> list[Node]:
    return [low.clamp(low.element(s, low.index(0)), 0, n - w) for s, n, w in zip(starts, shape, window, strict=True)]


def _dynamic_update_slice(low: Lowering, site: Site, x: Value, update: Value, *starts: Value) -> Value:
    first = _clamped(low, starts, x.shape, update.shape)
    writes = []
    if isinstance(update, Scalars):
        for position, node in zip(np.ndindex(*update.shape), update.nodes, strict=True):
            spot = [low.k("add", s, low.index(p)) for s, p in zip(first, position, strict=True)]
            writes.append((low.flatten(spot, x.shape), low.k.constant(True, "b1"), node))
        return _write(low, site, x, writes, "set")
    target = x if isinstance(x, Memory) and site.dead[0] else low.copy(x)

    def nest(position: list[Node]) -> None:
        if len(position) < len(update.shape):
            low.for_range(update.shape[len(position)], lambda i: nest([*position, i]))
        else:
            spot = [low.k("add", s, p) for s, p in zip(first, position, strict=True)]
            low.emit(Store(target.buffer, low.flatten(spot, x.shape), low.at(update, position)))

    nest([])
    return target


def _write(low: Lowering, site: Site, x: Value, writes: list[tuple[Node, Node, Node]], mode: str) -> Value:
    """`x` with each (flat position, whether to write, value) written in turn."""
    fixed = all(i.op == "const" and valid.op == "const" for i, valid, _ in writes)
    if isinstance(x, Scalars) and (fixed or x.size * len(writes) <= _CHOICES or low.flat):
        nodes = list(x.nodes)
        for i, valid, value in writes:
            for n in [i.data] if i.op == "const" and valid.op == "const" else range(len(nodes)):
                here = low.k("and", valid, low.k("eq", i, low.index(n)))
                nodes[n] = low.k("select", here, _combined(low, mode, nodes[n], value), nodes[n])
        return Scalars(x.shape, x.dtype, tuple(nodes))
    target = x if isinstance(x, Memory) and site.dead[0] else low.copy(x)
    for i, valid, value in writes:
        _write_one(low, target, i, valid, value, mode)
    return low.scalars(target) if isinstance(x, Scalars) else target


def _write_one(low: Lowering, target: Memory, i: Node, valid: Node, value: Node, mode: str) -> None:
    certain = valid.op == "const" and valid.data
    if not certain:
        i = low.k("select", valid, i, low.index(0))
    if not certain or mode != "set":
        old = low.element(target, i)
        value = low.k("select", valid, _combined(low, mode, old, value), old)
    low.emit(Store(target.buffer, i, value))


def _combined(low: Lowering, mode: str, old: Node, new: Node) -> Node:
    return new if mode == "set" else low.k(mode, old, new)


def _mode(params: dict[str, Any]) -> str:
    name = str(params.get("mode")).rsplit(".", 1)[-1].upper()
    return {"0": "CLIP", "1": "FILL_OR_DROP", "2": "PROMISE_IN_BOUNDS", "NONE": "FILL_OR_DROP"}.get(name, name)


def _starts(
    low: Lowering, mode: str, indices: Value, batch: Sequence[Node], dims: Sequence[int], room: Sequence[int]
) -> tuple[dict[int, Node], Node]:
    """The first position in each indexed dimension, made valid, and whether it was valid."""
    valid, first = low.k.constant(True, "b1"), {}
    for k, dim in enumerate(dims):
        start = low.k("convert", low.at(indices, [*batch, low.index(k)]), dtype="i8")
        if mode == "FILL_OR_DROP":
            fits = low.k("and", low.k("le", low.index(0), start), low.k("le", start, low.index(room[dim])))
            valid = low.k("and", valid, fits)
        # A promise to stay in bounds is not trusted: a wrong index would read another's memory.
        first[dim] = low.clamp(start, 0, room[dim])
    return first, valid


def _gather(low: Lowering, site: Site, x: Value, indices: Value) -> Value:
    shape, dtype = site.results[0]
    numbers, sizes, mode = site.params["dimension_numbers"], site.params["slice_sizes"], _mode(site.params)
    collapsed = {int(d) for d in (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)}
    offsets = [int(d) for d in numbers.offset_dims]
    kept = [d for d in range(len(x.shape)) if d not in collapsed]
    room = [n - s for n, s in zip(x.shape, sizes, strict=True)]
    moving = isinstance(indices, Memory) or any(n.op != "const" for n in indices.nodes)
    if moving and isinstance(x, Scalars) and x.size > _FEW and not low.flat:
        x = low.memory(x)
    blank = low.k.constant(_fill(site.params["fill_value"], dtype), dtype)

    def element(position: list[Node]) -> Node:
        batch = [p for d, p in enumerate(position) if d not in offsets]
        first, valid = _starts(low, mode, indices, batch, [int(d) for d in numbers.start_index_map], room)
        spot = [first.get(d, low.index(0)) for d in range(len(x.shape))]
        for d, p in zip(kept, [position[d] for d in offsets], strict=True):
            spot[d] = low.k("add", spot[d], p)
        for d, b in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
            spot[int(d)] = batch[int(b)]
        return low.k("select", valid, low.at(x, spot), blank)

    if x.size == 0:
        return low.generate(shape, dtype, lambda _: blank)
    return low.generate(shape, dtype, element, large=isinstance(x, Memory) or isinstance(indices, Memory))


def _fill(value: Any, dtype: str) -> Any:
    if value is not None:
        return value
    if dtype[0] == "f":
        return np.nan
    if dtype == "b1":
        return True
    info = np.iinfo(DTYPES[dtype])
    return info.min if dtype[0] == "i" else info.max


def _scatter(mode: str) -> Callable[..., Value]:
    def rule(low: Lowering, site: Site, x: Value, indices: Value, updates: Value) -> Value:
        numbers = site.params["dimension_numbers"]
        bounds = "CLIP" if _mode(site.params) == "CLIP" else "FILL_OR_DROP"
        inserted = {int(d) for d in (*numbers.inserted_window_dims, *numbers.operand_batching_dims)}
        windows = [int(d) for d in numbers.update_window_dims]
        kept = [d for d in range(len(x.shape)) if d not in inserted]
        window = dict(zip(kept, [updates.shape[d] for d in windows], strict=True))
        room = [n - window.get(d, 1) for d, n in enumerate(x.shape)]

        def target(position: list[Node]) -> tuple[Node, Node]:
            batch = [p for d, p in enumerate(position) if d not in windows]
            dims = [int(d) for d in numbers.scatter_dims_to_operand_dims]
            first, valid = _starts(low, bounds, indices, batch, dims, room)
            spot = [first.get(d, low.index(0)) for d in range(len(x.shape))]
            for d, p in zip(kept, [position[d] for d in windows], strict=True):
                spot[d] = low.k("add", spot[d], p)
            for d, b in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
                spot[int(d)] = batch[int(b)]
            return low.flatten(spot, x.shape), valid

        if isinstance(updates, Scalars) and isinstance(indices, Scalars):
            writes = []
            for position, node in zip(np.ndindex(*updates.shape), updates.nodes, strict=True):
                writes.append((*target([low.index(p) for p in position]), node))
            return _write(low, site, x, writes, mode)
        return _scatter_looped(low, site, x, updates, target, mode)

    return rule


def _scatter_looped(
    low: Lowering, site: Site, x: Value, updates: Value, target: Callable[[list[Node]], tuple[Node, Node]], mode: str
) -> Value:
    out = x if isinstance(x, Memory) and site.dead[0] else low.copy(x)

    def nest(position: list[Node]) -> None:
        if len(position) < len(updates.shape):
            low.for_range(updates.shape[len(position)], lambda i: nest([*position, i]))
        else:
            i, valid = target(position)
            _write_one(low, out, i, valid, low.at(updates, position), mode)

    nest([])
    return low.scalars(out) if isinstance(x, Scalars) else out


_FEW: Final = 4  # elements up to which reading at a variable index is a chain of selections
_CHOICES: Final = 32  # selections up to which writing at variable indices does not need memory

RULES: Final[dict[str, Any]] = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter("set"),
    "scatter-add": _scatter("add"),
    "scatter-mul": _scatter("mul"),
    "scatter-min": _scatter("min"),
    "scatter-max": _scatter("max"),
}

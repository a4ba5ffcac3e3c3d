r"""A function as a directed acyclic graph of scalar operations.

A *graph* is a finite set of nodes.  A node is a triple (operation, arguments, data) with a scalar type, where the
arguments are earlier nodes; its value is the operation applied to the values of its arguments.  The graph is
*hash-consed*: asking twice for the same triple gives the same node, so equal subexpressions are one object and `is`
decides equality.  Nodes never change, and `node.index` grows along every edge, so sorting by index is a topological
order.

Leaves are

- `const`: `data` is the number,
- `input`: `data = (leaf, element)`, element number `element` (row-major) of argument array number `leaf`,
- `variable`: `data` is a serial number; a value that someone else supplies (a loop's carry, a load from memory).

Every other operation is listed in `operations`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "f8": np.dtype(np.float64), "f4": np.dtype(np.float32), "b1": np.dtype(np.bool_),
    "i8": np.dtype(np.int64), "i4": np.dtype(np.int32), "i2": np.dtype(np.int16), "i1": np.dtype(np.int8),
    "u8": np.dtype(np.uint64), "u4": np.dtype(np.uint32), "u2": np.dtype(np.uint16), "u1": np.dtype(np.uint8),
}  # fmt: skip


def dtype_name(dtype: Any) -> str:
    """The two-letter name used by nodes: kind and size in bytes, as in `f8`, `i4`, `b1`."""
    numpy_dtype = np.dtype(dtype)
    return f"{numpy_dtype.kind}{numpy_dtype.itemsize}"


class _Open:
    """The fields of a node while it is made: a `Node` itself refuses to be written to."""

    __slots__ = ("args", "data", "dtype", "index", "op")

    def __init__(self, op: str, args: tuple[Node, ...], data: Any, dtype: str, index: int) -> None:
        self.op = op
        self.args = args
        self.data = data
        self.dtype = dtype
        self.index = index


class Node(_Open):
    """One scalar operation: `op` applied to `args`, with `data` for leaves, of scalar type `dtype`."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"A node never changes: cannot set {name!r}. Build another node instead.")

    def __repr__(self) -> str:
        return expression(self)


class Graph:
    """A growing hash-consed set of nodes; it never forgets or alters one."""

    def __init__(self) -> None:
        self._table: dict[tuple[Any, ...], Node] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def _new(self, op: str, args: tuple[Node, ...], data: Any, dtype: str) -> Node:
        node: Any = _Open(op, args, data, dtype, self._count)
        node.__class__ = Node  # closed now; much faster than to write each field past the refusal
        self._count += 1
        return node

    def node(self, op: str, args: tuple[Node, ...], dtype: str, data: Any = None) -> Node:
        """The node (op, args, data) of type `dtype`: the existing one where there is one. No simplification."""
        key = _key(op, args, dtype, data)
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = self._new(op, args, data, dtype)
        return found

    def find(self, op: str, args: tuple[Node, ...], dtype: str, data: Any = None) -> Node | None:
        """The node (op, args, data) if it exists already."""
        return self._table.get(_key(op, args, dtype, data))

    def constant(self, value: float | int | bool, dtype: str) -> Node:
        """The number `value` as a scalar of type `dtype`: 0.0 and -0.0 differ, all NaNs are one, whole numbers wrap."""
        kind = dtype[0]
        number: float | int | bool
        if kind == "f":
            number = float(value)
            key: Any = struct.pack("d", number) if not math.isnan(number) else "nan"
        elif kind == "b":
            number = key = bool(value)
        else:
            number = key = _wrapped(int(value), kind == "i", 8 * int(dtype[1:]))
        found = self._table.get(("const", dtype, key))
        if found is None:
            found = self._table["const", dtype, key] = self._new("const", (), number, dtype)
        return found

    def input(self, leaf: int, element: int, dtype: str) -> Node:
        """Element `element` (row-major) of argument array `leaf`."""
        return self.node("input", (), dtype, (leaf, element))

    def variable(self, dtype: str) -> Node:
        """A fresh leaf, equal to no other node."""
        return self._new("variable", (), self._count, dtype)


def _wrapped(value: int, signed: bool, bits: int) -> int:
    """The number of a type of so many bits that differs from `value` by a multiple of 2 to their number."""
    lowest = -(1 << (bits - 1)) if signed else 0
    return (value - lowest) % (1 << bits) + lowest


def _key(op: str, args: tuple[Node, ...], dtype: str, data: Any) -> tuple[Any, ...]:
    """What makes a node: that of the most frequent numbers of arguments without a list in between."""
    if len(args) == 2:
        return op, dtype, data, args[0].index, args[1].index
    if len(args) == 1:
        return op, dtype, data, args[0].index
    return (op, dtype, data, *[a.index for a in args])


def reachable(outputs: Iterable[Node]) -> list[Node]:
    """All nodes that `outputs` depend on, themselves included, arguments before users."""
    seen: dict[int, Node] = {}
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.index not in seen:
            seen[node.index] = node
            stack.extend(node.args)
    return [seen[i] for i in sorted(seen)]


def substitute(
    outputs: Sequence[Node],
    mapping: Mapping[Node, Node],
    rebuild: Callable[[Node, tuple[Node, ...]], Node],
    below: Sequence[Node] | None = None,
) -> list[Node]:
    """`outputs` with each node in `mapping` replaced.

    `rebuild(node, args)` makes the counterpart of `node` with new arguments; a simplifier's constructor simplifies on
    the way. `below` is `reachable(outputs)` where that is known.
    """
    done: dict[int, Node] = {node.index: new for node, new in mapping.items()}
    for node in reachable(outputs) if below is None else below:
        if node.index not in done:
            args = tuple([done[a.index] for a in node.args])
            done[node.index] = node if args == node.args else rebuild(node, args)
    return [done[n.index] for n in outputs]


def hoist(
    graph: Graph, outputs: Sequence[Node], leaf: int, rebuild: Callable[[Node, tuple[Node, ...]], Node]
) -> tuple[list[Node], list[float]]:
    """`outputs` with every float constant that is not structural turned into an element of argument array `leaf`.

    Returns the new outputs and the numbers, element by element.  See `structural`.
    """
    found = [n for n in reachable(outputs) if n.op == "const" and n.dtype[0] == "f" and not structural(n.data)]
    mapping = {n: graph.input(leaf, k, n.dtype) for k, n in enumerate(found)}
    return substitute(outputs, mapping, rebuild), [float(n.data) for n in found]


def structural(value: float) -> bool:
    """Whether a number belongs to the form of an expression (0, ±1, ±½, ±3/2, … up to 16; ±∞, NaN) and not to its
    data.
    """
    return not math.isfinite(value) or (abs(value) <= 16.0 and (2.0 * value).is_integer())


def expression(node: Node, depth: int = 6) -> str:
    """A short readable form of a node, cut below `depth` levels."""
    if node.op == "const":
        return repr(node.data)
    if node.op == "input":
        return f"x{node.data[0]}[{node.data[1]}]"
    if node.op == "variable":
        return f"v{node.data}"
    if depth == 0:
        return "…"
    return f"{node.op}({', '.join(expression(a, depth - 1) for a in node.args)})"

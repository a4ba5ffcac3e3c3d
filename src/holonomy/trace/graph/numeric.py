"""What each scalar operation means, in NumPy: used to fold constants, and to evaluate a graph without compiling it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from holonomy.trace.graph.dag import DTYPES, Node, reachable
from holonomy.trace.graph.operations import named


def _divide(a: Any, b: Any) -> Any:
    if a.dtype.kind == "f":
        return np.divide(a, b)
    # Integers as XLA defines them: toward zero, -1 (all ones) for division by zero, and wrapping for the one overflow.
    if b == 0:
        return ~a.dtype.type(0)
    if b == -1:
        return np.negative(a)
    return a.dtype.type(int(a) // int(b) if (a < 0) == (b < 0) else -(-int(a) // int(b)))


def _remainder(a: Any, b: Any) -> Any:
    if a.dtype.kind != "f" and b == 0:
        return a
    return np.fmod(a, b)


def _elementwise(function: Callable[[float], float]) -> Callable[[Any], Any]:
    def applied(a: Any) -> Any:
        try:
            return a.dtype.type(function(float(a)))
        except (ValueError, OverflowError):  # how `math` says that the logarithm of the gamma function is infinite
            return a.dtype.type(math.inf)

    return applied


def _logical_shift_right(a: Any, b: Any) -> Any:
    unsigned = np.dtype(f"u{a.dtype.itemsize}").type
    return (a.view(unsigned) >> b.view(unsigned)).view(a.dtype)


def _arithmetic_shift_right(a: Any, b: Any) -> Any:
    """The highest bit is repeated, which for types without a sign NumPy does not do."""
    signed, unsigned = (np.dtype(f"{kind}{a.dtype.itemsize}").type for kind in "iu")
    steps = min(int(b.view(unsigned)), 8 * a.dtype.itemsize - 1)
    return (a.view(signed) >> signed(steps)).view(a.dtype)


def _converted(a: Any, target: np.dtype[Any]) -> Any:
    """As XLA defines it: of floats beyond the range of whole numbers the nearest one, and zero of NaN."""
    if a.dtype.kind != "f" or target.kind not in "iu":
        return a.astype(target)
    lowest, highest = int(np.iinfo(target).min), int(np.iinfo(target).max)
    if not np.isfinite(a):
        return target.type(0 if np.isnan(a) else highest if a > 0 else lowest)
    return target.type(min(max(int(a), lowest), highest))


def _plain(name: str) -> Callable[..., Any]:
    library, _, function = name.rpartition(".")
    return _elementwise(getattr(math, function)) if library else getattr(np, function)


NUMPY: Final[dict[str, Callable[..., Any]]] = {
    **{op: _plain(name) for op, name in named("numpy").items()},
    "div": _divide,
    "rem": _remainder,
    "round": lambda a: np.copysign(np.floor(np.abs(a) + a.dtype.type(0.5)), a),
    "lshr": _logical_shift_right,
    "ashr": _arithmetic_shift_right,
    "select": lambda c, a, b: a if c else b,
}


def fold(op: str, dtype: str, arguments: Sequence[Node]) -> float | int | bool:
    """The value of `op` on constant nodes, in the arithmetic of their types."""
    values = [DTYPES[a.dtype].type(a.data) for a in arguments]
    with np.errstate(all="ignore"):
        return apply(op, dtype, values).item()


def apply(op: str, dtype: str, values: Sequence[Any]) -> Any:
    """`op` on NumPy scalars, as a NumPy scalar of type `dtype`."""
    if op == "convert":
        return _converted(values[0], DTYPES[dtype])
    if op == "bitcast":
        return values[0].view(DTYPES[dtype])
    return DTYPES[dtype].type(NUMPY[op](*values))


def evaluate(
    outputs: Sequence[Node], leaves: Sequence[np.ndarray], variables: Mapping[Node, Any] | None = None
) -> list[Any]:
    """The values of `outputs` where argument array k is `leaves[k]`; slow and plain, a reference for compiled code."""
    values: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for node in reachable(outputs):
            if node.op == "const":
                value = DTYPES[node.dtype].type(node.data)
            elif node.op == "input":
                value = DTYPES[node.dtype].type(np.ravel(leaves[node.data[0]])[node.data[1]])
            elif node.op == "variable":
                value = DTYPES[node.dtype].type((variables or {})[node])
            else:
                value = apply(node.op, node.dtype, [values[a.index] for a in node.args])
            values[node.index] = value
    return [values[n.index] for n in outputs]


def evaluate_rows(outputs: Sequence[Node], leaves: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The values of `outputs` at many points at once, where argument array k has the row `leaves[k][r]` at point r."""
    nodes = reachable(outputs)
    left: dict[int, int] = {}
    for used in [*outputs, *[a for node in nodes for a in node.args]]:
        left[used.index] = left.get(used.index, 0) + 1
    rows, values = len(leaves[0]), dict[int, np.ndarray]()
    with np.errstate(all="ignore"):
        for node in nodes:
            values[node.index] = _row(node, [values[a.index] for a in node.args], leaves)
            for a in node.args:
                left[a.index] -= 1
                if not left[a.index]:
                    del values[a.index]
    return [np.broadcast_to(values[n.index], (rows,)) for n in outputs]


def _row(node: Node, values: list[np.ndarray], leaves: Sequence[np.ndarray]) -> np.ndarray:
    kind = DTYPES[node.dtype]
    if node.op == "const":
        return np.asarray(node.data, kind)
    if node.op == "input":
        return np.asarray(leaves[node.data[0]])[:, node.data[1]].astype(kind)
    if node.op == "convert":
        return values[0].astype(kind)
    if node.op == "select":
        return np.where(*values)
    one_by_one = node.op == "bitcast" or named("numpy").get(node.op, "").startswith("math.")
    if one_by_one or (node.op in ("div", "rem", "lshr") and kind.kind != "f"):
        each = zip(*np.broadcast_arrays(*map(np.atleast_1d, values)), strict=True)
        return np.array([apply(node.op, node.dtype, row) for row in each], kind)
    return np.asarray(NUMPY[node.op](*values)).astype(kind)

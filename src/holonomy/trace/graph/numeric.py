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
    # Integers as XLA defines them: toward zero, and -1 (all ones) for division by zero.
    if b == 0:
        return a.dtype.type(-1) if a.dtype.kind == "i" else ~a.dtype.type(0)
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


def _plain(name: str) -> Callable[..., Any]:
    library, _, function = name.rpartition(".")
    return _elementwise(getattr(math, function)) if library else getattr(np, function)


NUMPY: Final[dict[str, Callable[..., Any]]] = {
    **{op: _plain(name) for op, name in named("numpy").items()},
    "div": _divide,
    "rem": _remainder,
    "round": lambda a: np.copysign(np.floor(np.abs(a) + a.dtype.type(0.5)), a),
    "lshr": _logical_shift_right,
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
        return values[0].astype(DTYPES[dtype])
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

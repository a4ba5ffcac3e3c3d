"""Where a function is special: points at which something in its graph is zero, or nearest to zero, along lines.

A comparison changes there, a rounding, the sign below an absolute value; an exponential, a quotient or a hyperbolic
tangent is not flat there and may be flat everywhere else. Samples at random miss such places; they are found by a
search along each input over many orders of magnitude. Nothing is said where the search finds none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from holonomy.trace.graph.dag import Node, reachable
from holonomy.trace.graph.numeric import evaluate_rows
from holonomy.trace.graph.simplify import Algebra

_DIFFERENCE: Final = frozenset(["lt", "le", "eq", "ne", "max", "min"])
_STEPS: Final = frozenset(["floor", "ceil", "round", "roundeven", "rem"])
_FIRST: Final = frozenset([
    "abs", "sign", "exp", "exp2", "expm1", "log", "log1p", "sqrt", "cbrt", "tanh", "sinh", "cosh", "atan", "asin",
    "acos", "asinh", "acosh", "atanh", "erf", "erfc", "pow", "lgamma", "atan2",
])  # fmt: skip
_MOST: Final = 300  # features that are looked at, of those that a graph has
_DECADES: Final = 12  # above and below 1
_PER_DECADE: Final = 4
_BISECTIONS: Final = 60
_SECTIONS: Final = 50
_GOLDEN: Final = (np.sqrt(5.0) - 1) / 2
_PER_LINE: Final = 3  # points of one feature on one line
_FLAT: Final = 1e-12  # a value that is this near to its neighbours is not less than they are

GRID: Final = np.array([
    sign * 10.0 ** (k / _PER_DECADE)
    for sign in (-1, 1)
    for k in range(-_DECADES * _PER_DECADE, _DECADES * _PER_DECADE + 1)[::sign]
])  # fmt: skip
"""Values of an input along a line, in growing order."""


@dataclass(frozen=True)
class Line:
    """A line through a point: which element of which argument changes on it."""

    argument: int
    element: int


@dataclass(frozen=True)
class Found:
    """Points on lines, a row for each: the line's number, and the value there of the input that changes."""

    lines: np.ndarray
    values: np.ndarray


def features(k: Algebra, outputs: Sequence[Node]) -> list[Node]:
    """What is zero, or nearest to zero, where the function of these nodes is special; in order of the graph."""
    found: dict[int, Node] = {}

    def add(node: Node) -> None:
        if node.op != "const":
            found.setdefault(node.index, node)

    one = k.constant(1.0, "f8")
    for node in reachable(outputs):
        if node.op in _DIFFERENCE:
            a, b = (k("convert", x, dtype="f8") for x in node.args)
            add(k("sub", a, b))
        elif node.op in _STEPS or (node.op == "convert" and node.args[0].dtype[0] == "f" and node.dtype[0] in "iu"):
            add(k("convert", node.args[0], dtype="f8"))
            add(k("sub", k("convert", node.args[0], dtype="f8"), one))
        elif node.op in _FIRST:
            add(node.args[0])
        elif node.op == "div" and node.dtype[0] == "f":
            add(node.args[1])
    nodes = sorted(found.values(), key=lambda node: node.index)
    return nodes if len(nodes) <= _MOST else [nodes[i] for i in np.linspace(0, len(nodes) - 1, _MOST).astype(int)]


def search(
    nodes: Sequence[Node], leaves: Sequence[np.ndarray], lines: Sequence[Line], most: int, seed: int = 0
) -> Found:
    """Where features are zero or nearest to zero along lines, at most so many.

    Row r of the `leaves` is a point on line r, of which one input is replaced by the values that are tried.
    """
    nothing = Found(np.zeros(0, int), np.zeros(0))
    if not nodes or not lines:
        return nothing
    count, tried = len(lines), np.tile(GRID, len(lines))
    rows = np.repeat(np.arange(count), len(GRID))
    values = np.stack(evaluate_rows(nodes, _placed(leaves, lines, rows, tried)))
    values = values.reshape(len(nodes), count, len(GRID))
    feature, line, low, crosses = _brackets(values, seed)
    if len(line) > most:
        kept = np.sort(np.random.default_rng(seed).choice(len(line), most, replace=False))
        feature, line, low, crosses = feature[kept], line[kept], low[kept], crosses[kept]
    if not len(line):
        return nothing

    def value(s: np.ndarray) -> np.ndarray:
        every = np.stack(evaluate_rows(nodes, _placed(leaves, lines, line, s)))
        return every[feature, np.arange(len(s))]

    high = np.minimum(low + 1 + ~crosses, len(GRID) - 1)
    return Found(line, np.where(crosses, _bisected(value, GRID[low], GRID[high]), _least(value, GRID[low], GRID[high])))


def _placed(
    leaves: Sequence[np.ndarray], lines: Sequence[Line], rows: np.ndarray, values: np.ndarray
) -> list[np.ndarray]:
    """The points of the lines `rows`, with the input that changes at `values`."""
    placed = [np.asarray(leaf)[rows].copy() for leaf in leaves]
    argument = np.array([line.argument for line in lines])[rows]
    element = np.array([line.element for line in lines])[rows]
    for k, leaf in enumerate(placed):
        own = np.flatnonzero(argument == k)
        leaf[own, element[own]] = values[own]
    return placed


def _brackets(values: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features, lines, places in the grid before a change of sign, or before a least absolute value between two."""
    with np.errstate(invalid="ignore"):
        signs, size = np.sign(values), np.abs(values)
        crossing = np.isfinite(values[..., :-1] + values[..., 1:]) & (signs[..., :-1] * signs[..., 1:] <= 0)
        crossing &= signs[..., :-1] != signs[..., 1:]
        inner = size[..., 1:-1] * (1 + _FLAT)
        least = (inner < size[..., :-2]) & (inner < size[..., 2:]) & (signs[..., :-2] * signs[..., 2:] > 0)
    generator = np.random.default_rng(seed)
    parts = []
    for flags, crosses in ((crossing, True), (least, False)):
        keys = generator.random(flags.shape) * flags
        ranked = np.argsort(-keys, axis=-1)[..., :_PER_LINE]
        chosen = np.take_along_axis(flags, ranked, axis=-1)
        feature, line, place = np.nonzero(chosen)
        parts.append((feature, line, ranked[feature, line, place], np.full(len(line), crosses)))
    feature, line, low, crosses = (np.concatenate(x) for x in zip(*parts, strict=True))
    return feature, line, low, crosses


def _bisected(value: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    sign = np.sign(value(low))
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = np.sign(value(middle)) == sign
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


def _least(value: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The place of the least absolute value between two, by golden sections."""
    for _ in range(_SECTIONS):
        a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        left = np.abs(value(a)) <= np.abs(value(b))
        low, high = np.where(left, low, a), np.where(left, b, high)
    return 0.5 * (low + high)

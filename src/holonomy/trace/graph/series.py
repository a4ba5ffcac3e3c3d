r"""Taylor polynomials of a function in several variables, by evaluating its graph in truncated power series.

A series of order K in n variables is the array of its coefficients \(c_\alpha\), \(|\alpha| \le K\), of the monomials
\(y^\alpha\) in order of degree; a tensor of series has them along its last axis. Evaluating a graph of scalar
operations on series gives every derivative of the function up to order K at once, without compiling anything. An
operation \(f(u_0 + w)\), where w has no constant term, is \(\sum_k f_k w^k\) with the Taylor coefficients \(f_k\) of f
at \(u_0\), which follow from the differential equation that f satisfies. Reference: Griewank and Walther, *Evaluating
Derivatives*, 2008, chapter 13.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, Final

import numpy as np

from holonomy.trace.graph.dag import DTYPES, Node, reachable
from holonomy.trace.graph.numeric import apply
from holonomy.trace.lowering.statements import Unsupported

Series = np.ndarray


class SeriesRing:
    """Series of one order in some number of variables: their monomials and the table of products."""

    def __init__(self, variables: int, order: int) -> None:
        self.variables, self.order = variables, order
        powers: list[tuple[int, ...]] = []
        for degree in range(order + 1):
            chosen = combinations_with_replacement(range(variables), degree)
            powers += [tuple(np.bincount(np.array(c, int), minlength=variables).tolist()) for c in chosen]
        self.powers = np.array(powers, int).reshape(len(powers), variables)
        self.degree = self.powers.sum(axis=1)
        self.size = len(powers)
        place = {p: k for k, p in enumerate(powers)}
        rows = []
        for i, a in enumerate(powers):
            fitting = int(np.searchsorted(self.degree, order - self.degree[i], side="right"))
            rows += [(place[tuple(map(int.__add__, a, powers[j]))], i, j) for j in range(fitting)]
        rows.sort()
        table = np.array(rows, int)
        self._left, self._right = table[:, 1], table[:, 2]
        self._starts = np.searchsorted(table[:, 0], np.arange(self.size))
        self._slopes = []
        for k in range(variables):
            kept = np.flatnonzero(self.powers[:, k])
            to = np.array(
                [place[tuple(p)] for p in (self.powers[kept] - np.eye(variables, dtype=int)[k]).tolist()], int
            )
            self._slopes.append((kept, to, self.powers[kept, k].astype(float)))

    def constant(self, value: Any) -> Series:
        """Numbers, in an array of any shape, as series."""
        out = np.zeros((*np.shape(value), self.size))
        out[..., 0] = value
        return out

    def coordinates(self, at: np.ndarray) -> Series:
        """The variables themselves around a point."""
        out = self.constant(at)
        if self.order:
            out[np.arange(self.variables), 1 + np.arange(self.variables)] = 1.0
        return out

    def times(self, a: Series, b: Series) -> Series:
        """The product, element by element of two tensors that broadcast."""
        return np.add.reduceat(a[..., self._left] * b[..., self._right], self._starts, axis=-1)

    def matmul(self, a: Series, b: Series) -> Series:
        """The product of matrices of series, (..., i, k) and (..., k, j)."""
        return self.times(a[..., :, :, None, :], b[..., None, :, :, :]).sum(axis=-3)

    def slope(self, a: Series, k: int) -> Series:
        """The derivative by variable k, of which the highest order is not known and left zero."""
        kept, to, factor = self._slopes[k]
        out = np.zeros_like(a)
        out[..., to] = a[..., kept] * factor
        return out

    def gradient(self, a: Series) -> Series:
        """The derivatives by all variables, along a new axis before the last."""
        return np.stack([self.slope(a, k) for k in range(self.variables)], axis=-2)

    def radial(self, a: Series) -> Series:
        r"""\(\sum_k y^k a_k\) of a tensor with the index k before the last axis."""
        unit = self.coordinates(np.zeros(self.variables))
        return self.times(a, unit).sum(axis=-2)

    def inverse(self, a: Series) -> Series:
        """The inverse of a matrix of series, by Newton's iteration, which doubles the order that is right."""
        n = a.shape[-2]
        out = self.constant(np.linalg.inv(a[..., 0]))
        two = self.constant(2.0 * np.eye(n))
        for _ in range(max(1, self.order).bit_length()):
            out = self.matmul(out, two - self.matmul(a, out))
        return out

    def compose(self, coefficients: np.ndarray, a: Series) -> Series:
        r"""\(\sum_k f_k w^k\) for the series a = a_0 + w."""
        w = a.copy()
        w[..., 0] = 0.0
        out = self.constant(coefficients[-1])
        for c in coefficients[-2::-1]:
            out = self.times(out, w)
            out[..., 0] += c
        return out


@lru_cache(maxsize=32)
def ring(variables: int, order: int) -> SeriesRing:
    """The series of this order in so many variables; made once."""
    return SeriesRing(variables, order)


def evaluate(
    outputs: Sequence[Node],
    leaves: Sequence[np.ndarray],
    of: SeriesRing,
    other: Otherwise | None = None,
    corners: set[str] | None = None,
) -> list[Series]:
    """The series of `outputs`, where argument array k consists of the series `leaves[k]`, (elements, size).

    With `other` the evaluation is another one of as much right. `corners` collects the operations that have no
    derivative at the point: absolute values of zero, and comparisons of what is equal there and not nearby.
    Raises `Unsupported` for an operation without a Taylor series.
    """
    values: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for node in reachable(outputs):
            if node.op == "const":
                value: Any = (
                    of.constant(float(node.data)) if node.dtype[0] == "f" else DTYPES[node.dtype].type(node.data)
                )
            elif node.op == "input":
                value = leaves[node.data[0]][node.data[1]]
            else:
                args = [values[a.index] for a in node.args]
                at_corner = (corners is not None or other is not None) and _at_corner(node.op, args)
                if corners is not None and at_corner:
                    corners.add(node.op)
                value = other.side(of, node.op, args) if other is not None and at_corner else _applied(of, node, args)
                if other is not None and node.dtype[0] == "f" and node.op not in _EXACT:
                    value = other.rounded(value)
            values[node.index] = value
    return [values[n.index] for n in outputs]


class Otherwise:
    """An evaluation in series of as much right as the plain one: with other rounding errors, and at corners with the
    side on which a direction lies. What differs from one to another is not known.

    Those of number 0 and below have no other rounding errors; 0 and -1 look to opposite sides, as -2 and -3 do.
    """

    def __init__(self, number: int, variables: int) -> None:
        self._rng = np.random.default_rng(number) if number > 0 else None
        shared = np.random.default_rng(1000 + abs(number) // 2).normal(size=variables)
        self._direction = shared if number % 2 else -shared

    def rounded(self, value: np.ndarray) -> np.ndarray:
        """Numbers with other rounding errors."""
        if self._rng is None:
            return value
        return value * (1.0 + _ROUNDING * self._rng.uniform(-1.0, 1.0, np.shape(value)))

    def side(self, of: SeriesRing, op: str, args: list[Any]) -> Any:
        """An operation at its corner, as it is next to it."""
        near = np.prod((1e-5 * self._direction) ** of.powers, axis=1)
        over = float((args[0][1:] - args[1][1:] if op in _COMPARED else args[0][1:]) @ near[1:])
        if op in _KINKED:
            return np.sign(over) * args[0] if op == "abs" else of.constant(np.sign(over))
        if op in ("max", "min"):
            return args[0] if (over > 0) == (op == "max") else args[1]
        return {"lt": over < 0, "le": over <= 0, "eq": over == 0, "ne": over != 0}[op]


def _at_corner(op: str, args: list[Any]) -> bool:
    """Whether an operation has different series on the two sides of the point."""
    if op in _COMPARED and all(isinstance(a, np.ndarray) and a.ndim == 1 for a in args):
        one, other = args
        near = abs(one[0] - other[0]) <= 8 * _ROUNDING * (abs(one[0]) + abs(other[0]))
        return bool(near and np.isfinite(one[0] - other[0]) and np.any(one[1:] != other[1:]))
    return op in _KINKED and bool(args[0][0] == 0.0 and np.any(args[0][1:]))


def _applied(of: SeriesRing, node: Node, args: list[Any]) -> Any:
    floats = [isinstance(a, np.ndarray) and a.ndim == 1 for a in args]
    if node.op == "select":
        return args[1] if bool(args[0]) else args[2]
    if node.op == "convert" and all(floats):
        return args[0] if node.dtype[0] == "f" else DTYPES[node.dtype].type(args[0][0])
    if node.op == "convert" and node.dtype[0] == "f":
        return of.constant(float(args[0]))
    if node.op in _TWO:
        return _TWO[node.op](of, *args) if all(floats) else _numeric(of, node, args, floats)
    if node.op in _ONE and all(floats):
        return of.compose(_ONE[node.op](float(args[0][0]), of.order), args[0])
    return _numeric(of, node, args, floats)


def _numeric(of: SeriesRing, node: Node, args: list[Any], floats: list[bool]) -> Any:
    """Comparisons and integers by their values; other functions where nothing varies."""
    constant = all(not f or not np.any(a[1:]) for a, f in zip(args, floats, strict=True))
    if node.dtype[0] == "f" and not (constant or node.op in _STEPS):
        raise Unsupported(f"The operation '{node.op}' has no Taylor series here.")
    value = apply(node.op, node.dtype, [np.float64(a[0]) if f else a for a, f in zip(args, floats, strict=True)])
    return of.constant(float(value)) if node.dtype[0] == "f" else value


def _quotient(of: SeriesRing, a: Series, b: Series) -> Series:
    return of.times(a, of.compose(_power(float(b[0]), -1.0, of.order), b))


def _general_power(of: SeriesRing, a: Series, b: Series) -> Series:
    if not np.any(b[1:]):
        return of.compose(_power(float(a[0]), float(b[0]), of.order), a)
    return of.compose(
        _exp(float(b[0] * np.log(a[0])), of.order), of.times(b, of.compose(_log(float(a[0]), of.order), a))
    )


def _angle(of: SeriesRing, y: Series, x: Series) -> Series:
    """atan2: turned so that the point lies on the positive axis, where it is the arctangent of a quotient."""
    angle = math.atan2(y[0], x[0])
    c, s = math.cos(angle), math.sin(angle)
    ratio = _quotient(of, c * y - s * x, c * x + s * y)
    return of.compose(_atan(0.0, of.order), ratio) + of.constant(angle)


_TWO: Final[dict[str, Callable[[SeriesRing, Any, Any], Any]]] = {
    "add": lambda of, a, b: a + b,
    "sub": lambda of, a, b: a - b,
    "mul": lambda of, a, b: of.times(a, b),
    "div": _quotient,
    "pow": _general_power,
    "atan2": _angle,
    "max": lambda of, a, b: a if a[0] >= b[0] else b,
    "min": lambda of, a, b: a if a[0] <= b[0] else b,
    "rem": lambda of, a, b: a - np.trunc(a[0] / b[0]) * b,
}
_COMPARED: Final = frozenset(["lt", "le", "eq", "ne", "max", "min"])
_KINKED: Final = frozenset(["abs", "sign"])
_EXACT: Final = frozenset(["neg", "select", "convert", "abs", "max", "min", "sign"])
_ROUNDING: Final = np.finfo(float).eps
_STEPS: Final = frozenset(["sign", "floor", "ceil", "round", "roundeven"])  # constant around almost every point


# ── Taylor coefficients of functions of one variable at a number ──────────────────────────────────────────────────
def _exp(x: float, order: int) -> np.ndarray:
    return np.exp(x) / np.array([math.factorial(k) for k in range(order + 1)])


def _circular(x: float, order: int, shift: int) -> np.ndarray:
    wave = [np.sin(x), np.cos(x), -np.sin(x), -np.cos(x)]
    return np.array([wave[(k + shift) % 4] / math.factorial(k) for k in range(order + 1)])


def _hyperbolic(x: float, order: int, shift: int) -> np.ndarray:
    wave = [np.sinh(x), np.cosh(x)]
    return np.array([wave[(k + shift) % 2] / math.factorial(k) for k in range(order + 1)])


def _power(x: float, exponent: float, order: int) -> np.ndarray:
    if exponent == int(exponent) and exponent >= 0:
        whole = int(exponent)
        return np.array([math.comb(whole, k) * x ** (whole - k) if k <= whole else 0.0 for k in range(order + 1)])
    out = np.empty(order + 1)
    out[0] = np.power(x, exponent)
    for k in range(1, order + 1):
        out[k] = out[k - 1] * (exponent - k + 1) / (k * x)
    return out


def _log(x: float, order: int) -> np.ndarray:
    return _from_slope(np.log(x), _power(x, -1.0, order))


def _from_slope(value: float, slope: np.ndarray) -> np.ndarray:
    """Coefficients of a function from its value and those of its derivative."""
    return np.concatenate([[value], slope[:-1] / np.arange(1, len(slope))])


def _composed(outer: Callable[[float, int], np.ndarray], inner: Sequence[float], order: int) -> np.ndarray:
    """Coefficients of outer(p(x)) from those of a polynomial p at x."""
    of = ring(1, order)
    p = np.zeros(order + 1)
    p[: min(order + 1, len(inner))] = inner[: order + 1]
    return of.compose(outer(float(p[0]), order), p)


def _root_slope(square: Sequence[float], order: int) -> np.ndarray:
    return _composed(lambda x, k: _power(x, -0.5, k), square, order)


def _atan(x: float, order: int) -> np.ndarray:
    return _from_slope(np.arctan(x), _composed(lambda u, k: _power(u, -1.0, k), [1 + x * x, 2 * x, 1.0], order))


def _tangent(x: float, order: int, sign: float) -> np.ndarray:
    """tan (sign +1) and tanh (sign -1): the slope is 1 + sign times the square."""
    out = np.zeros(order + 1)
    out[0] = np.tan(x) if sign > 0 else np.tanh(x)
    for k in range(order):
        out[k + 1] = ((k == 0) + sign * np.dot(out[: k + 1], out[k::-1])) / (k + 1)
    return out


def _error_function(x: float, order: int) -> np.ndarray:
    slope = _composed(_exp, [-x * x, -2 * x, -1.0], order) * (2 / math.sqrt(math.pi))
    return _from_slope(math.erf(x), slope)


def _absolute(x: float, order: int) -> np.ndarray:
    return np.array([abs(x), np.sign(x), *[0.0] * order])[: order + 1]


def _shifted(function: Callable[[float, int], np.ndarray], value: Callable[[float], float]) -> Any:
    """A function plus a constant, whose value is computed by its own name."""

    def coefficients(x: float, order: int) -> np.ndarray:
        out = function(x, order)
        out[0] = value(x)
        return out

    return coefficients


_ONE: Final[dict[str, Callable[[float, int], np.ndarray]]] = {
    "neg": lambda x, k: np.array([-x, -1.0, *[0.0] * k])[: k + 1],
    "abs": _absolute,
    "sqrt": lambda x, k: _power(x, 0.5, k),
    "cbrt": lambda x, k: np.sign(x) * _power(abs(x), 1 / 3, k) * np.sign(x) ** np.arange(k + 1),
    "exp": _exp,
    "exp2": lambda x, k: _exp(x * math.log(2), k) * math.log(2) ** np.arange(k + 1),
    "expm1": _shifted(_exp, math.expm1),
    "log": _log,
    "log1p": _shifted(lambda x, k: _log(1 + x, k), math.log1p),
    "sin": lambda x, k: _circular(x, k, 0),
    "cos": lambda x, k: _circular(x, k, 1),
    "tan": lambda x, k: _tangent(x, k, 1.0),
    "asin": lambda x, k: _from_slope(np.arcsin(x), _root_slope([1 - x * x, -2 * x, -1.0], k)),
    "acos": lambda x, k: _from_slope(np.arccos(x), -_root_slope([1 - x * x, -2 * x, -1.0], k)),
    "atan": _atan,
    "sinh": lambda x, k: _hyperbolic(x, k, 0),
    "cosh": lambda x, k: _hyperbolic(x, k, 1),
    "tanh": lambda x, k: _tangent(x, k, -1.0),
    "asinh": lambda x, k: _from_slope(np.arcsinh(x), _root_slope([1 + x * x, 2 * x, 1.0], k)),
    "acosh": lambda x, k: _from_slope(np.arccosh(x), _root_slope([x * x - 1, 2 * x, 1.0], k)),
    "atanh": lambda x, k: _from_slope(
        np.arctanh(x), _composed(lambda u, m: _power(u, -1.0, m), [1 - x * x, -2 * x, -1.0], k)
    ),
    "erf": _error_function,
    "erfc": lambda x, k: _shifted(lambda u, m: -_error_function(u, m), math.erfc)(x, k),
}

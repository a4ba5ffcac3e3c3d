"""Primitives that act on each element by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from holonomy.trace.graph.dag import Node, dtype_name
from holonomy.trace.graph.operations import named
from holonomy.trace.lowering.values import Memory, Scalars, Value

if TYPE_CHECKING:
    from holonomy.trace.lowering.limits import Site
    from holonomy.trace.lowering.lower import Lowering


def each(low: Lowering, site: Site, function: Callable[..., Node], *values: Value) -> Value:
    """`function` on corresponding elements; dimensions of length 1 are repeated."""
    shape, dtype = site.results[0]
    if all(isinstance(v, Scalars) for v in values):
        columns = [_spread(v, shape) for v in values if isinstance(v, Scalars)]
        return Scalars(shape, dtype, tuple([function(*row) for row in zip(*columns, strict=True)]))
    return low.mapped(site, function, values)


def _spread(value: Scalars, shape: tuple[int, ...]) -> tuple[Node, ...]:
    if value.shape == shape:
        return value.nodes
    numbers = np.broadcast_to(np.arange(value.size).reshape(value.shape), shape)
    return tuple([value.nodes[i] for i in numbers.ravel().tolist()])


def _plain(op: str) -> Callable[..., Value]:
    def rule(low: Lowering, site: Site, *values: Value) -> Value:
        return each(low, site, lambda *args: low.k(op, *args), *values)

    return rule


def _swapped(op: str) -> Callable[..., Value]:
    def rule(low: Lowering, site: Site, a: Value, b: Value) -> Value:
        return each(low, site, lambda x, y: low.k(op, y, x), a, b)

    return rule


def _composed(build: Callable[..., Node]) -> Callable[..., Value]:
    """A primitive written with the algebra `k`: build(k, *args)."""

    def rule(low: Lowering, site: Site, *values: Value) -> Value:
        return each(low, site, lambda *args: build(low.k, *args), *values)

    return rule


def _identity(low: Lowering, site: Site, *values: Value) -> list[Value]:
    return list(values)


def _one(k: Any, x: Node) -> Node:
    return k.constant(1, x.dtype)


def _rsqrt(k: Any, x: Node) -> Node:
    return k("div", _one(k, x), k("sqrt", x))


def _logistic(k: Any, x: Node) -> Node:
    return k("div", _one(k, x), k("add", _one(k, x), k("exp", k("neg", x))))


def _square(k: Any, x: Node) -> Node:
    return k("mul", x, x)


def _one_minus_square(k: Any, x: Node) -> Node:
    """1 - x², in the form that keeps its digits near |x| = 1; a primitive since JAX 0.11.2."""
    return k("mul", k("add", _one(k, x), x), k("sub", _one(k, x), x))


def _polynomial(low: Lowering, site: Site, x: Value, *coefficients: Value) -> Value:
    """Σ cₙ xⁿ by Horner's rule, lowest coefficient first; a primitive since JAX 0.12."""

    def horner(at: Node, *numbers: Node) -> Node:
        total = numbers[-1]
        for number in numbers[-2::-1]:
            total = low.k("add", low.k("mul", total, at), number)
        return total

    return each(low, site, horner, x, *coefficients)


def _total_lt(k: Any, a: Node, b: Node) -> Node:
    """a < b where NaN is the largest number."""
    less = k("lt", a, b)
    if a.dtype[0] != "f":
        return less
    return k("or", less, k("and", k("ne", b, b), k("eq", a, a)))


def _total_le(k: Any, a: Node, b: Node) -> Node:
    return k("not", _total_lt(k, b, a))


def _total_eq(k: Any, a: Node, b: Node) -> Node:
    return k("and", _total_le(k, a, b), _total_le(k, b, a))


def _integer_pow(low: Lowering, site: Site, x: Value) -> Value:
    return each(low, site, lambda a: low.k.power(a, site.params["y"]), x)


def _pow(low: Lowering, site: Site, x: Value, y: Value) -> Value:
    def power(a: Node, b: Node) -> Node:
        if b.dtype[0] != "f" and b.op == "const":
            return low.k.power(a, b.data)
        return low.k("pow", a, low.k("convert", b, dtype=a.dtype))

    return each(low, site, power, x, y)


def _round(low: Lowering, site: Site, x: Value) -> Value:
    op = "round" if int(site.params["rounding_method"]) == 0 else "roundeven"
    return each(low, site, lambda a: low.k(op, a), x)


def _clamp(low: Lowering, site: Site, lower: Value, x: Value, upper: Value) -> Value:
    return each(low, site, lambda lo, a, hi: low.k("min", low.k("max", a, lo), hi), lower, x, upper)


def _convert(low: Lowering, site: Site, x: Value) -> Value:
    dtype = dtype_name(site.params["new_dtype"])

    def one(a: Node) -> Node:
        if dtype == "b1" and a.dtype != "b1":
            return low.k("ne", a, low.k.constant(0, a.dtype))
        return low.k("convert", a, dtype=dtype)

    if isinstance(x, Memory) and x.dtype == dtype:
        return x
    return each(low, site, one, x)


def _bitcast(low: Lowering, site: Site, x: Value) -> Value:
    return each(low, site, lambda a: low.k("bitcast", a, dtype=site.results[0][1]), x)


def _select_n(low: Lowering, site: Site, which: Value, *cases: Value) -> Value:
    def choose(c: Node, *options: Node) -> Node:
        if c.dtype == "b1":
            return low.k("select", c, options[1], options[0])
        result = options[-1]
        for n in range(len(options) - 2, -1, -1):
            result = low.k("select", low.k("le", c, low.k.constant(n, c.dtype)), options[n], result)
        return result

    return each(low, site, choose, which, *cases)


RULES: Final[dict[str, Any]] = {
    **{primitive: _plain(op) for op, primitive in named("primitive").items()},
    "add_any": _plain("add"),
    "gt": _swapped("lt"),
    "ge": _swapped("le"),
    "is_finite": _plain("isfinite"),
    "shift_left": _plain("shl"),
    "shift_right_logical": _plain("lshr"),
    "shift_right_arithmetic": _plain("ashr"),
    "rsqrt": _composed(_rsqrt),
    "logistic": _composed(_logistic),
    "square": _composed(_square),
    "one_minus_square": _composed(_one_minus_square),
    "polynomial": _polynomial,
    "lt_to": _composed(_total_lt),
    "le_to": _composed(_total_le),
    "eq_to": _composed(_total_eq),
    "integer_pow": _integer_pow,
    "pow": _pow,
    "round": _round,
    "clamp": _clamp,
    "convert_element_type": _convert,
    "bitcast_convert_type": _bitcast,
    "select_n": _select_n,
    **dict.fromkeys(("copy", "stop_gradient", "device_put", "optimization_barrier", "name"), _identity),
}  # fmt: skip

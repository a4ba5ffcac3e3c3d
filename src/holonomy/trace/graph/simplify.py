"""Constructors that simplify: the same value with less arithmetic.

`Algebra(graph)(op, *args)` is the node for `op` applied to `args` after constant folding, cancellation of neutral and
absorbing elements (x·0 counts as 0, also where x is not finite), collection of equal terms, moving signs and constants
outward so that more subexpressions coincide, and parity of elementary functions.  Every rule keeps the value to its
last digits, also where terms cancel: a factor is taken out of a sum or a quotient only if multiplying by it is exact
(a power of two), and a division stays a division, since what follows may be a floor or a comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from holonomy.trace.graph import numeric
from holonomy.trace.graph.dag import Graph, Node
from holonomy.trace.graph.operations import COMMUTATIVE, EVEN, ODD, PREDICATES


class Algebra:
    """Smart constructors over one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __call__(self, op: str, *args: Node, dtype: str | None = None, data: Any = None) -> Node:
        """The simplified node for `op` on `args`; `dtype` is needed for `convert`, `bitcast` and `load` only."""
        if dtype is None:
            dtype = "b1" if op in PREDICATES else args[-1].dtype
        for a in args:
            if a.op != "const":
                break
        else:
            if op != "load":
                return self.graph.constant(numeric.fold(op, dtype, args), dtype)
        rule = _RULES.get(op)
        if rule is not None:
            return rule(self, *args)
        if op in ("convert", "bitcast"):
            return self._convert(op, args[0], dtype)
        if op == "load":
            return self.graph.node(op, args, dtype, data)
        return self.raw(op, *args)

    def constant(self, value: float | int | bool, dtype: str) -> Node:
        """The number `value`."""
        return self.graph.constant(value, dtype)

    def raw(self, op: str, *args: Node) -> Node:
        """The node for `op` on `args` without simplification beyond the order of commuting operands."""
        if op in COMMUTATIVE and args[0].index > args[1].index:
            args = (args[1], args[0])
        dtype = "b1" if op in PREDICATES else args[-1].dtype
        return self.graph.node(op, args, dtype)

    def rebuild(self, node: Node, args: tuple[Node, ...]) -> Node:
        """The counterpart of `node` with other arguments (for `dag.substitute`)."""
        return self(node.op, *args, dtype=node.dtype, data=node.data)

    def sum(self, terms: Sequence[Node], dtype: str) -> Node:
        """The sum of `terms`: in order where they are few, else in two halves, which shortens the chain of
        roundings.
        """
        terms = [t for t in terms if not _is(t, 0)]
        if not terms:
            return self.constant(0, dtype)
        if len(terms) > _LONG_SUM:
            half = len(terms) // 2
            return self("add", self.sum(terms[:half], dtype), self.sum(terms[half:], dtype))
        total = terms[0]
        for term in terms[1:]:
            total = self("add", total, term)
        return total

    def power(self, x: Node, n: int) -> Node:
        """xⁿ by repeated squaring."""
        if n < 0:
            return self("div", self.constant(1, x.dtype), self.power(x, -n))
        result: Node | None = None
        while n:
            if n & 1:
                result = x if result is None else self("mul", result, x)
            n >>= 1
            if n:
                x = self("mul", x, x)
        return self.constant(1, x.dtype) if result is None else result

    def _convert(self, op: str, x: Node, dtype: str) -> Node:
        if x.dtype == dtype:
            return x
        return self.graph.node(op, (x,), dtype)


_LONG_SUM: Final = 8  # terms above which a sum is added in two halves


def _is(node: Node, value: float) -> bool:
    return node.op == "const" and node.data == value


def _coefficient(x: Node) -> tuple[Any, Node] | None:
    """(c, y) with x = c·y for a real constant c, or None where there is none but 1."""
    if x.op == "mul":
        first, second = x.args
        if first.op == "const" and x.dtype[0] == "f":
            return first.data, second
        if second.op == "const" and x.dtype[0] == "f":
            return second.data, first
    elif x.op == "neg" and x.dtype[0] == "f":
        return -1, x.args[0]
    return None


def _scaled(k: Algebra, c: Any, x: Node) -> Node:
    return k("mul", k.constant(c, x.dtype), x)


def _add(k: Algebra, a: Node, b: Node) -> Node:
    if _is(a, 0):
        return b
    if _is(b, 0):
        return a
    if b.op == "neg":
        return k("sub", a, b.args[0])
    if a.op == "neg":
        return k("sub", b, a.args[0])
    merged = _collect(k, a, b, 1)
    if merged is not None:
        return merged
    if a.dtype[0] != "f":
        return _add_integers(k, a, b)
    if _is_pythagoras(a, b):
        return k.constant(1, a.dtype)
    return k.raw("add", a, b)


def _add_integers(k: Algebra, a: Node, b: Node) -> Node:
    """Constants together, which is exact for integers alone: (1 + x) - 1 in real arithmetic is often meant as it
    stands.
    """
    if b.op == "const":
        a, b = b, a
    if a.op == "const" and b.op == "add":
        inner = _constant_term(b)
        if inner is not None:
            return k("add", k("add", a, inner[0]), inner[1])
    return k.raw("add", a, b)


def _constant_term(x: Node) -> tuple[Node, Node] | None:
    if x.args[0].op == "const":
        return x.args[0], x.args[1]
    if x.args[1].op == "const":
        return x.args[1], x.args[0]
    return None


def _collect(k: Algebra, a: Node, b: Node, sign: int) -> Node | None:
    """c₁x ± c₂x as (c₁ ± c₂)x, and c·x ± c·y as c(x ± y), where that keeps the last digits; else None.

    The first where nothing cancels, or where all products are exact; the second for exact products.
    """
    if a.dtype[0] != "f":
        return None
    left, right = _coefficient(a), _coefficient(b)
    if left is None and right is None and a is not b:
        return None
    ca, xa = left or (1, a)
    cb, xb = right or (1, b)
    if xa is xb and (ca * sign * cb > 0 or (_exact(ca) and _exact(cb))):
        return _scaled(k, ca + sign * cb, xa)
    if left is not None and right is not None and abs(ca) == abs(cb) and _exact(ca):
        if ca == cb:
            return _scaled(k, ca, k("add" if sign > 0 else "sub", xa, xb))
        return _scaled(k, ca, k("sub" if sign > 0 else "add", xa, xb))
    return None


def _exact(c: float) -> bool:
    """Whether multiplying by c rounds nothing: ±2ⁿ."""
    return math.isfinite(c) and abs(math.frexp(c)[0]) == 0.5


def _is_pythagoras(a: Node, b: Node) -> bool:
    """Whether a + b is sin²x + cos²x."""
    if a.op != "mul" or b.op != "mul" or a.args[0] is not a.args[1] or b.args[0] is not b.args[1]:
        return False
    u, v = a.args[0], b.args[0]
    return {u.op, v.op} == {"sin", "cos"} and u.args[0] is v.args[0]


def _sub(k: Algebra, a: Node, b: Node) -> Node:
    if _is(b, 0):
        return a
    if _is(a, 0):
        return k("neg", b)
    if a is b:
        return k.constant(0, a.dtype)
    if b.op == "neg":
        return k("add", a, b.args[0])
    if a.op == "neg":
        return k("neg", k("add", a.args[0], b))
    merged = _collect(k, a, b, -1)
    if merged is not None:
        return merged
    if b.op == "const" and a.dtype[0] == "f":
        return k("add", k("neg", b), a)
    # One orientation for each difference, the sign outside: a - b and b - a then share one node.
    if a.dtype[0] == "f" and a.op != "const" and a.index > b.index:
        return k("neg", k.raw("sub", b, a))
    return k.raw("sub", a, b)


def _mul(k: Algebra, a: Node, b: Node) -> Node:
    if b.op == "const":
        a, b = b, a
    if a.op == "const":
        return _mul_constant(k, a, b)
    left, right = _coefficient(a), _coefficient(b)
    if left is not None or right is not None:
        ca, xa = left or (1, a)
        cb, xb = right or (1, b)
        return _scaled(k, ca * cb, k("mul", xa, xb))
    return k.raw("mul", a, b)


def _mul_constant(k: Algebra, a: Node, b: Node) -> Node:
    c = a.data
    if c == 0:
        return k.constant(0, b.dtype)
    if c == 1:
        return b
    if c == -1 and b.dtype[0] != "u":
        return k("neg", b)
    inner = _coefficient(b)
    if inner is not None:
        return k("mul", k("mul", a, k.constant(inner[0], b.dtype)), inner[1])
    if b.op == "div" and b.args[0].op == "const" and (_exact(c) or _exact(b.args[0].data)):
        return k("div", k("mul", a, b.args[0]), b.args[1])
    return k.raw("mul", a, b)


def _div(k: Algebra, a: Node, b: Node) -> Node:
    if a.dtype[0] != "f":
        return a if _is(b, 1) else k.raw("div", a, b)
    if b.op == "const" and _exact(b.data) and abs(b.data) >= _SMALLEST_DIVISOR:
        return k("mul", k("div", k.constant(1, b.dtype), b), a)
    if _is(a, 0):
        return a
    if a.op == "neg":
        return k("neg", k("div", a.args[0], b))
    if b.op == "neg":
        return k("neg", k("div", a, b.args[0]))
    inner = _coefficient(a)
    if inner is not None and _exact(inner[0]):
        return _scaled(k, inner[0], k("div", inner[1], b))
    return k.raw("div", a, b)


def _neg(k: Algebra, a: Node) -> Node:
    if a.op == "neg":
        return a.args[0]
    if a.op == "mul":
        inner = _coefficient(a)
        if inner is not None:
            return _scaled(k, -inner[0], inner[1])
    return k.raw("neg", a)


def _pow(k: Algebra, a: Node, b: Node) -> Node:
    if b.op == "const" and b.dtype[0] == "f" and abs(b.data) <= _LARGEST_POWER and (2 * b.data).is_integer():
        if b.data < 0:
            return k("div", k.constant(1, a.dtype), k("pow", a, k.constant(-b.data, b.dtype)))
        n = int(b.data // 1)
        whole = k.power(a, n)
        return whole if n == b.data else k("mul", whole, k("sqrt", a))
    return k.raw("pow", a, b)


_LARGEST_POWER: Final = 16  # largest exponent written as products: at most 8 multiplications
_SMALLEST_DIVISOR: Final = 1e-30  # its reciprocal is a number in single precision too


def _parity(op: str) -> Callable[[Algebra, Node], Node]:
    def rule(k: Algebra, a: Node) -> Node:
        sign, x = _signed(k, a)
        value = k.raw(op, x)
        return k("neg", value) if sign and op in ODD else value

    return rule


def _signed(k: Algebra, a: Node) -> tuple[bool, Node]:
    """(True, -a) where -a is the form to prefer, so that f(x) and f(-x) share one node."""
    if a.op == "neg":
        return True, a.args[0]
    inner = _coefficient(a)
    if inner is not None and inner[0] < 0:
        return True, k("neg", a)
    return False, a


def _sqrt(k: Algebra, a: Node) -> Node:
    if a.op == "mul" and a.args[0] is a.args[1]:
        return k("abs", a.args[0])
    return k.raw("sqrt", a)


def _select(k: Algebra, c: Node, a: Node, b: Node) -> Node:
    if a is b:
        return a
    if c.op == "const":
        return a if c.data else b
    if c.op == "not":
        return k("select", c.args[0], b, a)
    if a.dtype == "b1" and a.op == "const" and b.op == "const":
        return c if a.data else k("not", c)
    return k.graph.node("select", (c, a, b), a.dtype)


def _idempotent(op: str) -> Callable[[Algebra, Node, Node], Node]:
    return lambda k, a, b: a if a is b else k.raw(op, a, b)


def _logic(op: str) -> Callable[[Algebra, Node, Node], Node]:
    absorbing = op == "or"

    def rule(k: Algebra, a: Node, b: Node) -> Node:
        if a is b:
            return a
        for x, y in ((a, b), (b, a)):
            if x.op == "const" and x.dtype == "b1":
                return x if x.data == absorbing else y
        return k.raw(op, a, b)

    return rule


def _not(k: Algebra, a: Node) -> Node:
    return a.args[0] if a.op == "not" else k.raw("not", a)


def _compare(op: str) -> Callable[[Algebra, Node, Node], Node]:
    def rule(k: Algebra, a: Node, b: Node) -> Node:
        if a is b and a.dtype[0] != "f":
            return k.constant(op in ("le", "eq"), "b1")
        return k.raw(op, a, b)

    return rule


_RULES: Final[dict[str, Callable[..., Node]]] = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "neg": _neg, "pow": _pow, "sqrt": _sqrt, "select": _select,
    "max": _idempotent("max"), "min": _idempotent("min"), "and": _logic("and"), "or": _logic("or"), "not": _not,
    **{op: _parity(op) for op in sorted(ODD | EVEN)},
    **{op: _compare(op) for op in ("lt", "le", "eq", "ne")},
}  # fmt: skip

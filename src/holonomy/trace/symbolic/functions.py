"""What polynomials do with each operation of a graph: how it is built from polynomials, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from holonomy.trace.graph.operations import EVEN, ODD

if TYPE_CHECKING:
    from holonomy.trace.symbolic.polynomial import Exponent, Poly, Ring

Rule = Callable[..., Any]


def _signed(p: Poly) -> tuple[int, Poly]:
    """p = sign·q with one choice of q for each pair ±p."""
    if p and p.terms[min(p.terms)] < 0:
        return -1, -p
    return 1, p


def _odd(op: str) -> Rule:
    def rule(ring: Ring, p: Poly) -> Poly:
        if not p:
            return ring.zero
        sign, q = _signed(p)
        return ring.atom(op, (q,)).scaled(sign)

    return rule


def _even(op: str) -> Rule:
    def rule(ring: Ring, p: Poly) -> Poly:
        return ring.one if not p else ring.atom(op, (_signed(p)[1],))

    return rule


def _abs(ring: Ring, p: Poly) -> Poly:
    value = p.constant
    return ring.number(abs(value)) if value is not None else ring.atom("abs", (_signed(p)[1],))


def _pow(ring: Ring, a: Poly, b: Poly) -> Poly:
    value = b.constant
    return ring.power(a, value) if value is not None else ring.atom("pow", (a, b))


def _sqrt(ring: Ring, p: Poly) -> Poly:
    return ring.power(p, Fraction(1, 2))


def _select(ring: Ring, c: Poly, a: Poly, b: Poly) -> Poly:
    return a if a.key == b.key else ring.atom("select", (c, a, b))


BUILD: Final[dict[str, Callable[..., Poly]]] = {
    "add": lambda ring, a, b: a + b,
    "sub": lambda ring, a, b: a - b,
    "mul": lambda ring, a, b: a * b,
    "div": lambda ring, a, b: a * ring.power(b, -1),
    "neg": lambda ring, a: -a,
    "pow": _pow,
    "sqrt": _sqrt,
    "abs": _abs,
    "select": _select,
    "convert": lambda ring, a: a,
    "expm1": lambda ring, a: ring.apply("exp", a) - ring.one,
    "log1p": lambda ring, a: ring.apply("log", a + ring.one),
    "exp2": lambda ring, a: ring.atom("pow", (ring.number(2), a)),
    "erfc": lambda ring, a: ring.one - ring.apply("erf", a),
    "exp": lambda ring, a: ring.atom("exp", (a,)) if a else ring.one,
    "log": lambda ring, a: ring.zero if a.constant == 1 else ring.atom("log", (a,)),
    **{op: _odd(op) for op in (*ODD, "sign")},
    **{op: _even(op) for op in EVEN - {"abs"}},
}
FUNCTIONS: Final = frozenset({"acos", "atan2", "acosh", "max", "min", "lt", "le", "eq", "ne", "and", "or", "not"})


def _cases(ring: Ring, a: Poly, b: Poly, one: Poly, other: Poly) -> tuple[Poly, Poly]:
    """(one, other) where a < b, (other, one) elsewhere."""
    less = ring.atom("lt", (a, b))
    return ring.apply("select", less, one, other), ring.apply("select", less, other, one)


def _root(ring: Ring, p: Poly, e: Exponent) -> tuple[Poly]:
    return (ring.power(p, e),)


_HALF: Final = Fraction(-1, 2)
SLOPES: Final[dict[str, Callable[..., tuple[Poly, ...]]]] = {
    "sin": lambda r, a: (r.apply("cos", a),),
    "cos": lambda r, a: (-r.apply("sin", a),),
    "tan": lambda r, a: (r.one + r.power(r.apply("tan", a), 2),),
    "asin": lambda r, a: _root(r, r.one - a * a, _HALF),
    "acos": lambda r, a: (-_root(r, r.one - a * a, _HALF)[0],),
    "atan": lambda r, a: _root(r, r.one + a * a, -1),
    "atan2": lambda r, a, b: (b * r.power(a * a + b * b, -1), -(a * r.power(a * a + b * b, -1))),
    "sinh": lambda r, a: (r.apply("cosh", a),),
    "cosh": lambda r, a: (r.apply("sinh", a),),
    "tanh": lambda r, a: (r.one - r.power(r.apply("tanh", a), 2),),
    "asinh": lambda r, a: _root(r, r.one + a * a, _HALF),
    "acosh": lambda r, a: _root(r, a * a - r.one, _HALF),
    "atanh": lambda r, a: _root(r, r.one - a * a, -1),
    "exp": lambda r, a: (r.apply("exp", a),),
    "log": lambda r, a: _root(r, a, -1),
    "erf": lambda r, a: (r.number(1.1283791670955126) * r.apply("exp", -(a * a)),),
    "cbrt": lambda r, a: (r.power(r.apply("cbrt", a), -2).scaled(Fraction(1, 3)),),
    "abs": lambda r, a: (r.apply("sign", a),),
    "sign": lambda r, a: (r.zero,),
    "pow": lambda r, a, b: (b * r.atom("pow", (a, b)) * r.power(a, -1), r.apply("log", a) * r.atom("pow", (a, b))),
    "max": lambda r, a, b: _cases(r, a, b, r.zero, r.one),
    "min": lambda r, a, b: _cases(r, a, b, r.one, r.zero),
}  # fmt: skip

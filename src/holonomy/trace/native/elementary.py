r"""Exponential functions and logarithms without branches, as LLVM IR that is inlined into loops and vectorised there.

\(e^x = 2^n e^r\) with \(n = \operatorname{round}(x / \ln 2)\) and \(\ln 2\) in two parts (32 + 53 bits), so that r is
known to about 70 bits; \(e^r = 1 + r + r^2 Q(r)\) on \(|r| \le \tfrac12\ln 2\) with a minimax polynomial Q of degree 10
(error below \(2^{-63}\)), added up with what rounding takes from 1 + r.

\(\ln x = n\ln 2 + \ln(1 + f)\) with 1 + f between \(\sqrt{1/2}\) and \(\sqrt 2\), and
\(\ln(1 + f) = f - \tfrac12 f^2 + s\,(\tfrac12 f^2 + s^2 P(s^2))\), where s = f / (2 + f), with a minimax polynomial P
of degree 6 (error below \(2^{-58}\)).  The logarithm and `log1p` have the form of Sun's fdlibm; the
polynomials were fitted for this purpose.

`exp`, `expm1`, `log` and `log1p` are within one unit in the last place, `sinh`, `cosh` and `tanh` within three.
Zeros, infinities, NaN and subnormal numbers are as in the C library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from holonomy.trace.native.vector_math import hexadecimal

_Q: Final = (
    0.5, 0.16666666666666685, 0.04166666666666673, 0.008333333333316739, 0.0013888888888858536,
    0.00019841269897060093, 2.480158737357557e-05, 2.755723423560121e-06, 2.7557233488676114e-07,
    2.511224026180422e-08, 2.0926906181534723e-09,
)  # fmt: skip
_P: Final = (
    0.6666666666666734, 0.39999999999413977, 0.28571428742559846, 0.22222198553935213, 0.18183565402692128,
    0.15314021174475337, 0.1479626107405745,
)  # fmt: skip
_LOG2_E: Final = float.fromhex("0x1.71547652b82fep+0")
_LN2: Final = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
_ROUNDER: Final = 1.5 * 2.0**52  # adding and subtracting it rounds to a whole number
_ROUNDER_BITS: Final = 0x4338000000000000
_ROOT_HALF: Final = 0.7071067811865476
_ROOT_HALF_BITS: Final = 0x3FE6A09E667F3BCD
_EXPONENT: Final = -(1 << 52)  # the sign and the exponent of a double
_LEAST_NORMAL: Final = 2.0**-1022
_TINY: Final = 2.0**-54  # numbers below are what exp(x) - 1 and ln(1 + x) round to
_ONE_SIDED: Final = 40.0  # beyond, exp(-x) is nothing beside exp(x)


class _Text:
    """Lines of IR on doubles; operands are names or numbers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def put(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def op(self, name: str, a: str | float, b: str | float) -> str:
        """A sum, difference, product or quotient."""
        return self.put(f"f{name} double {_text(a)}, {_text(b)}")

    def whole(self, name: str, a: str, b: str | int) -> str:
        return self.put(f"{name} i64 {a}, {b}")

    def fused(self, a: str | float, b: str | float, c: str | float) -> str:
        """a b + c, rounded once where the processor can."""
        return self.put(f"call double @llvm.fmuladd.f64(double {_text(a)}, double {_text(b)}, double {_text(c)})")

    def size(self, x: str) -> str:
        return self.put(f"call double @llvm.fabs.f64(double {x})")

    def signed(self, x: str, sign: str) -> str:
        """The size of x with the sign of another number."""
        return self.put(f"call double @llvm.copysign.f64(double {x}, double {sign})")

    def polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        total: str | float = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            total = self.fused(total, z, c)
        return _text(total)

    def test(self, how: str, a: str, b: str | float) -> str:
        return self.put(f"fcmp {how} double {a}, {_text(b)}")

    def choose(self, test: str, a: str | float, b: str | float) -> str:
        return self.put(f"select i1 {test}, double {_text(a)}, double {_text(b)}")

    def bits(self, x: str) -> str:
        return self.put(f"bitcast double {x} to i64")

    def number(self, bits: str) -> str:
        return self.put(f"bitcast i64 {bits} to double")

    def power_of_two(self, n: str, more: int = 0) -> str:
        """2^(n + more), as long as that is a normal number."""
        return self.number(self.whole("shl", self.whole("add", n, 1023 + more), 52))

    def within(self, x: str, low: float, high: float) -> str:
        """x in these bounds; NaN stays."""
        x = self.choose(self.test("ogt", x, high), high, x)
        return self.choose(self.test("olt", x, low), low, x)


def _text(x: str | float) -> str:
    return x if isinstance(x, str) else hexadecimal(x)


def _reduced(t: _Text, x: str) -> tuple[str, str, str]:
    """n, r and e^r - 1 - r, where x = n ln 2 + r."""
    shifted = t.fused(x, _LOG2_E, _ROUNDER)
    n = t.op("sub", shifted, _ROUNDER)
    first = t.op("sub", x, t.op("mul", n, _LN2[0]))  # exact
    step = t.op("mul", n, _LN2[1])
    r = t.op("sub", first, step)
    lost = t.op("sub", t.op("sub", first, r), step)
    rest = t.fused(t.op("mul", r, r), t.polynomial(r, _Q), lost)
    return t.whole("sub", t.bits(shifted), _ROUNDER_BITS), r, rest


def _exp(t: _Text, x: str, halvings: int = 0) -> str:
    n, r, rest = _reduced(t, t.within(x, -746.0, 711.0))
    main = t.op("add", 1.0, r)
    lost = t.op("add", t.op("sub", 1.0, main), r)
    value = t.op("add", main, t.op("add", lost, rest))
    # In two steps, of which the first is exact, since 2^n may be subnormal or too large.
    half = t.whole("ashr", n, 1)
    value = t.op("mul", value, t.power_of_two(half))
    return t.op("mul", value, t.power_of_two(t.whole("sub", n, half), -halvings))


def _expm1(t: _Text, x: str) -> str:
    half = _half_expm1(t, x)
    return t.choose(t.test("olt", t.size(x), _TINY), x, t.op("add", half, half))


def _half_expm1(t: _Text, x: str) -> str:
    # Half of the value, since 2^n may be too large: 2^(n - 1) (1 + r + rest) - 1/2
    n, r, rest = _reduced(t, t.within(x, -40.0, 710.0))
    scale = t.power_of_two(n, -1)
    whole, part = t.op("sub", scale, 0.5), t.op("mul", scale, r)
    main = t.op("add", whole, part)
    lost = t.op("add", t.op("sub", whole, main), part)
    return t.op("add", main, t.fused(scale, rest, lost))


def _tanh(t: _Text, x: str) -> str:
    e = _expm1(t, t.op("mul", t.size(x), -2.0))
    ratio = t.op("div", e, t.op("add", e, 2.0))
    return t.signed(ratio, x)


def _sinh(t: _Text, x: str) -> str:
    size = t.size(x)
    half = _half_expm1(t, size)  # the value is half of e - 1 + (e - 1) / e, where e = exp(|x|)
    value = t.op("add", half, t.op("div", half, t.fused(half, 2.0, 1.0)))
    value = t.choose(t.test("ogt", size, _ONE_SIDED), _exp(t, size, 1), value)
    return t.signed(t.choose(t.test("olt", size, _TINY), size, value), x)


def _cosh(t: _Text, x: str) -> str:
    half = _exp(t, t.size(x), 1)
    return t.op("add", half, t.op("div", 0.25, half))


def _divided(t: _Text, x: str) -> tuple[str, str]:
    """n as a double and f, where x = 2^n (1 + f), of a positive normal number."""
    bits = t.bits(x)
    above = t.whole("sub", bits, _ROOT_HALF_BITS)
    n = t.whole("ashr", above, 52)
    count = t.op("sub", t.number(t.whole("add", n, _ROUNDER_BITS)), _ROUNDER)
    f = t.op("sub", t.number(t.whole("sub", bits, t.whole("and", above, _EXPONENT))), 1.0)
    return count, f


def _logarithm(t: _Text, n: str, f: str, more: str | float) -> str:
    """n ln 2 + ln(1 + f) + more"""
    s = t.op("div", f, t.op("add", f, 2.0))
    z = t.op("mul", s, s)
    half = t.op("mul", t.op("mul", f, 0.5), f)
    series = t.fused(z, t.polynomial(z, _P), half)
    low = t.fused(s, series, t.fused(n, _LN2[1], more))
    rest = t.op("sub", t.op("sub", half, low), f)
    return t.op("sub", t.op("mul", n, _LN2[0]), rest)


def _with_ends(t: _Text, value: str, x: str, zero: float) -> str:
    """The value with those where the logarithm has none: `zero` is where it is -∞."""
    value = t.choose(t.test("olt", x, float("inf")), value, x)
    value = t.choose(t.test("oeq", x, zero), float("-inf"), value)
    return t.choose(t.test("olt", x, zero), float("nan"), value)


def _log(t: _Text, x: str) -> str:
    small = t.test("olt", x, _LEAST_NORMAL)
    n, f = _divided(t, t.choose(small, t.op("mul", x, 2.0**54), x))
    n = t.op("sub", n, t.choose(small, 54.0, 0.0))
    return _with_ends(t, _logarithm(t, n, f, 0.0), x, 0.0)


def _log1p(t: _Text, x: str) -> str:
    u = t.op("add", x, 1.0)
    n, f = _divided(t, u)
    # What u has lost, relative to it; where n = 0, f is x itself.
    lost = t.choose(t.test("olt", x, 1.0), t.op("sub", x, t.op("sub", u, 1.0)), t.op("sub", 1.0, t.op("sub", u, x)))
    whole = t.test("oeq", n, 0.0)
    more = t.choose(whole, 0.0, t.op("div", lost, u))
    value = _logarithm(t, n, t.choose(whole, x, f), more)
    value = t.choose(t.test("olt", t.size(x), _TINY), x, value)
    return _with_ends(t, value, x, -1.0)


_FUNCTIONS: Final[dict[str, Callable[[_Text, str], str]]] = {
    "exp": _exp,
    "expm1": _expm1,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "log": _log,
    "log1p": _log1p,
}

VECTORISED: Final = {name: f"elementary.{name}" for name in _FUNCTIONS}
"""The functions that vectorise in loops over arrays, and what they are called in IR."""

DECLARED: Final = (
    "declare double @llvm.fmuladd.f64(double, double, double)",
    "declare double @llvm.fabs.f64(double)",
    "declare double @llvm.copysign.f64(double, double)",
)
"""What these functions call."""


def definition(name: str) -> str:
    """The IR of one function of a double."""
    t = _Text()
    result = _FUNCTIONS[name](t, "%x")
    head = f"define internal double @{VECTORISED[name]}(double %x) #1 {{"
    return "\n".join([head, "entry:", *t.lines, f"  ret double {result}", "}", ""])

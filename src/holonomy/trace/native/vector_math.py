"""Sine and cosine together, several at a time, as LLVM IR.

Reduction by multiples of π/2 with π/2 in three parts (33 + 33 + 53 bits), then two minimax polynomials on [-π/4, π/4]
of degree 13 and 14, fitted for this purpose (relative error below 2⁻⁵⁸).  Both functions are within one unit in the
last place for |x| < 2²⁰; beyond that, and for what is not finite, the C library is called.
"""

from __future__ import annotations

import struct
from typing import Final

_SIN: Final = (
    -0.16666666666666632, 0.00833333333332237, -0.00019841269829771124,
    2.7557313678659287e-06, -2.5050755961220713e-08, 1.5896666531664006e-10,
)  # fmt: skip
_COS: Final = (
    0.0416666666666666, -0.0013888888888874066, 2.4801587289443627e-05,
    -2.7557314340697227e-07, 2.087572162851806e-09, -1.1359559568065913e-11,
)  # fmt: skip
_TWO_OVER_PI: Final = float.fromhex("0x1.45f306dc9c883p-1")
_HALF_PI: Final = tuple(map(float.fromhex, ("0x1.921fb54400000p+0", "0x1.0b4611a600000p-34", "0x1.3198a2e037073p-69")))
_ROUNDER: Final = 1.5 * 2.0**52  # adding and subtracting it rounds to a whole number
_LARGE: Final = 2.0**20  # beyond, the reduction would lose digits, and the C library is called


def hexadecimal(x: float) -> str:
    """A double as LLVM writes it exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class _Text:
    """Lines of IR on vectors of doubles, with fresh names."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []
        self.type = f"<{width} x double>"
        self.integers = f"<{width} x i64>"

    def put(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def splat(self, x: float) -> str:
        return f"<{', '.join([f'double {hexadecimal(x)}'] * self.width)}>"

    def whole(self, n: int) -> str:
        return f"<{', '.join([f'i64 {n}'] * self.width)}>"

    def op(self, name: str, a: str, b: str) -> str:
        return self.put(f"{name} {self.type} {a}, {b}")

    def fused(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once where the processor can."""
        kind = self.type
        return self.put(f"call {kind} @llvm.fmuladd.v{self.width}f64({kind} {a}, {kind} {b}, {kind} {c})")

    def polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        total = self.splat(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = self.fused(total, z, self.splat(c))
        return total


def sincos(width: int) -> str:
    """The function `@sincos{width}`: a vector of angles to the pair of vectors (sines, cosines)."""
    t = _Text(width)
    vec, ints = t.type, t.integers
    shifted = t.fused("%x", t.splat(_TWO_OVER_PI), t.splat(_ROUNDER))
    n = t.op("fsub", shifted, t.splat(_ROUNDER))
    quadrant = t.put(f"bitcast {vec} {shifted} to {ints}")
    # n times the first two parts is exact.
    first = t.op("fsub", "%x", t.op("fmul", n, t.splat(_HALF_PI[0])))
    step = t.op("fmul", n, t.splat(_HALF_PI[1]))
    r = t.op("fsub", first, step)
    lost = t.op("fsub", t.op("fsub", first, r), step)
    tail = t.op("fsub", lost, t.op("fmul", n, t.splat(_HALF_PI[2])))
    z = t.op("fmul", r, r)
    # sin(r + tail) ≈ r + (tail (1 - z/2) + r z P(z)),  cos(r + tail) ≈ 1 - z/2 + (z² Q(z) - r tail)
    half = t.op("fmul", z, t.splat(0.5))
    rest = t.op("fsub", t.splat(1.0), half)
    sine = t.op("fadd", r, t.fused(t.op("fmul", z, r), t.polynomial(z, _SIN), t.op("fmul", tail, rest)))
    main = t.op("fsub", t.splat(1.0), half)
    low = t.op("fsub", t.op("fsub", t.splat(1.0), main), half)
    back = t.put(f"fneg {vec} {t.op('fmul', r, tail)}")
    quartic = t.fused(t.op("fmul", z, z), t.polynomial(z, _COS), back)
    cosine = t.op("fadd", main, t.op("fadd", low, quartic))
    odd = t.put(f"trunc {ints} {quadrant} to <{width} x i1>")
    s = t.put(f"select <{width} x i1> {odd}, {vec} {cosine}, {vec} {sine}")
    c = t.put(f"select <{width} x i1> {odd}, {vec} {sine}, {vec} {cosine}")
    s = _with_sign(t, s, quadrant)
    c = _with_sign(t, c, t.put(f"add {ints} {quadrant}, {t.whole(1)}"))
    return _function(t, s, c)


def _with_sign(t: _Text, x: str, quadrant: str) -> str:
    """x with its sign changed where bit 1 of `quadrant` is set."""
    bit = t.put(f"and {t.integers} {quadrant}, {t.whole(2)}")
    sign = t.put(f"shl {t.integers} {bit}, {t.whole(62)}")
    flipped = t.put(f"xor {t.integers} {t.put(f'bitcast {t.type} {x} to {t.integers}')}, {sign}")
    return t.put(f"bitcast {t.integers} {flipped} to {t.type}")


def _function(t: _Text, s: str, c: str) -> str:
    w, vec = t.width, t.type
    pair = f"{{{vec}, {vec}}}"
    fine = [
        f"  %size = call {vec} @llvm.fabs.v{w}f64({vec} %x)",
        f"  %fits = fcmp olt {vec} %size, {t.splat(_LARGE)}",
        f"  %all = call i1 @llvm.vector.reduce.and.v{w}i1(<{w} x i1> %fits)",
        "  br i1 %all, label %fast, label %slow",
    ]
    slow, ss, cc = [], "poison", "poison"
    for i in range(w):
        slow += [
            f"  %x{i} = extractelement {vec} %x, i32 {i}",
            f"  %si{i} = call double @sin(double %x{i})",
            f"  %co{i} = call double @cos(double %x{i})",
            f"  %sv{i} = insertelement {vec} {ss}, double %si{i}, i32 {i}",
            f"  %cv{i} = insertelement {vec} {cc}, double %co{i}, i32 {i}",
        ]
        ss, cc = f"%sv{i}", f"%cv{i}"
    pack = [
        f"  %out0 = insertvalue {pair} poison, {vec} {s}, 0",
        f"  %out1 = insertvalue {pair} %out0, {vec} {c}, 1",
        f"  ret {pair} %out1",
    ]
    pack_slow = [
        f"  %slow0 = insertvalue {pair} poison, {vec} {ss}, 0",
        f"  %slow1 = insertvalue {pair} %slow0, {vec} {cc}, 1",
        f"  ret {pair} %slow1",
    ]
    return "\n".join([
        f"declare {vec} @llvm.fabs.v{w}f64({vec})",
        f"declare {vec} @llvm.fmuladd.v{w}f64({vec}, {vec}, {vec})",
        f"declare i1 @llvm.vector.reduce.and.v{w}i1(<{w} x i1>)",
        f"define internal fastcc {pair} @sincos{w}({vec} %x) #1 {{",
        "entry:", *fine, "fast:", *t.lines, *pack, "slow:", *slow, *pack_slow, "}", "",
    ])  # fmt: skip


def sincos_many(width: int) -> str:
    """The procedure `@sincos_many(angles, sines, cosines, count)`, `width` angles at a time."""

    def loop(w: int, name: str, first: str, start: str, more: str, following: str) -> list[str]:
        vec = f"<{w} x double>"
        lines = [
            f"{name}:",
            f"  %{name}i = phi i64 [{first}, %{start}], [%{name}n, %{name}body]",
            f"  %{name}n = add i64 %{name}i, {w}",
            f"  %{name}m = icmp sle i64 %{name}n, {more}",
            f"  br i1 %{name}m, label %{name}body, label %{following}",
            f"{name}body:",
        ]
        lines += [f"  %{name}{what} = getelementptr inbounds double, ptr %{what}, i64 %{name}i" for what in "xsc"]
        lines += [
            f"  %{name}v = load {vec}, ptr %{name}x, align 8",
            f"  %{name}p = call fastcc {{{vec}, {vec}}} @sincos{w}({vec} %{name}v)",
            f"  %{name}ps = extractvalue {{{vec}, {vec}}} %{name}p, 0",
            f"  %{name}pc = extractvalue {{{vec}, {vec}}} %{name}p, 1",
            f"  store {vec} %{name}ps, ptr %{name}s, align 8",
            f"  store {vec} %{name}pc, ptr %{name}c, align 8",
            f"  br label %{name}",
        ]
        return lines

    return "\n".join([
        "define internal void @sincos_many(ptr %x, ptr %s, ptr %c, i64 %count) nounwind noinline {",
        "entry:",
        "  br label %wide",
        *loop(width, "wide", "0", "entry", "%count", "rest"),
        *loop(1, "rest", "%widei", "wide", "%count", "end"),
        "end:",
        "  ret void",
        "}",
        "",
    ])  # fmt: skip

"""The LLVM instructions of each scalar operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from holonomy.trace.graph.dag import Node
from holonomy.trace.graph.operations import named
from holonomy.trace.native.elementary import VECTORISED

if TYPE_CHECKING:
    from holonomy.trace.native.llvm import Emitter

FUNCTIONS: Final = named("libm")
_INTRINSICS: Final = {
    "sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil", "round": "round", "roundeven": "roundeven",
    "max": "maximum", "min": "minimum",
}  # fmt: skip
_INTEGER: Final = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
_COMPARE: Final = {
    "lt": ("olt", "slt", "ult"),
    "le": ("ole", "sle", "ule"),
    "eq": ("oeq", "eq", "eq"),
    "ne": ("une", "ne", "ne"),
}


def type_of(dtype: str) -> str:
    """The LLVM type of a scalar."""
    if dtype == "f8":
        return "double"
    if dtype == "f4":
        return "float"
    return "i1" if dtype == "b1" else f"i{8 * int(dtype[1:])}"


def scalar(e: Emitter, node: Node) -> str:
    """Write `node`, whose arguments are written; give its name."""
    args = [e.value(a) for a in node.args]
    kind = node.args[-1].dtype[0]
    if node.op == "select":
        t = type_of(node.dtype)
        return e.put(f"select i1 {args[0]}, {t} {args[1]}, {t} {args[2]}")
    if node.op in _COMPARE:
        real, signed, unsigned = _COMPARE[node.op]
        t = type_of(node.args[0].dtype)
        if kind == "f":
            return e.put(f"fcmp {real} {t} {args[0]}, {args[1]}")
        return e.put(f"icmp {signed if kind == 'i' else unsigned} {t} {args[0]}, {args[1]}")
    if node.op == "convert":
        return _convert(e, args[0], node.args[0].dtype, node.dtype)
    if node.op == "bitcast":
        return e.put(f"bitcast {type_of(node.args[0].dtype)} {args[0]} to {type_of(node.dtype)}")
    return _real(e, node, args) if kind == "f" else _whole(e, node, args)


def fused(e: Emitter, node: Node, product: Node) -> str:
    """Write a sum or difference of which `product` is one side, whose factors are written; give its name.

    It is rounded once where the processor can. Written so, and not left to LLVM, code that is not optimised gives the
    same bits.
    """
    t = type_of(node.dtype)
    first = product is node.args[0]
    factor, other = e.value(product.args[0]), e.value(node.args[1 if first else 0])
    if node.op == "sub" and first:
        other = e.put(f"fneg {t} {other}")
    elif node.op == "sub":
        factor = e.put(f"fneg {t} {factor}")
    bits = 8 * int(node.dtype[1])
    return e.call(f"llvm.fmuladd.f{bits}", t, [(t, factor), (t, e.value(product.args[1])), (t, other)])


def _real(e: Emitter, node: Node, args: list[str]) -> str:
    dtype = node.args[0].dtype
    t = type_of(dtype)
    if node.op in ("add", "sub", "mul"):
        flags = "reassoc contract " if node.index in e.reordered else "contract " if node.index in e.summed else ""
        return e.put(f"f{node.op} {flags}{t} {args[0]}, {args[1]}")
    if node.op == "div":
        return e.put(f"fdiv {t} {args[0]}, {args[1]}")
    if node.op == "neg":
        return e.put(f"fneg {t} {args[0]}")
    if node.op in _INTRINSICS:
        return e.call(f"llvm.{_INTRINSICS[node.op]}.f{8 * int(dtype[1])}", t, [(t, a) for a in args])
    if node.op == "isfinite":
        size = e.call(f"llvm.fabs.f{8 * int(dtype[1])}", t, [(t, args[0])])
        return e.put(f"fcmp olt {t} {size}, 0x7FF0000000000000")
    if node.op == "sign":
        zero = "0x0000000000000000"
        up = e.put(f"fcmp ogt {t} {args[0]}, {zero}")
        down = e.put(f"fcmp olt {t} {args[0]}, {zero}")
        below = e.put(f"select i1 {down}, {t} 0xBFF0000000000000, {t} {args[0]}")
        return e.put(f"select i1 {up}, {t} 0x3FF0000000000000, {t} {below}")
    if dtype == "f8" and e.in_vector_loop and node.op in VECTORISED:
        e.elementary.add(node.op)
        return e.put(f"call double @{VECTORISED[node.op]}(double {args[0]})")
    if node.op in FUNCTIONS:
        return e.call(FUNCTIONS[node.op] + ("f" if dtype == "f4" else ""), t, [(t, a) for a in args])
    raise NotImplementedError(f"operation {node.op!r} on real numbers")


def _whole(e: Emitter, node: Node, args: list[str]) -> str:
    dtype = node.dtype
    t = type_of(dtype)
    if node.op in _INTEGER:
        return e.put(f"{_INTEGER[node.op]} {t} {args[0]}, {args[1]}")
    if node.op == "neg":
        return e.put(f"sub {t} 0, {args[0]}")
    if node.op == "not":
        return e.put(f"xor {t} {args[0]}, {'true' if dtype == 'b1' else -1}")
    if node.op in ("max", "min"):
        return _extreme(e, node.op, dtype, t, args)
    if node.op in ("div", "rem"):
        return _quotient(e, node.op, dtype, t, args)
    if node.op in ("abs", "sign"):
        return _magnitude(e, node.op, dtype, t, args[0])
    if node.op in ("shl", "lshr", "ashr"):
        return _shift(e, node.op, dtype, t, args)
    raise NotImplementedError(f"operation {node.op!r} on integers")


def _extreme(e: Emitter, op: str, dtype: str, t: str, args: list[str]) -> str:
    if dtype == "b1":
        return e.put(f"{'or' if op == 'max' else 'and'} i1 {args[0]}, {args[1]}")
    sign = "s" if dtype[0] == "i" else "u"
    return e.call(f"llvm.{sign}{op}.{t}", t, [(t, a) for a in args])


def _quotient(e: Emitter, op: str, dtype: str, t: str, args: list[str]) -> str:
    """Division as XLA defines it: -1 and the dividend for a zero divisor, wrapping for the one overflow."""
    sign = "s" if dtype[0] == "i" else "u"
    zero = e.put(f"icmp eq {t} {args[1]}, 0")
    if sign == "u":
        safe = e.put(f"select i1 {zero}, {t} 1, {t} {args[1]}")
        raw = e.put(f"u{op} {t} {args[0]}, {safe}")
        return e.put(f"select i1 {zero}, {t} {'-1' if op == 'div' else args[0]}, {t} {raw}")
    # A divisor of -1 would trap on the most negative number; negate instead.
    minus = e.put(f"icmp eq {t} {args[1]}, -1")
    special = e.put(f"or i1 {zero}, {minus}")
    safe = e.put(f"select i1 {special}, {t} 1, {t} {args[1]}")
    raw = e.put(f"s{op} {t} {args[0]}, {safe}")
    opposite = e.put(f"sub {t} 0, {args[0]}") if op == "div" else "0"
    raw = e.put(f"select i1 {minus}, {t} {opposite}, {t} {raw}")
    return e.put(f"select i1 {zero}, {t} {'-1' if op == 'div' else args[0]}, {t} {raw}")


def _magnitude(e: Emitter, op: str, dtype: str, t: str, x: str) -> str:
    positive = e.put(f"icmp {'sgt' if dtype[0] == 'i' else 'ugt'} {t} {x}, 0")
    if dtype[0] != "i":
        return x if op == "abs" else e.put(f"zext i1 {positive} to {t}")
    negative = e.put(f"icmp slt {t} {x}, 0")
    if op == "abs":
        return e.put(f"select i1 {negative}, {t} {e.put(f'sub {t} 0, {x}')}, {t} {x}")
    below = e.put(f"select i1 {negative}, {t} -1, {t} 0")
    return e.put(f"select i1 {positive}, {t} 1, {t} {below}")


def _shift(e: Emitter, op: str, dtype: str, t: str, args: list[str]) -> str:
    """A shift by the width or more gives 0 (the sign, for the arithmetic one), as in XLA."""
    bits = 8 * int(dtype[1:])
    fits = e.put(f"icmp ult {t} {args[1]}, {bits}")
    amount = e.put(f"select i1 {fits}, {t} {args[1]}, {t} {bits - 1}")
    raw = e.put(f"{op} {t} {args[0]}, {amount}")
    return raw if op == "ashr" else e.put(f"select i1 {fits}, {t} {raw}, {t} 0")


def _convert(e: Emitter, x: str, old: str, new: str) -> str:
    source, target = type_of(old), type_of(new)
    if old[0] == "f" and new[0] == "f":
        return e.put(f"{'fpext' if new == 'f8' else 'fptrunc'} {source} {x} to {target}")
    if old[0] == "f":
        # Out of range: the nearest integer; NaN: zero.
        name = f"llvm.fpto{'s' if new[0] == 'i' else 'u'}i.sat.{target}.f{8 * int(old[1])}"
        return e.call(name, target, [(source, x)])
    if new[0] == "f":
        return e.put(f"{'sitofp' if old[0] == 'i' else 'uitofp'} {source} {x} to {target}")
    old_bits, new_bits = (1 if d == "b1" else 8 * int(d[1:]) for d in (old, new))
    if old_bits == new_bits:
        return x
    if old_bits > new_bits:
        return e.put(f"trunc {source} {x} to {target}")
    return e.put(f"{'sext' if old[0] == 'i' else 'zext'} {source} {x} to {target}")

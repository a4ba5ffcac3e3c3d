"""The scalar operations, one row each: what an operation is called in JAX, NumPy, SymPy, heyoka and the C library.

A row is all that a plain function needs. What an output writes in a form of its own (a division of integers in NumPy, a
comparison in LLVM, a cube root in SymPy) stands beside that output's table, which is made from these rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Operation:
    """One scalar operation; an empty name says that this output has no plain function for it.

    **Fields:** `name` and `arity`; `primitive`, JAX's elementwise primitive that is this operation; `numpy`, a name in
    NumPy, or ``math.NAME``; `jax`, a name in `jax.numpy`, or ``lax.NAME`` or ``special.NAME``; `sympy`; `heyoka`;
    `libm`, the function of the C library that native code calls; `parity`, ``"odd"`` or ``"even"`` where signs of the
    argument may be moved; `commutative`; `predicate`, whether the result is true or false.
    """

    name: str
    arity: int
    numpy: str = ""
    jax: str = ""
    primitive: str = ""
    sympy: str = ""
    heyoka: str = ""
    libm: str = ""
    parity: str = ""
    commutative: bool = False
    predicate: bool = False


def _function(
    name: str, arity: int = 1, *, numpy: str = "", jax: str = "", sympy: str = "", parity: str = ""
) -> Operation:
    """A function of analysis, with one name everywhere unless said otherwise; SymPy's name must be given."""
    called = numpy or name
    return Operation(name, arity, called, jax or called, name, sympy, name, name, parity)


TABLE: Final = (
    # arithmetic
    Operation("add", 2, "add", "add", "add", commutative=True),
    Operation("sub", 2, "subtract", "subtract", "sub"),
    Operation("mul", 2, "multiply", "multiply", "mul", commutative=True),
    Operation("div", 2, "", "divide", "div"),
    Operation("rem", 2, "", "fmod", "rem", libm="fmod"),
    Operation("neg", 1, "negative", "negative", "neg"),
    Operation("abs", 1, "abs", "abs", "abs", sympy="Abs", parity="even"),
    Operation("sign", 1, "sign", "sign", "sign", sympy="sign"),
    Operation("pow", 2, "power", "power", sympy="Pow", libm="pow"),
    Operation("max", 2, "maximum", "maximum", "max", sympy="Max", commutative=True),
    Operation("min", 2, "minimum", "minimum", "min", sympy="Min", commutative=True),
    Operation("floor", 1, "floor", "floor", "floor"),
    Operation("ceil", 1, "ceil", "ceil", "ceil"),
    Operation("round", 1),
    Operation("roundeven", 1, "rint", "rint"),
    Operation("nextafter", 2, "nextafter", "", "nextafter", libm="nextafter"),
    # elementary functions
    Operation("sqrt", 1, "sqrt", "sqrt", "sqrt", heyoka="sqrt"),
    Operation("cbrt", 1, "cbrt", "cbrt", "cbrt", libm="cbrt", parity="odd"),
    _function("exp", sympy="exp"),
    Operation("exp2", 1, "exp2", "exp2", "exp2", libm="exp2"),
    _function("expm1"),
    _function("log", sympy="log"),
    _function("log1p"),
    _function("sin", sympy="sin", parity="odd"),
    _function("cos", sympy="cos", parity="even"),
    _function("tan", sympy="tan", parity="odd"),
    _function("asin", numpy="arcsin", sympy="asin", parity="odd"),
    _function("acos", numpy="arccos", sympy="acos"),
    _function("atan", numpy="arctan", sympy="atan", parity="odd"),
    _function("atan2", 2, numpy="arctan2", sympy="atan2"),
    _function("sinh", sympy="sinh", parity="odd"),
    _function("cosh", sympy="cosh", parity="even"),
    _function("tanh", sympy="tanh", parity="odd"),
    _function("asinh", numpy="arcsinh", sympy="asinh", parity="odd"),
    _function("acosh", numpy="arccosh", sympy="acosh"),
    _function("atanh", numpy="arctanh", sympy="atanh", parity="odd"),
    _function("erf", numpy="math.erf", jax="special.erf", sympy="erf", parity="odd"),
    _function("erfc", numpy="math.erfc", jax="special.erfc"),
    Operation("lgamma", 1, "math.lgamma", "lax.lgamma", "lgamma", libm="lgamma"),
    # comparison, logic, choice: select(c, a, b) is a where c holds and b elsewhere
    Operation("lt", 2, "less", "less", "lt", sympy="StrictLessThan", heyoka="lt", predicate=True),
    Operation("le", 2, "less_equal", "less_equal", "le", sympy="LessThan", heyoka="lte", predicate=True),
    Operation("eq", 2, "equal", "equal", "eq", sympy="Eq", heyoka="eq", commutative=True, predicate=True),
    Operation("ne", 2, "not_equal", "not_equal", "ne", sympy="Ne", heyoka="neq", commutative=True, predicate=True),
    Operation("isfinite", 1, "isfinite", "isfinite", predicate=True),
    Operation("and", 2, "bitwise_and", "bitwise_and", "and", sympy="And", commutative=True),
    Operation("or", 2, "bitwise_or", "bitwise_or", "or", sympy="Or", commutative=True),
    Operation("xor", 2, "bitwise_xor", "bitwise_xor", "xor", commutative=True),
    Operation("not", 1, "invert", "invert", "not", sympy="Not"),
    Operation("select", 3, "", "where", heyoka="select"),
    Operation("shl", 2, "left_shift"),
    Operation("lshr", 2),
    Operation("ashr", 2),
    # change of scalar type (the node's own type is the new one; the second keeps the bits)
    Operation("convert", 1),
    Operation("bitcast", 1),
    # load(i): element i of the read-only memory named by `data`
    Operation("load", 1),
)
"""Every scalar operation but constants, inputs and variables."""

OPERATIONS: Final[dict[str, int]] = {row.name: row.arity for row in TABLE}
PREDICATES: Final = frozenset(row.name for row in TABLE if row.predicate)
COMMUTATIVE: Final = frozenset(row.name for row in TABLE if row.commutative)
ODD: Final = frozenset(row.name for row in TABLE if row.parity == "odd")
EVEN: Final = frozenset(row.name for row in TABLE if row.parity == "even")


def named(output: str) -> dict[str, str]:
    """What each operation is called in one output, such as ``"numpy"``, where it is called something."""
    return {row.name: name for row in TABLE if (name := getattr(row, output))}

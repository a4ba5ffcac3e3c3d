"""Equations of motion as the text of a function in Python, C or Julia."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import sympy as sp
from sympy.printing.c import C99CodePrinter
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.julia import JuliaCodePrinter
from sympy.printing.pycode import PythonCodePrinter

if TYPE_CHECKING:
    from holonomy.systems.equations.derive import Symbolic

Language = Literal["python", "c", "julia"]

# SymPy renames what Python and C keep for themselves, and knows no such list for Julia
_JULIA_KEYWORDS = {
    "baremodule", "begin", "break", "catch", "const", "continue", "do", "else", "elseif", "end", "export", "false",
    "finally", "for", "function", "global", "if", "import", "let", "local", "macro", "module", "quote", "return",
    "struct", "true", "try", "using", "while",
}  # fmt: skip


class _Function(NamedTuple):
    """A function to write: its arguments (time, state, parameters), definitions in order, and what it returns.

    `results` are the accelerations, or M row by row and f where `solved` is False.
    """

    arguments: list[sp.Symbol]
    n: int
    definitions: list[tuple[Any, Any]]
    results: list[Any]
    solved: bool


def written(equations: Symbolic, language: Language) -> str:
    """The text of the function. Raises `ValueError` for a system with constraints, whose multipliers it would need."""
    if equations.multipliers:
        raise ValueError(
            "Code is written for systems without constraints; this one has "
            f"{len(equations.multipliers)}, whose multipliers have to be solved for. Use system.acceleration."
        )
    function = _function(equations)
    return {"python": _python, "c": _c, "julia": _julia}[language](function)


def _function(equations: Symbolic) -> _Function:
    names = [q.func.__name__ for q in equations.coordinates]
    rates = [f"{name}_dot" for name in names]
    at = dict(zip((*equations.coordinates, *equations.velocities), map(sp.Symbol, (*names, *rates)), strict=True))
    parameters = [s for value in equations.parameters.values() for s in _symbols(value)]
    solved = equations.accelerations is not None
    if equations.accelerations is not None:
        wanted: list[Any] = list(equations.accelerations)
    else:
        still = {sp.Derivative(q, (equations.t, 2)): 0 for q in equations.coordinates}
        sides: list[tuple[Any, Any]] = [(e.lhs, e.rhs) for e in equations.lagrange]
        force = [(right - left).xreplace(still) for left, right in sides]
        wanted = [*equations.mass_matrix, *force]
    # derivatives first: a coordinate replaced inside of one would leave the derivative of a symbol
    plain = [e.xreplace({d: at[d] for d in equations.velocities}).xreplace(at) for e in wanted]
    free = sp.numbered_symbols("s", exclude=[sp.Symbol(name) for name in (*names, *rates, "t")] + parameters)
    found: Any = sp.cse(plain, symbols=free, order="none")
    definitions, results = found
    arguments = [sp.Symbol(name) for name in ("t", *names, *rates)] + parameters
    return _Function(arguments, len(names), definitions, results, solved)


def _symbols(value: Any) -> list[sp.Symbol]:
    if isinstance(value, sp.Symbol):
        return [value]
    return [s for s in sp.flatten(value) if isinstance(s, sp.Symbol)]


def _text(printer: CodePrinter, expression: Any) -> str:
    return str(printer.doprint(expression))


def _named(function: _Function) -> str:
    return "acceleration" if function.solved else "mass_and_force"


def _rows(entries: Sequence[str], n: int) -> list[Sequence[str]]:
    return [entries[i * n : (i + 1) * n] for i in range(n)]


def _python(function: _Function) -> str:
    printer = PythonCodePrinter({"fully_qualified_modules": True})
    arguments = ", ".join(_text(printer, name) for name in function.arguments)
    lines = ["import math", "", "", f"def {_named(function)}({arguments}):"]
    lines += [f"    {name} = {_text(printer, e)}" for name, e in function.definitions]
    said = [_text(printer, e) for e in function.results]
    n = function.n
    if function.solved:
        lines.append(f"    return [{', '.join(said)}]")
    else:
        matrix = ", ".join(f"[{', '.join(row)}]" for row in _rows(said, n))
        lines.append(f"    return [{matrix}], [{', '.join(said[n * n :])}]")
    return "\n".join(lines) + "\n"


def _c(function: _Function) -> str:
    printer = C99CodePrinter()
    n = function.n
    numbers = ", ".join(f"double {_text(printer, name)}" for name in function.arguments)
    out = f"double a[{n}]" if function.solved else f"double M[{n}][{n}], double f[{n}]"
    lines = ["#include <math.h>", "", f"void {_named(function)}({numbers}, {out})", "{"]
    lines += [f"    const double {name} = {_text(printer, e)};" for name, e in function.definitions]
    places = [f"a[{i}]" for i in range(n)]
    if not function.solved:
        places = [f"M[{i}][{j}]" for i in range(n) for j in range(n)] + [f"f[{i}]" for i in range(n)]
    lines += [f"    {place} = {_text(printer, e)};" for place, e in zip(places, function.results, strict=True)]
    return "\n".join([*lines, "}"]) + "\n"


def _julia(function: _Function) -> str:
    printer = JuliaCodePrinter({"contract": False})
    printer.reserved_words = _JULIA_KEYWORDS
    n = function.n

    def said(e: Any) -> str:
        # the printer broadcasts products, which numbers do not need
        text = _text(printer, e)
        for dotted in ("*", "/", "^"):
            text = text.replace(f" .{dotted} ", f" {dotted} ")
        return text

    lines = [f"function {_named(function)}({', '.join(_text(printer, name) for name in function.arguments)})"]
    lines += [f"    {name} = {said(e)}" for name, e in function.definitions]
    results = [said(e) for e in function.results]
    if function.solved:
        lines.append(f"    return [{', '.join(results)}]")
    else:
        matrix = "; ".join(" ".join(f"({entry})" for entry in row) for row in _rows(results, n))
        lines.append(f"    return [{matrix}], [{', '.join(results[n * n :])}]")
    return "\n".join([*lines, "end"]) + "\n"

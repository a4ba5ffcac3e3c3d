"""SymPy names for what a system is made of, and how they are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import sympy as sp
from sympy.printing.latex import LatexPrinter

from holonomy import notation

if TYPE_CHECKING:
    from holonomy.systems.system import System

# An input of a traced function: its kind, or ("parameter", its name), and the element.
Leaf: TypeAlias = tuple[str | tuple[str, str], int]


class Names:
    """The symbols of a system: time, coordinates, velocities, accelerations, momenta and their rates, parameters."""

    def __init__(self, system: System):
        self.t = t = sp.Symbol("t")
        self.q = tuple([sp.Function(name)(t) for name in system.names])
        self.v = tuple([sp.Derivative(q, t) for q in self.q])
        self.a = tuple([sp.Derivative(q, (t, 2)) for q in self.q])
        self.p = tuple([sp.Function(f"p_{name}")(t) for name in system.names])
        self.p_dot = tuple([sp.Derivative(p, t) for p in self.p])
        self.printed = {q: notation.latex(name) for q, name in zip(self.q, system.names, strict=True)}
        self.printed |= {p: f"p_{{{notation.latex(name)}}}" for p, name in zip(self.p, system.names, strict=True)}
        held = system.constraints.equations.total
        self.multipliers = tuple([sp.Symbol(f"lambda_{k + 1}") for k in range(held)])
        self.values: dict[Any, float] = {}
        self.parameters: dict[str, Any] = {}
        self._elements: dict[tuple[str, int], Any] = {}
        self._typed: dict[Any, Any] | None = None
        taken = {*system.names, *system.parameters}
        letters = [notation.letter(name) for name in system.parameters]
        for name, value in system.parameters.items():
            short = notation.letter(name)
            # a letter that is another name, too, or stands for two parameters would make the formulas wrong
            free = short not in taken and letters.count(short) == 1
            self._add(name, np.asarray(value), short if free else name)
        self._unambiguous(system)

    def of(self, leaf: Leaf) -> sp.Expr:
        """The expression of a leaf (kind, element)."""
        kind, element = leaf
        if isinstance(kind, tuple):
            return self._elements[kind[1], element]
        groups = {"q": self.q, "v": self.v, "a": self.a, "p": self.p, "multiplier": self.multipliers, "t": (self.t,)}
        return groups[kind][element]

    def _add(self, name: str, value: np.ndarray, shown: str) -> None:
        symbols = []
        for element, position in enumerate(np.ndindex(*value.shape)):
            symbol = sp.Symbol("_".join([name, *[str(i + 1) for i in position]]))
            self.printed[symbol] = notation.latex(shown, [str(i + 1) for i in position])
            self.values[symbol] = float(value[position])
            self._elements[name, element] = symbol
            symbols.append(symbol)
        self.parameters[name] = symbols[0] if value.ndim == 0 else sp.Array(symbols, value.shape) if symbols else ()

    def _unambiguous(self, system: System) -> None:
        names = [
            *system.names,
            *[f"p_{name}" for name in system.names],
            *[s.name for s in self._elements.values()],
            "t",
        ]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"The name {twice[0]!r} would stand for two things in the equations (coordinates, their momenta "
                "p_name, parameters, multipliers lambda_1 and the time t share one list of names). Rename the "
                "coordinate or parameter."
            )

    def latex(self, expression: sp.Basic) -> str:
        """An expression in LaTeX, with dots for derivatives by time."""
        return _Printer(self.printed).doprint(expression)

    def text(self, expression: sp.Basic) -> str:
        """An expression as a scene file would have it: theta_dot and theta_ddot for derivatives, ^ for powers."""
        if self._typed is None:
            names: dict[Any, str] = {x: x.func.__name__ for x in (*self.q, *self.p)}
            dots = {d: f"{names[d.expr]}_{'d' * (d.derivative_count - 1)}dot" for d in (*self.v, *self.a, *self.p_dot)}
            self._typed = {x: sp.Symbol(name) for x, name in (names | dots).items()}
        return sp.sstr(expression.xreplace(self._typed)).replace("**", "^")


class _Printer(LatexPrinter):
    """LaTeX with given names for functions of time and parameters."""

    def __init__(self, names: dict[Any, str]):
        super().__init__()
        self._names = names

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        return self._names.get(expr) or super()._print_Symbol(expr, style)

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        name = self._names.get(expr)
        if name is None:
            return super()._print_Function(expr, exp)
        return name if exp is None else f"{name}^{{{exp}}}"

    def _print_Derivative(self, expr: Any) -> str:
        name = self._names.get(expr.expr)
        if name is None or expr.derivative_count > 2:
            return super()._print_Derivative(expr)
        head, mark, below = name.partition("_")
        return f"\\{'d' * (expr.derivative_count - 1)}dot{{{head}}}{mark}{below}"

    def parenthesize(self, item: Any, level: Any, is_neg: bool = False, strict: bool = False) -> str:
        if isinstance(item, sp.Derivative):
            return self._print(item)
        return super().parenthesize(item, level, is_neg=is_neg, strict=strict)

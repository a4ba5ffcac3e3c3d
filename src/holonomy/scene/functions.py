"""The functions and constants a formula may use: the whole of what typed text can call."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """A function of formulas: its name, how many arguments it takes, and its two meanings.

    `number` computes with Python floats (formulas without names in them); `array` is the name of the function of
    `jax.numpy` that means the same on traced values.
    """

    name: str
    least: int
    most: int
    number: Callable[..., float]
    array: str
    meaning: str

    def arguments(self) -> str:
        """`one argument`, `two arguments`, `two or more arguments`."""
        words = {1: "one argument", 2: "two arguments", 3: "three arguments"}
        return words[self.least] if self.least == self.most else f"{words[self.least].split()[0]} or more arguments"


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def _where(condition: float, yes: float, no: float) -> float:
    return yes if condition else no


_MANY = 16  # arguments of min and max

FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        Function("sin", 1, 1, math.sin, "sin", "sine"),
        Function("cos", 1, 1, math.cos, "cos", "cosine"),
        Function("tan", 1, 1, math.tan, "tan", "tangent"),
        Function("asin", 1, 1, math.asin, "arcsin", "inverse sine, in [-pi/2, pi/2]"),
        Function("acos", 1, 1, math.acos, "arccos", "inverse cosine, in [0, pi]"),
        Function("atan", 1, 1, math.atan, "arctan", "inverse tangent, in (-pi/2, pi/2)"),
        Function("atan2", 2, 2, math.atan2, "arctan2", "`atan2(y, x)`: the angle of the point (x, y), in (-pi, pi]"),
        Function("sinh", 1, 1, math.sinh, "sinh", "hyperbolic sine"),
        Function("cosh", 1, 1, math.cosh, "cosh", "hyperbolic cosine"),
        Function("tanh", 1, 1, math.tanh, "tanh", "hyperbolic tangent"),
        Function("asinh", 1, 1, math.asinh, "arcsinh", "inverse hyperbolic sine"),
        Function("acosh", 1, 1, math.acosh, "arccosh", "inverse hyperbolic cosine"),
        Function("atanh", 1, 1, math.atanh, "arctanh", "inverse hyperbolic tangent"),
        Function("exp", 1, 1, math.exp, "exp", "exponential"),
        Function("log", 1, 1, math.log, "log", "natural logarithm"),
        Function("sqrt", 1, 1, math.sqrt, "sqrt", "square root"),
        Function("abs", 1, 1, math.fabs, "abs", "absolute value (has a corner at 0)"),
        Function("sign", 1, 1, _sign, "sign", "-1, 0 or 1"),
        Function("min", 2, _MANY, min, "minimum", "the least of its arguments"),
        Function("max", 2, _MANY, max, "maximum", "the greatest of its arguments"),
        Function("where", 3, 3, _where, "where", "`where(x < 0, a, b)`: a where the comparison holds, b elsewhere"),
    )
}
"""Every function a formula may call."""

CONSTANTS: dict[str, tuple[float, str]] = {
    "pi": (math.pi, "3.14159…"),
    "e": (math.e, "2.71828…, the base of `exp` and `log`"),
}
"""Every named constant: its value and its meaning."""

TIME = "t"
"""The name of time in formulas."""

DOT = "_dot"
"""What follows a name to mean its rate of change: `theta_dot`."""

RESERVED: frozenset[str] = frozenset({*FUNCTIONS, *CONSTANTS, TIME})
"""Names that formulas already use, so that no coordinate or parameter may have them."""

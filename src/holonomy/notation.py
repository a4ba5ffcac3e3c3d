"""Symbols and units: one table of each, read by plots, the studio's labels, equations, data files and documents.

Units are SI. Angles are in radians. It needs no JAX.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

GREEK: Final = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ",
    "Omega": "Ω", "varepsilon": "ε", "vartheta": "ϑ", "varphi": "φ",
}  # fmt: skip
"""Names that stand for a Greek letter; each is a command of LaTeX too."""
_DOTTED: Final = {"x": "ẋ", "y": "ẏ", "z": "ż", "r": "ṙ", "s": "ṡ", "p": "ṗ", "a": "ȧ", "b": "ḃ", "c": "ċ", "w": "ẇ"}
_DOT: Final = "\u0307"  # combines with the letter before it
_BELOW: Final = "₀₁₂₃₄₅₆₇₈₉"
_SUBSCRIPTS: Final = str.maketrans("0123456789", _BELOW)


class Quantity(NamedTuple):
    """A quantity as it is written: its symbol, its unit (empty for a plain number) and what it is."""

    symbol: str
    unit: str
    meaning: str


class Kind(NamedTuple):
    """A kind of coordinate: the units of it and of its rate, and the names of groups of each."""

    unit: str
    rate_unit: str
    group: str
    rate_group: str


KINDS: Final = {
    "angle": Kind("rad", "rad/s", "Angles", "Angular velocities"),
    "length": Kind("m", "m/s", "Lengths", "Velocities"),
    "number": Kind("", "s⁻¹", "Coordinates", "Rates of the coordinates"),
}
QUANTITIES: Final = {
    "time": Quantity("t", "s", "time"),
    "kinetic": Quantity("T", "J", "kinetic energy"),
    "potential": Quantity("V", "J", "potential energy"),
    "elastic": Quantity("S", "J", "energy of the springs"),
    "total": Quantity("E", "J", "total energy"),
    "gravity": Quantity("g", "m/s²", "acceleration of free fall"),
    "mass": Quantity("m", "kg", "mass"),
    "length": Quantity("l", "m", "length"),
    "damping": Quantity("c", "kg/s", "air drag: force per velocity"),
    "stiffness": Quantity("k", "N/m", "stiffness of a spring"),
    "strain": Quantity("ε", "", "stretch of a spring over its length"),
    "tension": Quantity("τ", "N", "tension of a rod"),
    "speed": Quantity("v", "m/s", "speed of a body"),
    "links": Quantity("N", "", "number of links of a pendulum"),
    "rods": Quantity("n", "", "number of rods of a linkage"),
    "base": Quantity("L", "m", "distance of a linkage's pinned ends"),
    "rod_mass": Quantity("mₑ", "kg", "mass of each rod"),
    "hinge_mass": Quantity("mᵥ", "kg", "mass of each hinge"),
    "ghost_offset": Quantity("δ", "rad", "difference of the ghost's start"),
    "fan_length": Quantity("s", "m", "length of the geodesics of a fan"),
    "divergence": Quantity("d", "", "distance of two motions in phase space"),
    "distance": Quantity("d", "m", "distance of two configurations"),
    "lyapunov": Quantity("λ", "s⁻¹", "largest Lyapunov exponent"),
    "gauss": Quantity("K", "kg⁻¹ m⁻²", "Gaussian curvature of the kinetic metric"),
    "bending": Quantity("|II|²", "kg⁻¹ m⁻²", "total bending"),
    "path_bending": Quantity("|II(v,v)|", "N kg⁻½", "bending of the path"),
    "rod_force": Quantity("|F|", "N kg⁻½", "force of the rods in the kinetic metric"),
}
"""Quantities by name. A parameter of a lab with one of these names is shown with its symbol and unit."""


_PLURALS: Final = {"lengths": "length", "masses": "mass"}


def letter(parameter: str) -> str:
    """The letter by which formulas call a parameter: g for `gravity`, m for `masses`; its own name for any other."""
    name = _PLURALS.get(parameter, parameter)
    found = QUANTITIES[name].symbol if name in ("gravity", "mass", "length", "stiffness", "damping") else ""
    return found if found.isascii() and found else parameter


def subscripted(letter: str, number: int) -> str:
    """A letter with a number below the line."""
    return letter + str(number).translate(_SUBSCRIPTS)


def symbol(name: str) -> str:
    """A name as a letter with its index: theta1 is θ₁."""
    stem = name.rstrip("0123456789")
    letter = stem.rstrip("_")
    return GREEK.get(letter, letter) + name[len(stem) :].translate(_SUBSCRIPTS)


def rate_symbol(name: str) -> str:
    """The same for its rate: with a dot, or with a prime where it is a word."""
    plain = symbol(name)
    letter = plain.rstrip(_BELOW)
    if len(letter) > 1:
        return plain + "′"
    return _DOTTED.get(letter, letter + _DOT) + plain[len(letter) :]


def latex(name: str, indices: list[str] | None = None) -> str:
    r"""`theta1` as \theta_{1}, `l_rod` as l_{\mathrm{rod}}, `lengths` as \mathrm{lengths}."""
    head, *below = [part for part in name.split("_") if part] or [name]
    match = re.fullmatch(r"([^\d]+)(\d+)", head)
    if match:
        head, below = match[1], [match[2], *below]
    below = [*map(_word, below), *(indices or [])]
    return _word(head) + (f"_{{{','.join(below)}}}" if below else "")


def _word(text: str) -> str:
    if text in GREEK:
        return f"\\{text}"
    match = re.fullmatch(r"([^\d]+)(\d+)", text)
    if match:
        return f"{_word(match[1])}_{{{match[2]}}}"
    return text if len(text) == 1 or text.isdigit() else f"\\mathrm{{{text}}}"


def ascii_unit(unit: str) -> str:
    """A unit as data files have it, without superscripts."""
    return "1/s" if unit == "s⁻¹" else unit

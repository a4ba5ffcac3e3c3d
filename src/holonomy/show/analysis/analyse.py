"""From a system and a state to the results that a course of analytical mechanics asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.notation import symbol
from holonomy.show.analysis import reduction
from holonomy.show.analysis.item import Item
from holonomy.show.analysis.statics import at_rest
from holonomy.systems import System
from holonomy.systems.equations.derive import Equations
from holonomy.trace.lowering.statements import Unsupported

_PARTS: Final = {
    "energy": "Lagrangian",
    "constraints": "Equations of the constraints",
    "lagrange": "Lagrange's equations",
    "acceleration": "Accelerations",
    "hamilton": "Hamiltonian and Hamilton's equations",
}
_READABLE: Final = 6
"""Coordinates of systems whose equations are derived: those of more are too long to read."""
_ALGEBRAS: Final = 4
"""Coordinates up to which all symmetries are looked for, which takes some seconds with more."""
_SHOWN: Final = 8
"""Equilibria that are listed."""


def analyse(system: System, q: Any, v: Any, t: float = 0.0) -> tuple[Item, ...]:
    """Everything that can be said of a system and of its motion from the state (q, v), in the order of a course.

    What does not apply is left out; what was tried and cannot be had is told in a sentence.
    """
    at, moving = np.asarray(q, float), np.asarray(v, float)
    derived = _equations(system)
    parts: list[Iterator[Item]] = [
        _configuration(system, at, t),
        _derived(system, derived),
        _constraints(system, at, t),
        _statics(system, at),
        _conserved(system, at, moving, t, derived),
        reduction.items(system, at, moving, t, None if isinstance(derived, str) else derived),
    ]
    return tuple(item for part in parts for item in part)


def _equations(system: System) -> Equations | str:
    if len(system.names) > _READABLE:
        return f"The equations of {len(system.names)} coordinates are too long to read and are not derived."
    try:
        return system.equations()
    except (ValueError, Unsupported) as error:
        return f"The equations cannot be written out: {error}"


def _configuration(system: System, q: np.ndarray, t: float) -> Iterator[Item]:
    kinds = [c.kind for c in system.coordinates]
    angles = kinds.count("angle")
    factors = ["S¹"] * angles + ([f"R{_power(len(kinds) - angles)}"] if angles < len(kinds) else [])
    space = "×".join(factors) if system.flat else str(system.space)
    named = {"S¹": "a circle", "S¹×S¹": "a torus", "S¹×R": "a cylinder"}.get("×".join(factors), "")
    names = ", ".join(map(symbol, system.names))
    sentence = f"Coordinates {names}; without constraints the configuration space is {space}"
    sentence += f" ({named})." if named and system.flat else "."
    held = system.constraints.equations.counts
    free = int(system.dof(t, jnp.asarray(q)))
    if held[0]:
        sentence += f" {_counted(held[0], 'constraint')} on positions: a surface of dimension {free + held[1]} in it."
    sentence += f" Degrees of freedom: {free}."
    yield Item("Configuration space", sentence)


def _derived(system: System, equations: Equations | str) -> Iterator[Item]:
    if isinstance(equations, str):
        yield Item("Equations of motion", equations)
        return
    for part in equations.parts:
        rows = tuple((line.left, line.right) for line in equations.lines if line.part == part)
        yield Item(_PARTS.get(part, part), formulas=rows)


def _constraints(system: System, q: np.ndarray, t: float) -> Iterator[Item]:
    held = system.constraints.equations
    if not held.counts[1]:
        return
    time = jnp.asarray(t, float)

    def forms(y: Any) -> Any:
        def rates(w: Any) -> Any:
            return jnp.concatenate([jnp.atleast_1d(f(time, y, w, *system.last)) for f in held.velocity])

        return jax.jacfwd(rates)(jnp.zeros_like(y))

    try:
        found = hl.integrability(forms, len(q), at=q)
    except ValueError as error:
        yield Item("Constraints on velocities", str(error))
        return
    sentence = f"They are {found!r}."
    if found.kind == "nonholonomic":
        sentence += (
            f" Brackets of the allowed velocities span spaces of the dimensions {found.growth} at the start; of "
            f"{len(q)} coordinates, {found.growth[-1]} can be changed independently."
        )
    yield Item("Constraints on velocities", sentence)


def _statics(system: System, q: np.ndarray) -> Iterator[Item]:
    if not system.autonomous or not system.flat:
        return
    found = at_rest(system, q)
    if not found:
        yield Item("Equilibria", "None was found from the start, from angles of 0 and π, and from random guesses.")
        return
    lines = [_equilibrium(system, e) for e in found[:_SHOWN]]
    yield Item("Equilibria", " ".join(lines))


def _equilibrium(system: System, at: Any) -> str:
    place = ", ".join(f"{symbol(n)} = {_number(x)}" for n, x in zip(system.names, at.q, strict=True))
    words = {"stable": "stable", "unstable": "unstable", "undecided": "not decided by the linear motion"}
    sentence = f"{place}: {words[at.stability]}"
    rates: Any = np.asarray(at.eigenvalues)
    waves = np.unique(np.round(np.abs(rates.imag[np.abs(rates.real) < 1e-9 * (1 + np.abs(rates.imag))]), 9))
    waves = waves[waves > 1e-9]
    if at.stability == "stable" and waves.size:
        sentence += f", small vibrations of angular frequency {', '.join(_number(w) for w in waves)} rad/s"
    if at.stability == "unstable":
        sentence += f", growth rate {_number(float(np.max(rates.real)))} s⁻¹"
    if len(at.multipliers):
        sentence += f", multipliers {', '.join(_number(x) for x in at.multipliers)}"
    return sentence + "."


def _conserved(system: System, q: np.ndarray, v: np.ndarray, t: float, equations: Equations | str) -> Iterator[Item]:
    sentences: list[str] = []
    rows: list[tuple[str, str]] = []
    try:
        energy = hl.jacobi_integral(system)
        sentences.append(f"Jacobi's integral, here {_number(float(energy(t, q, v)))} J.")
    except ValueError as error:
        sentences.append(f"No energy: {error}")
    cyclic = hl.cyclic(system)
    for name in cyclic:
        value = float(system.momentum(t, q, v)[system.names.index(name)])
        sentences.append(f"The momentum of the cyclic coordinate {symbol(name)}, here {_number(value)}.")
        if not isinstance(equations, str):
            rows.append(reduction.momentum_row(system, equations, name))
    if len(system.names) <= _ALGEBRAS:
        sentences += _symmetries(system)
    yield Item("Conserved quantities", " ".join(sentences), tuple(rows))


def _symmetries(system: System) -> list[str]:
    try:
        found = hl.killing(system)
    except (ValueError, Unsupported, np.linalg.LinAlgError):
        return []
    if not found.dim:
        return ["No continuous symmetry of positions."]
    return [f"Continuous symmetries of positions: {found.dim}, with the algebra {found.algebra}."]


def _counted(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _power(n: int) -> str:
    return "" if n == 1 else str(n).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _number(x: float) -> str:
    return f"{x:.6g}" if abs(x) > 1e-12 else "0"

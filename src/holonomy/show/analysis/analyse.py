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
from holonomy.show.analysis.energy import conservation, energy_items, number, time_free
from holonomy.show.analysis.item import Item
from holonomy.show.analysis.statements import say
from holonomy.show.analysis.statics import at_rest
from holonomy.symmetry import EnergyFunction
from holonomy.systems import System
from holonomy.systems.equations.derive import Equations
from holonomy.trace.lowering.statements import Unsupported

_PARTS: Final = {
    "energy": "Lagrangian",
    "forces": "Generalised forces",
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
_POLE: Final = 1e12
"""Condition of the mass matrix from which on a place counts as a pole of the coordinates."""
_RANK: Final = 1e-9
"""Of the largest entry of the normals: singular values below it are taken for zero."""


def analyse(system: System, q: Any, v: Any, t: float = 0.0) -> tuple[Item, ...]:
    """Everything that can be said of a system and of its motion from the state (q, v), in the order of a course.

    What does not apply is left out; what was tried and cannot be had is told in a sentence.
    """
    at, moving = np.asarray(q, float), np.asarray(v, float)
    derived = _equations(system)
    known = None if isinstance(derived, str) else derived
    energy = hl.energy_function(system)
    parts: list[Iterator[Item]] = [
        _configuration(system, at, t),
        _derived(derived),
        energy_items(energy, at, moving, t, known),
        _constraints(system, at, t),
        _statics(system, energy, at),
        _conserved(system, energy, at, moving, t, known),
        reduction.items(system, energy, at, moving, t, known),
    ]
    return tuple(item for part in parts for item in part)


def _equations(system: System) -> Equations | str:
    if len(system.names) > _READABLE:
        return say("too long", count=len(system.names))
    try:
        return system.equations()
    except (ValueError, Unsupported) as error:
        return say("not written", reason=error)


def _configuration(system: System, q: np.ndarray, t: float) -> Iterator[Item]:
    kinds = [c.kind for c in system.coordinates]
    angles = kinds.count("angle")
    factors = ["S¹"] * angles + ([f"R{_power(len(kinds) - angles)}"] if angles < len(kinds) else [])
    space = "×".join(factors) if system.flat else str(system.space)
    named = {"S¹": "a circle", "S¹×S¹": "a torus", "S¹×R": "a cylinder"}.get("×".join(factors), "")
    names = ", ".join(map(symbol, system.names))
    named = named if system.flat else ""
    sentences = [say("space named" if named else "space", names=names, space=space, named=named)]
    held, walls = system.constraints.equations, system.constraints.walls
    if held.counts[0]:
        moving = any(f.depends_on(0, (np.float64(t), q, *system.last)) for f in held.holonomic)
        which = "moving surface" if moving else "surface"
        dim = system.space.dim - _rank(system, q, t)
        sentences.append(say(which, constraints=_counted(held.counts[0], "constraint"), dim=dim))
    if walls.unilateral:
        count = sum(int(np.size(f(jnp.asarray(t, float), jnp.asarray(q), *system.last))) for f in walls.unilateral)
        sentences.append(say("walls", walls=_counted(count, "wall"), s="s" if count == 1 else ""))
    sentences.append(say("freedom", dof=int(system.dof(t, jnp.asarray(q)))))
    yield Item("Configuration space", " ".join(sentences))


def _rank(system: System, q: np.ndarray, t: float) -> int:
    """How many of the constraints on positions are independent at q."""
    local = system.local(jnp.asarray(q))
    normals = np.asarray(jax.jacfwd(lambda y: local.holonomic(jnp.asarray(t, float), y))(local.origin))
    return int(np.linalg.matrix_rank(normals, tol=_RANK * np.max(np.abs(normals), initial=0.0)))


def _derived(equations: Equations | str) -> Iterator[Item]:
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
    sentence = say("velocity constraints", found=repr(found))
    if found.kind == "nonholonomic" and found.growth[-1] == found.nearby[-1]:
        sentence += " " + say("reached", growth=found.growth, count=len(q), last=found.growth[-1])
    yield Item("Constraints on velocities", sentence)


def _statics(system: System, energy: EnergyFunction, q: np.ndarray) -> Iterator[Item]:
    if not system.flat:
        return
    if not time_free(system, energy):
        yield Item("Equilibria", say("no rest"))
        return
    found = at_rest(system, q)
    lines = [_equilibrium(system, e) for e in found[:_SHOWN]] if found else [say("no equilibrium")]
    yield Item("Equilibria", " ".join(lines))


def _equilibrium(system: System, at: Any) -> str:
    place = ", ".join(f"{symbol(n)} = {number(x)}" for n, x in zip(system.names, at.q, strict=True))
    if np.linalg.cond(np.asarray(system.mass_matrix(0.0, at.q))) > _POLE:
        return say("undecided", place=place)  # coordinates break down there, and rates in them mean nothing
    rates: Any = np.asarray(at.eigenvalues)
    waves = np.unique(np.round(np.abs(rates.imag[np.abs(rates.real) < 1e-9 * (1 + np.abs(rates.imag))]), 9))
    waves = waves[waves > 1e-9]
    if at.stability == "stable" and waves.size:
        sentence = say("stable with frequencies", place=place, rates=", ".join(number(w) for w in waves))
    elif at.stability == "unstable" and np.max(rates.real) > 0:
        sentence = say("unstable with rate", place=place, rate=number(float(np.max(rates.real))))
    else:
        sentence = say(at.stability, place=place)
    if at.order > 2 or at.family is not None or at.stability == "undecided":
        sentence += " " + say("because", why=at.reason)
    if len(at.multipliers):
        sentence += " " + say("multipliers", values=", ".join(number(x) for x in at.multipliers))
    return sentence


def _conserved(
    system: System, energy: EnergyFunction, q: np.ndarray, v: np.ndarray, t: float, equations: Equations | None
) -> Iterator[Item]:
    sentences: list[str] = []
    rows: list[tuple[str, str]] = []
    if energy.conserved:
        sentences.append(conservation(energy, number(float(energy(t, q, v)))))
    for name in hl.cyclic(system):
        value = float(system.momentum(t, q, v)[system.names.index(name)])
        sentences.append(say("cyclic", name=symbol(name), value=number(value)))
        if equations is not None:
            rows.append(reduction.momentum_row(system, equations, name))
    if len(system.names) <= _ALGEBRAS:
        sentences += _symmetries(system)
    yield Item("Conserved quantities", " ".join(sentences), tuple(rows))


def _symmetries(system: System) -> list[str]:
    try:
        found = hl.killing(system)
    except (ValueError, Unsupported, np.linalg.LinAlgError):
        return []
    if not found.dim and found.dims[-1]:
        return [say("symmetries nearby", dim=found.dims[-1])]
    if not found.dim:
        return [say("no symmetry")]
    return [say("symmetries", dim=found.dim, algebra=found.algebra)]


def _counted(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _power(n: int) -> str:
    return "" if n == 1 else str(n).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))

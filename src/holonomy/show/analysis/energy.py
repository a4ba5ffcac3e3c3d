"""The energy function of a system in an analysis: its formula, what it is, whether it is conserved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holonomy.show.analysis.item import Item
from holonomy.show.analysis.statements import say
from holonomy.symmetry import EnergyFunction
from holonomy.systems import System
from holonomy.systems.equations.derive import Equations
from holonomy.systems.equations.symbols import Names


def energy_items(
    energy: EnergyFunction, q: np.ndarray, v: np.ndarray, t: float, equations: Equations | None
) -> Iterator[Item]:
    """h with its formula and the effective potential, and whether it is conserved."""
    what = {None: "h of a Lagrangian", True: "h is the energy", False: "h is not the energy"}[energy.is_energy]
    value = number(float(energy(t, q, v)))
    sentences = [say(what)]
    sentences.append(conservation(energy, value))
    if energy.form.quadratic is False:
        sentences.append(say("not quadratic"))
    yield Item("Energy function", " ".join(sentences), _formulas(energy.system, equations))


def conservation(energy: EnergyFunction, value: str) -> str:
    """Whether h is conserved, in a sentence."""
    if not energy.conserved:
        return say("h not conserved", value=value, reason=energy.reason)
    if energy.looked_at:
        return say("h conserved at states", value=value, looked_at=energy.looked_at)
    return say("h conserved", value=value)


def _formulas(system: System, equations: Equations | None) -> tuple[tuple[str, str], ...]:
    if equations is None or any(line.left == "h" for line in equations.lines):  # they are there already
        return ()
    names, found = Names(system), equations.sympy
    rows = [("h", names.latex(found.energy_function))]
    if found.effective_potential is not None and system.potential is None:  # else V' is V
        rows.append(("V'", names.latex(found.effective_potential)))
    return tuple(rows)


def time_free(system: System, energy: EnergyFunction) -> bool:
    """Whether no law of the system depends on the time: its Lagrangian, its forces, its constraints."""
    q = np.zeros(system.space.point_dim)
    place, state = (np.float64(0.0), q, *system.last), (np.float64(0.0), q, q, *system.last)
    held, walls = system.constraints.equations, system.constraints.walls
    others = [(f, state) for f in (*system.forces, *held.velocity, *walls.ratchets)]
    others += [(f, place) for f in (*held.holonomic, *walls.unilateral)]
    return bool(energy.form.steady) and not any(f.depends_on(0, example) for f, example in others)


def number(x: float) -> str:
    """A number as sentences have it."""
    return f"{x:.6g}" if abs(x) > 1e-12 else "0"

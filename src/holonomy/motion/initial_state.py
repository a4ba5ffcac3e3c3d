"""Whether constraints can hold from an initial state on: consistency, rank, and a method that keeps them."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax.core import Tracer

from holonomy import start_checks
from holonomy.motion.methods.base import AbstractMethod
from holonomy.start_checks import Conditions, round_off
from holonomy.systems import System
from holonomy.systems.contact import contact
from holonomy.systems.replace import replace
from holonomy.types import AnyArray


def refuse_unheld(system: System, method: AbstractMethod) -> None:
    """Raise where the method cannot keep the system's constraints."""
    if not system.constraints:
        if method.holds == ("holonomic",):
            raise ValueError(
                f"{method.label} is for systems with holonomic constraints and this one has none; use hl.Gauss(3)."
            )
        return
    for kind, count in zip(("holonomic", "velocity"), system.constraints.equations.counts, strict=True):
        if count and kind not in method.holds:
            instead = "hl.Rattle(4) or hl.Radau(3)" if kind == "holonomic" else "hl.Gauss(3) or hl.Radau(3)"
            if all(system.constraints.equations.counts):
                instead = "hl.Radau(3)"
            raise ValueError(
                f"{method.label} cannot hold {kind} constraints, and this system has {count}; use {instead}, or "
                f"method=None to have one picked."
            )


def with_walls(system: System, method: AbstractMethod, way: float) -> System:
    """The system ready to meet its walls, none in contact yet; a ValueError where the method cannot hold them."""
    given, walls = system.constraints, system.constraints.walls
    if not walls.total:
        return system
    if walls.counts[1] and "velocity" not in method.holds:
        raise ValueError(
            f"{method.label} cannot hold conditions on velocities, and this system has {walls.counts[1]} that only "
            f"push; use hl.Radau(3) or hl.RK4(), or method=None to have one picked."
        )
    lossy = not isinstance(walls.restitution, Tracer) and bool(np.any(np.asarray(walls.restitution) < 1))
    if way < 0 and lossy:
        raise ValueError(
            "A run backwards cannot undo impacts that lose energy; pass restitution=1.0, or t_end after t0."
        )
    if walls.friction.dim and not method.rubs:
        raise ValueError(f"{method.label} cannot hold friction; use hl.RK4() or hl.Adaptive(), or method=None.")
    if walls.friction.dim and way < 0:
        raise ValueError("A run backwards cannot undo friction; pass t_end after t0.")
    given = replace(given, treatment=replace(given.treatment, as_rates="holonomic" not in method.holds))
    return contact.windowed(replace(system, constraints=given))


def consistent(
    system: System, t: float, q: AnyArray, v: AnyArray, mass: np.ndarray, seen: Conditions
) -> tuple[System, AnyArray, AnyArray]:
    """The system with the rank of its constraints, and the initial state on them to round-off."""
    given, equations = system.constraints, system.constraints.equations
    wrong = start_checks.inconsistent(q, v, seen, equations.counts[0])
    if wrong is not None:
        raise ValueError(_sentence(system, t, q, v, seen, wrong))
    equations = replace(equations, ranks=_ranks(system, mass, seen))
    system = replace(system, constraints=replace(given, equations=equations))
    off_q, off_v = start_checks.misses(seen, equations.counts[0])
    enough = round_off(q.dtype)
    if off_q > enough * start_checks.size(q) or off_v > enough * start_checks.size(v):
        q, v = (np.asarray(x) for x in system.project(t, q, v))
    return system, q, v


def _sentence(
    system: System, t: float, q: AnyArray, v: AnyArray, seen: Conditions, wrong: start_checks.Inconsistent
) -> str:
    match wrong.kind:
        case "not finite":
            return (
                f"The constraints or their derivatives have no value at q0 = {np.asarray(q).tolist()}; start "
                f"elsewhere, or write them without a root or a quotient that breaks down there."
            )
        case "no rank":
            return (
                "The constraints do not restrict any motion at q0: their derivatives all vanish there. A condition "
                "such as phi = f² = 0 has to be written f = 0."
            )
        case "contradiction":
            return (
                f"The constraints contradict each other: they hold at the initial state, but no acceleration keeps all "
                f"of them (the best one misses by {wrong.off:.3g}). Remove those that say different things about one "
                f"motion."
            )
        case "position" | "velocity":
            near_q, near_v = (np.asarray(x) for x in system.project(t, q, v))
            name, values = ("q0", seen.position) if wrong.kind == "position" else ("v0", seen.rates)
            return (
                f"The initial state violates the constraints: {name} is about {wrong.off:.3g} away from them (values "
                f"{_show(values)}, which should be zero). The nearest consistent state is q0 = {near_q.tolist()}, "
                f"v0 = {near_v.tolist()}; pass that if you mean it (system.project(t0, q0, v0) computes it)."
            )


def _ranks(system: System, mass: np.ndarray, seen: Conditions) -> tuple[int, int] | None:
    """How many holonomic conditions are independent, and how many velocity ones besides; None when all are."""
    m, k = system.constraints.equations.counts
    normals = np.asarray(seen.normals)
    whole, first = start_checks.rank(mass, normals), start_checks.rank(mass, normals[:m])
    return None if whole == m + k else (first, whole - first)


def _show(values: Any) -> str:
    return "[" + ", ".join(f"{x:.3g}" for x in np.ravel(values)) + "]"

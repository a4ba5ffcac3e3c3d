"""Whether constraints can hold from an initial state on: consistency, rank, and a method that keeps them."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax.core import Tracer

from holonomy.motion.methods.base import AbstractMethod
from holonomy.systems import System
from holonomy.systems.constraints.at_state import Conditions
from holonomy.systems.constraints.tolerance import close, round_off
from holonomy.systems.contact import contact
from holonomy.systems.dense_solve import RANK
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
    _refuse_not_finite(q, seen)
    equations = replace(equations, ranks=_ranks(system, mass, seen))
    system = replace(system, constraints=replace(given, equations=equations))
    off_q, off_v = _distances(seen, equations.counts[0])
    size_q, size_v = (max(1.0, float(np.max(np.abs(x)))) for x in (q, v))
    if off_q > close(q.dtype) * size_q or off_v > close(q.dtype) * size_v:
        near_q, near_v = (np.asarray(x) for x in system.project(t, q, v))
        wrong = "q0" if off_q > close(q.dtype) * size_q else "v0"
        raise ValueError(
            f"The initial state violates the constraints: {wrong} is about "
            f"{off_q if wrong == 'q0' else off_v:.3g} away from them (values "
            f"{_show(seen.position if wrong == 'q0' else seen.rates)}, which should be zero). The "
            f"nearest consistent state is q0 = {near_q.tolist()}, v0 = {near_v.tolist()}; pass that if you mean it "
            f"(system.project(t0, q0, v0) computes it)."
        )
    _refuse_contradiction(seen)
    if off_q > round_off(q.dtype) * size_q or off_v > round_off(q.dtype) * size_v:
        q, v = (np.asarray(x) for x in system.project(t, q, v))
    return system, q, v


def _refuse_not_finite(q: Any, seen: Conditions) -> None:
    if not all(np.all(np.isfinite(x)) for x in seen):
        raise ValueError(
            f"The constraints or their derivatives have no value at q0 = {np.asarray(q).tolist()}; start elsewhere, or "
            f"write them without a root or a quotient that breaks down there."
        )


def _ranks(system: System, mass: np.ndarray, seen: Conditions) -> tuple[int, int] | None:
    """How many holonomic conditions are independent, and how many velocity ones besides; None when all are."""
    m, k = system.constraints.equations.counts
    normals = np.asarray(seen.normals)
    whole, first = _rank(mass, normals), _rank(mass, normals[:m])
    if whole == m + k:
        return None
    if whole == 0:
        raise ValueError(
            "The constraints do not restrict any motion at q0: their derivatives all vanish there. A condition such as "
            "phi = f² = 0 has to be written f = 0."
        )
    return first, whole - first


def _rank(mass: np.ndarray, normals: np.ndarray) -> int:
    if len(normals) == 0:
        return 0
    scale = np.sqrt(np.abs(np.diagonal(mass)))
    rows = normals / np.where(scale > 0, scale, 1.0)
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    values = np.linalg.svd(rows / np.where(sizes > 0, sizes, 1.0), compute_uv=False)
    return int(np.sum(values > RANK))


def _distances(seen: Conditions, m: int) -> tuple[float, float]:
    """How far position and velocity are from the constraints, by one step of Newton's method."""

    def away(normals: np.ndarray, value: np.ndarray) -> float:
        if len(normals) == 0:
            return 0.0
        sizes = np.linalg.norm(normals, axis=1)
        sizes = np.where(sizes > 0, sizes, 1.0)
        normals, value = normals / sizes[:, None], value / sizes
        move = np.linalg.lstsq(normals, value, rcond=RANK)[0]
        missed = normals @ move - value
        return float(np.max(np.abs(move), initial=0.0) + np.max(np.abs(missed), initial=0.0))

    normals, position, rates = (np.asarray(x) for x in (seen.normals, seen.position, seen.rates))
    return away(normals[:m], position[:m]), away(normals, rates)


def _refuse_contradiction(seen: Conditions) -> None:
    """Raise where no acceleration can keep all constraints."""
    sizes = np.linalg.norm(seen.normals, axis=1)
    sizes = np.where(sizes > 0, sizes, 1.0)
    normals, bias = seen.normals / sizes[:, None], seen.bias / sizes
    moved = np.linalg.lstsq(normals, -bias, rcond=RANK)[0]
    missed = float(np.max(np.abs(normals @ moved + bias)))
    if missed > 1e-7 * (1.0 + float(np.max(np.abs(bias)))):
        raise ValueError(
            f"The constraints contradict each other: they hold at the initial state, but no acceleration keeps all of "
            f"them (the best one misses by {missed:.3g}). Remove those that say different things about one motion."
        )


def _show(values: Any) -> str:
    return "[" + ", ".join(f"{x:.3g}" for x in np.ravel(values)) + "]"

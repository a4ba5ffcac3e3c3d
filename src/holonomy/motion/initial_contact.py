"""What is wrong with a start beside walls, with a sentence for every mistake."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems import System
from holonomy.systems.contact.complementarity import CONTRADICTORY, complementarity

INSIDE = 1e-8  # of the size of positions: a gap this much below zero is inside the wall
_FLAT = 1e-12  # a gradient below this is none
_TRIES = 50


def refuse_bad_walls(
    system: System, t: float, q: np.ndarray, v: np.ndarray, gaps: np.ndarray, normals: np.ndarray, mass: np.ndarray
) -> None:
    """Raise where a start is inside a wall, at a wall without gradient, or against a condition on velocities.

    `gaps` are those of the unilateral constraints, then the values of the conditions on velocities; `normals` their
    gradients over local velocities, one row for each.
    """
    count = system.constraints.walls.counts[0]
    for k, gap in enumerate(gaps):
        if not np.isfinite(gap) or not np.all(np.isfinite(normals[k])):
            of = f"Wall {k}" if k < count else f"Velocity inequality {k - count}"
            raise ValueError(
                f"{of} or its gradient has no finite value at the start q0 = {_told(q)} (value {gap:g}). "
                f"Start elsewhere, or pass a function that is smooth there."
            )
    room = INSIDE * (1.0 + float(np.max(np.abs(q))))
    for k in range(count):
        slope = float(np.linalg.norm(normals[k]))
        if gaps[k] <= room and slope <= _FLAT:
            raise ValueError(
                f"Wall {k} has no gradient at q0 = {_told(q)}: sigma[{k}] = {gaps[k]:.3g} there, and to first order "
                f"it changes in no direction, so that the wall has no normal. Pass a function that goes through zero "
                f"with a slope, a distance rather than its square."
            )
    inside = [k for k in range(count) if gaps[k] < -room * float(np.linalg.norm(normals[k]))]
    if inside:
        raise ValueError(_of_place(system, t, q, mass, gaps, inside))
    fast = INSIDE * (1.0 + float(np.max(np.abs(v))))
    for k in range(count, len(gaps)):
        if gaps[k] < -fast * float(np.linalg.norm(normals[k])):
            raise ValueError(
                f"v0 = {_told(v)} violates velocity inequality {k - count}: its value is {gaps[k]:.3g} at the start, "
                f"and must be >= 0. Pass a velocity with which it holds."
            )


def _of_place(system: System, t: float, q: np.ndarray, mass: np.ndarray, gaps: np.ndarray, inside: list[int]) -> str:
    many = "walls " + " and ".join(map(str, inside)) if len(inside) > 1 else f"wall {inside[0]}"
    values = ", ".join(f"sigma[{k}] = {gaps[k]:.3g}" for k in inside)
    start = f"q0 = {_told(q)} lies inside {many}: {values} at the start, and unilateral constraints must be >= 0."
    near, clash = _nearest(system, t, q, mass)
    if clash:
        return f"{start} The walls contradict each other: no point near this one satisfies all of them."
    if near is None:
        return f"{start} Pass a point on the free side of every wall."
    return f"{start} The nearest point outside is {_told(near)}; start there."


def _nearest(system: System, t: float, q: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """The nearest admissible point in the kinetic metric, if one is found, and whether the walls clash.

    In every round the walls are replaced by their tangent planes, and the nearest point to the start beyond these is
    taken. Other constraints are not looked at, so nothing is proposed where there are any.
    """
    local = system.local(jnp.asarray(q))
    clock = jnp.asarray(t, float)

    @jax.jit
    def once(y: Any) -> Any:
        gaps, normals = local.gaps(clock, y), jax.jacfwd(lambda x: local.gaps(clock, x))(y)
        across = jnp.linalg.solve(jnp.asarray(mass), normals.T)
        ahead = gaps - normals @ (y - local.origin)
        found = complementarity(normals @ across, ahead, jnp.ones(gaps.shape, bool))
        return local.origin + across @ found.values, found.code, local.gaps(clock, y)

    y = local.origin
    for _ in range(_TRIES):
        new, code, _ = once(y)
        if int(code) == CONTRADICTORY:
            return None, True
        if not np.all(np.isfinite(new)):
            return None, False
        moved, y = float(np.max(np.abs(new - y))), new
        if moved <= 1e-14 * (1.0 + float(np.max(np.abs(y)))):
            break
    beyond = float(np.min(once(y)[2])) >= -1e-10 * (1.0 + float(np.max(np.abs(y))))
    if not beyond or system.constraints.equations.total:
        return None, False
    return np.asarray(local.point(y)), False


def _told(values: Any) -> str:
    return "[" + ", ".join(f"{x:.6g}" for x in np.asarray(values).ravel()) + "]"

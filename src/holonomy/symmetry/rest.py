r"""A system at rest: its forces, the constraints, and how both change, as compiled functions of the configuration.

Along the displacements \(\delta q = Z\eta\) that the constraints allow, motions near an equilibrium obey
\(M\ddot\eta + C\dot\eta + K\eta = 0\) with the stiffness \(K = -Z^\top\partial_q(f + N^\top\lambda)Z\).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems import System, lagrangian
from holonomy.types import Tree

_RANK = 1e-9
_BESIDE = 1e-7  # of the coordinates: a displacement over which a mass does not change much
_SAID = 1e-6  # of the largest: components of a direction below are not named


class Rest(NamedTuple):
    """Forces and normals of the constraints at a configuration, what is missing of the constraints on positions, the
    derivatives of forces and normals by the coordinates of the chart there, and the frame of the chart."""

    force: np.ndarray
    normals: np.ndarray
    gap: np.ndarray
    slope: np.ndarray
    turn: np.ndarray
    frame: np.ndarray


def at_rest(system: System, q: np.ndarray) -> Rest:
    """Forces and constraints at rest."""
    return Rest(*jax.tree.map(np.asarray, _statics(system, jnp.asarray(q))))


def moved(system: System, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The configuration whose coordinates in the chart at q are the step."""
    return np.asarray(_moved(system, jnp.asarray(q), jnp.asarray(step)))


@eqx.filter_jit
def _statics(system: System, q: Tree) -> Tree:
    local = system.local(q)
    y, normals = local.origin, normals_of(local)
    parts = _force(local, y), normals(y), local.holonomic(jnp.zeros(()), y)
    slopes = jax.jacfwd(lambda x: _force(local, x))(y), jax.jacfwd(normals)(y)
    return *parts, *slopes, jax.jacfwd(local.point)(y)


@eqx.filter_jit
def _moved(system: System, q: Tree, step: Tree) -> Tree:
    local = system.local(q)
    return local.point(local.origin + step)


def _force(local: Any, y: Tree, time: Tree = 0.0) -> Tree:
    zero, time = jnp.zeros_like(y), jnp.asarray(time, float)
    force = lagrangian.inertial_force(local.lagrangian, time, y, zero)
    return force if local.applied is None else force + local.applied(time, y, zero)


def normals_of(local: Any, time: Tree = 0.0) -> Any:
    """The normals of all constraints, one in each row, as a function of the coordinates."""
    count = local.system.constraints.equations.total

    def normals(y: Tree) -> Tree:
        if not count:
            return jnp.zeros((0, y.size))
        return jax.jacfwd(lambda w: local.rates(jnp.asarray(time, float), y, w))(jnp.zeros_like(y))

    return normals


@eqx.filter_jit
def _later(system: System, q: Tree, times: Tree) -> Tree:
    local = system.local(q)
    y = local.origin

    def at(time: Tree) -> Tree:
        rates = local.rates(time, y, jnp.zeros_like(y))
        return _force(local, y, time), normals_of(local, time)(y), local.holonomic(time, y), rates

    return jax.vmap(at)(times)


def other_times(system: System, q: np.ndarray, times: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """Forces, normals, missing of constraints, and the rates that constraints ask of a system at rest, at each time."""
    found = jax.tree.map(np.asarray, _later(system, jnp.asarray(q), jnp.asarray(times)))
    return [tuple(part[k] for part in found) for k in range(len(times))]


@eqx.filter_jit
def _walls(system: System, q: Tree) -> Tree:
    local = system.local(q)
    y, time = local.origin, jnp.zeros(())
    return local.all_gaps(time, y), jax.jacfwd(lambda x: local.all_gaps(time, x))(y)


def walls(system: System, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far the unilateral constraints are from contact, and how this changes."""
    gaps, slopes = _walls(system, jnp.asarray(q))
    return np.asarray(gaps), np.asarray(slopes)


class Linear(NamedTuple):
    """Mass, damping (with gyroscopic terms) and stiffness in the chart, what displacements are free as columns, and the
    frame of the chart."""

    mass: np.ndarray
    damping: np.ndarray
    spring: np.ndarray
    free: np.ndarray
    frame: np.ndarray

    def along(self, matrix: np.ndarray) -> np.ndarray:
        """A matrix of the chart along the free displacements."""
        return self.free.T @ matrix @ self.free


@eqx.filter_jit
def _linear_parts(system: System, q: Tree, multipliers: Tree) -> Tree:
    local = system.local(q)
    y, time = local.origin, jnp.zeros(())
    zero = jnp.zeros_like(y)
    normals = normals_of(local)

    def at_speed(w: Tree) -> Tree:
        force = lagrangian.inertial_force(local.lagrangian, time, y, w)
        return force if local.applied is None else force + local.applied(time, y, w)

    stiffness = -jax.jacfwd(lambda x: _force(local, x) + normals(x).T @ multipliers)(y)
    mass = lagrangian.mass_matrix(local.lagrangian, time, y, zero)
    return mass, -jax.jacfwd(at_speed)(zero), stiffness, normals(y), jax.jacfwd(local.point)(y)


def linear(system: System, q: np.ndarray, multipliers: np.ndarray) -> Linear:
    """The linear motion about a configuration; `ValueError` where the mass matrix is singular along it."""
    parts = _linear_parts(system, jnp.asarray(q), jnp.asarray(multipliers))
    mass, damping, spring, normals, frame = jax.tree.map(np.asarray, parts)
    free = np.eye(len(mass))
    size = np.linalg.norm(normals, axis=1)
    if np.any(size > 0):
        _, sizes, right = np.linalg.svd(normals / np.where(size > 0, size, 1.0)[:, None])
        free = right[int(np.sum(sizes > _RANK)) :].T
    along = free.T @ mass @ free
    _refuse_singular_coordinates(system, q, multipliers, mass)
    scale = np.sqrt(np.maximum(np.abs(np.diag(along)), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(along / np.outer(scale, scale))
    if len(values) and np.min(np.abs(values)) <= _RANK * np.max(np.abs(values)):
        weights = free @ (vectors[:, int(np.argmin(np.abs(values)))] / scale)
        raise ValueError(
            f"The mass matrix is singular at q = {shown(q)}: the velocity {combination(system, frame @ weights)} "
            "costs no kinetic energy, so motions near this configuration are not determined."
        )
    return Linear(mass, damping, spring, free, frame)


def _refuse_singular_coordinates(system: System, q: np.ndarray, multipliers: np.ndarray, mass: np.ndarray) -> None:
    """Raise where the mass of a coordinate is zero at the point alone, as that of the longitude is at a pole.

    Its size does not tell, since coordinates have units, but its change over a tiny displacement does.
    """
    if not system.flat:
        return
    beside = q + _BESIDE * (1.0 - 2.0 * (np.arange(len(q)) % 2)) * np.where(q != 0, np.abs(q), 1.0)
    there = np.asarray(_linear_parts(system, jnp.asarray(beside), jnp.asarray(multipliers))[0])
    here, change = np.diag(mass), np.abs(np.diag(there) - np.diag(mass))
    singular = (np.abs(here) < 1e-3 * change) & np.isfinite(change)
    if np.any(singular):
        raise ValueError(
            f"The mass matrix is singular at q = {shown(q)}: the velocity "
            f"{combination(system, singular.astype(float))} costs no kinetic energy there, so motions near this "
            "configuration are not determined. Choose other coordinates, or a space without such places."
        )


def combination(system: System, weights: np.ndarray) -> str:
    """A direction in the names of the coordinates."""
    largest = weights / weights[int(np.argmax(np.abs(weights)))]
    terms = [f"{w:.3g} {name}" for w, name in zip(largest, system.names, strict=True) if abs(w) > _SAID]
    return "along " + " + ".join(terms)


def shown(x: Any) -> str:
    """Numbers in messages."""
    return np.array2string(np.asarray(x), precision=4, separator=", ")

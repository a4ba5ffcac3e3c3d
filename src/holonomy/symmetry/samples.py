"""A few states of size 1 of a system: random, always the same. For many, of all sizes, see `many_states`."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems import System, lagrangian
from holonomy.systems.constraints.massless import eigenvalues
from holonomy.types import Tree

_TRIED = 64  # random states, of which those are taken at which the system has a finite Lagrangian and mass matrix
_ALL_CONDITION = 1e8  # mass matrices whose eigenvalues differ by more are next to a singularity of the coordinates


def states(system: System, count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Random states (t, q, v) of a system, consistent with its constraints; `ValueError` where none is found.

    Coordinates are positive in the first half of the tries, since many systems are defined for those alone.
    """
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for k in range(_TRIED):
        if len(found) == count:
            break
        t, q, v = _drawn(system, k)
        if system.constraints.equations.total:
            try:
                q, v = system.project(t, q, v)
            except ValueError:
                continue
        value, mass = (np.asarray(x) for x in _looked_at(system, t, jnp.asarray(q), jnp.asarray(v)))
        if np.isfinite(value) and np.all(np.isfinite(mass)) and _condition(mass) < _ALL_CONDITION:
            found.append((np.asarray(t), np.asarray(q), np.asarray(v)))
    if not found:
        raise ValueError(
            f"None of {_TRIED} random states has a finite Lagrangian and a regular mass matrix, so nothing can be said "
            f"of {system}. Choose coordinates or units in which positions of size 1 are possible."
        )
    return found


def _condition(mass: np.ndarray) -> float:
    """The condition of a mass matrix whatever the units of single coordinates."""
    scaled = np.abs(eigenvalues(mass)[1])
    return float(np.max(scaled) / np.min(scaled)) if np.min(scaled) else np.inf


def _drawn(system: System, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(k)
    t = np.asarray(generator.uniform(0.1, 1.0))
    if system.flat:
        n = system.space.point_dim
        q = generator.uniform(0.4, 1.4, n) if k < _TRIED // 2 else generator.normal(0.0, 1.0, n)
        return t, q, generator.normal(0.0, 1.0, n)
    position, velocity = jax.random.split(jax.random.key(k))
    x = system.space.random(position)
    return t, np.asarray(x), np.asarray(system.space.random_tangent(velocity, x))


@eqx.filter_jit
def _looked_at(system: System, t: Tree, q: Tree, v: Tree) -> Tree:
    local = system.local(q)
    y, w = local.enter(v)
    return local.lagrangian(t, y, w), lagrangian.mass_matrix(local.lagrangian, t, y, w)

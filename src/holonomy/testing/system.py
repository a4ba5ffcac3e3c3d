"""Does a system hang together? For a user's own description."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import Adaptive, simulate
from holonomy.systems import System, lagrangian
from holonomy.systems.constraints import at_state
from holonomy.systems.constraints.add import displacements
from holonomy.systems.constraints.kkt import accelerate
from holonomy.testing.failure import judge

CHECKS = {
    "mass": "the mass matrix is symmetric",
    "legendre": "momentum and back gives the velocity",
    "energy": "energy changes as the forces and the time in L say, along the acceleration",
    "balance": "M a = f + Nᵀλ",
    "accelerations": "the acceleration keeps the constraints",
    "projection": "the projected state satisfies the constraints and is its own projection",
    "displacements": "virtual displacements keep the constraints, as many as there are degrees of freedom",
    "motion": "two unrelated methods move it alike",
}

conditions = eqx.filter_jit(at_state.conditions)


def check_system(
    system: System,
    q: Any = None,
    v: Any = None,
    *,
    t: float = 0.0,
    span: float = 0.1,
    tolerance: float = 1e-8,
    seed: int = 0,
) -> dict[str, float]:
    """Check a system at a state against every statement in `CHECKS`; raise `CheckFailed` for the first that fails.

    Without q and v the state is random, brought to the constraints; pass one where random coordinates make no sense.
    `span` is how long it is moved for the last check. Returns the residual of each, relative to the sizes that enter.
    """
    if not isinstance(system, System):
        raise ValueError(f"check_system takes a hl.System; got {type(system).__name__}.")
    q, v = _state(system, t, q, v, seed)
    residuals = {name: float(value) for name, value in _local_residuals(system, np.float64(t), q, v).items()}
    if system.constraints.equations.total:
        residuals |= _constraint_residuals(system, t, q, v)
    residuals["motion"] = _motion_gap(system, t, q, v, span)
    names = [name for name in CHECKS if name in residuals]
    return judge("The system", CHECKS, {name: (residuals[name], tolerance) for name in names})


def _state(system: System, t: float, q: Any, v: Any, seed: int) -> tuple[Any, Any]:
    keys = jax.random.split(jax.random.PRNGKey(seed))
    if q is None:
        q = system.space.random(keys[0])
    if v is None:
        v = system.space.random_tangent(keys[1], q)
    q, v = system.project(t, q, v)
    return np.asarray(q), np.asarray(v)


@eqx.filter_jit
def _local_residuals(system: System, t: Any, q: Any, v: Any) -> dict[str, Any]:
    local = system.local(q)
    y, w = local.enter(v)
    mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
    momentum = lagrangian.momentum(local.lagrangian, t, y, w)
    again = lagrangian.velocity(local.lagrangian, t, y, momentum, jnp.zeros_like(w), definite=False)
    a = local.acceleration(t, y, w)
    reaction = jnp.zeros_like(w)
    if system.constraints.equations.total:
        held = local.hold(t, y, w)
        assert held is not None
        a, multipliers = accelerate(local, held, t, y, w)
        reaction = multipliers @ held.normals(t, y)
    applied = jnp.zeros_like(w) if local.applied is None else local.applied(t, y, w)
    force = lagrangian.inertial_force(local.lagrangian, t, y, w) + applied + reaction
    # d/dt of Jacobi's function along the motion, by the chain rule, against the power that drives it
    energy = jax.jvp(
        lambda s, x, u: lagrangian.energy_function(local.lagrangian, s, x, u), (t, y, w), (jnp.ones_like(t), w, a)
    )[1]
    power = jnp.dot(applied + reaction, w) - jax.grad(local.lagrangian, argnums=0)(t, y, w)
    size = 1.0 + jnp.sum(jnp.abs(force)) * (1.0 + jnp.max(jnp.abs(w)))
    return {
        "mass": jnp.max(jnp.abs(mass - mass.T)) / jnp.max(jnp.abs(mass)),
        "legendre": jnp.max(jnp.abs(again - w)) / (1.0 + jnp.max(jnp.abs(w))),
        "energy": jnp.abs(energy - power) / size,
        "balance": jnp.max(jnp.abs(mass @ a - force)) / (1.0 + jnp.max(jnp.abs(force))),
    }


def _constraint_residuals(system: System, t: float, q: Any, v: Any) -> dict[str, float]:
    seen = conditions(system, np.float64(t), q, v)
    assert seen is not None
    position, rates, normals, bias = (np.asarray(x) for x in (seen.position, seen.rates, seen.normals, seen.bias))
    local = system.local(jnp.asarray(q))
    again = system.project(t, q, v)
    a = np.asarray(local.enter(system.acceleration(t, q, v))[1]) if system.flat else None
    free = np.asarray(displacements(system, t, q))
    flat = np.asarray(jax.vmap(lambda u: local.enter(u)[1])(free.T)).T if free.size else np.zeros((system.space.dim, 0))
    missing = system.space.dim - np.linalg.matrix_rank(normals) - free.shape[1]
    found = {
        "projection": max(
            float(np.max(np.abs(position))),
            float(np.max(np.abs(rates))),
            float(np.max(np.abs(np.asarray(again[0]) - q))),
            float(np.max(np.abs(np.asarray(again[1]) - v))),
        ),
        "displacements": float(np.max(np.abs(normals @ flat), initial=0.0)) + abs(missing),
    }
    if a is not None:
        found["accelerations"] = float(np.max(np.abs(normals @ a + bias)) / (1.0 + np.max(np.abs(bias))))
    return found


def _motion_gap(system: System, t: float, q: Any, v: Any, span: float) -> float:
    ends = [
        simulate(system, q, v, t + span, t0=t, dt=span / steps, method=method, throw=False)
        for method, steps in ((None, 100), (Adaptive(8, 1e-11, 1e-11), 1))
    ]
    if not all(run.result.ok for run in ends):
        return float("inf")
    gaps = [
        (np.abs(a - b).max(), np.abs(b).max())
        for a, b in ((ends[0].q[-1], ends[1].q[-1]), (ends[0].v[-1], ends[1].v[-1]))
    ]
    return max(float(gap / (1.0 + size)) for gap, size in gaps)

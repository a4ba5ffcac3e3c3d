"""What a system with constraints has at a state: its mass matrix, its energy and what its constraints say there.

One compiled function serves projections onto the constraints, checks of the mass matrix and those of an initial state,
since each costs much more to trace and to compile than to call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from holonomy.start_checks import Conditions as Conditions
from holonomy.start_checks import State as State
from holonomy.systems import lagrangian
from holonomy.systems.constraints.conditions import all_equations
from holonomy.trace.native.engine import Engine
from holonomy.types import AnyPoint, AnyTangent, Number, Point, Scalar, Tangent

if TYPE_CHECKING:
    from holonomy.systems.system import System

_LARGEST: Final = 12  # coordinates up to which native code is made; above, XLA compiles what a caller needs by itself


def conditions(system: System, t: Number, q: Point, v: Tangent) -> Conditions | None:
    """The constraints at a state; None where there are none."""
    if not system.constraints.equations.total:
        return None
    local = system.local(q)
    y, w = local.enter(v)
    every = all_equations(local)
    force = lagrangian.inertial_force(local.lagrangian, t, y, w)
    if local.applied is not None:
        force = force + local.applied(t, y, w)
    position = every.position(t, y) if every.counts[0] else jnp.zeros(1, q.dtype)
    return Conditions(
        position,
        every.rates(t, y, w),
        every.normals(t, y),
        every.bias(t, y, w),
        force,
        every.rates(t, y, jnp.zeros_like(w)),
    )


def state(system: System, t: Number, q: Point, v: Tangent) -> State:
    """All of it, for code that is being traced; of a system with equations."""
    local = system.local(q)
    seen = conditions(system, t, q, v)
    assert seen is not None
    mass: Array = lagrangian.mass_matrix(local.lagrangian, t, *local.enter(v))
    energy: Scalar = system.raw_energy(t, q, v)
    return State(mass, energy, seen)


def suits(system: System) -> bool:
    """Whether this is all that there is to know of a system at a state, and native code is made for it."""
    given = system.constraints
    small = system.flat and system.space.point_dim <= _LARGEST
    return small and bool(given.equations.total) and not given.walls.total and given.touch is None


def evaluated(system: System, t: Number, q: AnyPoint, v: AnyTangent) -> State | None:
    """The values at a state; None where the system is too large, being traced or not in double precision."""
    if not suits(system) or any(isinstance(x, Tracer) for x in jax.tree.leaves((system, t, q, v))):
        return None
    q, v = np.asarray(q), np.asarray(v)
    if q.dtype != np.float64 or v.dtype != np.float64:
        return None
    return jax.tree.map(np.asarray, Engine(None).call(state, system, np.float64(t), q, v, seldom=True))

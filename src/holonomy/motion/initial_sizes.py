"""Whether the rods of many bodies, and their angles and cells of fixed size, hold at an initial state."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.methods.rattle_geodesic import moves_along_geodesics
from holonomy.systems import System, World
from holonomy.systems.bodies.rigid_elements import RigidElements
from holonomy.systems.bodies.world import settled
from holonomy.systems.constraints.tolerance import close, round_off
from holonomy.systems.dense_solve import RANK
from holonomy.systems.elimination import Factors
from holonomy.systems.tridiagonal import Tridiagonal
from holonomy.types import AnyArray

MOST_DENSE = 300  # conditions up to which methods and redundant conditions may use dense matrices
_SAID = 4  # conditions that a message names


def consistent(
    system: System, method: AbstractMethod, t: float, q: AnyArray, v: AnyArray
) -> tuple[World, AnyArray, AnyArray] | None:
    """The world and its initial state, on all conditions to round-off; None where the general check is the right one.

    That is for few conditions, for other methods than `Rattle`, and where some conditions follow from the others.
    """
    rigid = moves_along_geodesics(system)
    if rigid is None or rigid.sharing is None:
        return None
    assert isinstance(system, World)
    if not isinstance(method, Rattle):
        if rigid.count > MOST_DENSE:
            raise ValueError(
                f"{method.label} would hold the {rigid.count} rods, angles and cells of this world by dense matrices, "
                f"of which up to {MOST_DENSE} are supported; use hl.Rattle(4), whose matrices are sparse."
            )
        return None
    return on_sizes(system, rigid, t, q, v, or_none=rigid.count <= MOST_DENSE)


def on_sizes(
    system: World, rigid: RigidElements, t: float, q: AnyArray, v: AnyArray, or_none: bool
) -> tuple[World, AnyArray, AnyArray] | None:
    """The world and its initial state, on all conditions to round-off; or `ValueError`, or None, where some conditions
    follow from the others."""
    seen: Any = _seen(system, np.float64(t), q, v)
    energy, independent, values, rates, away, too_fast = (np.asarray(x) for x in seen)
    if not np.isfinite(energy):
        raise ValueError(
            f"The energy at the initial state is {energy}: a potential has no value there. Start elsewhere."
        )
    dependent = np.flatnonzero(~np.broadcast_to(independent > RANK**2, values.shape))
    if dependent.size:
        if or_none:
            return None
        raise ValueError(
            f"Some of the {rigid.count} conditions follow from others at the start: {_named(rigid, dependent)}. "
            f"Their multipliers are not determined; leave them out, or let springs take their place."
        )
    size_q, size_v = (max(1.0, float(np.max(np.abs(x)))) for x in (q, v))
    if not away <= close(q.dtype) * size_q:
        values = np.asarray(rigid.deviations(system, jnp.asarray(q)))
        worst = np.argsort(-np.abs(values))[:_SAID]
        said = ", ".join(f"{rigid.label(int(r))} by {values[r]:.3g}" for r in worst)
        raise ValueError(
            f"The initial points violate the sizes of rods, angles or cells: {said}. "
            f"world.project(t0, points, velocities) gives the nearest state that has them."
        )
    if not too_fast <= close(q.dtype) * size_v:
        worst = np.argsort(-np.abs(rates))[:_SAID]
        said = ", ".join(f"{rigid.label(int(r))} at the rate {rates[r]:.3g}" for r in worst)
        raise ValueError(
            f"The initial velocities change the sizes of rods, angles or cells: {said}. "
            f"world.project(t0, points, velocities) gives the nearest state that does not."
        )
    if away > round_off(q.dtype) * size_q or too_fast > round_off(q.dtype) * size_v:
        q, v = (np.asarray(x) for x in settled(system, jnp.asarray(q), jnp.asarray(v)))
    return system, q, v


@eqx.filter_jit
def _seen(world: World, t: Any, q: Any, v: Any) -> Any:
    rigid = world.rigid
    assert rigid is not None
    slopes = rigid.slopes(world, q)
    factors = rigid.factor(slopes)
    # of few conditions one number stands for all
    few = not isinstance(factors, Factors | Tridiagonal)
    independence = rigid.independence(slopes, slopes)[None] if few else factors.independence
    values, rates = rigid.values(world, q), rigid.rates(world, slopes, v)

    def size(of: Any) -> Any:
        return jnp.max(jnp.abs(rigid.spread(world, slopes, rigid.solve(factors, of), v)))

    return world.raw_energy(t, q, v), independence, values, rates, size(values), size(rates)


def _named(rigid: RigidElements, rows: np.ndarray) -> str:
    more = f" and {rows.size - _SAID} more" if rows.size > _SAID else ""
    return ", ".join(rigid.label(int(r)) for r in rows[:_SAID]) + more

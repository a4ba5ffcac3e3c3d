"""The state of steps along geodesics under conditions on sizes, and the parts of such a step: kick, drift, damping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.motion.methods.base import Status
from holonomy.motion.methods.phase_state import compensated_sum
from holonomy.motion.methods.splitting_flows import COMPENSATED, Durations
from holonomy.spaces.compensated import Compensated, along_geodesic, knows_geodesics, on_space
from holonomy.systems.bodies import World
from holonomy.systems.bodies.many_rods import moved as moved_along
from holonomy.systems.bodies.rigid_elements import RigidElements
from holonomy.types import Number, Point, Tangent


class GeodesicState(NamedTuple):
    """Position, velocity, and the last multipliers, a guess for the next; of few coordinates also what rounding took
    from the sums of changes that position and velocity are."""

    q: Point
    v: Tangent
    multipliers: Float[Array, " held"]
    q_low: Point | None = None
    v_low: Tangent | None = None


def start(world: World, rigid: RigidElements, q: Point, v: Tangent) -> GeodesicState:
    """The state at an initial condition."""
    state = GeodesicState(q, v, jnp.zeros(rigid.count, q.dtype))
    few = q.shape[0] <= COMPENSATED and knows_geodesics(world.space)
    return state._replace(q_low=jnp.zeros_like(q), v_low=jnp.zeros_like(v)) if few else state


def kicked(state: GeodesicState, change: Tangent) -> GeodesicState:
    """The state with a change added to its velocity."""
    if state.v_low is None:
        return state._replace(v=state.v + change)
    v, v_low = compensated_sum(state.v, state.v_low, change)
    return state._replace(v=v, v_low=v_low)


def drifted(world: World, h: Number | Durations, state: GeodesicState) -> GeodesicState:
    """The state moved along geodesics."""
    if state.q_low is None or state.v_low is None:
        q, v = moved_along(world, h, state.q, state.v)
        return state._replace(q=q, v=v)
    now = Compensated(state.q, state.v, state.q_low, state.v_low)
    step: Any = h  # one number: where vertices have lengths of their own, no state is compensated
    new = on_space(world.space, along_geodesic(world.space, now, step))
    return state._replace(q=new.x, v=new.p, q_low=new.x_low, v_low=new.p_low)


def damped(
    world: World,
    h: Number | Float[Array, " coordinates"],
    state: GeodesicState,
    order: int,
    undamped: Callable[[GeodesicState], tuple[GeodesicState, Status]],
) -> tuple[GeodesicState, Status]:
    """A step of length h, a number or one for each coordinate, with the damping of springs for half the time before and
    after it; the flow of the damping has the order of the method."""
    if not world.damped:
        return undamped(state)
    rigid, zero = world.rigid, jnp.zeros((), state.q.dtype)
    assert rigid is not None

    def flow(now: GeodesicState) -> GeodesicState:
        slopes = rigid.slopes(world, now.q)
        factors = rigid.factor(slopes)

        def term(k: Any, sums: Any) -> Any:
            last, total = sums
            push = (0.5 / k) * h * world.damp(zero, now.q, last)
            last = push - rigid.spread(world, slopes, rigid.solve(factors, rigid.rates(world, slopes, push)), push)
            return last, total + last

        v = jax.lax.fori_loop(1, order + 2, term, (now.v, now.v))[1]
        return now._replace(v=rigid.without_rates(world, slopes, v))

    new, status = undamped(flow(state))
    return flow(new), status

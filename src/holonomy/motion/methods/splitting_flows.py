"""The two flows that splitting methods compose: the exact motion without forces, and the kick of the forces."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.motion.methods.phase_state import compensated_sum
from holonomy.spaces import compensated
from holonomy.systems import System
from holonomy.systems.bodies import World
from holonomy.systems.bodies.many_vertices import ManyVertices
from holonomy.types import Point, Tangent, Time, Tree

Durations: TypeAlias = Float[Array, " vertices"]


class Flows(NamedTuple):
    """The exact flow of the kinetic part and the acceleration of the potential part, in arrays of their own."""

    enter: Callable[..., tuple[Tree, Tree]]
    drift: Callable[[Tree, Tree, Tree], tuple[Tree, Tree]]
    kick: Callable[[Tree, Tree, Tree], Tree]
    leave: Callable[[Tree, Tree, Tree], tuple[Tree, ...]]
    damp: Callable[[Tree, Tree, Tree], Tree] | None = None
    """The part of the acceleration that is linear in the velocity, where there is one."""
    add: Callable[[Tree, Tree], Tree] = operator.add
    """A velocity changed by a kick."""


class Sums(NamedTuple):
    """Positions and velocities that are sums of changes, with what rounding took from them."""

    q: Point
    v: Tangent
    q_low: Point
    v_low: Tangent


COMPENSATED = 128  # coordinates up to which sums are compensated; above, it would cost as much as moving


def adds_up(system: System) -> bool:
    """Whether motion is a sum of changes of few coordinates, which may be added with compensation."""
    known = system.flat or (isinstance(system, World) and compensated.knows_geodesics(system.space))
    return known and system.space.point_dim <= COMPENSATED and many_of(system) is None


def many_of(system: System) -> ManyVertices | None:
    """The flows of many vertices at once, of a world that has them."""
    return system.many if isinstance(system, World) else None


def by_components(many: ManyVertices) -> Flows:
    """The flows of many vertices at once, of positions and velocities by components."""
    return Flows(_same, many.drift, many.kick, lambda q, x, v: (x, v))


def summed(system: System, flows: Flows) -> Flows:
    """The flows of positions and velocities that are pairs, each with what rounding took from it: far from the origin,
    and in many steps, rounding does not accumulate."""
    damp = flows.damp

    def drift(h: Any, x: Any, u: Any) -> tuple[Any, Any]:
        if system.flat:
            return compensated_sum(x[0], x[1], (h * u[0], h * u[1])), u
        new = compensated.along_geodesic(system.space, compensated.Compensated(x[0], u[0], x[1], u[1]), h)
        return (new.x, new.x_low), (new.p, new.p_low)

    def leave(q: Any, x: Any, u: Any) -> tuple[Any, ...]:
        if system.flat:
            return x[0], u[0], x[1], u[1]
        end = compensated.on_space(system.space, compensated.Compensated(x[0], u[0], x[1], u[1]))
        point, velocity = flows.leave(q, end.x, end.p)
        stays = jnp.all(point == end.x)  # else it was written anew, and what rounding took belongs to the old arrays
        return point, velocity, jnp.where(stays, end.x_low, 0.0), jnp.where(stays, end.p_low, 0.0)

    return Flows(
        lambda q, v, q_low, v_low: ((q, q_low), (v, v_low)),
        drift,
        lambda t, x, u: flows.kick(t, x[0], u[0]),
        leave,
        None if damp is None else lambda t, x, u: damp(t, x[0], u),
        lambda u, change: compensated_sum(u[0], u[1], change),
    )


def flows_of(system: System, q: Point) -> Flows:
    """The flows of a system; those of a world are written near the origin at the end."""
    if not isinstance(system, World):
        return Flows(_same, lambda h, x, v: (x + h * v, v), system.local(q).acceleration, lambda q, x, v: (x, v))
    damp = system.damp if system.damped else None
    return Flows(_same, system.drift, system.kick, lambda q, x, v: system.recentred(x, v), damp)


def flows_of_each(world: World, t: Time, times: Durations) -> tuple[Flows, Array]:
    """The flows with a duration for each vertex, and these durations as the flows take them. Nothing is recentred."""
    many = world.many
    if many is not None:
        return Flows(many.enter, many.drift, lambda s, x, u: many.kick(t, x, u), many.leave), times[None]

    def drift(h: Any, x: Any, u: Any) -> tuple[Any, Any]:
        return jax.vmap(world.point_space.geodesic)(x, u, h[:, 0])

    rest = jnp.zeros(world.space.point_dim - world.count * world.point_space.point_dim, times.dtype)

    def flat(x: Any) -> Any:
        return jnp.concatenate([x.reshape(-1), rest])

    damp = (lambda s, x, u: world.points(world.damp(t, flat(x), flat(u)))) if world.damped else None
    return Flows(
        lambda q, v: (world.points(q), world.points(v)),
        drift,
        lambda s, x, u: world.points(world.kick(t, flat(x), flat(u))),
        lambda q, x, u: (jnp.concatenate([x.reshape(-1), q[x.size :]]), flat(u)),
        damp,
    ), times[:, None]


def _same(q: Any, v: Any) -> tuple[Any, Any]:
    return q, v

r"""RATTLE with geodesics: the step of `Rattle` for bodies in spaces whose geodesics are known.

\[ u = v_0 + \tfrac h2\Bigl(a(x_0) + \sum_r \lambda_r\,\tfrac1m\nabla\varphi_r(x_0)\Bigr), \qquad
   (x_1, u_1) = \text{geodesic from } (x_0, u) \text{ for the time } h, \qquad \varphi(x_1) = 0, \]

\[ v_1 = u_1 + \tfrac h2 a(x_1) + \sum_r \mu_r\,\tfrac1m\nabla\varphi_r(x_1), \qquad \dot\varphi(x_1, v_1) = 0. \]

Kicks by gradients and the flow of the kinetic energy: symplectic, reversible and of order 2, without charts. The
momentum maps of the space's isometries are kept to round-off. Damped springs act before and after it for half the time
each, at fixed positions: with P the projection onto the velocities that keep all sizes and B the damping,
\(\dot v = PBv\), whose flow is a series of powers of \(\tfrac h2PB\). Its forces are between the ends of springs, so
that the momentum maps stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.motion.methods.base import Status
from holonomy.motion.methods.geodesic_state import GeodesicState, damped, drifted, kicked
from holonomy.motion.methods.splitting_flows import Durations
from holonomy.root_finding import newton, newton_along
from holonomy.systems import System
from holonomy.systems.bodies import World
from holonomy.systems.bodies.many_vertices import sign_of
from holonomy.systems.bodies.rigid_elements import RigidElements, Slopes
from holonomy.systems.dense_solve import RANK
from holonomy.systems.result_code import Code
from holonomy.types import Point, Tangent, Time

_EXACT = 64  # conditions up to which the exact Jacobian may be formed where the frozen matrix does not converge


def moves_along_geodesics(system: System) -> RigidElements | None:
    """The conditions of a world that this step holds, or None for systems that it is not for."""
    return system.rigid_in_geodesics if isinstance(system, World) else None


def single(
    world: World, t: Time, h: Time, state: GeodesicState, full: bool, order: int
) -> tuple[GeodesicState, Status]:
    """One step of order 2, of a composition of the order that is given."""
    lengths = _Lengths(h, h, lambda x: x / (0.5 * h * h))
    return damped(
        world, lengths.coordinates, state, order, lambda now: _single(world, t, lengths, now, full, own=False)
    )


def single_of_each(world: World, times: Durations, state: GeodesicState, order: int) -> tuple[GeodesicState, Status]:
    """The same with a length for each vertex; vertices that act on each other must have the same.

    Vertices with length zero stay where they are, with their velocities.
    """
    rigid = world.rigid
    assert rigid is not None
    size = world.point_space.point_dim
    rest = state.q.shape[0] - world.count * size
    flat = jnp.concatenate([jnp.repeat(times, size), jnp.zeros(rest, times.dtype)])
    corner = np.concatenate([one.vertices[:, 0] for one in rigid.elements])
    square = 0.5 * times[corner] ** 2
    moving = square > 0

    def divided(x: Any) -> Any:
        return jnp.where(moving, x / jnp.where(moving, square, 1.0), 0.0)

    lengths = _Lengths(times, flat, divided)
    zero = jnp.zeros((), times.dtype)
    new, status = damped(
        world, lengths.coordinates, state, order, lambda now: _single(world, zero, lengths, now, full=False, own=True)
    )
    still = flat == 0.0
    return new._replace(v=jnp.where(still, state.v, new.v)), status


class _Lengths(NamedTuple):
    """The length of a step for vertices and for coordinates, one number or an array; and what divides values of the
    conditions by half its square."""

    vertices: Any
    coordinates: Any
    divided: Callable[[Any], Any]


def _single(
    world: World, t: Time, lengths: _Lengths, state: GeodesicState, full: bool, own: bool
) -> tuple[GeodesicState, Status]:
    """The step; `own` says that each iteration takes a matrix of its own."""
    q, v, last = state[:3]
    rigid = world.rigid
    assert rigid is not None
    slopes = rigid.slopes(world, q)
    factors = rigid.factor(slopes)
    h = lengths.coordinates
    pull = 0.5 * h * world.pull(t, q)

    def moved(multipliers: Any) -> GeodesicState:
        now = kicked(state, pull + 0.5 * h * rigid.spread(world, slopes, multipliers, v))
        return drifted(world, lengths.vertices, now._replace(multipliers=multipliers))

    def shift(multipliers: Any) -> Any:
        return jnp.abs(0.5 * h * h * rigid.spread(world, slopes, multipliers, v))

    def direction_at(multipliers: Any, value: Any) -> Any:
        x = moved(multipliers).q
        ahead = rigid.factor_between(rigid.slopes(world, x), rigid.carried(world, x, slopes))
        return lengths.divided(rigid.solve(ahead, value))

    if not own and rigid.sharing is not None and state.q_low is None and sign_of(world.point_space) == 0:
        multipliers, found, count = _straight(world, lengths, state, pull, slopes)
        return _ended(world, t + h, lengths, moved(multipliers), found, count)
    rounding = rigid.rounding(world, q)
    multipliers, found, count = newton(
        lambda z: rigid.values(world, moved(z).q),
        lambda r: lengths.divided(rigid.solve(factors, r)),
        shift,
        lambda z: rounding,
        last,
        full=full and rigid.count <= _EXACT,
        # the matrix of a long chain is so ill-conditioned that a frozen one does not converge
        direction_at=direction_at if own or rigid.sharing is not None else None,
    )
    return _ended(world, t if own else t + h, lengths, moved(multipliers), found, count)


def _ended(
    world: World, t: Any, lengths: _Lengths, new: GeodesicState, found: Any, count: Any
) -> tuple[GeodesicState, Status]:
    """The state after the second kick, with velocities that keep all sizes."""
    rigid = world.rigid
    assert rigid is not None
    new = kicked(new, 0.5 * lengths.coordinates * world.pull(t, new.q))
    new = kicked(new, -rigid.forbidden(world, rigid.slopes(world, new.q), new.v))
    code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
    return new, Status(code, count)


def _straight(world: World, lengths: _Lengths, state: GeodesicState, pull: Any, slopes: Slopes) -> tuple[Any, Any, Any]:
    """The multipliers of many conditions in flat space, found with places by components, as they lie in memory."""
    q, v, last = state[:3]
    rigid, h = world.rigid, lengths.coordinates
    assert rigid is not None

    def rows(z: Any) -> Any:
        return world.points(z).T

    def flat(x: Any) -> Any:
        return jnp.concatenate([x.T.reshape(-1), q[x.size :]])

    def shift(multipliers: Any) -> Any:
        return 0.5 * h * h * rows(rigid.spread(world, slopes, multipliers, v))

    def correction(x: Any) -> Any:
        at = flat(x)
        ahead = rigid.factor_between(rigid.slopes(world, at), slopes)
        return lengths.divided(rigid.solve(ahead, rigid.values(world, at)))

    base = rows(q + h * (v + pull))
    size = jnp.max(jnp.abs(q)) if rigid.parts is None else rows(rigid.rounding(world, q))
    return newton_along(correction, shift, lambda x: rigid.values(world, flat(x)), base, last, size)


def ended(world: World, before: Point, new: GeodesicState, status: Status) -> tuple[GeodesicState, Status]:
    """The state at the end of a whole step, written near the origin, and its status.

    The status says also whether the differentials of the conditions stayed independent from one end of the step to the
    other.
    """
    rigid = world.rigid
    assert rigid is not None
    first, second = rigid.slopes(world, before), rigid.slopes(world, new.q)
    good = rigid.independent(first, second, RANK**2)
    code = jnp.where((status.code == Code.ok) & ~good, jnp.int32(Code.rank_change), status.code)
    q, v = world.recentred(new.q, new.v)
    if new.q_low is not None and new.v_low is not None:
        stays = jnp.all(q == new.q)  # else it was written anew, and what rounding took belongs to the old arrays
        lows = (jnp.where(stays, low, 0.0) for low in (new.q_low, new.v_low))
        return GeodesicState(q, v, new.multipliers, *lows), Status(code, status.work)
    return GeodesicState(q, v, new.multipliers), Status(code, status.work)


def sizes_violated(world: World, q: Point, v: Tangent) -> Float[Array, " 2"]:
    """The largest deviation of a size, and the largest rate of one."""
    rigid = world.rigid
    assert rigid is not None
    rates = rigid.rates(world, rigid.slopes(world, q), v)
    return jnp.stack([jnp.max(jnp.abs(x)) for x in (rigid.values(world, q), rates)])


def pulled_by_sizes(world: World, q: Point) -> Point:
    """How strongly the conditions act on each coordinate of a configuration in flat space."""
    rigid = world.rigid
    assert rigid is not None
    covectors = rigid.slopes(world, q).covectors
    sizes = [tuple(jnp.abs(x) for x in one) for one in covectors]
    return rigid.spread(world, Slopes(covectors, sizes), jnp.ones(rigid.count, q.dtype), q)

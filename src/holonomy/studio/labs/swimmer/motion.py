r"""A stroke of a mover as motion: the phase of the gait and the place in the group, carried on in steps.

Coordinates are the phase \(s\), from 0 to 1, the place, the momentum where there is one, the cost
\(\int\dot r^\top G\dot r\,dt\) and the length in the metric of power. A step is one of `locomotion.reconstruct`, cut
where pieces of the gait meet, so that corners cost no accuracy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.locomotion import Gait, Mover
from holonomy.locomotion.curves import AbstractCurve
from holonomy.locomotion.groups import GroupSpace
from holonomy.locomotion.local_form import connection_at, margins_at, power_at
from holonomy.locomotion.momentum import drift
from holonomy.locomotion.reconstruct import Journey, begin, step
from holonomy.motion.methods.base import AbstractMethod, Status
from holonomy.spaces import SE2
from holonomy.systems.result_code import Code
from holonomy.types import Scalar

Cubic = Float[Array, "4 shape"]


class Stroke(eqx.Module):
    """A mover and the gait that it performs: `count` cubic pieces in a plane of its shapes, passed in `period`."""

    mover: Mover
    numbers: dict[str, Scalar]
    """Of the mover, by name."""
    pieces: Float[Array, "most 4 2"]
    count: Scalar
    period: Scalar
    axes: Float[Array, "shape 2"]
    origin: Float[Array, " shape"]

    def cubic(self, index: Any) -> Cubic:
        """The coefficients of a piece as one of shapes."""
        rows = self.pieces[index] @ self.axes.T
        return rows.at[0].add(self.origin)

    def point(self, phase: Any) -> tuple[Any, Any]:
        """The point of the picture of shapes at a phase from 0 to 1, and its rate of change."""
        at = phase * self.count
        index = jnp.clip(jnp.floor(at), 0.0, self.count - 1.0)
        arc = Arc(self.pieces[index.astype(int)], at - index, jnp.ones(()))
        x, slope = jax.jvp(arc, (jnp.zeros(()),), (jnp.ones(()),))
        return x, slope * self.count / self.period


class Arc(AbstractCurve):
    """The part of a cubic piece from `start` on, `size` long, as a curve on [0, 1]."""

    cubic: Cubic
    start: Scalar
    size: Scalar

    @property
    def dim(self) -> int:
        return self.cubic.shape[1]

    @property
    def pieces(self) -> int:
        return 1

    def __call__(self, s: Scalar) -> Array:
        u, c = self.start + self.size * s, self.cubic
        return c[0] + u * (c[1] + u * (c[2] + u * c[3]))


class Performing(NamedTuple):
    """The state of `AlongGait`: `q` are the coordinates."""

    q: Array


class AlongGait(AbstractMethod):
    """Reconstruction on the group along a gait: Gauss collocation in the Lie algebra, order 16."""

    momentum: int = eqx.field(static=True)

    @property
    def order(self) -> int:
        return 16

    @property
    def label(self) -> str:
        return "Reconstruction on the group, 8 stages"

    def start(self, system: Any, t: Any, q: Any, v: Any) -> Performing:
        return Performing(q)

    def step(self, system: Any, t: Any, h: Any, state: Performing) -> tuple[Performing, Status]:
        stroke: Stroke = system
        at = state.q[0] * stroke.count
        index = jnp.clip(jnp.floor(at), 0.0, stroke.count - 1.0)
        todo = h / stroke.period * stroke.count
        first = (index.astype(int), at - index, todo, entered(stroke.mover, state.q, self.momentum))

        def onward(now: Any) -> Any:
            piece, u, left, journey = now
            part = jnp.minimum(1.0 - u, left)
            gait = Gait(Arc(stroke.cubic(piece), u, part), part * stroke.period / stroke.count)
            later = step(stroke.mover, gait, 0, 1, journey)
            over = left >= 1.0 - u
            following = jnp.where(piece + 1 >= stroke.count, 0, piece + 1)
            return jnp.where(over, following, piece), jnp.where(over, 0.0, u + part), left - part, later

        # what rounding leaves of a step is no further step
        piece, u, _, journey = jax.lax.while_loop(lambda now: now[2] > 1e-13 * todo, onward, first)
        phase = (piece + u) / stroke.count
        allowed = jnp.all(journey.margins > 0)
        code = jnp.where(allowed, jnp.int32(Code.ok), jnp.int32(Code.inconsistent))
        return Performing(left(stroke.mover, phase, journey)), Status(code, jnp.int32(1))

    def read(self, system: Any, t: Any, state: Performing) -> tuple[Any, Any]:
        """The coordinates and their rates."""
        stroke: Stroke = system
        _, xi, power, push = rates(stroke, state.q, self.momentum)
        lie = stroke.mover.lie
        journey = entered(stroke.mover, state.q, self.momentum)

        def nearby(s: Any) -> Any:
            return place_of(stroke.mover, lie.compose(journey.g, lie.exp(s * xi)), journey.turned + s * xi)

        moving = jax.jvp(nearby, (jnp.zeros(()),), (jnp.ones(()),))[1]
        speed = jnp.sqrt(jnp.maximum(power, 0.0))
        return state.q, jnp.concatenate([(1.0 / stroke.period)[None], moving, push, power[None], speed[None]])


def rates(stroke: Stroke, q: Any, momentum: int) -> tuple[Any, Any, Any, Any]:
    """At a state: the shape, the body velocity, the power, and the rate of the momentum."""
    x, speed = stroke.point(q[0])
    r, rate, mover = stroke.origin + stroke.axes @ x, stroke.axes @ speed, stroke.mover
    xi, push = -connection_at(mover, r) @ rate, jnp.zeros(0)
    if momentum:
        gained, push = drift(mover, r, rate, q[-2 - momentum : -2])
        xi = xi + gained
    return r, xi, rate @ power_at(mover, r) @ rate, push


def entered(mover: Mover, q: Any, momentum: int) -> Journey:
    """The journey so far, from the coordinates."""
    end = q.shape[0] - 2
    place = q[1 : end - momentum]
    planar = isinstance(mover.lie, GroupSpace) and isinstance(mover.lie.space, SE2)
    g = mover.lie.space.from_pose(place) if planar else place  # pyright: ignore[reportAttributeAccessIssue]
    turned = place if planar else jnp.zeros(mover.lie.dim)
    fresh = begin(mover, q[end - momentum : end])
    return fresh._replace(g=g, turned=turned, energy=q[end], length=q[end + 1])


def left(mover: Mover, phase: Any, journey: Journey) -> Any:
    """The coordinates of a journey so far."""
    place = place_of(mover, journey.g, journey.turned)
    return jnp.concatenate([phase[None], place, journey.momentum, journey.energy[None], journey.length[None]])


def place_of(mover: Mover, g: Any, turned: Any) -> Any:
    """The place as the coordinates have it: (x, y, theta) with full turns counted on SE(2), else the element."""
    planar = isinstance(mover.lie, GroupSpace) and isinstance(mover.lie.space, SE2)
    return jnp.append(g[2:], turned[2]) if planar else g


def allowed(mover: Mover, r: Any) -> Any:
    """Whether a shape may be taken."""
    return jnp.all(margins_at(mover, r) > 0)

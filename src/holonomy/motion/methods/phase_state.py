r"""States in phase space: coordinates and momenta in a chart.

`Gauss` and `SymplecticEuler` renew the chart at every step and account for that (`moving_chart`). `Rattle` and `Radau`
take a plain step in a chart that stays while the motion is inside it: the anchor moves when the coordinates have
grown, by a multiple of a fixed length, a choice that nearby states share. Each step and each change of chart of
`Rattle` is symplectic, but a change of chart changes the modified energy, so that over many of them the energy may
drift.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.spaces import compensated
from holonomy.spaces.compensated import Compensated
from holonomy.systems import System, lagrangian
from holonomy.types import Point, Scalar, Tangent, Time, Vector

# Coordinates beyond REACH (in units of the space's own scale) move the anchor, by multiples of GRID.
REACH = 0.5
GRID = 0.125


# Velocities of the last steps' stages, oldest first.
Stages: TypeAlias = Float[Array, "stages n"]


class Phase(NamedTuple):
    """Coordinates y and momentum p in the chart at `anchor`, and the digits lost in adding to them.

    `stages` are velocities of the last steps, oldest first, from which the next one's are guessed; `h` is the length of
    the last step and `before` of the one before it, zero where there was none. Where points are their own coordinates
    there is no anchor. Where the chart is renewed at every step, `compensated` has the anchor and the
    momentum with the digits lost in moving them.
    """

    anchor: Point | None
    y: Vector
    p: Vector
    y_low: Vector
    p_low: Vector
    stages: Stages
    h: Scalar
    before: Scalar
    compensated: Compensated | None = None

    @property
    def base(self) -> Point:
        """The base point of the chart; where points are their own coordinates any point serves."""
        return self.y if self.anchor is None else self.anchor


def enter(system: System, t: Time, q: Point, v: Tangent, stages: int, renewed: bool = False) -> Phase:
    """The state at position q with velocity v; `renewed` says that every step renews the chart."""
    local = system.local(q)
    y, w = local.enter(v)
    p = lagrangian.momentum(local.lagrangian, t, y, w)
    rows, none = jnp.broadcast_to(w, (stages, *w.shape)), jnp.zeros((), y.dtype)
    carry = compensated.begin(system.space, q, p) if renewed and not system.flat else None
    anchor = None if system.flat else q
    return Phase(anchor, y, p, jnp.zeros_like(y), jnp.zeros_like(p), rows, none, none, carry)


def ratio(state: Phase, h: Time) -> Scalar:
    """The length of the step to take over that of the last; 1 where there was none."""
    return jnp.asarray(h) / jnp.where(state.h == 0, h, state.h)


def leave(system: System, t: Time, state: Phase, guess: Vector) -> tuple[Point, Tangent]:
    """Position and velocity; `guess` is a velocity in the chart to start the inverse Legendre transform from."""
    local = system.local(state.base)
    solves = local.solves(t, state.y)
    w = lagrangian.velocity(local.lagrangian, t, state.y, state.p, guess, local.definite, solves)
    return local.leave(state.y, w)


def summed(
    state: Phase, dy: Vector | tuple[Vector, Vector], dp: Vector | tuple[Vector, Vector], stages: Stages, h: Time
) -> Phase:
    """The state further by (dy, dp) in the same chart, as the parts of a composed step must stay in one."""
    y, y_low = compensated_sum(state.y, state.y_low, dy)
    p, p_low = compensated_sum(state.p, state.p_low, dp)
    kept = jnp.concatenate([state.stages[len(stages) :], stages])
    return Phase(state.anchor, y, p, y_low, p_low, kept, jnp.asarray(h, y.dtype), state.h)


def recentred(system: System, state: Phase) -> Phase:
    """The same state with an anchor near it."""
    if system.flat:
        return state
    scale = system.space.chart_scale
    far = jnp.max(jnp.abs(state.y)) > REACH * scale
    return jax.lax.cond(far, lambda s: _moved(system, s, scale), lambda s: s, state)


def _moved(system: System, state: Phase, scale: Any) -> Phase:
    shift = GRID * scale * jnp.round(jax.lax.stop_gradient(state.y) / (GRID * scale))
    space, anchor = system.space, state.base
    y = space.transition(anchor, shift, state.y)
    _, pull = jax.vjp(lambda z: space.rechart(anchor, shift, z), y)
    _, push = jax.linearize(lambda z: space.transition(anchor, shift, z), state.y)
    p, stages = pull(state.p)[0], jax.vmap(push)(state.stages)
    turning = jnp.concatenate([jnp.stack([y, p, push(state.y_low), pull(state.p_low)[0]]), stages])
    point = space.chart(anchor, shift)
    y, p, y_low, p_low, *stages = space.recentred_local(point, turning)
    point, _ = space.recentred(point, jnp.zeros_like(point))
    return Phase(point, y, p, y_low, p_low, jnp.stack(stages), state.h, state.before)


def compensated_sum(total: Array, low: Array, increment: Array | tuple[Array, Array]) -> tuple[Array, Array]:
    """Kahan's sum: the total and what rounding took from it."""
    large, small = increment if isinstance(increment, tuple) else (increment, 0.0)
    corrected = large + (small + low)
    new = total + corrected
    return new, corrected - (new - total)

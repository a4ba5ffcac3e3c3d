"""Explicit motion with error control, by diffrax."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.method_table import Properties
from holonomy.motion.methods import projection
from holonomy.motion.methods.base import AbstractMethod, Status
from holonomy.systems import System
from holonomy.systems.quantities import ambient_acceleration
from holonomy.systems.result_code import Code
from holonomy.types import Number, Point, Tangent, Time, Tree

_MAX_STEPS = 16384  # inner steps between two saved times at most
# The least rtol in roundings: below it the error estimate of order 8, a sum of twelve slopes, is rounding alone.
_LEAST = 20
_TIGHTER = 100.0  # a tolerance in units of one so much tighter that its errors do not count beside this one's
_ANGLE = 4.0  # of squared angles between normals to the tolerance: with xy = c the normals are at least √(2c) long


class AdaptiveState(NamedTuple):
    """Position, velocity, and how long the last inner steps were as a first guess for the next."""

    q: Point
    v: Tangent
    inner: Tree


class Adaptive(AbstractMethod):
    """Dormand–Prince of order 8, or Tsitouras of order 5, on (q, v) with error control. Not symplectic.

    A step of length dt, the spacing of saved times, is made of as many inner steps as `rtol` and `atol` ask for; saved
    states lie at the ends of inner steps, not on an interpolant, so that they have the method's full order. Explicit:
    for forced, dissipative and time-dependent motion that is not stiff. Constraints are held by projection after dt;
    inner steps look whether they keep their rank.
    """

    rtol: Time
    atol: Time
    order_: int = eqx.field(static=True)

    def __init__(self, order: int = 8, rtol: float = 1e-9, atol: float = 1e-9):
        if order not in (5, 8):
            raise ValueError(f"Adaptive has orders 5 (Tsitouras) and 8 (Dormand–Prince); got {order!r}.")
        for name, value in (("rtol", rtol), ("atol", atol)):
            if not 0 < value < 1:
                raise ValueError(f"Adaptive's {name} must lie between 0 and 1, such as 1e-9; got {value!r}.")
        self.order_ = order
        self.rtol = np.float64(rtol)
        self.atol = np.float64(atol)

    @property
    def order(self) -> int:
        return self.order_

    def tighter(self) -> Adaptive:
        rtol, atol = (max(float(x) / _TIGHTER, _LEAST * float(np.finfo(float).eps)) for x in (self.rtol, self.atol))
        return Adaptive(self.order_, rtol, atol)

    @property
    def holds(self) -> tuple[str, ...]:
        return ("holonomic", "velocity")

    @property
    def rubs(self) -> bool:
        return True

    @property
    def scalar(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return f"Adaptive(order={self.order_}, rtol={float(self.rtol):g}, atol={float(self.atol):g})"

    @property
    def properties(self) -> Properties:
        return Properties(error_control=True)

    @property
    def fixed_step(self) -> bool:
        return False

    def refuse(self, dtype: np.dtype) -> None:
        least = _LEAST * float(jnp.finfo(dtype).eps)
        if dtype != np.float64 and not isinstance(self.rtol, Tracer) and self.rtol < least:
            raise ValueError(
                f"{self.label} asks for more digits than {dtype} has: pass q0 and v0 in float64, or an rtol of at "
                f"least {least:.0e}."
            )

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> AdaptiveState:
        return AdaptiveState(q, v, jnp.zeros((), q.dtype))

    def step(self, system: System, t: Time, h: Time, state: AdaptiveState) -> tuple[AdaptiveState, Status]:
        import diffrax  # here, because it takes a second to import and most runs do not need it

        solver = diffrax.Dopri8() if self.order_ == 8 else diffrax.Tsit5()
        given = system.constraints
        if given.equations.total or given.touch is not None:
            from holonomy.motion.methods.rank_guard import RankGuard

            # Within dt the constraints hold to the tolerance, so a distance below its square root from a singular
            # position is as good as none.
            solver = RankGuard(solver, system, _ANGLE * (self.rtol + self.atol), h)

        def slope(s: Any, y: Any, _: Any) -> Any:
            return y[1], ambient_acceleration(system, s, *y)

        first = jnp.where(state.inner == 0, 0.01 * h, jnp.minimum(jnp.abs(h), state.inner) * jnp.sign(h))
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(slope),
            solver,
            t,
            t + h,
            first,
            (state.q, state.v),
            stepsize_controller=diffrax.PIDController(
                rtol=jnp.asarray(self.rtol, state.q.dtype), atol=jnp.asarray(self.atol, state.q.dtype)
            ),
            max_steps=_MAX_STEPS,
            throw=False,
        )
        q, v = (y[-1] for y in solution.ys)  # pyright: ignore[reportOptionalIterable]
        if not system.flat:
            q = system.space.project(q)
            v = system.space.tangent(q, v)
        local = system.local(q)
        y, w = local.enter(v)
        held = local.hold(t + h, y, w)
        code = jnp.int32(Code.ok)
        if held is not None:
            # dt is no step: between its ends the normals may well turn over without harm, so the inner steps are
            # guarded, and here the end itself is looked at
            y, w, status = projection.finish(local, held, t, h, y, w, y)
            (q, v), code = local.leave(y, w), status.code
        q, v = system.space.recentred(q, v)
        taken = solution.stats["num_accepted_steps"]
        inner = jnp.abs(h) * 1.5 / jnp.maximum(taken, 1)
        inner = jnp.where(taken > 1, inner, jnp.maximum(inner, state.inner))
        good = solution.result == diffrax.RESULTS.successful
        code = jnp.where(good, code, jnp.int32(Code.too_many_steps))
        singular = solution.result == diffrax.RESULTS.dt_min_reached
        code = jnp.where(singular, jnp.int32(Code.rank_change), code)
        return AdaptiveState(q, v, inner), Status(code, solution.stats["num_steps"].astype(jnp.int32))

    def reach(self, state: AdaptiveState, step: Number) -> Number:
        return jnp.where(state.inner == 0, 0.1 * step, jnp.minimum(step, state.inner))

    def read(self, system: System, t: Time, state: AdaptiveState) -> tuple[Point, Tangent]:
        return state.q, state.v

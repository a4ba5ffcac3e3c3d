"""Motion on through positions where the normals of the constraints are dependent, along the smooth branch."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from holonomy.method_table import Properties
from holonomy.motion.methods.base import AbstractMethod, Status, keep_if
from holonomy.motion.methods.radau import Radau
from holonomy.systems import System
from holonomy.systems.constraints.project import independence_between
from holonomy.systems.quantities import ambient_acceleration
from holonomy.systems.replace import replace
from holonomy.systems.result_code import Code
from holonomy.types import Multipliers, Point, Scalar, State, Tangent, Time

# Parts of a step by which it is tried longer, one after the other; and the part of the angle between normals before it
# that must be left after it. From an end within 1/16 of a step of a singular position, 0.15 leads far enough.
_LONGER = (0.0, 0.15, 0.3)
_NEARER = 2.0**-4
_CLEAR = 1e-5  # angle between normals below which rounding spoils the velocity by more than 1e-6
_JUMP = 0.5  # part of the velocity that may change in a step across a singular position; more is another branch


class PassingState(NamedTuple):
    """The state of the method, and how far its time is ahead of the grid of steps."""

    inner: State
    ahead: Scalar


class ThroughSingular(AbstractMethod):
    """Another method whose steps never end at a singular position.

    The equations of a step across a singular position are regular, and of the branches that meet there they have the
    one along the velocity as their solution. They are singular only where the step ends in that position; it is then
    taken a little longer and the next one shorter. States in between are read by Taylor's formula of order 3. A step
    across a singular position over which the velocity jumps is not kept.
    """

    method: AbstractMethod

    @property
    def order(self) -> int:
        return self.method.order

    @property
    def label(self) -> str:
        return self.method.label

    @property
    def properties(self) -> Properties:
        return self.method.properties

    def properties_on(self, system: System) -> Properties:
        return self.method.properties_on(system)

    @property
    def holds(self) -> tuple[str, ...]:
        return self.method.holds

    @property
    def scalar(self) -> bool:
        return self.method.scalar

    def fallback(self, certain: bool) -> ThroughSingular | None:
        surer = self.method.fallback(certain)
        return None if surer is None else ThroughSingular(surer)

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> PassingState:
        return PassingState(self.method.start(system, t, q, v), jnp.zeros((), q.dtype))

    def step(self, system: System, t: Time, h: Time, state: PassingState) -> tuple[PassingState, Status]:
        begin = t + state.ahead
        before = (begin, *self.method.read(system, begin, state.inner))
        longer = h * jnp.asarray(_LONGER, before[1].dtype)
        far = jnp.maximum(_NEARER**2 * independence_between(system, before, before)[1], _CLEAR**2)

        def attempt(tries: Any) -> Any:
            count, best, code, work, _ = tries
            new, status = self.method.step(system, begin, h - state.ahead + longer[count], state.inner)
            end = t + h + longer[count]
            after = (end, *self.method.read(system, end, new))
            between, angle = independence_between(system, before, after)
            change, speed = after[2] - before[2], before[2]
            jumps = ~between & (jnp.sum(change**2) > _JUMP**2 * jnp.sum(speed**2))
            finite = jnp.all(jnp.isfinite(after[1])) & jnp.all(jnp.isfinite(after[2]))
            this = jnp.where(jumps & (status.code == Code.ok), jnp.int32(Code.rank_change), status.code)
            this = jnp.where((this == Code.ok) & ~finite, jnp.int32(Code.not_finite), this)
            good = this == Code.ok
            # an end that is near a singular position is better than none
            new = keep_if(good | (code != Code.ok), PassingState(new, longer[count]), best)
            return count + 1, new, jnp.where(good, this, code), work + status.work, good & (angle > far)

        def going(tries: Any) -> Any:
            return ~tries[-1] & (tries[0] < len(_LONGER))

        first = (jnp.int32(0), state, jnp.int32(Code.no_convergence), jnp.int32(0), jnp.bool_(False))
        _, new, code, work, _ = jax.lax.while_loop(going, attempt, first)
        return new, Status(code, work)

    def read(self, system: System, t: Time, state: PassingState) -> tuple[Point, Tangent]:
        there = t + state.ahead
        q, v = self.method.read(system, there, state.inner)

        def back() -> tuple[Any, Any]:
            def acceleration(s: Any, x: Any, w: Any) -> Any:
                return ambient_acceleration(system, s, x, w)

            h, a = -state.ahead, acceleration(there, q, v)
            jerk = jax.jvp(acceleration, (there, q, v), (jnp.ones_like(there), v, a))[1]
            x, w = q + h * (v + h * (a / 2.0 + h * jerk / 6.0)), v + h * (a + h * jerk / 2.0)
            if system.flat:
                return x, w
            x = system.space.project(x)
            return x, system.space.tangent(x, w)

        return jax.lax.cond(state.ahead == 0, lambda: (q, v), back)

    def multipliers(self, system: System, t: Time, state: PassingState) -> Multipliers:
        return self.method.multipliers(system, t + state.ahead, state.inner)


def passing(system: System, method: AbstractMethod) -> tuple[System, AbstractMethod]:
    """A system and a method made ready to go on through singular positions, or a ValueError where they cannot."""
    given = system.constraints
    if not given or isinstance(method, ThroughSingular):
        return system, method
    if given.walls.total:
        raise ValueError("singular='pass' cannot be combined with unilateral constraints; leave out singular=.")
    if not method.fixed_step:
        raise ValueError(
            f"singular='pass' needs a method that steps across a singular position; {method.label} shortens its steps "
            f"before one. Use hl.Rattle(4) or hl.Radau(3), or method=None."
        )
    given = replace(given, treatment=replace(given.treatment, passes=True))
    if isinstance(method, Radau):
        # corrections by the matrix at a guessed end beside a singular position lead to velocities that are no root
        method = Radau(method.stages, method.at, iteration="newton")
    return replace(system, constraints=given), ThroughSingular(method)

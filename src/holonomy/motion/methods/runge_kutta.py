"""What explicit Runge–Kutta methods share: a step in the chart at the present point, projection onto constraints."""

from __future__ import annotations

import abc
from typing import Any

import jax

from holonomy.motion.methods.base import AbstractMethod, PositionVelocity, Status, fine
from holonomy.motion.methods.projection import finish
from holonomy.systems import System


class AbstractRungeKutta(AbstractMethod):
    """An explicit method on (q, v), which steps in the local chart of the present point.

    Constraints are held by projection after each step.
    """

    @abc.abstractmethod
    def advance(self, slope: Any, t: Any, h: Any, y: Any, w: Any) -> tuple[Any, Any]:
        """One step of y' = w, w' = slope(t, y, w)."""

    def start(self, system: System, t: Any, q: Any, v: Any) -> PositionVelocity:
        return PositionVelocity(q, v)

    def step(self, system: System, t: Any, h: Any, state: PositionVelocity) -> tuple[PositionVelocity, Status]:
        local = system.local(state.q)
        y, w = local.enter(state.v)
        held = local.hold(t, y, w)
        # jitted so that the stages share one traced and simplified body
        slope = jax.jit(lambda *state: local.acceleration(*state))
        end, w = self.advance(slope, t, h, y, w)
        if held is None:
            return PositionVelocity(*local.leave(end, w)), fine()
        end, w, status = finish(local, held, t, h, end, w, y)
        return PositionVelocity(*local.leave(end, w)), status

    @property
    def holds(self) -> tuple[str, ...]:
        return ("holonomic", "velocity")

    @property
    def rubs(self) -> bool:
        return True

    def read(self, system: System, t: Any, state: PositionVelocity) -> tuple[Any, Any]:
        return state.q, state.v

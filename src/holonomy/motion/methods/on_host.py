"""Methods that run on the host, from one saved time to the next, and have no step that could be traced."""

from __future__ import annotations

import abc

from holonomy.motion.methods.base import AbstractMethod, PositionVelocity, Status
from holonomy.systems import System
from holonomy.types import Point, Tangent, Time


class AbstractHostMethod(AbstractMethod):
    """A method whose `dt` is the spacing of saved times and which does not run under a user's jit, vmap or grad."""

    @property
    @abc.abstractmethod
    def instead(self) -> str:
        """The sentence that says what to use in its place under jit, vmap and grad."""

    @property
    def fixed_step(self) -> bool:
        return False

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> PositionVelocity:
        raise ValueError(f"{self.label} runs on the host, so it cannot be traced by jit, vmap or grad. {self.instead}")

    def step(self, system: System, t: Time, h: Time, state: PositionVelocity) -> tuple[PositionVelocity, Status]:
        raise ValueError(f"{self.label} has no single step that could be traced. {self.instead}")

    def read(self, system: System, t: Time, state: PositionVelocity) -> tuple[Point, Tangent]:
        return state.q, state.v

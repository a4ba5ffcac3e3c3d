"""Motion a few steps at a time, for a live picture."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from holonomy.motion import problem
from holonomy.motion.loops.driver import Driver
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.run import provenance
from holonomy.motion.run.build import build
from holonomy.motion.run.result import Result, SimulationError
from holonomy.motion.run.run import Run
from holonomy.systems import System
from holonomy.types import State, VectorLike


class Stepper:
    """Takes steps of one length with states that can be kept: a state is a value, and going back is using an old one.

    The compiled code is that of `simulate`, shared by all steppers of the same structure.
    """

    def __init__(self, system: System, method: AbstractMethod | None = None, dt: float = 1e-3):
        self.system = system
        self.method = method
        self.dt = dt
        self._driver: Driver | None = None

    def start(self, t: float, q: VectorLike, v: VectorLike) -> State:
        """The state at an initial condition; checked like the initial condition of a run."""
        given = problem.problem(self.system, q, v, t + self.dt, self.dt, self.method, None, t, 1, live=True)
        self._driver = Driver(given.system, given.method)
        return float(t), self._driver.start(t, given.q0, given.v0)

    def advance(self, state: State, steps: int) -> State:
        """The state that many steps later; raises `SimulationError` when a step fails."""
        new, _ = self._go(state, steps)
        return new

    def read(self, state: State) -> tuple[float, np.ndarray, np.ndarray, float]:
        """Time, position, velocity and energy of a state."""
        _, shot = self._go(state, 0)
        t0, now = state
        return float(t0 + now.index * self.dt), np.asarray(shot.q), np.asarray(shot.v), float(shot.energy)

    def _go(self, state: Any, steps: int) -> tuple[Any, Any]:
        if self._driver is None:
            raise ValueError("Call start(t, q, v) before stepping.")
        t0, now = state
        new, saved, done = self._driver.rows(now, t0, self.dt, np.array([steps]), np.zeros(1))
        if done != 1:
            raise SimulationError(self._broken(self._driver, t0, now, new))
        return (t0, new), jax.tree.map(lambda x: x[0], saved)

    def _broken(self, driver: Driver, t0: float, before: Any, now: Any) -> Run:
        _, shots, _ = driver.rows(before, t0, self.dt, np.zeros(1, np.int64), np.zeros(1))
        made = provenance.of(driver.system, driver.method, engine=driver.engine.name, dt=self.dt, maker="stepper")
        return build(
            np.array([t0 + int(before.index) * self.dt]),
            shots,
            Result(int(now.code), t0 + int(now.index) * self.dt, int(now.index)),
            int(now.work),
            made,
            system=driver.system,
            method=driver.method,
        )

"""Motion a few steps at a time, for a live picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.motion import check, loop
from holonomy.motion.method import AbstractMethod
from holonomy.motion.result import Code, Result, SimulationError
from holonomy.motion.run import Run
from holonomy.systems import System


class Stepper:
    """Takes steps of one length with states that can be kept: a state is a value, and going back is using an old one.

    The compiled code is that of `simulate`, shared by all steppers of the same structure.
    """

    def __init__(self, system: System, method: AbstractMethod | None = None, dt: float = 1e-3):
        self.system = system
        self.method = method
        self.dt = dt
        self._problem: check.Problem | None = None

    def start(self, t: float, q: Any, v: Any) -> Any:
        """The state at an initial condition; checked like the initial condition of a run."""
        problem = check.problem(self.system, q, v, t + self.dt, self.dt, self.method, None, t, 1)
        self._problem = problem
        return np.float64(t), loop.start(problem.system, problem.method, np.float64(t), problem.q0, problem.v0)

    def advance(self, state: Any, steps: int) -> Any:
        """The state that many steps later; raises `SimulationError` when a step fails."""
        new, _ = self._go(state, steps)
        return new

    def read(self, state: Any) -> tuple[float, np.ndarray, np.ndarray, float]:
        """Time, position, velocity and energy of a state."""
        _, shot = self._go(state, 0)
        t0, now = state
        return float(t0 + now.index * self.dt), np.asarray(shot.q), np.asarray(shot.v), float(shot.energy)

    def _go(self, state: Any, steps: int) -> tuple[Any, Any]:
        if self._problem is None:
            raise ValueError("Call start(t, q, v) before stepping.")
        t0, now = state
        zeros = np.zeros(1)
        now, saved, done = loop.chunk(
            self._problem.system,
            self._problem.method,
            now,
            t0,
            np.float64(self.dt),
            loop.padded(np.array([steps], np.int64)),
            loop.padded(zeros),
            np.int64(1),
        )
        first = loop.Snapshot(*(np.asarray(x)[:1] for x in saved))
        if int(now.code) != Code.ok or int(done) != 1:
            raise SimulationError(self._broken(t0, now, first))
        return (t0, now), loop.Snapshot(*(x[0] for x in first))

    def _broken(self, t0: Any, now: Any, shot: loop.Snapshot) -> Run:
        assert self._problem is not None
        t = float(t0 + now.index * self.dt)
        return Run(
            t=np.array([t]),
            **shot._asdict(),
            result=Result(int(now.code), t, int(now.index)),
            work=int(now.work),
            system=self._problem.system,
            method=self._problem.method,
            dt=self.dt,
            notes=tuple(self._problem.notes.items()),
        )

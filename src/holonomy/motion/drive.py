"""Driving compiled loops from the host: which engine, what to do when a step fails, how to stop in between."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from holonomy.motion import loop
from holonomy.motion.engine import Engine
from holonomy.motion.method import AbstractMethod
from holonomy.motion.result import Code
from holonomy.systems import System


class Driver:
    """A system and a method on an engine. It turns to the method's fallback when a step's equations resist."""

    def __init__(self, system: System, method: AbstractMethod, engine: str | None = None):
        self.system = system
        self.method = method
        self.engine = method.engine(system, engine) or Engine(system, method, engine)

    def start(self, t: float, q: Any, v: Any) -> loop.Progress:
        """The loop's state at an initial condition."""
        return self.engine.call(loop.begin, self.system, self.method, np.float64(t), q, v)

    def rows(
        self, now: loop.Progress, t0: float, dt: float, counts: np.ndarray, rests: np.ndarray
    ) -> tuple[loop.Progress, loop.Snapshot, int]:
        """At most `loop.ROWS` rows of a plan from `now`: progress, snapshots of the good rows, their number."""
        goals = int(now.index) + np.cumsum(counts)
        parts: list[loop.Snapshot] = []
        done = 0
        while True:
            ahead = np.diff(goals[done:], prepend=int(now.index))
            now, shots, good = self._chunk(now, t0, dt, ahead, rests[done:])
            parts.append(shots)
            done += good
            surer = self.method.fallback(certain=False) if int(now.code) == Code.no_convergence else None
            if surer is None:
                return now, jax.tree.map(lambda *p: np.concatenate(p), *parts), done
            self.method = surer
            self.engine = Engine(self.system, surer, "xla")
            now = now._replace(code=np.int32(Code.ok))

    def _chunk(
        self, now: loop.Progress, t0: float, dt: float, counts: np.ndarray, rests: np.ndarray
    ) -> tuple[loop.Progress, loop.Snapshot, int]:
        now, shots, good = self.engine.call(
            loop.chunk,
            self.system,
            self.method,
            now,
            np.float64(t0),
            np.float64(dt),
            loop.padded(counts.astype(np.int64)),
            loop.padded(rests.astype(np.float64)),
            np.int64(len(counts)),
        )
        kept = int(good)
        return now, jax.tree.map(lambda x: np.asarray(x)[:kept], shots), kept

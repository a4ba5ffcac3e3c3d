"""Driving compiled loops from the host: which engine, what to do when a step fails, how to stop in between."""

from __future__ import annotations

from typing import Any, TypeAlias

import jax
import numpy as np

from holonomy.motion.events import event, event_log
from holonomy.motion.events.event import Watched
from holonomy.motion.events.event_log import Events, Log
from holonomy.motion.loops import pieces, plain, with_events
from holonomy.motion.loops.engine_choice import engine_for
from holonomy.motion.methods.base import AbstractMethod
from holonomy.systems import System
from holonomy.systems.contact import contact
from holonomy.systems.result_code import Code
from holonomy.types import AnyPoint, AnyTangent, Tree

Now: TypeAlias = Tree  # where a loop is: the `Progress` of `plain` or of `with_events`


class Driver:
    """A system and a method on an engine. It turns to the method's fallback when a step's equations resist, where it
    `falls_back`.

    With events or walls it runs the loops of `with_events`, else those of `plain`. `happened` are the records so far.
    """

    def __init__(
        self,
        system: System,
        method: AbstractMethod,
        engine: str | None = None,
        watched: Watched | None = None,
        max_events: int = 1000,
        falls_back: bool = True,
    ):
        self.system = system
        self.method = method
        self.engine = method.engine(system, engine) or engine_for(system, method, engine)
        self.watched = watched if watched is not None else event.none()
        self.max_events = max_events
        self.falls_back = falls_back
        self.eventful = self.watched.count + contact.count(system) > 0
        self._logs: list[Log] = []

    @property
    def happened(self) -> Events | None:
        """What happened along the rows driven so far, None where nothing can."""
        if not self.eventful:
            return None
        called = event_log.names(self.watched.names, contact.count(self.system), contact.with_friction(self.system))
        return event_log.gathered(self._logs, called, self.system.space.point_dim, self.max_events)

    def start(self, t: float, q: AnyPoint, v: AnyTangent) -> Now:
        """The loop's state at an initial condition."""
        if self.eventful:
            now = self.engine.call(
                with_events.begin, self.system, self.watched, self.method, np.float64(t), q, v, seldom=True
            )
            return self.start(t, q, v) if self._widened(now) else now
        return self.engine.call(plain.begin, self.system, self.method, np.float64(t), q, v, seldom=True)

    def rows(
        self, now: Now, t0: float, dt: float, counts: np.ndarray, rests: np.ndarray
    ) -> tuple[Now, plain.Snapshot, int]:
        """At most `pieces.rows_at_once` rows of a plan from `now`: progress, snapshots of the good rows, their number.

        A terminal event adds one row, the state at the event.
        """
        goals = int(now.index) + np.cumsum(counts)
        parts: list[plain.Snapshot] = []
        done = 0
        while True:
            ahead, before = np.diff(goals[done:], prepend=int(now.index)), now
            now, shots, good = self._chunk(now, t0, dt, ahead, rests[done:])
            narrow = self.system
            if self._widened(now):
                given = (narrow, self.system, self.watched, self.method, before, np.float64(t0), np.float64(dt))
                now = self.engine.call(with_events.wider, *given)
                continue
            parts.append(shots)
            done += good
            if self._goes_on(now) and done < len(counts):
                continue
            resists = self.falls_back and int(now.code) == Code.no_convergence
            surer = self.method.fallback(certain=False) if resists else None
            if surer is None:
                return now, jax.tree.map(lambda *p: np.concatenate(p), *parts), done
            self.method = surer
            self.engine = engine_for(self.system, surer, "xla")
            now = now._replace(code=np.int32(Code.ok))

    def _widened(self, now: Any) -> bool:
        """Whether more walls came near than were looked at together; from now on they are twice as many."""
        wider = contact.wider(self.system) if int(now.code) == Code.crowded else None
        self.system = self.system if wider is None else wider
        return wider is not None

    def _goes_on(self, now: Any) -> bool:
        """Whether the loop only stopped because its log was full."""
        return self.eventful and int(now.code) == Code.ok

    def _chunk(
        self, now: Any, t0: float, dt: float, counts: np.ndarray, rests: np.ndarray
    ) -> tuple[Any, plain.Snapshot, int]:
        rows, steps = pieces.rows_at_once(self.system.space.point_dim), int(np.sum(counts))
        plan = (
            np.float64(t0),
            np.float64(dt),
            pieces.padded(counts.astype(np.int64), rows),
            pieces.padded(rests.astype(np.float64), rows),
            np.int64(len(counts)),
        )
        if self.eventful:
            given = (self.system, self.watched, self.method, now, *plan)
            now, shots, good = self.engine.call(with_events.chunk, *given, steps=steps)
            if int(now.code) == Code.crowded and contact.wider(self.system) is not None:
                return now, shots, 0
            now = self._logged(now)
            kept = int(good) + (int(now.code) == Code.event)
            return now, jax.tree.map(lambda x: np.asarray(x)[:kept], shots), int(good)
        now, shots, good = self.engine.call(plain.chunk, self.system, self.method, now, *plan, steps=steps)
        kept = int(good)
        return now, jax.tree.map(lambda x: np.asarray(x)[:kept], shots), kept

    def _logged(self, now: Any) -> Any:
        """The progress with its records taken out of it, and stopped where they are too many."""
        if int(now.log.count):
            self._logs.append(now.log)
        now = now._replace(log=now.log._replace(count=np.int64(0)))
        if sum(int(log.count) for log in self._logs) > self.max_events and int(now.code) == Code.ok:
            now = now._replace(code=np.int32(Code.too_many_events))
        return now

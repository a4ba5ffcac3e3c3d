"""A plan carried out from the host: compiled chunks one after the other, with progress and interruption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from holonomy.motion import ball_collisions, body_collisions
from holonomy.motion.events.event_log import Events
from holonomy.motion.loops import pieces, plain
from holonomy.motion.loops.driver import Driver
from holonomy.motion.methods.colliding_bodies import CollidingBodies
from holonomy.motion.methods.event_driven import EventDriven
from holonomy.motion.problem import Problem
from holonomy.motion.run.result import Result
from holonomy.motion.run.saved import Saved
from holonomy.motion.save_times import Plan, refuse_beyond_memory
from holonomy.systems.bodies import World
from holonomy.systems.result_code import Code
from holonomy.types import Whole

ProgressBar = Callable[[float], Any]


@dataclass(frozen=True)
class Driven:
    """The rows of a plan as far as the motion got, how it ended, what happened on the way, and what ran it.

    `fell_back` says that the fallback of the method did.
    """

    times: Float[np.ndarray, " times"]
    rows: plain.Snapshot
    result: Result
    work: Whole
    happened: Events | None
    engine: str
    refusal: str
    saved: Saved | None = None
    fell_back: bool = False


class Rows:
    """Takes the rows of a run as they come, and keeps every one; `motion/keep` keeps less."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, plain.Snapshot]] = []

    def add(self, times: np.ndarray, rows: plain.Snapshot) -> None:
        """Take the rows at these times, which follow those before them."""
        self._parts.append((times, rows))

    def states(self) -> tuple[np.ndarray, plain.Snapshot] | None:
        """The states that stay, None where there are none."""
        return jax.tree.map(lambda *parts: np.concatenate(parts), *self._parts) if self._parts else None

    def saved(self) -> Saved | None:
        """What is kept beside them."""
        return None


def drive(problem: Problem, rows: Plan, progress: bool | ProgressBar | None, keep: Rows | None = None) -> Driven:
    """The plan in compiled chunks; `keep` decides what stays of its rows, all of them by default."""
    if keep is None:
        refuse_beyond_memory(rows, problem.q0.shape[0])
        keep = Rows()
    if isinstance(problem.method, EventDriven | CollidingBodies):
        with _Bar(progress) as report:
            every = (_by_events if isinstance(problem.method, EventDriven) else _by_steps)(problem, rows, report)
        keep.add(every.times, every.rows)
        return _with(every, keep)
    driver = Driver(problem.system, problem.method, problem.engine, problem.watched, problem.max_events)
    now, count = None, 0
    code = int(Code.ok)
    total = max(rows.steps, 1)
    with _Bar(progress) as report:
        try:
            now = driver.start(rows.t0, problem.q0, problem.v0)
            for counts, rests, wanted in pieces.cut(rows, problem.system):
                now, shots, done = driver.rows(now, rows.t0, rows.dt, counts, rests)
                taken = np.append(wanted[:done], np.ones(len(shots.energy) - done, bool))
                part, code = jax.tree.map(lambda x, w=taken: x[w], shots), int(now.code)
                times = rows.times[count : count + len(part.energy)]
                if code == Code.event:
                    times = np.append(times[: len(part.energy) - 1], _of_event(rows, now))
                keep.add(times, part)
                count += len(times)
                report(int(now.index) / total)
                if code != Code.ok:
                    break
        except KeyboardInterrupt:
            code = int(Code.interrupted)
    return _collect(problem, rows, driver, keep, now, code)


def _with(driven: Driven, keep: Rows) -> Driven:
    """The same with the rows that stay."""
    times, rows = keep.states() or (driven.times, driven.rows)
    return replace(driven, times=times, rows=rows, saved=keep.saved())


def _by_events(problem: Problem, rows: Plan, report: ProgressBar) -> Driven:
    """The plan of free balls, from collision to collision."""
    system = problem.system
    assert isinstance(system, World)
    given = (system, problem.q0, problem.v0, rows.times, rows.t0, problem.max_events)
    q, v, records, code, looked = ball_collisions.fly(*given, report)
    times, happened = rows.times[: len(q)], records.events(rows.t0, np.sign(rows.dt))
    stopped = float(times[-1]) if code == Code.ok else float(happened.t[-1]) if len(happened) else rows.t0
    result = Result(code, stopped, len(happened))
    return Driven(times, ball_collisions.look(system, q, v), result, looked, happened, "queue of collisions", "")


def _by_steps(problem: Problem, rows: Plan, report: ProgressBar) -> Driven:
    """The plan of bodies that collide, step by step."""
    system, method = problem.system, problem.method
    assert isinstance(system, World)
    assert isinstance(method, CollidingBodies)
    start = (problem.q0, problem.v0)
    q, v, records, code, steps, work = body_collisions.fly(
        system, method.stepping, *start, rows, problem.max_events, report
    )
    times, happened = rows.times[: len(q)], records.events(rows.t0, np.sign(rows.dt))
    stopped = float(times[-1]) if code == Code.ok else rows.t0 + steps * rows.dt
    shots = ball_collisions.look(system, q, v)
    return Driven(times, shots, Result(code, stopped, steps), work, happened, "xla, contacts on the host", "")


def _collect(problem: Problem, rows: Plan, driver: Driver, keep: Rows, now: Any, code: int) -> Driven:
    none = np.zeros((0, problem.q0.shape[0]))
    empty = np.zeros(0), plain.Snapshot(q=none, v=none, energy=np.zeros(0), momentum=none, pull=none)
    times, shots = keep.states() or empty
    steps = 0 if now is None else int(now.index)
    stopped = float(times[-1]) if code in (Code.ok, Code.event) and len(times) else rows.t0 + steps * rows.dt
    work = 0 if now is None else int(now.work)
    result = Result(code, stopped, steps)
    engine = driver.engine
    fell_back = driver.method is not problem.method
    return Driven(times, shots, result, work, driver.happened, engine.name, engine.refusal, keep.saved(), fell_back)


def _of_event(rows: Plan, now: Any) -> float:
    """The time of the event that ended a run."""
    return float(rows.t0 + int(now.index) * rows.dt + np.sign(rows.dt) * now.base.past)


class _Bar:
    """Reports a fraction to nobody, to a function, or to a progress bar on the terminal."""

    def __init__(self, wanted: bool | ProgressBar | None):
        self.wanted = wanted
        self.shown: Any = None

    def __enter__(self) -> ProgressBar:
        if callable(self.wanted):
            return self.wanted
        if not self.wanted:
            return lambda fraction: None
        from rich.progress import Progress

        self.shown = Progress(transient=True)
        self.shown.start()
        task = self.shown.add_task("simulating", total=1.0)
        return lambda fraction: self.shown.update(task, completed=fraction)

    def __exit__(self, *_: object) -> None:
        if self.shown is not None:
            self.shown.stop()

"""A plan carried out from the host: compiled chunks one after the other, with progress and interruption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from holonomy.motion.events.event_log import Events
from holonomy.motion.loops import plain
from holonomy.motion.loops.driver import Driver
from holonomy.motion.problem import Problem
from holonomy.motion.run.result import Result
from holonomy.motion.save_times import Plan, refuse_beyond_memory
from holonomy.systems.result_code import Code
from holonomy.types import Whole

ProgressBar = Callable[[float], Any]


@dataclass(frozen=True)
class Driven:
    """The rows of a plan as far as the motion got, how it ended, what happened on the way, and what ran it."""

    times: Float[np.ndarray, " times"]
    rows: plain.Snapshot
    result: Result
    work: Whole
    happened: Events | None
    engine: str
    refusal: str


def drive(problem: Problem, rows: Plan, progress: bool | ProgressBar | None) -> Driven:
    """The plan in compiled chunks."""
    refuse_beyond_memory(rows, problem.q0.shape[0])
    driver = Driver(problem.system, problem.method, problem.engine, problem.watched, problem.max_events)
    saved: list[Any] = []
    now = None
    code = int(Code.ok)
    total = max(rows.steps, 1)
    with _Bar(progress) as report:
        try:
            now = driver.start(rows.t0, problem.q0, problem.v0)
            for counts, rests, wanted in plain.pieces(rows, problem.system.space.point_dim):
                now, shots, done = driver.rows(now, rows.t0, rows.dt, counts, rests)
                taken = np.append(wanted[:done], np.ones(len(shots.energy) - done, bool))
                saved.append(jax.tree.map(lambda x, w=taken: x[w], shots))
                code = int(now.code)
                report(int(now.index) / total)
                if code != Code.ok:
                    break
        except KeyboardInterrupt:
            code = int(Code.interrupted)
    return _collect(problem, rows, driver, saved, now, code)


def _collect(problem: Problem, rows: Plan, driver: Driver, saved: list[Any], now: Any, code: int) -> Driven:
    if saved:
        shots = jax.tree.map(lambda *parts: np.concatenate(parts), *saved)
    else:
        none = np.zeros((0, problem.q0.shape[0]))
        shots = plain.Snapshot(q=none, v=none, energy=np.zeros(0), momentum=none, pull=none)
    steps = 0 if now is None else int(now.index)
    times = rows.times[: len(shots.energy)]
    stopped = float(times[-1]) if code == Code.ok and len(times) else rows.t0 + steps * rows.dt
    if code == Code.event and now is not None:
        stopped = float(rows.t0 + steps * rows.dt + np.sign(rows.dt) * now.base.past)
        times = np.append(times[: len(shots.energy) - 1], stopped)
    work = 0 if now is None else int(now.work)
    result = Result(code, stopped, steps)
    return Driven(times, shots, result, work, driver.happened, driver.engine.name, driver.engine.refusal)


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

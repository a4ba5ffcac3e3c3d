"""`simulate`: one function that composes a system, a method and times into a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import problem as check
from holonomy.motion.events.event import Watched
from holonomy.motion.events.event_log import Events
from holonomy.motion.loops import plain
from holonomy.motion.loops.driver import Driver
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.explicit import RK4
from holonomy.motion.methods.gauss import Gauss
from holonomy.motion.methods.radau import Radau
from holonomy.motion.methods.rattle import Rattle
from holonomy.motion.run.result import Result, SimulationError
from holonomy.motion.run.run import Run
from holonomy.motion.save_times import Plan, plan
from holonomy.systems import System
from holonomy.systems.contact import contact
from holonomy.systems.result_code import Code

ProgressBar = Callable[[float], Any]


def simulate(
    system: System,
    q0: Any,
    v0: Any,
    t_end: float,
    *,
    dt: float | None = None,
    method: AbstractMethod | None = None,
    engine: str | None = None,
    t0: float = 0.0,
    save_every: int = 1,
    save_at: Any = None,
    events: Any = (),
    max_events: int = 1000,
    progress: bool | ProgressBar | None = None,
    throw: bool = True,
) -> Run:
    """The motion of a system from (q0, v0) at t0 to t_end.

    **Arguments:** `dt`, the step (for `Adaptive`, the spacing of saved times); None halves the step until halving
    changes the motion by less than the tolerance named in the certificate. `method`, None to pick one by what the
    system is. `engine`, ``"native"`` (one machine function), ``"xla"``, or None to pick. `save_every` steps, or
    `save_at` given times. `events`, a list of `Event`; `max_events`, how many may happen, impacts and changes of
    contact included, before the run stops with a result code: under jit, vmap or grad that many rows and steps are
    compiled, so keep it small there. `progress`, True for a bar, or a function of the fraction done. `throw`, whether a
    run that stops early raises `SimulationError`, which carries its good part, or is returned.

    **Fails** with `ValueError` for what can be known beforehand, with `SimulationError` for what happens in the run.
    Under a user's jit, vmap or grad nothing is raised: rows after a failure are NaN and `run.result` says why.
    """
    problem = check.problem(system, q0, v0, t_end, dt, method, engine, t0, save_every, events, max_events)
    notes = dict(problem.notes)
    if dt is None:
        if problem.is_traced:
            raise ValueError("Under jit, vmap or grad the number of steps must be known: pass dt.")
        from holonomy.motion.step_halving import halve

        return halve(problem, save_every, save_at, progress, throw)
    rows = plan(problem.t0, problem.t_end, dt, save_every, save_at)
    if problem.is_traced:
        return _traced(problem, rows, notes)
    run = drive(problem, rows, notes, progress)
    if throw and not run.result.ok:
        raise SimulationError(run)
    return run


def drive(problem: check.Problem, rows: Plan, notes: dict[str, str], progress: bool | ProgressBar | None) -> Run:
    """The plan in compiled chunks, with progress and a way to stop in between."""
    driver = Driver(problem.system, problem.method, problem.engine, problem.watched, problem.max_events)
    saved: list[Any] = []
    now = None
    code = int(Code.ok)
    total = max(rows.steps, 1)
    with _Bar(progress) as report:
        try:
            now = driver.start(rows.t0, problem.q0, problem.v0)
            for counts, rests, wanted in plain.pieces(rows):
                now, shots, done = driver.rows(now, rows.t0, rows.dt, counts, rests)
                taken = np.append(wanted[:done], np.ones(len(shots.energy) - done, bool))
                saved.append(jax.tree.map(lambda x, w=taken: x[w], shots))
                code = int(now.code)
                report(int(now.index) / total)
                if code != Code.ok:
                    break
        except KeyboardInterrupt:
            code = int(Code.interrupted)
    notes = {**notes, "engine": driver.engine.name}
    if driver.engine.refusal:
        notes["refusal"] = driver.engine.refusal
    return _collect(problem, rows, notes, saved, now, code, driver.happened)


def _collect(
    problem: check.Problem,
    rows: Plan,
    notes: dict[str, str],
    saved: list[Any],
    now: Any,
    code: int,
    happened: Events | None,
) -> Run:
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
    return Run(
        t=times,
        **shots.columns(),
        result=Result(code, stopped, steps),
        work=0 if now is None else int(now.work),
        system=problem.system,
        method=problem.method,
        dt=abs(rows.dt),
        notes=tuple(notes.items()),
        happened=happened,
        watched=problem.watched,
    )


def _traced(problem: check.Problem, rows: Plan, notes: dict[str, str]) -> Run:
    method = problem.method.fallback(certain=True) or problem.method
    if problem.watched is not None or contact.count(problem.system):
        return _traced_events(problem, method, rows, notes)
    now, shots = plain.traced(problem.system, method, rows, jnp.asarray(problem.q0), jnp.asarray(problem.v0))
    return Run(
        t=jnp.asarray(rows.times, shots.q.dtype),
        **shots.columns(),
        result=Result(now.code, rows.t0 + now.index * rows.dt, now.index),
        work=now.work,
        system=problem.system,
        method=problem.method,
        dt=abs(rows.dt),
        notes=tuple(notes.items()),
    )


def _traced_events(problem: check.Problem, method: AbstractMethod, rows: Plan, notes: dict[str, str]) -> Run:
    from holonomy.motion.loops import with_events_traced

    watched = problem.watched or Watched((), (), (), ())
    q, v = jnp.asarray(problem.q0), jnp.asarray(problem.v0)
    end, shots, happened, t = with_events_traced.traced(problem.system, method, watched, rows, q, v, problem.max_events)
    return Run(
        t=jnp.asarray(rows.times, shots.q.dtype),
        **shots.columns(),
        result=Result(end.code, t, end.base.index, end.smooth),
        work=end.work,
        system=problem.system,
        method=problem.method,
        dt=abs(rows.dt),
        notes=tuple(notes.items()),
        happened=happened,
        watched=problem.watched,
    )


def default_method(system: System) -> tuple[AbstractMethod, str]:
    """The method for a system, and why."""
    if system.constraints is None:
        return Gauss(3), "smooth and unconstrained: symplectic, reversible, order 6"
    holonomic, velocity = system.constraints.counts
    unilateral, ratchets = system.constraints.walls
    if system.constraints.slip:
        return RK4(), "friction: forces by accelerations, contacts held by projection"
    if unilateral + ratchets:
        if velocity or ratchets:
            return Radau(3), "walls and conditions on velocities: contacts held at the end of each step"
        return Rattle(4), "walls: symplectic and reversible between impacts, contacts held to round-off"
    if not velocity:
        return Rattle(4), "holonomic constraints: symplectic, reversible, held to round-off"
    if not holonomic:
        return Gauss(3), "velocity constraints: reversible by symmetric projection, order 6"
    return Radau(3), "holonomic and velocity constraints together: both held at the end of each step"


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

"""The order of convergence that a run shows: the same motion with its step, half of it and a quarter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from holonomy.motion import problem
from holonomy.motion.drive import Driven, drive
from holonomy.motion.run.result import SimulationError
from holonomy.motion.save_times import plan

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run


def difference(coarse: Driven, fine: Driven) -> float:
    """The largest difference of states at common times, relative to the largest position and velocity."""
    gaps = []
    rows = min(len(coarse.times), len(fine.times))  # runs that end with an event may see it a row apart
    for a, b in ((coarse.rows.q, fine.rows.q), (coarse.rows.v, fine.rows.v)):
        gaps.append(float(np.max(np.abs(a[:rows] - b[:rows])) / max(float(np.max(np.abs(b))), 1e-300)))
    return max(gaps)


def observed_order(run: Run) -> float:
    """log2 of the ratio of the largest differences between runs with dt, dt/2 and dt/4 over the saved times."""
    if run.system is None or run.method is None or np.ndim(run.t) > 1:
        raise ValueError(
            "The observed order needs a single run that still has its system; this one was loaded or batched."
        )
    if run.watched is not None and any(a is not None for a in run.watched.actions):
        raise ValueError("The observed order is for runs whose events have no actions; compare three runs yourself.")
    ends = [_with_step(run, run.dt / k) for k in (1, 2, 4)]
    first, second = difference(ends[0], ends[1]), difference(ends[1], ends[2])
    return float(np.log2(first / second)) if second > 0 else float("inf")


def _with_step(run: Run, dt: float) -> Driven:
    assert run.system is not None
    start, end = float(run.t[0]), float(run.t[-1])
    given = problem.problem(run.system, run.q[0], run.v[0], end, dt, run.method, None, start, 1)
    done = drive(given, plan(given.t0, given.t_end, dt, 1, run.t[1:]), None)
    if not done.result.ok:
        made = replace(run.provenance, engine=done.engine, refusal=done.refusal, dt=dt)
        rows = done.rows.columns()
        raise SimulationError(replace(run, t=done.times, **rows, result=done.result, work=done.work, provenance=made))
    return done

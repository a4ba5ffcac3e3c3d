"""Step halving: a step that is small enough, and the order that is really there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy.motion.run.result import SimulationError
from holonomy.motion.save_times import plan
from holonomy.systems.result_code import Code

if TYPE_CHECKING:
    from holonomy.motion.problem import Problem
    from holonomy.motion.run.run import Run

TOLERANCE = 1e-9
_FIRST = 128
_LAST = 2**21


def halve(problem: Problem, save_every: int, save_at: Any, progress: Any, throw: bool) -> Run:
    """Runs with ever smaller steps until halving changes the states by less than `TOLERANCE` of their size.

    The difference of the last two runs over \\(2^p - 1\\), p the order, is the error the certificate states. A motion
    too long or too chaotic for the tolerance stops at the smallest step and the certificate says what was reached.
    """
    from holonomy.motion.simulate import drive

    method = problem.method
    span = abs(problem.t_end - problem.t0)
    if not method.fixed_step:
        rows = plan(problem.t0, problem.t_end, span / 1000, save_every, save_at)
        return _finish(drive(problem, rows, dict(problem.notes), progress), throw)
    looks = np.linspace(problem.t0, problem.t_end, 33)[1:]
    steps, before, error = _FIRST, None, np.inf
    while True:
        rows = plan(problem.t0, problem.t_end, span / steps, 1, looks)
        trial = drive(problem, rows, dict(problem.notes), None)
        if trial.result.code == Code.interrupted:
            return _finish(trial, throw)
        if before is not None and before.result.ok and trial.result.ok:
            error = difference(before, trial) / (2**method.order - 1)
        if error <= TOLERANCE or steps >= _LAST:
            break
        before, steps = trial, 2 * steps
    notes = {**problem.notes, "step_error": repr(error)}
    rows = plan(problem.t0, problem.t_end, span / steps, save_every, save_at)
    return _finish(drive(problem, rows, notes, progress), throw)


def _finish(run: Run, throw: bool) -> Run:
    if throw and not run.result.ok:
        raise SimulationError(run)
    return run


def difference(coarse: Run, fine: Run) -> float:
    """The largest difference of states at common times, relative to the largest position and velocity."""
    gaps = []
    rows = min(len(coarse.t), len(fine.t))  # runs that end with an event may see it a row apart
    for a, b in ((coarse.q, fine.q), (coarse.v, fine.v)):
        gaps.append(float(np.max(np.abs(a[:rows] - b[:rows])) / max(float(np.max(np.abs(b))), 1e-300)))
    return max(gaps)


def observed_order(run: Run) -> float:
    """log2 of the ratio of the largest differences between runs with dt, dt/2 and dt/4 over the saved times."""
    from holonomy.motion.simulate import simulate

    if run.system is None or run.method is None or np.ndim(run.t) > 1:
        raise ValueError(
            "The observed order needs a single run that still has its system; this one was loaded or batched."
        )
    if run.watched is not None and any(a is not None for a in run.watched.actions):
        raise ValueError("The observed order is for runs whose events have no actions; compare three runs yourself.")
    ends = [
        simulate(
            run.system,
            run.q[0],
            run.v[0],
            float(run.t[-1]),
            t0=float(run.t[0]),
            dt=run.dt / k,
            method=run.method,
            save_at=run.t[1:],
        )
        for k in (1, 2, 4)
    ]
    first, second = difference(ends[0], ends[1]), difference(ends[1], ends[2])
    return float(np.log2(first / second)) if second > 0 else float("inf")

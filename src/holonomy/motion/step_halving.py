"""Step halving: a step that is small enough for a tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.motion.drive import drive
from holonomy.motion.problem import Problem
from holonomy.motion.run import build
from holonomy.motion.run.observed_order import difference
from holonomy.motion.run.run import Run
from holonomy.motion.save_times import plan
from holonomy.systems.result_code import Code

TOLERANCE = 1e-9
_FIRST = 128
_LAST = 2**21


def halve(problem: Problem, save_every: int, save_at: Any, progress: Any) -> Run:
    """Runs with ever smaller steps until halving changes the states by less than `TOLERANCE` of their size.

    The difference of the last two runs over \\(2^p - 1\\), p the order, is the error the certificate states. A motion
    too long or too chaotic for the tolerance stops at the smallest step and the certificate says what was reached.
    """
    method = problem.method
    span = abs(problem.t_end - problem.t0)
    if not method.fixed_step:
        rows = plan(problem.t0, problem.t_end, span / 1000, save_every, save_at)
        return build.of_driven(problem, drive(problem, rows, progress), rows.dt)
    looks = np.linspace(problem.t0, problem.t_end, 33)[1:]
    steps, before, error = _FIRST, None, np.inf
    while True:
        rows = plan(problem.t0, problem.t_end, span / steps, 1, looks)
        trial = drive(problem, rows, None)
        if trial.result.code == Code.interrupted:
            return build.of_driven(problem, trial, rows.dt)
        if before is not None and before.result.ok and trial.result.ok:
            error = difference(before, trial) / (2**method.order - 1)
        if error <= TOLERANCE or steps >= _LAST:
            break
        before, steps = trial, 2 * steps
    rows = plan(problem.t0, problem.t_end, span / steps, save_every, save_at)
    return build.of_driven(problem, drive(problem, rows, progress), rows.dt, step_error=error)

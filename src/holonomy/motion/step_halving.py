"""Step halving: a step that is small enough for a tolerance."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from holonomy.motion.drive import Driven, ProgressBar, drive
from holonomy.motion.keep import Wanted, driven
from holonomy.motion.problem import Problem
from holonomy.motion.run import build
from holonomy.motion.run.observed_order import difference
from holonomy.motion.run.run import Run
from holonomy.motion.run.verdict import energy_scale
from holonomy.motion.save_times import plan
from holonomy.motion.unseen_forces import unseen
from holonomy.systems.result_code import Code
from holonomy.types import ArrayLike

TOLERANCE = 1e-9
_FIRST = 128  # steps of the first trial
_LAST = 2**21  # steps of the last trial at most
_LEAST_ORDER = 0.5  # differences that shrink more slowly, as those at round-off do, count as if of this order


def halve(
    problem: Problem,
    save_every: int,
    save_at: ArrayLike | None,
    progress: bool | ProgressBar | None,
    save: Wanted | None = None,
) -> Run:
    r"""Runs with ever smaller steps until halving changes the states by less than `TOLERANCE` of their size.

    The error that the certificate states is the difference of the last two runs over \(2^p - 1\), with p the order
    that the last three runs show, but at most that of the method; for a conservative system it is at least the relative
    energy drift. Differences that vanish show no order: without energy as a witness the error is not known then (NaN).
    A step that does not see a short pulse or a narrow bump of the forces is halved further. A motion for which no step
    is small enough ends with the code `inaccurate`.
    """
    method = problem.method
    span = abs(problem.t_end - problem.t0)
    if not method.fixed_step:
        rows = plan(problem.t0, problem.t_end, span / 1000, save_every, save_at)
        return build.of_driven(problem, driven(problem, rows, progress, save), rows.dt)
    looks = np.linspace(problem.t0, problem.t_end, 33)[1:]
    steps, trials, error = _FIRST, [], np.inf
    while True:
        rows = plan(problem.t0, problem.t_end, span / steps, 1, looks)
        trial = drive(problem, rows, None)
        if trial.result.code == Code.interrupted:
            return build.of_driven(problem, trial, rows.dt)
        trials = [*trials[-2:], trial] if trial.result.ok else []
        if len(trials) == 3:
            error = _error(problem, trials)
        if steps >= _LAST or (not error > TOLERANCE and not _misses_a_force(problem, span / steps)):
            break
        steps = 2 * steps
    rows = plan(problem.t0, problem.t_end, span / steps, save_every, save_at)
    run = build.of_driven(problem, driven(problem, rows, progress, save), rows.dt, step_error=float(error))
    if error > TOLERANCE and run.result.ok:
        return replace(run, result=replace(run.result, code=int(Code.inaccurate)))
    return run


def _misses_a_force(problem: Problem, dt: float) -> bool:
    every = drive(problem, plan(problem.t0, problem.t_end, dt, 1, None), None)
    return unseen(problem.system, every)


def _error(problem: Problem, trials: list[Driven]) -> float:
    """The error of the last of three runs with steps h, h/2 and h/4; NaN where nothing shows it."""
    coarse, fine = (difference(a, b) for a, b in pairwise(trials))
    rows = trials[-1].rows
    energy = np.asarray(rows.energy)
    kinetic = 0.5 * np.sum(np.asarray(rows.momentum) * np.asarray(rows.v), axis=-1)
    witness = problem.provenance.conservative
    drift = float(np.max(np.abs(energy - energy[0]))) / energy_scale(energy, kinetic) if witness else 0.0
    if fine == 0:
        still = coarse == 0 and not witness and np.ptp(np.asarray(rows.q), axis=0).any()
        return float("nan") if still else drift
    order = min(max(np.log2(coarse / fine), _LEAST_ORDER), problem.method.order) if coarse > 0 else _LEAST_ORDER
    return max(fine / (2.0**order - 1.0), drift)

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
from holonomy.motion.run.verdict import energy_drift
from holonomy.motion.save_times import plan
from holonomy.motion.unseen_forces import unseen
from holonomy.systems.result_code import Code
from holonomy.types import ArrayLike

TOLERANCE = 1e-9
_FIRST = 64  # steps of the first trial
_FEWEST = 512  # steps of the last trial at least
_LAST = 2**21  # steps of the last trial at most
_LEAST_ORDER = 0.5  # differences that shrink more slowly, as those at round-off do, count as if of this order
_DECLINE = 1.0  # by how much an order may be below that of the method, and the one before it below itself
_AGREEMENT = 0.3  # by how much orders may differ that are of the same motion where it is not smooth
# A step in units of the last one, for a trial whose grid has no points in common with those of the others: a jump of
# the forces just after a grid point is there after half of the step, too, and halving alone does not show its error.
_ASIDE = 0.5 * (1.0 + 5**0.5) / 1.25
_DEVIATION = 0.6  # of that trial's difference from the one that the order lets expect: more disproves the order
_ROUNDING = 1e-14  # relative difference that rounding explains


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
    energy drift. The order counts only if the run before confirms it, and, where energy is not conserved, if a run with
    a step that is not commensurate with the others differs by as much as the order lets expect. Else the error is the
    largest of these differences: forces that jump or have a kink show orders by accident.

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
        trials = [*trials[-3:], trial] if trial.result.ok else []
        if steps >= _FEWEST and len(trials) >= 3:
            error = _error(problem, trials, span / steps, looks, steps >= _LAST)
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


def _error(problem: Problem, trials: list[Driven], dt: float, looks: np.ndarray, last: bool) -> float:
    """The error of the last of three or four runs, each with half the step of the one before.

    Only an error below the tolerance, or of the `last` trial, is worth the other run.
    """
    gaps = [difference(a, b) for a, b in pairwise(trials)]
    witness = problem.provenance.conservative
    drift = _drift(trials[-1]) if witness else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        orders = np.nan_to_num(np.log2(np.divide(gaps[:-1], gaps[1:])), nan=np.inf)
    order = float(np.clip(orders[-1], _LEAST_ORDER, problem.method.order))
    error = gaps[-1] / (2.0**order - 1.0)
    confirmed = len(orders) > 1 and _regular(orders[-2], order, problem.method.order)
    if not confirmed:
        error = max(error, *gaps[-2:])
    if (witness and confirmed) or (error > TOLERANCE and not last):
        return max(error, drift)
    other = drive(problem, plan(problem.t0, problem.t_end, dt * _ASIDE, 1, looks), None)
    if not other.result.ok:
        return float("inf")
    aside = difference(other, trials[-1])
    expected = error * (_ASIDE**order - 1.0)
    if not confirmed or abs(aside - expected) > _DEVIATION * expected + _ROUNDING:  # of no order that is known
        error = max(error, *gaps[-2:], aside)
    return max(error, min(aside, _ROUNDING), float(np.finfo(float).eps), drift)


def _regular(before: float, order: float, best: int) -> bool:
    """Whether two orders, one after the other, are those of a smooth motion by a method of order `best`, or agree."""
    return bool((before > order - _DECLINE and order > best - _DECLINE) or abs(before - order) < _AGREEMENT)


def _drift(run: Driven) -> float:
    """The largest energy drift, relative to the size of the energy."""
    energy = np.asarray(run.rows.energy)
    kinetic = 0.5 * np.sum(np.asarray(run.rows.momentum) * np.asarray(run.rows.v), axis=-1)
    return energy_drift(energy, kinetic)[1]

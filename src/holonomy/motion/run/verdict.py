"""A verdict on a run in one word, with the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from holonomy.energy_drift import DRIFT_LIMIT
from holonomy.systems.result_code import Code

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run
    from holonomy.motion.run.state_error import StateError

Verdict = Literal["good", "not checked", "doubtful", "failed"]

TURNS = 0.4
"""Part of the steps in which the velocity may reverse: above it an oscillation has fewer than five steps a period."""
_STILL = 1e-6  # velocity of a component, in units of the largest, that counts as rounding
GROWTH = 1e3
"""Growth of the generalised forces, against their median, that is called a close encounter."""
_CLOCK = 1e-4  # of the step: rounding of the times that is too large
_ROUNDINGS = 1024  # in units of the last place of the largest term: change of the energy that is rounding
_LAST = 3  # rows before a step that failed
_NEAR = 3.0  # growth there that is called so where the potential may become infinite by its form
_LOST = 1e-9  # position that is lost in rounding, in radii, from which a run is doubtful
_STEEP = 30.0  # the same where that is not known


def energy_scale(energy: np.ndarray, kinetic: np.ndarray) -> float:
    """What an energy drift is compared with: the kinetic energy at first or as a rule, whichever is larger.

    A constant in the potential energy does not count, nor does the largest kinetic energy along the run, which grows
    with the error.
    """
    known = np.abs(kinetic[np.isfinite(kinetic)])
    if not len(energy) or not len(known):
        return float(np.finfo(float).tiny)
    return max(abs(float(kinetic[0])), float(np.median(known)), float(np.finfo(float).tiny))


def energy_drift(energy: np.ndarray, kinetic: np.ndarray, moved: float = 0.0) -> tuple[float, float]:
    """The largest change of the energy since the start, as it is and relative to `energy_scale`.

    What rounding explains does not count in the second, where the energy is a small difference of large terms, or
    changes by `moved` when all positions are moved by as much as their own size.
    """
    if not len(energy):
        return 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        drift = float(np.max(np.abs(energy - energy[0])))
        size = float(np.nanmax(np.abs(energy))) + float(np.nanmax(np.abs(kinetic), initial=0.0)) + moved
        rounding = _ROUNDINGS * float(np.finfo(np.asarray(energy).dtype).eps) * size
        return drift, (drift if not drift <= rounding else 0.0) / energy_scale(energy, kinetic)


def verdict(run: Run, drift: float, found: StateError, others: tuple[str, ...] = ()) -> tuple[Verdict, tuple[str, ...]]:
    """Good, doubtful, failed or not checked, and why.

    **Arguments:** `drift`, the energy drift relative to `energy_scale`; `found`, what is known of the error of the
    states; `others`, more reasons to doubt the run.
    """
    made = run.provenance
    if not run.result.ok:
        seen = close_encounter(run)
        return "failed", (seen, run.result.stopped) if seen else (str(run.result),)
    if not np.all(np.isfinite(np.asarray(run.energy))):
        return "failed", ("The energy became infinite or not a number.",)
    reasons = []
    if made.conservative and not drift <= DRIFT_LIMIT:
        seen = close_encounter(run) or _advice(run)
        reasons.append(f"The energy of a conservative system drifted by {drift:.2g} times its kinetic energy. {seen}")
    advice = "" if reasons else f" {_advice(run)}"
    if found.since is not None:
        named = f" ({found.coordinate})" if found.coordinate else ""
        reasons.append(
            f"From t = {found.since:.6g} on the state is off by up to {found.error:.2g} times its range of "
            f"motion{named}, {found.how}.{advice}"
        )
    elif found.error is None and not len(run.events) and (turns := _turns(run)) > TURNS and not made.variable_step:
        reasons.append(f"The velocity reversed in {turns:.0%} of the steps.{advice}")
    # a velocity there is the difference of numbers as large as the arrays, which loses as many digits again
    eps = float(np.finfo(np.asarray(run.q).dtype).eps)
    lost = made.rounding**2 / eps
    if lost > max(_LOST, 1e3 * eps):
        reasons.append(
            f"The motion goes so far out in hyperbolic space that its arrays hold positions to about {lost:.1g} radii, "
            "which the energy does not show. hl.carry(system, at=point) keeps them near the origin, with all digits."
        )
    late = float(np.max(np.abs(run.t), initial=0.0))
    unsure = late * float(np.finfo(float).eps)
    if run.dt and unsure > _CLOCK * abs(run.dt):
        reasons.append(
            f"Times near {late:.3g} are known to {unsure:.1g} only, which is much beside the step. Begin the run at "
            "t0 = 0, and let the system depend on the time since then."
        )
    if made.step_error is not None and np.isnan(made.step_error):
        reasons.append("The error of the step is not known: halving it shows no order, and energy is not conserved.")
    reasons += others
    if reasons:
        return "doubtful", tuple(reasons)
    if found.error is None:
        return "not checked", (f"The error of the states is not known: {found.how}.",)
    return "good", ()


def _advice(run: Run) -> str:
    if run.method is not None and run.method.properties.to_round_off:
        return "Rounding does this, which no method avoids."
    return "Tighten rtol and atol." if run.method is not None and run.method.tighter() is not None else "Reduce dt."


def close_encounter(run: Run) -> str:
    """A sentence if the forces grew beyond all measure somewhere along the run, or grew at the state before a step that
    failed; empty otherwise.
    """
    if np.ndim(run.t) > 1 or not np.size(run.pull):
        return ""
    known = np.flatnonzero(~np.any(np.isnan(np.asarray(run.pull)), axis=1))  # a member that failed has empty rows
    if not len(known):
        return ""
    size = _forces(run, known)
    usual, where = float(np.median(size)), int(np.argmax(size))
    end = "If bodies collide there, the motion has no continuation: end it before, or soften the potential."
    if not size[where] > GROWTH * usual:
        # The state nearest to the singularity is the one that could not be computed.
        usual = min(usual, float(np.min(size[: max(len(size) - _LAST, 1)])))
        if not (_stuck(run) and _grew(run, size, usual)):
            if len(size) > 1 or not _stuck(run) or not _may_collide(run):
                return ""
            return (  # one row shows no growth
                f"The potential may become infinite: look for a close encounter after "
                f"t = {float(run.t[known[-1]]):.6g}, and reduce dt. {end}"
            )
        where = max(len(size) - _LAST, 0) + int(np.argmax(size[-_LAST:]))
    away = np.max(np.abs(np.asarray(run.q)[known]), axis=1).astype(float)
    if away[where] > GROWTH * np.median(away) > 0:
        return ""  # forces that grow outwards, on the way to infinity
    if not run.provenance.variable_step:
        advice = "Reduce dt, or take hl.Adaptive() or hl.Taylor(), which shorten their steps there."
        advice = f"{advice} {end}" if _stuck(run) else advice
    else:
        advice = f"{end} If they pass each other, a smaller dt allows more steps." if _stuck(run) else end
    ratio = f"{float(size[where]) / usual:.2g} times as large as usual" if usual > 0 else "far larger than elsewhere"
    return (
        f"At t = {float(run.t[known[where]]):.6g} the forces were {ratio}: "
        f"a close encounter, or another singularity of the potential. {advice}"
    )


def _forces(run: Run, rows: np.ndarray) -> np.ndarray:
    """The largest generalised force in these rows: of the Lagrangian, and where others act the rate of the momentum."""
    size = np.max(np.abs(np.nan_to_num(np.asarray(run.pull)[rows])), axis=1).astype(float)
    if run.provenance.forced and not len(run.events) and len(rows) > 1:
        rate = np.diff(np.asarray(run.momentum)[rows], axis=0) / np.diff(np.asarray(run.t)[rows])[:, None]
        size[1:] = np.maximum(size[1:], np.max(np.abs(np.nan_to_num(rate)), axis=1))
    return size


def _stuck(run: Run) -> bool:
    """Whether a step failed as it does where forces become infinite."""
    return int(run.result.code) in (Code.not_finite, Code.no_convergence, Code.too_many_steps)


def _grew(run: Run, size: np.ndarray, usual: float) -> bool:
    """Whether the forces in the last rows are those on the way to a singularity."""
    last = size[-_LAST:]
    if _may_collide(run):
        return float(np.max(last)) > _NEAR * usual
    return bool(np.max(last) > _STEEP * usual and np.all(np.diff(last) > 0))


def _may_collide(run: Run) -> bool:
    from holonomy.motion.methods.default import may_collide  # which imports the methods

    return run.system is not None and may_collide(run.system)


def _turns(run: Run) -> float:
    """The largest part of the steps over which the velocity turned by more than a right angle, or a component of it
    reversed, where every step is saved.
    """
    v = np.asarray(run.v)
    if len(v) < 8 or len(v) - 1 != int(run.result.steps):
        return 0.0
    largest = np.max(np.abs(v), axis=0)
    moving = largest > _STILL * np.max(largest)
    products = v[1:] * v[:-1]
    reversed_in = np.mean(products[:, moving] < 0, axis=0)
    return float(max(np.mean(np.sum(products, axis=1) < 0), np.max(reversed_in, initial=0.0)))

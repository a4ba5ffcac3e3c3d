"""How much changes along a run that the system conserves or forbids: momenta, and violations of constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holonomy.energy_drift import DRIFT_LIMIT
from holonomy.motion.run.range_of_motion import scale_of
from holonomy.motion.run.watched_integrals import watched_drifts
from holonomy.systems import World
from holonomy.systems.bodies.momenta import conserved
from holonomy.systems.contact import contact

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_GROWN = 1e3  # violation in units of the first, and of rounding, below which it is not looked at closer
_OFF = 1e-3  # distance from the constraints, in units of the range of motion, that is too large


def drifts(run: Run) -> tuple[dict[str, float], tuple[str, ...]]:
    """The changes of conserved momenta by name, and a sentence for each that changes too much."""
    found = _cyclic(run) | _of_killing_fields(run)
    # impacts and friction act at instants and in contact, which the saved states need not show
    bare = not len(run.events) and (run.system is None or not contact.count(run.system))
    reasons = [
        f"{name[0].upper()}{name[1:]}, which the system conserves, changed by {drift / size:.2g} times its size."
        for name, (drift, size) in found.items()
        if bare and drift > DRIFT_LIMIT * size
    ]
    claimed, doubts = watched_drifts(run)
    return {name: drift for name, (drift, _) in found.items()} | claimed, (*reasons, *doubts)


def _cyclic(run: Run) -> dict[str, tuple[float, float]]:
    """Drifts of the momenta of coordinates that the Lagrangian never felt along this run, and their sizes."""
    if run.provenance.forced or len(run.pull) == 0 or run.saved is not None:  # not known of all times
        return {}
    felt = np.any(np.asarray(run.pull) != 0, axis=0)
    momentum = np.asarray(run.momentum)
    kinds, found = np.array(run.kinds), {}
    for i, name in enumerate(run.names):
        if not felt[i]:
            alike = kinds == kinds[i] if len(kinds) == len(felt) else np.ones(len(felt), bool)
            with np.errstate(invalid="ignore", over="ignore"):
                drift = float(np.max(np.abs(momentum[:, i] - momentum[0, i])))
            found[f"p_{name}"] = drift, float(np.max(np.abs(momentum[:, alike])))
    return found


def _of_killing_fields(run: Run) -> dict[str, tuple[float, float]]:
    """Drifts of the momenta of Killing fields that a world of bodies conserves, and their sizes."""
    if not isinstance(run.system, World) or not len(run.energy):
        return {}
    q, momentum = np.asarray(run.q), np.asarray(run.momentum)
    size = float(np.max(np.abs(momentum), initial=0.0)) * max(1.0, float(np.max(np.abs(q), initial=0.0)))
    kept = conserved(run.system, q, momentum)
    return {
        name: (float(np.max(np.abs(rows - rows[0]))), max(size, float(np.max(np.abs(rows)))))
        for name, rows in kept.items()
    }


def off_constraints(run: Run) -> tuple[str, ...]:
    """A sentence where a run leaves its constraints by more than a small part of its motion."""
    violation = np.asarray(run.violation)[:, 0] if len(run.violation) else np.zeros(0)
    if run.system is None or not run.system.constraints.equations.total or not len(violation):
        return ()
    q = np.asarray(run.q, float)
    size = float(np.max(np.abs(q)))
    usual = violation[0] + float(np.finfo(float).eps) * max(size, size**2)
    row = int(np.argmax(violation))
    if not violation[row] > _GROWN * usual:
        return ()
    t, v = float(run.t[row]), np.asarray(run.v[row], float)
    try:
        nearest = np.asarray(run.system.project(t, q[row], v)[0])
    except ValueError:
        return (f"At t = {t:.6g} no state near that of the run satisfies the constraints.",)
    off = float(np.max(np.abs(nearest - q[row]) / scale_of(run, np.asarray(run.t), q).size))
    if off <= _OFF:
        return ()
    return (f"At t = {t:.6g} the constraints are missed by {off:.2g} times the range of motion. Reduce dt.",)

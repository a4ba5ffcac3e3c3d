"""Whether something acts on a run within a step that its steps did not see, where the system's functions allow that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holonomy.trace.steepness import may_be_steep

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_STEPS = 2000  # of a run that is looked at, at most
_BETWEEN = 128  # times in each step


def unseen_reasons(run: Run) -> tuple[str, ...]:
    """A sentence where a force acts, or a wall or an event is crossed, within a step and not at its ends."""
    system = run.system
    made = run.provenance
    if system is None or made.part or not made.simulated or not run.result.ok or made.variable_step:
        return ()
    steps = len(run.t) - 1
    if not 1 <= steps <= _STEPS or steps != int(run.result.steps) or run.saved is not None or made.carried:
        return ()
    from holonomy.motion.unseen_forces import unseen_crossing, unseen_force

    found: list[str] = []
    states = run.t, run.q, run.v
    if any(may_be_steep(function) for function in (system.lagrangian, *system.forces)) and not len(run.events):
        at = unseen_force(system, *states, run.momentum, _BETWEEN)
        if at is not None:
            found.append(f"Within the step from t = {at:.6g} a force acts that the step does not see. Reduce dt.")
    watched = () if run.watched is None else run.watched.sigmas
    sigmas = [(one, False) for one in system.constraints.walls.unilateral] + [(one, True) for one in watched]
    steep = tuple(one for one in sigmas if may_be_steep(one[0]))
    if steep and system.flat and not len(run.events):
        at = unseen_crossing(system, steep, *states, _BETWEEN)
        if at is not None:
            found.append(f"Within the step from t = {at:.6g} a wall or an event is crossed unseen. Reduce dt.")
    return tuple(found)

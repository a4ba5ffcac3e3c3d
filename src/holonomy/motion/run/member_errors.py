"""The errors of the states of the members of a batch: of a few each by itself, of many from some steps of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import numpy as np

from holonomy.motion.loops import from_states
from holonomy.motion.loops.driver import Driver
from holonomy.motion.run.range_of_motion import of_states
from holonomy.motion.run.select import members
from holonomy.motion.run.state_error import ERROR_LIMIT, GOLDEN, StateError, refusal, state_error
from holonomy.systems.result_code import Code

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_EACH = 16  # members that are looked at one by one, at most
_DOUBTED = 32  # members of a larger batch that are looked at more closely, at most
_PLACES = 8  # of each member of a larger batch from which steps are taken again
_STEPS = 3  # that are taken again at each of them


def member_errors(run: Run) -> list[StateError]:
    """The error of the states of each member of a batch."""
    if len(run.t) <= _EACH:
        return [state_error(one) for one in members(run)]
    found = _together(run)
    if found is None:
        return [state_error(one) for one in members(run)]
    doubted = [k for k, one in enumerate(found) if one.error is None or one.error > ERROR_LIMIT][:_DOUBTED]
    for k in doubted:
        one = run[k]
        assert not isinstance(one, tuple)
        found[k] = state_error(one)
    return found


def _together(run: Run) -> list[StateError] | None:
    """From some steps of each member, taken again as shorter ones; None where no step can be taken again."""
    first = run[0]
    assert not isinstance(first, tuple)
    method = first.method
    if refusal(first) and int(np.ravel(run.result.code)[0]) == Code.ok:
        return None
    if first.system is None or method is None or method.tighter() is not None:
        return None
    t, q, v = (np.asarray(x, float) for x in (run.t, run.q, run.v))
    count, rows = t.shape
    last = rows - _STEPS - 1
    if last < 1 or not rows > _STEPS + 1:
        return None
    places = np.unique(np.linspace(0, last, _PLACES).astype(int))
    h = float(np.copysign(run.dt, t[0, -1] - t[0, 0]))
    steps = max(1, round(abs((t[0, -1] - t[0, 0]) / h)))
    spacing = abs(t[0, 1] - t[0, 0])
    if abs(spacing - abs(h)) > 1e-6 * abs(h):
        return None  # saved every few steps
    engine = None if run.provenance.engine.startswith("native") else "xla"
    driver = Driver(first.system, method, engine, first.watched)
    which, where = (x.ravel() for x in np.meshgrid(np.arange(count), places, indexing="ij"))
    many = round(_STEPS / GOLDEN)
    systems = jax.tree.map(lambda x: np.asarray(x)[which], run.system)
    states = t[which, where], q[which, where], v[which, where]
    fine, good = from_states.advanced(driver, *states, _STEPS * h / many, many, systems)
    weight = 1.0 / (1.0 - (_STEPS / many) ** max(method.order, 1))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(q[which, where + _STEPS] - fine) * weight
        relative = apart / np.maximum(of_states(q, first.kinds)[which], 1e-300)
    relative = np.max(np.where(np.isfinite(relative), relative, np.inf), axis=1).reshape(count, -1)
    good = good.reshape(count, -1)
    total = np.sum(np.where(good, relative, 0.0), axis=1) * steps / (_STEPS * np.maximum(np.sum(good, axis=1), 1))
    how = f"from {_STEPS * len(places)} of {steps} steps, taken again with shorter ones"
    each = zip(total, np.any(good, axis=1), t[:, -1], strict=True)
    return [
        StateError(float(x), how, float(end) if x > ERROR_LIMIT else None)
        if known
        else StateError(None, "no step of the member could be taken again")
        for x, known, end in each
    ]

"""Whether a step is short enough for the motion: one step against two half steps, at a few states of a run.

What is saved cannot tell: steps that are longer than a period of the motion look like slow motion, and conserve energy.
Two half steps see the motion between them. The steps are those of the run, in its compiled loop.
"""

from __future__ import annotations

from math import gamma
from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy.motion.loops.driver import Driver
from holonomy.motion.loops.plain import LARGE
from holonomy.motion.methods.on_host import AbstractHostMethod
from holonomy.systems.contact import contact

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_LEAST_STEPS = 8  # of a run that is looked at
_PLACES = (0.25, 0.5, 0.75)  # parts of the run at which it is looked at
_TOGETHER = 3  # steps in a row at each of them: an oscillation passes its turning points
_NEGLIGIBLE = 1e-6  # difference in units of a component's range that does not matter, such as a stiff spring at rest
_ROUNDING = 1e-9  # the same in units of the largest component
_LEAST_LIMIT = 3e-3


def too_long(run: Run) -> float | None:
    """The ratio of `step_ratio` if it shows that the step is too long for the motion, else None."""
    ratio = step_ratio(run)
    return None if ratio is None or run.method is None or ratio <= limit(run.method.order) else ratio


def step_ratio(run: Run) -> float | None:
    """The median difference between a step and two half steps, relative to the change over the step, of the component
    in which it is largest; None where the steps cannot be taken again, or their error is known already.
    """
    made = run.provenance
    again = made.maker == "simulate" and made.engine.startswith(("native", "xla"))
    if run.system is None or run.method is None or np.ndim(run.t) > 1 or not again:
        return None
    if (
        isinstance(run.method, AbstractHostMethod)
        or made.variable_step
        or made.step_error is not None
        or made.carried
        or contact.count(run.system)
    ):
        return None
    if int(run.result.steps) < _LEAST_STEPS or not len(run.t) or not run.dt:
        return None
    engine = None if made.engine.startswith("native") else "xla"
    method = (run.method.fallback(certain=False) if made.fell_back else None) or run.method
    driver = Driver(run.system, method, engine, run.watched)
    many = run.system.space.point_dim > LARGE
    rows = {int(part * len(run.t)) for part in (_PLACES[1:2] if many else _PLACES)}
    found = [ratio for row in sorted(rows) for ratio in _ratios(run, driver, row, 1 if many else _TOGETHER)]
    return float(np.median(found)) if found else None


def limit(order: int) -> float:
    """The ratio above which a step is too long: that of the Gauss method of this order where the motion turns by two
    radians in a step, a period in three steps.

    For methods of high order it would be a ratio that no other one keeps, and an error of a few thousandths a step is
    small for what so long a step can show.
    """
    half = order / 2.0
    constant = gamma(half + 1.0) ** 2 / (gamma(order + 1.0) * gamma(order + 2.0))
    return max(constant * 2.0**order, _LEAST_LIMIT)


def _ratios(run: Run, driver: Driver, row: int, together: int) -> list[float]:
    """The ratios over some steps from a saved state, as far as these are good."""
    t, q, v = float(run.t[row]), np.asarray(run.q[row]), np.asarray(run.v[row])
    forward = bool(run.t[-1] >= run.t[0])
    h = abs(run.dt) if forward else -abs(run.dt)
    # From each state a look one step ahead, beside the grid of half steps; then two of these.
    counts, rests = np.tile([0, 2], together), np.tile([h, 0.0], together)
    with np.errstate(all="ignore"):
        _, seen, done = driver.rows(driver.start(t, q, v), t, 0.5 * h, counts, rests)
    done -= done % 2
    places, rates = np.asarray(seen.q)[:done], abs(h) * np.asarray(seen.v)[:done]
    before = [np.concatenate([first[None], x[1::2]])[: done // 2] for first, x in ((q, places), (abs(h) * v, rates))]
    range_of = np.maximum(np.ptp(np.asarray(run.q), axis=0), abs(h) * np.max(np.abs(np.asarray(run.v)), axis=0))
    floor = np.maximum(_NEGLIGIBLE * range_of, _ROUNDING * max(np.max(np.abs(q)), np.max(range_of)))
    differs = _larger(places[0::2] - places[1::2], rates[0::2] - rates[1::2])
    changes = np.zeros_like(differs)
    for part in (0, 1):
        changes = np.maximum(changes, _larger(places[part::2] - before[0], rates[part::2] - before[1]))
    ratio = np.where(differs > floor, differs / np.where(changes > 0, changes, 1.0), 0.0)
    return [float(x) for x in np.max(ratio, axis=1, initial=0.0)]


def _larger(a: Any, b: Any) -> Any:
    return np.maximum(np.abs(a), np.abs(b))

"""States between the saved times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holonomy.motion.loops.driver import Driver
from holonomy.types import Numbers

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run


def between(run: Run, t: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity at time t, a number or an array."""
    if np.ndim(run.t) > 1:
        raise ValueError("run(t) belongs to one run; take one member of the batch first, as run[0].")
    times = np.atleast_1d(np.asarray(t, float))
    low, high = min(run.t[0], run.t[-1]), max(run.t[0], run.t[-1])
    slack = 1e-12 * max(abs(low), abs(high), 1e-300)
    if times.ndim != 1 or not np.all((times >= low - slack) & (times <= high + slack)):
        raise ValueError(f"run(t) knows times from {low:g} to {high:g}; asked for {t!r}.")
    states = [_one(run, float(x)) for x in times]
    q, v = (np.stack(column) for column in zip(*states, strict=True))
    return (q[0], v[0]) if np.asarray(t).ndim == 0 else (q, v)


def _one(run: Run, t: float) -> tuple[np.ndarray, np.ndarray]:
    sign = 1.0 if run.t[-1] >= run.t[0] else -1.0
    k = int(np.searchsorted(sign * np.asarray(run.t), sign * t, side="right")) - 1
    k = min(max(k, 0), len(run.t) - 1)
    if run.t[k] == t or len(run.t) == 1:
        return np.asarray(run.q[k]), np.asarray(run.v[k])
    if run.system is None or run.method is None:
        return _hermite(run, min(k, len(run.t) - 2), t)
    whole, rest = divmod(abs(t - run.t[k]), run.dt)
    t0, dt = float(run.t[k]), sign * run.dt
    engine = "xla" if run.provenance.engine.startswith("xla") else None
    driver = Driver(run.system, run.method, engine, run.watched)
    now = driver.start(t0, run.q[k], run.v[k])
    _, saved, done = driver.rows(now, t0, dt, np.array([int(whole)]), np.array([sign * rest]))
    if done != 1:
        return np.full_like(run.q[k], np.nan), np.full_like(run.v[k], np.nan)
    return np.asarray(saved.q[0]), np.asarray(saved.v[0])


def _hermite(run: Run, k: int, t: float) -> tuple[np.ndarray, np.ndarray]:
    if run.provenance.carried:
        raise ValueError(
            "The saved states of a carried system are written in different frames, so that a run loaded from a file "
            "has none between them; save at the times that you need."
        )
    h = run.t[k + 1] - run.t[k]
    s = (t - run.t[k]) / h
    q0, q1, v0, v1 = (np.asarray(x) for x in (run.q[k], run.q[k + 1], run.v[k] * h, run.v[k + 1] * h))
    c2 = 3 * (q1 - q0) - 2 * v0 - v1
    c3 = 2 * (q0 - q1) + v0 + v1
    return q0 + s * (v0 + s * (c2 + s * c3)), (v0 + s * (2 * c2 + 3 * s * c3)) / h

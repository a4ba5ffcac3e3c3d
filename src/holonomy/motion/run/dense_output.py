"""States between the saved times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

from holonomy.motion.drive import drive
from holonomy.motion.loops import pieces
from holonomy.motion.loops.driver import Driver
from holonomy.motion.methods.colliding_bodies import CollidingBodies
from holonomy.motion.methods.event_driven import EventDriven
from holonomy.motion.problem import problem
from holonomy.motion.run.select import members, whole_of
from holonomy.motion.save_times import plan
from holonomy.types import Numbers

if TYPE_CHECKING:
    from holonomy.motion.run.run import Run

_ROWS = ("q", "v", "energy", "momentum", "pull", "multipliers", "violation")


def between(run: Run, t: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity at time t, a number or an array; of a batch, with an axis of members first."""
    if np.ndim(run.t) > 1:
        states = [between(one, t) for one in members(run)]
        q, v = (np.stack(column) for column in zip(*states, strict=True))
        return q, v
    times = np.atleast_1d(np.asarray(t, float))
    if times.ndim != 1:
        raise ValueError(f"run(t) takes a time or a list of times; got an array of shape {times.shape}.")
    rows = _rows(run, times, "run(t)")
    q, v = rows["q"], rows["v"]
    return (q[0], v[0]) if np.asarray(t).ndim == 0 else (q, v)


def resample(run: Run, times: Numbers) -> Run:
    """See `Run.resample`."""
    wanted = np.asarray(times, float)
    if wanted.ndim != 1 or not len(wanted):
        raise ValueError(
            "run.resample takes a list of times, such as np.linspace(0, 1, 101); run(t) gives the state at one time. "
            f"It got {times!r}."
        )
    if np.ndim(run.t) > 1:
        each = [resample(one, wanted) for one in members(run)]
        columns = {name: np.stack([np.asarray(getattr(one, name)) for one in each]) for name in ("t", *_ROWS)}
        return replace(
            run, **columns, drawn=None, kinetic=None, provenance=replace(run.provenance, part=True), whole=None
        )
    sign = -1.0 if len(run.t) > 1 and run.t[-1] < run.t[0] else 1.0
    if np.any(sign * np.diff(wanted) <= 0):
        raise ValueError("The times of run.resample must go on in the direction of the run, without repeating.")
    rows = _rows(run, wanted, "run.resample")
    picture = None
    if run.drawn is not None:
        picture = replace(run.drawn, x=_interpolated(run, run.drawn.x, wanted, smooth=True))
    kinetic = None if run.kinetic is None else _interpolated(run, run.kinetic, wanted)
    made = replace(run.provenance, part=True)
    return replace(
        run, t=wanted, **rows, drawn=picture, kinetic=kinetic, provenance=made, whole=whole_of(run, part=True)
    )


def _rows(run: Run, times: np.ndarray, asker: str) -> dict[str, np.ndarray]:
    """The columns of the run at these times, in any order."""
    low, high = min(run.t[0], run.t[-1]), max(run.t[0], run.t[-1])
    slack = 1e-12 * max(abs(low), abs(high), 1e-300)
    if not np.all((times >= low - slack) & (times <= high + slack)):
        outside = times[~((times >= low - slack) & (times <= high + slack))][0]
        raise ValueError(f"{asker} knows times from {low:g} to {high:g}; asked for {outside:g}.")
    sign = 1.0 if run.t[-1] >= run.t[0] else -1.0
    saved = np.asarray(run.t)
    before = np.clip(np.searchsorted(sign * saved, sign * times, side="right") - 1, 0, len(saved) - 1)
    out = {name: np.asarray(getattr(run, name))[before] for name in _ROWS}
    off = saved[before] != times
    if not np.any(off) or len(saved) == 1:
        return out
    if run.system is None or run.method is None:
        return out | _loaded_rows(run, before, times)
    engine = "xla" if run.provenance.engine.startswith("xla") else None
    own_way = isinstance(run.method, EventDriven | CollidingBodies)  # without a step that a driver could take
    driver = None if own_way else Driver(run.system, run.method, engine, run.watched)
    for k in np.unique(before[off]):
        here = np.flatnonzero(off & (before == k))
        here = here[np.argsort(sign * times[here], kind="stable")]
        if driver is None:
            found = _from_collisions(run, int(k), times[here])
        else:
            found = _from_state(run, driver, int(k), times[here], sign * run.dt)
        for name, values in found.items():
            out[name][here] = values
    return out


def _from_state(run: Run, driver: Driver, k: int, times: np.ndarray, dt: float) -> dict[str, np.ndarray]:
    """The columns at times that follow a saved state, by steps of the run's own method from there."""
    t0 = float(run.t[k])
    missing = {name: np.full((len(times), *np.shape(getattr(run, name))[1:]), np.nan) for name in _ROWS}
    if not np.all(np.isfinite(np.asarray(run.q[k]))):
        return missing  # of a member that failed before
    whole, rests = np.divmod(np.abs(times - t0), abs(dt))
    counts = np.diff(whole.astype(np.int64), prepend=0)
    now = driver.start(t0, run.q[k], run.v[k])
    most = pieces.rows_at_once(driver.system.space.point_dim)
    for at in range(0, len(times), most):
        part = slice(at, min(at + most, len(times)))
        now, shots, done = driver.rows(now, t0, dt, counts[part], np.copysign(rests[part], dt))
        for name, values in shots.columns().items():
            missing[name][at : at + done] = np.asarray(values)[:done]
        if done < part.stop - at:
            break
    return missing


def _from_collisions(run: Run, k: int, times: np.ndarray) -> dict[str, np.ndarray]:
    """The same of balls whose collisions are found on the host: a run of its own from the saved state."""
    assert run.system is not None
    unique, place = np.unique(times, return_inverse=True)
    order = np.argsort(np.abs(unique - run.t[k]), kind="stable")
    t0, end, most = float(run.t[k]), float(unique[order[-1]]), int(run.result.steps) + len(run.events) + 1
    given = problem(run.system, run.q[k], run.v[k], end, run.dt, run.method, None, t0, 1, (), most)
    found = drive(given, plan(given.t0, given.t_end, run.dt, 1, unique[order]), None).rows.columns()
    rows = {}
    for name in _ROWS:
        values = np.asarray(found[name])
        whole = np.full((len(unique), *values.shape[1:]), np.nan)
        whole[order[: len(values)]] = values
        rows[name] = whole[place]
    return rows


def _loaded_rows(run: Run, before: np.ndarray, times: np.ndarray) -> dict[str, np.ndarray]:
    """The same of a run from a file: cubic Hermite polynomials for states, monotone cubic ones for the rest."""
    if run.provenance.carried:
        raise ValueError(
            "The saved states of a carried system are written in different frames, so that a run loaded from a file "
            "has none between them; save at the times that you need."
        )
    rows = {name: _interpolated(run, getattr(run, name), times) for name in _ROWS[2:]}
    k = np.minimum(before, len(run.t) - 2)
    t, q, v = (np.asarray(x) for x in (run.t, run.q, run.v))
    h = (t[k + 1] - t[k])[:, None]
    s = (times - t[k])[:, None] / h
    q0, q1, v0, v1 = q[k], q[k + 1], v[k] * h, v[k + 1] * h
    c2 = 3 * (q1 - q0) - 2 * v0 - v1
    c3 = 2 * (q0 - q1) + v0 + v1
    return rows | {"q": q0 + s * (v0 + s * (c2 + s * c3)), "v": (v0 + s * (2 * c2 + 3 * s * c3)) / h}


def _interpolated(run: Run, rows: Any, times: np.ndarray, *, smooth: bool = False) -> np.ndarray:
    """Rows of a run between its times: `smooth` ones by a cubic spline, others, which may jump at an impact, by
    polynomials that are monotone between neighbours and do not overshoot."""
    t, values = np.asarray(run.t), np.asarray(rows)
    if len(t) == 1 or not values.size:
        return np.repeat(values[:1], len(times), axis=0)
    order = np.argsort(t)
    polynomials = CubicSpline if smooth else PchipInterpolator
    return np.asarray(polynomials(t[order], values[order], axis=0)(times))

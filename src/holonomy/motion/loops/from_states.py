"""A few steps from each of many states, in one compiled call where there is native code."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float

from holonomy.motion.loops import pieces, plain, with_events
from holonomy.motion.loops.driver import Driver
from holonomy.systems import System
from holonomy.systems.result_code import Code

_BYTES = 2**24  # of snapshots that one compiled call makes room for


def advanced(
    driver: Driver,
    t: Float[np.ndarray, " places"],
    q: Float[np.ndarray, "places point"],
    v: Float[np.ndarray, "places point"],
    dt: float,
    steps: int,
    members: System | None = None,
) -> tuple[Float[np.ndarray, "places point"], Bool[np.ndarray, " places"]]:
    """The positions `steps` steps of length dt after each of these states, and which of them were reached.

    The steps are those of the driver's compiled chunks, so nothing is compiled for them. `members` is the system with
    an axis of places on each of its numbers, where they differ from place to place.
    """
    ends, good = np.full_like(np.asarray(q, float), np.nan), np.zeros(len(q), bool)
    room = max(1, _BYTES // (8 * pieces.rows_at_once(q.shape[1]) * 5 * q.shape[1]))
    for first in range(0, len(q), room):
        part = slice(first, first + room)
        some = None if members is None else jax.tree.map(lambda x, p=part: x[p], members)
        found = _together(driver, t[part], q[part], v[part], dt, steps, some)
        if found is None:
            found = _one_by_one(driver, t[part], q[part], v[part], dt, steps, some)
        ends[part], good[part] = found
    return ends, good & np.all(np.isfinite(ends), axis=1)


def _together(
    driver: Driver, t: Any, q: Any, v: Any, dt: float, steps: int, members: System | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """All in one call of native code; None where there is none."""
    engine = driver.engine
    batch = getattr(engine, "batch", None)
    if batch is None:
        return None
    first: tuple[Any, ...] = (driver.system, driver.watched, driver.method) if driver.eventful else _plain(driver)
    loops: Any = with_events if driver.eventful else plain
    begin = batch(loops.begin, (*first, np.float64(t[0]), q[0], v[0]), seldom=True)
    if begin is None:
        return None
    shared = (0 if members is not None else None, *[None] * (len(first) - 1))
    given = first if members is None else (members, *first[1:])
    now = begin(*given, np.asarray(t, float), q, v, axes=(*shared, 0, 0, 0), steps=0)
    single = jax.tree.map(lambda x: x[0], now)
    rows = pieces.rows_at_once(q.shape[1])
    grid = (pieces.padded(np.array([steps]), rows), np.zeros(rows), np.int64(1))
    chunk = batch(loops.chunk, (*first, single, np.float64(t[0]), np.float64(dt), *grid), gradual=True)
    if chunk is None:
        return None
    axes = (*shared, 0, 0, *[None] * (1 + len(grid)))
    now, shots, done = chunk(*given, now, np.asarray(t, float), np.float64(dt), *grid, axes=axes, steps=steps * len(q))
    return np.asarray(shots.q)[:, 0], (np.asarray(done) == 1) & (np.asarray(now.code) == Code.ok)


def _plain(driver: Driver) -> tuple[Any, ...]:
    return driver.system, driver.method


def _one_by_one(
    driver: Driver, t: Any, q: Any, v: Any, dt: float, steps: int, members: System | None
) -> tuple[np.ndarray, np.ndarray]:
    ends, good = np.full(np.shape(q), np.nan), np.zeros(len(q), bool)
    whole = driver.system
    for k in range(len(q)):
        if members is not None:
            driver.system = jax.tree.map(lambda x, k=k: x[k], members)
        now = driver.start(float(t[k]), q[k], v[k])
        if int(now.code) != Code.ok:
            continue
        _, shots, done = driver.rows(now, float(t[k]), dt, np.array([steps]), np.zeros(1))
        if done == 1:
            ends[k], good[k] = np.asarray(shots.q)[0], True
    driver.system = whole
    return ends, good

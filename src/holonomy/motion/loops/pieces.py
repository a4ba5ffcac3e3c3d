"""A plan cut into pieces of bounded work, one for each compiled call."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holonomy.motion.save_times import Plan
from holonomy.systems import System, World

ROWS = 256  # saved in one compiled call at most, of small systems
STEPS = 65536  # taken in one compiled call at most, of small systems
SAVED = 2**16  # numbers of one kind saved in one compiled call: large states are handed over row by row
MOVED = 2**24  # coordinates moved by a step in one compiled call, so that progress and interruption stay near
MOVED_QUICKLY = 2**27  # the same of many vertices by components, a look at which costs as much as forty steps


def rows_at_once(size: int) -> int:
    """How many rows one compiled call saves, of states with so many coordinates."""
    return int(np.clip(SAVED // size, 1, ROWS))


def cut(plan: Plan, system: System) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The plan of a system, cut into chunks of bounded work: counts, rests, which rows are wanted."""
    size = system.space.point_dim
    moved = MOVED_QUICKLY if isinstance(system, World) and system.many is not None else MOVED
    rows, steps = rows_at_once(size), int(np.clip(moved // size, 64, STEPS))
    counts, rests, wanted = _bounded(plan, steps)
    at = 0
    while at < len(counts):
        load = np.cumsum(counts[at : at + rows])
        size = max(1, int(np.searchsorted(load, steps, side="right")))
        yield counts[at : at + size], rests[at : at + size], wanted[at : at + size]
        at += size


def _bounded(plan: Plan, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of more than so many steps become several, of which only the last is wanted."""
    if len(plan.counts) == 0 or plan.counts.max() <= steps:
        return plan.counts, plan.rests, np.ones(len(plan.counts), bool)
    counts: list[int] = []
    rests: list[float] = []
    wanted: list[bool] = []
    for count, rest in zip(plan.counts, plan.rests, strict=True):
        full, left = divmod(int(count), steps)
        counts += [steps] * full + [left]
        rests += [0.0] * full + [float(rest)]
        wanted += [False] * full + [True]
    return np.array(counts), np.array(rests), np.array(wanted)


def padded(array: np.ndarray, rows: int) -> np.ndarray:
    """An array of at most so many entries, filled up with zeros."""
    return np.concatenate([array, np.zeros(rows - len(array), array.dtype)])

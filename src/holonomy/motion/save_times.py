"""When to save: the times a user wants, as whole steps of dt and a rest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from holonomy.types import ArrayLike

_STEPS_MAX = 2**53
_ROWS_MAX = 2 * 10**9  # rows whose numbers alone would take 16 GB
# A time that was computed as t0 + k dt, in whatever order, is off by a few roundings of its own size.
_ROUNDINGS = 16


@dataclass(frozen=True)
class Plan:
    """Row k: go `counts[k]` steps of length dt further, then look `rests[k]` ahead to `times[k]`; the grid stays.

    Saved states at times off the grid come from one shorter step of the method itself, so they have its order, and the
    grid of whole steps does not depend on what is saved.
    """

    t0: float
    dt: float
    counts: np.ndarray
    rests: np.ndarray
    times: np.ndarray

    @property
    def steps(self) -> int:
        """How many whole steps there are."""
        return int(self.counts.sum())


_BESIDES = 5  # numbers that are kept of every row at least: what the plan says of it, its energy and its violations


def plan(t0: float, t_end: float, dt: float, save_every: int, save_at: ArrayLike | None, coordinates: int = 0) -> Plan:
    """The rows for a run from t0 to t_end, refused before they are made where states of so many coordinates at all of
    them take more than the memory of the machine; with none, what every row has besides.
    """
    h = float(np.copysign(dt, t_end - t0))
    if save_at is not None:
        times = _save_times(save_at, t0, t_end)
        whole, rests = _split(t0, times, h)
        return Plan(t0, h, np.diff(whole, prepend=0), rests, times)
    whole, rests = _split(t0, np.array([t_end]), h)
    if whole[0] / save_every > _ROWS_MAX:
        raise ValueError(
            f"{whole[0] / save_every:.3g} states would be saved; pass save_every={int(whole[0] // 10**6)} or save_at "
            "for fewer, a larger dt, or an earlier t_end."
        )
    _refuse(int(whole[0]) // save_every, coordinates or _BESIDES, 4 if coordinates else 1)
    grid = np.arange(0, whole[0] + 1, save_every, dtype=np.int64)
    marks = grid if rests[0] == 0 and grid[-1] == whole[0] else np.append(grid, whole[0])
    out = np.zeros(len(marks))
    out[-1] = rests[0]
    saved = t0 + marks * h
    saved[-1] = t_end  # as it was asked for, not as it was rounded
    return Plan(t0, h, np.diff(marks, prepend=0), out, saved)


def _split(t0: float, times: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Whole steps and the rest in time; a rest within the rounding of these times is none."""
    steps = (times - t0) / h
    if np.any(steps > _STEPS_MAX):
        raise ValueError(f"The run would take {steps.max():.3g} steps; choose a larger dt.")
    near = np.rint(steps)
    rounding = _ROUNDINGS * np.finfo(float).eps * (np.abs(times) + abs(t0) + abs(h))
    on_grid = np.abs(steps - near) * abs(h) <= rounding
    whole = np.where(on_grid, near, np.floor(steps))
    rests = np.where(on_grid, 0.0, (steps - whole) * h)
    return whole.astype(np.int64), rests


def _save_times(save_at: Any, t0: float, t_end: float) -> np.ndarray:
    times = np.asarray(save_at, float)
    if times.ndim != 1 or len(times) == 0 or not np.all(np.isfinite(times)):
        raise ValueError(f"save_at must be a list of finite times; got shape {times.shape}.")
    sign = np.sign(t_end - t0) or 1.0
    if np.any(np.diff(times) * sign <= 0):
        raise ValueError("save_at must go from t0 towards t_end without repeating or turning back.")
    if np.any((times - t0) * sign < 0) or np.any((times - t_end) * sign > 1e-9 * abs(t_end - t0)):
        raise ValueError(
            f"save_at must lie between t0 = {t0:g} and t_end = {t_end:g}; got {times[0]:g} to {times[-1]:g}."
        )
    return times


def refuse_beyond_memory(rows: Plan, coordinates: int, vectors: int = 4) -> None:
    """Raise where what is saved takes more than the memory of the machine: of states four vectors for each time."""
    _refuse(len(rows.times), coordinates, vectors)


def _refuse(times: int, coordinates: int, vectors: int) -> None:
    needed = vectors * 8 * times * coordinates
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return  # the system does not say
    if needed > there:
        raise ValueError(
            f"Saving {times} times of {coordinates} {'coordinates' if vectors > 1 else 'numbers'} takes "
            f"{needed / 1e9:.3g} GB, and this machine has {there / 1e9:.3g} GB. Save fewer times: pass save_every, or "
            "save_at with the times you need; or save less of each: pass save."
        )

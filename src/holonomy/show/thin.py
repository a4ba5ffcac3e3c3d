"""Fewer points for a line that looks the same: of each short stretch, where it is lowest and highest."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

STRETCHES = 1000
"""Stretches into which a long line is cut: as many as a picture has columns of pixels."""
_MOST_POINTS = 60_000  # of a long curve that is drawn as points


def scattered(*columns: Float[np.ndarray, " rows"]) -> Int[np.ndarray, " kept"]:
    """The rows of a curve in the plane or in space to draw as points: evenly taken ones, and the extreme ones."""
    count = len(columns[0])
    even = np.arange(0, count, max(1, -(-count // _MOST_POINTS)))
    return np.unique(np.concatenate([even, kept(*columns)]))


def is_long(count: int) -> bool:
    """Whether a line of so many rows is thinned; joined by lines, its points would not be the curve any more."""
    return count > 6 * STRETCHES


def kept(*columns: Float[np.ndarray, " rows"]) -> Int[np.ndarray, " kept"]:
    """The rows of a line to draw, in order: all of a short one, else those at which a column is extreme in a stretch.

    The first and last row of each stretch are kept, too, and a row that is not a number, which is a gap in the line.
    """
    count = len(columns[0])
    if not is_long(count):
        return np.arange(count)
    size = -(-count // STRETCHES)
    starts = np.arange(0, count, size)
    rows = [starts, np.minimum(starts + size, count) - 1]
    for column in columns:
        for sign in (1.0, -1.0):
            # rows past the end, and those that are no numbers, are never the extreme of their stretch
            padded = np.full(len(starts) * size, np.inf)
            padded[:count] = np.where(np.isnan(column), np.inf, sign * column)
            rows.append(np.minimum(starts + padded.reshape(-1, size).argmin(axis=1), count - 1))
        gaps = np.flatnonzero(np.isnan(column))
        rows.append(gaps[np.unique(gaps // size, return_index=True)[1]])
    return np.unique(np.concatenate(rows))

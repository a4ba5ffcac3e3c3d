r"""Gaits as text: points of a closed curve in the picture of shapes, and the cubic pieces through them.

The curve is that of `hl.Gait.points`: the periodic cubic spline through the points at equally spaced times, or straight
lines. Needs no JAX: the compiled code takes the pieces as numbers.
"""

from __future__ import annotations

import json
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.labs.settings import Refusal

Points = Float[np.ndarray, "points 2"]
Pieces = Float[np.ndarray, "pieces 4 2"]

NAME: Final = "gait"
"""The setting that holds the curve."""
MOST_POINTS: Final = 96
"""Points of a gait. A curve with more is replaced by this many, equally spaced along it."""
LONGEST: Final = 32768
_LARGEST: Final = 100.0
_SAME: Final = 1e-9  # as `hl.Gait.points`: points closer than this, relative to their size, are one
_ROUND: Final = 24
"""Points of an ellipse: its spline is 2e-5 of the radius away from it."""


def read(text: str) -> Points:
    """The points of a text; `Refusal` says what is wrong with it."""
    try:
        rows = np.array(json.loads(text), float)
    except (ValueError, TypeError, RecursionError) as error:
        raise Refusal("The gait cannot be read: it is a list of points [[x, y], …].", NAME, 0, len(text)) from error
    if rows.ndim != 2 or rows.shape[1] != 2 or not np.all(np.isfinite(rows)):
        raise Refusal("The gait is a list of points [[x, y], …] with two numbers each.", NAME, 0, len(text))
    if np.abs(rows).max(initial=0.0) > _LARGEST:
        raise Refusal(f"The gait has a point beyond {_LARGEST:g}; draw it inside the picture.", NAME)
    if len(rows) > 1 and _same(rows[0], rows[-1]):
        rows = rows[:-1]
    if len(rows) < 2:
        raise Refusal("A gait needs at least two different points.", NAME)
    return rows


def written(points: Points) -> str:
    """The points as text. Decimals are the shortest that read back exactly."""
    return json.dumps([[float(x), float(y)] for x, y in points], separators=(",", ":"))


def few(points: Points) -> Points:
    """The points, or where they are too many, as many as are allowed, equally spaced along the same closed polygon."""
    if len(points) <= MOST_POINTS:
        return points
    closed = np.concatenate([points, points[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    at = along[-1] * np.arange(MOST_POINTS) / MOST_POINTS
    return np.stack([np.interp(at, along, closed[:, k]) for k in range(2)], axis=1)


def pieces(points: Points, smooth: bool, turns: Float[np.ndarray, " 2"]) -> Pieces:
    r"""Coefficients of \(1, u, u^2, u^3\) on each piece, \(u\) from 0 to 1; the last leads to the first point and
    `turns` full turns more."""
    around = 2 * np.pi * turns
    after = np.roll(points, -1, axis=0)
    after[-1] += around
    chord = after - points
    if smooth and len(points) > 2:
        count = len(points)
        one = np.eye(count)
        before = np.roll(points, 1, axis=0)
        before[0] -= around
        slope = np.linalg.solve(4 * one + np.roll(one, 1, 1) + np.roll(one, -1, 1), 3 * (after - before))
    else:
        slope = chord
    end = np.roll(slope, -1, axis=0) if slope is not chord else chord
    return np.stack([points, slope, 3 * chord - 2 * slope - end, slope + end - 2 * chord], axis=1)


def ellipse(centre: tuple[float, float], radii: tuple[float, float], angle: float = 0.0, count: int = _ROUND) -> Points:
    """Points of an ellipse, anticlockwise where both radii are positive."""
    t = 2 * np.pi * np.arange(count) / count
    c, s = np.cos(angle), np.sin(angle)
    x, y = radii[0] * np.cos(t), radii[1] * np.sin(t)
    return np.stack([centre[0] + c * x - s * y, centre[1] + s * x + c * y], axis=1)


def figure_eight(centre: tuple[float, float], radii: tuple[float, float], count: int = _ROUND) -> Points:
    """Points of a figure eight, whose two loops are passed in opposite directions."""
    t = 2 * np.pi * np.arange(count) / count
    return np.stack([centre[0] + radii[0] * np.sin(t), centre[1] + radii[1] * np.sin(2 * t)], axis=1)


def backwards(points: Points, turns: Float[np.ndarray, " 2"]) -> Points:
    """The same curve run backwards from the same point; the turns change their sign."""
    return np.concatenate([points[:1], points[:0:-1] - 2 * np.pi * turns])


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.linalg.norm(a - b) <= _SAME * (1.0 + np.linalg.norm(a)))

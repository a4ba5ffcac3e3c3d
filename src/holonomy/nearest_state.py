r"""The state on constraints that is nearest to another one, by iterations in NumPy.

The position is the one of the constraint surface that is nearest in the kinetic metric M of the start,
\(y = y_0 + M^{-1}G^\top\mu\) with \(\varphi(y) = 0\) and G the gradient at y; then the velocity is the nearest one with
\(r(y, w) = 0\) in the metric at y. Reference: Hairer, Lubich, Wanner, *Geometric Numerical Integration*, IV.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from holonomy.start_checks import RANK, Conditions, State, distances

SHRINKS: Final = 0.9  # a correction below this part of the smallest one before it still shrinks
NEAREST: Final = 200  # iterations at most towards the nearest point, which converge linearly
ON_SURFACE: Final = 50  # iterations at most of Newton's method onto the surface
SETTLED: Final = 1e-12  # moves above this go on, also where they do not shrink
FOUND: Final = 1e-9  # a last move above this means that the nearest point was not found


def nearest_state(
    look: Callable[[np.ndarray, np.ndarray], State], holonomic: int, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity, and by how much they miss conditions on positions and on velocities in units of the state.

    `look` tells mass matrix and conditions at a state; the first conditions, `holonomic` of them, are on positions.
    What cannot be found misses by NaN.
    """
    y, w = q, v
    try:
        with np.errstate(all="ignore"):
            if holonomic:
                y = _on_surface(lambda x: look(x, w).conditions, np.linalg.inv(look(y, w).mass), holonomic, y)
            for _ in range(2):  # the second removes what rounding left of the first
                seen = look(y, w)
                normals: Any = seen.conditions.normals
                across = np.linalg.solve(seen.mass, normals.T)
                w = w - across @ _pseudo(normals @ across, np.asarray(seen.conditions.rates))
            last = look(y, w).conditions
    except np.linalg.LinAlgError:
        return y, w, np.full(2, np.nan)
    lengths = np.linalg.norm(last.normals, axis=1)
    gap = np.max(distances(np.asarray(last.position[:holonomic]), lengths[:holonomic]), initial=0.0)
    slip = np.max(distances(np.asarray(last.rates), lengths))
    return y, w, np.array([gap / (1.0 + np.max(np.abs(y))), slip / (1.0 + np.max(np.abs(w)))])


def _on_surface(
    look: Callable[[np.ndarray], Conditions], inverse: np.ndarray, count: int, start: np.ndarray
) -> np.ndarray:
    """The point of the constraint surface nearest to `start`; Newton's method alone where that search fails."""

    def correct(y: np.ndarray, back: np.ndarray) -> np.ndarray:
        seen: Any = look(y)
        slope = seen.normals[:count]
        across = inverse @ slope.T
        return across @ _pseudo(slope @ across, slope @ back - seen.position[:count])

    near, change = _iterated(lambda y: start + correct(y, y - start), start, NEAREST)
    y = near if change < FOUND else start
    return _iterated(lambda y: y + correct(y, np.zeros_like(y)), y, ON_SURFACE)[0]


def _iterated(step: Callable[[np.ndarray], np.ndarray], y: np.ndarray, limit: int) -> tuple[np.ndarray, float]:
    """The last iterate and the size of the last move."""
    before = np.inf
    for made in range(limit):
        new = step(y)
        change = float(np.max(np.abs(new - y)))
        y = new
        goes_on = 0 < change < np.inf and (change < SHRINKS * before or change > SETTLED or made < 2)
        before = change
        if not goes_on:
            break
    return y, before


def _pseudo(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A solution of a symmetric system that may be singular but is solvable.

    Rows and columns are brought to one size first: conditions in millimetres and in metres have the same rank.
    """
    size = np.sqrt(np.abs(np.diagonal(gram)))
    size = np.where(size > 0, size, 1.0)
    even = gram / (size[:, None] * size[None, :])
    return (np.linalg.pinv(even, rcond=RANK**2, hermitian=True) @ (right / size)) / size

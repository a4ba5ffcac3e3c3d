r"""The consistent state nearest to another one, by iterations on the host.

The position is the one of the constraint surface that is nearest in the kinetic metric M of the start,
\(y = y_0 + M^{-1}G^\top\mu\) with \(\varphi(y) = 0\) and G the gradient at y; then the velocity is the nearest one with
\(r(y, w) = 0\) in the metric at y. Reference: Hairer, Lubich, Wanner, *Geometric Numerical Integration*, IV.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from holonomy.root_finding import SHRINKS
from holonomy.systems.constraints import at_state
from holonomy.systems.constraints.tolerance import distances
from holonomy.systems.dense_solve import RANK
from holonomy.types import AnyPoint, AnyTangent, Number

if TYPE_CHECKING:
    from holonomy.systems.system import System

NEAREST: Final = 200  # iterations at most towards the nearest point, which converge linearly
ON_SURFACE: Final = 50  # iterations at most of Newton's method onto the surface
SETTLED: Final = 1e-12  # moves above this go on, also where they do not shrink
FOUND: Final = 1e-9  # a last move above this means that the nearest point was not found


def nearest(system: System, t: Number, q: AnyPoint, v: AnyTangent) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Position, velocity, and by how much they miss conditions on positions and on velocities in units of the state.

    What cannot be found misses by NaN. None for systems that `at_state` does not evaluate.
    """
    seen = at_state.evaluated(system, t, q, v)
    if seen is None:
        return None
    y, w = np.asarray(q), np.asarray(v)
    holonomic = system.constraints.equations.counts[0]

    def at(y: np.ndarray, w: np.ndarray) -> at_state.State:
        found = at_state.evaluated(system, t, y, w)
        assert found is not None
        return found

    try:
        with np.errstate(all="ignore"):
            if holonomic:
                y = _on_surface(lambda x: at(x, w).conditions, np.linalg.inv(seen.mass), holonomic, y)
            for _ in range(2):  # the second removes what rounding left of the first
                seen = at(y, w)
                normals: Any = seen.conditions.normals
                across = np.linalg.solve(seen.mass, normals.T)
                w = w - across @ _pseudo(normals @ across, np.asarray(seen.conditions.rates))
            last = at(y, w).conditions
    except np.linalg.LinAlgError:
        return y, w, np.full(2, np.nan)
    lengths = np.linalg.norm(last.normals, axis=1)
    gap = np.max(distances(np.asarray(last.position[:holonomic]), lengths[:holonomic]), initial=0.0)
    slip = np.max(distances(np.asarray(last.rates), lengths))
    return y, w, np.array([gap / (1.0 + np.max(np.abs(y))), slip / (1.0 + np.max(np.abs(w)))])


def _on_surface(
    look: Callable[[np.ndarray], at_state.Conditions], inverse: np.ndarray, count: int, start: np.ndarray
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

"""A gait changed by as little as makes its displacement the one that is wanted.

Searches look at a gait with few steps of reconstruction, and Wong's extremals are known at some times only; what is
performed is the gait itself, with as many steps as rounding needs. Newton's method on its lowest Fourier coefficients,
the least change in the metric of power, takes away what is left between the two. The cost is stationary along all
changes that keep the displacement, so that a change by ε leaves it the best one of its displacement up to ε².
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from holonomy.locomotion.arrays import Row
from holonomy.locomotion.curves import Fourier
from holonomy.locomotion.gait import Gait
from holonomy.locomotion.mover import Mover
from holonomy.locomotion.reconstruct import reconstruct, resolved
from holonomy.locomotion.search import jacobian

_LOWEST = 2  # harmonics that are changed
_ROUNDS = 6  # of Newton's method at most
_ROUNDING = 1e-14  # relative: what is left of a displacement below this is rounding


class _Task(NamedTuple):
    mover: Mover
    target: Row
    base: Float[Array, "rows shape"]
    changed: Int[Array, " some"]
    steps: Array


def of_coefficients(rows: Float[Array, "rows shape"] | np.ndarray) -> Gait:
    """The gait of period 1 with these coefficients: the mean, then those of cosines, then those of sines."""
    harmonics = (rows.shape[0] - 1) // 2
    waves = jnp.asarray(rows)
    turns = jnp.zeros(rows.shape[1])
    return Gait(Fourier(waves[0], waves[1 : 1 + harmonics], waves[1 + harmonics :], turns), 1.0)


def _miss_along(
    task: _Task, change: Float[Array, "some shape"], direction: Float[Array, "some shape"]
) -> tuple[Row, Row]:
    """How far the changed gait misses the displacement, and the derivative in a direction of the change."""

    def value(x: Float[Array, "some shape"]) -> Row:
        gait = of_coefficients(task.base.at[task.changed].add(x))
        journey = reconstruct(task.mover, gait, task.steps, jnp.zeros(0))
        return task.mover.lie.miss(task.target, journey.g, journey.turned)

    return jax.jvp(value, (change,), (direction,))


def exactly(
    mover: Mover, rows: Float[np.ndarray, "rows shape"], target: Row, wanted: Int[np.ndarray, " some"], scale: float
) -> tuple[Gait, float]:
    """The gait near these coefficients with the displacement, and what is left of it, relative to its size."""
    harmonics = (len(rows) - 1) // 2
    low = np.arange(1, 1 + min(_LOWEST, harmonics))
    changed = np.concatenate([[0], low, low + harmonics])
    steps = resolved(mover, of_coefficients(rows), np.zeros(0))[1]
    w, u = np.linalg.eigh(np.asarray(mover.power(rows[0])))
    root = u / np.sqrt(w)  # coordinates in which the metric of power is 1 in the middle
    task = _Task(mover, jnp.asarray(target), jnp.asarray(rows), jnp.asarray(changed), jnp.int64(steps))
    best, change, least = rows, np.zeros((len(changed), rows.shape[1])), np.inf
    for _ in range(_ROUNDS):
        values, slopes = jacobian(_miss_along, task, change)
        left = float(np.max(np.abs(values[wanted]))) / scale
        if not left < least:
            break
        best, least = rows.copy(), left
        best[changed] += change
        if left <= _ROUNDING:
            break
        rates = (slopes[wanted].reshape(-1, *change.shape) @ root).reshape(len(wanted), -1)
        turn = np.linalg.lstsq(rates, -values[wanted], rcond=None)[0]
        change = change + turn.reshape(change.shape) @ root.T
    return of_coefficients(best), least

"""Searches that optimal gaits and steering share: derivatives as a batch, minima with conditions, Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import numpy as np
from jaxtyping import Array
from scipy.optimize import minimize

from holonomy.trace.native.engine import Engine
from holonomy.types import Tree

Derivative: TypeAlias = Callable[[Tree, Array, Array], tuple[Array, Array]]
"""The value of a function at an array, and its derivative in a direction; first come data that are not varied."""
Look: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Values and their derivatives, one row for each value."""

_OUTSIDE = 1e6  # stands for values that are not finite or not allowed: a line search turns back from them


def jacobian(function: Derivative, data: Tree, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A function's value at an array and its derivatives by all entries, last axis, all directions as one batch."""
    directions = np.eye(at.size).reshape(at.size, *at.shape)
    engine = Engine(None)
    batch = engine.batch(function, (data, at, directions[0])) if engine.native else None
    if batch is None:
        values, slopes = jax.jit(jax.vmap(function, in_axes=(None, None, 0)))(data, at, directions)
    else:
        values, slopes = batch(data, at, directions, axes=(None, None, 0))
    return np.asarray(values[0]), np.asarray(slopes).T


def least_cost(look: Look, begin: np.ndarray, conditions: int, *, coarse: bool = False) -> tuple[np.ndarray, str]:
    """Where the cost is least while the conditions vanish and the margins stay positive; and what stopped the search.

    The values are first the conditions, each of the order of 1, then the cost, then the margins.
    """
    seen: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def values(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        key = x.tobytes()
        if key not in seen:
            found, slopes = look(x)
            # outside the limits a cost may be negative without bound, and draw the search away
            allowed = np.all(found[conditions + 1 :] > 0)
            if not (allowed and np.all(np.isfinite(found)) and np.all(np.isfinite(slopes))):
                found, slopes = np.full_like(found, _OUTSIDE), np.zeros_like(slopes)
                found[conditions + 1 :] = -_OUTSIDE
            found, slopes = _bounded(found, slopes, conditions + 1)
            seen.clear()
            seen[key] = found, slopes
        return seen[key]

    scale = max(values(begin)[0][conditions], 1e-300)
    held = [{"type": "eq", "fun": lambda x: values(x)[0][:conditions], "jac": lambda x: values(x)[1][:conditions]}]
    if len(values(begin)[0]) > conditions + 1:
        after = slice(conditions + 1, None)
        held.append({"type": "ineq", "fun": lambda x: values(x)[0][after] - 1e-3, "jac": lambda x: values(x)[1][after]})
    found = minimize(
        lambda x: values(x)[0][conditions] / scale,
        begin,
        jac=lambda x: values(x)[1][conditions] / scale,
        constraints=held,
        method="SLSQP",
        options={"ftol": 1e-10 if coarse else 1e-14, "maxiter": 200 if coarse else 500},
    )
    # the conditions to round-off, by the smallest changes; the cost changes in second order
    x = found.x
    for _ in range(5):
        gap, slope = values(x)[0][:conditions], values(x)[1][:conditions]
        if not np.abs(gap).max() < 0.1:
            break
        x = x - np.linalg.lstsq(slope, gap, rcond=1e-10)[0]
    return x, str(found.message)


def _bounded(found: np.ndarray, slopes: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """The values with margins m, from the first on, replaced by m/(1 + |m|): of the order of 1 in any units, since a
    search does badly with conditions of very different sizes."""
    m = found[first:]
    share = 1.0 / (1.0 + np.abs(m))
    return np.append(found[:first], m * share), np.concatenate([slopes[:first], slopes[first:] * share[:, None] ** 2])


def newton(look: Look, z: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, float]:
    """Newton's method with the smallest step, since phases of a gait may be free, halved until it improves."""
    miss, slope = look(z)
    for _ in range(60):
        size = float(np.abs(miss).max())
        if size < 1e-11:
            break
        step = units * np.linalg.lstsq(slope * units, -miss, rcond=1e-9)[0]
        for share in 0.5 ** np.arange(12):
            new, new_slope = look(z + share * step)
            if np.linalg.norm(new) < (1 - 0.1 * share) * np.linalg.norm(miss):
                z, miss, slope = z + share * step, new, new_slope
                break
        else:
            break
    return z, float(np.abs(miss).max())

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

_FAILURES = 8  # steps of Newton's method in turn that do not improve, after which it ends
_GAIN = 1e-3  # relative: a step that improves by less has not improved
_LEAST_DAMPING = 1e-3  # less would let rounding errors of the conditions move the unknowns along a family of solutions
_SOLVED = 1e-11  # conditions of the order of 1 that are met to this are met
_NEARLY = 1e-3  # relative: how far the cost may be from stationary where a search for a stationary point ends
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


def least_cost(
    look: Look, begin: np.ndarray, conditions: int, *, coarse: bool = False, to_stationary: bool = False
) -> tuple[np.ndarray, str]:
    """Where the cost is least while the conditions vanish and the margins stay positive; and what stopped the search.

    The values are first the conditions, each of the order of 1, then the cost, then the margins. With
    `to_stationary` the search ends as soon as the cost is nearly stationary, for callers who then solve for the
    stationary point: it may be a saddle that a longer search would leave, how soon being decided by rounding errors.
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
            if to_stationary and _nearly_stationary(found, slopes, conditions):
                raise _Stationary(x.copy())
        return seen[key]

    try:
        x, message = _minimum(values, begin, conditions, coarse=coarse)
    except _Stationary as near:
        x, message = near.args[0], "the cost is nearly stationary"
    # the conditions to round-off, by the smallest changes; the cost changes in second order
    for _ in range(5):
        found, slopes = look(x)
        gap = found[:conditions]
        if not np.abs(gap).max() < 0.1:
            break
        x = x - np.linalg.lstsq(slopes[:conditions], gap, rcond=1e-10)[0]
    return x, message


class _Stationary(Exception):
    """Ends a search at its argument, where the cost is nearly stationary."""


def _nearly_stationary(found: np.ndarray, slopes: np.ndarray, conditions: int) -> bool:
    """Whether the conditions nearly hold and the derivative of the cost is nearly a combination of theirs."""
    if not np.abs(found[:conditions]).max() < _NEARLY:
        return False
    held, slope = slopes[:conditions].T, slopes[conditions]
    rest = slope - held @ np.linalg.lstsq(held, slope, rcond=1e-10)[0]
    return bool(np.linalg.norm(rest) < _NEARLY * np.linalg.norm(slope))


def _minimum(values: Look, begin: np.ndarray, conditions: int, *, coarse: bool) -> tuple[np.ndarray, str]:
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
    return found.x, str(found.message)


def _bounded(found: np.ndarray, slopes: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """The values with margins m, from the first on, replaced by m/(1 + |m|): of the order of 1 in any units, since a
    search does badly with conditions of very different sizes."""
    m = found[first:]
    share = 1.0 / (1.0 + np.abs(m))
    return np.append(found[:first], m * share), np.concatenate([slopes[:first], slopes[first:] * share[:, None] ** 2])


def newton(look: Look, z: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, float]:
    r"""Newton's method for solutions that may be a family, such as gaits whose phase or place is free.

    Along the family the singular values of the derivative J vanish at a solution and are of the size of the miss F
    beside it, so that no threshold separates them from the others. The steps of Levenberg and Marquardt

    \[ d = -(J^\top J + \lambda|F|)^{-1}J^\top F \]

    are small along the family and converge quadratically to it (Fan and Yuan, 2005); \(\lambda\) grows where a step
    improves less than the derivative promises. Ends where the conditions are met or several steps in turn do not
    improve, as at round-off. Returns the last unknowns and the largest miss.
    """
    miss, slope = look(z)
    damping, failures = _LEAST_DAMPING, 0
    while failures < _FAILURES and np.all(np.isfinite(miss)) and np.abs(miss).max() > _SOLVED:
        size = np.linalg.norm(miss)
        u, sizes, vt = np.linalg.svd(slope * units, full_matrices=False)
        step = -units * (vt.T @ (sizes / (sizes**2 + damping * size) * (u.T @ miss)))
        new, new_slope = look(z + step)
        gain = size - np.linalg.norm(new)
        share = gain / (size - np.linalg.norm(miss + slope @ step))  # of what the derivative promises
        damping = max(_LEAST_DAMPING, damping * (0.1 if share > 0.75 else 1.0 if share > 0.25 else 10.0))
        failures = 0 if gain > _GAIN * size else failures + 1
        if gain > 0.0:
            z, miss, slope = z + step, new, new_slope
    return z, float(np.abs(miss).max())

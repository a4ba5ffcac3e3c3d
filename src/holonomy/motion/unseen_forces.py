"""What acts between the points of a run that its steps did not see: a short pulse, a narrow bump, a thin wall.

Runs with steps h, h/2 and h/4 agree to the last digit if none of them notices a pulse that is shorter than the steps.
So the forces, and the functions of walls and events, are evaluated along the motion at many more times than the steps
have, and compared with those at the ends of the steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems import System
from holonomy.trace.function import Function
from holonomy.types import AnyArray

if TYPE_CHECKING:
    from holonomy.motion.drive import Driven

_SAMPLES = 2**16
"""Times at which forces are evaluated: a pulse of a thirty-thousandth of the run is seen for certain."""
_SHARE = 0.5
"""How far a force lies outside of its values at the ends of a step, in units of the largest force at all ends, that
counts as a force of its own: far above what a step that resolves an oscillation leaves. Between these values it may
jump: one end has seen it."""
_IMPULSE = 1e-9
"""Momentum that such a force must give, in units of the largest momentum, to matter."""

_ROWS = 64
"""Steps that are looked at together, to bound the memory."""


def unseen(system: System, run: Driven) -> bool:
    """Whether some force between the saved points of a run is missing from those points; all steps must be saved."""
    between = max(_SAMPLES // max(len(run.times) - 1, 1), 1)
    rows = run.rows
    return unseen_force(system, run.times, rows.q, rows.v, rows.momentum, between) is not None


def unseen_force(
    system: System, times: AnyArray, places: AnyArray, velocities: AnyArray, momentum: AnyArray, between: int
) -> float | None:
    """The time of the first step in which a force acts that is missing from both its ends; None where there is none.

    The states are those at the ends of all steps; in each step forces are evaluated at `between` times.
    """
    t, q, v = (np.asarray(x, float) for x in (times, places, velocities))
    if len(t) < 2 or between < 2:
        return None
    share = (np.arange(between) + 0.5) / between
    ends = np.asarray(_forces(system, t, q, v))
    largest = np.max(np.abs(ends), axis=0)
    enough = _IMPULSE * np.maximum(np.max(np.abs(np.asarray(momentum)), axis=0), 1e-300)
    impulse = np.zeros(q.shape[1])
    for rows, times_in, points, rates in _inside(t, q, v, share):
        force = np.asarray(
            _forces(system, times_in.ravel(), points.reshape(-1, q.shape[1]), rates.reshape(-1, q.shape[1]))
        ).reshape(*times_in.shape, -1)
        low, high = ends[rows], ends[rows.start + 1 : rows.stop + 1]
        least, most = np.minimum(low, high)[:, None], np.maximum(low, high)[:, None]
        apart = np.nan_to_num(np.maximum(np.maximum(least - force, force - most), 0.0))
        length = np.abs(np.diff(t)[rows])[:, None, None] / between
        given = np.sum(np.where(apart > _SHARE * largest, apart, 0.0) * length, axis=1)
        total = impulse + np.cumsum(given, axis=0)
        found = np.flatnonzero(np.any(total > enough, axis=1))
        if len(found):
            return float(t[rows.start + found[0]])
        impulse = total[-1]
    return None


def unseen_crossing(
    system: System,
    sigmas: Sequence[tuple[Function, bool]],
    times: AnyArray,
    places: AnyArray,
    velocities: AnyArray,
    between: int,
) -> float | None:
    """The time of the first step in which a function of the state has another sign than at both ends; None where there
    is none. `sigmas` are functions, whose values may have several components, with whether they take the velocity."""
    t, q, v = (np.asarray(x, float) for x in (times, places, velocities))
    share = (np.arange(between) + 0.5) / between
    for sigma, of_velocity in sigmas:
        ends = np.asarray(_values(sigma, of_velocity, system.last, t, q, v))
        for rows, times_in, points, rates in _inside(t, q, v, share):
            flat = times_in.ravel(), points.reshape(-1, q.shape[1]), rates.reshape(-1, q.shape[1])
            value = np.asarray(_values(sigma, of_velocity, system.last, *flat)).reshape(*times_in.shape, -1)
            low, high = ends[rows], ends[rows.start + 1 : rows.stop + 1]
            same = (np.sign(low) == np.sign(high)) & (low != 0)
            across = np.any(np.sign(value) == -np.sign(low)[:, None], axis=1)
            found = np.flatnonzero(np.any(same & across, axis=1))
            if len(found):
                return float(t[rows.start + found[0]])
    return None


def _inside(t: Any, q: Any, v: Any, share: Any) -> Iterator[tuple[slice, Any, Any, Any]]:
    """Times, positions and velocities inside of all steps, some steps at a time."""
    for k in range(0, len(t) - 1, _ROWS):
        rows = slice(k, min(k + _ROWS, len(t) - 1))
        yield rows, *_between(t, q, v, rows, share)


def _between(t: Any, q: Any, v: Any, rows: slice, share: Any) -> tuple[Any, Any, Any]:
    """Times, positions and velocities inside steps, by cubic Hermite interpolation."""
    after = slice(rows.start + 1, rows.stop + 1)
    h = (t[after] - t[rows])[:, None, None]
    s = share[None, :, None]
    a, b, p, r = (x[:, None] for x in (q[rows], q[after], v[rows], v[after]))
    points = a + s * h * p + s**2 * (3 * (b - a) - h * (2 * p + r)) + s**3 * (2 * (a - b) + h * (p + r))
    rates = p + (2 * s * (3 * (b - a) - h * (2 * p + r)) + 3 * s**2 * (2 * (a - b) + h * (p + r))) / h
    return t[rows][:, None] + share * (t[after] - t[rows])[:, None], points, rates


@jax.jit
def _forces(system: System, t: Any, q: Any, v: Any) -> Any:
    """Generalised forces, those of the potential included, at many states."""

    def one(s: Any, x: Any, w: Any) -> Any:
        if not system.flat:
            x = system.space.project(x)
            w = system.space.tangent(x, w)
        pull = jax.grad(system.raw_lagrangian, argnums=1)(s, x, w)
        return pull + system.raw_force(s, x, w)

    return jax.vmap(one)(jnp.asarray(t), jnp.asarray(q), jnp.asarray(v))


@partial(jax.jit, static_argnums=1)
def _values(sigma: Function, of_velocity: bool, last: Any, t: Any, q: Any, v: Any) -> Any:
    """A function of the state at many states, (states, components)."""

    def one(s: Any, x: Any, w: Any) -> Any:
        return jnp.atleast_1d(sigma(s, x, w, *last) if of_velocity else sigma(s, x, *last))

    return jax.vmap(one)(t, q, v)

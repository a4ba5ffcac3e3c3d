"""Whether forces act between the points of a run that its steps did not see: a short pulse, or a narrow bump.

Runs with steps h, h/2 and h/4 agree to the last digit if none of them notices a pulse that is shorter than the steps.
So the forces are evaluated along the motion at many more times than the steps have, and compared with those at the ends
of the steps.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion.drive import Driven
from holonomy.systems import System

_SAMPLES = 2**16
"""Times at which forces are evaluated: a pulse of a thirty-thousandth of the run is seen for certain."""
_SHARE = 0.5
"""Deviation from the straight line between the ends of a step, in units of the largest force there, that counts as a
force of its own: far above what a step that resolves an oscillation leaves."""
_IMPULSE = 1e-9
"""Momentum that such a force must give, in units of the largest momentum, to matter."""

_ROWS = 64
"""Steps that are looked at together, to bound the memory."""


def unseen(system: System, run: Driven) -> bool:
    """Whether some force between the saved points of a run is missing from those points; all steps must be saved."""
    t, q, v = (np.asarray(x, float) for x in (run.times, run.rows.q, run.rows.v))
    between = max(_SAMPLES // max(len(t) - 1, 1), 1)
    if len(t) < 2 or between < 2:
        return False
    share = (np.arange(between) + 0.5) / between
    ends = np.asarray(_forces(system, t, q, v))
    largest = np.max(np.abs(ends), axis=0)
    impulse = np.zeros(q.shape[1])
    for k in range(0, len(t) - 1, _ROWS):
        rows = slice(k, min(k + _ROWS, len(t) - 1))
        times, points, rates = _between(t, q, v, rows, share)
        force = np.asarray(
            _forces(system, times.ravel(), points.reshape(-1, q.shape[1]), rates.reshape(-1, q.shape[1]))
        )
        force = force.reshape(*times.shape, -1)
        low, high = ends[rows], ends[rows.start + 1 : rows.stop + 1]
        line = low[:, None] + share[:, None] * (high - low)[:, None]
        apart = np.nan_to_num(np.abs(force - line))
        length = np.abs(np.diff(t)[rows])[:, None, None] / between
        impulse += np.sum(np.where(apart > _SHARE * largest, apart, 0.0) * length, axis=(0, 1))
    scale = np.max(np.abs(np.asarray(run.rows.momentum)), axis=0)
    return bool(np.any(impulse > _IMPULSE * np.maximum(scale, 1e-300)))


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

"""Where a motion starts in its space: the point and velocity on it to round-off, and the precision of their numbers."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems import System
from holonomy.systems.bodies import World
from holonomy.systems.bodies.checks import refuse_start
from holonomy.systems.constraints.tolerance import close
from holonomy.types import AnyArray, Truth

TOO_FEW_DIGITS = 1e-9  # distance by which storing a point may move it at most; in hyperbolic space at R = 16
_FEW_ROUNDINGS = 1e3  # the same in rounding errors, for points in single precision


def placed(
    system: System, t: float, q: AnyArray, v: AnyArray, is_traced: bool, *, instants: bool
) -> tuple[AnyArray, AnyArray]:
    """The start on the space, in the precision of q; a ValueError for one that is off the space.

    Where `instants` are looked for, to the last digit of the clock, and where sizes are held to that of their lengths,
    it is in double precision.
    """
    dtype = q.dtype
    kept = np.float64 if instants or (isinstance(system, World) and system.rigid is not None) else dtype
    if not is_traced:
        if isinstance(system, World):
            refuse_start(system, q, v)
        q, v = on_space(system, q, v)
    q, v = q.astype(kept), v.astype(kept)
    if dtype != kept and not is_traced and system.constraints.equations.total:
        return _unrounded(system, t, q, v)
    return q, v


def _unrounded(system: System, t: float, q: AnyArray, v: AnyArray) -> tuple[AnyArray, AnyArray]:
    """A state whose numbers were rounded to single precision, on its constraints where it missed them by that alone."""
    enough = close(np.dtype(np.float32))
    near = system.project(t, q, v)
    for new, old in zip(near, (q, v), strict=True):
        if not np.max(np.abs(new - old)) <= enough * (1.0 + np.max(np.abs(old))):
            return q, v
    return np.asarray(near[0]), np.asarray(near[1])


def on_space(system: System, q: AnyArray, v: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The start on the space to round-off, in double precision; a ValueError for one that is off it in its own."""
    if system.flat:
        return q, v
    near, tangent, lost = (np.asarray(x) for x in nearest_on_space(system, q, v))
    off, dtype = misses_space(q, v, near, tangent), np.result_type(q)
    if off[0]:
        raise ValueError(
            f"q0 does not lie on {system.space}: it is {np.max(np.abs(near - q)):.3g} away. The nearest point is "
            f"{near.tolist()}; pass that, or space.project(q0)."
        )
    if lost > too_few_digits(dtype):
        raise ValueError(
            f"q0 lies so far out in hyperbolic space that an array places it only to {float(lost):.1g} radii. Keep the "
            f"points near the origin, with the isometry that carries them: far = hl.carry(system, at=point), and the "
            f"start from far.space.state(points, velocities), as seen from that point."
        )
    if off[1]:
        raise ValueError(
            f"v0 is not tangent to {system.space} at q0: its normal part has size "
            f"{np.max(np.abs(tangent - v)):.3g}. The tangent part is {tangent.tolist()}; pass that, or "
            f"space.tangent(q0, v0)."
        )
    return near, tangent


@eqx.filter_jit
def nearest_on_space(system: System, q: AnyArray, v: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """The point of the space nearest to q, in double precision, the tangent part of v there, and the distance by which
    storing q as an array may have moved it; of rows one by one."""
    if q.ndim > 1:
        return jax.vmap(lambda x, u: nearest_on_space(system, x, u))(q, v)
    lost = system.space.rounding(q)
    near = system.space.project(jnp.asarray(q, np.float64))
    return near, system.space.tangent(near, jnp.asarray(v, np.float64)), lost


def misses_space(q: AnyArray, v: AnyArray, near: AnyArray, tangent: AnyArray) -> tuple[Truth, Truth]:
    """Whether points are off the space and velocities not tangent to it, in the precision of their numbers."""
    enough = close(np.result_type(q))

    def misses(given: AnyArray, found: AnyArray) -> Any:
        return np.max(np.abs(found - given), axis=-1) > enough * np.maximum(1.0, np.max(np.abs(given), axis=-1))

    return misses(q, near), misses(v, tangent)


def too_few_digits(dtype: np.dtype) -> float:
    """The distance by which storing a point as an array of numbers of this type may move it at most."""
    return max(TOO_FEW_DIGITS, _FEW_ROUNDINGS * float(np.finfo(dtype).eps))

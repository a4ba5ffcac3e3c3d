r"""Free motions of a linkage from a point of the sphere: geodesics of the kinetic metric, and the fields along them.

States are (x, v) in \(R^{n-1}\times R^{n-1}\); the acceleration is the one that is M-normal in the space of hinges.
Steps are collocation of order 16 to round-off (`holonomy.geometry.integrate`).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.integrate import integrate
from holonomy.geometry.metric import known
from holonomy.models.linkages.compiled import call
from holonomy.models.linkages.surface import Point, Surface, Vector
from holonomy.types import Numbers

# the acceleration has singularities near the real line, where the chain would be straight
_TAIL = 1e-7
# The kinetic metric of a linkage is analytic and has no narrow features elsewhere, so `watched=0` below.

Times = Float[Array, " times"]
Fields = Float[Array, "k two ambient"]


def flow(surface: Surface, x: Point, v: Vector, times: Numbers) -> tuple[Array, Array]:
    """Points and velocities of the geodesic from (x, v) at the given times, of any shape, order and sign."""
    s = jnp.asarray(times, x.dtype)
    states = _at_times(_march, surface, jnp.concatenate([x, v]), s)
    n = surface.rods - 1
    return states[..., :n].reshape(*s.shape, n), states[..., n:].reshape(*s.shape, n)


def spread(surface: Surface, x: Point, v: Vector, fields: Fields, times: Numbers) -> tuple[Array, Array, Array]:
    """Points, velocities, and the derivatives (times, k, 2, n - 1) of both along k changes of the start."""
    s = jnp.asarray(times, x.dtype)
    n, k = surface.rods - 1, fields.shape[0]
    start = jnp.concatenate([x, v, fields.reshape(-1)])
    states = _at_times(_march_fields, surface, start, s)
    return (
        states[..., :n].reshape(*s.shape, n),
        states[..., n : 2 * n].reshape(*s.shape, n),
        states[..., 2 * n :].reshape(*s.shape, k, 2, n),
    )


def _at_times(march: Any, surface: Surface, start: Array, s: Array) -> Array:
    flat = s.reshape(-1)
    if not known(flat):
        order = jnp.argsort(flat)
        return march(surface, start, flat[order])[jnp.argsort(order)]
    # in order of size, repeated up to a power of sixteen: one compiled function for many lengths
    values = np.asarray(flat)
    order = np.argsort(values, kind="stable")
    padded = np.pad(values[order], (0, _power(len(values)) - len(values)), mode="edge")
    states = call(march, surface, start, jnp.asarray(padded))
    return states[np.argsort(order, kind="stable")]


def _power(count: int) -> int:
    size = 16
    while size < count:
        size *= 16
    return size


def _rate(surface: Surface, y: Array) -> Array:
    x, v = y.reshape(2, -1)
    return jnp.concatenate([v, surface.acceleration(x, v)])


def _march(surface: Surface, start: Array, times: Array) -> Array:
    return _integrated(lambda t, y: _rate(surface, y), start, times)


def _march_fields(surface: Surface, start: Array, times: Array) -> Array:
    n = 2 * (surface.rods - 1)

    def rate(t: Array, y: Array) -> Array:
        rows = y[n:].reshape(-1, n)
        values, slopes = jax.vmap(lambda r: jax.jvp(lambda z: _rate(surface, z), (y[:n],), (r,)))(rows)
        return jnp.concatenate([values[0], slopes.reshape(-1)])

    return _integrated(rate, start, times)


def _integrated(rate: Any, start: Array, times: Array) -> Array:
    def onward(carry: tuple[Array, Array], t: Array) -> tuple[tuple[Array, Array], Array]:
        y, before = carry
        new = integrate(rate, y, before, t, loop=True, tail=_TAIL, watched=0)
        return (new, t), new

    return jax.lax.scan(onward, (start, jnp.zeros_like(times[0])), times)[1]

r"""Geodesics between two configurations, the places where geodesics meet again, and closed ones.

The search between two configurations is in `holonomy.models.linkages.shortest`; here it gets the derivative of the
geodesic flow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.metric import known
from holonomy.models.linkages.compiled import call, many
from holonomy.models.linkages.geodesic_flow import flow, spread
from holonomy.models.linkages.shortest import AbstractGeodesicSource, geodesics_between
from holonomy.models.linkages.surface import Forms, Point, Surface, Vector
from holonomy.types import Numbers


class Motion(NamedTuple):
    """A geodesic from `start` with `velocity`, at its goal after time 1; `length` is in the kinetic metric."""

    start: Point
    velocity: Vector
    length: float


def forms(surface: Surface, x: Point) -> Forms:
    """The fundamental forms at a point."""
    return surface.forms(x)


def _place(surface: Surface, x: Point) -> tuple[Array, Array, Array]:
    """Hinges, their derivatives along the round frame, and that frame."""
    columns = surface.round_frame(x)
    j = surface.pushed(x, columns)
    return surface.vector(x), j, columns


# ── Fields along a geodesic ───────────────────────────────────────────────────────────────────────────────────────


def jacobi(
    surface: Surface, x: Point, v: Vector, j0: Vector, dj0: Vector, times: Numbers
) -> tuple[Float[Array, "times ambient"], Float[Array, "times ambient"]]:
    """The Jacobi field and its covariant derivative at an array of times."""
    here = call(forms, surface, x)
    change = dj0 - _turned(here, v, j0) - jnp.dot(v, j0) * x
    points, velocities, moved = spread(surface, x, v, jnp.stack([j0, change])[None], times)

    def covariant(y: Point, w: Vector, field: Vector, rate: Vector) -> Vector:
        return rate + jnp.dot(w, field) * y + _turned(surface.forms(y), w, field)

    fields, rates = moved[:, 0, 0], moved[:, 0, 1]
    if not known(points):
        return fields, jax.vmap(covariant)(points, velocities, fields, rates)
    found = many(forms, surface, points)
    derivative = [
        rates[i] + jnp.dot(velocities[i], fields[i]) * points[i] + _turned(at, velocities[i], fields[i])
        for i, at in enumerate(Forms(*(f[i] for f in found)) for i in range(len(points)))
    ]
    return fields, jnp.stack(derivative)


def _turned(at: Forms, u: Vector, v: Vector) -> Vector:
    """Γ(u, v) as a tangent vector."""
    return at.frame @ jnp.einsum("abc,a,b->c", at.across, at.coframe @ u, at.coframe @ v)


def conjugate_points(surface: Surface, x: Point, v: Vector, s_max: float, samples: int) -> np.ndarray:
    """Times in (0, s_max] where the derivative of the geodesic map at x is singular, of odd multiplicity."""
    here = call(forms, surface, x)
    zero = jnp.zeros_like(x)
    starts = jnp.stack([jnp.stack([zero, here.frame[:, i]]) for i in range(surface.rods - 2)])

    def determinants(times: np.ndarray) -> np.ndarray:
        points, _, moved = (np.asarray(a) for a in spread(surface, x, v, starts, times))
        # with the point itself as first row the sign does not depend on a choice of frame
        return np.linalg.det(np.concatenate([points[:, None], moved[:, :, 0]], axis=1))

    times = np.linspace(0, s_max, samples + 1)[1:]
    values = determinants(times)
    crossings = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    return np.array([_root(lambda s: float(determinants(np.array([s]))[0]), times[i], times[i + 1]) for i in crossings])


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(f, low, high, xtol=1e-13, rtol=1e-14))  # pyright: ignore[reportArgumentType]


# ── Between two configurations ────────────────────────────────────────────────────────────────────────────────────


def shortest(surface: Surface, x: np.ndarray, y: np.ndarray) -> list[Motion]:
    """Geodesics from x to y, the shortest first; different ones among those that the search finds."""
    found = geodesics_between(_Source(surface), x, y)
    return [Motion(jnp.asarray(x), jnp.asarray(v), length) for v, length in found]


class _Source(AbstractGeodesicSource):
    """A surface for the search of `holonomy.models.linkages.shortest`: geodesics to round-off."""

    def __init__(self, surface: Surface):
        self._surface = surface

    def mass(self) -> np.ndarray:
        return np.asarray(self._surface.ambient())

    def places(self, polygon: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        hinges, slopes, frames = (np.asarray(a) for a in many(_place, self._surface, polygon))
        return hinges, slopes, frames

    def shoot(self, x: np.ndarray, v: np.ndarray, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        starts = jnp.stack([jnp.stack([jnp.zeros(len(x)), jnp.asarray(c)]) for c in frame.T])
        points, _, moved = spread(self._surface, jnp.asarray(x), jnp.asarray(v), starts, np.ones(1))
        return np.asarray(points[0]), np.asarray(moved[0, :, 0])

    def speed(self, x: np.ndarray, v: np.ndarray) -> float:
        pushed = self._surface.push(jnp.asarray(x), jnp.asarray(v))
        return float(jnp.sqrt(self._surface.product(pushed, pushed)))


# ── Closed geodesics of the mirror symmetry ───────────────────────────────────────────────────────────────────────


class Closed(NamedTuple):
    """A closed geodesic: a point on it, its velocity there, its length; at its start again after time 1."""

    start: Point
    velocity: Vector
    length: float


def mirror(surface: Surface, x: Point) -> Point:
    """The configuration reflected in the middle line of the base, which exchanges the rods' order."""
    h = surface.hinges(x)[::-1]
    return surface.point(jnp.stack([surface.base - h[:, 0], h[:, 1]], axis=1))


def _mirror_slope(surface: Surface, x: Point) -> Array:
    return jax.jacfwd(lambda y: mirror(surface, y))(x)


def symmetric_start(surface: Surface) -> tuple[np.ndarray, np.ndarray]:
    """A configuration of four or five rods that is its own mirror image, and the direction in which it stays so."""
    base, rods = float(surface.base), surface.rods
    half = base / 2 if rods == 4 else (base - 1) / 2
    height = 0.6 * np.sqrt(4 - half**2)
    middle = np.array([half, height])
    reach = np.hypot(*middle)
    side = np.sqrt(1 - reach**2 / 4) * np.array([-middle[1], middle[0]]) / reach
    left = [middle / 2 + side, middle]
    right = [np.array([base - p[0], p[1]]) for p in left[::-1]]
    hinges = np.stack([*left, *(right[1:] if rods == 4 else right)])
    x = np.asarray(surface.point(jnp.asarray(hinges)))
    slope = np.asarray(call(_mirror_slope, surface, jnp.asarray(x)))
    # the derivative of the mirror image at its own fixed point: +1 along the fixed circle, -1 across
    frame = np.asarray(surface.round_frame(jnp.asarray(x)))
    along = np.linalg.svd(frame.T @ slope @ frame - np.eye(rods - 2))[2][-1]
    direction = frame @ along
    push = surface.push(jnp.asarray(x), jnp.asarray(direction))
    return x, direction / float(jnp.sqrt(surface.product(push, push)))


def mirror_circle(surface: Surface) -> Closed:
    """The closed geodesic of all mirror-symmetric configurations."""
    x, v = symmetric_start(surface)
    times = np.linspace(0, 40.0, 801)
    points, _ = (np.asarray(a) for a in flow(surface, jnp.asarray(x), jnp.asarray(v), times))
    ahead = (points - x) @ v
    back = np.linalg.norm(points - x, axis=1) < 0.5
    at = [i for i in range(20, len(times) - 1) if back[i] and ahead[i] <= 0 < ahead[i + 1]]
    if not at:
        raise ValueError("The symmetric motion did not come back; are base and masses extreme?")

    def gap(s: float) -> float:
        return float((np.asarray(flow(surface, jnp.asarray(x), jnp.asarray(v), np.array([s]))[0][0]) - x) @ v)

    length = _root(gap, times[at[0]], times[at[0] + 1])
    return Closed(jnp.asarray(x), jnp.asarray(v * length), length)

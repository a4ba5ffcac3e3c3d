r"""Geodesics between two configurations, the places where geodesics meet again, and closed ones.

Two configurations are joined by descent of the energy of a polygon \(\sum_i|\Psi(x_{i+1}) - \Psi(x_i)|_M^2\) from
several starts, then by shooting: Newton's method on the velocity at the first, with the derivative of the geodesic
flow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.metric import known
from holonomy.models.linkages.compiled import call, many
from holonomy.models.linkages.geodesic_flow import flow, spread
from holonomy.models.linkages.surface import Forms, Point, Surface, Vector

_NODES = 32
_DESCENT = 60
_NEWTON = 30


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
    surface: Surface, x: Point, v: Vector, j0: Vector, dj0: Vector, times: Any
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
    """Geodesics from x to y, the shortest first; different ones among those that the starts lead to."""
    found: list[Motion] = []
    for start in _starts(x, y):
        motion = _shoot(surface, x, y, _velocity(surface, _descend(surface, start)))
        if motion is None:
            continue
        if all(np.linalg.norm(np.asarray(motion.velocity - m.velocity)) > 1e-6 * (1 + m.length) for m in found):
            found.append(motion)
    return sorted(found, key=lambda m: m.length)


def _starts(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Polygons on the sphere: the great circle, and detours to every side and around the back."""
    n = len(x)
    basis = np.linalg.svd(np.stack([x, y]))[2]
    across = basis[2:] if np.linalg.norm(np.cross(x, y) if n == 3 else x - (x @ y) * y) > 1e-9 else basis[1:]
    middle = x + y
    if np.linalg.norm(middle) < 1e-9:
        ways = [*across, *-across]
    else:
        middle = middle / np.linalg.norm(middle)
        ways = [middle, *across, *-across, -middle]
    s = np.linspace(0, 1, _NODES // 2 + 1)
    return [np.concatenate([_arc(x, w, s)[:-1], _arc(w, y, s)]) for w in ways]


def _arc(x: np.ndarray, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    angle = 2 * np.arctan2(np.linalg.norm(x - y), np.linalg.norm(x + y))
    if angle < 1e-9:
        return np.repeat(x[None], len(s), axis=0)
    return (np.sin((1 - s) * angle)[:, None] * x + np.sin(s * angle)[:, None] * y) / np.sin(angle)


def _descend(surface: Surface, nodes: np.ndarray) -> np.ndarray:
    """A shorter polygon with the same ends, by Newton-like steps with halving."""
    m = np.asarray(surface.ambient())

    def measure(points: np.ndarray) -> tuple[float, Any]:
        h, j, frames = (np.asarray(a) for a in many(_place, surface, points))
        steps = np.diff(h, axis=0)
        return float(np.einsum("ka,ab,kb->", steps, m, steps)), (h, j, frames)

    energy, data = measure(nodes)
    for _ in range(_DESCENT):
        step = _newton_step(data, m)
        size = 1.0
        while size > 1e-4:
            new = nodes.copy()
            new[1:-1] += size * step
            new /= np.linalg.norm(new, axis=1, keepdims=True)
            less, changed = measure(new)
            if less < energy:
                break
            size /= 2
        else:
            return nodes
        gained, nodes, energy, data = energy - less, new, less, changed
        if gained < 1e-9 * energy:
            return nodes
    return nodes


def _newton_step(data: Any, m: np.ndarray) -> np.ndarray:
    """Gauss and Newton's step for all inner nodes at once."""
    h, j, frames = data
    count, dim = len(h) - 2, j.shape[2]
    inner = j[1:-1]
    pull = np.einsum("kad,ab,kb->kd", inner, m, 2 * h[1:-1] - h[:-2] - h[2:])
    matrix = np.zeros((count, dim, count, dim))
    index = np.arange(count)
    matrix[index, :, index, :] = 2 * np.einsum("kad,ab,kbe->kde", inner, m, inner)
    beside = -np.einsum("kad,ab,kbe->kde", inner[:-1], m, inner[1:])
    matrix[index[:-1], :, index[1:], :] = beside
    matrix[index[1:], :, index[:-1], :] = np.swapaxes(beside, 1, 2)
    step = np.linalg.solve(matrix.reshape(count * dim, -1), -pull.reshape(-1)).reshape(count, dim)
    return np.einsum("knd,kd->kn", frames[1:-1], step)


def _velocity(surface: Surface, nodes: np.ndarray) -> np.ndarray:
    """The velocity at the first node of the curve through the polygon, run through in unit time."""
    x, frame = nodes[0], np.asarray(surface.round_frame(jnp.asarray(nodes[0])))
    slopes = (-3 * nodes[0] + 4 * nodes[1] - nodes[2]) * (len(nodes) - 1) / 2
    return frame @ (frame.T @ (slopes - (slopes @ x) * x))


def _shoot(surface: Surface, x: np.ndarray, y: np.ndarray, v: np.ndarray) -> Motion | None:
    """The geodesic near (x, v) that is at y after time 1, or None where Newton's method finds none."""
    frame = np.asarray(surface.round_frame(jnp.asarray(x)))
    starts = jnp.stack([jnp.stack([jnp.zeros(len(x)), jnp.asarray(c)]) for c in frame.T])
    last = np.inf
    for _ in range(_NEWTON):
        points, _, moved = spread(surface, jnp.asarray(x), jnp.asarray(v), starts, np.ones(1))
        end, slope = np.asarray(points[0]), np.asarray(moved[0, :, 0])
        gap = y - end
        size = float(np.linalg.norm(gap))
        if not np.isfinite(size) or size > 1.0:
            return None
        if size < 1e-14 or (size < 1e-11 and size >= last):
            speed = float(jnp.sqrt(surface.product(*(2 * [surface.push(jnp.asarray(x), jnp.asarray(v))]))))
            return Motion(jnp.asarray(x), jnp.asarray(v), speed)
        last = size
        change = np.linalg.lstsq(slope.T, gap, rcond=None)[0]
        v = v + frame @ (change * min(1.0, 0.5 * (1 + np.linalg.norm(v)) / max(1e-300, np.linalg.norm(change))))
    return None


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

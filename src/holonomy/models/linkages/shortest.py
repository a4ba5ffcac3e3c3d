r"""The search for geodesics between two configurations, on a surface of which compiled code is given. Without JAX.

A polygon \(x_0, ..., x_N\) on the sphere with \(x_0 = x\), \(x_N = y\) has the energy
\(\sum_i|\Psi(x_{i+1}) - \Psi(x_i)|_M^2\), whose minima tend to geodesics. It is reduced from several starts; shooting,
Newton's method on the velocity at x, then makes each result exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import numpy as np
from jaxtyping import Float

NODES: Final = 33
"""Corners of a polygon."""
_DESCENT: Final = 60
"""Steps of the descent; it takes about ten."""
_NEWTON: Final = 30
"""Steps of the shooting; it takes about five."""

Point = Float[np.ndarray, " ambient"]
Polygon = Float[np.ndarray, "nodes ambient"]
Places = tuple[
    Float[np.ndarray, "nodes coordinates"], Float[np.ndarray, "nodes coordinates dim"],
    Float[np.ndarray, "nodes ambient dim"],
]  # fmt: skip
"""Hinges, their derivatives along a frame that is orthonormal on the round sphere, and that frame."""


class AbstractGeodesicSource(ABC):
    """What the search asks of a surface."""

    @abstractmethod
    def mass(self) -> Float[np.ndarray, "coordinates coordinates"]:
        """The inner product of hinge velocities."""

    @abstractmethod
    def places(self, polygon: Polygon) -> Places:
        """Hinges, derivatives and frames at every corner."""

    @abstractmethod
    def shoot(
        self, x: Point, v: Point, frame: Float[np.ndarray, "ambient dim"]
    ) -> tuple[Point, Float[np.ndarray, "dim ambient"]]:
        """Where the geodesic from x with velocity v is after time 1, and its derivatives as v changes along a frame."""

    @abstractmethod
    def speed(self, x: Point, v: Point) -> float:
        """The size of v in the kinetic metric."""


def geodesics_between(source: AbstractGeodesicSource, x: Point, y: Point) -> list[tuple[Point, float]]:
    """Velocities at x of geodesics that are at y after time 1, with their lengths, the shortest first.

    Different ones among those that the starts lead to.
    """
    found: list[tuple[Point, float]] = []
    for start in _starts(x, y):
        polygon = _descend(source, start)
        frame = source.places(polygon)[2][0]
        velocity = _shoot(source, x, y, _velocity(polygon, frame), frame)
        if velocity is None:
            continue
        if all(np.linalg.norm(velocity - v) > 1e-6 * (1 + length) for v, length in found):
            found.append((velocity, source.speed(x, velocity)))
    return sorted(found, key=lambda motion: motion[1])


def _starts(x: Point, y: Point) -> list[Polygon]:
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
    s = np.linspace(0, 1, NODES // 2 + 1)
    return [np.concatenate([_arc(x, w, s)[:-1], _arc(w, y, s)]) for w in ways]


def _arc(x: Point, y: Point, s: np.ndarray) -> Polygon:
    angle = 2 * np.arctan2(np.linalg.norm(x - y), np.linalg.norm(x + y))
    if angle < 1e-9:
        return np.repeat(x[None], len(s), axis=0)
    return (np.sin((1 - s) * angle)[:, None] * x + np.sin(s * angle)[:, None] * y) / np.sin(angle)


def _descend(source: AbstractGeodesicSource, nodes: Polygon) -> Polygon:
    """A shorter polygon with the same ends, by Gauss–Newton steps with halving."""
    m = source.mass()

    def measure(points: Polygon) -> tuple[float, Places]:
        places = source.places(points)
        steps = np.diff(places[0], axis=0)
        return float(np.einsum("ka,ab,kb->", steps, m, steps)), places

    energy, places = measure(nodes)
    for _ in range(_DESCENT):
        step = _newton_step(places, m)
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
        gained, nodes, energy, places = energy - less, new, less, changed
        if gained < 1e-9 * energy:
            return nodes
    return nodes


def _newton_step(places: Places, m: np.ndarray) -> np.ndarray:
    """The Gauss–Newton step for all inner corners at once."""
    h, j, frames = places
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


def _velocity(nodes: Polygon, frame: np.ndarray) -> Point:
    """The velocity at the first corner of the curve through the polygon, traversed in unit time."""
    x = nodes[0]
    slopes = (-3 * nodes[0] + 4 * nodes[1] - nodes[2]) * (len(nodes) - 1) / 2
    return frame @ (frame.T @ (slopes - (slopes @ x) * x))


def _shoot(source: AbstractGeodesicSource, x: Point, y: Point, v: Point, frame: np.ndarray) -> Point | None:
    """The velocity near v that leads from x to y in time 1, or None where Newton's method finds none."""
    last = np.inf
    for _ in range(_NEWTON):
        end, slope = source.shoot(x, v, frame)
        gap = y - end
        size = float(np.linalg.norm(gap))
        if not np.isfinite(size) or size > 1.0:
            return None
        # at the level of rounding, further steps only move the end point about
        if size < 1e-14 or (size < 1e-11 and size >= last):
            return v
        last = size
        change = np.linalg.lstsq(slope.T, gap, rcond=None)[0]
        v = v + frame @ (change * min(1.0, 0.5 * (1 + np.linalg.norm(v)) / max(1e-300, np.linalg.norm(change))))
    return None

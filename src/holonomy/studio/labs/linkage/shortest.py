r"""The shortest motion between two configurations of four rods.

A polygon \(x_0, \dots, x_N\) on the sphere with \(x_0 = a\), \(x_N = b\) has the energy
\(\sum_i |p(x_{i+1}) - p(x_i)|_M^2\); its minima tend to geodesics. They are sought from the great circle, from detours
to both sides and from the way around the back; the lowest is made exact by shooting.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.linkage import sphere as sphere

_DESCENT: Final = 60
_SHOTS: Final = 12
_CLOSE: Final = 1e-9
_APART: Final = 1e-6
"""Points nearer than this are one: the way around the back would divide by their distance."""
_NEARBY: Final = 1e-4
"""How far apart the first shots of the secant method are, in the size of the velocity."""

Point = sphere.Point
Polygon = Float[np.ndarray, "nodes 3"]


@dataclass(frozen=True)
class Motion:
    """A geodesic: its points, its length in the kinetic metric, and its velocity at the start, to arrive at time 1."""

    path: sphere.Path
    length: float
    velocity: Point


def shortest(kernel: Kernel, numbers: np.ndarray, a: Point, b: Point) -> Motion | None:
    """The shortest geodesic that was found; None where the points are one, or no way was found.

    Remembered, since every picture of a drag asks for it again.
    """
    return _found(kernel, *(tuple(map(float, x)) for x in (numbers, a, b)))


@functools.lru_cache(maxsize=64)
def _found(kernel: Kernel, *given: tuple[float, ...]) -> Motion | None:
    numbers, a, b = map(np.array, given)
    if np.linalg.norm(a - b) < _APART:
        return None
    finder = _Finder(kernel, numbers)
    polygons = sorted((finder.descended(start) for start in _starts(a, b)), key=finder.energy)
    for polygon in polygons:
        motion = finder.shot(polygon)
        if motion is not None:
            return motion
    return None


def _starts(a: Point, b: Point) -> list[Polygon]:
    across = np.cross(a, b)
    if np.linalg.norm(across) < 1e-9:
        across = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    across = across / np.linalg.norm(across)
    middle = a + b if np.linalg.norm(a + b) > 1e-6 else np.cross(across, a)
    middle = middle / np.linalg.norm(middle)
    s = np.linspace(0.0, 1.0, sphere.NODES // 2 + 1)
    return [np.concatenate([_arc(a, way, s)[:-1], _arc(way, b, s)]) for way in (middle, across, -across, -middle)]


def _arc(a: Point, b: Point, s: np.ndarray) -> Polygon:
    angle = 2 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    return (np.sin((1 - s) * angle)[:, None] * a + np.sin(s * angle)[:, None] * b) / np.sin(angle)


class _Finder:
    def __init__(self, kernel: Kernel, numbers: np.ndarray):
        self._kernel, self._numbers = kernel, numbers
        _, rod, hinge = numbers
        beside = np.full(2, rod / 6)
        matrix = np.diag(np.full(3, 2 * rod / 3 + hinge)) + np.diag(beside, 1) + np.diag(beside, -1)
        self._mass = np.kron(matrix, np.eye(2))

    def _places(self, polygon: Polygon) -> list[np.ndarray]:
        """Hinges (nodes, 6), their derivatives (nodes, 6, 2) along a frame of the round sphere, that frame."""
        return self._kernel.routines["places"](self._numbers, polygon)

    def energy(self, polygon: Polygon) -> float:
        """Of the whole polygon; the square of its length, where its steps are even."""
        return self._energy(self._places(polygon)[0])

    def _energy(self, hinges: np.ndarray) -> float:
        steps = np.diff(hinges, axis=0)
        return float(np.einsum("ka,ab,kb->", steps, self._mass, steps)) * (sphere.NODES - 1)

    def descended(self, polygon: Polygon) -> Polygon:
        """A polygon of less energy with the same ends, by Gauss and Newton's steps."""
        places = self._places(polygon)
        energy = self._energy(places[0])
        for _ in range(_DESCENT):
            step, size = self._step(places), 1.0
            while size > 1e-3:
                new = polygon.copy()
                new[1:-1] += size * step
                new /= np.linalg.norm(new, axis=1, keepdims=True)
                there = self._places(new)
                less = self._energy(there[0])
                if less < energy:
                    break
                size /= 2
            else:
                return polygon
            gained, polygon, places, energy = energy - less, new, there, less
            if gained < 1e-7 * energy:
                return polygon
        return polygon

    def _step(self, places: list[np.ndarray]) -> Polygon:
        from scipy.linalg import solveh_banded

        hinges, slopes, frames = places
        inner, count = slopes[1:-1], sphere.NODES - 2
        lowered = np.einsum("kad,ab->kdb", inner, self._mass)
        pull = np.einsum("kdb,kb->kd", lowered, 2 * hinges[1:-1] - hinges[:-2] - hinges[2:])
        own = 2 * np.einsum("kdb,kbe->kde", lowered, inner)
        beside = -np.einsum("kdb,kbe->kde", lowered[:-1], inner[1:])
        # the matrix is symmetric with blocks of two: its diagonal and the three lines below it
        bands = np.zeros((4, 2 * count))
        bands[0, 0::2], bands[0, 1::2], bands[1, 0::2] = own[:, 0, 0], own[:, 1, 1], own[:, 0, 1]
        bands[2, 0:-2:2], bands[2, 1:-2:2] = beside[:, 0, 0], beside[:, 1, 1]
        bands[3, 0:-2:2], bands[1, 1:-2:2] = beside[:, 0, 1], beside[:, 1, 0]
        step = solveh_banded(bands, -pull.ravel(), lower=True).reshape(count, 2)
        return np.einsum("knd,kd->kn", frames[1:-1], step)

    def shot(self, polygon: Polygon) -> Motion | None:
        """The geodesic near a polygon, by the secant method on its velocity at the start; None where it fails."""
        a, b = polygon[0], polygon[-1]
        frame = self._places(polygon)[2][0]
        slope = frame.T @ (-3 * polygon[0] + 4 * polygon[1] - polygon[2]) * (sphere.NODES - 1) / 2
        shots = slope + _NEARBY * np.linalg.norm(slope) * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        side = np.linalg.svd(b[None])[2][1:]  # misses are measured along two directions tangent at b
        paths = sphere.paths(self._kernel, self._numbers, a, shots @ frame.T)
        misses = (paths[:, -1] - b) @ side.T
        for _ in range(_SHOTS):
            best = int(np.argmin(np.linalg.norm(misses, axis=1)))
            if np.linalg.norm(paths[best, -1] - b) < _CLOSE:
                velocity = frame @ shots[best]
                speed = self._kernel.routines["speeds"](self._numbers, _rows(a), _rows(velocity))[0][0]
                return Motion(paths[best], float(speed), velocity)
            others = [k for k in range(3) if k != best]
            linear = np.linalg.lstsq(shots[others] - shots[best], misses[others] - misses[best], rcond=None)[0]
            change = -np.linalg.lstsq(linear.T, misses[best], rcond=None)[0]
            change *= min(1.0, 0.3 * np.linalg.norm(slope) / max(1e-300, float(np.linalg.norm(change))))
            worst = int(np.argmax(np.linalg.norm(misses, axis=1)))
            shots[worst] = shots[best] + change
            paths[worst] = sphere.paths(self._kernel, self._numbers, a, (frame @ shots[worst])[None])[0]
            misses[worst] = (paths[worst, -1] - b) @ side.T
        return None


def _rows(x: Point) -> np.ndarray:
    return np.broadcast_to(x, (sphere.RAYS, 3))

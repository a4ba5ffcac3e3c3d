r"""What the Linkage lab draws on the configuration sphere of four rods, from compiled code: colours and geodesics.

Lengths are those of the kinetic metric: the square root of twice the energy, times time.
"""

from __future__ import annotations

import base64
import functools
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.models.linkages.shortest import AbstractGeodesicSource, Places, Polygon, geodesics_between
from holonomy.notation import QUANTITIES
from holonomy.studio.compile.kernel import Kernel
from holonomy.viewer.protocol import messages

ROWS: Final = 97
COLUMNS: Final = 193
RAYS: Final = 32
"""Geodesics in a fan."""
POINTS: Final = 129
"""Points of a drawn geodesic."""
SUBSTEPS: Final = 4
"""Steps from one of them to the next."""
_CLIPPED: Final = 1.0
"""Per cent of the sphere, at either end, whose values lie beyond the ends of the colour scale."""
_APART: Final = 1e-6
"""Points nearer than this are one: between them there is no direction to start in."""
_CHORD: Final = 1e-6
"""How far apart, relative to the velocity, the geodesics are whose ends give the slope in Newton's method. The slope
only steers the iteration: what it converges to does not depend on it."""

Point = Float[np.ndarray, " 3"]
Path = Float[np.ndarray, "points 3"]
FIELDS: Final = {
    "gauss": (QUANTITIES["gauss"].symbol, "Gaussian curvature", QUANTITIES["gauss"].unit),
    "bending": (QUANTITIES["bending"].symbol, "Total bending", QUANTITIES["bending"].unit),
}


def placed(x: np.ndarray) -> np.ndarray:
    """Where points (..., n - 1) of the sphere of configurations stand in the picture: the first coordinate upwards."""
    third = x[..., 2] if x.shape[-1] > 2 else np.zeros(x.shape[:-1])
    return np.stack([x[..., 1], third, x[..., 0]], axis=-1)


def coordinates(place: Point, count: int) -> Float[np.ndarray, " count"]:
    """The inverse of `placed` for two or three coordinates."""
    return place[[2, 0, 1]][:count]


def hinges(rods: int, base: float, x: Float[np.ndarray, " count"]) -> Float[np.ndarray, "hinges 2"]:
    r"""The moving hinges at a point of the sphere, by the map of `models.linkages.sphere_map` on the host.

    A chain of k rods on a base of length d opens at most to \(\alpha = \arccos\frac{d^2+1-(k-1)^2}{2d}\) at its far
    end. Its last rod stands at the angle \(\alpha x_j/\sqrt{\sum_{i\ge j}x_i^2}\).
    """
    end, found = np.array([base, 0.0]), []
    for j in range(rods - 2):
        k, d = rods - j, float(np.linalg.norm(end))
        rest = float(np.linalg.norm(x[j:]))
        part = x[j] / rest if rest > 0 else 0.0
        angle = part * np.arccos(np.clip((d * d + 1 - (k - 1) ** 2) / (2 * d), -1.0, 1.0))
        c, s = np.cos(angle), np.sin(angle)
        end = end - np.array([[c, -s], [s, c]]) @ end / d
        found.append(end)
    half = end / 2
    height = np.sqrt(max(0.0, 1.0 - float(half @ half))) * np.sign(x[-1])
    across = np.array([-end[1], end[0]]) / float(np.linalg.norm(end))
    return np.array([half + height * across, *found[::-1]])


def grid() -> Float[np.ndarray, "vertices 3"]:
    """Points of the sphere at the vertices of the picture's mesh, row by row; see `messages.Surface`."""
    polar = np.pi * np.arange(ROWS) / (ROWS - 1)
    turn = 2 * np.pi * np.arange(COLUMNS) / (COLUMNS - 1)
    across = np.sin(polar)[:, None]
    place = np.stack(
        [across * np.cos(turn), across * np.sin(turn), np.broadcast_to(np.cos(polar)[:, None], (ROWS, COLUMNS))],
        axis=-1,
    ).reshape(-1, 3)
    return np.ascontiguousarray(place[:, [2, 0, 1]])


def coloured(kernel: Kernel, numbers: np.ndarray, field: str, picture: int) -> messages.Surface:
    """The sphere with its curvature or bending."""
    values = kernel.routines["fields"](numbers, grid())[0 if field == "gauss" else 1]
    signed = field == "gauss"
    low, high = (0.0 - _bulk(-values, values < 0)[1], _bulk(values, values > 0)[1]) if signed else _bulk(values)
    symbol, label, unit = FIELDS[field]
    return messages.Surface(
        picture, ROWS, COLUMNS, symbol, label, unit, low, high, float(values.min()), float(values.max()),
        packed(values), signed=signed,
    )  # fmt: skip


def _bulk(values: np.ndarray, where: np.ndarray | None = None) -> tuple[float, float]:
    """Between these lie the values on all but `_CLIPPED` per cent of the round sphere at either end.

    With `where`, of that part of it only; zeros where there is no such part.
    """
    area = np.repeat(np.sin(np.pi * np.arange(ROWS) / (ROWS - 1)), COLUMNS)
    if where is not None:
        values, area = values[where], area[where]
    if not len(values):
        return 0.0, 0.0
    order = np.argsort(values)
    share = np.cumsum(area[order]) / area.sum()
    low, high = np.searchsorted(share, [0.01 * _CLIPPED, 1.0 - 0.01 * _CLIPPED])
    return float(values[order[low]]), float(values[order[min(high, len(values) - 1)]])


def packed(values: np.ndarray) -> str:
    """Numbers for a message: little-endian float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()


# ── Geodesics ─────────────────────────────────────────────────────────────────────────────────────────────────────


def paths(kernel: Kernel, numbers: np.ndarray, x: Point, velocities: np.ndarray) -> Float[np.ndarray, "k points 3"]:
    """The geodesics from x with up to `RAYS` velocities, each followed for time 1."""
    count = len(velocities)
    rows = np.zeros((RAYS, 3))
    rows[:count] = velocities
    return kernel.routines["paths"](numbers, x, rows, count)[0][:count]


def fan(kernel: Kernel, numbers: np.ndarray, x: Point, length: float) -> Float[np.ndarray, "rays points 3"]:
    """Geodesics of one length from x in directions evenly around it, as the round sphere sees them.

    The length is in metres: that in the kinetic metric, divided by the square root of what one hinge weighs in it.
    """
    length *= np.sqrt(kernel.routines["mass"](numbers)[0][0, 0])
    away = np.eye(3)[int(np.argmin(np.abs(x)))]
    first = away - (away @ x) * x
    first /= np.linalg.norm(first)
    angles = 2 * np.pi * np.arange(RAYS) / RAYS
    ways = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), np.cross(x, first))
    speeds = kernel.routines["speeds"](numbers, np.broadcast_to(x, (RAYS, 3)), ways)[0]
    return paths(kernel, numbers, x, ways * (length / speeds)[:, None])


# ── Shortest motions ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Motion:
    """A geodesic: its points, its length in the kinetic metric, and its velocity at the start, to arrive at time 1."""

    path: Path
    length: float
    velocity: Point


def shortest(kernel: Kernel, numbers: np.ndarray, a: Point, b: Point) -> Motion | None:
    """The shortest geodesic that was found; None where the points are one, or none was found.

    Remembered, since every frame of a drag asks for it again.
    """
    return _shortest(kernel, *(tuple(map(float, x)) for x in (numbers, a, b)))


@functools.lru_cache(maxsize=64)
def _shortest(kernel: Kernel, *given: tuple[float, ...]) -> Motion | None:
    numbers, a, b = map(np.array, given)
    found = geodesics_between(_Source(kernel, numbers), a, b) if np.linalg.norm(a - b) > _APART else []
    if not found:
        return None
    velocity, length = found[0]
    return Motion(paths(kernel, numbers, a, velocity[None])[0], length, velocity)


class _Source(AbstractGeodesicSource):
    """The compiled surface for the search of `holonomy.models.linkages.shortest`."""

    def __init__(self, kernel: Kernel, numbers: np.ndarray):
        self._kernel, self._numbers = kernel, numbers

    def mass(self) -> np.ndarray:
        return self._kernel.routines["mass"](self._numbers)[0]

    def places(self, polygon: Polygon) -> Places:
        hinges, slopes, frames = self._kernel.routines["places"](self._numbers, polygon)
        return hinges, slopes, frames

    def shoot(self, x: Point, v: Point, frame: np.ndarray) -> tuple[Point, np.ndarray]:
        change = _CHORD * np.linalg.norm(v)
        ends = paths(self._kernel, self._numbers, x, np.stack([v, *(v + change * way for way in frame.T)]))[:, -1]
        return ends[0], (ends[1:] - ends[0]) / change

    def speed(self, x: Point, v: Point) -> float:
        rows = (np.broadcast_to(y, (RAYS, 3)) for y in (x, v))
        return float(self._kernel.routines["speeds"](self._numbers, *rows)[0][0])

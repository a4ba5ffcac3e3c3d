"""The bodies of the lab: where their vertices lie in the tangent space, and which of them springs or rods join."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.labs.curved.geometry import Geometry

Rows = Float[np.ndarray, "rows columns"]
Pairs = tuple[tuple[int, int], ...]

RING: Final = 8
BALLS: Final = "balls"
MOST_BALLS: Final = 40
GRID: Final = 3
"""Vertices on a side of the lattice of a surface; in space the lattice is one cube."""
PARTS: Final = 4
"""Parts into which the mesh cuts each side of its triangle."""
_CANDIDATES: Final = 1000
"""Places from which those of the balls are taken, each as far from the others as possible."""


@dataclass(frozen=True)
class Shape:
    """A body: its number of vertices, the pairs that springs or rods join, and the shape with joints of a given length.

    `central` where it starts at the origin of the space and not where bodies do; `planar` where its vertices lie in the
    plane of the first two axes. `rods` are the pairs that rods join, independent of each other; None where rods would
    not be.
    """

    count: int
    joints: Pairs
    shape: Callable[[Geometry, float], Rows]
    central: bool = False
    planar: bool = False
    rods: Pairs | None = None


def _rod(space: Geometry, size: float) -> Rows:
    """Across the first axis, along which a translation goes."""
    found = np.zeros((2, space.dim))
    found[:, 1] = [0.5 * size, -0.5 * size]
    return found


def _polygon(count: int) -> Callable[[Geometry, float], Rows]:
    """A regular polygon with geodesic sides of this length, its first vertex ahead on the first axis."""

    def shape(space: Geometry, size: float) -> Rows:
        angles = 2.0 * np.pi * np.arange(count) / count
        found = np.zeros((count, space.dim))
        found[:, 0], found[:, 1] = np.cos(angles), np.sin(angles)
        return found * _circumradius(space, size, count)

    return shape


def _circumradius(space: Geometry, side: float, count: int) -> float:
    r"""\(\sin(\rho/R)\sin(\pi/n) = \sin(s/2R)\), and with hyperbolic sines in hyperbolic space."""
    part, sector = 0.5 * side / space.radius, np.sin(np.pi / count)
    match space.kind:
        case "sphere":
            return float(space.radius * np.arcsin(min(1.0, np.sin(min(part, np.pi / 2)) / sector)))
        case "hyperbolic" | "product":
            return float(space.radius * np.arcsinh(np.sinh(part) / sector))
        case _:
            return float(0.5 * side / sector)


def _tetrahedron(space: Geometry, size: float) -> Rows:
    corners = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    return corners * (size / np.sqrt(8.0))


def _cube(space: Geometry, size: float) -> Rows:
    return (np.array([[i >> k & 1 for k in range(3)] for i in range(8)]) - 0.5) * size


def _square(space: Geometry, size: float) -> Rows:
    places = np.arange(GRID) - 0.5 * (GRID - 1)
    return size * np.array([[x, y] for x in places for y in places])


def _particle(space: Geometry, size: float) -> Rows:
    found = np.zeros((1, space.dim))
    found[0, 0] = size
    return found


def _pair(space: Geometry, size: float) -> Rows:
    found = np.zeros((2, space.dim))
    found[:, 0] = [0.5 * size, -0.5 * size]
    return found


def _mesh(space: Geometry, size: float) -> Rows:
    """The triangle with its sides cut into parts, by straight lines of the tangent space."""
    return _weights() @ _polygon(3)(space, size)


@cache
def _weights() -> Rows:
    places = [(i, j) for i in range(PARTS + 1) for j in range(PARTS + 1 - i)]
    return np.array([[i, j, PARTS - i - j] for i, j in places]) / PARTS


def _mesh_springs() -> Pairs:
    """Between neighbours, whose weights differ by one part in two of the corners."""
    places = np.rint(PARTS * _weights()).astype(int)
    return tuple((i, j) for i, j in combinations(range(len(places)), 2) if np.abs(places[i] - places[j]).sum() == 2)


@cache
def _spread(count: int, dim: int) -> Rows:
    """Points of the unit ball that are far from each other, in no order: the same in every start."""
    rng = np.random.default_rng(5)
    places = rng.standard_normal((_CANDIDATES, dim))
    places *= rng.uniform(size=(_CANDIDATES, 1)) ** (1.0 / dim) / np.linalg.norm(places, axis=1, keepdims=True)
    taken, away = [0], np.linalg.norm(places - places[0], axis=1)
    while len(taken) < count:
        taken.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(places - places[taken[-1]], axis=1))
    return places[taken]


def balls(count: int, dim: int) -> Shape:
    """Free balls within a distance of the centre."""
    return Shape(count, (), lambda space, size: size * _spread(count, dim), central=True)


def _cube_springs() -> Pairs:
    """Along the edges and the diagonals of the faces."""
    return tuple((i, j) for i, j in combinations(range(8), 2) if (i ^ j).bit_count() < 3)


def _square_springs() -> Pairs:
    """To all neighbours, along the diagonals too."""
    place = [divmod(i, GRID) for i in range(GRID**2)]
    return tuple(
        (i, j)
        for i, j in combinations(range(GRID**2), 2)
        if max(abs(place[i][0] - place[j][0]), abs(place[i][1] - place[j][1])) == 1
    )


def _cube_rods() -> Pairs:
    """Along the edges, and along one diagonal of each face: as many as hold a body in space."""
    faces = ((0, 3), (4, 7), (0, 5), (2, 7), (0, 6), (1, 7))
    return (*(pair for pair in _cube_springs() if (pair[0] ^ pair[1]).bit_count() == 1), *faces)


def _square_rods() -> Pairs:
    """Along the grid, and along a diagonal in three of its four squares: as many as hold a body on a surface."""
    place = [divmod(i, GRID) for i in range(GRID**2)]
    grid = (p for p in _square_springs() if sum(abs(a - b) for a, b in zip(place[p[0]], place[p[1]], strict=True)) == 1)
    return (*grid, (0, 4), (4, 8), (1, 5))


_ROUND: Final = tuple((i, (i + 1) % RING) for i in range(RING))
_EVERY_FOUR: Final = tuple(combinations(range(4), 2))
_ALL: Final[dict[tuple[str, int], Shape]] = {
    ("tetrahedron", 3): Shape(4, _EVERY_FOUR, _tetrahedron, rods=_EVERY_FOUR),
    ("lattice", 3): Shape(8, _cube_springs(), _cube, rods=_cube_rods()),
    ("lattice", 2): Shape(GRID**2, _square_springs(), _square, planar=True, rods=_square_rods()),
}
_SIDES: Final = ((0, 1), (0, 2), (1, 2))
for _dim in (2, 3):
    _ALL["rod", _dim] = Shape(2, ((0, 1),), _rod, planar=True, rods=((0, 1),))
    _ALL["triangle", _dim] = Shape(3, _SIDES, _polygon(3), planar=True, rods=_SIDES)
    _ALL["mesh", _dim] = Shape(len(_weights()), _mesh_springs(), _mesh, planar=True)
    _ALL["ring", _dim] = Shape(RING, _ROUND, _polygon(RING), planar=True, rods=_ROUND)
    _ALL["particle", _dim] = Shape(1, (), _particle, central=True)
    _ALL["pair", _dim] = Shape(2, (), _pair, central=True)
SHAPES: Final = _ALL
"""Bodies joined by springs and masses that attract each other, by name and dimension of the space."""


def shape_of(body: str, dim: int, rigid: bool = False, count: int = 0) -> Shape | None:
    """The body, with rods as its joints if it is `rigid`, or so many balls; None where the space has no such body."""
    if body == BALLS:
        return balls(count, dim)
    found = SHAPES.get((body, dim))
    return replace(found, joints=found.rods or ()) if found is not None and rigid else found

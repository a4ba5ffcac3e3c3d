r"""Bodies to start from: rods, triangles, rings, chains, cloths and lattices, placed in a space.

A builder draws a shape in the tangent space at a point and carries it over by the exponential map; isometries by name
move it on. Springs have their rest lengths at the start, measured in the space, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace
from holonomy.systems.bodies import Body
from holonomy.systems.bodies.placing import placed
from holonomy.types import Number, PointLike, Unchecked

Pairs = Iterable[tuple[int, int]]


class Placed(NamedTuple):
    """A body and the points of its vertices, (vertices, point_dim)."""

    body: Body
    points: Float[Array, "vertices d"]


def build(
    space: AbstractSpace,
    shape: PointLike,
    pairs: Pairs,
    *,
    mass: Number = 1.0,
    stiffness: Number = 1.0,
    rigid: bool = False,
    radius: Number | None = None,
    damping: Number = 0.0,
    at: PointLike | None = None,
    **isometry: Number,
) -> Placed:
    """The body with vertices at a shape of the tangent space, joined along pairs by springs, or by rods if `rigid`.

    **Arguments:** `shape`, (vertices, dim); `mass`, of each vertex; `stiffness`, of each spring; `radius`, of balls at
    the vertices; `at` and isometries by name, as `placed` takes them. The other builders take the same.
    """
    points = placed(space, shape, at, **isometry)
    ends = np.array(sorted({(min(i, j), max(i, j)) for i, j in pairs}), int).reshape(-1, 2)
    lengths = np.asarray(jax.vmap(space.distance)(points[ends[:, 0]], points[ends[:, 1]])) if len(ends) else []
    rows = [(int(i), int(j), float(d)) for (i, j), d in zip(ends, lengths, strict=True)]
    springs = [] if rigid else [(i, j, stiffness, d) for i, j, d in rows]
    masses = np.full(len(points), float(mass))
    return Placed(Body(masses, springs, rows if rigid else [], radii=radius, damping=damping), points)


def rod(space: AbstractSpace, length: float = 1.0, **options: Unchecked) -> Placed:
    """Two vertices a length apart, along the first axis."""
    return build(space, _axis(space, [-0.5 * length, 0.5 * length]), [(0, 1)], **options)


def triangle(space: AbstractSpace, side: float = 1.0, **options: Unchecked) -> Placed:
    """Three vertices around a point, in the plane of the first two axes; sides of this length in flat space."""
    return ring(space, 3, side / np.sqrt(3.0), **options)


def ring(space: AbstractSpace, count: int, radius: float = 1.0, **options: Unchecked) -> Placed:
    """Vertices on a circle of this geodesic radius in the plane of the first two axes, each joined to the next."""
    _refuse_few("ring", "count", count, 3)
    angles = 2.0 * np.pi * np.arange(count) / count
    shape = np.zeros((count, space.dim))
    shape[:, :2] = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return build(space, shape, [(i, (i + 1) % count) for i in range(count)], **options)


def chain(
    space: AbstractSpace,
    count: int,
    spacing: float = 1.0,
    *,
    bending: bool = False,
    **options: Unchecked,
) -> Placed:
    """Vertices along a geodesic, each joined to the next; with `bending` also to the one after that."""
    _refuse_few("chain", "count", count, 2)
    pairs = [(i, i + 1) for i in range(count - 1)] + [(i, i + 2) for i in range(count - 2) if bending]
    return build(space, _axis(space, spacing * (np.arange(count) - 0.5 * (count - 1))), pairs, **options)


def cloth(
    space: AbstractSpace,
    rows: int,
    columns: int,
    spacing: float = 1.0,
    *,
    shear: bool = True,
    bending: bool = False,
    **options: Unchecked,
) -> Placed:
    """A sheet of rows × columns vertices with springs along both directions.

    With `shear` also along the diagonals of each square, with `bending` to the vertices two further on.
    """
    _refuse_few("cloth", "rows and columns", min(rows, columns), 2)
    number = np.arange(rows * columns).reshape(rows, columns)
    joined = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    if shear:
        joined += [(number[:-1, :-1], number[1:, 1:]), (number[:-1, 1:], number[1:, :-1])]
    if bending:
        joined += [(number[:, :-2], number[:, 2:]), (number[:-2], number[2:])]
    return build(space, _grid(space, (rows, columns), spacing), _pairs(joined), **options)


def mesh(
    space: AbstractSpace, corners: PointLike, triangles: Unchecked, *, refine: int = 0, **options: Unchecked
) -> Placed:
    """Triangles with these corners in the tangent space, joined along their edges.

    **Arguments:** `corners`, (corners, dim); `triangles`, rows of three corners; `refine`, how often every triangle is
    cut into four at the middles of its edges. Vertices that triangles share are one.
    """
    _refuse_few("mesh", "refine", refine, 0)
    shape = [np.asarray(corner, float) for corner in np.asarray(corners, float)]
    faces = [tuple(int(i) for i in face) for face in triangles]
    for face in faces:
        if len(set(face)) != 3 or not all(0 <= i < len(shape) for i in face):
            raise ValueError(f"A triangle has three different corners from 0 to {len(shape) - 1}; got {face}.")
    for _ in range(refine):
        shape, faces = _refined(shape, faces)
    pairs = [(a, b) for a, b, c in faces for a, b in ((a, b), (b, c), (c, a))]
    return build(space, np.array(shape), pairs, **options)


def _refined(shape: list[np.ndarray], faces: list[tuple[int, ...]]) -> tuple[list[np.ndarray], list[tuple[int, ...]]]:
    shape, middles = list(shape), {}

    def middle(i: int, j: int) -> int:
        key = (min(i, j), max(i, j))
        if key not in middles:
            middles[key] = len(shape)
            shape.append(0.5 * (shape[i] + shape[j]))
        return middles[key]

    cut: list[tuple[int, ...]] = []
    for a, b, c in faces:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        cut += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return shape, cut


def cubic_lattice(
    space: AbstractSpace, count: int, spacing: float = 1.0, *, shear: bool = True, **options: Unchecked
) -> Placed:
    """count³ vertices in cubes, joined along the edges and, with `shear`, the diagonals of the faces."""
    _refuse_few("cubic_lattice", "count", count, 2)
    number = np.arange(count**3).reshape(count, count, count)
    joined: list[tuple[np.ndarray, np.ndarray]] = []
    for axis in range(3):
        joined.append((np.take(number, range(count - 1), axis), np.take(number, range(1, count), axis)))
        if shear:
            faces = np.moveaxis(number, axis, 0)
            joined += [(faces[:, :-1, :-1], faces[:, 1:, 1:]), (faces[:, :-1, 1:], faces[:, 1:, :-1])]
    return build(space, _grid(space, (count, count, count), spacing), _pairs(joined), **options)


def tetrahedral_lattice(space: AbstractSpace, layers: int, edge: float = 1.0, **options: Unchecked) -> Placed:
    """The vertices of a regular tetrahedron cut into layers of smaller ones, each joined to its nearest; one layer is
    the tetrahedron itself."""
    _refuse_few("tetrahedral_lattice", "layers", layers, 1)
    if space.dim != 3:
        raise ValueError(f"A tetrahedral lattice needs a space of dimension 3; got {space!r}.")
    up = [0.5, np.sqrt(1.0 / 12.0), np.sqrt(2.0 / 3.0)]
    steps = edge * np.array([[1.0, 0.0, 0.0], [0.5, np.sqrt(0.75), 0.0], up])
    places = [(i, j, k) for i in range(layers + 1) for j in range(layers + 1 - i) for k in range(layers + 1 - i - j)]
    shape = np.array(places) @ steps
    apart = np.linalg.norm(shape[:, None] - shape[None], axis=-1)
    first, second = np.nonzero(np.triu(apart < 1.01 * edge, 1))
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    return build(space, shape - shape.mean(axis=0), pairs, **options)


def _axis(space: AbstractSpace, places: np.ndarray | list[float]) -> np.ndarray:
    shape = np.zeros((len(places), space.dim))
    shape[:, 0] = places
    return shape


def _grid(space: AbstractSpace, counts: tuple[int, ...], spacing: float) -> np.ndarray:
    if space.dim < len(counts):
        raise ValueError(f"A grid of {len(counts)} directions needs a space of at least that dimension; got {space!r}.")
    axes = np.meshgrid(*(spacing * (np.arange(n) - 0.5 * (n - 1)) for n in counts), indexing="ij")
    shape = np.zeros((axes[0].size, space.dim))
    shape[:, : len(counts)] = np.stack([a.ravel() for a in axes], axis=1)
    return shape


def _pairs(joined: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for a, b in joined for i, j in zip(a.ravel(), b.ravel(), strict=True)]


def _refuse_few(name: str, what: str, count: int, least: int) -> None:
    if not isinstance(count, int | np.integer) or count < least:
        raise ValueError(f"The {what} of a {name} must be a whole number from {least} on; got {count!r}.")

"""Which vertices act on each other other than by collisions."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from holonomy.systems.bodies.body import Body


def clusters(bodies: tuple[Body, ...]) -> Int[np.ndarray, " vertices"]:
    """For every vertex the number of its cluster: vertices joined, over others or not, by springs, rods, angles, cells
    or a potential of their body."""
    rows: list[np.ndarray] = []
    start = 0
    for body in bodies:
        rows += [one.vertices + start for one in (body.springs, body.rods, body.angles, body.areas, body.volumes)]
        if body.potentials:
            rows.append(np.arange(start, start + body.count)[None])
        start += body.count
    return joined(start, rows)


def joined(count: int, rows: list[Int[np.ndarray, "_ _"]]) -> Int[np.ndarray, " vertices"]:
    """For each of so many vertices the number of its component, where the vertices of each row are joined."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = [np.repeat(some[:, 0], some.shape[1] - 1) for some in rows]
    second = [some[:, 1:].reshape(-1) for some in rows]
    pairs = np.concatenate(first), np.concatenate(second)
    graph = coo_array((np.ones(len(pairs[0])), pairs), shape=(count, count))
    return connected_components(graph, directed=False)[1]

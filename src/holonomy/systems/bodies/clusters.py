"""Which vertices act on each other other than by collisions."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from holonomy.systems.bodies.body import Body


def clusters(bodies: tuple[Body, ...]) -> Int[np.ndarray, " vertices"]:
    """For every vertex the number of its cluster: vertices joined, over others or not, by springs, rods, angles, cells
    or a potential of their body."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first: list[np.ndarray] = []
    second: list[np.ndarray] = []
    start = 0
    for body in bodies:
        for elements in (body.springs, body.rods, body.angles, body.areas, body.volumes):
            for column in range(1, elements.vertices.shape[1]):
                first.append(elements.vertices[:, 0] + start)
                second.append(elements.vertices[:, column] + start)
        if body.potentials:
            first.append(np.full(body.count, start))
            second.append(np.arange(start, start + body.count))
        start += body.count
    pairs = np.concatenate(first), np.concatenate(second)
    graph = coo_array((np.ones(len(pairs[0])), pairs), shape=(start, start))
    return connected_components(graph, directed=False)[1]

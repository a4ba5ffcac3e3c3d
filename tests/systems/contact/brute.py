"""Contact problems solved by trying every set of contacts, with NumPy alone."""

from itertools import combinations

import numpy as np


def complementarity(matrix, offset, among):
    """The slack W x + b of a solution, or None where there is none: every set of rows that may push is tried."""
    rows = np.flatnonzero(among)
    size = 1.0 + np.abs(offset).max()
    for count in range(len(rows) + 1):
        for active in combinations(rows, count):
            on = list(active)
            x = np.zeros(len(offset))
            if on:
                x[on] = np.linalg.lstsq(matrix[np.ix_(on, on)], -offset[on], rcond=1e-11)[0]
            slack = matrix @ x + offset
            solved = np.all(np.abs(slack[on]) < 1e-9 * size) and np.all(x >= -1e-9 * size)
            if solved and np.all(slack[rows] > -1e-9 * size):
                return slack
    return None


def project(mass, normals, velocity):
    """The velocity nearest in the kinetic metric with no negative normal velocity."""
    across = np.linalg.solve(mass, normals.T)
    gram, rates = normals @ across, normals @ velocity
    size = 1e-9 * (1.0 + np.abs(rates).max(initial=0.0))
    best = None
    for count in range(len(rates) + 1):
        for active in combinations(range(len(rates)), count):
            on = list(active)
            blow = np.linalg.lstsq(gram[np.ix_(on, on)], -rates[on], rcond=1e-11)[0] if on else np.zeros(0)
            new = velocity + across[:, on] @ blow
            if np.all(normals @ new > -size):
                loss = (new - velocity) @ mass @ (new - velocity)
                if best is None or loss < best[0] - 1e-12:
                    best = (loss, new)
    assert best is not None
    return best[1]


def reflect(mass, normals, velocity, restitution):
    """Generalised reflections: the definition, word for word."""
    elastic = velocity
    for _ in range(1000):
        violated = normals @ elastic < -1e-12 * (1.0 + np.abs(velocity).max())
        if not violated.any():
            break
        elastic = 2.0 * project(mass, normals[violated], elastic) - elastic
    else:
        raise AssertionError("the reference did not end")
    return restitution * elastic + (1.0 - restitution) * project(mass, normals, velocity)

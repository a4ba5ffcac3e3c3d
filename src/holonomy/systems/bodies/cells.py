r"""Areas of geodesic triangles and volumes of geodesic tetrahedra in Euclidean, spherical and hyperbolic spaces.

A geodesic simplex with vertices \(x_0, \dots, x_k\) on the unit sphere or hyperboloid is the set of the directions
\(p(\lambda) = \sum\lambda_i x_i\), \(\lambda_i \ge 0\), \(\sum\lambda_i = 1\). With
\(G_{ij} = \langle x_i, x_j\rangle\) its measure is

\[ \int \sqrt{|\det G|}\;|\langle p, p\rangle|^{-(k+1)/2}\,d\lambda, \]

a smooth integrand, integrated here by Gauss's formula in each direction.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace, Euclidean, Hyperbolic, Sphere
from holonomy.types import Scalar

_POINTS = 12  # of Gauss's formula in each direction: round-off for cells up to the size of the radius


def refuse_space(space: AbstractSpace) -> None:
    """Raise where areas and volumes of geodesic cells are not known."""
    match space:
        case Euclidean() | Sphere(model="embedded") | Hyperbolic(model="hyperboloid"):
            return
        case _:
            raise ValueError(
                f"Areas and volumes of cells are known in hl.Euclidean, hl.Sphere and hl.Hyperbolic in their default "
                f"models; got {space!r}."
            )


def measures(space: AbstractSpace, corners: Float[Array, "cells corners point"]) -> Float[Array, " cells"]:
    """The area or volume of each cell."""
    return jax.vmap(lambda one: measure(space, one))(corners)


def measure(space: AbstractSpace, corners: Float[Array, "corners point"]) -> Scalar:
    """The area of a geodesic triangle, or the volume of a geodesic tetrahedron."""
    k = corners.shape[0] - 1
    if isinstance(space, Euclidean):
        edges = corners[1:] - corners[:1]
        return jnp.sqrt(jnp.linalg.det(edges @ edges.T)) / math.factorial(k)
    assert isinstance(space, Sphere | Hyperbolic)
    sign = np.ones(corners.shape[1])
    if isinstance(space, Hyperbolic):
        sign[-1] = -1.0
    unit = corners / space.radius
    # The determinant from differences, which do not cancel for small cells: <x0, x0> = ±1 splits off.
    edges = unit[1:] - unit[:1]
    normal = edges - jnp.outer(edges @ (sign * unit[0]), unit[0]) * sign[-1]
    size = jnp.sqrt(jnp.abs(jnp.linalg.det((normal * sign[None]) @ normal.T)))
    nodes, weights = _simplex(k)
    p = nodes @ unit
    squares = jnp.abs((p * p) @ sign)
    return space.radius**k * size * jnp.sum(weights * squares ** (-(k + 1) / 2.0))


def _simplex(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of a product of Gauss's formulas on the simplex of k + 1 coordinates with sum 1."""
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    grids = np.stack(np.meshgrid(*[x] * k, indexing="ij"), axis=-1).reshape(-1, k)
    weights = np.prod(np.stack(np.meshgrid(*[w] * k, indexing="ij"), axis=-1).reshape(-1, k), axis=1)
    nodes, left = np.zeros((len(grids), k + 1)), np.ones(len(grids))
    for d in range(k):
        weights = weights * left
        nodes[:, d] = left * grids[:, d]
        left = left * (1.0 - grids[:, d])
    nodes[:, k] = left
    return nodes, weights

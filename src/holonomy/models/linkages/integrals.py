"""Integrals over the sphere of configurations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from holonomy.models.linkages.compiled import many
from holonomy.models.linkages.curvature import fields
from holonomy.models.linkages.surface import Point, Surface
from holonomy.types import Scalar

_MOST = 4_000_000  # points of a quadrature rule at most


def rule(dim: int, level: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Points and weights on the round \(S^{dim}\), exact for polynomials of degree 2 level - 1.

    A Gauss rule in each \(x_j\) of the weight \((1-s^2)^{(m-2)/2}\) that a sphere \(S^m\) has there, and equal weights
    around the last circle.
    """
    from scipy.special import roots_gegenbauer

    t = 2 * np.pi * (np.arange(2 * level) + 0.5) / (2 * level)
    points, weights = np.stack([np.sin(t), np.cos(t)], axis=1), np.full(2 * level, np.pi / level)
    for m in range(2, dim + 1):
        if m == 2:
            nodes, share = np.polynomial.legendre.leggauss(level)
        else:
            nodes, share = roots_gegenbauer(level, (m - 1) / 2)
        around = np.sqrt(1 - nodes**2)
        points = np.concatenate([np.column_stack([np.full(len(points), s), r * points]) for s, r in zip(nodes, around)])
        weights = np.concatenate([c * weights for c in share])
    return points, weights


def density(surface: Surface, x: Point) -> Scalar:
    """Kinetic volume per round volume."""
    import jax.numpy as jnp

    columns = surface.round_frame(x)
    j = surface.pushed(x, columns)
    return jnp.prod(jnp.diagonal(jnp.linalg.cholesky(j.T @ surface.ambient() @ j)))


def _density_and_fields(surface: Surface, x: Point) -> Any:
    return density(surface, x), *fields(surface, x)


def volume(surface: Surface, tolerance: float) -> float:
    """The volume (length, area) of the space of configurations in its kinetic metric."""
    return _converged(surface, tolerance, density, lambda w, found: float(np.sum(w * np.asarray(found))))


def total_curvature(surface: Surface, tolerance: float) -> float:
    """The integral of K (of the scalar curvature for other than four rods)."""
    return _converged(
        surface,
        tolerance,
        _density_and_fields,
        lambda w, found: float(np.sum(w * np.asarray(found[0]) * np.asarray(found[1]))),
    )


def _converged(surface: Surface, tolerance: float, function: Callable[..., Any], add: Callable[..., float]) -> float:
    """The sum on ever finer rules, until the next one changes it by less than the tolerance."""
    dim = surface.rods - 2
    level, last = 16, np.nan
    while 2 * level**dim <= _MOST:
        points, weights = rule(dim, level)
        value = add(weights, many(function, surface, points))
        if abs(value - last) <= tolerance * max(1.0, abs(value)):
            return value
        last, level = value, int(1.5 * level)
    raise ValueError(
        f"The integral over the configurations of {surface.rods} rods did not settle to {tolerance:g} with {_MOST:.0e} "
        f"points (the last value was {last:.9g}); ask for less with tolerance=."
    )

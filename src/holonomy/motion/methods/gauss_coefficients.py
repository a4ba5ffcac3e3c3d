"""Coefficients of Gauss collocation, in two parts where rounding would make the energy drift."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.types import AnyArray


def basis(c: np.ndarray, j: int, x: AnyArray) -> AnyArray:
    """The j-th Lagrange polynomial on nodes c at x."""
    value = jnp.ones_like(x) if isinstance(x, jax.Array) else np.ones_like(x)
    for k in range(len(c)):
        if k != j:
            value = value * (x - c[k]) * (1.0 / (c[j] - c[k]))
    return value


def lagrange(c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """All Lagrange polynomials on nodes c, as columns, at the points x."""
    return np.stack([basis(c, j, x) for j in range(len(c))], axis=1)


def tableau(stages: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients a, b, c of Gauss collocation."""
    a, b, c = _extended(stages)
    return a.astype(float), b.astype(float), c.astype(float)


@cache
def split(stages: int) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """a and b, each as a few leading bits and the rest.

    Rounded to doubles, the coefficients miss the condition for symplecticity by round-off, always the same way, and the
    energy drifts. In two parts they are a thousand times closer, and errors become a random walk (Brouwer's law).
    Reference: Hairer, McLachlan and Razakarivony, *Achieving Brouwer's law with implicit Runge–Kutta methods*, 2008.
    """

    def parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        high = np.round(x * 1024) / 1024
        return high.astype(float), (x - high).astype(float)

    a, b, _ = _extended(stages)
    return parts(a), parts(b)


@cache
def _extended(stages: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The coefficients in extended precision, from Legendre's nodes."""
    x = np.polynomial.legendre.leggauss(stages)[0].astype(np.longdouble)
    poly = np.polynomial.legendre.Legendre.basis(stages).convert(kind=np.polynomial.Polynomial)
    coefficients = poly.coef.astype(np.longdouble)
    slope = np.polynomial.polynomial.polyder(coefficients)
    for _ in range(3):
        x = x - np.polynomial.polynomial.polyval(x, coefficients) / np.polynomial.polynomial.polyval(x, slope)
    derivative = np.polynomial.polynomial.polyval(x, slope)
    b = 1 / ((1 - x * x) * derivative * derivative)
    c = (1 + x) / 2
    # a_ij = integral of the j-th basis polynomial from 0 to c_i; quadrature with the same nodes is exact for it
    a = np.stack([ci * (b @ lagrange(c, ci * c)) for ci in c])
    return a, b, c

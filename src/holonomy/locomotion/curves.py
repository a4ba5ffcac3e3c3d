r"""Closed curves in shape space, as functions of \(s\in[0,1]\), whose numbers are data."""

from __future__ import annotations

import abc

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion.arrays import Shape
from holonomy.trace.function import Function
from holonomy.types import Scalar

Rows = Float[Array, "rows shape"]


class AbstractCurve(eqx.Module):
    """A curve that is smooth but for its corners, which lie at equally spaced times."""

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """The dimension of the space that the curve is in."""

    @property
    @abc.abstractmethod
    def pieces(self) -> int:
        """How many smooth pieces of equal duration there are."""

    @abc.abstractmethod
    def __call__(self, s: Scalar) -> Shape:
        """The point at s."""


class Fourier(AbstractCurve):
    r"""\(m + 2\pi w s + \sum_k a_k\cos 2\pi ks + b_k\sin 2\pi ks\), \(w\) the number of full turns of each angle."""

    mean: Shape
    cosines: Rows
    sines: Rows
    turns: Shape

    @property
    def pieces(self) -> int:
        return 1

    @property
    def dim(self) -> int:
        return self.mean.shape[0]

    def __call__(self, s: Scalar) -> Shape:
        angles = 2.0 * jnp.pi * s * jnp.arange(1, self.cosines.shape[0] + 1)
        waves = jnp.cos(angles) @ self.cosines + jnp.sin(angles) @ self.sines
        return self.mean + 2.0 * jnp.pi * s * self.turns + waves


class _ThroughPoints(AbstractCurve):
    """A curve through points at equally spaced times."""

    values: Rows

    @property
    def pieces(self) -> int:
        return self.values.shape[0]

    @property
    def dim(self) -> int:
        return self.values.shape[1]


class Spline(_ThroughPoints):
    """The periodic cubic spline through points at equally spaced times, with two continuous derivatives."""

    slopes: Rows

    def __call__(self, s: Scalar) -> Shape:
        count = self.values.shape[0]
        i, u = _piece(s, count)
        j = jnp.where(i + 1 == count, 0, i + 1)
        a, b, m, n = self.values[i], self.values[j], self.slopes[i], self.slopes[j]
        bend = (1.0 - u) * (m - (b - a)) - u * (n - (b - a))
        return a + u * (b - a) + u * (1.0 - u) * bend


class Polygon(_ThroughPoints):
    """Points joined by straight lines, each passed in the same time."""

    def __call__(self, s: Scalar) -> Shape:
        count = self.values.shape[0]
        i, u = _piece(s, count)
        a = self.values[i]
        return a + u * (self.values[jnp.where(i + 1 == count, 0, i + 1)] - a)


class Traced(AbstractCurve):
    """A function of one's own."""

    function: Function
    size: int = eqx.field(static=True)

    @property
    def pieces(self) -> int:
        return 1

    @property
    def dim(self) -> int:
        return self.size

    def __call__(self, s: Scalar) -> Shape:
        return self.function(s)


def _piece(s: Scalar, count: int) -> tuple[Array, Array]:
    """The number of the piece that holds s, and where in it s lies, from 0 to 1."""
    i = jnp.clip(jnp.floor(s * count).astype(int), 0, count - 1)
    return i, s * count - i


def spline(values: Rows) -> Spline:
    """The spline through the rows; its slopes solve a cyclic tridiagonal system."""
    count = values.shape[0]
    one = np.eye(count)
    matrix = 4.0 * one + np.roll(one, 1, axis=1) + np.roll(one, -1, axis=1)
    right = 3.0 * (jnp.roll(values, -1, axis=0) - jnp.roll(values, 1, axis=0))
    return Spline(values, jnp.linalg.solve(jnp.asarray(matrix), right))

r"""Closed curves in shape space, as functions of \(s\in[0,1]\), whose numbers are data."""

from __future__ import annotations

import abc

import equinox as eqx
import jax
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
    """A curve through points at equally spaced times; the last is followed by the first, full turns further on."""

    values: Rows
    turns: Shape

    def ends(self, i: Array) -> tuple[Array, Array, Array]:
        """The points at both ends of piece i, and which point the second is."""
        last = i + 1 == self.values.shape[0]
        j = jnp.where(last, 0, i + 1)
        return self.values[i], self.values[j] + jnp.where(last, 2.0 * jnp.pi, 0.0) * self.turns, j

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
        i, u = _piece(s, self.values.shape[0])
        a, b, j = self.ends(i)
        m, n = self.slopes[i], self.slopes[j]
        bend = (1.0 - u) * (m - (b - a)) - u * (n - (b - a))
        return a + u * (b - a) + u * (1.0 - u) * bend


class Polygon(_ThroughPoints):
    """Points joined by straight lines, each passed in the same time."""

    def __call__(self, s: Scalar) -> Shape:
        i, u = _piece(s, self.values.shape[0])
        a, b, _ = self.ends(i)
        return a + u * (b - a)


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


class Lines(AbstractCurve):
    """Points joined by straight lines from the first to the last, each passed in the same time; it may be open."""

    values: Rows

    @property
    def pieces(self) -> int:
        return self.values.shape[0] - 1

    @property
    def dim(self) -> int:
        return self.values.shape[1]

    def __call__(self, s: Scalar) -> Shape:
        i, u = _piece(s, self.pieces)
        return self.values[i] + u * (self.values[i + 1] - self.values[i])


class Joined(AbstractCurve):
    """Curves one after the other, each beginning where the one before ends; all their pieces take the same time."""

    parts: tuple[AbstractCurve, ...]

    @property
    def pieces(self) -> int:
        return sum(part.pieces for part in self.parts)

    @property
    def dim(self) -> int:
        return self.parts[0].dim

    def __call__(self, s: Scalar) -> Shape:
        counts = np.array([part.pieces for part in self.parts])
        starts = np.cumsum(counts) - counts
        i, _ = _piece(s, self.pieces)
        which = jnp.sum(i >= jnp.asarray(starts)) - 1
        u = (s * self.pieces - jnp.asarray(starts)[which]) / jnp.asarray(counts)[which]
        return jax.lax.switch(which, [lambda at, part=part: part(at) for part in self.parts], u)


def _piece(s: Scalar, count: int) -> tuple[Array, Array]:
    """The number of the piece that holds s, and where in it s lies, from 0 to 1."""
    i = jnp.clip(jnp.floor(s * count).astype(int), 0, count - 1)
    return i, s * count - i


def spline(values: Rows, turns: Shape) -> Spline:
    """The spline through the rows; its slopes solve a cyclic tridiagonal system."""
    count = values.shape[0]
    one = np.eye(count)
    matrix = 4.0 * one + np.roll(one, 1, axis=1) + np.roll(one, -1, axis=1)
    around = 2.0 * jnp.pi * turns
    after, before = jnp.roll(values, -1, axis=0).at[-1].add(around), jnp.roll(values, 1, axis=0).at[0].add(-around)
    right = 3.0 * (after - before)
    return Spline(values, turns, jnp.linalg.solve(jnp.asarray(matrix), right))

"""Gaits: closed curves in shape space, passed once in a period."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.geometry.metric import known
from holonomy.locomotion.arrays import Shape
from holonomy.locomotion.curves import AbstractCurve, Fourier, Polygon, Spline, Traced, spline
from holonomy.trace.function import trace
from holonomy.types import ArrayLike, Number, Numbers, Scalar

_GAP = 1e-9  # relative: points closer than this are the same point of a loop


class Gait(eqx.Module):
    r"""A closed curve \(r(t)\) in shape space with \(r(t + T) = r(t)\), T the `period`.

    Make one with `ellipse`, `fourier`, `points` or `curve`. ``gait(t)`` is the shape and ``gait.velocity(t)`` its rate
    of change. An angle may also come back after full turns.
    """

    path: AbstractCurve
    period: float | Scalar

    @staticmethod
    def ellipse(
        centre: Numbers = 0.0,
        radii: Numbers = 1.0,
        *,
        angle: Number = 0.0,
        phase: Number = 0.0,
        period: Number = 1.0,
    ) -> Gait:
        r"""\(r(t) = c + R(\text{angle})\,(a\cos\tau, b\sin\tau)\), \(\tau = 2\pi t/T + \text{phase}\), for two shape
        variables.

        `radii` is (a, b), or one number for a circle; a negative second radius runs it clockwise.
        """
        middle = jnp.broadcast_to(jnp.asarray(centre, float), (2,))
        half = jnp.broadcast_to(jnp.asarray(radii, float), (2,))
        c, s = jnp.cos(jnp.asarray(angle, float)), jnp.sin(jnp.asarray(angle, float))
        first, second = half[0] * jnp.stack([c, s]), half[1] * jnp.stack([-s, c])
        cp, sp = jnp.cos(jnp.asarray(phase, float)), jnp.sin(jnp.asarray(phase, float))
        return Gait(
            Fourier(middle, (cp * first + sp * second)[None], (cp * second - sp * first)[None], jnp.zeros(2)),
            _period(period),
        )

    @staticmethod
    def fourier(
        mean: ArrayLike,
        cosines: ArrayLike = (),
        sines: ArrayLike = (),
        *,
        turns: ArrayLike | None = None,
        period: Number = 1.0,
    ) -> Gait:
        r"""\(r(t) = m + w\,\tau + \sum_{k\ge1} a_k\cos k\tau + b_k\sin k\tau\) with \(\tau = 2\pi t/T\).

        `cosines` and `sines` have one row \(a_k\), \(b_k\) for each harmonic, of the length of `mean`; `turns` are the
        whole numbers \(w\) of turns that each angle makes in one period.
        """
        middle = jnp.asarray(mean, float)
        if middle.ndim != 1:
            raise ValueError(f"mean is one number for each shape variable, but it has shape {middle.shape}.")
        n = middle.shape[0]
        rows = [jnp.asarray(x, float).reshape(-1, n) if len(x) else jnp.zeros((0, n)) for x in (cosines, sines)]
        count = max(1, len(rows[0]), len(rows[1]))
        a, b = (jnp.concatenate([x, jnp.zeros((count - len(x), n))]) for x in rows)
        w = jnp.zeros(n) if turns is None else jnp.asarray(turns, float)
        if w.shape != (n,) or (known(w) and np.any(np.asarray(w) != np.round(np.asarray(w)))):
            raise ValueError(f"turns are {n} whole numbers, one for each shape variable, but got {turns!r}.")
        return Gait(Fourier(middle, a, b, w), _period(period))

    @staticmethod
    def points(array: ArrayLike, *, smooth: bool = True, period: Number = 1.0) -> Gait:
        """A curve through points, one in each row, at equally spaced times; the last is joined to the first.

        Smooth: the periodic cubic spline. Otherwise straight lines, whose corners are treated exactly. A last row equal
        to the first is not counted twice.
        """
        rows = jnp.asarray(array, float)
        if rows.ndim != 2 or len(rows) < 2:
            raise ValueError(
                f"points is an array (points, shape variables) of at least two points, but it has shape {rows.shape}."
            )
        if known(rows):
            given = np.asarray(rows)
            if not np.all(np.isfinite(given)):
                raise ValueError("The points of a gait must be finite numbers; some of them are not.")
            if _same(given[0], given[-1]):
                rows = rows[:-1]
        if len(rows) < 3:
            smooth = False
        return Gait(spline(rows) if smooth else Polygon(rows), _period(period))

    @staticmethod
    def curve(function: Callable[[Scalar], ArrayLike], *, period: Number = 1.0) -> Gait:
        """The loop that a function of the time traces from 0 to `period`; it must be smooth and end where it begins.

        Angles may end full turns away from where they begin.
        """
        length = _period(period)
        traced = trace(lambda s: jnp.asarray(function(s * length), float), (jnp.zeros(()),))
        start, end = traced(jnp.zeros(())), traced(jnp.ones(()))
        if start.ndim != 1:
            raise ValueError(f"A gait's function returns one array of shape variables, but it has shape {start.shape}.")
        if known(start, end):
            first, last = np.asarray(start), np.asarray(end)
            turns = (last - first) / (2 * np.pi)
            if not _same(first, last) and not np.allclose(turns, np.round(turns), rtol=0, atol=_GAP):
                raise ValueError(
                    f"The gait is open: it begins at {first.tolist()} and ends at {last.tolist()}. A gait comes back "
                    "to its first shape at the end of the period (angles may differ by full turns)."
                )
        return Gait(Traced(traced, start.shape[0]), length)

    @property
    def shape_dim(self) -> int:
        """How many shape variables there are."""
        return self.path.dim

    def __call__(self, t: Number) -> Shape:
        """The shape at a time from 0 to the period."""
        return self.path(jnp.asarray(t, float) / self.period)

    def velocity(self, t: Number) -> Shape:
        """The rate of change of the shape at a time from 0 to the period."""
        at = jnp.asarray(t, float) / self.period
        return jax.jvp(self.path, (at,), (jnp.ones_like(at),))[1] / self.period

    def reversed(self) -> Gait:
        """The same loop run backwards from the same shape."""
        match self.path:
            case Fourier(mean, cosines, sines, turns):
                return Gait(Fourier(mean, cosines, -sines, -turns), self.period)
            case Spline(values, slopes):
                return Gait(Spline(_backwards(values), -_backwards(slopes)), self.period)
            case Polygon(values):
                return Gait(Polygon(_backwards(values)), self.period)
            case path:
                return Gait(Traced(trace(lambda s: path(1.0 - s), (jnp.zeros(()),)), path.dim), self.period)

    def __repr__(self) -> str:
        return f"Gait({type(self.path).__name__.lower()}, {self.shape_dim} shape variables)"


def as_gait(loop: Gait | Callable[[Scalar], ArrayLike] | ArrayLike) -> Gait:
    """A loop given as a gait, as a function on [0, 1], or as an array of points joined by lines."""
    if isinstance(loop, Gait):
        return loop
    if callable(loop):
        return Gait.curve(loop)
    return Gait.points(jnp.asarray(loop, float), smooth=False)


def _period(period: Number) -> float | Scalar:
    if known(period) and not (np.isfinite(np.asarray(period)) and float(np.asarray(period)) > 0):
        raise ValueError(f"The period of a gait is a positive time, but period={period!r} was given.")
    return float(period) if isinstance(period, (int, float)) else jnp.asarray(period, float)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.linalg.norm(a - b) <= _GAP * (1.0 + np.linalg.norm(a)))


def _backwards(rows: jax.Array) -> jax.Array:
    return jnp.concatenate([rows[:1], rows[:0:-1]])

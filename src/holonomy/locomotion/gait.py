"""Gaits: closed curves in shape space, passed once in a period."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.geometry.metric import known
from holonomy.locomotion.arrays import Shape
from holonomy.locomotion.curves import AbstractCurve, Fourier, Joined, Lines, Polygon, Spline, Traced, spline
from holonomy.trace.function import trace
from holonomy.types import ArrayLike, Number, Numbers, Scalar, Unchecked

_GAP = 1e-9  # of the size of a loop: so much moves a body by less than the 1e-8 to which displacements are asked for
_ROUNDING = 64 * float(np.finfo(float).eps)  # of a shape: what evaluating a curve leaves of the difference of its ends
_LOOKS = (0.146, 0.382, 0.618, 0.854)  # times at which a loop is away from its start, whatever its harmonics

Curve: TypeAlias = Callable[[Scalar], ArrayLike]
Loop: TypeAlias = "Gait | Curve | Sequence[Curve | ArrayLike] | ArrayLike"


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
        return Gait(Fourier(middle, a, b, _turns(turns, n)), _period(period))

    @staticmethod
    def points(array: ArrayLike, *, smooth: bool = True, turns: ArrayLike | None = None, period: Number = 1.0) -> Gait:
        r"""A curve through points, one in each row, at equally spaced times; the last is joined to the first.

        Smooth: the periodic cubic spline. Otherwise straight lines, whose corners are treated exactly. A last row equal
        to the first is not counted twice. `turns` are whole numbers \(w\), one for each shape variable: an angle that
        makes them in one period is joined to its first value and \(2\pi w\) more.
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
            size = np.abs(given - given[0]).max(axis=0)
            if turns is None and np.all(np.abs(given[-1] - given[0]) <= largest_gap(given[0], size)):
                rows = rows[:-1]
        w = _turns(turns, rows.shape[1])
        if len(rows) < 3:
            smooth = False
        return Gait(spline(rows, w) if smooth else Polygon(rows, w), _period(period))

    @staticmethod
    def curve(function: Curve, *, period: Number = 1.0) -> Gait:
        """The loop that a function of the time traces from 0 to `period`; it must be smooth and end where it begins.

        Angles may end full turns away from where they begin.
        """
        length = _period(period)
        path = _traced(lambda s: function(s * length))
        _refuse_open(path)
        return Gait(path, length)

    @staticmethod
    def joined(pieces: Sequence[Curve | ArrayLike], *, period: Number = 1.0) -> Gait:
        """Smooth pieces, each beginning where the one before ends: functions on [0, 1], or arrays of points (k, shape
        variables) joined by straight lines. Every function and every line takes the same time.

        The last piece ends where the first begins; angles may differ by full turns.
        """
        parts = [_traced(one) if callable(one) else _lines(one) for one in pieces]
        if not parts:
            raise ValueError("A gait needs at least one piece, but an empty list was given.")
        for k, part in enumerate(parts[1:]):
            if part.dim != parts[0].dim:
                raise ValueError(
                    f"Piece {k + 2} of the gait moves {part.dim} shape variables, but the first one {parts[0].dim}."
                )
            _refuse_apart(parts[k], part, f"piece {k + 1}", f"piece {k + 2}")
        path = Joined(tuple(parts))
        _refuse_open(path)
        return Gait(path, _period(period))

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
            case Spline(values, turns, slopes):
                return Gait(
                    Spline(_backwards(values, turns), -turns, -_backwards(slopes, jnp.zeros_like(turns))), self.period
                )
            case Polygon(values, turns):
                return Gait(Polygon(_backwards(values, turns), -turns), self.period)
            case Joined(parts):
                return Gait(Joined(tuple(_reversed(part) for part in reversed(parts))), self.period)
            case path:
                return Gait(_reversed(path), self.period)

    def __repr__(self) -> str:
        return f"Gait({type(self.path).__name__.lower()}, {self.shape_dim} shape variables)"


def as_gait(loop: Loop) -> Gait:
    """A loop given as a gait, as a function on [0, 1], as a list of pieces, or as an array of points joined by
    lines."""
    if isinstance(loop, Gait):
        return loop
    if callable(loop):
        return Gait.curve(loop)
    if isinstance(loop, list | tuple):
        pieces = cast("Sequence[Unchecked]", loop)
        if any(callable(one) or np.ndim(one) == 2 for one in pieces):
            return Gait.joined(pieces)
    return Gait.points(jnp.asarray(loop, float), smooth=False)


def _period(period: Number) -> float | Scalar:
    if known(period) and not (np.isfinite(np.asarray(period)) and float(np.asarray(period)) > 0):
        raise ValueError(f"The period of a gait is a positive time, but period={period!r} was given.")
    return float(period) if isinstance(period, (int, float)) else jnp.asarray(period, float)


def extent(path: AbstractCurve) -> Shape:
    """How far each shape variable gets from its first value."""
    start = path(jnp.zeros(()))
    return jnp.max(jnp.stack([jnp.abs(path(jnp.asarray(s)) - start) for s in _LOOKS]), axis=0)


def largest_gap(start: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The difference of the ends up to which a loop that begins at `start` and has this extent counts as closed."""
    return _GAP * size + _ROUNDING * (np.abs(start) + size)


def _traced(function: Curve) -> Traced:
    """A function on [0, 1] as a curve."""
    traced = trace(lambda s: jnp.asarray(function(s), float), (jnp.zeros(()),))
    shape = jax.eval_shape(traced, jnp.zeros(())).shape
    if len(shape) != 1:
        raise ValueError(f"A gait's function returns one array of shape variables, but it has shape {shape}.")
    return Traced(traced, shape[0])


def _lines(points: ArrayLike) -> Lines:
    rows = jnp.asarray(points, float)
    if rows.ndim != 2 or len(rows) < 2 or (known(rows) and not np.all(np.isfinite(np.asarray(rows)))):
        raise ValueError(
            "A piece of a gait is a function on [0, 1] or an array (points, shape variables) of at least two points "
            f"with finite numbers, but got one of shape {rows.shape}."
        )
    return Lines(rows)


def _refuse_apart(before: AbstractCurve, after: AbstractCurve, first: str, second: str) -> None:
    end, start = before(jnp.ones(())), after(jnp.zeros(()))
    if known(end, start):
        a, b, size = (np.asarray(x) for x in (end, start, extent(before) + extent(after)))
        if not np.all(np.abs(a - b) <= largest_gap(a, size)):
            raise ValueError(
                f"The gait is broken: {first} ends at {a.tolist()}, but {second} begins at {b.tolist()}. Each piece "
                "begins where the one before ends."
            )


def _refuse_open(path: AbstractCurve) -> None:
    """Raise where a curve ends elsewhere than it begins, full turns apart from."""
    start, end = path(jnp.zeros(())), path(jnp.ones(()))
    if known(start, end):
        first, last, size = (np.asarray(x) for x in (start, end, extent(path)))
        apart = last - first
        apart = apart - 2 * np.pi * np.round(apart / (2 * np.pi))
        if not np.all(np.abs(apart) <= largest_gap(first, size)):
            raise ValueError(
                f"The gait is open: it begins at {first.tolist()} and ends at {last.tolist()}. A gait comes back "
                "to its first shape at the end of the period (angles may differ by full turns)."
            )


def _turns(turns: ArrayLike | None, n: int) -> Shape:
    w = jnp.zeros(n) if turns is None else jnp.asarray(turns, float)
    if w.shape != (n,) or (known(w) and np.any(np.asarray(w) != np.round(np.asarray(w)))):
        raise ValueError(f"turns are {n} whole numbers, one for each shape variable, but got {turns!r}.")
    return w


def _reversed(path: AbstractCurve) -> AbstractCurve:
    """The same curve from its end to its start."""
    if isinstance(path, Lines):
        return Lines(path.values[::-1])
    return Traced(trace(lambda s: path(1.0 - s), (jnp.zeros(()),)), path.dim)


def _backwards(rows: jax.Array, turns: jax.Array) -> jax.Array:
    """The rows in the opposite order from the same first one, which the others reach from the other side."""
    return jnp.concatenate([rows[:1], rows[:0:-1] - 2.0 * jnp.pi * turns[None, :]])

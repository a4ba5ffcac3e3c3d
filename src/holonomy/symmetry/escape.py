r"""Unbounded motions of one degree of freedom by their energy integral, in pieces.

From a turning point a put \(q = a \pm x^2\): then \(E - V = x^2 G\) and \(dt/dx = \sqrt{2m/G}\) is smooth. Without one
\(q = a + x\) and \(dt/dx = \sqrt{m/(2(E - V))}\). The integral is Gauss's over pieces that grow as far as two halves
give what the whole gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Values = Callable[[np.ndarray], np.ndarray]

_NODES, _WEIGHTS = (np.polynomial.legendre.leggauss(16)[0] + 1) / 2, np.polynomial.legendre.leggauss(16)[1] / 2
_AGREE = 1e-14  # of the integral over a piece: what its halves may differ by
_SHORTEST = 1e-12  # of the first piece
_MOST = 4000  # pieces
_FAR = 1e15  # of the size of the base: further out a motion counts as at infinity
_ITERATIONS = 60
_NEAR = 0.1  # of the turning point's distance from zero or of 1: nearer E - V is an integral of its slope


@dataclass
class Escape:
    """The time as a function of x, found as far as it was asked for, on each side of x = 0.

    `base` is the turning point, or the start where there is none; `side` says to which side the motion escapes from a
    turning point, and is zero where there is none.
    """

    kinetic: Values
    slope: Values
    mass: Values
    base: float
    side: float
    pieces: dict[float, list[tuple[float, float, float]]] = field(default_factory=lambda: {1.0: [], -1.0: []})

    @staticmethod
    def made(kinetic: Values, slope: Values, mass: Values, low: float, high: float, start: float) -> Escape:
        """The motion between turning points of which at least one is at infinity."""
        if np.isfinite(low):
            return Escape(kinetic, slope, mass, low, 1.0)
        return (
            Escape(kinetic, slope, mass, high, -1.0) if np.isfinite(high) else Escape(kinetic, slope, mass, start, 0.0)
        )

    def place(self, x: np.ndarray) -> np.ndarray:
        """The position."""
        return np.asarray(self.base + (self.side * x**2 if self.side else x))

    def rate(self, x: np.ndarray) -> np.ndarray:
        """dt/dx."""
        q = self.place(x)
        if not self.side:
            return np.sqrt(self.mass(q) / (2 * self.kinetic(q)))
        square = np.where(x == 0, 1.0, x**2)
        part = self.kinetic(q) / square
        near = x**2 < _NEAR * max(1.0, abs(self.base))
        if np.any(near):
            # the mean of the slope from the turning point, where E - V would cancel
            places = self.base + self.side * np.multiply.outer(x[near] ** 2, _NODES)
            part[near] = self.side * (self.slope(places.ravel()).reshape(places.shape) @ _WEIGHTS)
        return np.sqrt(2 * self.mass(q) / part)

    def time(self, q: float) -> float:
        """The time at q."""
        away = (q - self.base) * (self.side or 1.0)
        if self.side and away < 0:
            raise ValueError(f"The motion does not reach q = {q:g}: it turns at {self.base:g}.")
        x = float(np.sqrt(away)) if self.side else away
        way = 1.0 if x >= 0 else -1.0
        while not self.pieces[way] or self.pieces[way][-1][1] < abs(x):
            self._extend(way)
        return way * self._until(way, abs(x))

    def motion(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity, by Newton's method in the piece that has the time."""
        flat = np.atleast_1d(t).ravel()
        found = np.array([self._at(float(s)) for s in flat])
        x, rate = found[:, 0], found[:, 1]
        speed = (2 * self.side * x if self.side else 1.0) / rate
        return self.place(x).reshape(t.shape), np.broadcast_to(speed, x.shape).reshape(t.shape)

    def _at(self, t: float) -> tuple[float, float]:
        """x and dt/dx at a time."""
        way = -1.0 if t < 0 else 1.0
        while not self.pieces[way] or self.pieces[way][-1][2] < abs(t):
            self._extend(way)
        begin, end, _ = next(piece for piece in self.pieces[way] if piece[2] >= abs(t))
        x = 0.5 * (begin + end)
        for _ in range(_ITERATIONS):
            rate = float(self.rate(np.array([way * x]))[0])
            step = (self._until(way, x) - abs(t)) / rate
            x = min(max(x - step, begin), end)
            if abs(step) <= 1e-15 * max(1.0, x):
                break
        return way * x, float(self.rate(np.array([way * x]))[0])

    def _until(self, way: float, x: float) -> float:
        """The time from 0 to x, within the pieces that are known."""
        before = 0.0
        for begin, end, total in self.pieces[way]:
            if x <= end:
                return before + self._integral(way, begin, x)
            before = total
        return before

    def _integral(self, way: float, begin: float, end: float) -> float:
        return float((end - begin) * (self.rate(way * (begin + (end - begin) * _NODES)) @ _WEIGHTS))

    def _extend(self, way: float) -> None:
        """One more piece, twice as long as the last or as short as the integrand asks for."""
        known = self.pieces[way]
        begin, before = (known[-1][1], known[-1][2]) if known else (0.0, 0.0)
        scale = max(1.0, abs(self.base)) ** (0.5 if self.side else 1.0)
        width = 2 * (known[-1][1] - known[-1][0]) if known else 0.25 * scale
        while width > _SHORTEST * scale and len(known) < _MOST:
            middle, end = begin + width / 2, begin + width
            with np.errstate(all="ignore"):
                halves = self._integral(way, begin, middle) + self._integral(way, middle, end)
                whole = self._integral(way, begin, end)
            if abs(whole - halves) <= _AGREE * max(halves, before) and end < _FAR * scale:
                known.append((begin, end, before + halves))
                return
            width /= 2
        last = float(self.place(np.asarray(way * begin)))
        raise ValueError(
            f"The energy integral cannot be followed beyond q = {last:g}, which is "
            f"reached at t = {way * before:g}: the motion ends there, or goes to infinity in a finite time."
        )

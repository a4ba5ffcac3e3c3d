r"""Balls that fly freely: geodesics in closed form, and when two of them touch. Arrays on the host.

Lengths are in units of the radius of the space. With \(\Delta = x_i - x_j\) the gap of two balls is

\[ g(t) = \langle\Delta, \Delta\rangle - 4\,S^2(\rho/2), \qquad S(r) = \sin r,\; r \text{ or } \sinh r, \]

\(\rho\) the sum of the radii; it vanishes where they touch. In Euclidean and hyperbolic space g is convex along two
geodesics, so that Newton's method from a time before the contact stays before it. On the sphere
\(\ddot g \ge -2(|u_i| + |u_j|)^2\), and the zero of the parabola with this second derivative is no later than that
of g: both find the first contact and none that is not there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from holonomy.spaces import AbstractSpace, Euclidean, Hyperbolic, Sphere
from holonomy.systems.bodies.body import Elements
from holonomy.systems.contact.closeness import FOUND

Rows = Float[np.ndarray, "balls point"]
Times = Float[np.ndarray, " balls"]

_LIMIT = 10_000  # iterations at most, which is never reached: a guard
_SEPARATES = 1e-13  # approach, relative to the sum of the speeds, below which two balls that touch go on


class Flight(NamedTuple):
    """The geometry of one space: the sign of its curvature, its radius, and its inner product."""

    sign: int
    radius: float
    signature: np.ndarray

    def inner(self, a: Rows, b: Rows) -> Times:
        """The inner products of rows."""
        return np.einsum("ij,ij,j->i", a, b, self.signature)

    def speeds(self, x: Rows, u: Rows) -> Times:
        """The lengths of velocities."""
        square = self.inner(u, u)
        if self.sign < 0:  # as sums of squares: the difference would cancel far from the origin
            s, r = x[:, :-1], u[:, :-1]
            square = (_dot(r, r) + _wedge(s, r)) / (1.0 + _dot(s, s))
        return np.sqrt(np.maximum(square, 0.0))

    def moved(self, x: Rows, u: Rows, t: Times | float) -> tuple[Rows, Rows]:
        """Points and velocities a time later."""
        t = np.broadcast_to(t, (len(x),))
        if self.sign == 0:
            return x + t[:, None] * u, u
        w = self.speeds(x, u)
        angle = w * t
        safe = np.where(w > 0, w, 1.0)
        turn, grow = (np.cos, np.sin) if self.sign > 0 else (np.cosh, np.sinh)
        c, s = turn(angle)[:, None], grow(angle)[:, None]
        along = np.where(w > 0, grow(angle) / safe, t)[:, None]
        return self.on(c * x + along * u, c * u - self.sign * (w[:, None] * s) * x)

    def on(self, x: Rows, u: Rows) -> tuple[Rows, Rows]:
        """The same on the space to round-off: unit vectors, and velocities tangent to it."""
        if self.sign > 0:
            x = x / np.sqrt(_dot(x, x))[:, None]
            return x, u - _dot(x, u)[:, None] * x
        if self.sign < 0:
            s, r = x[:, :-1], u[:, :-1]
            height = np.sqrt(1.0 + _dot(s, s))[:, None]
            lift = _dot(s, r)[:, None] / height
            return np.concatenate([s, height], axis=1), np.concatenate([r, lift], axis=1)
        return x, u

    def chord(self, distance: Times | float) -> Times | float:
        r"""\(4S^2(\rho/2)\)."""
        half = 0.5 * np.asarray(distance)
        return 4.0 * (np.sin(half) if self.sign > 0 else np.sinh(half) if self.sign < 0 else half) ** 2

    def gaps(self, pair: Pair, t: Times) -> tuple[Times, Times]:
        """The gaps and their rates a time later."""
        return self.gaps_now(Pair(*self.moved(pair.x, pair.u, t), *self.moved(pair.y, pair.w, t), pair.size))

    def gaps_now(self, pair: Pair) -> tuple[Times, Times]:
        """The gaps and their rates."""
        a, va, b, vb = pair[:4]
        return self.squares(a, b) - pair.size, 2.0 * self.inner(a - b, va - vb)

    def squares(self, a: Rows, b: Rows) -> Times:
        r"""\(\langle\Delta, \Delta\rangle\) of pairs of points."""
        if self.sign >= 0:
            return self.inner(a - b, a - b)
        # as sums of terms of one sign
        s, r = a[:, :-1], b[:, :-1]
        d = s - r
        return 2.0 * (_dot(d, d) + _wedge(d, s)) / (1.0 + a[:, -1] * b[:, -1] + _dot(s, r))

    def within(self, a: Rows, b: Rows, reach: Times) -> Bool[np.ndarray, " pairs"]:
        """Whether points are no further apart than a reach of their own."""
        most = np.minimum(reach, np.pi) if self.sign > 0 else reach
        return self.squares(a, b) <= np.asarray(self.chord(most)) * (1.0 + 1e-12)

    def first_contacts(self, pair: Pair, until: float) -> Times:
        """The times of the first contacts of pairs, infinite where there is none before `until`."""
        count = len(pair.size)
        found, t = np.full(count, np.inf), np.zeros(count)
        active = np.arange(count)
        speeds = self.speeds(pair.x, pair.u) + self.speeds(pair.y, pair.w)
        bound = 2.0 * speeds**2
        for _ in range(_LIMIT):
            now = pair.of(active)
            gap, rate = self.gaps(now, t[active])
            close = gap <= FOUND * (now.size + FOUND)
            approach = rate < -_SEPARATES * speeds[active] * np.sqrt(now.size)
            found[active[close & approach]] = t[active[close & approach]]
            gap = np.maximum(gap, 0.0)
            step = self._step(gap, rate, bound[active])
            small = step <= 1e-16 * np.maximum(t[active], 1e-300)  # the next time is the same number
            met = small & approach & ~close
            found[active[met]] = t[active[met]]
            t[active] += np.where(np.isfinite(step), step, 0.0)
            going = ~((close & approach) | met) & np.isfinite(step) & (t[active] <= until) & ~(small & ~approach)
            active = active[going]
            if not len(active):
                break
        return np.where(found <= until, found, np.inf)

    def _step(self, gap: Times, rate: Times, bound: Times) -> Times:
        """How far the time may advance without passing a contact; infinite where there is none any more."""
        if self.sign > 0:
            root = np.sqrt(rate**2 + 2.0 * bound * gap)
            # the quotient that does not cancel
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(rate > 0, (rate + root) / bound, 2.0 * gap / (root - rate))
            return np.where(bound > 0, step, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(rate < 0, -gap / rate, np.inf)

    def normals(self, pair: Pair) -> tuple[Rows, Rows]:
        """Unit vectors along the geodesics of pairs, at the first ball towards the second and the other way round."""
        q = 0.25 * self.gaps_now(pair)[0] + 0.25 * pair.size
        stretch = np.sqrt(q * (1.0 - self.sign * q))[:, None]
        there = (pair.y - pair.x + 2.0 * self.sign * q[:, None] * pair.x) / (2.0 * stretch)
        back = (pair.x - pair.y + 2.0 * self.sign * q[:, None] * pair.y) / (2.0 * stretch)
        return there, back

    def reflected(self, pair: Pair, masses: tuple[float, float], restitution: float) -> tuple[Rows, Rows]:
        """The velocities of one pair that touches after its impact: the rate of the distance becomes -e times itself.

        The impulses are opposite along the geodesic from one centre to the other, so that every Killing field's
        momentum is kept.
        """
        there, back = self.normals(pair)
        approach = self.inner(pair.u, there) + self.inner(pair.w, back)
        first, second = masses
        impulse = ((1.0 + restitution) * approach * first * second / (first + second))[:, None]
        return pair.u - impulse / first * there, pair.w - impulse / second * back


class Pair(NamedTuple):
    r"""Pairs of balls: points and velocities of both, and \(4S^2(\rho/2)\)."""

    x: Rows
    u: Rows
    y: Rows
    w: Rows
    size: Times

    def of(self, rows: np.ndarray) -> Pair:
        """Some of the pairs."""
        return Pair(*(part[rows] for part in self))


def _dot(a: Rows, b: Rows) -> Times:
    return np.einsum("ij,ij->i", a, b)


def _wedge(a: Rows, b: Rows) -> Times:
    r"""\(|a\wedge b|^2\), as a sum of squares."""
    planes = [(i, j) for i in range(a.shape[1]) for j in range(i)]
    return sum(((a[:, i] * b[:, j] - a[:, j] * b[:, i]) ** 2 for i, j in planes), np.zeros(len(a)))


def flight(space: AbstractSpace) -> Flight | None:
    """The geometry of a space whose balls fly freely in closed form; None for others."""
    match space:
        case Euclidean():
            return Flight(0, 1.0, np.ones(space.point_dim))
        case Sphere(model="embedded"):
            return Flight(1, float(space.radius), np.ones(space.point_dim))
        case Hyperbolic(model="hyperboloid"):
            return Flight(-1, float(space.radius), np.append(np.ones(space.n), -1.0))
        case _:
            return None


def neighbours(geometry: Flight, x: Rows, reach: float) -> np.ndarray:
    """All pairs of points nearer to each other than `reach`, as rows (i, j) with i < j, by a tree of cells."""
    from scipy.spatial import KDTree

    if geometry.sign == 0:
        return KDTree(x).query_pairs(reach, output_type="ndarray")
    if geometry.sign > 0:
        return KDTree(x).query_pairs(2.0 * np.sin(0.5 * min(reach, np.pi)) * (1.0 + 1e-12), output_type="ndarray")
    return reaching(geometry, x, np.full(len(x), 0.5 * reach))


def reaching(geometry: Flight, x: Rows, reaches: Times) -> np.ndarray:
    """All pairs of points no further apart than the sum of their reaches, as rows (i, j) with i < j.

    A point looks twice as far as it reaches, which finds all those that do not reach further than itself.
    """
    from scipy.spatial import KDTree

    places, radii = x, 2.0 * reaches
    if geometry.sign > 0:
        radii = 2.0 * np.sin(np.minimum(reaches, 0.5 * np.pi))
    elif geometry.sign < 0:
        # in Poincaré's ball, where a ball of this radius lies within the one that reaches towards the centre
        away = np.arcsinh(np.linalg.norm(x[:, :-1], axis=1))
        places = x[:, :-1] / (1.0 + x[:, -1:])
        radii = np.tanh(0.5 * away) - np.tanh(0.5 * away - reaches)
    found = KDTree(places).query_ball_point(places, radii * (1.0 + 1e-9) + 1e-15, return_sorted=False)
    first = np.repeat(np.arange(len(x)), [len(one) for one in found])
    second = np.concatenate([np.asarray(one, int) for one in found])
    once = (reaches[first] > reaches[second]) | ((reaches[first] == reaches[second]) & (first < second))
    first, second = first[once], second[once]
    near = geometry.within(x[first], x[second], reaches[first] + reaches[second])
    pairs = np.sort(np.stack([first[near], second[near]], axis=1), axis=1)
    return pairs[np.argsort(pairs[:, 0] * len(x) + pairs[:, 1])]


def not_joined(pairs: Int[np.ndarray, "pairs 2"], rods: Elements | None) -> Int[np.ndarray, "some 2"]:
    """The pairs that no rod joins: others cannot meet."""
    if rods is None or not len(pairs):
        return pairs
    size = 1 + max(int(pairs.max()), int(rods.vertices.max()))
    codes, joined = (np.min(ends, axis=1) * size + np.max(ends, axis=1) for ends in (pairs, rods.vertices))
    return pairs[~np.isin(codes, joined)]


def spread_of(geometry: Flight, x: Rows, wanted: int) -> float:
    """A distance within which a ball has about as many neighbours as wanted."""
    from scipy.spatial import KDTree

    wanted = min(wanted, len(x) - 1)
    if wanted < 1:
        return 1.0
    places = x if geometry.sign >= 0 else x[:, :-1] / (1.0 + x[:, -1:])
    chord = float(np.median(KDTree(places).query(places, wanted + 1)[0][:, -1]))
    if geometry.sign == 0:
        return chord
    return float(2.0 * np.arcsin(min(0.5 * chord, 1.0)) if geometry.sign > 0 else 2.0 * np.arctanh(min(chord, 0.9)))

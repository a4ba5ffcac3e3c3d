r"""An equilibrium beyond its linear part: what is left of the conditions of rest along directions without stiffness.

The conditions of rest, \(G(y, \lambda) = (f(y) + N(y)^\top\lambda,\ \varphi(y)) = 0\), have at an equilibrium a
matrix A of derivatives. Along directions E in which A is zero, or too small for its sign to be known, the other
unknowns follow as power series \(u(k)\) of \(y = y_0 + E k + \dots\) from all conditions but as many as A leaves out
(Lyapunov and Schmidt's reduction; for a potential the splitting lemma). What is left is a function of k alone: `left`,
the conditions that were left out, and the potential \(W(k) = -\int f \cdot dy\). Both are known as far as rounding
lets them be: they are computed several times with other rounding errors, and what differs counts as unknown.
Reference: Golubitsky and Schaeffer, *Singularities and Groups in Bifurcation Theory* I, 1985, chapter VII.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.symmetry import minimum
from holonomy.systems import System
from holonomy.trace.graph.dag import reachable
from holonomy.trace.graph.series import Otherwise, SeriesRing, ring
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.taylor_polynomial import Expansion

ORDERS: Final = {1: 12, 2: 10, 3: 8, 4: 6}
"""Orders of the series by the number of directions."""
_LARGE: Final = 20_000  # operations from which on the order is at most four
_SAMPLES: Final = 3  # computations with other rounding errors
_UNKNOWN: Final = 16.0  # times the largest difference of these: what is not known
_NOTHING: Final = 1e-14  # components of directions below are zero
_ROUNDED: Final = 8 * np.finfo(float).eps
_FAR: Final = 20.0  # times the distance to the equilibrium that its residual suggests: how far it may be away
_SMALL: Final = 1e-5  # of the largest: stiffness whose sign is looked at in the series
_LOOKED: Final = 3  # directions of least stiffness that are looked at in any case
_RANK: Final = 1e-9  # of normals of size 1


@dataclass(frozen=True)
class Unknown:
    """Series with what is not known of their coefficients."""

    of: SeriesRing
    value: np.ndarray
    unsure: np.ndarray

    @property
    def zero(self) -> bool:
        """Whether no coefficient beyond the constant ones is known to differ from zero."""
        return not np.any((np.abs(self.value) > self.unsure)[..., 1:])


@dataclass(frozen=True)
class Reduced:
    """The conditions of rest along `directions`, columns in coordinates of the chart, of unit kinetic energy ½.

    `left` are the conditions that the others leave; `potential` what the forces derive from, if they do. `corners`
    names operations without a derivative. `off` is how far the equilibrium may be away, in coordinates.
    """

    directions: np.ndarray
    order: int
    left: Unknown
    potential: Unknown
    corners: frozenset[str]
    finite: bool
    off: float


class RestSeries:
    """The conditions of rest of a system around a configuration, as a graph that is expanded in series."""

    def __init__(self, system: System, q: np.ndarray, multipliers: np.ndarray) -> None:
        """`multipliers` of all constraints, or of those on positions alone, which leaves those on velocities out."""
        local = system.local(jnp.asarray(q))
        self.n, self.m = local.origin.size, len(multipliers)
        self.start = np.concatenate([np.asarray(local.origin), multipliers])
        time, rest = jnp.zeros(()), jnp.zeros(self.n)

        def conditions(u: Any) -> Any:
            y, held = u[: self.n], u[self.n :]
            force = jax.grad(local.lagrangian, argnums=1)(time, y, rest)
            if local.applied is not None:
                force = force + local.applied(time, y, rest)
            if self.m:
                force = force + jax.vjp(lambda w: local.rates(time, y, w)[: self.m], rest)[1](held)[0]
            return force, local.holonomic(time, y)

        self.expansion = Expansion(conditions, self.n + self.m)
        self.size = len(list(reachable([node for out in self.expansion.flat.outputs for node in out.nodes])))

    def at(self, u: np.ndarray, of: SeriesRing, other: Otherwise, corners: set[str] | None = None) -> np.ndarray:
        """The conditions at the series u: forces, then violations."""
        return np.concatenate(self.expansion.along(u, of, other, corners))

    def linear(self, other: Otherwise) -> np.ndarray:
        """The conditions and, in further columns, their derivatives by coordinates and multipliers."""
        of = ring(self.n + self.m, 1)
        return self.at(of.coordinates(self.start), of, other)

    def known(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The same, how far it is not known, and the derivatives with other rounding errors."""
        exact = self.linear(Otherwise(0, self.n + self.m))
        others = np.array([self.linear(Otherwise(1 + k, self.n + self.m)) for k in range(_SAMPLES)])
        return exact, _UNKNOWN * np.max(np.abs(others - exact), axis=0), list(others[:, :, 1:])


def noise(system: System, q: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """What rounding makes of the forces and of the constraints on positions at a configuration; zero where unknown."""
    try:
        return RestSeries(system, q, multipliers).known()[1][:, 0]
    except Unsupported:
        return np.zeros(system.space.dim + system.constraints.equations.counts[0])


class Scales:
    """Units in which neither coordinates nor constraints have units: mass 1, largest stiffness 1, normals of size 1."""

    def __init__(self, matrix: np.ndarray, mass: np.ndarray) -> None:
        n, m = len(mass), matrix.shape[1] - len(mass)
        lower = np.linalg.cholesky(mass)
        self.frame = np.linalg.inv(lower).T  # y = frame @ scaled
        stiff = self.frame.T @ matrix[:n, :n] @ self.frame
        self.stiffness = float(np.max(np.abs(stiff), initial=0.0)) or 1.0
        normals = self.frame.T @ matrix[:n, n:]
        sizes = np.linalg.norm(normals, axis=0)
        self.sizes = np.where(sizes > 0, sizes, 1.0)
        held = len(matrix) - n
        self.columns = np.zeros((n + m, n + m))
        self.columns[:n, :n] = self.frame
        self.columns[n:, n:] = np.diag(self.stiffness / self.sizes)
        self.rows = np.zeros((n + held, n + held))
        self.rows[:n, :n] = self.frame.T / self.stiffness
        self.rows[n:, n:] = np.diag(1.0 / self.sizes[:held])
        self.matrix = self.rows @ matrix @ self.columns

    def unscaled(self, scaled: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Coordinates and multipliers of series in scaled units around a point."""
        u = self.columns @ scaled
        u[:, 0] += start
        return u

    def tangent(self, n: int) -> np.ndarray:
        """Displacements that the constraints on positions allow, as orthonormal columns."""
        held = self.matrix[n:, :n]
        if not len(held):
            return np.eye(n)
        _, sizes, right = np.linalg.svd(held)
        return right[int(np.sum(sizes > _RANK)) :].T


def reduced(series: RestSeries, scales: Scales, potential: bool) -> Reduced | None:
    """What is left along the directions whose stiffness is not known to differ from zero; None where it is in all.

    `potential`: whether the forces derive from one, so that the point need not be met exactly to say which.
    """
    tangent = scales.tangent(series.n)
    candidates = _softest(scales, tangent) if potential else _kernel(scales.matrix, series.n)
    count = min(_LOOKED, candidates.shape[1]) if potential else candidates.shape[1]
    while count:
        found = _reduced(series, scales, candidates[:, :count], 4, potential)  # enough to see which stiffness is known
        if not found.finite or found.corners:
            return found
        soft, turn = _soft(found, potential)
        if np.all(soft) and count < candidates.shape[1] and potential:
            count = min(2 * count, candidates.shape[1])
        elif np.any(soft):
            return _reduced(series, scales, _aligned(candidates[:, :count] @ turn[:, soft]), None, potential)
        else:
            return None
    return None


def _soft(found: Reduced, potential: bool) -> tuple[np.ndarray, np.ndarray]:
    """Which directions have a stiffness that is not told from zero, and these directions as columns."""
    of = found.potential.of
    if potential:
        values, vectors = np.linalg.eigh(minimum.square(of, found.potential.value))
        return np.abs(values) <= np.sum(np.abs(minimum.square(of, found.potential.unsure))), vectors
    linear = slice(1, 1 + of.variables)
    _, values, right = np.linalg.svd(found.left.value[:, linear])
    values = np.concatenate([values, np.zeros(len(right) - len(values))])
    return values <= np.sum(found.left.unsure[:, linear]), right.T


def _softest(scales: Scales, tangent: np.ndarray) -> np.ndarray:
    """The directions that constraints on positions allow, those of least stiffness first."""
    n = len(tangent)
    values, vectors = np.linalg.eigh(tangent.T @ _even(scales.matrix[:n, :n]) @ tangent)
    return tangent @ vectors[:, np.argsort(np.abs(values))]


def _kernel(matrix: np.ndarray, n: int) -> np.ndarray:
    """Directions in which all conditions are met to first order, with multipliers that follow."""
    _, sizes, right = np.linalg.svd(matrix)
    sizes = np.concatenate([sizes, np.zeros(len(right) - len(sizes))])
    left, moving, _ = np.linalg.svd(right[sizes <= _SMALL].T[:n], full_matrices=False)
    return left[:, moving > 1e-6]


def _even(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)


def _aligned(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the space of columns that is near the coordinates, since all are as good."""
    rest, found = columns @ columns.T, []
    for _ in range(columns.shape[1]):
        best = int(np.argmax(np.round(np.diag(rest), 9)))
        found.append(rest[:, best] / np.linalg.norm(rest[:, best]))
        rest = rest - np.outer(found[-1], found[-1] @ rest)
    basis = np.column_stack(found)
    return np.where(np.abs(basis) < _NOTHING, 0.0, basis)  # what is rounding would couple what is not coupled


def _reduced(series: RestSeries, scales: Scales, moving: np.ndarray, most: int | None, potential: bool) -> Reduced:
    n, d = series.n, moving.shape[1]
    order = min(ORDERS.get(d, 4 if d <= 8 else 2), 4 if series.size > _LARGE else 99, most or 99)
    chosen = np.zeros((len(series.start), d))
    chosen[:n] = moving
    gauge = np.zeros((len(series.start), 0))
    if series.m:  # multipliers of dependent constraints make no force
        _, sizes, right = np.linalg.svd(scales.matrix[:n, n:])
        gauge = np.zeros((len(series.start), series.m - int(np.sum(sizes > _RANK))))
        gauge[n:] = right[int(np.sum(sizes > _RANK)) :].T
    others = np.linalg.svd(np.column_stack([chosen, gauge]).T)[2][d + gauge.shape[1] :].T
    image = scales.matrix @ others
    left_over = np.linalg.svd(image)[0][:, others.shape[1] :].T  # conditions that the other unknowns cannot meet
    solve = others @ np.linalg.pinv(image)
    corners: set[str] = set()
    of, runs = ring(d, order), []
    floors = [np.zeros(of.size), np.zeros(of.size)]
    for sample in range(1 + _SAMPLES):
        other = Otherwise(sample, d)
        scaled = _followed(series, scales, chosen, solve, order, other, None if sample else corners)
        met = scales.rows @ series.at(scales.unscaled(scaled, series.start), of, other)
        runs.append((left_over @ met, _work(of, scaled[:n], met[:n]) * scales.stiffness))
        if not sample:  # the unknowns are rounded too, and so is their product with the matrix
            floor = _ROUNDED * np.abs(scales.matrix) @ np.abs(scaled)
            floors = [np.abs(left_over) @ floor, np.abs(_work(of, np.abs(scaled[:n]), floor[:n])) * scales.stiffness]
    left, work = (_unknown(of, [run[k] for run in runs], floors[k]) for k in range(2))
    if corners:
        sides = [_followed(series, scales, chosen, solve, order, Otherwise(-k, d), None) for k in range(4)]
        met = [series.at(scales.unscaled(side, series.start), of, Otherwise(-k, d)) for k, side in enumerate(sides)]
        if not _differ(sides) and not _differ(met):
            corners.clear()  # the sides of what looks like a corner agree
    off = np.zeros(d)
    if potential and np.all(np.isfinite(work.value)):
        off = _off(of, work.value, work.unsure)
        work = Unknown(of, work.value, _moved(of, work.value, work.unsure, off))
    finite = bool(np.all(np.isfinite(work.value)) and np.all(np.isfinite(left.value)))
    directions = scales.frame @ moving
    return Reduced(directions, order, left, work, frozenset(corners), finite, float(np.max(np.abs(directions) @ off)))


def _work(of: SeriesRing, y: np.ndarray, force: np.ndarray) -> np.ndarray:
    r"""\(-\int f \cdot dy\) from zero along straight lines."""
    pulled = of.times(of.gradient(y), force[:, None, :]).sum(axis=0)
    return -of.radial(pulled) / np.maximum(of.degree, 1)


def dependent(series: RestSeries, scales: Scales) -> tuple[int, bool]:
    """How many constraints on positions depend on the others at the point, and whether all of them do so nearby.

    They do if positions that meet the independent ones meet them too, which is looked at to second order.
    """
    n = series.n
    held = scales.matrix[n:, :n]
    if not len(held):
        return 0, True
    left, sizes, right = np.linalg.svd(held)
    rank = int(np.sum(sizes > _RANK))
    if rank == len(held):
        return 0, True
    chosen = np.zeros((len(series.start), n - rank))
    chosen[:n] = right[rank:].T
    solve = np.zeros((len(series.start), len(scales.rows)))
    solve[:n, n:] = np.linalg.pinv(held, rcond=_RANK)
    of, runs = ring(n - rank, 2), []
    floor = np.zeros(of.size)
    for sample in range(1 + _SAMPLES):
        other = Otherwise(sample, n - rank)
        scaled = _followed(series, scales, chosen, solve, 2, other, None)
        met = scales.rows @ series.at(scales.unscaled(scaled, series.start), of, other)
        runs.append(left[:, rank:].T @ met[n:])
        floor = np.abs(left[:, rank:].T) @ (_ROUNDED * np.abs(held) @ np.abs(scaled[:n]))
    return len(held) - rank, _unknown(of, runs, floor).zero


def _followed(
    series: RestSeries,
    scales: Scales,
    chosen: np.ndarray,
    solve: np.ndarray,
    order: int,
    other: Otherwise,
    corners: set[str] | None,
) -> np.ndarray:
    """The unknowns in scaled units as series of k; a step of a simplified Newton method makes one more order right."""
    d = chosen.shape[1]
    scaled = np.zeros((len(series.start), 1 + d))
    scaled[:, 1:] = other.rounded(chosen)
    for degree in [*range(1, order + 1), order]:
        of = ring(d, degree)
        grown = np.zeros((len(scaled), of.size))
        grown[:, : scaled.shape[1]] = scaled
        u = scales.unscaled(grown, series.start)
        scaled = grown - solve @ (scales.rows @ series.at(u, of, other, corners))
    return scaled


def _unknown(of: SeriesRing, values: list[np.ndarray], floor: np.ndarray) -> Unknown:
    spread = np.array([np.abs(one - values[0]) for one in values[1:]])
    return Unknown(of, values[0], _UNKNOWN * np.max(spread, axis=0, initial=0.0) + floor)


def _differ(values: list[np.ndarray]) -> bool:
    """Whether evaluations differ by more than rounding errors, or are not finite."""
    found = np.array(values)
    if not np.all(np.isfinite(found)):
        return True
    return bool(np.max(np.abs(found - found[0]), initial=0.0) > 1e-6 * np.max(np.abs(found), initial=0.0))


def _off(of: SeriesRing, c: np.ndarray, unsure: np.ndarray) -> np.ndarray:
    """How far the equilibrium may be away along each axis: where the first power that counts makes as large a force.

    Along an axis without powers of its own it is the largest of the other axes and of some diagonals.
    """
    n = of.variables
    own = np.array([_reach(of, c, unsure, axis) for axis in np.eye(n)])
    signs = np.random.default_rng(0).choice((1.0, -1.0), size=(8, n))
    diagonals = [_reach(of, c, unsure, sign / np.sqrt(n)) for sign in signs]
    return np.where(own > 0, own, max([*own, *diagonals]) if n > 1 else own)


def _reach(of: SeriesRing, c: np.ndarray, unsure: np.ndarray, axis: np.ndarray) -> float:
    along = np.prod(axis**of.powers, axis=1)
    line = np.bincount(of.degree, along * np.where((np.abs(c) > unsure) | (of.degree == 1), c, 0.0))
    force = abs(line[1]) + float(np.sum(np.abs(along * unsure)[of.degree == 1]))
    found = [(force / (k * abs(x))) ** (1 / (k - 1)) for k, x in enumerate(line) if k > 1 and x != 0]
    return _FAR * min(found, default=0.0)


def _moved(of: SeriesRing, c: np.ndarray, unsure: np.ndarray, off: np.ndarray) -> np.ndarray:
    """What is not known of the coefficients of a polynomial that may be around a point so far off."""
    total = unsure.copy()
    place = {tuple(p): k for k, p in enumerate(of.powers.tolist())}
    for k, exponents in enumerate(of.powers):
        if not c[k] or not np.any(off):
            continue
        for lower in np.ndindex(*[int(e) + 1 for e in exponents]):
            if lower == tuple(exponents):
                continue
            ways = math.prod(math.comb(int(e), b) for e, b in zip(exponents, lower, strict=True))
            total[place[lower]] += ways * abs(c[k]) * np.prod(off ** (exponents - np.array(lower)))
    return total

r"""Whether a function has a strict minimum at a point, from its Taylor polynomial.

The first form \(W_m \ne 0\) of the polynomial decides where it is positive for all directions (a strict minimum) or
negative for one (none). Where it is zero in some directions, the leading part with respect to weights may still decide:
with \(c_i k_i^{a_i}\) the first pure power along axis i, \(P\) the terms \(k^\alpha\) with
\(\sum_i \alpha_i/a_i = 1\) and no terms with a smaller sum, W has a strict minimum if P is positive, and none if P is
negative somewhere, since \(W(t^{1/a_1}s_1, \dots) = t\,(P(s) + o(1))\).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from holonomy.trace.graph.series import SeriesRing, ring

_DIRECTIONS: Final = 4000  # at which a form of three variables or more is looked at, to find a negative value
_ONE_ROOT: Final = 1e-3  # distance of roots below which they are taken for a multiple one: rounding parts three by 1e-5
_MARGIN: Final = 1e-9  # of the coefficients: values below are not told from zero


@dataclass(frozen=True)
class Extremum:
    """What a Taylor polynomial says: `kind`, a strict "minimum", "none" (no minimum: the polynomial is negative along a
    curve), "flat" (all forms are zero) or "unclear"; the `order` of the form that decided, or up to which was looked;
    whether the `leading` form alone was negative; a `direction` along which it is negative or zero."""

    kind: Literal["minimum", "none", "flat", "unclear"]
    order: int
    leading: bool
    direction: np.ndarray | None


def extremum(of: SeriesRing, coefficients: np.ndarray, unsure: np.ndarray) -> Extremum:
    """What the polynomial says of its value at zero; coefficients of size `unsure` or less count as zero."""
    c = np.where(np.abs(coefficients) > unsure, coefficients, 0.0)
    c[of.degree < 2] = 0.0
    if not np.any(c):
        return Extremum("flat", of.order, False, None)
    order = int(np.min(of.degree[c != 0]))
    leading = np.where(of.degree == order, c, 0.0)
    lowest, direction = _lowest(of, leading, np.full(of.variables, order))
    size = float(np.max(np.abs(leading)))
    if lowest < -_MARGIN * size:
        return Extremum("none", order, True, direction)
    if lowest > _MARGIN * size and _positive(of, leading, np.full(of.variables, order)):
        return Extremum("minimum", order, False, None)
    for frame in _frames(of, direction):
        found = _weighted(of, c if frame is None else turned(of, c, frame), frame)
        if found is not None:
            return found
    return Extremum("unclear", order, False, direction)


def turned(of: SeriesRing, c: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """The polynomial in new variables, k = frame @ new."""
    lines = of.constant(np.zeros(of.variables))
    lines[:, 1 : 1 + of.variables] = frame
    out = of.constant(0.0)
    powers = [[of.constant(1.0)] for _ in range(of.variables)]
    for line, table in zip(lines, powers, strict=True):
        for _ in range(of.order):
            table.append(of.times(table[-1], line))
    for exponents, value in zip(of.powers, c, strict=True):
        if value:
            term = of.constant(value)
            for table, e in zip(powers, exponents, strict=True):
                if e:
                    term = of.times(term, table[e])
            out = out + term
    out[np.abs(out) <= 1e-13 * np.max(np.abs(c))] = 0.0
    return out


def _frames(of: SeriesRing, direction: np.ndarray) -> list[np.ndarray | None]:
    """The axes themselves, and axes of which one is a direction in which the leading form vanishes."""
    if of.variables == 1:
        return [None]
    rest = np.linalg.svd(direction[None])[2][1:].T
    return [None, np.column_stack([direction, rest])]


def _weighted(of: SeriesRing, c: np.ndarray, frame: np.ndarray | None) -> Extremum | None:
    """The verdict of the leading part with respect to weights, or None where it says nothing."""
    n = of.variables
    first = np.zeros(n, int)
    for i in range(n):
        pure = (of.powers[:, i] == of.degree) & (c != 0)
        if not np.any(pure):
            return None
        at = int(np.flatnonzero(pure)[np.argmin(of.degree[pure])])
        first[i] = of.degree[at]
        if first[i] % 2 or c[at] < 0:  # along this axis alone the polynomial takes negative values
            axis = np.eye(n)[i] if frame is None else frame[:, i]
            return Extremum("none", int(first[i]), False, axis)
    weight = of.powers @ (1.0 / first)
    if np.any(c[weight < 1 - 1e-12]):
        return None
    face = np.where(np.abs(weight - 1) < 1e-12, c, 0.0)
    lowest, direction = _lowest(of, face, first)
    size, order = float(np.max(np.abs(face))), int(np.max(first))
    if lowest < -_MARGIN * size:
        return Extremum("none", order, False, direction if frame is None else frame @ direction)
    if lowest > _MARGIN * size and _positive(of, face, first):
        return Extremum("minimum", order, False, None)
    return None


def value(of: SeriesRing, c: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The polynomial at points, (…, variables)."""
    used = np.flatnonzero(c)
    return np.prod(points[..., None, :] ** of.powers[used], axis=-1) @ c[used]


def _lowest(of: SeriesRing, c: np.ndarray, first: np.ndarray) -> tuple[float, np.ndarray]:
    """The lowest value found of a form with weights 1/first, on a surface around zero, and where it is taken."""
    n = of.variables
    if n == 1:
        points = np.array([[1.0], [-1.0]])
    elif n == 2:
        points = np.concatenate([_critical(of, c, first, 1), _critical(of, c, first, 0)])
    else:
        drawn = np.random.default_rng(0).normal(size=(_DIRECTIONS, n))
        drawn = np.concatenate([np.eye(n), -np.eye(n), drawn])
        points = drawn / np.max(np.abs(drawn), axis=1, keepdims=True)
    values = value(of, c, points)
    at = int(np.argmin(np.round(values / np.max(np.abs(c)), 12)))
    return float(values[at]), points[at] / np.linalg.norm(points[at])


def _critical(of: SeriesRing, c: np.ndarray, first: np.ndarray, held: int) -> np.ndarray:
    """Points on two sides of the square max |k| = 1, with variable `held` = ±1, where a form may be least.

    Scaling with the weights brings all of the plane to the four sides.
    """
    free = 1 - held
    found = []
    for sign in (1.0, -1.0):
        line = np.zeros(of.order + 1)
        for exponents, x in zip(of.powers[c != 0], c[c != 0], strict=True):
            line[exponents[free]] += x * sign ** exponents[held]
        places = np.concatenate([_real_roots(line[1:] * np.arange(1, len(line))), [0.0, 1.0, -1.0]])
        places = np.clip(places[np.abs(places) <= 1.0 + 1e-9], -1.0, 1.0)
        points = np.full((len(places), 2), sign)
        points[:, free] = places
        found.append(points)
    return np.concatenate(found)


def _real_roots(slope: np.ndarray) -> np.ndarray:
    """Real parts of the roots of a polynomial, and the means of those that are one root but for rounding."""
    kept = np.trim_zeros(slope, "b")
    if len(kept) < 2:
        return np.zeros(0)
    roots = np.polynomial.polynomial.polyroots(kept)
    near = np.abs(roots[:, None] - roots[None, :]) < _ONE_ROOT * (1.0 + np.abs(roots[:, None]))
    return np.real(np.concatenate([near @ roots / np.sum(near, axis=1), roots]))


def _positive(of: SeriesRing, c: np.ndarray, first: np.ndarray) -> bool:
    r"""Whether it is shown that a form with weights 1/first whose lowest value was found positive has no lower one.

    With one or two variables the critical points are all there are, and a quadratic form has eigenvalues. With more, a
    term without a sign is at most a mean of pure powers: \(|k^\alpha| \le \sum_i (\alpha_i/a_i) |k_i|^{a_i}\).
    """
    if of.variables <= 2:
        return True
    if np.all(first == 2):
        return bool(np.min(np.linalg.eigvalsh(square(of, c))) > _MARGIN * np.max(np.abs(c)))
    left = np.zeros(of.variables)
    for exponents, x in zip(of.powers[c != 0], c[c != 0], strict=True):
        if np.any(exponents == np.sum(exponents)):
            left[int(np.argmax(exponents))] += x
        elif x < 0 or np.any(exponents % 2):
            left -= abs(x) * exponents / first
    return bool(np.min(left) > _MARGIN * np.max(np.abs(c)))


def square(of: SeriesRing, c: np.ndarray) -> np.ndarray:
    """The symmetric matrix H of the part of second degree, ½ kᵀ H k."""
    n = of.variables
    out = np.zeros((n, n))
    for exponents, x in zip(of.powers[of.degree == 2], c[of.degree == 2], strict=True):
        i, j = np.repeat(np.arange(n), exponents)
        out[i, j] += x
        out[j, i] += x
    return out


def polynomials(variables: int, order: int) -> SeriesRing:
    """The ring of the polynomials that `extremum` takes."""
    return ring(variables, order)

r"""Frobenius' condition, \(da^i \wedge a^1 \wedge \dots \wedge a^k = 0\): shown by the form of the functions, or
looked at in their Taylor polynomials.

A polynomial shows where it does not hold; only the form shows that it does.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from holonomy.trace.graph.series import Otherwise, Series, SeriesRing
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.identities import Forms, is_zero
from holonomy.trace.symbolic.polynomial import Poly, Ring
from holonomy.trace.taylor_polynomial import Expansion

ORDERS: Final = {1: 12, 2: 10, 3: 8, 4: 6, 5: 5}
"""Orders of the derivatives that are looked at, by the number of coordinates; four with more."""
EVALUATIONS: Final = 4
"""Evaluations, of which the first has no other rounding errors."""
_UNKNOWN: Final = 16.0  # times the largest difference of these: what is not known
_ROUNDED: Final = 8 * np.finfo(float).eps
_MINORS: Final = 400  # determinants that are multiplied out


class Seen(NamedTuple):
    """The lowest order at which a Taylor polynomial at a point contradicts that the forms are closed, and that they are
    integrable; None where it does not up to the order that was looked at. `corner`: whether there is no polynomial."""

    not_closed: int | None
    not_integrable: int | None
    order: int
    corner: bool


def seen(expansion: Expansion, rows: list[int], columns: list[int], point: np.ndarray) -> Seen:
    """What the Taylor polynomials of the forms at a point say."""
    n = expansion.variables
    order = ORDERS.get(n, 4)
    of = expansion.ring(order + 1)
    free = [j for j in range(n) if j not in columns]
    curls, wholes = [], []
    floor: Any = 0.0
    corners: set[str] = set()
    for k in range(EVALUATIONS):
        a = expansion.along(of.coordinates(point), of, Otherwise(k, n), corners)[0][rows]
        slope = of.gradient(a)  # (rank, component, derivative, series)
        curls.append(np.swapaxes(slope, 1, 2) - slope)
        frame = frame_of(of, a, columns, free)
        half = of.matmul(frame[None], curls[-1])
        wholes.append(of.matmul(half, np.swapaxes(frame, 0, 1)[None]))
        if not k:  # sums of terms that cancel are known no better than the terms
            size = of.matmul(np.abs(frame)[None], np.abs(slope) + np.abs(np.swapaxes(slope, 1, 2)))
            floor = _ROUNDED * of.matmul(size, np.abs(np.swapaxes(frame, 0, 1))[None])
    known = of.degree <= order  # a derivative loses one order
    if not all(np.all(np.isfinite(x[..., known])) for x in (*curls, *wholes)):
        return Seen(None, None, order, True)
    corner = False
    if corners:
        sides = [expansion.along(of.coordinates(point), of, Otherwise(-k, n))[0][rows] for k in range(4)]
        corner = _differ(np.array(sides))
    return Seen(_first(curls, 0.0, of.degree, known), _first(wholes, floor, of.degree, known), order, corner)


def frame_of(of: SeriesRing, a: Series, columns: list[int], free: list[int]) -> Series:
    """A frame of the distribution as series, (free, n): each field moves one free coordinate and the dependent ones."""
    solved = of.matmul(of.inverse(a[:, columns]), a[:, free])
    frame = of.constant(np.zeros((len(free), a.shape[1])))
    frame[:, free] = of.constant(np.eye(len(free)))
    frame[:, columns] = -np.swapaxes(solved, 0, 1)
    return frame


def known(values: Series) -> np.ndarray:
    """Which numbers of the first evaluation, along axis 0, are told from zero."""
    return np.abs(values[0]) > _UNKNOWN * np.max(np.abs(values - values[0]), axis=0)


def _first(values: list[Series], floor: Any, degree: np.ndarray, known: np.ndarray) -> int | None:
    spread = _UNKNOWN * np.max(np.abs(np.array(values[1:]) - values[0]), axis=0) + floor
    over = np.any((np.abs(values[0]) > spread).reshape(-1, len(degree)), axis=0) & known
    return int(np.min(degree[over])) if np.any(over) else None


def _differ(values: np.ndarray) -> bool:
    """Whether evaluations differ by more than rounding errors."""
    size = np.max(np.abs(values), initial=0.0)
    return bool(np.max(np.abs(values - values[0]), initial=0.0) > 1e-6 * size and size > 0)


def shown(traced: Any, dim: int, rows: list[int], point: np.ndarray) -> tuple[bool, bool]:
    """Whether the form of the functions shows that they are closed, and integrable, around a point."""
    try:
        forms = Forms(traced, [dim], [point])
    except Unsupported:
        return False, False
    a = [[forms.values[i * dim + j] for j in range(dim)] for i in rows]
    curls = {}
    try:
        for i, form in enumerate(a):
            for p, q in combinations(range(dim), 2):
                curls[i, p, q] = forms.slope(form[q], 0, p) - forms.slope(form[p], 0, q)
    except (Unsupported, KeyError):
        return False, False
    if all(is_zero(x) for x in curls.values()):
        return True, True
    k = len(rows)
    chosen = list(combinations(range(dim), k + 2))
    if len(chosen) * k > _MINORS:
        return False, False
    return False, all(is_zero(_wedge(forms.ring, a, curls, i, columns)) for columns in chosen for i in range(k))


def _wedge(ring: Ring, a: list[list[Poly]], curls: dict[tuple[int, int, int], Poly], i: int, columns: Any) -> Poly:
    """The component of the product of da_i with all forms along columns."""
    total = ring.zero
    for x, y in combinations(range(len(columns)), 2):
        rest = [c for place, c in enumerate(columns) if place not in (x, y)]
        minor = _determinant(ring, [[row[c] for c in rest] for row in a])
        total = total + (curls[i, columns[x], columns[y]] * minor).scaled((-1) ** (x + y + 1))
    return total


def _determinant(ring: Ring, matrix: list[list[Poly]]) -> Poly:
    if not matrix:
        return ring.one
    total = ring.zero
    for j, entry in enumerate(matrix[0]):
        if entry:
            minor = _determinant(ring, [[*row[:j], *row[j + 1 :]] for row in matrix[1:]])
            total = total + (entry * minor).scaled((-1) ** j)
    return total

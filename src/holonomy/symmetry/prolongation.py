r"""Killing fields at a point, by prolongation.

A field \(\xi\) preserves a metric g if \(\partial_i\xi_j + \partial_j\xi_i = S_{ij}\) with
\(S_{ij} = 2\Gamma^k_{ij}\xi_k\). Differentiating gives all second derivatives,
\(\partial_i\partial_j\xi_k = \frac12(\partial_i S_{jk} + \partial_j S_{ik} - \partial_k S_{ij})\), so that the field is
known from its \(n(n+1)/2\) data at one point: \(\xi_k\) and the antisymmetric part of \(\partial_j\xi_k\). Contracted
with \(y^i y^j\) this determines the terms of each degree of its Taylor polynomial from those of lower degree. What is
left of the Killing equation is then a linear condition on the data for each monomial; those of degree k + 2 say that
\(\xi\) preserves the k-th covariant derivative of the curvature. That \(\xi\) preserves a potential, a magnetic field
and constraints adds conditions of the same kind. Where the dimension of the solutions settles as the degree grows, they
are the Killing fields (Nomizu, *On local and global existence of Killing vector fields*, 1960; Singer, 1960).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holonomy.trace.graph.series import Series, SeriesRing

_NULL = 1e-9  # singular values below this part of the largest are zero
_NOTHING = 1e-11  # Taylor coefficients below this part of the value are rounding


@dataclass(frozen=True)
class Geometry:
    """What the fields must preserve, as series in coordinates in which the metric at the point is the identity.

    `potential` is a scalar, `magnetic` a two-form, `forms` are constraints, each or None; all but the metric are
    scaled to size 1.
    """

    of: SeriesRing
    metric: Series
    potential: Series | None
    magnetic: Series | None
    forms: Series | None


@dataclass(frozen=True)
class Solution:
    """Killing fields at a point.

    `fields` are their components as series, (fields, n); `dims` is the dimension for conditions up to each degree;
    `gap` the smallest singular value that is not zero, and the largest that is.
    """

    of: SeriesRing
    fields: Series
    dims: tuple[int, ...]
    gap: tuple[float, float]

    @property
    def settled(self) -> bool:
        """Whether conditions of the highest degree changed nothing."""
        return len(self.dims) > 2 and (self.dims[-1] == self.dims[-2] or self.dims[-1] == 0)


def normalised(
    of: SeriesRing, metric: Series, potential: Series, covector: Series, forms: Series | None
) -> tuple[Geometry, float]:
    r"""The geometry in coordinates u, \(y = \rho u\), in which Taylor coefficients have size 1, and \(\rho\)."""
    bend = _growth(of, [metric, *([] if forms is None else [forms])])
    slope = _without_value(potential)
    field = _curl(of, covector)
    kept = slope if np.max(np.abs(slope), initial=0.0) > _NOTHING * np.abs(potential[0]) else None
    turned = field if np.max(np.abs(field), initial=0.0) > _NOTHING * np.max(np.abs(covector)) else None
    if kept is not None:
        bend = max(bend, _growth(of, [kept / _size(kept[of.degree == 1], kept)]))
    scale = 1.0 / bend if bend > 0 else 1.0
    powers = scale**of.degree

    def unit(a: Series | None) -> Series | None:
        return None if a is None else a * powers / np.max(np.abs(a * powers))

    return Geometry(of, metric * powers, unit(kept), unit(turned), unit(forms)), scale


def _without_value(a: Series) -> Series:
    out = a.copy()
    out[..., 0] = 0.0
    return out


def _size(first: np.ndarray, whole: Series) -> float:
    """The size of the slope, or of the whole where the point is stationary."""
    size = float(np.max(np.abs(first), initial=0.0))
    return size if size > 1e-3 * float(np.max(np.abs(whole))) else float(np.max(np.abs(whole)))


def _growth(of: SeriesRing, tensors: Sequence[Series]) -> float:
    """The rate at which Taylor coefficients grow with the degree: the inverse of a length."""
    rates = [0.0]
    for a in tensors:
        for degree in range(1, of.order + 1):
            part = float(np.max(np.abs(a[..., of.degree == degree]), initial=0.0))
            if part > _NOTHING:
                rates.append(part ** (1.0 / degree))
    return max(rates)


def _curl(of: SeriesRing, covector: Series) -> Series:
    slope = of.gradient(covector)  # (component, derivative)
    return np.swapaxes(slope, 0, 1) - slope


def solve(geometry: Geometry) -> Solution:
    """The fields that preserve the geometry."""
    of, g = geometry.of, geometry.metric
    inverse = of.inverse(g)
    gamma = _christoffel(of, g, inverse)
    lower, bent = _extended(of, gamma)  # covectors xi_k of all data, and S
    raised = _product(of, inverse, lower)
    blocks = [_killing_equation(of, lower, bent)]
    if geometry.potential is not None:
        slope = of.gradient(geometry.potential)
        blocks.append((of.order - 1, of.times(raised, slope[:, None, :]).sum(axis=0)[None]))
    if geometry.magnetic is not None:
        blocks.append((of.order - 2, _two_form(of, raised, geometry.magnetic)))
    if geometry.forms is not None:
        blocks.append((of.order - 1, _along_distribution(of, raised, geometry.forms)))
    return _null_space(of, blocks, raised)


def _christoffel(of: SeriesRing, g: Series, inverse: Series) -> Series:
    """Gamma^k_ij with indices in the order k, i, j; the highest degree is not known."""
    d = of.gradient(g)  # (i, j, derivative)
    lower = 0.5 * (np.swapaxes(d, 1, 2) + d - np.moveaxis(d, 2, 0))  # (l, i, j) as in geometry.metric
    n = g.shape[0]
    return of.matmul(inverse, lower.reshape(n, n * n, of.size)).reshape(n, n, n, of.size)


def _product(of: SeriesRing, matrix: Series, fields: Series) -> Series:
    """A matrix of series on the first index of many columns, by the entries that are not zero."""
    out = np.zeros((matrix.shape[0], *fields.shape[1:]))
    for i in range(matrix.shape[0]):
        for k in range(matrix.shape[1]):
            if np.any(matrix[i, k]):
                out[i] += of.times(matrix[i, k][None], fields[k])
    return out


def _connection(of: SeriesRing, gamma: Series, lower: Series) -> Series:
    """S_ij = 2 Gamma^k_ij xi_k, (i, j, data)."""
    n = gamma.shape[0]
    out = np.zeros((n, n, *lower.shape[1:]))
    for i in range(n):
        for j in range(i, n):
            for k in range(n):
                if np.any(gamma[k, i, j]):
                    out[i, j] += of.times(2.0 * gamma[k, i, j][None], lower[k])
            out[j, i] = out[i, j]
    return out


def _extended(of: SeriesRing, gamma: Series) -> tuple[Series, Series]:
    """The covector fields (k, data) that belong to each datum at the point, and their S."""
    n = gamma.shape[0]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    lower = np.zeros((n, n + len(pairs), of.size))
    lower[np.arange(n), np.arange(n), 0] = 1.0
    for m, (i, j) in enumerate(pairs):
        lower[i, n + m, 1 + j], lower[j, n + m, 1 + i] = 1.0, -1.0
    for k in range(n):
        lower[:, k, 1 : 1 + n] += gamma[k, :, :, 0]
    unit = of.coordinates(np.zeros(n))
    for degree in range(2, of.order + 1):
        bent = _connection(of, gamma, lower)
        near = of.times(bent, unit[:, None, None, :]).sum(axis=0)  # y^j S_jk
        right = (degree - 1) * near
        for k in range(n):
            slope = of.slope(bent, k)
            half = of.times(slope, unit[:, None, None, :]).sum(axis=0)
            right[k] -= 0.5 * of.times(half, unit[:, None, :]).sum(axis=0)
        at = of.degree == degree
        lower[..., at] = right[..., at] / (degree * (degree - 1))
    return lower, _connection(of, gamma, lower)


def _killing_equation(of: SeriesRing, lower: Series, bent: Series) -> tuple[int, Series]:
    n = lower.shape[0]
    slope = np.stack([of.slope(lower, i) for i in range(n)])  # (i, k, data)
    rest = slope + np.swapaxes(slope, 0, 1) - bent
    return of.order - 1, np.stack([rest[i, j] for i in range(n) for j in range(i, n)])


def _two_form(of: SeriesRing, raised: Series, b: Series) -> Series:
    """The Lie derivative of a two-form along each field."""
    n = raised.shape[0]
    rows = []
    for i in range(n):
        for j in range(i + 1, n):
            total = np.zeros(raised.shape[1:])
            for k in range(n):
                total += of.times(raised[k], of.slope(b[i, j], k)[None])
                total += of.times(of.slope(raised[k], i), b[k, j][None])
                total += of.times(of.slope(raised[k], j), b[i, k][None])
            rows.append(total)
    return np.stack(rows)


def _along_distribution(of: SeriesRing, raised: Series, forms: Series) -> Series:
    """The Lie derivatives of the forms on the directions that they allow, which vanish where they are preserved."""
    n, k = raised.shape[0], forms.shape[0]
    pivots = _echelon(forms[..., 0])[1]
    free = [j for j in range(n) if j not in pivots]
    solved = of.matmul(of.inverse(forms[:, pivots]), forms[:, free])
    rows = []
    for i in range(k):
        moved = np.zeros((n, *raised.shape[1:]))
        for j in range(n):
            for m in range(n):
                moved[j] += of.times(raised[m], of.slope(forms[i, j], m)[None])
                moved[j] += of.times(of.slope(raised[m], j), forms[i, m][None])
        for c, j in enumerate(free):
            total = moved[j].copy()
            for r, p in enumerate(pivots):
                total -= of.times(moved[p], solved[r, c][None])
            rows.append(total)
    return np.stack(rows) if rows else np.zeros((0, *raised.shape[1:]))


def _null_space(of: SeriesRing, blocks: list[tuple[int, Series]], raised: Series) -> Solution:
    unknowns = raised.shape[1]
    dims, vectors, gap = [], np.eye(unknowns), (np.inf, 0.0)
    for degree in range(of.order):
        rows = []
        for known, block in blocks:
            at = of.degree <= min(degree, known)
            rows.append(np.moveaxis(block[..., at], 1, 2).reshape(-1, unknowns))
        matrix = np.concatenate(rows)
        values, right = _singular(matrix)
        limit = _NULL * max(float(np.max(values, initial=0.0)), 1e-3)
        rank = int(np.sum(values > limit))
        dims.append(unknowns - rank)
        vectors = right[rank:]
        gap = (float(values[rank - 1]) if rank else np.inf, float(np.max(values[rank:], initial=0.0)))
    fields = np.einsum("dm,imc->dic", vectors, raised)
    return Solution(of, fields, tuple(dims), gap)


def _singular(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and right vectors of a tall matrix, by its triangular factor."""
    square = np.linalg.qr(matrix, mode="r") if matrix.shape[0] > matrix.shape[1] else matrix
    _, values, right = np.linalg.svd(square, full_matrices=True)
    return np.concatenate([values, np.zeros(matrix.shape[1] - len(values))]), right


def _echelon(matrix: np.ndarray, first: int = 0) -> tuple[np.ndarray, list[int]]:
    """The change of basis after which each row has a 1 in a column of its own, and these columns.

    The first `first` columns are used as long as they have something left.
    """
    a, change, pivots = matrix.astype(float).copy(), np.eye(len(matrix)), []
    for row in range(len(a)):
        left = np.abs(a[row:])
        size = np.max(left)
        some = left[:, :first]
        area = some if some.size and np.max(some) > 1e-7 * max(1.0, size) else left
        r, c = np.unravel_index(int(np.argmax(area)), area.shape)
        if area[r, c] == 0:
            break
        order = [row, row + int(r)]
        a[order], change[order] = a[order[::-1]], change[order[::-1]]
        factor = a[row, c]
        a[row], change[row] = a[row] / factor, change[row] / factor
        for other in range(len(a)):
            if other != row:
                change[other] -= a[other, c] * change[row]
                a[other] -= a[other, c] * a[row]
        pivots.append(int(c))
    return change, pivots


def values_and_slopes(fields: Series, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fields at the point in the coordinates y = E u, (fields, n), and their derivatives there, (fields, n, n)."""
    n = len(frame)
    values = np.einsum("ij,aj->ai", frame, fields[..., 0])
    return values, np.einsum("ij,ajk,kl->ail", frame, fields[..., 1 : 1 + n], np.linalg.inv(frame))


def reduced_basis(fields: Series, frame: np.ndarray) -> Series:
    """The same fields in another basis: simple values at the point in the coordinates y = E u, then derivatives."""
    values, slopes = values_and_slopes(fields, frame)
    if not len(fields):
        return fields
    data = np.concatenate([values, slopes.reshape(len(values), -1)], axis=1)
    change, _ = _echelon(data, first=len(frame))
    return np.einsum("ab,bic->aic", change, fields)


def structure_constants(of: SeriesRing, fields: Series) -> np.ndarray:
    """c[i, j, k] with [X_i, X_j] = sum_k c[i, j, k] X_k."""
    count = len(fields)
    constants = np.zeros((count, count, count))
    slopes = of.gradient(fields)  # (field, component, derivative)
    low = of.degree <= 1
    data = [field[:, low].reshape(-1) for field in fields]
    for i in range(count):
        for j in range(i + 1, count):
            one = of.times(slopes[j], fields[i][None]).sum(axis=1)
            other = of.times(slopes[i], fields[j][None]).sum(axis=1)
            bracket = (one - other)[:, low].reshape(-1)
            found = np.linalg.lstsq(np.array(data).T, bracket, rcond=None)[0]
            constants[i, j], constants[j, i] = found, -found
    return constants

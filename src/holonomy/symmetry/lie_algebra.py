r"""The name of a real Lie algebra of small dimension, from its structure constants.

An algebra without centre is a direct sum of ideals that cannot be split further, which are the eigenspaces of a generic
map that commutes with every \(\mathrm{ad}_x\). A semisimple ideal is named by its dimension and the signature of its
Killing form \(\mathrm{tr}(\mathrm{ad}_x\,\mathrm{ad}_y)\), others by their derived algebra and radical.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

_ZERO = 1e-7  # of the largest entry
_SAME = 1e-3  # eigenvalues of a map of norm 1 that are closer are one; rounding splits multiple ones


def name(constants: np.ndarray) -> str:
    """What the algebra is called: so(3), se(2), so(3)+R and the like; its dimension where it has no common name."""
    c = np.asarray(constants, float)
    if len(c) == 0:
        return "0"
    if not np.any(np.abs(c) > _ZERO):
        return _line(len(c))
    free, rest = _without_free_centre(c)
    parts = _indecomposable(rest) if len(rest) else []
    # the largest first, of equal ones those that are their own derived algebra, then by name: rounding decides nothing
    ordered = sorted((-len(part), -len(_derived(part)), _one(part)) for part in parts)
    return "+".join([*(one for *_, one in ordered), *([_line(free)] if free else [])])


def _line(k: int) -> str:
    return "R" if k == 1 else f"R^{k}"


def _span(vectors: np.ndarray) -> np.ndarray:
    """An orthonormal basis, as rows, of what rows span."""
    if vectors.size == 0:
        return vectors.reshape(0, vectors.shape[-1])
    _, values, right = np.linalg.svd(vectors)
    scale = max(float(values[0]), 1.0) if values.size else 1.0
    return right[: int(np.sum(values > _ZERO * scale))]


def _kernel(matrix: np.ndarray) -> np.ndarray:
    _, values, right = np.linalg.svd(matrix)
    scale = max(float(np.max(values, initial=0.0)), 1.0)
    return right[int(np.sum(values > _ZERO * scale)) :]


def _derived(c: np.ndarray) -> np.ndarray:
    """A basis of [g, g]."""
    return _span(c.reshape(-1, len(c)))


def _centre(c: np.ndarray) -> np.ndarray:
    """A basis of what commutes with everything."""
    return _kernel(np.moveaxis(c, 0, 2).reshape(-1, len(c)))


def _restricted(c: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Structure constants in a subalgebra given by rows."""
    brackets = np.einsum("ai,bj,ijk->abk", basis, basis, c)
    return np.linalg.lstsq(basis.T, brackets.reshape(-1, c.shape[0]).T, rcond=None)[0].T.reshape(
        len(basis), len(basis), len(basis)
    )


def _form(c: np.ndarray) -> np.ndarray:
    """The Killing form."""
    return np.einsum("iab,jba->ij", c, c)


def _without_free_centre(c: np.ndarray) -> tuple[int, np.ndarray]:
    """How many lines split off as summands, and the rest: centre that is no bracket is free."""
    derived, centre = _derived(c), _centre(c)
    if not len(centre):
        return 0, c
    inside = len(derived) + len(centre) - len(_span(np.concatenate([derived, centre])))
    free = len(centre) - inside
    if not free:
        return 0, c
    outside = centre - (centre @ derived.T) @ derived if len(derived) else centre
    split = _span(np.linalg.lstsq(centre.T, outside.T, rcond=None)[0].T @ centre)[:free]
    # a complement that contains [g, g] is a subalgebra
    rest = _kernel(split @ (np.eye(len(c)) - derived.T @ derived))
    return free, _restricted(c, rest)


def _indecomposable(c: np.ndarray) -> list[np.ndarray]:
    """Ideals whose direct sum is the algebra."""
    n = len(c)
    if len(_centre(c)):
        return [c]
    ad = np.swapaxes(c, 1, 2)  # ad[i] is the matrix of [x_i, .]
    unit = np.eye(n)
    rows = np.concatenate([np.kron(a, unit) - np.kron(unit, a.T) for a in ad])
    commuting = _kernel(rows).reshape(-1, n, n)
    if len(commuting) == 1:
        return [c]
    weights = np.random.default_rng(0).normal(size=len(commuting))
    generic = np.einsum("a,aij->ij", weights, commuting)
    generic = generic / np.linalg.norm(generic, 2)
    left = list(np.linalg.eigvals(generic))
    parts: list[np.ndarray] = []
    while left:
        value = left[0]
        # generalised eigenspaces: such a map may be nilpotent on an ideal that cannot be split
        near = [min(abs(z - value), abs(z - value.conjugate())) < _SAME for z in left]
        factor = generic @ generic - 2 * value.real * generic + abs(value) ** 2 * unit
        _, _, right = np.linalg.svd(np.linalg.matrix_power(factor, n))
        parts.append(_restricted(c, right[n - sum(near) :]))
        left = [z for z, same in zip(left, near, strict=True) if not same]
    return parts


def _one(c: np.ndarray) -> str:
    """The name of an algebra that is no direct sum."""
    n = len(c)
    values = np.linalg.eigvalsh(_form(c))
    # a nilpotent algebra has the form zero: what rounding leaves of it counts beside products of structure constants
    scale = max(float(np.max(np.abs(values))), float(np.max(np.abs(c))) ** 2)
    if np.min(np.abs(values)) > _ZERO * scale:
        return _semisimple(n, int(np.sum(values > 0)))
    derived = _derived(c)
    if n == 2:
        return "aff(1)"
    if n == 3:
        return _solvable_of_three(c, derived)
    radical = _kernel(derived @ _form(c)) if len(derived) else np.eye(n)
    abelian = len(radical) and not np.any(np.abs(_restricted(c, radical)) > 1e-5)
    m = isqrt(2 * n)
    if abelian and m * (m + 1) // 2 == n and len(radical) == m and len(derived) == n:
        return f"se({m})" if np.sum(values < -_ZERO * scale) == n - m else f"iso({m - 1},1)"
    if not _derived(_restricted(c, derived)).size or not len(_derived(_restricted(c, derived))):
        return f"a solvable algebra of dimension {n}"
    return f"an algebra of dimension {n}"


def _semisimple(n: int, noncompact: int) -> str:
    m = (1 + isqrt(1 + 8 * n)) // 2  # so(m) has dimension m(m - 1)/2
    if m * (m - 1) // 2 == n:
        if noncompact == 0:
            return f"so({m})"
        for q in range(1, m // 2 + 1):
            if q * (m - q) == noncompact:
                return f"so({m - q},{q})"
    k = isqrt(n + 1)
    if noncompact == 0 and k * k == n + 1:
        return f"su({k})"
    return f"a semisimple algebra of dimension {n}"


def _solvable_of_three(c: np.ndarray, derived: np.ndarray) -> str:
    if len(derived) == 1:
        return "heis(3)"
    outside = _kernel(derived)[0]
    action = np.einsum("i,bj,ijk,ak->ab", outside, derived, c, derived)
    values = np.linalg.eigvals(action)
    size = float(np.max(np.abs(values)))
    if abs(np.trace(action)) < 1e-6 * size:
        return "se(2)" if abs(values[0].imag) > 1e-6 * size else "e(1,1)"
    return "a solvable algebra of dimension 3"

r"""Small dense solves, for every stage of a step.

A LAPACK call costs more than a 2×2 system's whole right-hand side, so small symmetric positive definite matrices are
factored in straight-line code: \(A = L D L^\top\), no square roots, lower triangle only.
"""

from __future__ import annotations

from typing import TypeAlias

import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jaxtyping import Array, Float

from holonomy.start_checks import RANK as RANK
from holonomy.types import Flag, Scalar, Tree

# The kind of a factorisation and its data, arrays or lists of the entries, or for "map" the solve itself as a
# function; `back_substitute` knows the kinds.
Factored: TypeAlias = tuple[str, Tree]

UNROLLED = 8  # rows up to which a factorisation is written out in scalars
CLOSED = 3  # rows up to which a general matrix is inverted in closed form
_LOST_PIVOT = 1e-13  # a pivot so small against its diagonal entry is rounding


def factor(a: Float[Array, "n n"], definite: bool) -> Factored:
    """A factorisation to be passed to `back_substitute`; `definite` promises a positive definite matrix."""
    n = a.shape[-1]
    if not definite:
        return ("inverse", _inverse(a)) if n <= CLOSED else ("general", jsl.lu_factor(a))
    if n > UNROLLED:
        return ("cholesky", jnp.linalg.cholesky(a))
    low = [[a[i, j] for j in range(i + 1)] for i in range(n)]
    inverse = []
    for j in range(n):
        inverse.append(1.0 / low[j][j])
        column = {i: low[i][j] for i in range(j + 1, n)}
        for i in range(j + 1, n):
            low[i][j] = column[i] * inverse[j]
            for k in range(j + 1, i + 1):
                low[i][k] = low[i][k] - low[i][j] * column[k]
    return ("unrolled", (low, inverse))


def back_substitute(factored: Factored, b: Float[Array, " n"]) -> Float[Array, " n"]:
    """Solve with a factorisation made by `factor`."""
    kind, data = factored
    if kind == "map":
        return data(b)
    if kind == "general":
        return jsl.lu_solve(data, b)
    if kind == "inverse":
        return data @ b
    if kind == "cholesky":
        return jsl.cho_solve((data, True), b)
    low, inverse = data
    n = len(inverse)
    x = [b[i] for i in range(n)]
    if kind == "eliminated":
        for i in range(n):
            for j in range(i):
                x[i] = x[i] - low[i][j] * x[j]
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = x[i] - low[i][j] * x[j]
            x[i] = x[i] * inverse[i]
        return jnp.stack(x)
    for i in range(n):
        for j in range(i):
            x[i] = x[i] - low[i][j] * x[j]
    x = [x[i] * inverse[i] for i in range(n)]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] = x[i] - low[j][i] * x[j]
    return jnp.stack(x)


def _inverse(a: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The inverse of a matrix of at most three rows in closed form: no pivots to choose, so batches of it are plain
    arithmetic, where a pivoted factorisation would call a library for each."""
    if a.shape[-1] == 1:
        return 1.0 / a
    if a.shape[-1] == 2:
        turned = jnp.stack([jnp.stack([a[1, 1], -a[0, 1]]), jnp.stack([-a[1, 0], a[0, 0]])])
        return turned / (a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0])
    columns = jnp.stack([jnp.cross(a[1], a[2]), jnp.cross(a[2], a[0]), jnp.cross(a[0], a[1])], axis=1)
    return columns / jnp.dot(a[0], columns[:, 0])


def eliminate(a: Float[Array, "n n"]) -> tuple[Factored, Flag]:
    """A factorisation of an unsymmetric matrix for `back_substitute`, and whether all its pivots are positive.

    Small matrices are factored without exchanging rows, which is right for those near a positive definite one. Of
    large ones the symmetric part is judged. The sign of the determinant would not do: it stays the same where an even
    number of directions turn over at once.
    """
    n = a.shape[-1]
    if n > UNROLLED:
        pivots = jnp.diagonal(jnp.linalg.cholesky(0.5 * (a + a.T))) ** 2  # NaN where it is not positive definite
        return ("general", jsl.lu_factor(a)), jnp.all(pivots > _LOST_PIVOT * jnp.abs(jnp.diagonal(a)))
    held = eliminate_small(a)
    good = jnp.bool_(True)
    for j in range(n):
        # a pivot of the size of rounding in its row counts as zero
        good = good & (held[1][0][j][j] > _LOST_PIVOT * jnp.abs(a[j, j]))
    return held, good


def eliminate_small(a: Float[Array, "n n"]) -> Factored:
    """A factorisation of a small matrix near a positive definite one, written out, without exchanging rows."""
    n = a.shape[-1]
    rows = [[a[i, j] for j in range(n)] for i in range(n)]
    inverse = []
    for j in range(n):
        inverse.append(1.0 / rows[j][j])
        for i in range(j + 1, n):
            rows[i][j] = rows[i][j] * inverse[j]
            for k in range(j + 1, n):
                rows[i][k] = rows[i][k] - rows[i][j] * rows[j][k]
    return ("eliminated", (rows, inverse))


def eliminate_or_pass(a: Float[Array, "n n"], passes: bool) -> tuple[Factored, Flag]:
    """As `eliminate`; where a step `passes` singular positions, with rows exchanged and nothing said of pivots.

    The matrix of a step that has a singular position inside is regular, but not near a positive definite one.
    """
    return (factor(a, definite=False), jnp.bool_(True)) if passes else eliminate(a)


def least_pivot(a: Float[Array, "n n"]) -> Scalar:
    """The least pivot of a symmetric matrix over its diagonal entry: the least squared sine of the angle of one row to
    those before it, where the matrix holds the products of rows."""
    if a.shape[-1] > UNROLLED:
        pivots = jnp.diagonal(jnp.linalg.cholesky(a)) ** 2
    else:
        pivots = 1.0 / jnp.stack(eliminate(a)[0][1][1])
    return jnp.min(pivots / jnp.abs(jnp.diagonal(a)))


def positive(a: Float[Array, "n n"]) -> Flag:
    """Whether elimination finds positive pivots, as it does for matrices near a positive definite one."""
    return eliminate(a)[1]


def solve(a: Float[Array, "n n"], b: Float[Array, " n"], definite: bool) -> Float[Array, " n"]:
    """The solution of a symmetric system."""
    return back_substitute(factor(a, definite), b)

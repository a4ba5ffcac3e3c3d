"""Small dense linear algebra: factorisations and solves, written out in scalars when small, as loops over memory when
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.primitives import looped
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.lowering.values import Scalars, Value

if TYPE_CHECKING:
    from holonomy.trace.lowering.limits import Site
    from holonomy.trace.lowering.lower import Lowering

Matrix = list[list[Node]]


def _matrices(low: Lowering, a: Value) -> list[Matrix]:
    """The matrices of a stack, taken apart."""
    nodes = low.scalars(a).nodes
    m, n = a.shape[-2:]
    return [
        [list(nodes[base + i * n : base + (i + 1) * n]) for i in range(m)]
        for base in range(0, len(nodes), max(1, m * n))
    ]


def _stacked(shape: tuple[int, ...], dtype: str, matrices: Sequence[Matrix]) -> Scalars:
    return Scalars(shape, dtype, tuple([x for matrix in matrices for row in matrix for x in row]))


def _cholesky(low: Lowering, site: Site, a: Value) -> Value:
    if a.shape[-1] > low.limits.solve and not low.flat:
        return looped.cholesky(low, a)
    return _stacked(a.shape, a.dtype, [_cholesky_one(low, matrix, a.dtype) for matrix in _matrices(low, a)])


def _cholesky_one(low: Lowering, a: Matrix, dtype: str) -> Matrix:
    k, n = low.k, len(a)
    factor = [[k.constant(0, dtype)] * n for _ in range(n)]
    for j in range(n):
        square = k("sub", a[j][j], k.sum([k("mul", factor[j][m], factor[j][m]) for m in range(j)], dtype))
        factor[j][j] = k("sqrt", square)
        for i in range(j + 1, n):
            dot = k.sum([k("mul", factor[i][m], factor[j][m]) for m in range(j)], dtype)
            factor[i][j] = k("div", k("sub", a[i][j], dot), factor[j][j])
    return factor


def _triangular_solve(low: Lowering, site: Site, a: Value, b: Value) -> Value:
    if a.shape[-1] > low.limits.solve and not low.flat:
        return looped.triangular_solve(low, site.params, a, b)
    p = site.params
    out = []
    for matrix, right in zip(_matrices(low, a), _matrices(low, b), strict=True):
        # X A = B is Aᵀ Xᵀ = Bᵀ.
        if p["left_side"]:
            out.append(_triangular_one(low, matrix, right, p, p["transpose_a"]))
        else:
            flipped = [list(row) for row in zip(*right, strict=True)]
            solved = _triangular_one(low, matrix, flipped, p, not p["transpose_a"])
            out.append([list(row) for row in zip(*solved, strict=True)])
    return _stacked(b.shape, b.dtype, out)


def _triangular_one(low: Lowering, a: Matrix, b: Matrix, p: dict[str, Any], flip: bool) -> Matrix:
    k, n = low.k, len(a)
    lower = p["lower"] != flip
    x = [list(row) for row in b]
    for i in range(n) if lower else range(n - 1, -1, -1):
        known = range(i) if lower else range(i + 1, n)
        for c in range(len(x[i])):
            dot = k.sum([k("mul", a[j][i] if flip else a[i][j], x[j][c]) for j in known], x[i][c].dtype)
            rest = k("sub", x[i][c], dot)
            x[i][c] = rest if p["unit_diagonal"] else k("div", rest, a[i][i])
    return x


def _lu(low: Lowering, site: Site, a: Value) -> list[Value]:
    m, n = a.shape[-2:]
    if m != n:
        raise Unsupported(
            f'The LU factorisation of a {m}×{n} matrix has no native form; only square ones do. Pass engine="xla", or '
            "solve the normal equations."
        )
    if n > low.limits.pivoted and not low.flat:
        return looped.lu(low, a)
    factored = [_lu_one(low, matrix) for matrix in _matrices(low, a)]
    pivots = Scalars(a.shape[:-1], "i4", tuple([x for _, pivot, _ in factored for x in pivot]))
    order = Scalars(a.shape[:-1], "i4", tuple([x for _, _, order in factored for x in order]))
    return [_stacked(a.shape, a.dtype, [f for f, _, _ in factored]), pivots, order]


def _lu_one(low: Lowering, a: Matrix) -> tuple[Matrix, list[Node], list[Node]]:
    """Rows exchanged for the largest pivot, by selection; the factors in one matrix, pivots, and the order of rows."""
    k, n = low.k, len(a)
    a = [list(row) for row in a]
    order = [k.constant(i, "i4") for i in range(n)]
    pivots = []
    for c in range(n):
        best, where = k("abs", a[c][c]), k.constant(c, "i4")
        for i in range(c + 1, n):
            size = k("abs", a[i][c])
            larger = k("lt", best, size)
            best, where = k("select", larger, size, best), k("select", larger, k.constant(i, "i4"), where)
        pivots.append(where)
        for i in range(c + 1, n):
            here = k("eq", where, k.constant(i, "i4"))
            pairs = [(k("select", here, y, x), k("select", here, x, y)) for x, y in zip(a[c], a[i], strict=True)]
            a[c], a[i] = [p for p, _ in pairs], [q for _, q in pairs]
            order[c], order[i] = k("select", here, order[i], order[c]), k("select", here, order[c], order[i])
        divisor = k("select", k("eq", a[c][c], k.constant(0, a[c][c].dtype)), k.constant(1, a[c][c].dtype), a[c][c])
        for i in range(c + 1, n):
            a[i][c] = k("div", a[i][c], divisor)
            for j in range(c + 1, n):
                a[i][j] = k("sub", a[i][j], k("mul", a[i][c], a[c][j]))
    return a, pivots, order


def _pivots_to_permutation(low: Lowering, site: Site, pivots: Value) -> Value:
    shape, dtype = site.results[0]
    size = site.params["permutation_size"]
    nodes = low.scalars(pivots).nodes
    count = pivots.shape[-1]
    out: list[Node] = []
    for base in range(0, len(nodes), max(1, count)):
        order = [low.k.constant(i, dtype) for i in range(size)]
        for c in range(count):
            chosen = [low.k("eq", nodes[base + c], low.k.constant(i, dtype)) for i in range(size)]
            mine = order[c]
            for i in range(c + 1, size):
                order[c], order[i] = (
                    low.k("select", chosen[i], order[i], order[c]),
                    low.k("select", chosen[i], mine, order[i]),
                )
        out += order
    return Scalars(shape, dtype, tuple(out))


def _tridiagonal_solve(low: Lowering, site: Site, lower: Value, main: Value, upper: Value, b: Value) -> Value:
    n = b.shape[-2]
    bands = [low.scalars(x).nodes for x in (lower, main, upper)]
    right = _matrices(low, b)
    out = []
    for m, matrix in enumerate(right):
        dl, d, du = (list(band[m * n : (m + 1) * n]) for band in bands)
        out.append(_tridiagonal_one(low, dl, d, du, matrix))
    return _stacked(b.shape, b.dtype, out)


def _tridiagonal_one(low: Lowering, dl: list[Node], d: list[Node], du: list[Node], b: Matrix) -> Matrix:
    """Elimination with exchange of neighbouring rows; dl[i] stands left of d[i], du[i] right of it."""
    k, n = low.k, len(d)
    zero = k.constant(0, d[0].dtype)
    far = [zero] * n
    b = [list(row) for row in b]
    for i in range(n - 1):
        swap = k("lt", k("abs", d[i]), k("abs", dl[i + 1]))
        top = [
            k("select", swap, x, y)
            for x, y in zip([dl[i + 1], d[i + 1], du[i + 1]], [d[i], du[i], far[i]], strict=True)
        ]
        low_row = [
            k("select", swap, x, y)
            for x, y in zip([d[i], du[i], far[i]], [dl[i + 1], d[i + 1], du[i + 1]], strict=True)
        ]
        factor = k("div", low_row[0], top[0])
        d[i], du[i], far[i] = top
        d[i + 1], du[i + 1] = (k("sub", low_row[j], k("mul", factor, top[j])) for j in (1, 2))
        rows = [(k("select", swap, x, y), k("select", swap, y, x)) for x, y in zip(b[i + 1], b[i], strict=True)]
        b[i] = [x for x, _ in rows]
        b[i + 1] = [k("sub", y, k("mul", factor, x)) for x, y in rows]
    for i in range(n - 1, -1, -1):
        for c in range(len(b[i])):
            known = [k("mul", band[i], b[i + s][c]) for band, s in ((du, 1), (far, 2)) if i + s < n]
            b[i][c] = k("div", k("sub", b[i][c], k.sum(known, b[i][c].dtype)), d[i])
    return b


RULES: Final[dict[str, Any]] = {
    "cholesky": _cholesky,
    "triangular_solve": _triangular_solve,
    "lu": _lu,
    "lu_pivots_to_permutation": _pivots_to_permutation,
    "tridiagonal_solve": _tridiagonal_solve,
}

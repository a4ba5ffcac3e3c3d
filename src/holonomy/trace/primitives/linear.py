"""Small dense linear algebra: factorisations and solves, written out when small, as loops over memory when not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..values import Scalars, Value

if TYPE_CHECKING:
    from ..lower import Lowering, Site


def _linear_solve(low: Lowering, site: Site, *values: Value) -> list[Value]:
    """custom_linear_solve: run the solver it carries."""
    lengths, jaxprs = site.params["const_lengths"], site.params["jaxprs"]
    before = lengths.matvec + lengths.vecmat
    constants = values[before : before + lengths.solve]
    right = values[before + lengths.solve + lengths.transpose_solve :]
    return low.closed(jaxprs.solve, [*constants, *right])


def _cholesky(low: Lowering, site: Site, a: Value) -> Value:
    k = low.k
    a = low.scalars(a)
    n = a.shape[-1]
    zero = k.constant(0, a.dtype)
    out = []
    for base in range(0, a.size, n * n):
        l = [[zero] * n for _ in range(n)]
        for j in range(n):
            square = k("sub", a.nodes[base + j * n + j], k.sum([k("mul", l[j][m], l[j][m]) for m in range(j)], a.dtype))
            l[j][j] = k("sqrt", square)
            for i in range(j + 1, n):
                dot = k.sum([k("mul", l[i][m], l[j][m]) for m in range(j)], a.dtype)
                l[i][j] = k("div", k("sub", a.nodes[base + i * n + j], dot), l[j][j])
        out += [x for row in l for x in row]
    return Scalars(a.shape, a.dtype, tuple(out))


def _triangular_solve(low: Lowering, site: Site, a: Value, b: Value) -> Value:
    p, k = site.params, low.k
    a, b = low.scalars(a), low.scalars(b)
    n, rows, columns = a.shape[-1], b.shape[-2], b.shape[-1]
    flip = p["transpose_a"] != (not p["left_side"])
    lower = p["lower"] != flip
    order = range(n) if lower else range(n - 1, -1, -1)
    out = list(b.nodes)
    for matrix in range(a.size // (n * n) if n else 0):
        base = matrix * n * n

        def entry(i: int, j: int, base: int = base) -> Any:
            return a.nodes[base + (j * n + i if flip else i * n + j)]

        for c in range(columns if p["left_side"] else rows):
            spot = [matrix * rows * columns + (i * columns + c if p["left_side"] else c * columns + i) for i in range(n)]
            for i in order:
                known = range(i) if lower else range(i + 1, n)
                dot = k.sum([k("mul", entry(i, j), out[spot[j]]) for j in known], a.dtype)
                rest = k("sub", out[spot[i]], dot)
                out[spot[i]] = rest if p["unit_diagonal"] else k("div", rest, entry(i, i))
    return Scalars(b.shape, b.dtype, tuple(out))


RULES: Final[dict[str, Any]] = {
    "custom_linear_solve": _linear_solve,
    "cholesky": _cholesky,
    "triangular_solve": _triangular_solve,
}

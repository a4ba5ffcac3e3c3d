"""Sparse elimination against dense solves, on graphs of all kinds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from holonomy.systems.elimination import eliminate
from holonomy.systems.elimination_order import REST
from holonomy.systems.tridiagonal import Tridiagonal
from holonomy.trace.lowering.limits import ARRAYS
from holonomy.trace.native import compiler

_N = 60
_GRAPHS = {
    "chain": [(i, i + 1) for i in range(_N - 1)],
    "tree whose children touch": [(i, (i - 1) // 2) for i in range(1, _N)]
    + [(2 * i + 1, 2 * i + 2) for i in range((_N - 1) // 2)],
    "grid": [(i, i + 1) for i in range(_N - 1)] + [(i, i + 10) for i in range(_N - 10)],
    "band that fills up": [(i, i + k) for k in (1, 2, 3, 8) for i in range(_N - k)],
    "random": np.random.default_rng(5).integers(0, _N, (100, 2)).tolist(),
    "no entries": [],
}


@jax.jit
def _both(plan, diagonal, forth, back, b):
    return plan.solve(plan.factor(diagonal, forth), b), plan.solve(plan.factor_general(diagonal, forth, back), b)


@pytest.mark.parametrize("name", _GRAPHS)
def test_solutions_are_those_of_dense_matrices(name):
    pairs = np.array(sorted({tuple(sorted(p)) for p in _GRAPHS[name] if p[0] != p[1]}), dtype=int).reshape(-1, 2)
    pairs = np.where(np.arange(len(pairs))[:, None] % 2, pairs, pairs[:, ::-1])  # in either order
    rng = np.random.default_rng(0)
    forth, back, b = rng.standard_normal(len(pairs)), rng.standard_normal(len(pairs)), rng.standard_normal(_N)
    one, other = np.zeros((_N, _N)), np.zeros((_N, _N))
    one[pairs[:, 0], pairs[:, 1]] = one[pairs[:, 1], pairs[:, 0]] = forth
    other[pairs[:, 0], pairs[:, 1]], other[pairs[:, 1], pairs[:, 0]] = forth, back
    diagonal = 1.0 + np.maximum(np.abs(one).sum(axis=1), np.abs(other).sum(axis=1))
    found = _both(eliminate(_N, pairs), diagonal, forth, back, b)
    for matrix, x in zip((one, other), found, strict=True):
        np.testing.assert_allclose(x, np.linalg.solve(matrix + np.diag(diagonal), b), rtol=0, atol=1e-14)


def test_chains_take_few_levels_and_little_memory():
    """Every second unknown at a time: the number of levels is the logarithm, the tables grow like the chain."""
    for size in (1000, 4000):
        plan = eliminate(size, np.stack([np.arange(size - 1), np.arange(1, size)], axis=1))
        assert plan.levels <= np.ceil(np.log2(size / REST))
        assert plan.widest <= REST
        assert sum(x.size for x in jax.tree.leaves(plan)) < 65 * size


def test_dependent_rows_are_told_apart():
    """Of three rows with r2 = r0 + r1 the last pivot vanishes; those of independent ones do not."""
    rows = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [1.6, 0.8, 0.0]])
    gram = rows @ rows.T
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    plan, entries = eliminate(3, pairs), jnp.asarray(gram[pairs[:, 0], pairs[:, 1]])
    assert not float(plan.factor(jnp.diagonal(gram), entries).least) > 1e-12
    assert float(plan.factor(jnp.diagonal(gram) + jnp.array([0.0, 0.0, 0.1]), entries).least) > 1e-3


@pytest.mark.parametrize("size", [1, 2, 9, 16])
def test_tridiagonal_matrices(size):
    """Solutions against a dense matrix, and pivots of cyclic reduction against those of a dense elimination in its
    order, by Schur complements."""
    rng = np.random.default_rng(size)
    forth, back, b = rng.standard_normal(size - 1), rng.standard_normal(size - 1), rng.standard_normal(size)
    diagonal = 4.0 + rng.random(size)
    one = Tridiagonal(*(jnp.asarray(x) for x in (diagonal, forth, back)))
    dense = np.diag(diagonal) + np.diag(forth, 1) + np.diag(back, -1)
    np.testing.assert_allclose(one.solve(jnp.asarray(b)), np.linalg.solve(dense, b), rtol=0, atol=1e-14)
    pivots, left, matrix = np.zeros(size), np.arange(size), dense
    while len(left):
        goes, stays = np.arange(0, len(left), 2) if len(left) > 1 else np.array([0]), np.arange(1, len(left), 2)
        pivots[left[goes]] = np.diagonal(matrix)[goes]
        out = matrix[np.ix_(stays, goes)] @ np.linalg.solve(matrix[np.ix_(goes, goes)], matrix[np.ix_(goes, stays)])
        matrix, left = matrix[np.ix_(stays, stays)] - out, left[stays]
    np.testing.assert_allclose(one.independence, pivots / diagonal, rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", [33, 34, 101, 640])
def test_native_code_eliminates_from_both_ends(size):
    """Solutions against dense ones, with one and with two rows in the middle; pivots against cyclic reduction by sign,
    of a definite matrix and of one whose last row is not."""
    rng = np.random.default_rng(size)
    forth, back, b = rng.standard_normal(size - 1), rng.standard_normal(size - 1), rng.standard_normal(size)
    beside = np.maximum(np.abs(np.append(forth, 0.0)), np.abs(np.append(back, 0.0)))
    d = 1.0 + beside + np.append(0.0, beside[:-1])

    def both(d, forth, back, b):
        matrix = Tridiagonal(d, forth, back)
        found = matrix.factor()
        assert not isinstance(found, Tridiagonal)
        even = Tridiagonal(d, 0.5 * forth, 0.5 * forth)
        return matrix.solve(b), found.solve(found.solve(b)), even.independence, even.least

    native = compiler.compile(both, (d, forth, back, b), limits=ARRAYS)
    dense = np.diag(d) + np.diag(forth, 1) + np.diag(back, -1)
    once, twice, independence, _ = native(d, forth, back, b)
    np.testing.assert_allclose(once, np.linalg.solve(dense, b), rtol=0, atol=1e-14)
    np.testing.assert_allclose(twice, np.linalg.solve(dense, np.linalg.solve(dense, b)), rtol=0, atol=1e-14)
    assert np.all(independence > 0)
    lost = np.append(d[:-1], 1e-3 * 0.25 * forth[-1] ** 2 / d[-2])
    assert not native(lost, forth, back, b)[3] > 0
    assert not jax.jit(lambda *given: Tridiagonal(*given).least)(lost, 0.5 * forth, 0.5 * forth) > 0

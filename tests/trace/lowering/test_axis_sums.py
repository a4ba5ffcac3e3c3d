"""Sums over one axis and products of matrices with few vectors: against XLA, and in how many loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from tests.trace.compare import check

from holonomy.trace.form import Form
from holonomy.trace.jaxpr import traced
from holonomy.trace.lowering.limits import ARRAYS
from holonomy.trace.lowering.statements import Loop, Plan, Unsupported
from holonomy.trace.native import compiler, machine
from holonomy.trace.native.module import module

LIMITS = (ARRAYS, replace(ARRAYS, scalars=1, carried=1))
R = np.random.default_rng(4)
K = R.normal(size=(53, 41))
S = R.normal(size=(50, 50))


def plan_of(function: Any, *args: Any) -> Plan:
    jaxpr, _ = traced(function, args)
    return compiler.lower(jaxpr, Form(jaxpr), ARRAYS)


def nests(function: Any, *args: Any) -> int:
    """How many loops over rows hold loops over columns: one for each pass through a matrix, but for the last rows."""
    loops = [s for s in plan_of(function, *args).root.statements if isinstance(s, Loop)]
    return sum(any(isinstance(s, Loop) for s in loop.block.statements) for loop in loops)


def quadratic(x: Any) -> Any:
    return 0.5 * x @ (jnp.asarray(S) @ x)


def distances(x: Any) -> Any:
    """The energy of all pairs, by products of matrices."""
    squares = jnp.sum(x * x, 1)
    r2 = squares[:, None] + squares[None] - 2 * x @ x.T
    return -0.5 * jnp.sum(1 / jnp.sqrt(r2 + 0.05))


def pairs(x: Any) -> Any:
    d = x[:, None] - x[None]
    return jnp.sum(jnp.sqrt(jnp.sum(d * d, -1) + 0.1))


def edged(x: Any) -> Any:
    """A matrix that is computed otherwise at its edges, summed over rows and over columns."""
    a = jnp.pad(jnp.concatenate([x, 2.0 * x[:, :7]], axis=1), ((3, 2), (1, 4)), constant_values=0.5)
    a = jnp.concatenate([a[:5], jnp.sin(a[5:])])
    return a.sum(0), a.sum(1), a @ jnp.arange(a.shape[1], dtype=float), jnp.arange(a.shape[0], dtype=float) @ a


PRODUCTS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "matrix vector": (lambda k, x: k @ x, (K, K[0])),
    "vector matrix": (lambda k, x: x @ k, (K, K[:, 0])),
    "both ways": (lambda k, x, y: (k @ x, y @ k), (K, K[0], K[:, 0])),
    "few vectors": (lambda k, x, y: (k @ x, y @ k, y @ k @ x), (K, K[:3].T, K[:, :2].T)),
    "vectors as columns": (lambda k, x, y: (k @ x.T, y.T @ k), (K, K[:3], K[:, :2])),
    "many vectors": (lambda k, x, y: (k @ x, y @ k), (K, R.normal(size=(41, 11)), R.normal(size=(13, 53)))),
    "short products": (lambda k, x: jnp.sqrt(1 + (k @ x.T) ** 2).sum(0), (K[:, :10], R.normal(size=(31, 10)))),
    "sums": (lambda k: (k.sum(0), k.sum(1), (k * k).sum(0)), (K,)),
    "sums that are taken away": (lambda k: (-k).sum(0) - (-k).sum(1)[:41], (K,)),
    "three axes": (lambda x: (x.sum(0), x.sum(1)), (R.normal(size=(13, 10, 3)),)),
    "one after the other": (lambda k, x: jnp.abs(x @ k) @ k.T, (K, K[:, 0])),
    "in a loop": (lambda s, x: lax.fori_loop(0, 9, lambda _, x: s @ x / 7, x), (S, S[0])),
    "quadratic": (jax.grad(quadratic), (S[0],)),
    "distances": (jax.grad(distances), (R.normal(size=(23, 3)),)),
    "pairs": (jax.grad(pairs), (R.normal(size=(30, 3)),)),
    "edges": (edged, (K,)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_against_xla(name: str) -> None:
    function, args = PRODUCTS[name]
    check(function, args, limits=LIMITS)


def test_a_matrix_is_gone_through_once_for_both_products() -> None:
    assert nests(lambda k, x, y: (k @ x, y @ k), K, K[0], K[:, 0]) == 1
    assert nests(jax.grad(quadratic), S[0]) == 1
    assert nests(lambda k, x: (k @ x) @ k, K, K[0]) == 2  # the second needs the first


def test_what_xla_multiplies_faster_is_left_to_it() -> None:
    many = np.ones((20, 10, 12)), np.ones((20, 12))
    for function, args in ((lambda k, x: jnp.einsum("bij,bj->bi", k, x), many), (lambda k, x: k @ x, (K, K.T))):
        with pytest.raises(Unsupported, match="left to XLA"):
            compiler.compile(function, args, limits=ARRAYS)


def test_products_vectorise() -> None:
    """All accumulations, of sums that are taken away too, allow LLVM to add in vectors."""
    plan = plan_of(lambda k, x: -(k @ x) - k.sum(1), K, K[0])
    text, _ = module(plan, machine.vector_width())
    assert text.count("fadd reassoc") + text.count("fsub reassoc") >= 8
    taken = plan_of(lambda k: (-k).sum(1), K)
    assert "fsub reassoc" in module(taken, machine.vector_width())[0]


def test_products_are_the_same_every_time() -> None:
    for function, args in PRODUCTS.values():
        first = compiler.compile(function, args, limits=ARRAYS)(*args)
        again = compiler.compile(function, args, limits=ARRAYS)(*args)
        for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(again), strict=True):
            np.testing.assert_array_equal(a, b)

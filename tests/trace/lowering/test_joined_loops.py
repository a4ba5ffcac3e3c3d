"""Reductions that share loops, short loops written out, results computed in their place: against XLA, and in number."""

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
from holonomy.trace.lowering.statements import Block, Branch, Loop
from holonomy.trace.native import compiler
from holonomy.trace.repeat import each

ALL = replace(ARRAYS, scalars=1, carried=1)
X = np.random.default_rng(0).normal(size=(2, 50))


def loops(function: Any, *args: Any) -> int:
    """How many innermost loops over many elements the lowered function has."""

    def count(block: Block) -> int:
        total = 0
        for statement in block.statements:
            if isinstance(statement, Loop):
                total += count(statement.block) or 1
            elif isinstance(statement, Branch):
                total += sum(map(count, statement.blocks))
        return total

    jaxpr, _ = traced(function, args)
    return count(compiler.lower(jaxpr, Form(jaxpr), ARRAYS).root)


def sizes(x: Any) -> Any:
    """Largest entries and sums of what one loop can compute, though each is used before the next is asked for."""
    y = jnp.cos(x) * x
    largest = jnp.max(jnp.abs(y))
    total = jnp.sum(y) / largest
    fine = jnp.all(jnp.isfinite(y)) & (total > 0)
    return largest, jnp.where(fine, jnp.min(y), 0.0), jnp.any(y > 1.0)


def normed(x: Any) -> Any:
    """The second sum needs the first, so that they cannot share a loop."""
    first = jnp.sum(x * x)
    return jnp.sum(jnp.abs(x - first)), first


def test_reductions_of_one_shape_share_a_loop() -> None:
    check(sizes, (X,), limits=(ALL, ARRAYS))
    check(normed, (X,), limits=(ALL, ARRAYS))
    assert loops(sizes, np.zeros(1000)) == 1  # and the procedure that computes all cosines
    assert loops(normed, np.zeros(1000)) == 2
    many = lambda x: [jnp.max(x**k) for k in range(1, 20)]  # noqa: E731
    check(many, (X,), limits=(ARRAYS,))
    assert loops(many, np.zeros(1000)) == 3  # eight at a time


def test_many_reductions_do_not_hold_all_that_they_read() -> None:
    """Forty arrays of sines, which are kept in memory, each added up: a few are there at a time."""

    def added(x: Any) -> Any:
        total = 0.0
        for k in range(40):
            total = total + jnp.sum(jnp.sin(x * k) ** 2)
        return total

    x = np.linspace(0.0, 1.0, 1000)
    check(added, (x,), limits=(ARRAYS,))
    jaxpr, _ = traced(added, (x,))
    assert compiler._written(jaxpr, Form(jaxpr), (ARRAYS,))[1] <= 30 * x.nbytes


@pytest.mark.parametrize("shape", [(0,), (1,), (17,), (3, 30)])
def test_reductions_of_odd_sizes(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    check(lambda y: (jnp.sum(y), jnp.prod(1 + y), jnp.all(y > -9), jnp.sum(y * y)), (x,), limits=(ALL, ARRAYS))
    wrong = np.full(40, np.nan)
    check(lambda y: (jnp.max(y), jnp.min(y), jnp.sum(y), jnp.all(y == y)), (wrong,), limits=(ARRAYS,))


def gather(function: Any, *rows: Any, reverse: bool = False) -> Any:
    return lax.scan(lambda _, row: (None, function(*row)), None, rows, unroll=True, reverse=reverse)[1]


def test_short_loops_over_rows_are_written_out() -> None:
    """As `each` makes them: with scalars beside the rows, backwards, with a loop variable, in derivatives."""
    t = np.array([0.5, -1.5])

    def slopes(s: Any, y: Any) -> Any:
        return s * jnp.sin(y[1:]), jnp.sum(y * s), y[::-1]

    check(lambda t, x: gather(slopes, t, x), (t, X), limits=(ALL, ARRAYS))
    check(lambda t, x: gather(slopes, t, x + x[::-1], reverse=True), (t, X), limits=(ALL, ARRAYS))

    def running(x: Any) -> Any:
        return lax.scan(lambda c, row: (jnp.cos(c + row), c * row), x[0], x, unroll=True, reverse=True)

    check(lambda x: running(jnp.tile(x, (3, 1))), (X,), limits=(ALL,))
    check(jax.grad(lambda x: jnp.sum(running(x)[1] ** 2)), (X,), limits=(ALL,))
    one = lambda x: each(lambda row: (row[1:] - row[:-1]) ** 2, x)  # noqa: E731
    assert loops(lambda x: gather(lambda row: (row[1:] - row[:-1]) ** 2, x), np.zeros((3, 100))) == 3
    check(one, (X,), limits=(ARRAYS,))


def test_results_are_computed_in_their_place() -> None:
    """Whatever shares memory with what: the same array twice, an argument, an array and what it was made from."""

    def program(x: Any, n: Any) -> Any:
        a, b = lax.fori_loop(0, n, lambda _, now: (now[1] * 0.5, now[0] + 1.0), (x, x))
        c = jnp.cumsum(a, axis=1)
        return {"twice": (a, a), "given": x, "sum": c, "turned": a[:, ::-1], "reshaped": a.reshape(-1), "b": b}

    for n in (0, 1, 4):
        check(program, (X, n), limits=(ALL, ARRAYS, None))
    code = compiler.compile(program, (X, 2), limits=ARRAYS)
    found, given = code(X, 2), X.copy()
    for array in jax.tree.leaves(found):
        array[...] = 0.0  # neither other results nor the arguments
        code(X, 2)
    np.testing.assert_array_equal(given, X)
    again = code(X, 2)
    assert not np.shares_memory(again["twice"][0], again["twice"][1])


def test_loops_that_begin_with_one_array_twice() -> None:
    """And with arrays that are only computed at the beginning; the first of them may take over the memory."""

    def program(x: Any, n: Any) -> Any:
        def turn(_: Any, now: Any) -> Any:
            a, b, c = lax.fori_loop(0, 2, lambda _, k: (k[1], k[0] + k[2], k[2] * 0.5), (now[0], now[0], now[1]))
            return a, b - c

        return lax.fori_loop(0, n, turn, (x * 2.0, jnp.zeros_like(x) + 0.25))

    for n in (0, 1, 5):
        check(program, (X, n), limits=(ALL, ARRAYS))


def test_selections_between_one_array_are_that_array() -> None:
    program = lambda x: (jnp.where(x[0, 0] > 0, x, x), jnp.where(x > 0, x, -x))  # noqa: E731
    check(program, (X,), limits=(ALL, ARRAYS))

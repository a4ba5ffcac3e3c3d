"""Work on whole arrays that native code joins into loops: against XLA, at odd sizes, and its length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from tests.trace.compare import assert_same, check

from holonomy.trace.form import Form
from holonomy.trace.graph.dag import Graph
from holonomy.trace.jaxpr import traced
from holonomy.trace.lowering.arrays.index import Counter, Cut, Index, below
from holonomy.trace.lowering.limits import ARRAYS
from holonomy.trace.native import compiler

ALL = replace(ARRAYS, scalars=1, carried=1)

# Each takes an array of any shape with two dimensions to another one.
STEPS: dict[str, Any] = {
    "wave": jnp.sin,
    "turn": lambda x: x.T,
    "flip": lambda x: x[::-1],
    "ends": lambda x: jnp.pad(x, ((1, 2), (0, 1)), constant_values=0.5),
    "spread": lambda x: lax.pad(x, jnp.zeros((), x.dtype), ((0, 1, 1), (2, 0, 2))),
    "cut": lambda x: x[:, 1:] if x.shape[1] > 1 else x,
    "odd": lambda x: x[::2],
    "both": lambda x: jnp.concatenate([x, 2.0 - x, x[:1]], axis=0),
    "rows": lambda x: jnp.stack([x, x * x], axis=1).reshape(-1, x.shape[1]),
    "flat": lambda x: x.reshape(1, -1),
    "fold": lambda x: x.reshape(x.size // 2, 2) if x.size % 2 == 0 else x,
    "sums": lambda x: x - jnp.sum(x, axis=1, keepdims=True) / (1 + x.shape[1]),
    "columns": lambda x: x * 0.5 + jnp.max(x, axis=0, keepdims=True),
    "differences": lambda x: jnp.diff(x, axis=0, append=0.0),
    "running": lambda x: jnp.cumsum(x, axis=0) / x.shape[0],
    "choice": lambda x: jnp.where(x > 0.2, x, 0.1 * x - 1.0),
    "product": lambda x: x @ jnp.ones((x.shape[1], 2)) / x.shape[1],
    "wider": lambda x: jnp.arctan(x[:, :1] - x[:1]),
    "picked": lambda x: x[np.arange(x.shape[0])[::-1] // 2],
    "counted": lambda x: x + 0.01 * lax.broadcasted_iota(x.dtype, x.shape, 1),
}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    shape=st.tuples(st.integers(1, 7), st.integers(1, 7)), names=st.lists(st.sampled_from(sorted(STEPS)), max_size=6)
)
def test_random_programs_agree_with_xla(shape: tuple[int, int], names: list[str]) -> None:
    """Values of a chain of operations, and the gradient of their sum, which pads and adds in turn."""

    def program(x: Any) -> Any:
        for name in names:
            x = STEPS[name](x)
        return x

    def both(x: Any) -> Any:
        return program(x), jax.grad(lambda y: jnp.sum(jnp.cos(program(y))))(x)

    x = np.random.default_rng(len(names)).normal(size=shape)
    assert_same(compiler.compile(both, (x,), limits=ALL)(x), both(x), 1e-12)


def lattice(x: Any) -> Any:
    springs = jnp.sum((x[1:] - x[:-1]) ** 2) + jnp.sum((x[:, 1:] - x[:, :-1]) ** 2)
    return 0.5 * springs + 0.25 * jnp.sum(x**4) + jnp.sum(jnp.cos(x))


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (1, 1), (1, 40), (40, 1), (2, 33), (7, 65)])
def test_sizes_at_which_parts_of_arrays_vanish(shape: tuple[int, int]) -> None:
    """The gradient has an inside and edges; some have no elements at all."""
    x = np.random.default_rng(3).normal(size=shape)
    check(lambda y: (lattice(y), jax.grad(lattice)(y), y.reshape(-1)[::2]), (x,), limits=(ALL, ARRAYS))


def stepped(q: Any, v: Any, n: Any) -> Any:
    """Steps whose arrays are changed in place, by what lies beside an element and by what another array has there."""

    def step(_: Any, now: Any) -> Any:
        q, v, _ = now
        force = -jax.grad(lattice)(q)
        return q + 0.1 * (v + 0.1 * force), v[::-1] + 0.1 * force, q

    return lax.fori_loop(0, n, step, (q, v, q))


def test_arrays_changed_in_place_by_what_lies_beside() -> None:
    q, v = np.random.default_rng(5).normal(size=(2, 9, 11))
    check(stepped, (q, v, 5), limits=(ALL, ARRAYS))


def test_a_loop_reads_the_same_constant_in_every_turn() -> None:
    """One that was computed for the loop alone, and that the body reads before it needs memory of that size."""

    def looped(x: Any) -> Any:
        fixed = x[::-1]

        def turn(y: Any, n: Any) -> Any:
            inner = lax.while_loop(lambda now: now[0] < n % 2, lambda now: (now[0] + 1, jnp.sin(now[1])), (0, fixed))
            return 0.5 * inner[1], (2.0 * y) @ inner[1]

        return lax.scan(turn, fixed, jnp.arange(6))

    check(looped, (np.random.default_rng(7).normal(size=(8, 8)),), limits=(ALL, ARRAYS))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 0)])
@pytest.mark.parametrize("axis", [0, 1])
def test_running_sums_and_orders_of_nothing(shape: tuple[int, int], axis: int) -> None:
    def empty(x: Any) -> Any:
        return jnp.cumsum(x, axis), lax.cummax(x, axis, reverse=True), jnp.sort(x, axis), jnp.argsort(x, axis)

    check(empty, (np.zeros(shape),), limits=(None, ALL))


def test_the_code_does_not_grow_with_the_arrays() -> None:
    """As many lines for a thousand numbers as for a million, and few arrays beside those of the state."""
    found = []
    for m in (30, 1000):
        jaxpr, _ = traced(stepped, [np.zeros((m, m)), np.zeros((m, m)), 3])
        text, scratch, _ = compiler._written(jaxpr, Form(jaxpr), (ARRAYS,))
        found.append(text.count("\n"))
        assert scratch <= 12 * 8 * m * m
    assert found[0] == found[1] < 1500


@pytest.mark.parametrize("rows", [1, 2])
def test_the_code_does_not_grow_with_the_rows_of_a_short_scan(rows: int) -> None:
    """One row is not taken apart either, as the only stage of an implicit step."""
    found = []
    for n in (300, 9000):

        def scanned(x: Any) -> Any:
            return lax.scan(lambda c, row: (c + jnp.sum(row), jnp.cos(row) * row), 0.0, x, unroll=True)

        check(scanned, (np.linspace(0.0, 1.0, rows * n).reshape(rows, n),), limits=(None, ARRAYS))
        jaxpr, _ = traced(scanned, [np.zeros((rows, n))])
        found.append(compiler._written(jaxpr, Form(jaxpr), (ARRAYS,))[0].count("\n"))
    assert found[0] == found[1] < 500


def test_long_sums_do_not_depend_on_the_run() -> None:
    x = np.random.default_rng(6).normal(size=10_001)
    code = compiler.compile(lambda y: (jnp.sum(y), jnp.sum(y * y), jnp.max(y), y @ y), (x,), limits=ARRAYS)
    assert [a.tobytes() for a in code(x)] == [a.tobytes() for a in code(x)]
    np.testing.assert_allclose(code(x), [x.sum(), (x * x).sum(), x.max(), x @ x], rtol=1e-13)


def test_a_box_is_divided_where_a_comparison_turns() -> None:
    """On either side of the cut the comparison is decided, whatever the sign of the factor."""
    for factor in (-3, -1, 1, 2, 5):
        for constant in range(-12, 13):
            counter = Counter(Graph().variable("i8"), 0, 9)
            index = Index(constant, ((counter, factor),))
            values = [constant + factor * i < 4 for i in range(10)]
            if len(set(values)) == 1:
                assert below(index, 4) is values[0]
                continue
            with pytest.raises(Cut) as cut:
                below(index, 4)
            assert len(set(values[: cut.value.at])) == len(set(values[cut.value.at :])) == 1


def test_scans_compute_the_rows_that_they_take() -> None:
    """Rows that are products, turned round, or at the seams of joined arrays: in the loop, or in memory before it."""

    def program(x: Any) -> Any:
        def turn(carry: Any, rows: Any) -> Any:
            both, wide = rows
            new = 0.5 * carry + both[0] - both[1] * wide
            return new, (new, both)

        pairs = jnp.stack([x * x, (x[::-1] - x) * 0.5], axis=1)
        wide = jnp.concatenate([x[: x.size // 3], jnp.pad(x[x.size // 3 :] + 1.0, (0, 0))])
        return lax.scan(turn, jnp.zeros(()), (pairs, wide), reverse=True)

    x = np.random.default_rng(4).normal(size=77)
    check(program, (x,), limits=(ARRAYS, ALL))

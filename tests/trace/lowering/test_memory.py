"""Arrays that stay in memory, and the ways in which reuse of memory could go wrong."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from tests.trace import compare

from holonomy.trace.lowering.limits import ARRAYS


def check(function: Any, args: Any) -> None:
    """In loops over memory, and in loops over arrays that join operations."""
    compare.check(function, args, limits=(None, ARRAYS))


BIG = np.sin(np.arange(5000.0)).reshape(50, 100)


def whole_arrays(x: Any) -> Any:
    y = jnp.where(x > 0, jnp.sin(x), x * 2)
    return (
        y,
        y.sum(0),
        y.T[3],
        jnp.max(y),
        y.reshape(100, 50)[::2, 1:],
        jnp.concatenate([y[:2], x]),
        y @ y.T,
        jnp.pad(y[:, :60], 1),
        jnp.argmin(y, 1),
        y[:, None, ::9] * x[None, :5, ::9].sum(),
        jnp.broadcast_to(x[0], (60, 100)),
        jnp.arange(5000) * 2,
        jnp.zeros((70, 70)).at[3].set(1.5),
        y[jnp.arange(0, 50, 3)],
        x.at[jnp.arange(0, 50, 5)].add(y[:10]),
        jnp.tile(x, (2, 1)),
        jnp.stack([x, y]),
        x.astype(jnp.float32),
        (x > 0).any(),
        lax.rev(x, (1,)),
        jnp.cumsum(x, 0),
        lax.cummax(x, 1, reverse=True),
    )


def test_operations_on_whole_arrays() -> None:
    compare.check(whole_arrays, (BIG,))


def recorded(x: Any, rows: Any) -> Any:
    """Rows of a buffer written in a loop, some of them only sometimes, as motion does."""

    def body(state: Any) -> Any:
        k, y, saved, marks = state
        y = y + 0.1 * jnp.cos(y)
        saved = saved.at[k].set(y)
        marks = lax.cond(y[0] > 1.0, lambda m: m.at[k].set(1.0), lambda m: m, marks)
        return k + 1, y, saved, marks

    first = (0, x, jnp.zeros((300, 3)), jnp.zeros(300))
    return lax.while_loop(lambda s: s[0] < rows, body, first)


def test_recording_in_a_loop() -> None:
    check(recorded, (np.array([0.3, 0.9, -0.5]), 211))


def kept_and_changed(x: Any, i: Any) -> Any:
    """The old array is still wanted after an element of a copy has changed."""
    y = jnp.sin(x)
    z = y.at[i].set(7.0)
    flat = z.reshape(-1)
    w = flat.at[3].set(-1.0)
    return y.sum(), z, flat[3], w, x.at[0].set(0.0), x


def test_old_arrays_survive_updates() -> None:
    check(kept_and_changed, (BIG, 4))


def exchanged(x: Any, y: Any, n: Any) -> Any:
    """Carries that change places, and one array in two places."""

    def body(i: Any, s: Any) -> Any:
        a, b, _ = s
        return b.at[i].add(1.0), a, b

    def twice(i: Any, s: Any) -> Any:
        a, b = s
        return a.at[i].set(b[0]), b.at[0].add(2.0)

    return lax.fori_loop(0, n, body, (x, y, x)), lax.fori_loop(0, n, twice, (x, x))


def test_carries_that_change_places() -> None:
    check(exchanged, (np.arange(300.0), np.arange(300.0) ** 2, 5))


def read_then_written(x: Any, n: Any) -> Any:
    """An element read before it is overwritten is used after."""

    def body(i: Any, s: Any) -> Any:
        old = s[i] * 1.0
        s = s.at[i].set(s[i + 1] + 1.0)
        return s.at[i + 1].set(old)

    return lax.fori_loop(0, n, body, x)


def test_reads_come_before_later_writes() -> None:
    check(read_then_written, (np.arange(300.0), 100))


def branches_of_arrays(x: Any, p: Any) -> Any:
    def change(a: Any) -> Any:
        return a.at[0].set(-5.0), a * 2

    def keep(a: Any) -> Any:
        return a, a + 1

    first, second = lax.cond(p > 0, change, keep, x)
    return first, second, x


@pytest.mark.parametrize("p", [1.0, -1.0])
def test_branches_that_give_arrays(p: float) -> None:
    check(branches_of_arrays, (BIG, p))


def nested(x: Any, n: Any) -> Any:
    def outer(i: Any, s: Any) -> Any:
        inner = lax.fori_loop(0, i, lambda j, a: a.at[j].add(x[i] * 0.5 + i), s)
        return lax.scan(lambda c, row: (c + row.sum(), c * row), inner, jnp.stack([inner, x]))[0]

    return lax.fori_loop(0, n, outer, x)


def test_loops_in_loops() -> None:
    check(nested, (np.linspace(0, 0.1, 300), 4))


def test_a_loop_that_never_runs_computes_nothing_harmful() -> None:
    def f(x: Any, n: Any, zero: Any) -> Any:
        return lax.fori_loop(0, n, lambda i, c: c + x // zero + i, x)

    check(f, (np.int64(7), np.int64(0), np.int64(0)))


def test_results_that_are_arguments_or_constants() -> None:
    check(lambda x, y: (x, x, y, jnp.zeros((40, 200)), jnp.asarray(BIG), 3.5 * jnp.ones(2)), (BIG, np.float64(2.5)))

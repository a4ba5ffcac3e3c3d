"""Rows side by side in XLA, one after another in native code: the same values, and short code for long rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.root_finding import derivatives_of_roots, implicit
from holonomy.trace.native.compiler import compile, described
from holonomy.trace.repeat import each, jacobian


def long_row(x):
    """Enough work that native code takes rows one after another."""
    for k in range(60):
        x = jnp.sin(x + k) + 0.1 * jnp.roll(x, 1) ** 2
    return x


ROWS = np.random.default_rng(0).normal(size=(7, 16))


@pytest.mark.parametrize("function", [jnp.cumsum, long_row])
def test_rows_one_by_one_are_those_side_by_side(function):
    native = compile(lambda x: each(function, x), (ROWS,))
    np.testing.assert_allclose(native(ROWS), jax.vmap(function)(ROWS), rtol=1e-13, atol=1e-13)


def test_long_rows_do_not_lengthen_the_code():
    few, many = (described(lambda x: each(long_row, x), (ROWS[:n],))[0].count("\n") for n in (3, 7))
    assert many < 1.2 * few  # written out it would be 7 / 3 times as long


def test_jacobian_is_that_of_jax():
    def function(x):
        return jnp.sin(jnp.cumsum(x)), x[0] * x[1]

    at = ROWS[0, :5]
    for found in (jacobian(function, jnp.asarray(at)), compile(lambda x: jacobian(function, x), (at,))(at)):
        for mine, theirs in zip(found, jax.jacfwd(function)(at), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def root_of(a):
    return implicit(lambda z: z * z - a, lambda z: (jnp.sqrt(a), jnp.bool_(True), jnp.int32(1)), a)[0]


def test_a_root_without_derivatives_refuses_to_be_differentiated():
    a = jnp.array([4.0])
    np.testing.assert_allclose(jax.jacfwd(root_of)(a), 0.25)
    with derivatives_of_roots(False), pytest.raises(Exception, match=r"value alone|Tracer|JVP"):
        jax.jacfwd(root_of)(a)


def test_a_loop_over_pairs_written_in_python_runs_natively():
    n = 5

    def in_a_loop(t, q, v):
        x = q.reshape(n, 3)
        pairs = [(i, j) for i in range(n) for j in range(i)]
        return 0.5 * jnp.dot(v, v) + sum(1 / jnp.sqrt(jnp.sum((x[i] - x[j]) ** 2) + 0.1) for i, j in pairs)

    def on_arrays(t, q, v):
        x = q.reshape(n, 3)
        squares = jnp.sum((x[:, None] - x[None]) ** 2, axis=-1)
        return 0.5 * jnp.dot(v, v) + 0.5 * jnp.sum(1 / jnp.sqrt(squares + 0.1))

    q, v = np.random.default_rng(1).normal(size=(2, 3 * n))
    runs = [
        hl.simulate(
            hl.System.from_lagrangian(lagrangian, coordinates=[f"x{i}" for i in range(3 * n)]),
            q, v, 0.1, dt=0.01, method=hl.Gauss(2), engine=engine,
        )
        for lagrangian, engine in ((in_a_loop, None), (on_arrays, "xla"))
    ]  # fmt: skip
    assert runs[0].certificate.engine.startswith("native")
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=1e-13, atol=1e-13)

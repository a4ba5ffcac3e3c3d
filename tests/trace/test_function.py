"""Traced functions as data: what their values depend on."""

import jax
import jax.numpy as jnp

from holonomy.trace.function import trace


def test_dependence_is_that_of_the_value():
    """By what is wired to what, but for powers that are 1: second derivatives of squares have them."""
    x = jax.ShapeDtypeStruct((), float)
    one = trace(lambda a, b: jax.lax.integer_pow(a, 0) * b, (x, x))
    assert [one.program.depends_on(k) for k in range(2)] == [False, True]
    square = trace(lambda a, b: jax.jvp(jax.grad(lambda v: 0.5 * v**2), (a,), (b,))[1], (x, x))
    assert [square.program.depends_on(k) for k in range(2)] == [False, True]
    cube = trace(lambda a, b: jnp.sin(a) * jax.lax.integer_pow(b, 2), (x, x))
    assert [cube.program.depends_on(k) for k in range(2)] == [True, True]

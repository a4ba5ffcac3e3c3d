"""Traced functions as data: what their values depend on."""

import jax
import jax.numpy as jnp
import numpy as np

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


def test_what_is_written_twice_is_computed_once():
    """Of the same slots and the same array; equal single numbers are not one, nor are prints."""
    x = jax.ShapeDtypeStruct((3,), float)

    def matrix(a):
        return jnp.array([[1.0, 2.3, 0.1], [0.0, 1.0, 0.7], [0.2, 0.0, 1.0]]) @ jnp.sin(a)  # a new array on each call

    once = trace(matrix, (x,))
    twice = trace(lambda a: (matrix(a), matrix(a)), (x,))
    assert twice.program.instructions == once.program.instructions
    assert len(twice.constants) == len(once.constants) == 1
    at = np.array([0.3, -1.2, 2.0])
    assert all(np.array_equal(part, once(at)) for part in twice(at))
    numbers = trace(lambda a: 1.7 * a + 1.7 * jnp.cos(a), (x,))
    others = trace(lambda a: 1.7 * a + 1.9 * jnp.cos(a), (x,))
    assert numbers.program is others.program

    def talking(a):
        jax.debug.print("{}", 1.0)
        jax.debug.print("{}", 1.0)
        return a

    said = [p.name for p, *_ in trace(talking, (x,)).program.instructions]
    assert len(said) == 2

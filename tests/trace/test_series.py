"""Taylor polynomials of graphs: every derivative against nested automatic differentiation."""

import math
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from holonomy.trace.graph.series import ring
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.taylor_polynomial import Expansion


def many_functions(x):
    """One row for each operation that has a series."""
    a, b = x[0], x[1]
    erf, erfc = jax.scipy.special.erf, jax.scipy.special.erfc
    rows = [
        jnp.sin(a) * jnp.cosh(b), jnp.tan(a) / b, jnp.arctan2(a, -b), a**b, a**3 - b ** (-2),
        jnp.exp2(a) + jnp.log1p(b), jnp.expm1(a * b), jnp.arcsin(a / 3) + jnp.arccos(b / 4), jnp.arctan(a * b),
        jnp.tanh(a) + jnp.arcsinh(b),
        jnp.arccosh(a + 2) + jnp.arctanh(b / 3), erf(a) + erfc(b), jnp.cbrt(-b) * jnp.abs(-a), jnp.sqrt(a + b) ** 3,
        jnp.where(a > b, a**3, b), jnp.maximum(a, b) * jnp.minimum(a, b) * jnp.sign(-a), jnp.sinh(a) * jnp.cos(b),
        jnp.log(a + b) * jnp.exp(-a), jnp.linalg.norm(x) * jnp.mod(a, 0.3),
    ]  # fmt: skip
    return jnp.stack(rows)


def test_derivatives_to_order_three_are_those_of_jax() -> None:
    at, order = np.array([0.7, 0.4]), 3
    (found,) = Expansion(many_functions, 2).at(at, order)
    slope = many_functions
    for _ in range(order):
        slope = jax.jacfwd(slope)
    expected = np.asarray(jax.jit(slope)(at))
    place = {tuple(p): k for k, p in enumerate(ring(2, order).powers.tolist())}
    for index in product(range(2), repeat=order):
        power = np.bincount(index, minlength=2)
        factor = math.prod(math.factorial(k) for k in power)
        np.testing.assert_allclose(
            found[:, place[tuple(power.tolist())]] * factor, expected[:, *index], rtol=1e-12, atol=1e-12
        )


def test_an_inverse_and_a_frame() -> None:
    of = ring(2, 5)
    (m,) = Expansion(lambda x: jnp.array([[2.0 + x[0], x[1]], [jnp.sin(x[0]), 1.0]]), 2).at(np.array([0.1, 0.2]), 5)
    np.testing.assert_allclose(of.matmul(m, of.inverse(m)), of.constant(np.eye(2)), atol=1e-13)
    (turned,) = Expansion(lambda x: x[0] * x[1], 2).at(np.zeros(2), 2, np.array([[1.0, 1.0], [1.0, -1.0]]))
    np.testing.assert_allclose(turned, [0, 0, 0, 1, 0, -1])  # (y1 + y2)(y1 - y2)


def test_what_has_no_series_is_said() -> None:
    with pytest.raises(Unsupported, match="lgamma"):
        Expansion(lambda x: jax.lax.lgamma(x[0]), 1).at(np.ones(1), 2)

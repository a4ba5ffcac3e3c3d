"""Body velocities in the charts of groups: against the chart's own derivative, and their derivatives by JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.spaces import left_translation

GROUPS = [hl.SO3(), hl.SE3(), hl.SE2(), hl.Product(hl.SO3(), hl.Euclidean(2)), hl.SO3() ** 2]


@pytest.mark.parametrize("space", GROUPS, ids=str)
@pytest.mark.parametrize("size", [0.0, 1e-9, 1.0])
def test_body_rate_is_the_velocity_of_the_chart(space, size):
    source = np.random.default_rng(3)
    y, w = jnp.asarray(size * source.normal(size=space.dim)), jnp.asarray(source.normal(size=space.dim))
    g = space.random(jax.random.key(1))
    x, v = jax.jvp(lambda z: space.chart(g, z), (y,), (w,))
    xi = left_translation.body_rate(space, y, w)
    np.testing.assert_allclose(left_translation.lift(space, x, xi), v, atol=3e-15)
    np.testing.assert_allclose(left_translation.chart_rate(space, y, xi), w, atol=3e-15)


def test_derivatives_on_so3_in_closed_form():
    space, source = hl.SO3(), np.random.default_rng(4)
    for size in (0.0, 1e-9, 1.0, 3.0):
        y, (w, mu) = jnp.asarray(size * source.normal(size=3)), map(jnp.asarray, source.normal(size=(2, 3)))

        def value(y, w, mu=mu):
            return jnp.dot(mu, left_translation.body_rate(space, y, w))

        at = left_translation.rate_matrices(space, y, w, mu)
        by_y, by_w = jax.jacfwd(lambda y, w: left_translation.body_rate(space, y, w), argnums=(0, 1))(y, w)
        (twice, _), (mixed, _) = jax.hessian(value, argnums=(0, 1))(y, w)
        for found, expected in zip(at, (by_w, by_y, mixed, twice), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-14)

"""Embedded surfaces: Gauss's equation against the metric alone, in several ambient spaces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from holonomy.geometry import Embedding, curvature

RADIUS = 2.0


def sphere(q):
    return RADIUS * jnp.stack([jnp.sin(q[0]) * jnp.cos(q[1]), jnp.sin(q[0]) * jnp.sin(q[1]), jnp.cos(q[0])])


def hyperboloid(q):
    return jnp.stack([q[0], q[1], q[2], jnp.sqrt(1.0 + q @ q)])


def hilly(q):
    """Two points of the plane, as a linkage has them: an array that is not a vector."""
    return jnp.stack([jnp.stack([jnp.cos(q[0]), q[1] ** 2]), jnp.stack([jnp.sin(q[0]) * q[1], q[0] + q[1]])])


WEIGHTS = np.array([[2.0, 0.3, 0, 0], [0.3, 1.0, 0, 0], [0, 0, 1.5, -0.2], [0, 0, -0.2, 3.0]])
CASES = [
    (Embedding(sphere), [0.7, 0.3]),
    (Embedding(hyperboloid, ambient=[1.0, 1.0, 1.0, -1.0]), [0.4, -0.2, 1.0]),
    (Embedding(hilly, ambient=WEIGHTS), [0.4, 0.9]),
]


@pytest.mark.parametrize(("e", "q"), CASES, ids=["sphere", "hyperboloid", "weighted"])
def test_gauss_equation_against_the_metric_alone(e: Embedding, q: list[float]) -> None:
    @jax.jit
    def all_of(q, u, v, w):
        return [
            (c.riemann(q), c.christoffel(q), c.scalar(q), c.sectional(q, u, v), c.operator(q, u, v, w))
            for c in (e.curvature, curvature(e.metric))
        ]

    u, v, w = np.random.default_rng(2).normal(size=(3, len(q)))
    for by_gauss, by_metric in zip(*all_of(jnp.asarray(q), u, v, w), strict=True):
        np.testing.assert_allclose(by_gauss, by_metric, rtol=1e-11, atol=1e-13)


def test_sphere() -> None:
    e, q = Embedding(sphere), jnp.array([0.7, 0.3])
    gaussian, bending, mean = jax.jit(lambda q: (e.curvature.gaussian(q), e.total_bending(q), e.mean(q)))(q)
    np.testing.assert_allclose(gaussian, 1 / RADIUS**2, rtol=1e-13)
    np.testing.assert_allclose(bending, 2 / RADIUS**2, rtol=1e-13)
    np.testing.assert_allclose(mean, -sphere(q) / RADIUS**2, rtol=1e-13)
    # the second fundamental form is -g/r times the outward normal
    expected = -np.asarray(e.metric(q))[..., None] * np.asarray(sphere(q)) / RADIUS**2
    np.testing.assert_allclose(e.second(q), expected, atol=1e-14)
    np.testing.assert_allclose(e.bending(q, q, q), np.einsum("abN,a,b->N", expected, q, q), atol=1e-14)


def test_hyperbolic_space_in_minkowski_space() -> None:
    e, q = CASES[1]
    np.testing.assert_allclose(e.curvature.ricci(jnp.asarray(q)), -2.0 * e.metric(jnp.asarray(q)), atol=1e-13)


def test_bad_ambient() -> None:
    with pytest.raises(ValueError, match="symmetric"):
        Embedding(sphere, ambient=np.triu(np.ones((3, 3))))
    with pytest.raises(ValueError, match="square"):
        Embedding(sphere, ambient=np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"3 numbers.*length 2"):
        Embedding(sphere, ambient=np.ones(2)).metric(jnp.ones(2))
    with pytest.raises(ValueError, match="not positive definite"):
        Embedding(sphere).second(jnp.zeros(2))

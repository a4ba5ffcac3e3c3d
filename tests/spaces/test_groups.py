"""The groups against jaxlie and against their own matrices; pictures and means."""

import jax
import jax.numpy as jnp
import jaxlie
import numpy as np
import pytest
import scipy.linalg

from holonomy.spaces import SE2, SE3, SO, SO3, Euclidean, Hyperbolic, Product, Sphere

PAIRS = [(SO3(), jaxlie.SO3), (SE2(), jaxlie.SE2), (SE3(), jaxlie.SE3)]


@pytest.mark.parametrize(("group", "peer"), PAIRS, ids=["SO3", "SE2", "SE3"])
def test_against_jaxlie(group, peer) -> None:
    @jax.jit
    def ours(g, h, xi):
        e = group.group_exp(xi)
        return group.compose(g, h), group.inverse(g), e, group.group_log(e), group.adjoint(g, xi), group.matrix(g)

    for seed, size in enumerate((1e-9, 0.1, 2.0)):
        a, b, c = jax.random.split(jax.random.PRNGKey(seed), 3)
        g, h = group.random(a), group.random(b)
        xi = size * jax.random.normal(c, (group.dim,)) / np.sqrt(group.dim)
        p, q = peer(g), peer(h)
        product, inverse, exp, log, adjoint, matrix = ours(g, h, xi)
        np.testing.assert_allclose(matrix, p.as_matrix(), atol=1e-14)
        np.testing.assert_allclose(group.matrix(product), (p @ q).as_matrix(), atol=1e-14)
        np.testing.assert_allclose(group.matrix(inverse), p.inverse().as_matrix(), atol=1e-14)
        np.testing.assert_allclose(group.matrix(exp), peer.exp(xi).as_matrix(), atol=1e-14)
        np.testing.assert_allclose(log, xi, atol=1e-14 * max(1.0, size))
        np.testing.assert_allclose(adjoint, p.adjoint() @ xi, atol=1e-13)


@pytest.mark.parametrize("group", [SO3(), SE2(), SE3(), SO(4)], ids=lambda g: type(g).__name__)
def test_velocities_brackets_and_exponentials_of_matrices(group) -> None:
    keys = jax.random.split(jax.random.PRNGKey(5), 3)
    g = group.random(keys[0])
    xi, eta = (jax.random.normal(k, (group.dim,)) for k in keys[1:])

    @jax.jit
    def rates(g, xi, eta):
        along = jax.jvp(lambda t: group.compose(g, group.group_exp(t * xi)), (jnp.zeros(()),), (jnp.ones(()),))[1]
        return along, group.lift(g, xi), group.body_velocity(g, group.lift(g, xi)), group.bracket(xi, eta)

    along, lifted, back, bracket = rates(g, xi, eta)
    np.testing.assert_allclose(along, lifted, atol=1e-14)
    np.testing.assert_allclose(back, xi, atol=1e-14)
    a, b = np.asarray(group.hat(xi)), np.asarray(group.hat(eta))
    np.testing.assert_allclose(group.hat(bracket), a @ b - b @ a, atol=1e-14)
    np.testing.assert_allclose(group.matrix(group.group_exp(xi)), scipy.linalg.expm(a), atol=2e-14)


def test_rotation_matrices_there_and_back() -> None:
    for q in np.vstack([np.eye(4), np.random.default_rng(0).normal(size=(4, 4))]):
        q = q / np.linalg.norm(q)
        back = SO3().from_matrix(SO3().matrix(q))
        assert min(np.abs(back - q).max(), np.abs(back + q).max()) < 1e-15


def test_pictures() -> None:
    h, cylinder = Hyperbolic(2, 2.0), Product(Hyperbolic(2), Euclidean(1))
    x = h.from_polar(1.0, 0.3)
    np.testing.assert_allclose(np.linalg.norm(h.pictures()["poincare"](x)), np.tanh(0.5), rtol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(h.pictures()["klein"](x)), np.tanh(1.0), rtol=1e-15)
    y = cylinder.from_polar(1.0, 0.3, -4.0)
    np.testing.assert_allclose(cylinder.pictures()["cylinder"](y)[2], -4.0)
    s = Sphere(3)
    np.testing.assert_allclose(
        np.linalg.norm(s.pictures()["stereographic"](s.from_polar(0.8, 1.0, 2.0))), 2 * np.tan(0.4), rtol=1e-14
    )


def test_means() -> None:
    h = Hyperbolic(2)
    points = jax.vmap(h.random)(jax.random.split(jax.random.PRNGKey(3), 5))
    weights = jnp.array([1.0, 2.0, 0.5, 0.0, 1.0])
    boost = h.isometries()["boost_x"]

    @jax.jit
    def boosted(s):
        """The mean of boosted points, and its derivative by the boost."""
        return jax.jvp(lambda s: h.mean(jax.vmap(lambda x: boost(s, x))(points), weights), (s,), (jnp.ones(()),))

    m, rate = boosted(0.0)
    pull = jax.jit(jax.vmap(lambda x: h.log(m, x)))(points)
    assert np.abs(np.asarray(weights) @ np.asarray(pull)).max() < 1e-13
    # it moves with an isometry, and its derivative by the points is right
    np.testing.assert_allclose(boosted(0.7)[0], boost(0.7, m), atol=1e-13)
    np.testing.assert_allclose(rate, h.killing()["boost_x"](m), atol=1e-12)

"""Derivatives and batches of whole motions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.examples import pendulum

import holonomy as hl

METHODS = [hl.RK4(), hl.Gauss(1), hl.Gauss(3), hl.SymplecticEuler(), hl.Euler()]


def final(method, g, q0, v0):
    run = hl.simulate(pendulum.with_parameters(g=g), q0, v0, 1.0, dt=0.02, method=method)
    return run.q[-1, 0] + 0.3 * run.v[-1, 0]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.label)
def test_gradient_over_gravity_and_initial_state(method):
    point = 9.81, jnp.array([1.0]), jnp.array([0.5])
    g_gravity, g_q, g_v = jax.jit(jax.grad(lambda *x: final(method, *x), argnums=(0, 1, 2)))(*point)

    def central(shift):  # a finite difference: the test's own, independent way
        eps = 1e-5
        up = [a + eps * s for a, s in zip(point, shift, strict=True)]
        down = [a - eps * s for a, s in zip(point, shift, strict=True)]
        return (final(method, *up) - final(method, *down)) / (2 * eps)

    np.testing.assert_allclose(g_gravity, central((1.0, 0.0, 0.0)), rtol=1e-7)
    np.testing.assert_allclose(g_q[0], central((0.0, 1.0, 0.0)), rtol=1e-7)
    np.testing.assert_allclose(g_v[0], central((0.0, 0.0, 1.0)), rtol=1e-7)


@pytest.mark.proof
def test_forward_and_reverse_derivatives_agree():
    def f(x):
        return final(hl.Gauss(2), x[0], x[1:2], x[2:])

    x = jnp.array([9.81, 1.0, 0.5])
    np.testing.assert_allclose(jax.jit(jax.jacfwd(f))(x), jax.jit(jax.grad(f))(x), rtol=1e-11)


@pytest.mark.parametrize("method", [*METHODS, hl.Adaptive()], ids=lambda m: m.label)
def test_batches_equal_single_runs(method):
    gravities = jnp.array([1.6, 3.7, 9.81])
    starts = jnp.array([[0.3], [1.0], [2.0]])
    batch = jax.vmap(lambda g, q: final(method, g, q, jnp.zeros(1)))(gravities, starts)
    single = [final(method, float(g), np.asarray(q), np.zeros(1)) for g, q in zip(gravities, starts, strict=True)]
    np.testing.assert_allclose(batch, single, rtol=1e-12)


def test_gravity_in_a_closure_is_differentiated_too():
    def angle(g):
        system = hl.System.from_lagrangian(
            lambda t, q, v: 0.5 * v[0] ** 2 + g * jnp.cos(q[0]), coordinates={"theta": "angle"}
        )
        return hl.simulate(system, [1.0], [0.0], 1.0, dt=0.02).q[-1, 0]

    eps = 1e-5
    expected = (angle(9.81 + eps) - angle(9.81 - eps)) / (2 * eps)
    np.testing.assert_allclose(jax.grad(angle)(9.81), expected, rtol=1e-7)


def test_a_member_that_fails_says_so_and_spares_the_others():
    """x'' = 4x³ reaches infinity in finite time from some starts only."""
    system = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + q[0] ** 4, coordinates=("x",))
    run = jax.vmap(lambda q: hl.simulate(system, q, jnp.zeros(1), 3.0, dt=0.01))(jnp.array([[0.1], [1.0]]))
    assert np.asarray(run.result.ok).tolist() == [True, False]
    assert np.all(np.isfinite(run.q[0]))
    assert np.all(np.isnan(run.q[1, -1]))
    assert 0.5 < np.asarray(run.result.t)[1] < 1.5

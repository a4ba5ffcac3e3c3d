"""The order of convergence of every method, seen by halving its step."""

import numpy as np
import pytest
from tests.motion.examples import double_pendulum, pendulum

import holonomy as hl

START = [0.9, -0.4], [0.3, 0.8]

# the method, the largest step, and the end of the run; small enough for the leading term, large enough for round-off
PENDULUM = [
    (hl.Euler(), 2e-4, 0.5),
    (hl.SymplecticEuler(), 2e-4, 0.5),
    (hl.RK4(), 0.01, 3.0),
    (hl.Gauss(1), 0.01, 3.0),
    (hl.Gauss(2), 0.05, 3.0),
    (hl.Gauss(3), 0.1, 3.0),
    (hl.Gauss(4), 0.1, 3.0),
]
DOUBLE = [(hl.RK4(), 0.01, 1.0), (hl.Gauss(1), 0.005, 1.0), (hl.Gauss(2), 0.02, 1.0), (hl.Gauss(3), 0.02, 1.0)]


@pytest.mark.parametrize(("method", "dt", "end"), PENDULUM, ids=lambda x: getattr(x, "label", ""))
def test_order_is_as_named(method, dt, end):
    run = hl.simulate(pendulum, [2.0], [0.0], end, dt=dt, method=method)
    assert abs(run.observed_order() - method.order) < 0.2


@pytest.mark.parametrize(("method", "dt", "end"), DOUBLE, ids=lambda x: getattr(x, "label", ""))
def test_order_is_as_named_where_the_mass_matrix_turns(method, dt, end):
    run = hl.simulate(double_pendulum, *START, end, dt=dt, method=method)
    assert abs(run.observed_order() - method.order) < 0.2


@pytest.mark.parametrize("order", [5, 8])
def test_adaptive_error_follows_its_tolerance(order):
    """An adaptive method has no step to halve: its error must fall with the tolerance instead."""
    exact = hl.simulate(double_pendulum, *START, 2.0, dt=0.01, method=hl.Gauss(4), save_at=[2.0])
    errors = []
    for tolerance in (1e-5, 1e-7, 1e-9, 1e-11):
        run = hl.simulate(double_pendulum, *START, 2.0, dt=2.0, method=hl.Adaptive(order, tolerance, tolerance))
        errors.append(np.max(np.abs(run.q[-1] - exact.q[-1])))
    slope = np.polyfit(np.log([1e-5, 1e-7, 1e-9, 1e-11]), np.log(errors), 1)[0]
    assert 0.75 < slope < 1.25
    assert errors[-1] < 1e-9


def test_gauss_is_reversible():
    there = hl.simulate(double_pendulum, *START, 3.0, dt=0.01)
    back = hl.simulate(double_pendulum, there.q[-1], there.v[-1], 0.0, t0=3.0, dt=0.01)
    np.testing.assert_allclose(back.q[-1], START[0], atol=1e-12)
    np.testing.assert_allclose(back.v[-1], START[1], atol=1e-12)


@pytest.mark.parametrize("method", [hl.Gauss(1), hl.Gauss(2), hl.Gauss(3), hl.SymplecticEuler()], ids=lambda m: m.label)
def test_one_step_is_symplectic(method):
    """DᵀJD = J for the derivative D of one step in (q, p)."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(z):
        q, p = z[:2], z[2:]
        v = double_pendulum.velocity(0.0, q, p)
        run = hl.simulate(double_pendulum, q, v, 0.1, dt=0.1, method=method)
        return jnp.concatenate([run.q[-1], double_pendulum.momentum(0.1, run.q[-1], run.v[-1])])

    z = jnp.array([0.9, -0.4, 1.2, 0.5])
    derivative = jax.jacfwd(step)(z)
    form = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(derivative.T @ form @ derivative, form, atol=1e-11)

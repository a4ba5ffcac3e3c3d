"""Second derivatives through events and impacts, against closed forms; NaN where there are none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.events.examples import label

import holonomy as hl

G, E = 9.81, 0.8
fall = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - G * q[0], coordinates=("y",))
thrown = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - G * q[1], coordinates=("x", "y"))
DOWN = hl.Event(lambda t, q, v: q[0], terminal=True)


def landing(v):
    """When a ball thrown up from height 1 is back at 0."""
    return (v + jnp.sqrt(v**2 + 2.0 * G)) / G


@pytest.mark.parametrize("method", [hl.RK4(), pytest.param(hl.Gauss(2), marks=pytest.mark.proof)], ids=label)
def test_the_instant_of_an_event_has_all_its_derivatives(method):
    def instant(v):
        run = hl.simulate(fall, jnp.ones(1), v[None], 0.9, dt=0.3, method=method, events=DOWN, max_events=1)
        return run.events.t[0]

    second = jax.jit(jax.grad(jax.grad(instant)))(0.3)
    assert abs(second - jax.grad(jax.grad(landing))(0.3)) < 1e-12
    if method.label == "RK4()":
        assert abs(second - 0.0228560) < 1e-7


@pytest.mark.proof
def test_an_adaptive_step_has_the_first():
    def instant(v):
        method = hl.Adaptive(5)
        run = hl.simulate(fall, jnp.ones(1), v[None], 0.9, dt=0.3, method=method, events=DOWN, max_events=1)
        return run.events.t[0]

    assert abs(jax.jit(jax.grad(instant))(0.3) - jax.grad(landing)(0.3)) < 1e-10


def after_a_bounce(v):
    """Height and way at 0.9, after a bounce with restitution E at the landing."""
    hit = landing(v[1])
    up, rest = E * jnp.sqrt(v[1] ** 2 + 2.0 * G), 0.9 - hit
    return (up * rest - 0.5 * G * rest**2) * (0.9 * v[0])


@pytest.mark.proof
@pytest.mark.parametrize("walls", [1, 2])
def test_an_impact_has_second_derivatives(walls):
    """One wall alone, and one of two, which is solved as a complementarity problem."""
    gaps = (lambda t, q: q[1:]) if walls == 1 else (lambda t, q: jnp.stack([q[0] + 5.0, q[1]]))
    floor = thrown.constrained(unilateral=gaps, restitution=E)

    def end(v):
        run = hl.simulate(floor, jnp.array([0.0, 1.0]), v, 0.9, dt=0.3, method=hl.RK4(), max_events=1)
        return run.q[-1, 0] * run.q[-1, 1]

    v = jnp.array([1.3, 0.4])
    second = jax.jit(jax.jacrev(jax.grad(end)))(v)
    np.testing.assert_allclose(second, jax.hessian(after_a_bounce)(v), rtol=0, atol=1e-10)


def test_a_touch_has_no_second_derivative():
    line = hl.Event(lambda t, q, v: 1.0 - q[1], action=lambda t, q, v: (q, -v))

    def end(v):
        run = hl.simulate(
            thrown, jnp.zeros(2), jnp.stack([1.0, v]), 0.6, dt=0.1, method=hl.RK4(), events=line, max_events=2
        )
        return run.q[-1, 1]

    second = jax.jit(jax.grad(jax.grad(end)))
    assert np.isnan(second(np.sqrt(2 * G)))
    assert np.isfinite(second(np.sqrt(2 * G) + 0.1))

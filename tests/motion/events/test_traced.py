"""Events under jit, vmap and grad: the same numbers, tables of fixed size, and derivatives of instants."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.events.examples import ball, label, oscillator

import holonomy as hl

FLOOR = hl.Event(lambda t, q, v: q[1], direction=-1, action=lambda t, q, v: (q, jnp.stack([v[0], -0.8 * v[1]])))

particle = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * jnp.dot(v, v) - p.g * q[1], coordinates=("x", "y"), parameters={"g": 9.81}
)
floor = particle.constrained(unilateral=lambda t, q, p: q[1:], restitution=0.8)
START = np.array([0.0, 1.0, 1.0, 0.3, 9.81])


def thrown(method, state):
    system = floor.with_parameters(g=state[4])
    run = hl.simulate(system, state[:2], state[2:4], 2.0, dt=0.1, method=method, max_events=4)
    return jnp.concatenate([run.events.q[2, :1], run.q[9]]), run


def with_slope(method):
    def both(state):
        value, pull, run = jax.vjp(lambda z: thrown(method, z), state, has_aux=True)
        return value, jax.vmap(pull)(jnp.eye(3))[0], run

    return jax.jit(both)


rk4 = with_slope(hl.RK4())


@pytest.mark.parametrize(
    "method",
    [hl.RK4(), *(pytest.param(m, marks=pytest.mark.proof) for m in (hl.Radau(2), hl.Gauss(2), hl.Rattle(2)))],
    ids=label,
)
def test_the_third_landing_point_has_its_derivative(method):
    """By start, velocity and gravity, against differences; and the numbers are those of a run on the host."""
    f = rk4 if method.label == "RK4()" else with_slope(method)
    value, slope, run = f(START)
    assert run.result.code == 0
    assert run.result.differentiable
    assert run.events.count == 3
    assert np.all(np.isnan(run.events.t[3:]))
    assert np.all(run.events.which[3:] == -1)
    for k in range(5):
        e = np.zeros(5)
        e[k] = 1e-5
        np.testing.assert_allclose((f(START + e)[0] - f(START - e)[0]) / 2e-5, slope[:, k], rtol=0, atol=1e-7)
    host = hl.simulate(floor, START[:2], START[2:4], 2.0, dt=0.1, method=method)
    np.testing.assert_allclose(host.events.t, run.events.t[:3], rtol=0, atol=1e-14)
    np.testing.assert_allclose(host.q, run.q, rtol=0, atol=1e-13)
    assert abs(host.events.q[2, 0] - value[0]) < 1e-14


def test_a_throw_is_optimised_through_a_bounce():
    """The velocity that, after a bounce, passes a target at a given time; Newton's method on the derivative."""
    target, z = np.array([2.0, 0.5]), START.copy()
    z[3] = 2.0
    for _ in range(7):
        value, slope, _ = rk4(z)
        z[2:4] -= np.linalg.solve(slope[1:, 2:4], value[1:] - target)
    host = hl.simulate(floor, z[:2], z[2:4], 0.9, dt=0.1, method=hl.RK4())
    assert len(host.events) == 1
    np.testing.assert_allclose(host.q[-1], target, rtol=0, atol=1e-12)


def test_a_coarse_motion_has_the_derivative_of_itself():
    """Where the step is wrong by per cents, the derivative is still that of the numbers computed."""
    event = hl.Event(lambda t, q, v: q[0] - 0.3 * v[0], terminal=True)

    @jax.jit
    def instant(z):
        run = hl.simulate(oscillator, z[:1], z[1:], 3.0, dt=0.5, method=hl.Euler(), events=event, max_events=2)
        return run.events.t[0], run

    z = np.array([1.0, 0.2])
    slope = jax.jacrev(instant, has_aux=True)(z)[0]
    for k in range(2):
        e = np.zeros(2)
        e[k] = 1e-6
        assert abs((instant(z + e)[0] - instant(z - e)[0]) / 2e-6 - slope[k]) < 1e-8
    t, run = instant(z)
    assert run.result.code == hl.motion.Code.event
    assert abs(run.result.t - t) < 1e-15
    assert np.all(np.isnan(np.asarray(run.q)[np.asarray(run.t) > t]))


def test_members_of_a_batch_have_their_own_events():
    heights = np.array([0.2, 1.0, 3.0])

    @jax.jit
    @jax.vmap
    def batch(h):
        return hl.simulate(
            ball, jnp.stack([0.0, h]), jnp.zeros(2), 2.0, dt=0.1, method=hl.RK4(), events=FLOOR, max_events=6
        )

    runs = batch(heights)
    for k, h in enumerate(heights):
        alone = hl.simulate(ball, [0.0, h], [0.0, 0.0], 2.0, dt=0.1, method=hl.RK4(), events=FLOOR, throw=False)
        count = min(len(alone.events), 6)
        np.testing.assert_allclose(runs.events.t[k, :count], alone.events.t[:count], rtol=0, atol=1e-13)
        assert runs.events.count[k] == count
    assert runs.result.code[0] == hl.motion.Code.too_many_events
    assert list(runs.result.ok) == [False, True, True]


def test_a_touch_is_not_differentiable_and_says_so():
    """Where the path only just reaches the line, the number of events jumps: no derivative, and no silent number."""
    line = hl.Event(lambda t, q, v: 1.0 - q[1], action=lambda t, q, v: (q, -v))

    @jax.jit
    @jax.value_and_grad
    def end(v):
        run = hl.simulate(
            ball, jnp.zeros(2), jnp.stack([1.0, v]), 0.5, dt=0.05, method=hl.RK4(), events=line, max_events=4
        )
        return run.q[-1, 1]

    touching = np.sqrt(2 * 9.81)
    assert np.isnan(end(touching)[1])
    assert np.isfinite(end(touching + 0.1)[1])
    assert np.isfinite(end(touching - 0.1)[1])


@pytest.mark.proof  # takes long to compile
def test_contact_that_begins_and_ends_has_derivatives():
    """Landing on a ball without bounce, sliding on it and leaving it: where to, against differences."""
    hill = particle.constrained(unilateral=lambda t, q, p: jnp.sqrt(q[0] ** 2 + q[1] ** 2)[None] - 1.0, restitution=0.0)

    @jax.jit
    @partial(jax.value_and_grad, has_aux=True)
    def end(z):
        run = hl.simulate(hill, z[:2], z[2:], 0.8, dt=0.02, method=hl.RK4(), max_events=4)
        return run.q[-1, 0] + 0.7 * run.q[-1, 1], run

    z = np.array([0.1, 1.1, 0.5, 0.0])
    (_, run), slope = end(z)
    assert [run.events.names[k].split()[0] for k in run.events.which[:3]] == ["impact", "contact", "release"]
    assert run.result.differentiable
    for k in range(4):
        e = np.zeros(4)
        e[k] = 1e-5
        assert abs((end(z + e)[0][0] - end(z - e)[0][0]) / 2e-5 - slope[k]) < 1e-7


@pytest.mark.proof  # takes long to compile
def test_impacts_that_pile_up_or_meet_at_once_are_not_differentiable():
    corner = particle.constrained(unilateral=lambda t, q, p: q, restitution=0.4)

    @jax.jit
    @partial(jax.value_and_grad, has_aux=True)
    def end(x):
        run = hl.simulate(corner, x, jnp.array([-1.0, 0.0]), 1.0, dt=0.1, method=hl.RK4(), max_events=60)
        return run.q[-1, 0], run

    fall = np.sqrt(2 * 0.3 / 9.81)
    for start, smooth in (([2.0, 6.0], True), ([fall, 0.3], False), ([0.6, 0.01], False)):
        (_, run), slope = end(np.array(start))
        assert bool(run.result.differentiable) == smooth, start
        assert bool(np.all(np.isfinite(slope))) == smooth, start

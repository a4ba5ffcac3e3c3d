"""Derivatives of constrained motion, and what they cost in memory."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.constraints.examples import rod_pendulum, skate

import holonomy as hl


def rod_end(method, steps, x):
    """Position, velocity and multiplier after some steps, as one number of gravity, angle and rate."""
    g, angle, rate = x
    q, v = jnp.stack([jnp.sin(angle), -jnp.cos(angle)]), rate * jnp.stack([jnp.cos(angle), jnp.sin(angle)])
    system = rod_pendulum.with_parameters(g=g)
    run = hl.simulate(system, q, v, 0.02 * steps, dt=0.02, method=method, save_every=steps)
    return run.q[-1, 0] + 0.3 * run.v[-1, 1] + 0.01 * run.multipliers[-1, 0]


def skate_end(method, steps, x):
    """The same of the skate, of the slope's pull, the angle and the speed along the blade."""
    pull, angle, speed = x
    q, v = jnp.stack([0.0, 0.1, angle]), jnp.stack([speed * jnp.cos(angle), speed * jnp.sin(angle), 1.0])
    system = skate.with_parameters(slope=pull)
    run = hl.simulate(system, q, v, 0.02 * steps, dt=0.02, method=method, save_every=steps)
    return run.q[-1, 0] + 0.3 * run.v[-1, 1] + 0.01 * run.multipliers[-1, 0]


CASES = [(rod_end, hl.Rattle(2)), (rod_end, hl.Radau(3)), (rod_end, hl.RK4()), (skate_end, hl.Gauss(2))]
AT = np.array([9.81, 1.0, 0.5])


@pytest.mark.parametrize(("end", "method"), CASES, ids=["Rattle(2)", "Radau(3)", "RK4()", "Gauss(2)"])
def test_gradients_equal_differences_and_forward_derivatives(end, method):
    f = functools.partial(end, method, 30)
    way = np.array([0.6, -0.3, 0.7])
    back, forth = jax.jit(lambda x: (jax.grad(f)(x), jax.jvp(f, (x,), (way,))[1]))(AT)
    np.testing.assert_allclose(way @ back, forth, rtol=1e-11)
    eps = 1e-5
    differences = [(f(AT + eps * e) - f(AT - eps * e)) / (2 * eps) for e in np.eye(3)]
    np.testing.assert_allclose(back, differences, rtol=2e-7)


@pytest.mark.proof
def test_reverse_mode_remembers_the_root_of_the_steps():
    def memory(steps):
        compiled = jax.jit(jax.grad(functools.partial(rod_end, hl.Rattle(2), steps))).lower(AT).compile()
        found = compiled.memory_analysis()
        assert found is not None
        return found.temp_size_in_bytes

    few, many = memory(400), memory(6400)
    assert many < 6 * few, "sixteen times the steps must take about four times the memory"


def test_a_traced_start_off_the_constraints_is_said_and_not_used():
    def run(x):
        return hl.simulate(rod_pendulum, x, jnp.zeros(2), 0.1, dt=0.02, method=hl.Rattle(2))

    runs = jax.jit(jax.vmap(run))(jnp.array([[0.6, -0.8], [0.7, -0.8]]))
    assert runs.result.code.tolist() == [0, int(hl.motion.Code.inconsistent)]
    assert np.all(np.isnan(runs.q[1]))
    assert np.all(np.isfinite(runs.q[0]))


def test_a_run_hands_on_a_system_that_knows_its_rank():
    """Redundant constraints under jit: the rank cannot be found there, but the system of a run has it."""
    twice = rod_pendulum.constrained(holonomic=lambda t, q, p: 2.0 * (jnp.dot(q, q) - p.l * p.l))
    start = np.array([0.6, -0.8]), np.array([0.4, 0.3])
    known = hl.simulate(twice, *start, 0.1, dt=0.02, method=hl.Rattle(2))
    system = known.system
    assert system is not None
    again = jax.jit(lambda q, v: hl.simulate(system, q, v, 0.1, dt=0.02, method=hl.Rattle(2)).q)(*start)
    np.testing.assert_allclose(again, known.q, atol=1e-14)

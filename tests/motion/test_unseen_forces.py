"""Without dt: forces that act for a shorter time than the first steps are seen."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import holonomy as hl
from holonomy.motion.drive import drive
from holonomy.motion.problem import problem
from holonomy.motion.save_times import plan
from holonomy.motion.unseen_forces import unseen

free = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v), coordinates=("x",), parameters={"m": 2.0}
)


def pulsed(width):
    def force(t, q, v, p):
        return jnp.exp(-(((t - 3.217) / width) ** 2)) * jnp.ones(1) / (width * np.sqrt(np.pi))

    return free.forced(force)


def hill(width):
    return hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 - 0.02 * jnp.exp(-(((q[0] - 1.5) / width) ** 2)), coordinates=("x",)
    )


@pytest.mark.parametrize("width", [1e-2, 1e-3, 3e-4])
def test_a_pulse_gives_its_whole_impulse(width):
    run = hl.simulate(pulsed(width), [0.0], [0.3], 10.0)
    assert run.result.ok
    np.testing.assert_allclose(run.v[-1, 0], 0.3 + 1.0 / 2.0, rtol=1e-12)


@pytest.mark.parametrize("width", [1e-2, 1e-3])
def test_a_hill_delays_the_motion_that_crosses_it(width):
    """Without the hill x = 3 at t = 10. With it x = 3 - 0.3 times the time that is lost on it."""
    run = hl.simulate(hill(width), [0.0], [0.3], 10.0)
    lost, _ = quad(
        lambda u: 1.0 / np.sqrt(0.09 - 0.04 * np.exp(-(u**2))) - 1.0 / 0.3, -8, 8, epsabs=1e-13, epsrel=1e-13
    )
    np.testing.assert_allclose(run.q[-1, 0], 3.0 - 0.3 * width * lost, rtol=0, atol=1e-8)


def test_a_run_that_steps_over_a_pulse_is_told_from_one_that_does_not():
    for system, dt, expected in ((pulsed(1e-3), 0.05, True), (pulsed(1e-3), 1e-4, False), (hill(1e-3), 0.05, True)):
        given = problem(system, [0.0], [0.3], 10.0, dt, hl.Gauss(2), None, 0.0, 1)
        assert unseen(given.system, drive(given, plan(0.0, 10.0, dt, 1, None), None)) is expected


def test_smooth_motions_keep_their_step():
    pendulum = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + jnp.cos(q[0]), coordinates=("theta",))
    driven = pendulum.forced(lambda t, q, v: jnp.cos(2.0 * t) * jnp.ones(1))
    ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - q[2], space=hl.Sphere(2))
    for system, q, v in ((pendulum, [1.0], [0.0]), (driven, [1.0], [0.0]), (ball, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])):
        given = problem(system, q, v, 20.0, 0.1, hl.Gauss(3), None, 0.0, 1)
        assert not unseen(given.system, drive(given, plan(0.0, 20.0, 0.1, 1, None), None))

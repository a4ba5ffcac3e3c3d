"""Without dt: the error that is stated is the true one, or more, where forces jump or have a kink in time."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

switched = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2 + q[0] * jnp.where(t > p.start, 0.7, 0.0),
    coordinates=("x",),
    parameters={"start": 1.0},
)
rising = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * v[0] ** 2 + q[0] * jnp.maximum(t - p.start, 0.0),
    coordinates=("x",),
    parameters={"start": 1.0},
)
METHODS = (None, hl.RK4(), hl.Radau(3))


def relative_error(run, q, v):
    """The error of the last state in the size of the motion, as certificates state it."""
    return max(
        abs(run.q[-1, 0] - q) / np.max(np.abs(run.q)),
        abs(run.v[-1, 0] - v) / np.max(np.abs(run.v)),
    )


def stated(run):
    """The error that a run states."""
    assert run.certificate.step_error is not None
    return run.certificate.step_error


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("start", [np.sqrt(2.0), np.e, 3.3, 8.0 * np.log(2.0)])
def test_a_kink_in_time_is_not_said_to_be_resolved(start, method):
    run = hl.simulate(rising.with_parameters(start=start), [0.0], [0.0], 8.0, method=method, throw=False)
    after = 8.0 - start
    true = relative_error(run, after**3 / 6, after**2 / 2)
    assert true < 3.0 * stated(run)


@pytest.mark.parametrize("start", [pytest.param(np.pi, marks=pytest.mark.compat), np.e])
def test_a_jump_in_time_is_not_said_to_be_resolved(start):
    """Just after a grid point a jump looks the same at half the step: three runs agree to the last digit."""
    run = hl.simulate(switched.with_parameters(start=start), [0.0], [0.0], 9.0, throw=False)
    after = 9.0 - start
    true = relative_error(run, 0.7 * (1.0 - np.cos(after)), 0.7 * np.sin(after))
    assert true < 3.0 * stated(run)
    assert run.certificate.verdict == "failed"
    assert run.result.name == "inaccurate"


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_jump_on_the_grid_costs_nothing(method):
    run = hl.simulate(rising.with_parameters(start=4.0), [0.0], [0.0], 8.0, method=method)
    assert relative_error(run, 64.0 / 6, 8.0) < max(3.0 * stated(run), 1e-14)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_smooth_driven_motions_keep_their_step_and_their_error(method):
    """x'' = -x + cos(2t) from rest has x = (cos t - cos 2t) / 3."""
    driven = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2 + q[0] * jnp.cos(2.0 * t), coordinates=("x",)
    )
    run = hl.simulate(driven, [0.0], [0.0], 10.0, method=method)
    true = np.max(np.abs(run.q[:, 0] - (np.cos(run.t) - np.cos(2.0 * run.t)) / 3.0)) / np.max(np.abs(run.q))
    assert run.certificate.verdict == "good"
    assert run.result.steps <= (2048 if method == hl.RK4() else 512)
    assert true / 3.0 < stated(run) < max(10.0 * true, 1e-13)


def test_an_exact_motion_is_good():
    """Three runs without any difference: a run with another step agrees with them as well."""
    falling = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - q[0], coordinates=("x",))
    pushed = falling.forced(lambda t, q, v: 3.0 * jnp.ones(1))
    run = hl.simulate(pushed, [0.0], [1.0], 10.0)
    assert run.certificate.verdict == "good"
    assert 0 < stated(run) < 1e-13
    np.testing.assert_allclose(run.q[-1, 0], 110.0, rtol=1e-13)

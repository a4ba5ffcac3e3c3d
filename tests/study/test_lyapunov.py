"""Lyapunov exponents against exact ones, against pairs and sums, and against the ghost that drifts away."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.study.systems import CHAOTIC, double, henon_heiles, on_section

import holonomy as hl


@pytest.fixture(scope="module")
def chaotic():
    return hl.lyapunov(double, *CHAOTIC, 2000.0, dt=0.01)


def test_exponents_of_a_saddle_with_a_wheel_are_known():
    # two rates e^(+-t), e^(+-0.3 t), one oscillation; started at rest on top the motion stays there
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v) + 0.5 * (q[0] ** 2 + 0.09 * q[1] ** 2 - q[2] ** 2), coordinates=("a", "b", "c")
    )
    found = hl.lyapunov(system, [0.0] * 3, [0.0] * 3, 400.0, dt=0.05, discard=0.5)
    np.testing.assert_allclose(found.exponents, [1.0, 0.3, 0.0, 0.0, -0.3, -1.0], atol=6e-3)
    np.testing.assert_allclose(found.exponents[[0, 1, 4, 5]], [1.0, 0.3, -0.3, -1.0], atol=1e-9)


@pytest.mark.parametrize("method", [hl.Gauss(3), hl.RK4()])
def test_volumes_shrink_by_the_friction(method):
    damped = hl.Pendulum([1.0, 1.0], [1.0, 2.0], joint_damping=0.1)
    found = hl.lyapunov(damped, [0.0, 0.0], [0.0, 0.0], 200.0, dt=0.01, method=method, discard=0.0)
    mass = np.asarray(damped.mass_matrix(0.0, [0.0, 0.0]))
    friction = 0.1 * np.array([[2.0, -1.0], [-1.0, 1.0]])
    # about the rest: d/dt (q, p) has the trace -tr(C M^-1)
    np.testing.assert_allclose(found.total, -np.trace(friction @ np.linalg.inv(mass)), rtol=1e-6)
    companion = np.block(
        [
            [np.zeros((2, 2)), np.eye(2)],
            [-np.linalg.solve(mass, np.diag([3.0, 2.0]) * 9.81), -np.linalg.solve(mass, friction)],
        ]
    )
    wanted = np.sort(np.linalg.eigvals(companion).real)[::-1]
    np.testing.assert_allclose(found.exponents, wanted, atol=0.02)


def test_double_pendulum_has_pairs_that_sum_to_zero(chaotic):
    assert abs(chaotic.total) < 1e-6
    np.testing.assert_allclose(chaotic.exponents, -chaotic.exponents[::-1], atol=1e-6)
    assert chaotic.largest > 1.0
    assert np.all(np.abs(chaotic.exponents[1:3]) < 4 * chaotic.errors[1:3] + 5e-3)  # the energy and the flow
    assert chaotic.errors[0] < 0.1
    assert chaotic.drift < 1e-6
    np.testing.assert_allclose(chaotic.history[-1], chaotic.exponents, atol=0.1)
    assert "±" in str(chaotic)


def test_largest_exponent_agrees_with_the_ghosts_growth(chaotic):
    growth = []
    for angle in np.linspace(2.0, 2.6, 6):
        pair = hl.ghost(double, [angle, 2.5], [0.0, 0.0], 15.0, dt=0.01, offset=1e-12)
        growth.append(pair.growth(until=1e-3))
    rates, errors = np.array(growth).T
    error = np.hypot(np.std(rates, ddof=1) / np.sqrt(6), chaotic.errors[0])
    assert abs(np.mean(rates) - chaotic.largest) < 3 * error
    assert np.all(errors < 1.0)


def test_a_ghost_follows_the_variational_equations():
    # the same direction: d log|w| of the frame's first column against the distance of two runs
    direction, size, t_end = np.array([0.6, 0.8]), 1e-7, 3.0
    q, v = np.array(CHAOTIC[0]), np.array(CHAOTIC[1])
    frame = np.concatenate([direction, np.zeros(2)])[:, None]  # at rest dp/dq = 0: a shift of q leaves p alone
    found = hl.lyapunov(double, q, v, t_end, dt=0.01, frame=frame, discard=0.0)
    ends = []
    for sign in (1, -1):
        run = hl.simulate(double, q + sign * size * direction, v, t_end, dt=0.01)
        ends.append(np.concatenate([run.q[-1], np.asarray(run.momentum[-1])]))
    grown = np.linalg.norm(ends[0] - ends[1]) / (2 * size)
    np.testing.assert_allclose(np.sum(found.growth), np.log(grown), atol=1e-6)


def test_regular_motion_has_no_positive_exponent():
    found = hl.lyapunov(henon_heiles, *on_section(1 / 12, 0.1), 5000.0, dt=0.2)
    assert found.largest < 5e-3
    wild = hl.lyapunov(henon_heiles, *on_section(1 / 6 - 1e-3, -0.1, 0.1), 5000.0, dt=0.2)
    assert wild.largest > 0.08
    assert abs(wild.total) < 1e-9


def test_step_is_chosen_when_none_is_given():
    found = hl.lyapunov(henon_heiles, *on_section(1 / 12, 0.1), 50.0, count=1)
    assert found.exponents.shape == (1,)
    assert found.drift < 1e-6


def test_mistakes_are_named():
    q, v = CHAOTIC
    with pytest.raises(ValueError, match="count must lie between"):
        hl.lyapunov(double, q, v, 1.0, dt=0.01, count=5)
    with pytest.raises(ValueError, match="share of the time"):
        hl.lyapunov(double, q, v, 1.0, dt=0.01, discard=1.5)
    with pytest.raises(ValueError, match="at least 1"):
        hl.lyapunov(double, q, v, 1.0, dt=0.01, every=0)
    with pytest.raises(ValueError, match="as columns"):
        hl.lyapunov(double, q, v, 1.0, dt=0.01, frame=np.zeros((3, 1)))
    with pytest.raises(ValueError, match="no single step"):
        hl.lyapunov(double, q, v, 1.0, dt=0.01, method=hl.Taylor())
    ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), space=hl.Sphere(2))
    with pytest.raises(ValueError, match="their own coordinates"):
        hl.lyapunov(ball, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], 1.0, dt=0.1)
    falling = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + q[0] ** 4, coordinates=("x",))
    with pytest.raises(ValueError, match="could not be followed"):
        hl.lyapunov(falling, [1.0], [1.0], 5.0, dt=0.01)

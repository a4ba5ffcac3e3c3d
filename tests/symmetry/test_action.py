"""Jacobi's metric and Hamilton's principle: paths found without integrating the equations of motion in time."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


def planet():
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) + 1 / jnp.sqrt(q @ q), coordinates=("x", "y"))


@pytest.fixture(scope="module")
def oscillator():
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, coordinates=("x",))


@pytest.mark.proof
def test_geodesics_of_the_jacobi_metric_trace_the_motion() -> None:
    system, q0, v0 = planet(), np.array([1.0, 0.2]), np.array([0.1, 1.1])
    metric = hl.jacobi_metric(system, system.energy(0.0, q0, v0))
    run = hl.simulate(system, q0, v0, 4.0, dt=0.01, method=hl.Gauss(4))
    length = metric.parameter(run)
    np.testing.assert_allclose(metric.path(q0, v0, length[::50]), run.q[::50], atol=1e-9)


def test_the_jacobi_metric_and_where_it_ends(oscillator) -> None:
    metric = hl.jacobi_metric(oscillator, 2.0)
    np.testing.assert_allclose(metric([1.0]), [[3.0]])
    with pytest.raises(ValueError, match=r"energy 2 is not above the potential 4.5"):
        metric([3.0])
    charge = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) + q[0] * v[1], coordinates=("x", "y"))
    with pytest.raises(ValueError, match="first degree in v"):
        hl.jacobi_metric(charge, 1.0)


@pytest.mark.parametrize("time, index", [(1.0, 0), (3.0, 0), (4.0, 1), (7.0, 2), (10.0, 3)])
def test_past_a_conjugate_point_the_action_is_a_saddle(oscillator, time, index) -> None:
    found = hl.least_action(oscillator, [0.0], [1.0], time)
    assert found.residual < 1e-9
    assert found.action == pytest.approx(0.5 / np.tan(time), abs=1e-10)
    assert (found.index, found.kind) == (index, "saddle" if index else "minimum")
    np.testing.assert_allclose(found.conjugate, np.pi * np.arange(1, index + 1), atol=1e-9)
    np.testing.assert_allclose(found(time / 3)[0], np.sin(time / 3) / np.sin(time), atol=1e-10)


def test_the_action_falls_in_one_direction_past_the_conjugate_point(oscillator) -> None:
    """Not from the second variation: the action of neighbouring paths themselves."""
    found = hl.least_action(oscillator, [0.0], [1.0], 4.0)
    t, weights = np.polynomial.legendre.leggauss(40)
    t, weights = 2 * (t + 1), 2 * weights

    def action(k: int, size: float) -> float:
        q, v = (x[:, 0] for x in found(t))
        q, v = q + size * np.sin(k * np.pi * t / 4), v + size * k * np.pi / 4 * np.cos(k * np.pi * t / 4)
        return float(weights @ (0.5 * v**2 - 0.5 * q**2))

    assert action(1, 0.1) < found.action - 1e-4
    assert action(2, 0.1) > found.action + 1e-4
    assert abs(action(1, 1e-4) - action(1, -1e-4)) < 1e-10  # stationary


def test_the_double_pendulum_between_two_configurations() -> None:
    system = hl.models.double_pendulum()
    found = hl.least_action(system, [0.3, 0.2], [-0.4, 0.5], 0.4)
    assert found.residual < 1e-9
    run = hl.simulate(system, found.q[0], found.v[0], 0.4, dt=0.005, method=hl.Gauss(4))
    np.testing.assert_allclose(run.q[-1], [-0.4, 0.5], atol=1e-12)


def test_what_is_refused(oscillator) -> None:
    with pytest.raises(ValueError, match="T must be positive"):
        hl.least_action(oscillator, [0.0], [1.0], -1.0)
    with pytest.raises(ValueError, match="has forces"):
        hl.least_action(oscillator.forced(lambda t, q, v: -v), [0.0], [1.0], 1.0)
    with pytest.raises(ValueError, match="No motion from q_a to q_b"):
        hl.least_action(oscillator, [0.0], [1.0], np.pi)
    with pytest.raises(ValueError, match=r"guess\(t\) must have shape"):
        hl.least_action(oscillator, [0.0], [1.0], 1.0, guess=lambda t: [t, t])

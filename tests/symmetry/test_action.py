"""Jacobi's metric and Hamilton's principle: paths found without integrating the equations of motion in time."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.show.figures import jacobi_curvature


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


@pytest.fixture(scope="module")
def chaotic():
    """Hénon and Heiles's system in its chaotic sea, Jacobi's metric of its energy 1/6, and a start."""
    system, (q0, v0) = jacobi_curvature.system(), jacobi_curvature.start()
    return system, hl.jacobi_metric(system, system.energy(0.0, q0, v0)), q0, v0


@pytest.mark.proof
def test_neighbours_of_the_same_energy_part_as_the_jacobi_equation_says(chaotic) -> None:
    """Against the Jacobi field of the geodesic, and against motions whose start is turned a little."""
    system, metric, q0, v0 = chaotic
    how = {"t_end": 5.0, "dt": 0.01, "method": hl.Gauss(4)}
    run = hl.simulate(system, q0, v0, **how)
    across = np.stack([-run.v[:, 1], run.v[:, 0]], axis=1) / np.linalg.norm(run.v, axis=1)[:, None]
    rate = float(metric.rate(q0))
    turned = metric.stability(run, start=[0.0, 0.0], rate=across[0] * np.linalg.norm(v0) / rate)
    field, _ = hl.geometry.jacobi(metric, q0, v0 / rate, [0.0, 0.0], [-v0[1] / rate, v0[0] / rate], turned.s[::100])
    np.testing.assert_allclose(turned.field[::100], field, rtol=0, atol=1e-8)
    size = 1e-5
    ends = [hl.simulate(system, q0, turn(v0, angle), **how).q for angle in (size, -size)]
    apart = np.sum((ends[0] - ends[1]) / (2 * size) * across, axis=1)
    np.testing.assert_allclose(np.sum(turned.field * across, axis=1), apart, rtol=0, atol=1e-7 * np.max(np.abs(apart)))
    np.testing.assert_allclose(turned.curvature[0], metric.curvature.gaussian(q0), rtol=1e-10)


def turn(v, angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ v


@pytest.mark.proof
def test_the_growth_of_the_jacobi_field_is_the_lyapunov_exponent(chaotic) -> None:
    """For a chaotic motion, and for a regular one, where both fall towards zero."""
    system, metric, q0, v0 = chaotic
    how = {"dt": 0.05, "method": hl.Gauss(4)}
    found = metric.stability(hl.simulate(system, q0, v0, 100.0, **how)).exponent
    known = hl.lyapunov(system, q0, v0, 100.0, **how, count=1)
    assert known.largest > 0.05
    assert abs(found - known.largest) < known.errors[0]
    regular = np.array([0.0, 0.1]), np.array([0.3, 0.0])
    quiet = hl.jacobi_metric(system, system.energy(0.0, *regular))
    assert abs(quiet.stability(hl.simulate(system, *regular, 100.0, **how)).exponent) < 0.3 * found


def test_what_has_no_stability_by_the_jacobi_equation(oscillator) -> None:
    run = hl.simulate(oscillator, [1.0], [0.0], 1.0, dt=0.1)
    with pytest.raises(ValueError, match="one degree of freedom has no neighbours"):
        hl.jacobi_metric(oscillator, 0.5).stability(run)
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v), coordinates=("x", "y"))
    straight = hl.simulate(free, [0.0, 0.0], [1.0, 0.0], 1.0, dt=0.1)
    with pytest.raises(ValueError, match=r"the energy 2, and the run has other energies, 0\.5"):
        hl.jacobi_metric(free, 2.0).stability(straight)
    field = hl.jacobi_metric(free, 0.5).stability(straight, start=[0.0, 1.0], rate=[0.0, 1.0]).field
    np.testing.assert_allclose(field[-1], [0.0, 2.0], atol=1e-13)  # a flat metric: straight lines part evenly


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

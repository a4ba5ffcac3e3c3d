"""The error of the states: steps that are too long are doubtful, whatever is saved and whatever else moves."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

FREQUENCY = 8.0
oscillator = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) - 0.5 * FREQUENCY**2 * q[0] ** 2, coordinates=("x",)
)
with_spectator = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) - 0.5 * FREQUENCY**2 * q[0] ** 2, coordinates=("x", "free")
)


def verdict(dt, method, **options):
    run = hl.simulate(oscillator, [0.8], [0.3], 50 * dt, dt=dt, method=method, throw=False, **options)
    return run.certificate.verdict


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("angle", [6.5, 11.0, 35.0, 90.0, 400.0, 3000.0])
def test_steps_longer_than_a_period_are_doubtful(order, angle):
    """Seen from the grid such an oscillation is slow, and the method conserves its energy."""
    assert verdict(angle / FREQUENCY, hl.Gauss(order)) == "doubtful"


@pytest.mark.parametrize("save", [{"save_every": 2}, {"save_every": 5}, {"save_at": [1.0, 7.3, 15.0]}])
def test_it_does_not_matter_what_is_saved(save):
    assert verdict(3.2 / FREQUENCY, hl.Gauss(3), **save) == "doubtful"


@pytest.mark.parametrize("every", [1, 5])
def test_short_steps_are_good_whatever_is_saved(every):
    assert verdict(0.3 / FREQUENCY, hl.Gauss(3), save_every=every) == "good"


@pytest.mark.parametrize("speed", [0.0, 1.0, 40.0, 1e4])
def test_a_coordinate_that_moves_freely_hides_nothing(speed):
    runs = {
        angle: hl.simulate(with_spectator, [1.0, 0.0], [0.0, speed], 60 * angle / FREQUENCY, dt=angle / FREQUENCY)
        for angle in (0.5, 3.0, 50.0)
    }
    assert {k: run.certificate.verdict for k, run in runs.items()} == {0.5: "good", 3.0: "doubtful", 50.0: "doubtful"}
    assert "Reduce dt" in str(runs[50.0].certificate)


METHODS = [
    hl.RK4(), hl.SymplecticEuler(), hl.Splitting(2), hl.Splitting(4), hl.Splitting(8), hl.Radau(2), hl.Radau(3),
    hl.Gauss(1), hl.Gauss(2), hl.Gauss(4),
]  # fmt: skip
driven = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * FREQUENCY**2 * q[0] ** 2 + q[0] * jnp.cos(t), coordinates=("x",)
)


def exact(t):
    steady = np.cos(t) / (FREQUENCY**2 - 1.0)
    return steady + (1.0 - 1.0 / (FREQUENCY**2 - 1.0)) * np.cos(FREQUENCY * t)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_stated_error_is_that_of_the_state(method):
    """Against the closed form, for eight steps a period; the run is good where the error is below a hundredth."""
    dt = 2 * np.pi / FREQUENCY / 8
    run = hl.simulate(driven, [1.0], [0.0], 60 * dt, dt=dt, method=method)
    true = np.max(np.abs(run.q[:, 0] - exact(run.t))) / np.ptp(exact(run.t))
    found = run.certificate
    assert true / 6.0 < found.error < 6.0 * true
    assert bool(found) == (true < 2e-2)


def test_a_stiff_spring_at_rest_and_a_transient_that_has_decayed_are_good():
    stiff = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) - 0.5 * q[0] ** 2 - 0.5e8 * q[1] ** 2, coordinates=("slow", "stiff")
    )
    resting = hl.simulate(stiff, [1.0, 0.0], [0.0, 0.0], 5.0, dt=0.05, method=hl.Gauss(2))
    assert resting.certificate.verdict == "good"
    damped = stiff.forced(lambda t, q, v: jnp.array([0.0, -2e4]) * v)
    decayed = hl.simulate(damped, [1.0, 1e-3], [0.0, 0.0], 5.0, dt=0.05, method=hl.Radau(3))
    assert decayed.certificate.verdict == "good"

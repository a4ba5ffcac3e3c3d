"""Motions whose answer is known from elsewhere."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.examples import double_pendulum

import holonomy as hl

# (θ₁, θ₂, ω₁, ω₂) from (π/2, π/2, 0, 0), unit lengths and masses, g = 9.81, computed in 40 digits
DOUBLE = {
    1.0: (-0.62508769980639, -1.03458508568, -3.922279572888, -1.3030992486963),
    5.0: (-0.62718670506653, -1.3013155502098, 2.1254086738429, 3.8818887272656),
}


@pytest.mark.parametrize(
    ("method", "dt"),
    [(hl.Gauss(3), 0.004), (hl.Gauss(4), 0.01), (hl.RK4(), 0.0005), (hl.Adaptive(8, 1e-11, 1e-11), 0.5)],
    ids=lambda x: getattr(x, "label", str(x)),
)
def test_double_pendulum_against_forty_digits(method, dt):
    run = hl.simulate(double_pendulum, [np.pi / 2] * 2, [0.0, 0.0], 5.0, dt=dt, method=method, save_at=[1.0, 5.0])
    for k, t in enumerate((1.0, 5.0)):
        np.testing.assert_allclose(np.r_[run.q[k], run.v[k]], DOUBLE[t], rtol=0, atol=1e-9)


def test_spherical_pendulum_keeps_its_momentum():
    system = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.l**2 * (v[0] ** 2 + (jnp.sin(q[0]) * v[1]) ** 2) + p.g * p.l * jnp.cos(q[0]),
        coordinates={"theta": "angle", "phi": "angle"},
        parameters={"l": 1.0, "g": 9.81},
    )
    run = hl.simulate(system, [1.0, 0.0], [0.2, 1.5], 100.0, dt=0.02, method=hl.Gauss(3))
    p_phi = np.sin(run.q[:, 0]) ** 2 * run.v[:, 1]
    assert np.max(np.abs(p_phi / p_phi[0] - 1)) < 1e-12
    assert list(run.certificate.conserved) == ["p_phi"]
    assert run.certificate.conserved["p_phi"] < 1e-12 * p_phi[0]


def test_kepler_energy_band_does_not_grow_over_a_thousand_periods():
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) + 1.0 / jnp.sqrt(jnp.dot(q, q)), coordinates=("x", "y")
    )
    eccentricity = 0.6
    start = [1 - eccentricity, 0.0], [0.0, np.sqrt((1 + eccentricity) / (1 - eccentricity))]
    per_period = 100
    run = hl.simulate(system, *start, 2000 * np.pi, dt=2 * np.pi / per_period, method=hl.Gauss(3))
    error = run.energy - run.energy[0]
    first, last = np.ptp(error[: 100 * per_period]), np.ptp(error[-100 * per_period :])
    assert first > 1e-10, "a step this coarse must leave a visible band, or the test shows nothing"
    assert last <= 2 * first


def test_relativistic_particle_on_its_hyperbola():
    force = 0.7
    system = hl.System.from_lagrangian(
        lambda t, q, v, p: -jnp.sqrt(1.0 - v[0] ** 2) + p.f * q[0], coordinates=("x",), parameters={"f": force}
    )
    run = hl.simulate(system, [0.0], [0.0], 10.0, dt=0.05)
    exact = (np.sqrt(1 + (force * run.t) ** 2) - 1) / force
    np.testing.assert_allclose(run.q[:, 0], exact, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.v[:, 0], force * run.t / np.sqrt(1 + (force * run.t) ** 2), rtol=0, atol=1e-11)


def test_bead_on_a_turning_hoop_moves_as_the_lecture_says():
    """θ̈ = (ω² cos θ − g/r) sin θ, from positions that turn with time: T₀ is not zero and energy is not conserved."""
    r, g, omega = 0.8, 9.81, 5.0

    def bead(t, q, p):
        s, c = jnp.sin(q[0]), jnp.cos(q[0])
        return p.r * jnp.stack([s * jnp.cos(p.w * t), s * jnp.sin(p.w * t), -c])[None]

    system = hl.System.from_positions(
        bead,
        1.3,
        lambda t, q, p: 1.3 * p.g * bead(t, q, p)[0, 2],
        coordinates={"theta": "angle"},
        parameters={"r": r, "g": g, "w": omega},
    )
    for theta in (0.3, 1.2, 2.9):
        expected = (omega**2 * np.cos(theta) - g / r) * np.sin(theta)
        np.testing.assert_allclose(system.acceleration(0.4, [theta], [0.9]), [expected], rtol=1e-12)
    run = hl.simulate(system, [0.3], [0.0], 5.0, dt=0.005)
    h = 0.5 * 1.3 * r**2 * (run.v**2 - (omega * np.sin(run.q)) ** 2) - 1.3 * g * r * np.cos(run.q)
    assert np.ptp(run.energy) > 0.1, "the motor does work on the bead"
    assert np.ptp(h) < 1e-10, "Jacobi's integral is conserved"

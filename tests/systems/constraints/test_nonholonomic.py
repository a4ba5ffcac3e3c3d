"""Velocity constraints: closed forms, energy, reversibility, and the constraint itself."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.constraints.examples import edge, skate, skate_on_slope

import holonomy as hl

OMEGA, SPAN = 1.7, 3.0
SKATE = (np.zeros(3), np.array([0.0, 0.0, OMEGA]))
METHODS = [
    (hl.Gauss(3), 0.05, 1e-9),
    (hl.RK4(), 0.005, 1e-9),
    (hl.Adaptive(8, 1e-12, 1e-12), 0.5, 1e-9),
    (hl.Radau(3), 0.01, 1e-9),
]


@pytest.mark.parametrize(("method", "dt", "allowed"), METHODS, ids=lambda x: getattr(x, "label", ""))
def test_skate_on_a_slope(method, dt, allowed):
    run = hl.simulate(skate, *SKATE, SPAN, dt=dt, method=method)
    exact = np.stack([skate_on_slope(t, float(skate.parameters.slope), OMEGA) for t in run.t])
    np.testing.assert_allclose(run.q, exact, atol=allowed)
    assert run.certificate.velocity_violation < 1e-13
    assert run.certificate.energy_conserved
    assert run.certificate.energy_drift < 1e-8


def dumbbell(*edges):
    """Two masses at the ends of a rod of length 2, its centre and angle as coordinates, on knife edges."""
    free = hl.System.from_positions(
        lambda t, q: jnp.stack([q[:2] + s * jnp.stack([jnp.cos(q[2]), jnp.sin(q[2])]) for s in (-1.0, 1.0)]),
        [1.0, 1.0],
        coordinates={"x": "length", "y": "length", "phi": "angle"},
    )
    return free.constrained(velocity=lambda t, q, v: jnp.concatenate([e(t, q, v) for e in edges]))


def at_end(side):
    """An edge along the rod at one of its ends: no motion across."""
    return lambda t, q, v: edge(t, q, v) - side * v[2]


def across(t, q, v):
    """An edge across the rod at its centre: no motion along."""
    return jnp.stack([jnp.cos(q[2]) * v[0] + jnp.sin(q[2]) * v[1]])


def test_dumbbell_on_one_edge_goes_round_and_on_two_straight_on():
    """The lecture says that an edge along the rod makes a straight line; one edge does not, one at each end does."""
    one, two = dumbbell(edge), dumbbell(at_end(1.0), at_end(-1.0))
    start = np.array([0.0, 0.0, 0.3])
    round_, t = hl.simulate(one, start, [np.cos(0.3), np.sin(0.3), 0.8], 4.0, dt=0.05), 4.0
    size = 1.0 / 0.8
    circle = [size * (np.sin(0.3 + 0.8 * t) - np.sin(0.3)), size * (np.cos(0.3) - np.cos(0.3 + 0.8 * t)), 0.3 + 0.8 * t]
    np.testing.assert_allclose(round_.q[-1], circle, atol=1e-10)
    straight = hl.simulate(two, start, [np.cos(0.3), np.sin(0.3), 0.0], 4.0, dt=0.05)
    np.testing.assert_allclose(straight.q[-1], [4 * np.cos(0.3), 4 * np.sin(0.3), 0.3], atol=1e-12)
    assert (one.dof(0.0, start), two.dof(0.0, start)) == (2, 1)
    with pytest.raises(ValueError, match="v0 is about"):
        hl.simulate(two, start, [np.cos(0.3), np.sin(0.3), 0.8], 4.0, dt=0.05)


def test_dumbbell_on_an_edge_across_goes_sideways_round():
    sideways = dumbbell(across)
    run = hl.simulate(sideways, [0.0, 0.0, 0.0], [0.0, 1.0, 0.5], 4.0, dt=0.05)
    np.testing.assert_allclose(run.q[-1], [2 * (np.cos(2.0) - 1), 2 * np.sin(2.0), 2.0], atol=1e-10)


def rolling_conditions(t, q, v):
    """The disc's point on the ground is at rest: v_c = R θ' e₃ − R (ψ' + φ' cos θ) n."""
    _, _, theta, phi, _ = q
    slide, spin = v[2] * jnp.sin(theta), v[4] + v[3] * jnp.cos(theta)
    return jnp.stack(
        [v[0] - slide * jnp.sin(phi) + spin * jnp.cos(phi), v[1] + slide * jnp.cos(phi) + spin * jnp.sin(phi)]
    )


def disc_lagrangian(t, q, v):
    """Radius, mass and gravity one; moments ¼ about a diameter and ½ about the axis; height sin θ."""
    theta, turn = q[2], v[3] * jnp.sin(q[2])
    spin = v[4] + v[3] * jnp.cos(theta)
    slide = v[0] ** 2 + v[1] ** 2 + (jnp.cos(theta) * v[2]) ** 2
    return 0.5 * slide + 0.125 * (v[2] ** 2 + turn**2) + 0.25 * spin**2 - jnp.sin(theta)


disc = hl.System.from_lagrangian(
    disc_lagrangian, {"x": "length", "y": "length", "theta": "angle", "phi": "angle", "psi": "angle"}
).constrained(velocity=rolling_conditions)
DISC = disc.project(0.0, [0.0, 0.0, 1.2, 0.3, 0.0], [0.0, 0.0, 0.1, 0.4, 2.0])


def test_rolling_disc_keeps_its_energy():
    run = hl.simulate(disc, *DISC, 10.0, dt=0.01, method=hl.Gauss(3), save_every=50)
    assert run.certificate.energy_drift < 1e-11
    assert run.certificate.velocity_violation < 1e-13


def test_rolling_disc_a_thousand_steps_there_and_back():
    there = hl.simulate(disc, *DISC, 10.0, dt=0.01, method=hl.Gauss(3), save_every=1000)
    back = hl.simulate(disc, there.q[-1], there.v[-1], 0.0, t0=10.0, dt=0.01, method=hl.Gauss(3), save_every=1000)
    np.testing.assert_allclose(back.q[-1], DISC[0], atol=1e-11)
    np.testing.assert_allclose(back.v[-1], DISC[1], atol=1e-11)


def test_moving_belt_is_a_velocity_constraint_with_a_rate_of_its_own():
    """A block stuck to a belt of speed 2: affine, not linear, in v; energy is not conserved uphill."""
    belt = hl.System.from_metric(lambda q: jnp.eye(2), lambda t, q: 9.81 * q[1], ("x", "y")).constrained(
        velocity=lambda t, q, v: jnp.stack([v[0] - 2.0 * jnp.cos(0.5), v[1] - 2.0 * jnp.sin(0.5)])
    )
    run = hl.simulate(belt, [0.0, 0.0], [2.0 * np.cos(0.5), 2.0 * np.sin(0.5)], 1.0, dt=0.1)
    np.testing.assert_allclose(run.q[-1], [2.0 * np.cos(0.5), 2.0 * np.sin(0.5)], atol=1e-13)
    np.testing.assert_allclose(run.multipliers, np.tile([0.0, 9.81], (11, 1)), atol=1e-12)
    assert not run.certificate.energy_conserved
    assert "symplectic" not in run.certificate.method

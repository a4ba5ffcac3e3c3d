"""Friction in whole runs: blocks on inclines and floors, against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

G = 9.81


def block(parameters):
    """A block on an incline of angle p.tilt, pulled along x by a force that grows like p.pull·t."""
    point = hl.System.from_positions(
        lambda t, q, p: q[None],
        masses=2.0,
        potential=lambda t, q, p: 2.0 * G * q[1],
        coordinates=("x", "y"),
        parameters=parameters,
    ).forced(lambda t, q, v, p: jnp.stack([p.pull * t, 0.0 * t]))
    return point.constrained(
        unilateral=lambda t, q, p: -jnp.sin(p.tilt) * q[0] + jnp.cos(p.tilt) * q[1], restitution=0.0, friction=0.5
    )


BLOCK = block({"tilt": 0.0, "pull": 0.0})
LIMIT = np.arctan(0.5)


def along(tilt):
    return np.array([np.cos(tilt), np.sin(tilt)])


@pytest.mark.parametrize("tilt", [0.2, LIMIT - 1e-9])
def test_a_block_sticks_below_the_angle_of_friction(tilt):
    run = hl.simulate(BLOCK.with_parameters(tilt=tilt), [0.0, 0.0], [0.0, 0.0], 2.0, dt=0.1)
    np.testing.assert_allclose(run.q, 0.0, rtol=0, atol=1e-14)
    weight = 2.0 * G
    np.testing.assert_allclose(run.multipliers[-1], [weight * np.cos(tilt), weight * np.sin(tilt)], rtol=1e-12)


@pytest.mark.parametrize("tilt", [LIMIT + 1e-6, 0.8])
def test_a_block_slides_above_it_with_the_known_acceleration(tilt):
    run = hl.simulate(BLOCK.with_parameters(tilt=tilt), [0.0, 0.0], [0.0, 0.0], 2.0, dt=0.1)
    fall = G * (np.sin(tilt) - 0.5 * np.cos(tilt))
    np.testing.assert_allclose(run.q @ along(tilt), -0.5 * fall * run.t**2, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.v[-1] @ along(tilt), -2.0 * fall, rtol=1e-8, atol=1e-13)


def test_a_block_that_slides_stops_at_its_instant_and_stays():
    run = hl.simulate(BLOCK, [0.0, 0.0], [3.0, 0.0], 2.0, dt=0.1)
    stop = 3.0 / (0.5 * G)
    (at,) = run.events.of("stick 0")
    assert abs(run.events.t[at] - stop) < 1e-14
    np.testing.assert_allclose(run.q[-1], [9.0 / G, 0.0], rtol=0, atol=1e-14)
    assert np.all(run.v[run.t > stop] == 0)
    assert np.all(np.diff(run.energy) <= 1e-14)


def test_a_block_thrown_up_an_incline_turns_round():
    tilt, up = 0.8, 3.0
    run = hl.simulate(BLOCK.with_parameters(tilt=tilt), [0.0, 0.0], up * along(tilt), 2.0, dt=0.1)
    turn = up / (G * (np.sin(tilt) + 0.5 * np.cos(tilt)))
    (at,) = run.events.of("slip 0")
    assert abs(run.events.t[at] - turn) < 1e-13
    back = G * (np.sin(tilt) - 0.5 * np.cos(tilt))
    np.testing.assert_allclose(run.q[-1] @ along(tilt), 0.5 * up * turn - 0.5 * back * (2.0 - turn) ** 2, rtol=1e-12)


def test_a_growing_pull_breaks_a_block_loose_at_its_instant():
    run = hl.simulate(BLOCK.with_parameters(pull=7.0), [0.0, 0.0], [0.0, 0.0], 3.0, dt=0.1)
    loose = 0.5 * 2.0 * G / 7.0
    (at,) = run.events.of("slip 0")
    assert abs(run.events.t[at] - loose) < 1e-12
    np.testing.assert_allclose(run.q[-1, 0], 7.0 * (3.0 - loose) ** 3 / 12.0, rtol=1e-11)


def test_friction_at_an_impact_is_bounded_by_the_normal_impulse():
    fall = np.sqrt(2.0 * G)
    run = hl.simulate(BLOCK, [0.0, 1.0], [3.0, 0.0], 0.5, dt=0.1)
    np.testing.assert_allclose(run.events.v_after[0], [3.0 - 0.5 * fall, 0.0], rtol=0, atol=1e-13)
    run = hl.simulate(BLOCK, [0.0, 1.0], [1.0, 0.0], 0.5, dt=0.1)
    np.testing.assert_allclose(run.events.v_after[0], [0.0, 0.0], rtol=0, atol=1e-13)


def test_a_puck_on_a_tilted_table_turns_downhill():
    """In space, friction follows the slip: a first integral of the motion, kept with the method's order."""
    tilt, mu = 0.3, 0.5
    table = hl.System.from_positions(
        lambda t, q: q[None],
        masses=1.0,
        potential=lambda t, q: G * (np.cos(tilt) * q[2] + np.sin(tilt) * q[1]),
        coordinates=("x", "y", "z"),
    ).constrained(unilateral=lambda t, q: q[2], restitution=0.0, friction=mu)
    # v (1 + cos φ)^k / sin(φ)^(k-1) is constant, φ the angle from the downhill line and k = μ/tan(tilt)
    k = mu / np.tan(tilt)
    errors = []
    for dt in (0.01, 0.005):
        run = hl.simulate(table, [0.0, 0.0, 0.0], [2.0, 0.5, 0.0], 3.0, dt=dt)
        assert len(run.events.of("stick 0")) == 1
        np.testing.assert_allclose(run.v[-1], 0.0, rtol=0, atol=1e-15)
        speed = np.hypot(*run.v[:, :2].T)
        moving = run.t <= 0.3  # direction changes ever faster as the puck slows down
        cosine, sine = -run.v[moving, 1] / speed[moving], run.v[moving, 0] / speed[moving]
        constant = speed[moving] * (1.0 + cosine) ** k / sine ** (k - 1.0)
        errors.append(np.max(np.abs(constant / constant[0] - 1.0)))
    assert errors[1] < 1e-8
    assert abs(np.log2(errors[0] / errors[1]) - 4.0) < 0.2


def test_friction_that_cannot_be_is_refused():
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), coordinates=("x", "y"))

    def wall(t, q):
        return q[1]

    with pytest.raises(ValueError, match="slip=s"):
        free.constrained(unilateral=wall, friction=0.3)
    with pytest.raises(ValueError, match="negative"):
        free.constrained(unilateral=wall, friction=-0.3, slip=lambda t, q, v: v[0])
    with pytest.raises(ValueError, match="belong to unilateral"):
        free.constrained(holonomic=wall, friction=0.3)
    rough = free.constrained(unilateral=wall, friction=0.3, slip=lambda t, q, v: v[0])
    with pytest.raises(ValueError, match="cannot hold friction"):
        hl.simulate(rough, [0.0, 1.0], [0.0, 0.0], 1.0, dt=0.1, method=hl.Gauss(2))
    with pytest.raises(ValueError, match="backwards"):
        hl.simulate(rough, [0.0, 1.0], [0.0, 0.0], -1.0, dt=0.1)

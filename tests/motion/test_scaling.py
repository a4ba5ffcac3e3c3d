"""The motion does not depend on the units of single coordinates, on the origin, on a boost, or on a spectator."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

METHODS = [hl.SymplecticEuler(), hl.Gauss(1), hl.Gauss(3), hl.Radau(3)]
oscillators = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.mass * (v[0] ** 2 - q[0] ** 2) + 0.5 * v[1] ** 2 - q[1] ** 4,
    coordinates=("x", "y"),
    parameters={"mass": 1.0},
)
chain = hl.System.from_lagrangian(  # a quartic spring between two masses and one to the wall, x₁ in units of its own
    lambda t, q, v, p: (
        0.5 * (v[0] * p.unit) ** 2 + 0.5 * v[1] ** 2 - 0.25 * (q[0] * p.unit - q[1]) ** 4 - 0.5 * q[1] ** 2
    ),
    coordinates=("x", "y"),
    parameters={"unit": 1.0},
)
couple = hl.System.from_lagrangian(  # a light body on a spring at a heavy one
    lambda t, q, v, p: 0.5 * p.mass * v[0] ** 2 + 0.5 * v[1] ** 2 - 0.5 * (q[1] - q[0]) ** 2,
    coordinates=("x", "y"),
    parameters={"mass": 1.0},
)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.label)
def test_a_heavy_spectator_changes_nothing(method):
    ends = [
        hl.simulate(oscillators.with_parameters(mass=m), [1.0, 0.5], [0.0, 0.3], 20.0, dt=0.05, method=method).q[-1, 1]
        for m in (1.0, 1e-10, 1e5, 1e10)
    ]
    np.testing.assert_allclose(ends, ends[0], rtol=1e-13)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.label)
def test_units_of_one_coordinate_change_nothing(method):
    for unit in (1e-8, 1e3, 1e9):
        run = hl.simulate(
            chain.with_parameters(unit=unit), [0.8 / unit, 0.5], [0.2 / unit, 0.3], 5.0, dt=0.05, method=method
        )
        same = hl.simulate(chain, [0.8, 0.5], [0.2, 0.3], 5.0, dt=0.05, method=method)
        np.testing.assert_allclose(run.q[-1] * [unit, 1.0], same.q[-1], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.label)
def test_a_boost_changes_nothing_but_the_digits_it_takes(method):
    """A light body bound to a heavy one: the relative orbit, when both fly by, keeps what rounding of x leaves."""
    heavy, speed = couple.with_parameters(mass=1e10), 1e3
    rest = hl.simulate(heavy, [0.0, 1.0], [0.0, 0.0], 20.0, dt=0.05, method=method)
    fly = hl.simulate(heavy, [0.0, 1.0], [speed, speed], 20.0, dt=0.05, method=method)
    relative = np.dot(fly.q[-1], [-1.0, 1.0]) - np.dot(rest.q[-1], [-1.0, 1.0])
    assert abs(relative) < 100 * np.finfo(float).eps * speed * 20.0


def test_sun_and_asteroid_in_si_units():
    """Masses of 2e30 and 1e10 kg: not a singular mass matrix; the orbit is the reduced one."""
    sun, far, gravity = 1.989e30, 1.496e11, 6.6743e-11
    pair = hl.System.from_lagrangian(
        lambda t, q, v, p: (
            0.5 * p.masses[0] * jnp.dot(v[:2], v[:2])
            + 0.5 * p.masses[1] * jnp.dot(v[2:], v[2:])
            + p.g * p.masses[0] * p.masses[1] / jnp.sqrt(jnp.dot(q[2:] - q[:2], q[2:] - q[:2]))
        ),
        coordinates=("X", "Y", "x", "y"),
        parameters={"masses": np.array([sun, 1e10]), "g": gravity},
    )
    speed = np.sqrt(gravity * sun / far)
    period = 2 * np.pi * far / speed
    run = hl.simulate(pair, [0.0, 0, far, 0], [0.0, 0, 0, speed], period, dt=period / 400, method=hl.Gauss(3))
    np.testing.assert_allclose((run.q[-1, 2:] - run.q[-1, :2]) / far, [1.0, 0.0], atol=1e-9)
    radii = np.linalg.norm(run.q[:, 2:] - run.q[:, :2], axis=1)
    np.testing.assert_allclose(radii, far, rtol=1e-9)


def test_a_coordinate_without_mass_is_still_refused():
    for scale in (1.0, 1e-12, 1e12):
        bad = hl.System.from_lagrangian(
            lambda t, q, v, s=scale: 0.5 * s * (v[0] + v[1]) ** 2 - s * q[0] ** 2, coordinates=("x", "y")
        )
        with pytest.raises(ValueError, match="mass matrix is singular"):
            hl.simulate(bad, [1.0, 0.0], [0.0, 0.0], 1.0, dt=0.1)


ground = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * jnp.dot(v, v) - p.g * q[1],
    coordinates=("x", "y"),
    parameters={"g": 9.81, "apex": np.zeros(2), "left": 0.6, "right": 0.6},
)


def groove(t, q, p):
    """Two planes that rise from the apex by the angles `left` and `right`."""
    x, y = q - p.apex
    return jnp.stack([jnp.cos(p.left) * y + jnp.sin(p.left) * x, jnp.cos(p.right) * y - jnp.sin(p.right) * x])


def test_grooves_slopes_and_corners_in_places_and_units():
    """A ball falls to the bottom and rests; lengths in other units and the apex elsewhere are the same motion."""
    system = ground.constrained(unilateral=groove, restitution=0.0)
    shapes = [(0.6, 0.6), (0.9, 0.3), (1.2, 0.9), (np.pi / 2, 0.0), (0.3, 1.2)]  # the fourth is a corner of a room
    places = [(np.zeros(2), 1.0), (np.array([1.3, -0.7]), 1.0), (np.zeros(2), 1e-6), (np.array([0.0, 5e4]), 1e4)]
    places += [(np.array([300.0, 0.0]), 1.0)]
    for left, right in shapes:
        runs = []
        for apex, unit in places:
            placed = system.with_parameters(left=left, right=right, apex=apex, g=9.81 * unit)
            run = hl.simulate(placed, apex + unit * np.array([0.1, 1.0]), [0.0, 0.0], 2.0, dt=0.01, method=hl.Rattle(4))
            runs.append((run.q - apex) / unit)
        for other in runs[1:]:
            np.testing.assert_allclose(other, runs[0], atol=1e-9)

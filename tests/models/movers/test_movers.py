"""Movers with inertia and wheels, each against what is known of it otherwise."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

import holonomy as hl

CYCLE = hl.Gait.fourier([1.0, 1.0], [[0.3, 0.0]], [[0.0, 0.4]])


def test_raft_turns_by_the_known_angle() -> None:
    mass, inertia, bob, length, polar = 2.0, 0.7, 1.3, 0.9, 0.8
    raft = hl.models.raft(mass, inertia, bob, length)
    found = hl.perform(raft, hl.Gait.fourier([polar, 0.3], turns=[0, 1]))
    j = bob * mass / (bob + mass) * (length * np.sin(polar)) ** 2
    assert found.displacement[2] == pytest.approx(-2 * np.pi * j / (inertia + j), abs=1e-12)
    # the common centre of mass stays where it is
    angle = found.displacement[2] + 0.3
    share = bob / (mass + bob) * length * np.sin(polar)
    start, end = (share * np.array([np.cos(a), np.sin(a)]) for a in (0.3, angle))
    np.testing.assert_allclose(found.displacement[:2], start - end, rtol=0, atol=1e-13)


def test_raft_with_momentum_drifts() -> None:
    """With the shape at rest the centre of mass moves evenly and the body turns evenly about it."""
    mass, inertia, bob, length, polar = 2.0, 0.7, 1.3, 0.9, 0.8
    raft = hl.models.raft(mass, inertia, bob, length)
    push, spin, period = np.array([0.4, -0.2]), 0.3, 3.0
    found = hl.perform(raft, hl.Gait.fourier([polar, 0.0], period=period), momentum=[*push, spin])
    out = length * np.sin(polar)
    centre = np.array([bob / (mass + bob) * out, 0.0])
    about = spin - (centre[0] * push[1] - centre[1] * push[0])
    angle = period * about / (inertia + mass * bob / (mass + bob) * out**2)
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ centre
    place = centre + period * push / (mass + bob) - turned
    np.testing.assert_allclose(found.displacement, [*place, angle], rtol=0, atol=1e-13)


@pytest.mark.parametrize(("space", "moved"), [(hl.Sphere(2), -0.242415120642), (hl.Hyperbolic(2), 0.068991762550)])
def test_body_swims_in_curved_space(space: Any, moved: float) -> None:
    found = hl.perform(hl.models.curved_body(space), CYCLE).displacement
    np.testing.assert_allclose(found, [moved, 0.0, 0.0], rtol=0, atol=1e-12)


def test_swimming_is_linear_in_a_small_curvature_and_stops_in_the_plane() -> None:
    flat = hl.perform(hl.models.curved_body(hl.Euclidean(2)), CYCLE).displacement
    assert np.abs(flat).max() < 1e-14
    ratios = []
    for radius in (16.0, 32.0):
        for space in (hl.Sphere(2, radius=radius), hl.Hyperbolic(2, radius=radius)):
            moved = hl.perform(hl.models.curved_body(space), CYCLE).displacement[0]
            ratios.append(moved * radius**2 * (1 if isinstance(space, hl.Sphere) else -1))
    round16, hyper16, round32, hyper32 = ratios
    # the next order in the curvature has the other sign on the other space, and is a quarter at twice the radius
    assert round16 - hyper16 == pytest.approx(4 * (round32 - hyper32), rel=1e-3)
    assert (round16 + hyper16) / 2 == pytest.approx((round32 + hyper32) / 2, rel=1e-5)
    assert (round32 + hyper32) / 2 == pytest.approx(-0.1413, abs=5e-4)


def test_cat_turns_over_with_angular_momentum_zero() -> None:
    cat = hl.models.falling_cat()

    def turn(bend: float) -> float:
        g = np.asarray(hl.perform(cat, hl.Gait.ellipse(0.0, bend)).element)
        return float(2 * np.arctan2(g[3], g[0]))

    bend = brentq(lambda b: turn(b) + np.pi, 1.0, 1.5, xtol=1e-15)
    gait = hl.Gait.ellipse(0.0, bend)
    element = np.asarray(hl.perform(cat, gait).element)
    np.testing.assert_allclose(np.abs(element), [0, 0, 0, 1], rtol=0, atol=1e-13)
    # angular momentum from the motion of both halves, written with rotation matrices
    for t in (0.1, 0.37, 0.8):
        r, rate = np.asarray(gait(t)), np.asarray(gait.velocity(t))
        omega = -np.asarray(cat.connection(r)) @ rate
        assert np.abs(cat_momentum(r, rate, omega)).max() < 1e-12
        assert np.abs(cat_momentum(r, rate, 0 * omega)).max() > 1e-2


def cat_momentum(bend: np.ndarray, rate: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Angular momentum about the centre of mass, of halves with the default numbers, by Rodrigues' formulas."""

    def hat(v: np.ndarray) -> np.ndarray:
        return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])

    total, arm, sliding = np.zeros(3), np.zeros(3), np.zeros(3)
    for sign in (0.5, -0.5):
        w, change = sign * np.append(bend, 0.0), sign * np.append(rate, 0.0)
        a, m = np.linalg.norm(w), hat(w)
        turned = np.eye(3) + np.sin(a) / a * m + (1 - np.cos(a)) / a**2 * m @ m
        spin = (np.eye(3) + (1 - np.cos(a)) / a**2 * m + (a - np.sin(a)) / a**3 * m @ m) @ change
        total += turned @ np.diag([0.3, 0.3, 0.1]) @ turned.T @ (omega + spin)
        arm += 0.25 * turned[:, 2]
        sliding += 0.25 * np.cross(spin, turned[:, 2])
    return total + 2.0 * np.cross(arm, np.cross(omega, arm) + sliding)


def test_robot_in_space_keeps_its_centre_of_mass() -> None:
    robot = hl.models.space_robot()
    found = hl.perform(robot, hl.Gait.ellipse([0.5, 1.0], [0.6, 0.4]))
    assert abs(found.displacement[2]) > 0.01

    def centre(pose: np.ndarray, joints: np.ndarray) -> np.ndarray:
        place, heading = pose[0] + 1j * pose[1], pose[2]
        total, tip = 10.0 * place, place + 0.5 * np.exp(1j * heading)
        for joint in joints:
            heading += joint
            total += tip + 0.5 * np.exp(1j * heading)
            tip += np.exp(1j * heading)
        return total / 12.0

    centres = [centre(p, r) for p, r in zip(np.asarray(found.path), np.asarray(found.shapes), strict=True)]
    assert np.abs(np.array(centres) - centres[0]).max() < 1e-13


def test_car_parks_and_snake_slides_along_its_wheels() -> None:
    car = hl.models.car(wheelbase=2.0)
    expected = [[-1.0, 0.0], [0.0, 0.0], [-np.tan(0.4) / 2, 0.0]]
    np.testing.assert_allclose(car.connection([0.1, 0.4]), expected, rtol=0, atol=1e-14)
    assert car.controllability([0.0, 0.2])[:2] == (True, (1, 2, 3))
    snake = hl.models.snake()
    r, rate = np.array([0.7, -0.4]), np.array([0.3, 0.8])
    v = -np.asarray(snake.connection(r)) @ rate
    angles = np.array([-r[0], 0.0, r[1]])
    u = np.exp(1j * angles)
    centres = 0.5 * np.array([-1 - u[0], 0.0, 1 + u[2]])
    moving = v[0] + 1j * v[1] + 1j * v[2] * centres + 0.5j * np.array([u[0] * rate[0], 0.0, u[2] * rate[1]])
    assert np.abs((moving * np.conj(u)).imag).max() < 1e-14
    with pytest.raises(ValueError, match="axles of the snake meet"):
        snake.connection([0.3, 0.3])


def test_snakeboard_against_its_equations_of_motion() -> None:
    """The same board with its shape prescribed as a function of time, moved by `simulate` under its constraints."""
    gait = hl.Gait.fourier([0.2, 0.1], [[0.5, 0.0], [0.0, 0.2]], [[0.3, 0.4], [0.0, 0.0]], period=2.0)
    board = hl.models.snakeboard()
    assert hl.locomotion.momentum_dim(board) == 1
    found = hl.perform(board, gait, momentum=[0.3])
    path = gait.path

    def shape(t: Any) -> tuple[Any, Any]:
        return jax.jvp(lambda s: path(s / 2.0), (t,), (jnp.ones_like(t),))

    def lagrangian(t: Any, q: Any, v: Any) -> Any:
        rate = shape(t)[1]
        turning = 0.3 * (v[2] + rate[0]) ** 2 + 0.1 * ((v[2] + rate[1]) ** 2 + (v[2] - rate[1]) ** 2)
        return 0.5 * (v[0] ** 2 + v[1] ** 2 + 0.5 * v[2] ** 2 + turning)

    def rolling(t: Any, q: Any, v: Any) -> Any:
        steering = shape(t)[0][1]
        rows = []
        for sign in (1.0, -1.0):
            angle = q[2] + sign * steering
            rows.append(-jnp.sin(angle) * v[0] + jnp.cos(angle) * v[1] + sign * jnp.cos(steering) * v[2])
        return jnp.stack(rows)

    system = hl.System.from_lagrangian(lagrangian, coordinates=("x", "y", "theta")).constrained(velocity=rolling)
    # the velocity at the start with the same momentum along the free direction
    start = np.asarray(gait(0.0))
    xi = start_velocity(start, np.asarray(gait.velocity(0.0)), 0.3)
    run = hl.simulate(system, [0.0, 0.0, 0.0], xi, 2.0, dt=0.005, method=hl.Gauss(3), save_every=400)
    np.testing.assert_allclose(found.displacement, run.q[-1], rtol=0, atol=2e-9)
    assert abs(found.momentum[0] - 0.3) > 0.02


def start_velocity(r: np.ndarray, rate: np.ndarray, p: float) -> np.ndarray:
    """The body velocity that satisfies both constraints and has this momentum, by a linear system written out."""
    c, s = np.cos(r[1]), np.sin(r[1])
    rows = np.array([[-s, c, c], [s, c, -c]])
    free = np.cross(rows[0], rows[1])
    free /= np.linalg.norm(free)
    inertia = np.diag([1.0, 1.0, 0.5 + 0.3 + 0.2])
    drive = np.array([0.0, 0.0, 0.3 * rate[0]])
    matrix = np.vstack([rows, free @ inertia])
    return np.linalg.solve(matrix, np.array([0.0, 0.0, p - float(free @ drive)]))

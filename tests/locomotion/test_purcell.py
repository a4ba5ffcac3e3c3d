"""Purcell's swimmer and the two balls against figures known otherwise, and theorems of loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.locomotion import curvature_integral

# The stroke known as most efficient: coefficients of cos kt and sin kt in coordinates turned by 45 degrees.
BEST = {
    1: (1.495398722861924, 1.326600886340017),
    3: (0.083253854456986, 0.089227148110158),
    5: (-0.034695750579259, -0.044759551791058),
}


@pytest.fixture(scope="module")
def purcell() -> hl.Mover:
    return hl.Purcell(length=1 / 3)


def best_stroke() -> hl.Gait:
    turn = np.sqrt(0.5) * np.array([[1.0, -1.0], [1.0, 1.0]])
    cosines, sines = np.zeros((5, 2)), np.zeros((5, 2))
    for k, (a, b) in BEST.items():
        cosines[k - 1], sines[k - 1] = turn @ [a, 0.0], -turn @ [0.0, b]
    return hl.Gait.fourier([0.0, 0.0], cosines, sines)


def force_balance(shape: np.ndarray, length: float, drag: float, ratio: float) -> np.ndarray:
    """The connection by writing out the balance of forces and torque link by link, in complex numbers."""
    angles = np.array([-shape[0], 0.0, shape[1]])
    u = np.exp(1j * angles)
    centres = 0.5 * length * np.array([-1 - u[0], 0.0, 1 + u[2]])
    # what the rates of the shape variables do to centres and angles
    turns = np.array([[-1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    moves = 0.5j * length * np.array([[u[0], 0.0], [0.0, 0.0], [0.0, u[2]]])

    def loads(v: complex, spin: float, rate: np.ndarray) -> np.ndarray:
        total = np.zeros(3)
        for k in range(3):
            velocity = v + 1j * spin * centres[k] + moves[k] @ rate
            local = velocity * np.conj(u[k])
            force = -length * drag * (local.real + 1j * ratio * local.imag) * u[k]
            torque = (np.conj(centres[k]) * force).imag - ratio * drag * length**3 / 12 * (spin + turns[k] @ rate)
            total += [force.real, force.imag, torque]
        return total

    still = np.zeros(2)
    matrix = np.stack([loads(1.0, 0.0, still), loads(1j, 0.0, still), loads(0.0, 1.0, still)], axis=1)
    right = np.stack([loads(0.0, 0.0, e) for e in np.eye(2)], axis=1)
    return np.linalg.solve(matrix, right)


def test_straight_position() -> None:
    swimmer = hl.Purcell()
    straight = [0.0, 0.0]
    expected = [[0.0, 0.0], [1 / 6, 1 / 6], [-7 / 27, 7 / 27]]
    np.testing.assert_allclose(swimmer.connection(straight), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(swimmer.power(straight), np.array([[16, 11], [11, 16]]) / 81, rtol=0, atol=1e-12)
    np.testing.assert_allclose(swimmer.curvature(straight)[:, 0, 1], [5 / 81, 0, 0], rtol=0, atol=1e-12)


def test_connection_against_a_balance_of_forces_written_out() -> None:
    swimmer = hl.Purcell(0.7, 1.3, 1.8)
    shapes = np.random.default_rng(23).uniform(-2.0, 2.0, (100, 2))
    connection = jax.jit(jax.vmap(swimmer.connection))(shapes)
    expected = np.stack([force_balance(r, 0.7, 1.3, 1.8) for r in shapes])
    np.testing.assert_allclose(connection, expected, rtol=0, atol=1e-12)


def test_circle_and_the_known_stroke(purcell: hl.Mover) -> None:
    circle = hl.perform(purcell, hl.Gait.ellipse(0.0, 1.0))
    np.testing.assert_allclose(circle.displacement[:2], [-0.0494990214, 0.0134003664], rtol=0, atol=1e-9)
    assert abs(circle.displacement[2]) < 1e-13  # by symmetry
    stroke = hl.perform(purcell, best_stroke())
    assert np.hypot(*stroke.displacement[:2]) == pytest.approx(0.087273, abs=5e-7)
    assert stroke.length == pytest.approx(0.78661, abs=5e-6)
    assert stroke.efficiency == pytest.approx(0.01231, abs=5e-6)


def test_steps_agree_with_twice_as_many(purcell: hl.Mover) -> None:
    gait = hl.Gait.ellipse([0.3, -0.2], [1.1, 0.7], angle=0.4)
    found = hl.perform(purcell, gait)
    more = hl.perform(purcell, gait, steps=2 * found.steps)
    np.testing.assert_allclose(found.displacement, more.displacement, rtol=0, atol=1e-14)
    assert found.error < 1e-13
    path = np.asarray(found.path)
    np.testing.assert_allclose(path[-1], found.displacement, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.shapes[len(path) // 2], gait(0.5), rtol=0, atol=1e-12)


def test_scallop_theorem(purcell: hl.Mover) -> None:
    back_and_forth = hl.Gait.ellipse([0.3, 0.1], [0.8, 0.0], angle=0.4)
    assert np.abs(hl.perform(purcell, back_and_forth).displacement).max() < 1e-14
    bent = hl.Gait.points([[0.0, 0.0], [0.4, 0.1], [1.0, 0.9], [0.4, 0.1]], smooth=False)
    assert np.abs(hl.perform(purcell, bent).displacement).max() < 1e-14


def test_timing_changes_the_energy_alone(purcell: hl.Mover) -> None:
    even = hl.Gait.ellipse([0.2, 0.1], [0.8, 0.5])
    uneven = hl.Gait.curve(lambda t: even(t + 0.1 * jnp.sin(2 * jnp.pi * t)))
    slow = hl.Gait.ellipse([0.2, 0.1], [0.8, 0.5], period=4.0)
    one, two, three = (hl.perform(purcell, g) for g in (even, uneven, slow))
    for other in (two, three):
        np.testing.assert_allclose(one.displacement, other.displacement, rtol=0, atol=1e-13)
        assert other.length == pytest.approx(one.length, rel=1e-13)
        assert other.efficiency == pytest.approx(one.efficiency, rel=1e-12)
    assert two.energy > 1.05 * one.energy
    assert three.energy == pytest.approx(one.energy / 4, rel=1e-13)
    backwards = hl.perform(purcell, even.reversed())
    space = hl.SE2()
    again = space.compose(one.element, backwards.element)
    np.testing.assert_allclose(again, space.identity, rtol=0, atol=1e-14)


def test_small_loops_enclose_the_curvature_to_third_order(purcell: hl.Mover) -> None:
    sizes = np.array([0.2, 0.1, 0.05])
    gaps = []
    for size in sizes:
        gait = hl.Gait.ellipse([0.4, 0.7], size)
        gaps.append(np.linalg.norm(hl.perform(purcell, gait).displacement - curvature_integral(purcell, gait)))
    orders = np.diff(np.log(gaps)) / np.diff(np.log(sizes))
    np.testing.assert_allclose(orders, 3.0, atol=0.05)
    # in the straight position, where the connection has no part that a small loop could confuse with it
    radius = 1e-3
    small = hl.perform(hl.Purcell(), hl.Gait.ellipse(0.0, radius))
    assert small.displacement[0] == pytest.approx(-5 / 81 * np.pi * radius**2, rel=1e-5)


def test_loops_of_two_balls_enclose_the_curvature() -> None:
    swimmer = hl.PushMePullYou()
    apart, v = 3.0, 0.3
    a, b = np.cbrt(3 * v / (4 * np.pi)), np.cbrt(3 * (1 - v) / (4 * np.pi))
    expected = [[-0.5 * (a - b) / (a + b), -1 / (4 * np.pi * apart**2)]]
    np.testing.assert_allclose(swimmer.connection([apart, v]), expected, rtol=0, atol=1e-14)
    power = np.diag([6 * np.pi * a * b / (a + b), 4 / 3 * (1 / v + 1 / (1 - v))])
    np.testing.assert_allclose(swimmer.power([apart, v]), power, rtol=0, atol=1e-13)
    three = hl.models.three_spheres()
    corners = np.array([[2.0, 0.2], [3.0, 0.3], [2.5, 0.6], [2.2, 0.3]])
    for mover, gait in (
        (swimmer, hl.Gait.ellipse([3.0, 0.4], [0.5, 0.2], phase=0.3)),
        (swimmer, hl.Gait.points(corners)),
        (swimmer, hl.Gait.points(corners, smooth=False)),
        (three, hl.Gait.ellipse([1.0, 1.1], [0.3, 0.4])),
    ):
        found = hl.perform(mover, gait)
        assert abs(found.displacement[0]) > 1e-3
        np.testing.assert_allclose(found.displacement, curvature_integral(mover, gait), rtol=0, atol=1e-13)


def test_three_spheres_as_published() -> None:
    """Golestanian and Ajdari 2008, equal radii a and arms L, small strokes u: V = 7a/(24 L^2) <u1 u2' - u2 u1'>."""
    radius, size = 0.002, 0.02
    moved = hl.perform(hl.models.three_spheres(radius), hl.Gait.ellipse([1.0, 1.0], size)).displacement[0]
    assert moved == pytest.approx(7 * radius / 24 * 2 * np.pi * size**2, rel=0.01)


def test_controllability(purcell: hl.Mover) -> None:
    found = purcell.controllability([0.3, 0.5])
    assert found.controllable
    assert found.growth == (1, 3)
    two = hl.models.links([1.0, 1.0])
    assert two.controllability([0.4]) == (False, (0, 0), pytest.approx(np.zeros((3, 0))))


def test_gradient_of_a_displacement() -> None:
    swimmer = hl.PushMePullYou()

    def moved(size: jax.Array) -> jax.Array:
        return hl.perform(swimmer, hl.Gait.ellipse([3.0, 0.5], size * jnp.array([0.5, 0.3]))).displacement[0]

    value, slope = jax.jit(jax.value_and_grad(moved))(1.0)
    assert value == pytest.approx(moved(jnp.ones(())), abs=1e-13)
    step = 1e-4
    ends = [moved(jnp.asarray(1.0 + e)) for e in (step, -step)]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-7)

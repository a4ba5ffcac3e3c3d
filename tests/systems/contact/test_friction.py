"""Coulomb's law as functions of arrays, against cases solved by hand and the principle it follows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from holonomy.systems.constraints.slip import slip_of, tangents
from holonomy.systems.contact.complementarity import EXHAUSTED, SOLVED
from holonomy.systems.contact.friction import contacts, friction_impulses, in_mode, modes
from holonomy.systems.contact.impact import delassus
from holonomy.trace.native import compiler

G = 9.81
FLOOR = jnp.array([[0.0, 1.0]])
ALONG = jnp.array([[[1.0, 0.0]]])
TRUE, FALSE = jnp.array([True]), jnp.array([False])
MODES = jax.jit(modes)


def on_incline(angle, mass=2.0):
    """A block on an incline: normal and tangential accelerations without contact, and how forces act."""
    free = jnp.array([-G * np.cos(angle)])
    creep = jnp.array([[-G * np.sin(angle)]])
    return contacts(mass * jnp.eye(2), None, FLOOR, ALONG), free, creep


@pytest.mark.parametrize("mu", [0.2, 0.7])
def test_block_sticks_below_the_angle_of_friction_and_slides_above(mu):
    limit = np.arctan(mu)
    for angle in (0.0, 0.5 * limit, limit - 1e-6, limit + 1e-6, 1.2 * limit):
        how, free, creep = on_incline(angle)
        found = MODES(how, free, creep, TRUE, FALSE, jnp.zeros((1, 1)), jnp.array([mu]))
        assert found.code == SOLVED
        assert bool(found.sticking[0]) == (angle < limit)
        np.testing.assert_allclose(found.normal, 2.0 * G * np.cos(angle), rtol=1e-14)
        acceleration = creep + how.tangential.gram @ found.tangential
        expected = 0.0 if angle < limit else -G * (np.sin(angle) - mu * np.cos(angle))
        np.testing.assert_allclose(acceleration, expected, rtol=0, atol=1e-13)
        if angle > limit:
            assert found.direction[0, 0] == -1.0  # down the incline


def test_sliding_goes_on_against_its_direction():
    how, free, creep = on_incline(0.1)
    found = MODES(how, free, creep, TRUE, TRUE, jnp.array([[1.0]]), jnp.array([0.5]))
    np.testing.assert_allclose(found.tangential, -0.5 * 2.0 * G * np.cos(0.1), rtol=1e-14)
    assert not found.sticking[0]


def test_a_contact_that_does_not_push_does_not_rub():
    how, _, creep = on_incline(0.3)
    found = MODES(how, jnp.array([1.0]), creep, TRUE, TRUE, jnp.array([[1.0]]), jnp.array([0.5]))
    assert found.normal[0] == 0
    assert found.tangential[0, 0] == 0


def test_forces_that_press_each_other_are_solved_together():
    """A rod leaning on a floor and a wall, μ at the floor alone: it stands if μ ≥ cot(angle)/2."""
    angle, mass = 1.0, 3.0
    inertia = mass / 12.0  # unit length
    c, s = np.cos(angle), np.sin(angle)
    # coordinates: centre (x, y) and angle; the foot at (x - c/2, y - s/2), the head at (x + c/2, y + s/2)
    normals = jnp.array([[0.0, 1.0, -c / 2], [-1.0, 0.0, s / 2]])  # the floor, and a wall to the right
    slips = jnp.array([[[1.0, 0.0, s / 2]], [[0.0, 1.0, c / 2]]])
    how = contacts(jnp.diag(jnp.array([mass, mass, inertia])), None, normals, slips)
    free, creep = normals @ jnp.array([0.0, -G, 0.0]), slips @ jnp.array([0.0, -G, 0.0])
    needed = 0.5 / np.tan(angle)
    closed = jnp.ones(2, bool)
    for mu, stands in ((needed + 1e-3, True), (needed - 1e-3, False)):
        found = MODES(how, free, creep, closed, ~closed, jnp.zeros((2, 1)), jnp.array([mu, 0.0]))
        assert found.code == SOLVED
        assert bool(found.sticking[0]) == stands
        if stands:
            np.testing.assert_allclose(found.normal, [mass * G, mass * G * needed], rtol=1e-12)
            np.testing.assert_allclose(found.tangential[0], mass * G * needed, rtol=1e-12)
        else:
            np.testing.assert_allclose(found.tangential[0], mu * found.normal[0], rtol=1e-12)
            accelerations = free + how.normal.gram @ found.normal + how.cross @ found.tangential[:, 0]
            np.testing.assert_allclose(accelerations, 0.0, rtol=0, atol=1e-12)


def test_painleves_rod_has_a_code():
    """A rod that slides on its lower end, pressed into the floor by its own friction: no force is consistent."""
    angle, mu = 1.2, 3.0
    c, s = np.cos(angle), np.sin(angle)
    normals, slips = jnp.array([[0.0, 1.0, -c / 2]]), jnp.array([[[1.0, 0.0, s / 2]]])
    how = contacts(jnp.diag(jnp.array([1.0, 1.0, 1 / 12.0])), None, normals, slips)
    assert how.normal.gram[0, 0] < mu * abs(how.cross[0, 0])
    free = normals @ jnp.array([0.0, -G, 0.0])
    creep = slips @ jnp.array([0.0, -G, 0.0])
    found = MODES(how, free, creep, TRUE, TRUE, jnp.sign(how.cross), jnp.array([mu]))
    assert found.code == EXHAUSTED


@pytest.mark.parametrize("mu", [0.5, 1.3, 2.0, 10.0])
def test_friction_that_unloads_a_rod_is_no_painleve_case(mu):
    """The same rod sliding the other way, at several angles: one force, by one linear equation, for every μ."""
    for angle in (0.7, 1.0, 1.2, 1.4):
        c, s = np.cos(angle), np.sin(angle)
        normals, slips = jnp.array([[0.0, 1.0, -c / 2]]), jnp.array([[[1.0, 0.0, s / 2]]])
        how = contacts(jnp.diag(jnp.array([1.0, 1.0, 1 / 12.0])), None, normals, slips)
        free, creep = normals @ jnp.array([0.0, -G, 0.0]), slips @ jnp.array([0.0, -G, 0.0])
        found = MODES(how, free, creep, TRUE, TRUE, -jnp.sign(how.cross), jnp.array([mu]))
        assert found.code == SOLVED
        wanted = G / (1.0 + 3.0 * c * c + mu * 3.0 * s * c)
        np.testing.assert_allclose(found.normal, wanted, rtol=1e-13)
        np.testing.assert_allclose(np.abs(found.tangential), mu * wanted, rtol=1e-13)


def test_several_solutions_have_painleves_code_too():
    """Pressed by its own friction and pulled off the floor: it may leave, or be pressed on; neither is preferred."""
    angle, mu = 1.2, 3.0
    c, s = np.cos(angle), np.sin(angle)
    normals, slips = jnp.array([[0.0, 1.0, -c / 2]]), jnp.array([[[1.0, 0.0, s / 2]]])
    how = contacts(jnp.diag(jnp.array([1.0, 1.0, 1 / 12.0])), None, normals, slips)
    found = MODES(how, jnp.array([2.0]), jnp.zeros((1, 1)), TRUE, TRUE, jnp.sign(how.cross), jnp.array([mu]))
    assert found.code == EXHAUSTED
    freely = MODES(how, jnp.array([2.0]), jnp.zeros((1, 1)), TRUE, TRUE, -jnp.sign(how.cross), jnp.array([mu]))
    assert freely.code == SOLVED
    assert freely.normal[0] == 0


@pytest.mark.parametrize("seed", range(6))
def test_two_sliding_contacts_equal_all_sets_that_may_push(seed):
    """Two contacts of a body that slide, with coefficients at which sweeps diverge, against the four sets in NumPy."""
    random = np.random.default_rng(seed)
    normals, slips = random.normal(size=(2, 3)), random.normal(size=(2, 1, 3))
    mass, mu = np.diag(random.uniform(0.5, 2.0, 3)), random.uniform(0.2, 2.5, 2)
    way, pull = np.sign(random.normal(size=(2, 1))), random.normal(size=3)
    how = contacts(jnp.asarray(mass), None, jnp.asarray(normals), jnp.asarray(slips))
    free, creep = normals @ pull, slips @ pull
    closed = jnp.ones(2, bool)
    found = MODES(how, free, creep, closed, closed, jnp.asarray(way), jnp.asarray(mu))
    pulls = normals - (mu[:, None] * way) * slips[:, 0]
    matrix = normals @ np.linalg.solve(mass, pulls.T)
    solutions = []
    for chosen in ([], [0], [1], [0, 1]):
        force = np.zeros(2)
        if chosen:
            force[chosen] = np.linalg.solve(matrix[np.ix_(chosen, chosen)], -free[chosen])
        if np.all(force >= -1e-12) and np.all(matrix @ force + free >= -1e-12):
            solutions.append(force)
    if len(solutions) == 1:
        assert found.code == SOLVED
        np.testing.assert_allclose(found.normal, solutions[0], rtol=0, atol=1e-10)
    else:
        assert found.code == EXHAUSTED


# ── Impacts ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_particle_slips_or_stops_at_an_impact():
    how = delassus(2.0 * jnp.eye(3), None, jnp.array([[1.0, 0, 0], [0, 1.0, 0]]))
    slips = jnp.array([[3.0, 4.0]])
    stopped, code = friction_impulses(how, slips, jnp.array([10.1]))
    np.testing.assert_allclose(stopped, -2.0 * slips, rtol=0, atol=1e-14)
    assert code == SOLVED
    rubbed, _ = friction_impulses(how, slips, jnp.array([5.0]))
    np.testing.assert_allclose(rubbed, [[-3.0, -4.0]], rtol=0, atol=1e-14)


def test_friction_at_several_contacts_leaves_the_least_energy():
    random = np.random.default_rng(0)
    slips = random.normal(size=(3, 2, 5))
    root = random.normal(size=(5, 5))
    mass = jnp.asarray(root @ root.T + np.eye(5))
    how = delassus(mass, None, jnp.asarray(slips.reshape(6, 5)))
    velocity, bounds = random.normal(size=5), jnp.array([0.3, 0.0, 2.0])
    before = jnp.asarray(slips @ velocity)
    values, code = jax.jit(friction_impulses)(how, before, bounds)
    assert code == SOLVED
    assert np.all(np.linalg.norm(values, axis=1) <= bounds + 1e-15)

    def energy(values):
        after = velocity + how.across @ values.reshape(-1)
        return 0.5 * after @ mass @ after

    least = energy(values)
    for _ in range(300):
        other = values + 0.01 * random.normal(size=(3, 2))
        other *= np.minimum(1.0, bounds / np.maximum(np.linalg.norm(other, axis=1), 1e-300))[:, None]
        assert energy(other) >= least - 1e-13
    machine = compiler.compile(friction_impulses, (how, before, bounds))
    np.testing.assert_allclose(machine(how, before, bounds)[0], values, rtol=0, atol=1e-12)


def test_known_modes_are_one_linear_system():
    how, free, creep = on_incline(0.6)
    normal, tangential = in_mode(how, free, creep, FALSE, TRUE, jnp.ones((1, 1)), jnp.array([0.4]))
    assert normal[0] == 0 == tangential[0, 0]
    normal, tangential = in_mode(how, free, creep, TRUE, FALSE, -jnp.ones((1, 1)), jnp.array([0.4]))
    np.testing.assert_allclose(tangential[:, 0], 0.4 * normal, rtol=1e-14)


# ── Slips from positions ──────────────────────────────────────────────────────────────────────────────


def test_slips_of_particles_on_surfaces_and_on_each_other():
    angle = 0.4
    tilted = jnp.array([[-np.sin(angle), np.cos(angle)]])
    slip = slip_of(lambda t, q: q[None], lambda t, q: tilted @ q)
    t, velocity = jnp.asarray(0.0), jnp.array([1.3, -0.4])
    found = slip(t, jnp.zeros(2), velocity)
    np.testing.assert_allclose(found, [[1.3 * np.cos(angle) - 0.4 * np.sin(angle)]], rtol=0, atol=1e-15)

    # polar coordinates say the same as Cartesian ones
    polar = slip_of(
        lambda t, q: jnp.stack([q[0] * jnp.cos(q[1]), q[0] * jnp.sin(q[1])])[None], lambda t, q: q[:1] - 2.0
    )
    np.testing.assert_allclose(polar(t, jnp.array([2.0, 0.3]), jnp.array([0.7, 0.5])), [[-1.0]], rtol=0, atol=1e-14)

    # two particles: the part of their relative velocity across the line between them
    pair = slip_of(
        lambda t, q: q.reshape(2, 2), lambda t, q: jnp.sqrt(jnp.sum((q[:2] - q[2:]) ** 2, keepdims=True)) - 1.0
    )
    place, moving = jnp.array([0.0, 1.0, 0.0, 0.0]), jnp.array([0.2, 5.0, -0.3, 1.0])
    np.testing.assert_allclose(jnp.abs(pair(t, place, moving)), [[0.5]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_tangents_are_an_orthonormal_frame(seed):
    normal = np.random.default_rng(seed).normal(size=3)
    normal /= np.linalg.norm(normal)
    whole = np.vstack([tangents(jnp.asarray(normal)), normal])
    np.testing.assert_allclose(whole @ whole.T, np.eye(3), rtol=0, atol=1e-14)

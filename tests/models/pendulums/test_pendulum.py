"""Rigid chains: fast accelerations against dense ones, motion against closed forms, forces, bad input."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import ellipj, ellipk

import holonomy as hl
from holonomy.models import accelerations, chain_points, directions, tensions
from holonomy.models.pendulums import chain

G = 9.81


def textbook(lengths, masses, q, v):
    """The dense system of a planar chain: M_ij = mu_max(i,j) l_i l_j cos(q_i - q_j)."""
    n = len(lengths)
    hanging = np.cumsum(masses[::-1])[::-1]
    mu = hanging[np.maximum.outer(np.arange(n), np.arange(n))] * np.outer(lengths, lengths)
    gaps = np.subtract.outer(q, q)
    right = -(mu * np.sin(gaps)) @ v**2 - hanging * G * lengths * np.sin(q)
    return np.linalg.solve(mu * np.cos(gaps), right)


def sample(n, seed):
    key = np.random.default_rng(seed)
    lengths, masses = key.uniform(0.3, 2.0, n), key.uniform(0.2, 3.0, n)
    return lengths, masses, key.uniform(-np.pi, np.pi, n), key.normal(0.0, 2.0, n)


def relative(a, b):
    return np.max(np.abs(np.asarray(a) - np.asarray(b))) / np.max(np.abs(np.asarray(b)))


def dense(system):
    """The same system without an acceleration and solves of its own, so that it solves with its mass matrix."""
    assert (system.direct is not None and system.inverse is not None) or not system.flat
    return replace(system, direct=None, inverse=None)


def fast(lengths, masses, q, v):
    return accelerations(hl.Pendulum(lengths, masses, gravity=G), 0.0, q, v)


SOME = (1, 2, 3, 5, 10, 25, 50)
ALL = pytest.param(range(1, 51), marks=pytest.mark.proof)  # one compilation each


@pytest.mark.parametrize("counts", [SOME, ALL], ids=["some", "all"])
def test_fast_accelerations_equal_the_dense_ones_for_1_to_50_links(counts):
    for n in counts:
        lengths, masses, q, v = sample(n, n)
        assert relative(fast(lengths, masses, q, v), textbook(lengths, masses, q, v)) < 1e-10


@pytest.mark.parametrize("n", [2, 3, 60, 61])
def test_eliminating_every_other_rod_is_eliminating_one_after_the_other(n, monkeypatch):
    key = np.random.default_rng(n)
    beside = key.normal(size=n - 1)
    diagonal = np.abs(np.r_[beside, 0.0]) + np.abs(np.r_[0.0, beside]) + key.uniform(0.01, 1.0, n)
    matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    right = key.normal(size=n)
    monkeypatch.setattr(chain, "_ROWS", 2)
    solved = chain.tridiagonal(jnp.asarray(diagonal), jnp.asarray(beside), jnp.asarray(right))
    assert relative(solved, np.linalg.solve(matrix, right)) < 1e-13


def moving(t):
    return jnp.stack([0.1 * jnp.sin(3 * t), 0.2 * jnp.cos(5 * t)])


KINDS = {
    "plain": {},
    "driven": {"damping": 0.3, "joint_damping": 0.2, "pivot": moving, "torque": lambda t, q, v: jnp.sin(t) + q},
    "rods": {"rod_mass": 0.7, "damping": 0.1, "torque": lambda t, q, v: jnp.cos(t)},
    "space": {"dimension": 3, "damping": 0.1},
    "rods in space": {"dimension": 3, "rod_mass": 0.7},
}


@pytest.mark.parametrize(
    ("n", "kind"), [(1, "rods"), (3, "driven"), (4, "rods"), (3, "space"), (3, "rods in space"), (50, "plain")]
)
def test_fast_accelerations_equal_those_of_the_lagrangian(n, kind):
    lengths, masses, q, v = sample(n, 7)
    system = hl.Pendulum(lengths, masses, **KINDS[kind])
    if "space" in kind:
        key = np.random.default_rng(3)
        e, w = key.normal(size=(n, 3)), key.normal(size=(n, 3))
        e /= np.linalg.norm(e, axis=1)[:, None]
        w -= np.sum(e * w, axis=1)[:, None] * e
        q, v = e.ravel(), w.ravel()
    assert relative(accelerations(system, 0.3, q, v), dense(system).acceleration(0.3, q, v)) < 1e-10


def test_a_run_takes_the_fast_way_and_it_is_the_same_motion():
    lengths, masses, q, v = sample(5, 11)
    system = hl.Pendulum(lengths, masses, damping=0.2)
    runs = [hl.simulate(s, q, v, 0.2, dt=0.002, method=hl.RK4()) for s in (system, dense(system))]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-11)
    np.testing.assert_allclose(runs[0].v, runs[1].v, atol=1e-10)
    lighter = system.with_parameters(gravity=1.6)
    np.testing.assert_allclose(lighter.acceleration(0.0, q, v), dense(lighter).acceleration(0.0, q, v), rtol=1e-10)


def test_another_force_drops_the_fast_way():
    system = hl.Pendulum([1.0, 2.0], 1.0)
    pushed = system.forced(lambda t, q, v, p: jnp.array([1.0, 0.0]))
    assert pushed.direct is None
    push = np.asarray(pushed.acceleration(0.0, [0.3, 0.1], [0.0, 0.0]) - system.acceleration(0.0, [0.3, 0.1], [0, 0]))
    np.testing.assert_allclose(system.mass_matrix(0.0, [0.3, 0.1]) @ push, [1.0, 0.0], atol=1e-12)


def test_a_thousand_links_move_without_a_matrix():
    n = 1000
    system = hl.Pendulum(np.full(n, 1 / n), np.full(n, 1 / n))
    run = hl.simulate(system, np.full(n, 0.4), np.zeros(n), 1e-3, dt=5e-4, method=hl.RK4())
    assert abs(run.energy[-1] - run.energy[0]) < 1e-9


@pytest.mark.parametrize("kind", ["plain", "driven", "rods"])
@pytest.mark.parametrize("n", [1, 2, 40])
def test_the_mass_matrix_is_solved_link_by_link(n, kind):
    lengths, masses, q, _ = sample(n, n + 7)
    system = hl.Pendulum(lengths, masses, gravity=G, **KINDS[kind])
    right = np.random.default_rng(n).normal(size=n)
    assert system.inverse is not None
    found = system.inverse(0.3, jnp.asarray(q), jnp.asarray(right), *system.last)
    matrix = system.mass_matrix(0.3, q)
    # the residual, which does not grow with the condition of the matrix
    size = np.abs(matrix) @ np.abs(found)
    assert np.max(np.abs(matrix @ found - right) / size) < 1e-13
    assert relative(found, np.linalg.solve(matrix, right)) < 1e-9


@pytest.mark.parametrize(("method", "kind"), [(hl.Gauss(2), "driven"), (hl.SymplecticEuler(), "plain")], ids=str)
def test_implicit_methods_solve_link_by_link(kind, method):
    """As with whole matrices, also under one more force."""
    lengths, masses, q, v = sample(10, 3)
    pushed = hl.Pendulum(lengths, masses, gravity=G, **KINDS[kind]).forced(lambda t, q, v, p: jnp.sin(q) - 0.1 * v)
    assert pushed.direct is None
    assert pushed.inverse is not None
    ends = [hl.simulate(s, q, v, 0.02, dt=0.002, method=method) for s in (pushed, replace(pushed, inverse=None))]
    assert relative(ends[0].q, ends[1].q) < 1e-12
    assert relative(ends[0].v, ends[1].v) < 1e-11


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["plain", "driven"])
def test_derivatives_of_implicit_steps_are_those_with_whole_matrices(kind):
    lengths, masses, q, v = sample(2, 3)

    def last(gravity, system):
        system = system.with_parameters(gravity=gravity)
        return hl.simulate(system, q, v, 0.02, dt=0.002, method=hl.Gauss(2)).v[-1, 0]

    short = hl.Pendulum(lengths, masses, gravity=G, **KINDS[kind])
    slopes = [jax.grad(last)(G, one) for one in (short, dense(short))]
    assert relative(*slopes) < 1e-11


def test_thousands_of_links_move_by_gauss_without_a_matrix():
    n = 2000
    system = hl.Pendulum(np.full(n, 1 / n), np.full(n, 1 / n), gravity=G)
    q, v = np.linspace(0.5, 1.0, n), np.linspace(0.0, 1.0, n)
    run = hl.simulate(system, q, v, 40 * 0.05 / n, dt=0.05 / n, method=hl.Gauss(3), save_every=40)
    assert run.certificate.energy_drift < 1e-12
    fine = hl.simulate(system, q, v, 40 * 0.05 / n, dt=0.0125 / n, method=hl.RK4(), save_every=160)
    assert relative(run.q[-1], fine.q[-1]) < 1e-11


def test_massless_bobs_on_heavy_rods():
    system = hl.Pendulum([1.0, 0.6], 0.0, rod_mass=[2.0, 1.0])
    q, v = [0.4, 2.0], [1.0, -0.5]
    assert relative(accelerations(system, 0.0, q, v), dense(system).acceleration(0.0, q, v)) < 1e-12


def test_one_heavy_rod_is_the_physical_pendulum():
    rod = hl.Pendulum(1.3, 0.0, rod_mass=2.0)
    np.testing.assert_allclose(rod.acceleration(0.0, [0.8], [3.0]), [-1.5 * G / 1.3 * np.sin(0.8)], rtol=1e-13)


@pytest.fixture(scope="module")
def double():
    return hl.Pendulum([1.0, 1.0], [1.0, 1.0])


def test_double_pendulum_moves_as_known(double):
    run = hl.simulate(double, [np.pi / 2] * 2, [0.0, 0.0], 5.0, dt=0.005, save_at=[1.0, 5.0], method=hl.Gauss(4))
    at_1 = [-0.62508769980639, -1.03458508568, -3.922279572888, -1.3030992486963]
    at_5 = [-0.62718670506653, -1.3013155502098, 2.1254086738429, 3.8818887272656]
    np.testing.assert_allclose([*run.q[0], *run.v[0]], at_1, atol=1e-10)
    np.testing.assert_allclose([*run.q[1], *run.v[1]], at_5, atol=1e-9)


def test_one_link_is_an_elliptic_function():
    length, start = 0.7, 2.4
    run = hl.simulate(hl.Pendulum(length, 1.9), [start], [0.0], 6.0, dt=0.005, method=hl.Gauss(4), save_every=40)
    m = np.sin(start / 2) ** 2
    sn, _, _, _ = ellipj(ellipk(m) - np.sqrt(G / length) * run.t, m)
    np.testing.assert_allclose(run.q[:, 0], 2 * np.arcsin(np.sqrt(m) * sn), atol=1e-12)


@pytest.mark.parametrize("n", [3, 10])
def test_small_oscillations_have_the_eigenfrequencies(n):
    lengths, masses, _, _ = sample(n, 20 + n)
    hanging = np.cumsum(masses[::-1])[::-1]
    mu = hanging[np.maximum.outer(np.arange(n), np.arange(n))] * np.outer(lengths, lengths)
    squares, modes = eigh(np.diag(hanging * G * lengths), mu)
    system, size = hl.Pendulum(lengths, masses), 1e-6
    for k in (0, n - 1):
        omega, mode = np.sqrt(squares[k]), size * modes[:, k] / np.max(np.abs(modes[:, k]))
        run = hl.simulate(system, mode, np.zeros(n), 6 * np.pi / omega, dt=np.pi / omega / 30, method=hl.Gauss(4))
        # three periods, in units of the amplitude: an error of the frequency shows nineteenfold
        np.testing.assert_allclose(run.q / size, np.outer(np.cos(omega * run.t), mode / size), atol=1e-9)


# ── Forces ────────────────────────────────────────────────────────────────────────────────────────────


def test_damping_is_a_force_whose_effect_does_not_depend_on_the_step():
    c, m, length, size = 0.6, 2.0, 0.8, 1e-6
    system = hl.Pendulum(length, m, damping=c)
    rate, omega = c / (2 * m), np.sqrt(G / length - (c / (2 * m)) ** 2)
    for dt in (0.01, 0.005):
        run = hl.simulate(system, [size], [0.0], 5.0, dt=dt, save_every=100)
        exact = np.exp(-rate * run.t) * (np.cos(omega * run.t) + rate / omega * np.sin(omega * run.t))
        np.testing.assert_allclose(run.q[:, 0] / size, exact, atol=1e-9)


def power(system, t, q, v):
    """How fast the energy changes along the motion."""
    a = system.acceleration(t, q, v)
    return jax.jvp(lambda x, w: system.raw_energy(t, x, w), (jnp.asarray(q), jnp.asarray(v)), (jnp.asarray(v), a))[1]


def test_frictions_and_motors_do_the_work_they_should():
    q, v = np.array([0.5, -0.8, 1.9]), np.array([1.0, 2.0, -0.7])
    lengths = np.array([1.0, 0.5, 0.8])
    air = hl.Pendulum(lengths, 1.0, damping=[0.1, 0.2, 0.3])
    speeds = np.cumsum((lengths * v)[:, None] * np.stack([np.cos(q), np.sin(q)], axis=1), axis=0)
    np.testing.assert_allclose(power(air, 0.0, q, v), -np.sum([0.1, 0.2, 0.3] * np.sum(speeds**2, axis=1)), rtol=1e-12)
    turning = np.diff(v, prepend=0.0)
    joints = hl.Pendulum(lengths, 1.0, joint_damping=[0.1, 0.2, 0.3], torque=lambda t, q, v: 2.0 + 0 * q)
    wanted = np.sum(2.0 * turning - np.array([0.1, 0.2, 0.3]) * turning**2)
    np.testing.assert_allclose(power(joints, 0.0, q, v), wanted, rtol=1e-12)


def test_torque_of_one_number_acts_at_the_pivot():
    one = hl.Pendulum([1.0, 1.0], 1.0, torque=lambda t, q, v, p: p.size, parameters={"size": 3.0})
    both = hl.Pendulum([1.0, 1.0], 1.0, torque=lambda t, q, v: jnp.array([3.0, 0.0]))
    np.testing.assert_array_equal(one.acceleration(0.0, [1.0, 2.0], [0, 0]), both.acceleration(0.0, [1.0, 2.0], [0, 0]))


def test_pivot_that_rises_faster_and_faster_is_more_gravity():
    lift = hl.Pendulum([1.0, 0.7], [1.0, 2.0], gravity=9.0, pivot=lambda t: jnp.stack([0.4 * t, 0.5 * t**2]))
    still = hl.Pendulum([1.0, 0.7], [1.0, 2.0], gravity=10.0)
    state = (0.8, [1.0, -2.0], [0.3, 0.4])
    np.testing.assert_allclose(lift.acceleration(*state), still.acceleration(*state), rtol=1e-13)
    np.testing.assert_allclose(tensions(lift, *state), tensions(still, *state), rtol=1e-13)


def test_kapitza_stands_upright_on_a_shaking_pivot():
    def shaken(t, p):
        return jnp.stack([jnp.zeros_like(t), p.a * jnp.cos(p.w * t)])

    system = hl.Pendulum(1.0, 1.0, pivot=shaken, parameters={"a": 0.1, "w": 100.0})
    tilt = 0.02
    run = hl.simulate(system, [np.pi - tilt], [0.0], 2.5, dt=0.0005, save_every=10)
    assert np.max(np.abs(run.q - np.pi)) < 1.3 * tilt
    # averaged over the shaking: frequency squared (a w)^2 / 2 - g, to first order in a
    slow = np.sqrt((0.1 * 100.0) ** 2 / 2 - G)
    smooth = np.convolve(run.q[:, 0] - np.pi, np.ones(13) / 13, mode="valid")
    crossings = run.t[6:-6][:-1][np.diff(np.sign(smooth)) != 0]
    assert len(crossings) == 5
    np.testing.assert_allclose(np.mean(np.diff(crossings)), np.pi / slow, rtol=0.05)
    falls = hl.simulate(system.with_parameters(a=0.03), [np.pi - tilt], [0.0], 2.5, dt=0.0005, save_every=100)
    assert np.max(np.abs(falls.q - np.pi)) > 1.0


def test_tensions_are_the_multipliers_of_the_constrained_chain():
    lengths, masses, q, v = sample(4, 5)

    def gaps(t, x):
        bobs = jnp.concatenate([jnp.zeros((1, 2)), x.reshape(-1, 2)])
        return 0.5 * (jnp.sum((bobs[1:] - bobs[:-1]) ** 2, axis=1) - lengths**2)

    rods = hl.System.from_positions(
        lambda t, x: x.reshape(-1, 2),
        masses,
        potential=lambda t, x: G * jnp.dot(masses, x.reshape(-1, 2)[:, 1]),
        coordinates=[f"{a}{i}" for i in range(4) for a in "xy"],
    ).constrained(holonomic=gaps)
    bent = hl.Pendulum(lengths, masses)
    x, w = jax.jvp(lambda y: bent.place(0.0, y).ravel(), (jnp.asarray(q),), (jnp.asarray(v),))
    np.testing.assert_allclose(tensions(bent, 0.0, q, v), -rods.multipliers(0.0, x, w) * lengths, rtol=1e-10)
    still = tensions(bent, 0.0, np.zeros(4), np.zeros(4))
    np.testing.assert_allclose(still, G * np.cumsum(masses[::-1])[::-1], rtol=1e-13)


def test_friction_of_the_air_along_a_rod_is_in_its_tension():
    # a bob pulled straight down with its pivot: the air pushes it up along the rod
    falling = hl.Pendulum(1.0, 2.0, damping=0.5, pivot=lambda t: jnp.stack([0.0 * t, -3.0 * t]))
    np.testing.assert_allclose(tensions(falling, 0.0, [0.0], [0.0]), [2.0 * G - 1.5], rtol=1e-13)


# ── Space ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def spatial():
    return hl.Pendulum([1.0, 0.8], [1.0, 0.5], dimension=3)


def test_motion_in_a_vertical_plane_of_space_is_the_planar_one(spatial):
    flat = hl.Pendulum([1.0, 0.8], [1.0, 0.5])
    q, v = jnp.array([1.2, -0.4]), jnp.array([0.5, 1.0])
    turn = np.array([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]])

    def lifted(y):
        return (directions(y) @ turn.T).ravel()

    e, w = jax.jvp(lifted, (q,), (v,))
    run = hl.simulate(spatial, e, w, 0.5, dt=0.01, method=hl.RK4())
    plane = hl.simulate(flat, q, v, 0.5, dt=0.001)
    np.testing.assert_allclose(run.q[-1], lifted(jnp.asarray(plane.q[-1])), atol=1e-7)


def test_conical_pendulum_keeps_its_angle():
    cone, angle = hl.Pendulum(1.0, 1.0, dimension=3), 0.7
    spin = np.sqrt(G / np.cos(angle))
    e = [np.sin(angle), 0.0, -np.cos(angle)]
    np.testing.assert_allclose(
        cone.acceleration(0.0, e, [0.0, spin * np.sin(angle), 0.0]), [-(spin**2) * np.sin(angle), 0, 0], atol=1e-12
    )
    np.testing.assert_allclose(
        tensions(cone, 0.0, e, [0.0, spin * np.sin(angle), 0.0]), [G / np.cos(angle)], rtol=1e-12
    )


# ── Describing ────────────────────────────────────────────────────────────────────────────────────────


def test_numbers_are_parameters(double):
    other = double.with_parameters(lengths=[0.5, 2.0], masses=[1.0, 3.0], gravity=1.6)
    made = hl.Pendulum([0.5, 2.0], [1.0, 3.0], gravity=1.6)
    state = (0.0, [0.3, 1.0], [0.1, 0.2])
    np.testing.assert_array_equal(other.acceleration(*state), made.acceleration(*state))
    assert jax.tree.structure(other) == jax.tree.structure(made)
    assert double.names == ("theta1", "theta2")
    assert isinstance(double, hl.System)
    assert double.autonomous


def test_single_numbers_are_for_all_links():
    system = hl.Pendulum([1.0, 2.0, 3.0], 0.5)
    np.testing.assert_array_equal(system.parameters["masses"], [0.5] * 3)
    q = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(system.place(0.0, q), chain_points(q, np.array([1.0, 2.0, 3.0]))[1:], atol=1e-15)


def test_derivatives_by_the_numbers_go_through():
    def first(length):
        return accelerations(hl.Pendulum(length * jnp.ones(2), 1.0), 0.0, [0.5, 0.2], [0.0, 0.0])[0]

    system = hl.Pendulum([1.0, 1.0], 1.0)
    np.testing.assert_allclose(
        jax.grad(first)(1.0), -system.acceleration(0.0, [0.5, 0.2], [0.0, 0.0])[0], rtol=1e-12
    )  # accelerations of a chain at rest go like 1/l


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([], []), {}, "at least one link"),
        (([1.0, 0.0], 1.0), {}, "lengths must be greater than 0; link 2 has 0"),
        (([1.0, 1.0], [1.0, -2.0]), {}, "masses must be greater than 0; link 2 has -2"),
        (([1.0, 1.0], [1.0, 1.0, 1.0]), {}, "lengths has 2, masses has 3"),
        (([1.0], [0.0]), {}, "masses must be greater than 0"),
        (([1.0], [0.0]), {"rod_mass": -1.0}, "rod_mass must not be negative"),
        (([1.0], [1.0]), {"damping": -1.0}, "damping must not be negative"),
        (([[1.0]], [1.0]), {}, "one number or a list"),
        (("abc", 1.0), {}, "lengths must be a real number"),
        (([np.nan], 1.0), {}, "finite"),
        (([1.0], [1.0]), {"dimension": 4}, "dimension is 2 or 3"),
        (([1.0], [1.0]), {"dimension": 3, "joint_damping": 1.0}, "neither torque nor friction"),
        (([1.0], [1.0]), {"pivot": lambda t: jnp.zeros(3)}, "where the pivot is"),
        (([1.0], [1.0]), {"torque": lambda t, q, v: jnp.zeros(3)}, "one number or 1"),
        (([1.0], [1.0]), {"parameters": {"lengths": 2.0}}, "must not rename"),
    ],
)
def test_mistakes_are_named(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        hl.Pendulum(*arguments, **options)


def test_accelerations_and_tensions_say_what_they_are_for(double):
    with pytest.raises(ValueError, match=r"made by hl\.Pendulum"):
        accelerations(hl.ElasticPendulum(1.0, 1.0, 10.0), 0.0, [0.0, 1.0], [0.0, 0.0])
    with pytest.raises(ValueError, match="shape"):
        tensions(double, 0.0, [1.0], [1.0])
    with pytest.raises(ValueError, match="massless rods"):
        tensions(hl.Pendulum(1.0, 1.0, rod_mass=1.0), 0.0, [1.0], [1.0])

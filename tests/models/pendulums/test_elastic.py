"""Springs in place of rods: the stiff limit, what remains of spring energy, and the change between the two."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.models import tensions, to_elastic, to_rigid

LENGTHS, MASSES = np.array([1.0, 0.8]), np.array([1.0, 0.5])
Q, V = np.array([0.7, -0.4]), np.array([0.5, 1.0])
T_END = 1.0


@pytest.fixture(scope="module")
def rigid():
    return hl.Pendulum(LENGTHS, MASSES)


@pytest.fixture(scope="module")
def springs():
    return hl.ElasticPendulum(LENGTHS, MASSES, 1000.0)


def unstretched(rigid, q, v):
    return jax.jvp(lambda y: rigid.place(0.0, y).ravel(), (jnp.asarray(q),), (jnp.asarray(v),))


def errors(rigid, springs, begin, stiffnesses):
    """Of positions, velocities and tensions, the largest over the last fifth of the time, for each stiffness."""
    times = np.linspace(0.8 * T_END, T_END, 21)
    bent = hl.simulate(rigid, Q, V, T_END, dt=0.005, save_at=times)
    x, w = (
        np.stack(c) for c in zip(*[unstretched(rigid, q, v) for q, v in zip(bent.q, bent.v, strict=True)], strict=True)
    )
    pulls = np.stack([tensions(rigid, 0.0, q, v) for q, v in zip(bent.q, bent.v, strict=True)])
    rows = []
    for k in stiffnesses:
        system = springs.with_parameters(stiffness=[k, k])
        q, v = begin(system)
        run = hl.simulate(system, q, v, T_END, dt=0.1 / np.sqrt(k), save_at=times)
        steps = np.diff(run.q.reshape(-1, 2, 2), axis=1, prepend=np.zeros((21, 1, 2)))
        found = k * (np.linalg.norm(steps, axis=2) - LENGTHS)
        rows.append([np.max(np.abs(a - b)) for a, b in ((run.q, x), (run.v, w), (found, pulls))])
    return np.array(rows)


def rates(table, factor):
    return np.log(table[:-1] / table[1:]) / np.log(factor)


def test_unstretched_start_converges_like_one_over_k_in_place_and_its_root_in_speed(rigid, springs):
    table = errors(rigid, springs, lambda _: unstretched(rigid, Q, V), [1e4, 1e5, 1e6])
    place, speed, pull = rates(table, 10.0)[-1]
    assert place == pytest.approx(1.0, abs=0.15)
    assert speed == pytest.approx(0.5, abs=0.15)
    assert abs(pull) < 0.1  # tensions oscillate and do not converge
    assert table[-1, 2] > 1.0


def test_static_stretch_converges_like_one_over_k_in_everything(rigid, springs):
    table = errors(rigid, springs, lambda system: to_elastic(rigid, system, 0.0, Q, V), [1e4, 1e5, 1e6])
    place, speed, pull = rates(table, 10.0)[-1]
    assert place == pytest.approx(1.0, abs=0.15)
    assert speed == pytest.approx(1.0, abs=0.15)
    assert pull > 0.4
    assert table[-1, 2] < 0.05


def adiabatic(energies_over_frequencies):
    """The rigid pendulum with the spring modes' actions times their frequencies as a further potential."""

    def frequencies(q):
        # without the factor sqrt(k): the modes of the springs in a frozen configuration
        c = jnp.cos(q[0] - q[1])
        m1, m2 = MASSES
        a, b, d = 1.0 / m1, -c / m1, 1.0 / m1 + 1.0 / m2
        middle, half = 0.5 * (a + d), jnp.sqrt(0.25 * (a - d) ** 2 + b * b)
        return jnp.sqrt(jnp.stack([middle - half, middle + half]))

    plain = hl.Pendulum(LENGTHS, MASSES)

    def lagrangian(t, q, v, p):
        return plain.raw_lagrangian(t, q, v) - jnp.dot(p.actions, frequencies(q))

    names = {"theta1": "angle", "theta2": "angle"}
    return hl.System.from_lagrangian(lagrangian, names, {"actions": energies_over_frequencies}), frequencies


def test_spring_energy_stays_as_a_potential_and_the_limit_is_not_the_rigid_motion(rigid, springs):
    stretching = np.array([2.0, -1.5])  # rates of stretch at the start, kept as k grows
    x, w = unstretched(rigid, Q, V)
    e1, e2 = np.stack([np.sin(Q), -np.cos(Q)], axis=1)
    slope = np.array([[*e1, 0.0, 0.0], [*-e2, *e2]])  # of the stretches by the bobs' places
    weights = np.repeat(1.0 / MASSES, 2)
    inverse = slope @ (weights[:, None] * slope.T)  # of the inertia of stretches
    # across all rigid motions in the kinetic metric, so that none of the kick is slow
    kicked = np.asarray(w) + weights * (slope.T @ np.linalg.solve(inverse, stretching))
    squares, modes = np.linalg.eigh(inverse)
    energies = 0.5 * (modes.T @ stretching) ** 2 / squares
    corrected, _ = adiabatic(energies / np.sqrt(squares))
    limit = rigid.place(0.0, hl.simulate(corrected, Q, V, T_END, dt=0.005).q[-1]).ravel()
    plain = rigid.place(0.0, hl.simulate(rigid, Q, V, T_END, dt=0.005).q[-1]).ravel()
    gaps = []
    for k in (1e5, 1.6e6):
        system = springs.with_parameters(stiffness=[k, k])
        run = hl.simulate(system, x, kicked, T_END, dt=0.1 / np.sqrt(k), save_every=1000)
        gaps.append([np.max(np.abs(run.q[-1] - goal)) for goal in (limit, plain)])
    (to_limit, _), (to_limit_stiff, to_plain_stiff) = gaps
    assert to_limit_stiff < 0.4 * to_limit  # tends to the corrected motion, like k^(-1/2)
    assert to_plain_stiff > 0.05  # and stays away from the rigid one
    assert to_plain_stiff > 20 * to_limit_stiff


# ── Changing over ─────────────────────────────────────────────────────────────────────────────────────


def test_there_and_back_is_the_same_state(rigid, springs):
    q = Q + np.array([2 * np.pi, 0.0])
    there = to_elastic(rigid, springs, 0.0, q, V)
    back = to_rigid(rigid, springs, 0.0, *there, near=q)
    np.testing.assert_allclose(back[0], q, atol=1e-14)
    np.testing.assert_allclose(back[1], V, atol=1e-14)
    np.testing.assert_allclose(to_rigid(rigid, springs, 0.0, *there)[0], Q, atol=1e-14)
    lengths = np.linalg.norm(np.diff(np.asarray(there[0]).reshape(2, 2), axis=0, prepend=0.0), axis=1)
    np.testing.assert_allclose(1000.0 * (lengths - LENGTHS), tensions(rigid, 0.0, Q, V), rtol=1e-12)


def test_there_and_back_in_space_on_a_moving_pivot():
    def pivot(t):
        return jnp.stack([jnp.sin(t), 0.0 * t, t * t])

    rods = hl.Pendulum([1.0, 0.5], 1.0, dimension=3, pivot=pivot)
    elastic = hl.ElasticPendulum([1.0, 0.5], 1.0, 500.0, dimension=3, pivot=pivot)
    q = np.array([0.6, 0.0, -0.8, 0.0, 1.0, 0.0])
    v = np.array([0.8, 0.3, 0.6, 0.1, 0.0, -0.4])
    there = to_elastic(rods, elastic, 0.4, q, v)
    back = to_rigid(rods, elastic, 0.4, *there)
    np.testing.assert_allclose(back[0], q, atol=1e-14)
    np.testing.assert_allclose(back[1], v, atol=1e-13)


def test_rest_of_the_springs_is_the_static_stretch(rigid, springs):
    x, w = to_elastic(rigid, springs, 0.0, [0.0, 0.0], [0.0, 0.0])
    np.testing.assert_allclose(springs.acceleration(0.0, x, w), np.zeros(4), atol=1e-12)


def test_frictions_do_the_work_they_should():
    system = hl.ElasticPendulum(LENGTHS, MASSES, 50.0, damping=[0.1, 0.2], spring_damping=0.3)
    x, w = jnp.array([0.3, -1.2, 0.5, -2.0]), jnp.array([0.4, 0.1, -0.6, 0.9])
    a = system.acceleration(0.0, x, w)
    np.testing.assert_allclose(a, replace(system, direct=None).acceleration(0.0, x, w), rtol=1e-13)
    power = jax.jvp(lambda y, u: system.raw_energy(0.0, y, u), (x, w), (w, a))[1]
    bobs, speeds = np.asarray(x).reshape(2, 2), np.asarray(w).reshape(2, 2)
    steps, changes = (np.diff(z, axis=0, prepend=np.zeros((1, 2))) for z in (bobs, speeds))
    stretch_rates = np.sum(steps * changes, axis=1) / np.linalg.norm(steps, axis=1)
    lost = 0.1 * speeds[0] @ speeds[0] + 0.2 * speeds[1] @ speeds[1] + 0.3 * np.sum(stretch_rates**2)
    np.testing.assert_allclose(power, -lost, rtol=1e-12)


def test_mistakes_are_named(rigid, springs):
    with pytest.raises(ValueError, match="stiffness must be greater than 0; link 1 has 0"):
        hl.ElasticPendulum(1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="lengths has 2, stiffness has 3"):
        hl.ElasticPendulum([1.0, 1.0], 1.0, [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="dimension is 2 or 3"):
        hl.ElasticPendulum(1.0, 1.0, 1.0, dimension=1)
    with pytest.raises(ValueError, match="must be alike"):
        to_elastic(rigid, hl.ElasticPendulum(1.0, 1.0, 10.0), 0.0, Q, V)
    with pytest.raises(ValueError, match=r"made by hl\.ElasticPendulum"):
        to_elastic(rigid, rigid, 0.0, Q, V)
    with pytest.raises(ValueError, match="shape"):
        to_rigid(rigid, springs, 0.0, Q, V)
    with pytest.raises(ValueError, match="massless rods"):
        to_elastic(hl.Pendulum(LENGTHS, MASSES, rod_mass=1.0), springs, 0.0, Q, V)

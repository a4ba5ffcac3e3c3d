"""Impacts in whole runs: rows of balls, discs that meet, and billiards with what they conserve."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.contact.examples import (
    billiard,
    bounce,
    discs,
    in_circle,
    in_ellipse,
    in_stadium,
    off_disc,
    row,
    sinai,
    stadium_ray,
    torus_ray,
)

import holonomy as hl

# ── Several at once ───────────────────────────────────────────────────────────────────────────────────


FIVE = row(5)


@pytest.mark.parametrize("thrown", [1, 2, 3])
def test_as_many_balls_leave_a_row_as_were_thrown_at_it(thrown):
    q = np.arange(5.0)
    q[:thrown] -= 0.7
    v = np.where(np.arange(5) < thrown, 1.0, 0.0)
    run = hl.simulate(FIVE, q, v, 2.0, dt=0.1)
    np.testing.assert_allclose(run.v[-1], v[::-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.sum(run.v, axis=1), thrown, rtol=1e-12)
    np.testing.assert_allclose(run.energy, 0.5 * thrown, rtol=1e-12)
    expected = np.arange(5.0)
    expected[5 - thrown :] += 2.0 - 0.7
    np.testing.assert_allclose(run.q[-1], expected, rtol=0, atol=1e-12)


def turned(q, turns=1):
    """Places or velocities of three discs, turned by a third and renamed: the same where they are symmetric."""
    angle = 2 * np.pi / 3 * turns
    c, s = np.cos(angle), np.sin(angle)
    return (q.reshape(-1, 3, 2) @ np.array([[c, s], [-s, c]]))[:, np.roll(np.arange(3), turns)].reshape(-1, 6)


THREE = discs(3)


@pytest.mark.parametrize("swirl", [0.0, 0.4])
def test_three_discs_that_meet_stay_symmetric(swirl):
    angles = 2 * np.pi / 3 * np.arange(3) + 0.3
    out = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    along = np.stack([-np.sin(angles), np.cos(angles)], axis=1)
    q, v = (1.5 * out).ravel(), (-out + swirl * along).ravel()
    run = hl.simulate(THREE, q, v, 3.0, dt=0.05)
    assert len(run.events) >= 1
    for values in (run.q, run.v):
        np.testing.assert_allclose(turned(values), values, rtol=0, atol=1e-12)
    momentum = run.v.reshape(-1, 3, 2).sum(axis=1)
    np.testing.assert_allclose(momentum, 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-12)
    # they reflect off each other's symmetry axes: the radial part turns round, the swirl stays
    q_end = run.q[-1].reshape(3, 2)
    radial = np.sum(run.v[-1].reshape(3, 2) * q_end, axis=1) / np.linalg.norm(q_end, axis=1)
    assert np.all(radial > 0)


def test_one_disc_between_two_leaves_them_as_mirror_images():
    q = np.array([0.0, 2.0, -0.5, 0.0, 0.5, 0.0])
    run = hl.simulate(THREE, q, [0, -1, 0, 0, 0, 0], 3.0, dt=0.05)
    v = run.v[-1].reshape(3, 2)
    np.testing.assert_allclose(v[1] * [-1, 1], v[2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(v.sum(axis=0), [0, -1], rtol=0, atol=1e-12)
    # elastic and symmetric, with impulses along the lines of centres, at 30° to the throw
    c = np.sqrt(3) / 2
    u = 2 * c / (1 + 2 * c**2)
    np.testing.assert_allclose(v[0], [0, -1 + 2 * c * u], rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.hypot(*v[2]), u, rtol=1e-12)


# ── Billiards ─────────────────────────────────────────────────────────────────────────────────────────


CIRCLE, ELLIPSE, STADIUM = billiard(in_circle), billiard(in_ellipse), billiard(in_stadium)


def spin(q, v, centre=0.0):
    return (q[:, 0] - centre) * v[:, 1] - q[:, 1] * v[:, 0]


def test_circle_keeps_angular_momentum_and_its_caustic():
    run = hl.simulate(CIRCLE, [0.3, 0.1], [0.6, 0.8], 300.0, dt=0.5, method=hl.RK4())
    assert len(run.events) > 150
    np.testing.assert_allclose(spin(run.q, run.v), 0.18, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.energy, 0.5, rtol=1e-13)
    # chords of one length: bounces at equal times
    np.testing.assert_allclose(np.diff(run.events.t), 2 * np.sqrt(1 - 0.18**2), rtol=1e-12)


def test_ellipse_keeps_the_product_of_angular_momenta_about_its_foci():
    focus = np.sqrt(3.0)
    for v in ([0.6, 0.8], [0.1, 1.0]):  # around the foci, and between them
        run = hl.simulate(ELLIPSE, [0.3, 0.1], v, 300.0, dt=0.5, method=hl.RK4())
        product = spin(run.q, run.v, focus) * spin(run.q, run.v, -focus)
        np.testing.assert_allclose(product, product[0], rtol=0, atol=1e-12)
    # a ray through one focus goes through the other
    run = hl.simulate(ELLIPSE, [focus, 0.0], [-0.6, 0.8], 3.0, dt=0.5, method=hl.RK4(), events=())
    bounce_at, after = run.events.q[0], run.events.v_after[0]
    to = np.array([-focus, 0.0]) - bounce_at
    assert abs(to[0] * after[1] - to[1] * after[0]) < 1e-13


CASES = {
    "stadium": (STADIUM, stadium_ray, np.array([0.2, 0.3]), 0.7),
    "sinai": (sinai, torus_ray, np.array([2.8, 2.5]), 0.4),
}


@pytest.mark.parametrize("name", CASES)
def test_chaotic_billiards_equal_geometry_and_neighbours_part(name):
    system, ray, q, angle = CASES[name]
    v = np.array([np.cos(angle), np.sin(angle)])
    run = hl.simulate(system, q, v, 24.0, dt=0.25, method=hl.RK4())
    count = len(run.events)
    expected = bounce(ray, q, v, count)
    growth = expected[-1, -2]
    assert growth > 3  # neighbours part by more than e³: chaos, and a bound for what rounding becomes
    close = 1e-13 * np.exp(growth)
    np.testing.assert_allclose(run.events.t, expected[:, 0], rtol=0, atol=close)
    np.testing.assert_allclose(run.events.q, expected[:, 1:3], rtol=0, atol=close)
    np.testing.assert_allclose(run.events.v_after, expected[:, 3:5], rtol=0, atol=close)


@pytest.mark.proof  # takes long to compile
def test_an_ensemble_of_stadium_billiards_and_its_exponent():
    """Many starts at once, with derivatives through all bounces, against single runs and fronts of light."""
    random = np.random.default_rng(0)
    starts, angles, end = random.uniform(-0.4, 0.4, size=(6, 2)), random.uniform(0, 2 * np.pi, 6), 12.0
    throws = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    @jax.jit
    @jax.vmap
    def many(q, v):
        def last(x):
            run = hl.simulate(STADIUM, x, v, end, dt=1.0, method=hl.RK4(), save_every=12, max_events=16)
            return run.q[-1], run.v[-1]

        return jax.jvp(last, (q,), (jnp.stack([-v[1], v[0]]),))

    (q, v), (parted, _) = many(starts, throws)
    logarithms = np.log(np.abs(parted[:, 0] * v[:, 1] - parted[:, 1] * v[:, 0]))
    for k in range(6):
        run = hl.simulate(STADIUM, starts[k], throws[k], end, dt=1.0, method=hl.RK4(), save_every=12)
        np.testing.assert_allclose(q[k], run.q[-1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(v[k], run.v[-1], rtol=0, atol=1e-9)
        t, *_, grown, curvature = bounce(stadium_ray, starts[k], throws[k], len(run.events))[-1]
        np.testing.assert_allclose(logarithms[k], grown + np.log(abs(1.0 + (end - t) * curvature)), rtol=0, atol=1e-7)
    assert np.mean(logarithms) / end > 0.2


def test_nothing_gets_through_the_disc_on_the_torus():
    run = hl.simulate(sinai, [2.8, 2.5], [0.8, 0.6], 100.0, dt=0.1)
    assert np.min(np.asarray(jax.vmap(off_disc)(run.q))) > -1e-12
    np.testing.assert_allclose(run.energy, 0.5, rtol=1e-12)


def test_newtons_cradle_swings_on():
    """Balls on threads, of which all but one hang at rest and touch without force; one is let go, again and again."""
    count, radius = 5, 0.1

    def gaps(t, q):
        x = jnp.stack([2 * radius * jnp.arange(count) + jnp.sin(q), -jnp.cos(q)], axis=1)
        return jnp.sqrt(jnp.sum((x[1:] - x[:-1]) ** 2, axis=1)) - 2 * radius

    cradle = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) + 9.81 * jnp.sum(jnp.cos(q)),
        coordinates={f"ball{k + 1}": "angle" for k in range(count)},
    ).constrained(unilateral=gaps)
    run = hl.simulate(cradle, np.r_[-0.6, np.zeros(4)], np.zeros(5), 6.0, dt=0.02, method=hl.RK4())
    at = run.events
    assert set(at.which) == {0, 1, 2, 3}  # impacts alone
    np.testing.assert_allclose(at.v_after, at.v_before[:, ::-1], rtol=0, atol=1e-12)
    first = at.t[:: count - 1]
    assert len(first) == 6
    np.testing.assert_allclose(np.diff(first), 2 * first[0], rtol=1e-6)
    np.testing.assert_allclose(run.q[:, 1:4], 0.0, rtol=0, atol=1e-12)

"""Walls: impacts of the method's order, contacts that begin and end when they should, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.events.examples import G, label

import holonomy as hl

METHODS = [hl.Euler(), hl.SymplecticEuler(), hl.RK4(), hl.Gauss(2), hl.Rattle(4), hl.Radau(3)]
MORE = [hl.Gauss(1), hl.Gauss(3), hl.Rattle(2), hl.Rattle(6), hl.Radau(2)]

particle = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * jnp.dot(v, v) - p.g * q[1], coordinates=("x", "y"), parameters={"g": G}
)
floor = particle.constrained(unilateral=lambda t, q, p: q[1:])
soft = particle.constrained(unilateral=lambda t, q, p: q[1:], restitution=0.5)
ball = particle.constrained(unilateral=lambda t, q, p: jnp.sqrt(q[0] ** 2 + q[1] ** 2)[None] - 1.0)
bowl = particle.constrained(unilateral=lambda t, q, p: 1.0 - jnp.sqrt(q[0] ** 2 + q[1] ** 2)[None], restitution=0.0)

# x = sin t in a harmonic well meets the wall at x = 1/2 at t = pi/6 and comes back to it after a time 4 pi/3
well = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, coordinates=("x",))
walled = well.constrained(unilateral=lambda t, q: 0.5 - q)


def well_at(t):
    """The exact motion: free until pi/6, then mirrored."""
    hit = np.pi / 6
    return np.where(t < hit, np.sin(t), np.sin(np.pi - hit + (t - hit)))


@pytest.mark.parametrize("method", METHODS + [pytest.param(m, marks=pytest.mark.proof) for m in MORE], ids=label)
def test_a_method_has_its_order_through_an_impact(method):
    """Error at a fixed time after the impact, as steps are halved."""
    end = 2.0
    steps = {1: (200, 400), 2: (40, 80), 3: (20, 40), 4: (20, 40), 5: (10, 20), 6: (10, 20)}[method.order]
    errors = []
    for n in steps:
        run = hl.simulate(walled, [0.0], [1.0], end, dt=end / n, method=method, save_every=n)
        assert [h.name for h in run.events] == ["impact 0"]
        errors.append(abs(run.q[-1, 0] - well_at(end)))
    assert method.order - 0.25 < np.log2(errors[0] / errors[1]) < method.order + 1.3


def test_adaptive_and_taylor_through_an_impact():
    for method, bound in ((hl.Adaptive(8, 1e-12, 1e-12), 1e-11), (hl.Taylor(), 5e-15)):
        run = hl.simulate(walled, [0.0], [1.0], 12.0, dt=1.0, method=method)
        assert len(run.events) == 3, method.label
        np.testing.assert_allclose(run.events.t, np.pi / 6 + 4 * np.pi / 3 * np.arange(3), rtol=0, atol=10 * bound)
        assert abs(run.q[2, 0] - well_at(2.0)) < bound


@pytest.mark.parametrize(
    ("method", "engine"), [(hl.Rattle(2), "native"), (hl.RK4(), "native"), (hl.RK4(), "xla")], ids=str
)
def test_a_ball_comes_to_rest_at_the_end_of_its_series(method, engine):
    """Falling for T, then 2eT, 2e²T, …: at rest after T(1+e)/(1-e), and the floor then carries its weight."""
    run = hl.simulate(soft, [0.0, 1.0], [1.0, 0.0], 2.0, dt=0.01, method=method, engine=engine)
    (k,) = run.events.of("contact")
    assert abs(run.events.t[k] - 3 * np.sqrt(2 / G)) < 1e-12
    np.testing.assert_allclose(run.q[-1], [2.0, 0.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.v[-1], [1.0, 0.0], rtol=0, atol=1e-15)
    assert abs(run.multipliers[-1, 0] - G) < 1e-12
    assert run.multipliers[0, 0] == 0
    assert dict(run.notes)["conservative"] == "no"
    assert abs(soft.multipliers(2.0, run.q[-1], run.v[-1])[0] - G) < 1e-12
    assert soft.multipliers(0.0, [0.0, 1.0], [0.0, 0.0])[0] == 0


@pytest.mark.parametrize("e", [0.0, 0.3, 0.8])
def test_other_restitutions_rest_too(e):
    system = particle.constrained(unilateral=lambda t, q, p: q[1:], restitution=e)
    run = hl.simulate(system, [0.0, 1.0], [0.0, 0.0], 5.0, dt=0.02, method=hl.RK4())
    (k,) = run.events.of("contact")
    assert abs(run.events.t[k] - np.sqrt(2 / G) * (1 + e) / (1 - e)) < 1e-12


@pytest.mark.parametrize(
    "method",
    [hl.Rattle(6), hl.Gauss(3), hl.Radau(3), hl.RK4(), pytest.param(hl.Adaptive(8), marks=pytest.mark.proof)],
    ids=label,
)
def test_a_particle_leaves_a_sphere_where_it_should(method):
    """From the top with speed v0: at cos θ = 2/3 + v0²/(3 g r)."""
    for v0 in (0.5, 1.0, 2.0, 3.0):
        run = hl.simulate(ball, [0.0, 1.0], [v0, 0.0], 0.9, dt=0.005, method=method)
        (k,) = run.events.of("release")
        assert abs(run.events.q[k, 1] - (2 / 3 + v0**2 / (3 * G))) < 1e-9
        assert np.all(np.sum(run.q**2, axis=1) > 1 - 1e-9)
    fast = hl.simulate(ball, [0.0, 1.0], [3.2, 0.0], 0.9, dt=0.005, method=method)
    assert len(fast.events) == 0  # v0² > g r: it never touches


@pytest.mark.parametrize("method", [hl.Rattle(6), hl.Radau(3), hl.Gauss(3)], ids=label)
def test_a_bead_in_a_bowl_lifts_off_and_lands_again(method):
    """From the bottom of a circle with speed v0: off at sin a = (v0² - 2g)/(3g) above the horizontal, then a parabola
    that meets the circle again; there the bead stays on it, without the normal part of its velocity."""
    v0 = np.sqrt(3.7 * G)
    s = (v0**2 - 2 * G) / (3 * G)
    q, c = np.array([np.sqrt(1 - s * s), s]), np.sqrt(1 - s * s)
    v = np.sqrt(G * s) * np.array([-s, c])
    # |q + v t - g t²/2|² = 1 divided by t² leaves a linear equation, since q·v = 0 and v² = g s
    flight = 4 * v[1] / G
    land = q + v * flight - np.array([0, 0.5 * G * flight**2])
    w = v - np.array([0, G * flight])
    after = w - np.dot(w, land) * land
    run = hl.simulate(bowl, [0.0, -1.0], [v0, 0.0], 1.6, dt=0.004, method=method)
    told = [h.name for h in run.events]
    assert told == ["contact 0", "release 0", "impact 0", "contact 0"]
    np.testing.assert_allclose(run.events.q[1], q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.events.t[2] - run.events.t[1], flight, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.events.q[2], land, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.events.v_after[2], after, rtol=0, atol=1e-8)


def test_a_tangent_path_is_seen_and_a_near_miss_is_not():
    top = 3.0**2 / (2 * G)
    for gap, seen in ((0.0, 1), (1e-9, 0), (-1e-9, 1)):
        system = hl.System.from_lagrangian(
            lambda t, q, v, p: 0.5 * jnp.dot(v, v) - G * q[1], coordinates=("x", "y"), parameters={"top": top + gap}
        ).constrained(unilateral=lambda t, q, p: p.top - q[1:])
        run = hl.simulate(system, [0.0, 0.0], [1.0, 3.0], 0.55, dt=0.05, method=hl.RK4())
        assert len(run.events) == seen, gap


def test_walls_on_a_sphere_and_within_constraints():
    """On the sphere a wall at the equator turns a great circle back; a rod's end is stopped within the rod's motion."""
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), space=hl.Sphere(2))
    north = free.constrained(unilateral=lambda t, q: q[2:])
    run = hl.simulate(north, [0.6, 0.0, 0.8], [0.0, 1.0, 0.0], 10.0, dt=0.02, method=hl.Rattle(4))
    np.testing.assert_allclose(run.events.t, np.pi * np.array([0.5, 1.5, 2.5]), rtol=0, atol=1e-7)
    assert np.all(run.q[:, 2] > -1e-12)
    rod = particle.constrained(holonomic=lambda t, q, p: jnp.dot(q, q) - 1.0)
    stopped = rod.constrained(unilateral=lambda t, q, p: q[:1], restitution=0.5)
    swing = hl.simulate(stopped, [np.sin(1.0), -np.cos(1.0)], [0.0, 0.0], 1.0, dt=0.01)
    hit = swing.events[0]
    speed = np.sqrt(2 * G * (1 - np.cos(1.0)))
    np.testing.assert_allclose(hit.v_before, [-speed, 0.0], rtol=0, atol=1e-7)
    np.testing.assert_allclose(hit.v_after, [0.5 * speed, 0.0], rtol=0, atol=1e-7)


def test_a_ratchet_turns_one_way():
    """v ≥ 0 for a swinging pendulum: it goes forward, and from its turning point hangs on its pawl."""
    pendulum = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 + G * jnp.cos(q[0]), coordinates={"a": "angle"}
    )
    ratchet = pendulum.constrained(velocity_unilateral=lambda t, q, v: v)
    for method in (hl.RK4(), hl.Radau(3), None):
        run = hl.simulate(ratchet, [0.0], [2.0], 3.0, dt=0.005, method=method)
        top = 2 * np.arcsin(2.0 / (2 * np.sqrt(G)))
        assert abs(run.q[-1, 0] - top) < 1e-8
        assert abs(run.v[-1, 0]) < 1e-12
        assert abs(run.multipliers[-1, 0] - G * np.sin(top)) < 1e-7
        assert [h.name for h in run.events] == ["contact 0"]
    with pytest.raises(ValueError, match="conditions on velocities"):
        hl.simulate(ratchet, [0.0], [2.0], 1.0, dt=0.01, method=hl.Rattle(4))


def test_a_moving_floor_lets_go_when_it_falls_faster_than_gravity():
    """On a plate at a sin(w t), w² a > g, a particle leaves where a w² sin(w t) = g, whatever it weighs."""
    a, w = 0.1, 15.0
    plate = particle.constrained(unilateral=lambda t, q, p: q[1:] - a * jnp.sin(w * t), restitution=0.0)
    run = hl.simulate(plate, [0.0, 0.0], [0.0, a * w], 0.15, dt=0.001, method=hl.Radau(3))
    assert [h.name for h in run.events][:2] == ["contact 0", "release 0"]
    assert abs(run.events.t[1] - np.arcsin(G / (a * w**2)) / w) < 1e-9


def test_bad_walls_are_refused_with_a_sentence():
    def go(system, q=(0.0, 1.0), v=(0.0, 0.0), **options):
        hl.simulate(system, q, v, 1.0, dt=0.1, **options)

    with pytest.raises(ValueError, match="inside"):
        go(floor, q=(0.0, -0.1))
    both = particle.constrained(unilateral=lambda t, q, p: jnp.stack([q[1], -q[1] - 1.0]))
    with pytest.raises(ValueError, match="contradict"):
        go(both, q=(0.0, -0.5))
    for e in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="restitution"):
            particle.constrained(unilateral=lambda t, q, p: q[1:], restitution=e)
    with pytest.raises(ValueError, match="one for each"):
        particle.constrained(unilateral=lambda t, q, p: q[1:], restitution=[0.5, 0.5])
    with pytest.raises(ValueError, match="no gradient"):
        go(particle.constrained(unilateral=lambda t, q, p: q[1:] ** 2), q=(0.0, 0.0))
    with pytest.raises(ValueError, match="shape"):
        particle.constrained(unilateral=lambda t, q, p: jnp.outer(q, q))
    with pytest.raises(ValueError, match="law"):
        particle.constrained(unilateral=lambda t, q, p: q[1:], law="newton")
    with pytest.raises(ValueError, match="backwards"):
        hl.simulate(soft, [0.0, 1.0], [0.0, 0.0], -1.0, dt=0.1)
    with pytest.raises(ValueError, match="unilateral"):
        particle.constrained(holonomic=lambda t, q, p: q[0], restitution=0.5)
    with pytest.raises(hl.SimulationError, match="cannot hold a contact"):
        hl.simulate(soft, [0.0, 1.0], [0.0, 0.0], 3.0, dt=0.1, method=hl.Taylor())


@pytest.mark.parametrize("units", [1e-8, 1e6, 1e8])
def test_a_wall_in_other_units_changes_nothing(units):
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - 9.81 * q[0], coordinates=("y",))
    room = free.constrained(unilateral=lambda t, q: jnp.array([q[0], units * (10.0 - q[0])]), restitution=0.5)
    run = hl.simulate(room, [1.0], [0.0], 3.0, dt=0.01, method=hl.RK4())
    (rests,) = run.events.of("contact")
    assert abs(run.events.t[rests] - 3.0 * np.sqrt(2.0 / 9.81)) < 1e-12

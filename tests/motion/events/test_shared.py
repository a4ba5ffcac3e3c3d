"""What walls and events share with everything else: compiled code, combined systems, live motion, single steps."""

import jax.numpy as jnp
import numpy as np
from tests.motion.events.examples import G

import holonomy as hl
from holonomy.trace.native import compiler


def drop(g, e, height):
    """A particle over a floor at a given height."""
    particle = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 - p.m * g * q[0], coordinates=("y",), parameters={"m": 1.0}
    )
    return particle.constrained(unilateral=lambda t, q, p: q - height, restitution=e)


def test_other_numbers_compile_nothing():
    """Walls in other places, other restitutions, thresholds of events, steps and times: the same machine code."""

    def go(system, threshold, **options):
        event = hl.Event(lambda t, q, v: v[0] - threshold, direction=-1)
        return hl.simulate(system, [2.0], [0.0], method=hl.RK4(), engine="native", events=event, **options)

    go(drop(9.81, 0.5, 0.1), 0.3, t_end=1.0, dt=0.01)
    before = compiler.compilations()
    run = go(drop(3.7, 0.9, 0.25).with_parameters(m=2.5), 1.7, t_end=2.3, dt=0.007, save_every=3, max_events=7)
    assert len(run.events) > 1
    assert compiler.compilations() == before


def test_combined_systems_keep_their_walls():
    """Two balls over two floors, with restitutions of their own, each come to rest as alone."""
    both = hl.combine(drop(G, 0.0, 0.0), drop(G, 0.5, 1.0))
    run = hl.simulate(both, [1.0, 3.0], [0.0, 0.0], 3.0, dt=0.01, method=hl.RK4())
    rests = {h.name: h.t for h in run.events if h.name.startswith("contact")}
    assert abs(rests["contact 0"] - np.sqrt(2 / G)) < 1e-12
    assert abs(rests["contact 1"] - 3 * np.sqrt(4 / G)) < 1e-10  # heights of 1e-11 over a floor at 1
    np.testing.assert_allclose(run.q[-1], [0.0, 1.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.multipliers[-1], [G, G], rtol=0, atol=1e-12)


def test_a_stepper_bounces_and_goes_back():
    stepper = hl.Stepper(drop(G, 1.0, 0.0), hl.RK4(), dt=0.01)
    start = stepper.start(0.0, np.array([1.0]), np.array([0.0]))
    later = stepper.advance(start, 80)
    t, q, v, energy = stepper.read(later)
    first = np.sqrt(2 / G)
    s = t - first
    np.testing.assert_allclose([q[0], v[0]], [G * first * s - 0.5 * G * s * s, G * first - G * s], rtol=0, atol=1e-12)
    assert abs(energy - G) < 1e-12
    np.testing.assert_array_equal(stepper.read(stepper.advance(start, 80))[1], q)


def test_a_step_is_found_by_halving_through_impacts():
    run = hl.simulate(drop(G, 1.0, 0.0), [1.0], [0.0], 2.0, method=hl.RK4())
    np.testing.assert_allclose(run.events.t, np.sqrt(2 / G) * np.array([1.0, 3.0]), rtol=0, atol=1e-12)
    assert "2 × impact 0" in str(run.certificate)
    assert run.certificate.energy_drift < 1e-12
    place, speed = run(1.0)
    s = 1.0 - np.sqrt(2 / G)
    np.testing.assert_allclose(place, np.sqrt(2 * G) * s - 0.5 * G * s * s, rtol=0, atol=1e-12)
    np.testing.assert_allclose(speed, np.sqrt(2 * G) - G * s, rtol=0, atol=1e-12)


def test_walls_without_bound_on_speed_at_a_corner():
    """A wedge of right angle turns every path round: the velocity comes out reversed, also into the corner itself."""
    plane = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), coordinates=("x", "y"))
    corner = plane.constrained(unilateral=lambda t, q: q)
    for start in ([1.0, 0.7], [1.0, 1.0]):
        run = hl.simulate(corner, start, [-1.0, -1.0], 3.0, dt=0.25, method=hl.RK4())
        np.testing.assert_allclose(run.v[-1], [1.0, 1.0], rtol=0, atol=1e-14)
        assert [h.name for h in run.events] == (["impact 1", "impact 0"] if start[1] < 1 else ["impact 0", "impact 1"])


def test_balls_on_balls_come_to_rest():
    """A stack of two on a floor: bounces of the upper one end although it lies on what bounces too; then the floor
    carries both."""
    pair = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - G * (q[0] + q[1]), coordinates=("a", "b"))
    stack = pair.constrained(unilateral=lambda t, q: jnp.stack([q[0], q[1] - q[0] - 1.0]), restitution=0.3)
    run = hl.simulate(stack, [0.5, 2.5], [0.0, 0.0], 2.0, dt=0.01, method=hl.RK4())
    assert len(run.events) < 60
    np.testing.assert_allclose(run.q[-1], [0.0, 1.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.multipliers[-1], [2 * G, G], rtol=0, atol=1e-11)
    np.testing.assert_allclose(stack.multipliers(0.0, [0.0, 1.0], [0.0, 0.0]), [2 * G, G], rtol=0, atol=1e-11)


def test_walls_that_say_the_same_are_no_trouble():
    plane = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - G * q[1], coordinates=("x", "y"))
    thrice = plane.constrained(unilateral=lambda t, q: jnp.stack([q[1], 2 * q[1], q[1]]), restitution=0.0)
    run = hl.simulate(thrice, [0.0, 1.0], [1.0, 0.0], 1.0, dt=0.01)
    np.testing.assert_allclose(run.q[-1], [1.0, 0.0], rtol=0, atol=1e-12)
    assert len(run.events) == 4  # three walls met, one of them enough to hold
    np.testing.assert_allclose(np.dot(run.multipliers[-1], [1, 2, 1]), G, rtol=0, atol=1e-11)

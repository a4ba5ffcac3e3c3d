"""Events: where they are found, in what order, and what they do."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.events.examples import METHODS, G, ball, bounce, label, oscillator

import holonomy as hl

HIT = hl.Event(lambda t, q, v: q[1], direction=-1, action=bounce)
TOP = hl.Event(lambda t, q, v: v[1], direction=-1)


@pytest.mark.parametrize("method", METHODS, ids=label)
def test_an_oscillator_passes_zero_when_it_should(method):
    """x = cos t passes zero falling at pi/2 and rising at 3 pi/2; a first-order method is wrong by its own order."""
    events = [hl.Event(lambda t, q, v: q[0], direction=-1), hl.Event(lambda t, q, v: q[0], direction=1)]
    run = hl.simulate(oscillator, [1.0], [0.0], 6.0, dt=0.01, method=method, events=events)
    assert list(run.events.which) == [0, 1]
    error = np.max(np.abs(run.events.t - np.array([0.5, 1.5]) * np.pi))
    bound = {1: 0.05, 2: 5e-5, 3: 1e-6, 4: 2e-8}.get(method.order, 1e-9)
    assert error < bound
    if (method.order >= 6 and method.fixed_step) or method.order > 8:
        assert error < 5e-14
    # the function is zero to round-off on the method's own motion, whatever its order
    assert np.max(np.abs(run.events.q)) < 1e-14


@pytest.mark.parametrize("engine", ["native", "xla"])
def test_engines_agree(engine):
    run = hl.simulate(ball, [0.0, 1.0], [1.0, 0.0], 3.0, dt=0.01, method=hl.RK4(), engine=engine, events=[HIT, TOP])
    first = np.sqrt(2 / G)
    np.testing.assert_allclose(run.events.t, first * np.arange(1, 7), rtol=0, atol=4e-15)
    assert list(run.events.which) == [0, 1, 0, 1, 0, 1]
    np.testing.assert_allclose(run.energy, G + 0.5, rtol=1e-14)
    assert dict(run.notes)["engine"].startswith(engine)


def test_several_events_in_one_step_come_in_order():
    """Bounces, tops and marks of time inside single steps much longer than the time between bounces."""
    marks = [hl.Event(lambda t, q, v, k=k: t - 0.1 * k) for k in (3, 1, 2)]
    run = hl.simulate(ball, [0.0, 1.0], [0.0, 0.0], 4.0, dt=2.0, method=hl.RK4(), events=[HIT, TOP, *marks])
    first = np.sqrt(2 / G)
    expected = sorted(
        [(first * k, (k + 1) % 2) for k in range(1, 9)] + [(0.1, 3), (0.2, 4), (0.3, 2)], key=lambda pair: pair[0]
    )
    np.testing.assert_allclose(run.events.t, [t for t, _ in expected], rtol=0, atol=1e-14)
    assert list(run.events.which) == [k for _, k in expected]


@pytest.mark.parametrize("method", [hl.RK4(), hl.Gauss(3), hl.Adaptive(8), hl.Taylor()], ids=label)
def test_a_path_that_touches_is_seen_and_one_that_misses_is_not(method):
    """A throw to height exactly h, and to 1e-9 below it; an orbit that grazes a line, which is no parabola."""

    def ceiling(height):
        return [hl.Event(lambda t, q, v: height - q[1])]

    top = 3.0**2 / (2 * G)
    for gap, seen in ((0.0, 1), (1e-9, 0), (-1e-9, 2)):
        run = hl.simulate(ball, [0.0, 0.0], [1.0, 3.0], 0.55, dt=0.05, method=method, events=ceiling(top + gap))
        assert len(run.events) == seen, gap
        if gap == 0:
            assert abs(run.events.t[0] - 3.0 / G) < 1e-6
    for gap, seen in ((1e-9, 0), (-1e-9, 2)):
        wall = [hl.Event(lambda t, q, v, a=1 + gap: a - q[0])]
        fine = hl.simulate(oscillator, [0.0], [1.0], 3.0, dt=0.02, method=hl.Gauss(4), events=wall)
        assert len(fine.events) == seen


@pytest.mark.parametrize("method", [hl.RK4(), hl.Gauss(3), hl.Adaptive(8)], ids=label)
def test_both_of_two_zeros_close_together_are_found(method):
    """A throw just through a ceiling, by many heights: the search for the second zero may end on it exactly."""
    top = 3.0**2 / (2 * G)
    for depth in np.geomspace(1e-10, 1e-6, 40):
        ceiling = [hl.Event(lambda t, q, v, h=top - depth: h - q[1])]
        run = hl.simulate(ball, [0.0, 0.0], [1.0, 3.0], 0.55, dt=0.05, method=method, events=ceiling)
        assert len(run.events) == 2, depth
        np.testing.assert_allclose(np.diff(run.events.t), 2 * np.sqrt(2 * depth / G), rtol=1e-4)


def test_terminal_events_end_the_run_at_the_event():
    down = hl.Event(lambda t, q, v: q[1], direction=-1, terminal=True)
    run = hl.simulate(ball, [0.0, 1.0], [1.0, 0.0], 3.0, dt=0.1, method=hl.Gauss(2), events=[TOP, down])
    first = np.sqrt(2 / G)
    assert run.result.ok
    assert run.result.name == "event"
    assert abs(run.t[-1] - first) < 1e-15
    assert abs(float(run.result.t) - first) < 1e-15
    assert abs(run.q[-1, 1]) < 1e-15
    assert abs(run.q[-1, 0] - first) < 1e-15
    assert len(run.t) == 6
    assert "terminal event" in str(run.certificate)


def test_a_direction_chooses():
    for direction, expected in ((-1, [0.5, 2.5]), (1, [1.5, 3.5]), (0, [0.5, 1.5, 2.5, 3.5])):
        event = hl.Event(lambda t, q, v: q[0], direction=direction)
        run = hl.simulate(oscillator, [1.0], [0.0], 12.0, dt=0.1, method=hl.Gauss(6), events=event)
        np.testing.assert_allclose(run.events.t, np.pi * np.array(expected), rtol=0, atol=1e-12)


def test_a_run_backwards_meets_the_same_events():
    there = hl.simulate(ball, [0.0, 1.0], [1.0, 0.5], 3.0, dt=0.05, method=hl.RK4(), events=HIT)
    back = hl.simulate(ball, there.q[-1], there.v[-1], 0.0, t0=3.0, dt=0.05, method=hl.RK4(), events=HIT)
    np.testing.assert_allclose(back.events.t[::-1], there.events.t, rtol=0, atol=1e-13)
    np.testing.assert_allclose(back.q[-1], [0.0, 1.0], rtol=0, atol=1e-13)


def test_events_on_a_sphere_take_the_space_s_points():
    """A great circle at unit speed crosses the equator every half turn, whatever the chart."""
    space = hl.Sphere(2)
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), space=space)
    q, v = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
    run = hl.simulate(free, q, v, 10.0, dt=0.1, method=hl.Gauss(3), events=hl.Event(lambda t, q, v: q[2]))
    np.testing.assert_allclose(run.events.t, np.pi * np.array([0.5, 1.5, 2.5]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(run.events.q, axis=1), 1.0, rtol=0, atol=1e-14)


def test_states_between_saved_times_know_of_events():
    run = hl.simulate(ball, [0.0, 1.0], [1.0, 0.0], 1.0, dt=0.01, method=hl.RK4(), events=HIT, save_every=100)
    first = np.sqrt(2 / G)
    t = 0.7
    expected = G * first * (t - first) - 0.5 * G * (t - first) ** 2
    assert abs(run(t)[0][1] - expected) < 1e-13


def test_saved_times_off_the_grid_and_a_step_found_by_halving():
    first = np.sqrt(2 / G)
    run = hl.simulate(
        ball, [0.0, 1.0], [1.0, 0.0], 1.0, dt=0.03, method=hl.RK4(), events=HIT, save_at=[0.2, 0.46, 0.47, 1.0]
    )
    s = run.t - first
    expected = np.where(s < 0, 1 - 0.5 * G * run.t**2, G * first * s - 0.5 * G * s**2)
    np.testing.assert_allclose(run.q[:, 1], expected, rtol=0, atol=1e-13)
    free = hl.simulate(ball, [0.0, 1.0], [1.0, 0.0], 1.0, events=HIT)
    assert abs(free.events.t[0] - first) < 1e-12
    assert len(free.events) == 1


def test_events_are_kept_in_files_and_counted_in_the_certificate(tmp_path):
    run = hl.simulate(ball, [0.0, 1.0], [1.0, 0.0], 2.0, dt=0.01, method=hl.RK4(), events=[HIT, TOP])
    again = hl.load(run.save(tmp_path / "run.nc"))
    np.testing.assert_array_equal(again.events.t, run.events.t)
    np.testing.assert_array_equal(again.events.v_before, run.events.v_before)
    assert again.events.names == run.events.names
    assert len(again.events) == len(run.events)
    assert "2 × event 0, 2 × event 1" in str(run.certificate)
    one = run.events[0]
    assert one.name == "event 0"
    assert one.v_after[1] == -one.v_before[1]
    assert list(run.events.of("event 1")) == [1, 3]


def test_more_events_than_allowed_is_a_result():
    with pytest.raises(hl.SimulationError, match="max_events"):
        hl.simulate(ball, [0.0, 1.0], [0.0, 0.0], 9.0, dt=0.1, method=hl.RK4(), events=HIT, max_events=5)
    run = hl.simulate(ball, [0.0, 1.0], [0.0, 0.0], 9.0, dt=0.1, method=hl.RK4(), events=HIT, max_events=5, throw=False)
    assert run.result.name == "too_many_events"
    assert len(run.events) == 5
    many = hl.simulate(ball, [0.0, 1e-3], [0.0, 0.0], 9.0, dt=0.1, method=hl.RK4(), events=HIT)
    assert len(many.events) == 315  # more than the compiled loop keeps at once
    rare = hl.simulate(ball, [0.0, 1e-3], [0.0, 0.0], 9.0, dt=0.1, method=hl.RK4(), events=HIT, save_every=90)
    np.testing.assert_array_equal(rare.events.t, many.events.t)
    np.testing.assert_array_equal(rare.q[-1], many.q[-1])


def test_bad_events_are_refused_with_a_sentence():
    def go(**options):
        hl.simulate(ball, [0.0, 1.0], [0.0, 0.0], 1.0, dt=0.1, **options)

    with pytest.raises(ValueError, match="single number"):
        go(events=[hl.Event(lambda t, q, v: q)])
    with pytest.raises(ValueError, match=r"list of hl\.Event"):
        go(events=[lambda t, q, v: q[0]])
    with pytest.raises(ValueError, match="direction"):
        hl.Event(lambda t, q, v: q[0], direction=2)
    with pytest.raises(ValueError, match="sigma must be a function"):
        hl.Event(3.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="pair"):
        go(events=[hl.Event(lambda t, q, v: q[0], action=lambda t, q, v: q)])
    with pytest.raises(ValueError, match="shape"):
        go(events=[hl.Event(lambda t, q, v: q[0], action=lambda t, q, v: (q[0], v))])
    with pytest.raises(ValueError, match="max_events"):
        go(events=[HIT], max_events=0)
    with pytest.raises(ValueError, match="event 0 could not be evaluated"):
        go(events=[hl.Event(lambda t, q, v: q[7] + v["x"])])

"""The guard against singular positions: linkages whose normals become dependent, however many at once."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.constraints.singular_linkages import G, in_one_angle, parallelogram, turned_to

import holonomy as hl

METHODS = (
    hl.Rattle(2),
    hl.Rattle(4),
    hl.Rattle(6),
    hl.Radau(3),
    hl.RK4(),
    hl.Adaptive(),
    hl.Adaptive(5, rtol=1e-6, atol=1e-6),
)


@cache
def row_of_four_bars(loops):
    """N loops of four equal bars in a row: N + 1 cranks of length 1 about (i, 0), with couplers between their ends.

    One degree of freedom. With all bars in line, N directions of motion open at once.
    """
    count = loops + 1
    feet = jnp.stack([jnp.arange(count, dtype=float), jnp.zeros(count)], axis=1)

    def lengths(t, q, p):
        ends = q.reshape(count, 2)
        cranks, couplers = ends - feet, ends[1:] - ends[:-1]
        return 0.5 * jnp.concatenate([jnp.sum(cranks**2, axis=1) - 1.0, jnp.sum(couplers**2, axis=1) - 1.0])

    names = tuple(f"{axis}{i}" for i in range(count) for axis in "xy")
    free = hl.System.from_positions(
        lambda t, q, p: q.reshape(count, 2), 1.0, lambda t, q, p: p.g * jnp.sum(q[1::2]), names, parameters={"g": 9.81}
    )
    return free.constrained(holonomic=lengths)


def raised(loops, angle, rate):
    """All cranks at one angle, turning at one rate."""
    ends = np.array([[i + np.cos(angle), np.sin(angle)] for i in range(loops + 1)])
    return ends.ravel(), np.tile([-rate * np.sin(angle), rate * np.cos(angle)], loops + 1)


@pytest.mark.parametrize(
    ("method", "loops"),
    [*((hl.Rattle(2), loops) for loops in (2, 3, 4, 5, 6)), (hl.Radau(3), 2), (hl.Radau(3), 3)],
    ids=lambda x: getattr(x, "label", x),
)
def test_bars_in_line_are_seen_whatever_their_number(method, loops):
    """Falling from 45° the cranks come into line; an even number of directions opens unseen by a determinant."""
    run = hl.simulate(
        row_of_four_bars(loops), *raised(loops, np.pi / 4, -1.0), 2.0, dt=0.01, method=method, throw=False
    )
    assert run.result.name == "rank_change"
    assert 0.0 < run.q[-1, 1] < 0.1, "it stops just before the bars are in line"
    assert run.certificate.energy_drift_relative < 1e-3


def test_many_conditions_that_keep_their_rank_are_no_trouble():
    """Swinging below the line without reaching it, with thirteen conditions."""
    run = hl.simulate(row_of_four_bars(6), *raised(6, -np.pi / 3, 0.5), 1.0, dt=0.01, method=hl.Rattle(2))
    assert run.result.ok
    assert run.certificate.violation < 1e-13


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.label)
def test_every_method_stops_before_the_bars_are_in_line(method):
    """At any step: also where the end of a step that was foreseen lies before, and the end itself beyond."""
    for dt in (0.0071, 0.0113, 0.0146, 0.0251, 0.0275, 0.042, 0.0533, 0.0614, 0.0823, 0.0984):
        for angle in (0.25 * np.pi, 1.0):
            run = hl.simulate(parallelogram(), *turned_to(angle, -1.0), 2.0, dt=dt, method=method, throw=False)
            assert run.result.name == "rank_change"
            assert 0.0 < run.q[-1, 1] < 0.5, "before the bars are in line, and not long before"
            drift = np.abs(run.energy - run.energy[0]) / run.energy[0]
            room = 2e-2 * (dt / 0.1) ** min(method.order, 4) + 1e-6
            assert drift[-1] <= room, (dt, drift[-1])


@pytest.mark.parametrize("method", METHODS[:5], ids=lambda m: m.label)
def test_a_step_that_ends_in_line_is_not_kept(method):
    """The last row would have a velocity that rounding decides: with bars in line to 1e-9, energies off by half."""
    start = turned_to(0.25 * np.pi, -1.0)
    level = hl.Event(lambda t, q, v: q[0], terminal=True)
    fall = hl.simulate(in_one_angle(1.0, G), [0.25 * np.pi], [-1.0], 2.0, dt=1e-3, method=hl.Gauss(3), events=[level])
    for steps in (7, 20, 40):
        for off in (-1e-5, -1e-7, -1e-9, 0.0, 1e-9):
            dt = float(fall.t[-1]) / steps * (1.0 + off)
            run = hl.simulate(parallelogram(), *start, 2.0, dt=dt, method=method, throw=False)
            assert run.result.name == "rank_change"
            drift = np.abs(run.energy - run.energy[0]) / run.energy[0]
            assert drift[-1] <= 3.0 * np.max(drift[:-1]) + 1e-8, (steps, off, drift[-2:])


def test_adaptive_is_not_stopped_by_normals_that_turn_within_dt():
    """Between saved times a second apart the cranks swing through large angles without coming into line."""
    run = hl.simulate(parallelogram(), *turned_to(-0.5 * np.pi, 3.5), 10.0, dt=1.0, method=hl.Adaptive())
    assert run.result.ok
    whole = hl.simulate(in_one_angle(1.0, G), [-0.5 * np.pi], [3.5], 10.0, dt=1.0, method=hl.Adaptive())
    np.testing.assert_allclose(run.q[:, 1], np.sin(whole.q[:, 0]), atol=1e-7)

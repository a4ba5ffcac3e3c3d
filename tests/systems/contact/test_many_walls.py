"""Many walls: a Galton board against rays traced by geometry; rows of functions; more walls at once than looked at."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.contact.galton import BOARD, BOTTOM, PINS, E, G, dropped, start, traced

import holonomy as hl
from holonomy.systems.contact import many_walls
from holonomy.trace.function import trace
from holonomy.trace.some_rows import some_rows

HITS = 25


def as_traced_by_geometry(ball, run):
    """Compare with rays as far as these say anything: two that start 1e-13 apart part by the factor of chaos."""
    pins, times = traced(start(ball), HITS)
    others, shifted = traced(start(ball) + np.array([1e-13, 0.0]), HITS)
    impacts = run.events.of("impact")[:HITS]
    compared = 0
    for k, row in enumerate(impacts[: min(len(times), len(shifted))]):
        apart = abs(times[k] - shifted[k])
        if others[k] != pins[k] or apart > 1e-5:
            break
        assert run.events[row].name == f"impact {pins[k]}"
        assert abs(run.events.t[row] - times[k]) <= 10.0 * apart + 1e-12
        compared += 1
    return compared


def energy_is_lost_at_impacts_alone(run):
    """From one record to the next none is lost in free flight, and at an impact what Newton's law says.

    While a ball slides on a pin its energy has the error of the method, which is 3e-3 at most for RK4 with this step.
    """
    log = run.events
    kinetic = [0.5 * np.sum(v**2, axis=1) for v in (log.v_before, log.v_after)]
    before, after = (k + G * log.q[:, 1] for k in kinetic)
    new = np.flatnonzero(np.any(log.v_before[1:] != log.v_before[:-1], axis=1)) + 1
    touching = np.cumsum([h.name.startswith("contact") - h.name.startswith("release") for h in log]) > 0
    free = new[~touching[new - 1]]
    assert len(free) > 0.5 * len(new)
    np.testing.assert_allclose(before[free], after[free - 1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(before[new], after[new - 1], rtol=0, atol=1e-2)
    for row in log.of("impact"):
        away = log.q[row] - PINS[int(log[row].name.split()[1])]
        speed = log.v_before[row] @ away / np.linalg.norm(away)
        rest = log[row + 1].name.startswith("contact")  # the last of ever smaller impacts: the ball stays on the pin
        assert abs(after[row] - before[row] + 0.5 * (1.0 - (0.0 if rest else E**2)) * speed**2) < 1e-11


@pytest.mark.parametrize("balls", [2, pytest.param(100, marks=pytest.mark.proof)])
def test_balls_on_a_board_of_a_thousand_pins(balls):
    compared = []
    for ball in range(balls):
        run = dropped(ball)
        assert run.result.name == "event"
        assert "native" in run.certificate.engine
        assert run.q[-1, 1] == pytest.approx(BOTTOM, abs=1e-10)
        energy_is_lost_at_impacts_alone(run)
        assert np.min(np.linalg.norm(run.events.q[:, None] - PINS, axis=2)) > 0.3 - 1e-9
        if ball < 10:
            compared.append(as_traced_by_geometry(ball, run))
    assert min(compared) >= 8


@pytest.mark.proof
def test_the_board_in_xla():
    """The other engine over the first three impacts, and until the fourth is near."""
    pins, times = traced(start(0), HITS)
    end = 0.5 * (times[2] + times[3])
    run = hl.simulate(BOARD, start(0), [0.0, 0.0], end, dt=0.05, method=hl.RK4(), engine="xla")
    hits = run.events.of("impact")
    assert len(hits) == 3
    assert [run.events[k].name for k in hits] == [f"impact {p}" for p in pins[: len(hits)]]
    np.testing.assert_allclose(run.events.t[hits], times[: len(hits)], rtol=0, atol=1e-11)


@pytest.mark.proof
def test_more_walls_at_once_than_are_looked_at():
    """Twenty balls in a row, all touching, on a floor: 20 walls at rest, of which 6 are looked at to begin with."""
    n = 20
    row = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) - G * jnp.sum(q), coordinates=tuple(f"y{k}" for k in range(n))
    ).constrained(unilateral=lambda t, q: q, restitution=0.0)
    run = hl.simulate(row, np.full(n, 0.1), np.zeros(n), 0.3, dt=0.01, method=hl.RK4(), engine="xla")
    assert run.result.ok
    assert sorted(h.name for h in run.events if h.name.startswith("contact")) == sorted(
        f"contact {k}" for k in range(n)
    )
    np.testing.assert_allclose(run.events.t, np.sqrt(0.2 / G), rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.multipliers[-1], G, rtol=1e-12)
    assert n > many_walls.WINDOW


@pytest.mark.parametrize(
    "gaps",
    [
        lambda t, q: jnp.sqrt(jnp.sum((q[None] - PINS) ** 2, axis=1)) - 0.3,
        lambda t, q: jnp.linalg.norm(q[None] - PINS, axis=-1) - 0.3,
        lambda t, q: jnp.asarray(PINS) @ q - 1.0,
        lambda t, q: jax.vmap(lambda p: jnp.hypot(*(q - p)) - t)(jnp.asarray(PINS)),
        lambda t, q: jnp.concatenate([q[:1] - PINS[:, 0], PINS[:, 1] * q[1]]),
        lambda t, q: jnp.where(PINS[:, 0] > 0, jnp.sin(q[0] * PINS[:, 1]), jnp.cumsum(PINS @ q)),
        lambda t, q: (q[:, None] * PINS.T).max(axis=0).reshape(-1, 1)[:, 0],
        lambda t, q: jnp.tile(q, 500) - jnp.arange(1000.0),
    ],
)
def test_some_rows_of_a_function_equal_those_of_the_whole(gaps):
    t, q, near = 0.4, jnp.array([0.3, -2.0]), jnp.array([0, 17, 400, 999])
    function = trace(gaps, (t, q))
    np.testing.assert_allclose(some_rows(function, (t, q), near), gaps(t, q)[near], rtol=4e-16, atol=4e-16)
    slope = jax.jacfwd(lambda x: some_rows(function, (t, x), near))(q)
    np.testing.assert_allclose(slope, jax.jacfwd(lambda x: gaps(t, x)[near])(q), rtol=1e-15, atol=1e-15)

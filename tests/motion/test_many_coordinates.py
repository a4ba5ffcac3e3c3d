"""Runs of many coordinates: steps that are looked at together, rows handed over a few at a time."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.motion.loops import pieces, plain
from holonomy.motion.methods import runge_kutta
from holonomy.motion.methods.base import PositionVelocity
from holonomy.motion.save_times import plan, refuse_beyond_memory
from holonomy.systems import mass_checks
from holonomy.systems.result_code import Code

N = 700
system = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.sum(v * v) - 0.5 * jnp.sum((q[1:] - q[:-1]) ** 2) + 0.25 * jnp.sum(q**4),
    space=hl.Euclidean(N),
)
START = np.random.default_rng(0).uniform(-0.5, 0.5, (2, N))


def force(q):
    return np.diff(np.diff(q, prepend=q[0], append=q[-1])) + q**3


def verlet(q, v, h):
    q = q + 0.5 * h * v
    v = v + h * force(q)
    return q + 0.5 * h * v, v


def test_rows_are_those_of_single_steps():
    """150 steps saved every 75, which is more than are looked at together, and a time beside the grid."""
    run = hl.simulate(system, START[0], START[1], 1.505, dt=0.01, method=hl.Verlet(), save_at=[0.0, 0.75, 1.5, 1.505])
    q, v = START
    rows = [q]
    for k in range(150):
        q, v = verlet(q, v, 0.01)
        if k in (74, 149):
            rows.append(q)
    rows.append(verlet(q, v, 0.005)[0])
    np.testing.assert_allclose(run.q, rows, atol=1e-13)
    assert run.result.steps == 150


def test_stages_in_a_loop_are_those_written_out():
    """RK4 of many coordinates runs its stages in a loop: the same numbers, to the last digit, as those of few."""
    tableau = hl.RK4.tableau
    few, many = 100, 2 * runge_kutta.LARGE
    y, w = jnp.asarray(np.random.default_rng(4).normal(size=(2, many)))

    def slope(t, place, speed):
        return jnp.sin(place) * (1 + t) - 0.1 * speed

    parts = [tableau.advance(slope, 0.3, 0.01, y[k : k + few], w[k : k + few]) for k in range(0, many, few)]
    whole = tableau.advance(slope, 0.3, 0.01, y, w)
    for column in (0, 1):
        np.testing.assert_allclose(whole[column], np.concatenate([p[column] for p in parts]), rtol=1e-15, atol=1e-16)
    derivative = jax.grad(lambda x: jnp.sum(tableau.advance(slope, 0.3, 0.01, x, w)[0]))(y)
    np.testing.assert_allclose(derivative, 1 + 0.01**2 / 2 * np.cos(y) * 1.3, atol=1e-6)


def test_more_than_the_memory_holds_is_refused_with_its_size():
    rows = plan(0.0, 1.0, 0.01, 1, None)
    refuse_beyond_memory(rows, N)
    with pytest.raises(ValueError, match=r"Saving 101 times of 10000000000000 coordinates takes 3.23e\+07 GB"):
        refuse_beyond_memory(rows, 10**13)


def test_more_than_the_memory_holds_is_refused_before_its_times_are_made():
    with pytest.raises(ValueError, match=r"Saving 1999999999 times of 100000 coordinates takes 6.4e\+06 GB"):
        plan(0.0, 1999999999.0, 1.0, 1, None, 10**5)


def test_messages_do_not_list_thousands_of_coordinates():
    with pytest.raises(ValueError, match=r"q = \(x_0, .*, \.\.\., x_999\)") as wrong:
        hl.System.from_lagrangian(lambda t, x, v: jnp.sum(v**2 * jnp.ones(999)), coordinates={"x": 1000})
    assert len(str(wrong.value)) < 400
    free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.sum(v**2), coordinates={"x": 1000})
    with pytest.raises(ValueError, match=r"q0 must be finite; got nan among 1000 numbers"):
        hl.simulate(free, np.full(1000, np.nan), np.zeros(1000), 1.0, dt=0.1)


def test_many_rows_are_handed_over_a_few_at_a_time():
    assert pieces.rows_at_once(N) < 100
    run = hl.simulate(system, START[0], START[1], 1.0, dt=0.01, method=hl.RK4())
    assert run.q.shape == (101, N)
    some = hl.simulate(system, START[0], START[1], 1.0, dt=0.01, method=hl.RK4(), save_every=10)
    np.testing.assert_array_equal(run.q[::10], some.q)


@pytest.mark.parametrize("method", [hl.RK4(), hl.Splitting(4)], ids=lambda m: m.label)
def test_a_run_that_becomes_infinite_stops_at_the_step_that_fails(method):
    """The potential falls without bound. Steps one by one, each looked at, are the reference."""
    structured = mass_checks.with_structure(system)
    step = jax.jit(lambda state: method.step(structured, 0.0, 0.01, state)[0])
    state, rows = PositionVelocity(*map(jnp.asarray, 3.0 * START)), []
    while np.all(np.isfinite(state.q)) and np.all(np.isfinite(state.v)):
        rows.append(np.asarray(state.q))
        state = step(state)
    good = len(rows) - 1  # steps that end in a finite state
    run = hl.simulate(system, 3.0 * START[0], 3.0 * START[1], 20.0, dt=0.01, method=method, save_every=50, throw=False)
    assert not run.result.ok
    assert plain.TOGETHER < run.result.steps == good < 2000
    np.testing.assert_allclose(run.q, rows[: 50 * len(run.q) : 50], rtol=1e-9)


def test_steps_that_may_not_converge_end_at_the_one_that_does_not():
    """Several at once, against steps one by one: their number, their iterations and the state that is left."""
    method, h = hl.Gauss(2), jnp.asarray(0.01)
    structured = mass_checks.with_structure(system)
    step = jax.jit(lambda t, state: method.step(structured, t, h, state))
    now = plain.begin(structured, method, 0.0, *map(jnp.asarray, 3.0 * START))
    state, taken = now.state, []
    while True:
        new, status = step(0.01 * len(taken), state)
        if status.code != Code.ok:
            break
        state = new
        taken.append(int(status.work))
    assert len(taken) > 2 * plain.TOGETHER
    counts, rests = np.array([40, 2000]), np.zeros(2)
    end, _, rows = jax.jit(plain.chunk, static_argnums=(1,))(structured, method, now, 0.0, h, counts, rests, 2)
    assert (int(rows), int(end.code), int(end.index)) == (1, int(status.code), len(taken))
    failed = int(status.work)
    assert (int(end.work), int(end.worst)) == (sum(taken) + failed, max(*taken, failed))
    for ours, theirs in zip(jax.tree.leaves(end.state), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)

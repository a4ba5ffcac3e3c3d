"""The guard against singular positions: linkages whose normals become dependent, however many at once."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


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


@pytest.mark.parametrize("loops", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("method", [hl.Rattle(2), hl.Radau(3)], ids=lambda m: m.label)
def test_bars_in_line_are_seen_whatever_their_number(loops, method):
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

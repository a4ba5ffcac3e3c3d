"""Runs that stop at a close encounter say so first, and say what helps."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

charges = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) + 2.0 / jnp.linalg.norm(q[:2] - q[2:]), coordinates=("x1", "y1", "x2", "y2")
)
pulled = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2, coordinates=("x",)).forced(
    lambda t, q, v: -1.0 / q**2
)


def error_of(*args, **options):
    with pytest.raises(hl.SimulationError) as caught:
        hl.simulate(*args, **options)
    return str(caught.value), caught.value.run.certificate


@pytest.mark.parametrize(
    "options", [{"dt": 0.02}, {"dt": 0.3}, {"dt": 4.0}, {}, {"dt": 0.05, "method": hl.Taylor()}], ids=str
)
def test_a_collision_is_named_where_the_step_follows_the_motion(options):
    """Two charges from rest, which meet after t = 1.2 or so."""
    said, certificate = error_of(charges, [1.0, 0.3, -0.5, -0.1], np.zeros(4), 4.5, **options)
    assert "close encounter" in said.split(". ")[0]
    assert "no continuation" in said
    assert "looser" not in said + str(certificate.reasons)
    assert certificate.verdict == "failed"
    assert "close encounter" in certificate.reasons[0]


@pytest.mark.parametrize("dt", [0.05, 0.1])
def test_a_passage_at_which_a_fixed_step_fails_is_named(dt):
    start = [1.5, 0.0, -0.5, 0.0], [0.0, 0.05, 0.0, -0.05]
    said, _ = error_of(charges, *start, 9.0, dt=dt, method=hl.Gauss(3))
    assert "close encounter" in said.split(". ")[0]
    assert "Reduce dt, or take hl.Adaptive() or hl.Taylor()" in said


def test_a_force_that_is_no_potential_is_seen_as_well():
    said, _ = error_of(pulled, [1.0], [0.0], 3.0, dt=0.01, method=hl.Adaptive())
    assert "close encounter" in said.split(". ")[0]


def test_other_failures_are_not_called_encounters():
    """A mass that vanishes, equations that a long step cannot solve, and forces that grow on the way to infinity."""
    light = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (1.0 - t) * v[0] ** 2 + q[0], coordinates=("x",))
    run = hl.simulate(light, [0.0], [0.0], 2.0, dt=0.125, method=hl.RK4(), throw=False)
    pendulum = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + 100 * jnp.cos(q[0]), coordinates=("a",))
    long = hl.simulate(pendulum, [2.0], [0.0], 100.0, dt=1.0, method=hl.Gauss(3), throw=False)
    rising = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + 0.25 * q[0] ** 4, coordinates=("x",))
    escaped = hl.simulate(rising, [1.0], [1.0], 5.0, dt=0.1, method=hl.RK4(), throw=False)
    for one in (run, long, escaped):
        assert one.certificate.verdict != "good"
        assert not any("close encounter, or another" in said for said in one.certificate.reasons)

"""Crossings of a surface: at the times that are known, to round-off, and on curves where motion is regular."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.study.systems import henon_heiles, on_section

import holonomy as hl

WHEELS = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * (v @ v) - 0.5 * jnp.dot(p.squares, q * q),
    coordinates=("x", "y"),
    parameters={"squares": np.array([1.0, 2.0])},
)


@pytest.mark.parametrize("method", [hl.Gauss(4), hl.Taylor(), hl.RK4()])
def test_oscillators_cross_when_they_should(method):
    # x = sin(t - 1), y = cos(sqrt 2 t); surface x = 1/2, upward
    found = hl.section(
        WHEELS, [np.sin(-1.0), 1.0], [np.cos(-1.0), 0.0], 30.0, lambda t, q, v, p: q[0] - 0.5, dt=0.05, method=method
    )
    times = 1.0 + np.pi / 6 + 2 * np.pi * np.arange(5)
    close = 1e-5 if isinstance(method, hl.RK4) else 1e-11
    np.testing.assert_allclose(found.t, times, atol=close)
    np.testing.assert_allclose(found.q[:, 1], np.cos(np.sqrt(2) * times), atol=close)
    np.testing.assert_allclose(found.q[:, 0], 0.5, atol=1e-14)
    np.testing.assert_array_equal(found.direction, np.ones(5))
    assert len(found) == 5


def test_directions_and_surfaces_in_velocity_and_time():
    start = ([0.0, 1.0], [1.0, 0.0], 20.0)
    down = hl.section(WHEELS, *start, lambda t, q, v, p: q[0], direction=-1, dt=0.05)
    np.testing.assert_allclose(down.t, np.pi * np.array([1, 3, 5]), atol=1e-9)
    both = hl.section(WHEELS, *start, lambda t, q, v, p: v[0] * jnp.sqrt(p.squares[0]), direction=0, dt=0.05)
    np.testing.assert_allclose(both.t, np.pi * (0.5 + np.arange(6)), atol=1e-9)
    np.testing.assert_array_equal(both.direction, [-1, 1, -1, 1, -1, 1])
    clock = hl.section(WHEELS, *start, lambda t, q, v, p: jnp.sin(t), dt=0.05)
    np.testing.assert_allclose(clock.t, 2 * np.pi * np.arange(1, 4), atol=1e-13)
    never = hl.section(WHEELS, *start, lambda t, q, v, p: q[0] - 5.0, dt=0.05)
    assert len(never) == 0
    assert never.q.shape == (0, 2)


def test_a_step_that_ends_on_the_surface_is_one_crossing():
    drift = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2, coordinates=("x",))
    found = hl.section(drift, [-1.0], [1.0], 2.0, lambda t, q, v: q[0], dt=0.25)
    np.testing.assert_array_equal(found.t, [1.0])
    np.testing.assert_array_equal(found.q, [[0.0]])


def curve_gap(points):
    """How far neighbours in angle about the centre are from each other, at worst, over the curve's size."""
    centred = points - np.mean(points, axis=0)
    around = centred[np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))]
    return np.max(np.linalg.norm(np.diff(around, axis=0, append=around[:1]), axis=1)) / np.max(np.abs(centred))


def test_henon_heiles_regular_motion_draws_a_curve_and_chaotic_motion_does_not():
    surface, t_end = (lambda t, q, v: q[0]), 2000.0
    tame = hl.section(henon_heiles, *on_section(1 / 12, 0.1), t_end, surface, dt=0.1)
    assert len(tame) > 250
    assert np.max(np.abs(tame.q[:, 0])) < 1e-15
    energies = [henon_heiles.energy(0.0, q, v) for q, v in zip(tame.q, tame.v, strict=True)]
    np.testing.assert_allclose(energies, 1 / 12, atol=1e-9)
    wild = hl.section(henon_heiles, *on_section(1 / 6 - 1e-3, -0.1, 0.1), t_end, surface, dt=0.1)
    tame_gap, wild_gap = (curve_gap(np.stack([s.q[:, 1], s.v[:, 1]], axis=1)) for s in (tame, wild))
    assert tame_gap < 0.15
    assert wild_gap > 3 * tame_gap


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="direction is 1, -1 or 0"):
        hl.section(henon_heiles, [0.0, 0.1], [0.1, 0.0], 1.0, lambda t, q, v: q[0], direction=2)
    with pytest.raises(ValueError, match="single number"):
        hl.section(henon_heiles, [0.0, 0.1], [0.1, 0.0], 1.0, lambda t, q, v: q, dt=0.1)

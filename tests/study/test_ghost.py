"""Two runs side by side."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.study.systems import CHAOTIC, double

import holonomy as hl


def test_free_wheels_part_at_a_constant_rate_and_count_the_short_way_round():
    wheel = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2, coordinates={"theta": "angle"})
    pair = hl.ghost(wheel, [0.0], [1.0], 8.0, dt=0.5, offset=0.0, offset_v=1.0)
    apart = np.abs((pair.t + np.pi) % (2 * np.pi) - np.pi)
    np.testing.assert_allclose(pair.divergence, np.hypot(apart, 1.0), atol=1e-12)
    assert pair.separation is None


def test_chaos_parts_neighbours_and_order_does_not():
    wild = hl.ghost(double, *CHAOTIC, 20.0, dt=0.01, offset=[1e-9, 0.0])
    assert wild.divergence[0] == pytest.approx(1e-9, rel=1e-6)
    assert np.max(wild.divergence) > 1.0
    assert wild.separation is not None
    assert np.max(wild.separation) > 0.5
    rate, error = wild.growth()
    assert 0.5 < rate < 3.0
    assert 0.0 < error < 1.0
    calm = hl.ghost(double, [0.1, 0.1], [0.0, 0.0], 20.0, dt=0.01, offset=[1e-9, 0.0])
    assert np.max(calm.divergence) < 1e-7
    for energy in wild.energies:
        np.testing.assert_allclose(energy, energy[0], atol=1e-5)


def test_ghost_uses_the_runs_own_step_and_times():
    pair = hl.ghost(double, [0.3, 0.1], [0.0, 0.0], 1.0, offset=1e-6)
    assert pair.ghost.dt == pair.run.dt
    np.testing.assert_array_equal(pair.ghost.t, pair.run.t)


def test_on_a_sphere_the_ghost_starts_on_it():
    ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), space=hl.Sphere(2))
    pair = hl.ghost(ball, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], 1.0, dt=0.1, offset=[0.0, 0.0, 1e-3])
    np.testing.assert_allclose(np.linalg.norm(pair.ghost.q, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(pair.divergence[0], 1e-3, rtol=1e-3)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="must start elsewhere"):
        hl.ghost(double, *CHAOTIC, 1.0, dt=0.01, offset=0.0)
    with pytest.raises(ValueError, match="one finite number or 2"):
        hl.ghost(double, *CHAOTIC, 1.0, dt=0.01, offset=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="too few to measure growth"):
        hl.ghost(double, *CHAOTIC, 0.1, dt=0.01, offset=1e-9).growth()

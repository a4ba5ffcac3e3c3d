"""Starts in single precision: the run stays in it, or one sentence says why it cannot."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

oscillator = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) - 0.5 * jnp.dot(q, q), coordinates=("x", "y")
)
on_circle = oscillator.constrained(holonomic=lambda t, q: jnp.dot(q, q) - 1.0)
START = np.array([1.0, 0.0], np.float32), np.array([0.0, 0.5], np.float32)


@pytest.mark.parametrize(
    "method",
    [hl.RK4(), hl.Gauss(2), hl.Radau(3), hl.Radau(2), hl.Adaptive(rtol=1e-5, atol=1e-5), hl.SymplecticEuler()],
    ids=lambda m: m.label,
)
def test_free_motion(method):
    run = hl.simulate(oscillator, *START, 1.0, dt=0.01, method=method)
    assert run.q.dtype == np.float32
    bound = 5e-3 if method.order == 1 else 3e-5
    np.testing.assert_allclose(run.q[-1], [np.cos(1.0), 0.5 * np.sin(1.0)], atol=bound)


@pytest.mark.parametrize("method", [hl.Rattle(2), hl.Rattle(4), hl.Radau(3)], ids=lambda m: m.label)
def test_constrained_motion(method):
    run = hl.simulate(on_circle, *START, 1.0, dt=0.01, method=method)
    assert run.q.dtype == np.float32
    np.testing.assert_allclose(run.q[-1], [np.cos(0.5), np.sin(0.5)], atol=2e-5)


@pytest.mark.parametrize("method", [hl.Rattle(4), hl.RK4()], ids=lambda m: m.label)
def test_starts_rounded_to_single_precision_lie_on_their_constraints(method):
    def start(angle, radius=1.0):
        radial = np.array([np.cos(angle), np.sin(angle)])
        return (radius * radial).astype(np.float32), np.array([-radial[1], radial[0]], np.float32)

    for angle in np.linspace(0.0, 6.2, 20):
        q, v = start(angle)
        run = hl.simulate(on_circle, q, v, 0.1, dt=0.05, method=method)
        assert run.q.dtype == np.float32
        np.testing.assert_allclose(run.q[-1], [np.cos(angle + 0.1), np.sin(angle + 0.1)], atol=2e-6)
    with pytest.raises(ValueError, match="violates the constraints: q0"):
        hl.simulate(on_circle, *start(6.2, 1.0001), 0.1, dt=0.05, method=method)


def test_a_tolerance_beyond_single_precision_is_refused():
    with pytest.raises(ValueError, match=r"asks for more digits than float32 has: pass q0 and v0 in float64"):
        hl.simulate(oscillator, *START, 1.0, dt=0.1, method=hl.Adaptive())

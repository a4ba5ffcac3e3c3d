"""Motion past a singular potential without a method named: the step follows it."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl


def test_a_comet_returns_ten_times():
    """Eccentricity 0.99: at the sun the comet moves 14 times as fast as a step of dt could follow."""
    sun = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) + 1.0 / jnp.sqrt(jnp.dot(q, q)), coordinates=("x", "y")
    )
    run = hl.simulate(sun, [0.01, 0.0], [0.0, np.sqrt(199.0)], 20 * np.pi, dt=0.1)
    assert run.certificate.verdict.startswith("good")
    assert "may become infinite" in str(run.certificate)
    np.testing.assert_allclose(run.q[-1], [0.01, 0.0], atol=1e-6)
    assert run.certificate.energy_drift_relative < 1e-10


def test_burraus_three_bodies_part():
    """The masses 3, 4, 5 from rest at the corners of their triangle: after t = 60 the lightest leaves the other two.

    Against Taylor series up to t = 45. Close passages magnify errors a million times by then, and to about 0.3 at
    t = 70, differently in each version of JAX; from there on only the laws are asked for, and the certificate says so.
    """
    m = np.array([3.0, 4.0, 5.0])

    def lagrangian(t, q, v):
        x, w = q.reshape(3, 2), v.reshape(3, 2)
        pairs = [(i, j) for i in range(3) for j in range(i)]
        return 0.5 * jnp.sum(m[:, None] * w**2) + sum(m[i] * m[j] / jnp.linalg.norm(x[i] - x[j]) for i, j in pairs)

    bodies = hl.System.from_lagrangian(lagrangian, coordinates=("x1", "y1", "x2", "y2", "x3", "y3"))
    start = [1.0, 3.0, -2.0, -1.0, 1.0, -1.0], np.zeros(6)
    run = hl.simulate(bodies, *start, 70.0, dt=0.5)
    other = hl.simulate(bodies, *start, 70.0, dt=0.5, method=hl.Taylor())
    found = run.certificate
    assert found.verdict == "doubtful"
    assert "one of many possible motions" in found.reasons[-1]
    assert found.known_until is not None
    assert 45.0 < found.known_until < 65.0
    assert found.energy_drift_relative < 1e-7
    np.testing.assert_allclose(run.q[:91], other.q[:91], atol=1e-3)
    x = np.asarray(run.q[-1]).reshape(3, 2)
    assert np.linalg.norm(x[1] - x[2]) < 2 < 20 < np.linalg.norm(x[0] - x[1])

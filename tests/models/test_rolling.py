"""A car with trailers, a driven snakeboard, a particle on a sphere: what is known of their motions and constraints."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy import models


def forms(system, t=0.0):
    """The rows of the velocity constraints, as functions of q."""
    held = system.constraints.equations.velocity

    def rows(q):
        def rates(v):
            return jnp.concatenate([f(t, q, v, *system.last) for f in held])

        return jax.jacfwd(rates)(jnp.zeros_like(q))

    return rows


@pytest.mark.parametrize("trailers", [0, 1, 2])
def test_a_car_with_trailers_can_be_brought_anywhere(trailers) -> None:
    """Growth vectors (2, 3), (2, 3, 4), (2, 3, 4, 5): every place and all angles."""
    found = hl.integrability(forms(models.car_with_trailers(trailers)), 3 + trailers)
    assert found.growth == tuple(range(2, 4 + trailers))


def test_trailers_follow_without_losing_energy() -> None:
    q, v = np.array([0.0, 0.0, 0.2, 0.0]), np.array([0.0, 0.0, 0.6, 0.0])
    system = models.car_with_trailers(1)
    q, v = system.project(0.0, q, v + np.array([1.0, 0.2, 0.0, 0.0]))
    run = hl.simulate(system, q, v, 4.0, dt=0.02)
    assert np.ptp(run.energy) < 1e-10 * run.energy[0]
    axles = np.stack([system.place(0.0, one) for one in run.q[::20]])
    np.testing.assert_allclose(np.linalg.norm(axles[:, 1] - axles[:, 0], axis=1), 1.0, rtol=1e-14)
    sideways = [np.max(np.abs(forms(system)(one) @ rate)) for one, rate in zip(run.q[::20], run.v[::20], strict=True)]
    assert max(sideways) < 1e-12


def test_the_snakeboard_moves_as_its_mover_does() -> None:
    """Two routes: constrained equations of motion from rest, and the reconstruction from momentum and connection."""
    period = 2 * np.pi / 3.0
    run = hl.simulate(models.driven_snakeboard(), np.zeros(3), np.zeros(3), period, dt=period / 200, save_every=200)
    gait = hl.Gait.fourier([0.0, 0.0], [[0.0, 0.0]], [[1.0, 0.5]], period=period)
    np.testing.assert_allclose(run.q[-1], hl.perform(models.snakeboard(), gait).displacement, atol=1e-7)
    assert run.q[-1, 0] > 1.0


@pytest.mark.parametrize("speed", [0.5, 1.5])
def test_a_particle_leaves_the_sphere_where_it_should(speed) -> None:
    r, g = 2.0, 9.81
    system = models.sphere_slide(r=r, g=g)
    run = hl.simulate(system, [0.0, r], [speed, 0.0], 1.5, dt=0.01)
    (k,) = run.events.of("release")
    assert run.events.q[k, 1] / r == pytest.approx(2 / 3 + speed**2 / (3 * g * r), abs=1e-7)

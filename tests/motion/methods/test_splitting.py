"""Verlet's method and its compositions: order, energy, reversibility, and the systems they are for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.examples import double_pendulum

import holonomy as hl

SPLITTINGS = [hl.Verlet(), hl.Splitting(2), hl.Splitting(4), hl.Splitting(6), hl.Splitting(8)]
STEPS = {2: 0.02, 4: 0.1, 6: 0.2, 8: 0.2}
# Hénon and Heiles
system = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) - 0.5 * jnp.dot(q, q) - q[0] ** 2 * q[1] + q[1] ** 3 / 3, coordinates=("x", "y")
)
START = [0.1, 0.2], [0.4, -0.1]


@pytest.mark.parametrize("method", SPLITTINGS, ids=lambda m: m.label)
def test_order_and_return(method):
    dt = STEPS[method.order]
    there = hl.simulate(system, *START, 4.0, dt=dt, method=method)
    assert abs(there.observed_order() - method.order) < 0.25
    back = hl.simulate(system, there.q[-1], there.v[-1], 0.0, t0=4.0, dt=dt, method=method)
    np.testing.assert_allclose(np.r_[back.q[-1], back.v[-1]], np.ravel(START), atol=1e-13)


@pytest.mark.parametrize("method", [hl.Verlet(), hl.Splitting(8)], ids=lambda m: m.label)
def test_the_energy_error_has_no_trend(method):
    run = hl.simulate(system, *START, 2000.0, dt=0.2, method=method, save_every=5)
    error = np.abs(run.energy - run.energy[0])
    first, last = np.max(error[: len(error) // 5]), np.max(error[-len(error) // 5 :])
    assert last < 1.5 * first


def test_rounding_does_not_add_up():
    """A body of springs that travels a thousand times its size in 10⁵ steps: changes are added with compensation."""
    body = hl.World(
        hl.Euclidean(3), hl.Body([1.0] * 3, springs=[(i, j, 1.0, 1.0) for i, j in ((0, 1), (0, 2), (1, 2))])
    )
    points = np.array([[0.0, 0.0, 0.0], [1.1, 0.0, 0.0], [0.4, 0.9, 0.1]])
    velocities = np.array([[0.1, 0.2, 0.0], [0.0, -0.3, 0.2], [0.3, 0.0, 0.1]])
    run = hl.simulate(body, points, velocities, 5000.0, dt=0.05, method=hl.Splitting(8), save_every=1000)
    drifts = run.certificate.conserved
    assert max(drifts[f"the momentum of translate_{axis}"] for axis in "xyz") < 4e-15
    assert run.certificate.energy_drift < 3e-13


def test_rounding_does_not_add_up_on_a_sphere():
    """A rod in S³: its energy after 10⁵ steps, and its ends on the sphere."""
    space = hl.Sphere(3)
    points = np.array([space.from_polar(1.0, 1.2, 0.3), space.from_polar(1.5, 1.4, 0.9)])
    turn = next(iter(space.killing().values()))
    rod = hl.World(space, hl.Body([1.0, 1.0], springs=[(0, 1, 1.0, 0.6)]))
    run = hl.simulate(
        rod, points, [0.3 * turn(x) for x in points], 5000.0, dt=0.05, method=hl.Splitting(8), save_every=100
    )
    assert run.certificate.energy_drift < 3e-15
    assert np.max(np.abs(np.linalg.norm(run.q.reshape(-1, 2, 4), axis=2) - 1.0)) < 3e-16


def test_verlet_is_the_splitting_of_order_two():
    runs = [hl.simulate(system, *START, 1.0, dt=0.1, method=m) for m in SPLITTINGS[:2]]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)


def test_a_step_is_symplectic():
    def step(z):
        run = hl.simulate(system, z[:2], z[2:], 0.3, dt=0.3, method=hl.Splitting(4))
        return jnp.concatenate([run.q[-1], run.v[-1]])

    derivative = jax.jit(jax.jacfwd(step))(np.ravel(START))
    form = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(derivative.T @ form @ derivative, form, atol=1e-13)


def test_forces_and_potentials_of_the_time_enter_at_their_time():
    driven = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 + q[0] * jnp.cos(3 * t), coordinates=("x",)
    ).forced(lambda t, q, v: -2.0 * q + jnp.sin(t))
    run = hl.simulate(driven, [0.3], [0.0], 2.0, dt=0.05, method=hl.Splitting(6))
    exact = hl.simulate(driven, [0.3], [0.0], 2.0, dt=0.05, method=hl.Gauss(5))
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=1e-9)
    assert not run.provenance.properties.symplectic


def test_other_systems_are_refused_with_the_reason():
    flat = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), coordinates=("x", "y"))
    with pytest.raises(ValueError, match="a term of both q and v"):
        hl.simulate(double_pendulum, [1.0, 0.0], [0.0, 0.0], 1.0, dt=0.1, method=hl.Verlet())
    with pytest.raises(ValueError, match="a force on this one depends on v"):
        hl.simulate(flat.forced(lambda t, q, v: -v), *START, 1.0, dt=0.1, method=hl.Splitting())
    with pytest.raises(ValueError, match="this one has constraints"):
        hl.simulate(
            flat.constrained(holonomic=lambda t, q: q[:1]), [0.0, 1.0], [0.0, 1.0], 1.0, dt=0.1, method=hl.Verlet()
        )
    ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), space=hl.Sphere(2))
    with pytest.raises(ValueError, match="moves on"):
        hl.simulate(ball, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], 1.0, dt=0.1, method=hl.Verlet())
    with pytest.raises(ValueError, match="orders 2, 4, 6 and 8; got 3"):
        hl.Splitting(3)

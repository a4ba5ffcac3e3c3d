"""RATTLE: orders, symplecticity on the constrained phase space, reversibility, and motion known otherwise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.constraints.examples import FOUR_BAR_START, double_rods, four_bar, from_angles

import holonomy as hl

# A mass matrix that depends on position, a potential, and one condition between three coordinates.
bent = hl.System.from_lagrangian(
    lambda t, q, v: (
        0.5 * (2.0 + jnp.cos(q[1])) * v[0] ** 2
        + 0.5 * (1.5 + q[0] ** 2) * v[1] ** 2
        + 0.5 * v[2] ** 2
        + 0.3 * jnp.sin(q[2]) * v[0] * v[1]
        - jnp.cos(q[0] + q[2])
    ),
    coordinates=("a", "b", "c"),
).constrained(holonomic=lambda t, q: q[2] - 0.4 * jnp.sin(q[0]) - 0.2 * q[1] ** 2)
BENT = bent.project(0.0, [0.3, 0.5, 0.1], [0.8, -0.4, 0.2])


def form_defect(system, method, q, v, dt):
    """How far ω(DΦ ξ, DΦ η) is from ω(ξ, η) over all tangent vectors ξ, η of the constrained phase space.

    Tangent vectors keep φ and φ' to first order; DΦ is the derivative of one step in (q, p).
    """
    n = len(q)
    phi = system.constraints.equations.holonomic[0]
    last = (system.parameters,) if system.parametric else ()

    def conditions(z):
        v = system.velocity(0.0, z[:n], z[n:])
        return jnp.concatenate(jax.jvp(lambda x: phi(0.0, x, *last), (z[:n],), (v,)))

    def step(z):
        run = hl.simulate(system, z[:n], system.velocity(0.0, z[:n], z[n:]), dt, dt=dt, method=method)
        return jnp.concatenate([run.q[-1], system.momentum(dt, run.q[-1], run.v[-1])])

    z = jnp.concatenate([q, system.momentum(0.0, q, v)])
    normals, slope = jax.jit(lambda z: (jax.jacfwd(conditions)(z), jax.jacfwd(step)(z)))(z)
    rank = normals.shape[0]
    tangent = np.linalg.svd(normals)[2][rank:].T
    form = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    moved = slope @ tangent
    return np.max(np.abs(moved.T @ form @ moved - tangent.T @ form @ tangent))


def test_a_step_is_symplectic_where_the_mass_matrix_depends_on_position():
    assert form_defect(bent, hl.Rattle(4), *BENT, 0.1) < 1e-11


def test_a_step_is_symplectic_on_the_double_pendulum_of_rods_and_projection_is_not():
    q, v = from_angles([1.2, 0.4], [0.5, 1.0])
    assert form_defect(double_rods, hl.Rattle(2), q, v, 0.1) < 1e-11
    assert form_defect(double_rods, hl.RK4(), q, v, 0.1) > 1e-7


@pytest.mark.parametrize("method", [hl.Rattle(2), hl.Rattle(4), hl.Rattle(6)], ids=lambda m: m.label)
def test_order_is_as_named_where_the_mass_matrix_depends_on_position(method):
    dt = {2: 0.02, 4: 0.05, 6: 0.1}[method.order]
    run = hl.simulate(bent, *BENT, 2.0, dt=dt, method=method)
    assert abs(run.observed_order() - method.order) < 0.2


def test_a_thousand_steps_there_and_back():
    there = hl.simulate(four_bar, *FOUR_BAR_START, 10.0, dt=0.01, method=hl.Rattle(4), save_every=1000)
    back = hl.simulate(four_bar, there.q[-1], there.v[-1], 0.0, t0=10.0, dt=0.01, method=hl.Rattle(4), save_every=1000)
    np.testing.assert_allclose(back.q[-1], FOUR_BAR_START[0], atol=1e-11)
    np.testing.assert_allclose(back.v[-1], FOUR_BAR_START[1], atol=1e-11)


def test_rods_move_as_the_double_pendulum_of_the_seed():
    """Reference angles from forty digits, MATH.md §3."""
    q, v = from_angles([np.pi / 2, np.pi / 2], [0.0, 0.0])
    run = hl.simulate(double_rods, q, v, 1.0, dt=0.002, method=hl.Rattle(6), save_at=[1.0])
    angles, rates = [-0.62508769980639, -1.03458508568], [-3.922279572888, -1.3030992486963]
    q_end, v_end = from_angles(angles, rates)
    np.testing.assert_allclose(run.q[-1], q_end, atol=2e-11)
    np.testing.assert_allclose(run.v[-1], v_end, atol=1e-10)
    assert run.certificate.violation < 1e-15


def stretchy(density):
    """Two hinges on three rods of mass 1 that could stretch: of fixed total mass, or of fixed density."""
    ends = jnp.array([[0.0, 0.0], [2.2, 0.0]])

    def kinetic(t, q, v):
        places = jnp.concatenate([ends[:1], q.reshape(2, 2), ends[1:]])
        speeds = jnp.concatenate([jnp.zeros((1, 2)), v.reshape(2, 2), jnp.zeros((1, 2))])
        rods = places[1:] - places[:-1]
        lengths = jnp.sqrt(jnp.sum(rods * rods, axis=1))
        a, b = speeds[:-1], speeds[1:]
        energies = jnp.sum(a * a + a * b + b * b, axis=1) / 6.0
        return jnp.sum(energies * (lengths if density else 1.0)) + 0.5 * 0.2 * jnp.dot(v, v)

    def unit(t, q):
        places = jnp.concatenate([ends[:1], q.reshape(2, 2), ends[1:]])
        return jnp.sum((places[1:] - places[:-1]) ** 2, axis=1) - 1.0

    return hl.System.from_lagrangian(kinetic, ("x1", "y1", "x2", "y2")).constrained(holonomic=unit)


def test_rods_of_fixed_mass_and_of_fixed_density_move_alike():
    """Two ambient metrics that agree on the constraint surface (seed 001): same motion, other multipliers."""
    mass, density = stretchy(False), stretchy(True)
    q, v = mass.project(0.0, [0.6, 0.8, 1.6, 0.8], [0.5, -0.3, 0.4, 0.2])
    runs = [hl.simulate(s, q, v, 2.0, dt=0.01, method=hl.Rattle(6), save_every=20) for s in (mass, density)]
    assert np.max(np.abs(mass.mass_matrix(0.0, 1.3 * q) - density.mass_matrix(0.0, 1.3 * q))) > 0.05
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-10)
    np.testing.assert_allclose(runs[0].v, runs[1].v, atol=1e-10)
    assert np.max(np.abs(runs[0].multipliers - runs[1].multipliers)) > 1e-2


def test_a_circle_of_latitude_on_a_sphere():
    """Constraints in the charts of a curved space: against the same motion in an angle, and order 4 across charts."""
    level = hl.System.from_lagrangian(
        lambda t, x, v: 0.5 * jnp.dot(v, v) - 3.0 * x[2] - 0.2 * x[0], space=hl.Sphere(2)
    ).constrained(holonomic=lambda t, x: x[2] - 0.6)
    angle = hl.System.from_lagrangian(lambda t, q, v: 0.32 * v[0] ** 2 - 0.16 * jnp.cos(q[0]), ("a",))
    reference = float(hl.simulate(angle, [0.0], [1.25], 6.0, dt=0.01).q[-1, 0])
    run = hl.simulate(level, [0.8, 0.0, 0.6], [0.0, 1.0, 0.0], 6.0, dt=0.02, method=hl.Rattle(4))
    np.testing.assert_allclose(run.q[-1], [0.8 * np.cos(reference), 0.8 * np.sin(reference), 0.6], atol=1e-7)
    assert run.certificate.violation < 1e-15
    assert abs(run.observed_order() - 4) < 0.2


def test_default_method_says_why():
    run = hl.simulate(bent, *BENT, 0.5, dt=0.05)
    assert "Rattle(4)" in run.certificate.method
    assert "holonomic" in run.certificate.why
    assert run.multipliers.shape == (11, 1)
    assert ("largest violation of a constraint", f"{run.certificate.violation:.3e}") in run.certificate.rows()

"""What a description implies: mass, momentum, energy, acceleration, against formulas written by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.examples import (
    DOUBLE_PARAMETERS,
    double_pendulum,
    double_pendulum_positions,
)

import holonomy as hl
from holonomy.systems import lagrangian as mechanics

Q, V = np.array([0.7, -1.1]), np.array([0.4, 1.3])


def by_hand(q, v, g=9.81):
    """Mass matrix and acceleration of the double pendulum with unit lengths and masses."""
    c, s = np.cos(q[0] - q[1]), np.sin(q[0] - q[1])
    mass = np.array([[2.0, c], [c, 1.0]])
    force = np.array([-s * v[1] ** 2 - 2 * g * np.sin(q[0]), s * v[0] ** 2 - g * np.sin(q[1])])
    return mass, np.linalg.solve(mass, force)


from_positions = hl.System.from_positions(
    double_pendulum_positions,
    [1.0, 1.0],
    lambda t, q, p: p.g * jnp.sum(double_pendulum_positions(t, q, p)[:, 1]),
    coordinates={"theta1": "angle", "theta2": "angle"},
    parameters=DOUBLE_PARAMETERS,
)


def metric(q, p):
    c = p.m2 * p.l1 * p.l2 * jnp.cos(q[0] - q[1])
    return jnp.stack([jnp.stack([(p.m1 + p.m2) * p.l1**2, c]), jnp.stack([c, p.m2 * p.l2**2])])


from_metric = hl.System.from_metric(
    metric,
    lambda t, q, p: -p.g * ((p.m1 + p.m2) * p.l1 * jnp.cos(q[0]) + p.m2 * p.l2 * jnp.cos(q[1])),
    coordinates={"theta1": "angle", "theta2": "angle"},
    parameters=DOUBLE_PARAMETERS,
)

THREE = pytest.mark.parametrize("system", [double_pendulum, from_positions, from_metric], ids=["L", "x", "g"])


@THREE
def test_three_descriptions_of_one_system(system):
    mass, acceleration = by_hand(Q, V)
    np.testing.assert_allclose(system.mass_matrix(0.0, Q), mass, rtol=1e-14)
    np.testing.assert_allclose(system.momentum(0.0, Q, V), mass @ V, rtol=1e-14)
    np.testing.assert_allclose(system.acceleration(0.0, Q, V), acceleration, rtol=1e-13)
    energy = 0.5 * V @ mass @ V - 9.81 * (2 * np.cos(Q[0]) + np.cos(Q[1]))
    np.testing.assert_allclose(system.energy(0.0, Q, V), energy, rtol=1e-14)
    np.testing.assert_allclose(system.hamiltonian(0.0, Q, mass @ V), energy, rtol=1e-13)


@THREE
def test_legendre_transform_and_its_inverse(system):
    p = system.momentum(0.3, Q, V)
    np.testing.assert_allclose(system.velocity(0.3, Q, p), V, rtol=1e-13)


@THREE
def test_parameters_are_numbers_not_structure(system):
    _, acceleration = by_hand(Q, V, g=3.7)
    other = system.with_parameters(g=3.7)
    np.testing.assert_allclose(other.acceleration(0.0, Q, V), acceleration, rtol=1e-13)
    assert jax.tree.structure(other) == jax.tree.structure(system)
    assert system.parameters["g"] == system.parameters.g == 9.81


def test_hamiltons_equations_follow_from_the_hamiltonian():
    """q' = ∂H/∂p and p' = −∂H/∂q, against Lagrange's side of the same system."""
    p = double_pendulum.momentum(0.0, Q, V)
    dq, dp = jax.grad(double_pendulum.hamiltonian, argnums=(1, 2))(0.0, Q, p)
    np.testing.assert_allclose(dp, V, rtol=1e-12)
    pull = jax.grad(double_pendulum.raw_lagrangian, argnums=1)(0.0, Q, V)
    np.testing.assert_allclose(-dq, pull, rtol=1e-12)


def test_a_moving_frame_has_all_three_parts_of_the_kinetic_energy():
    """A particle in a frame that turns at ω and slides at u: T₂ + T₁ + T₀ by hand."""
    omega, u = 0.7, 0.3

    def place(t, q):
        c, s = jnp.cos(omega * t), jnp.sin(omega * t)
        return jnp.stack([c * q[0] - s * q[1] + u * t, s * q[0] + c * q[1]])[None]

    system = hl.System.from_positions(place, 2.0, coordinates={"x": "length", "y": "length"})
    t, q, v = 0.9, np.array([0.4, -0.8]), np.array([1.1, 0.2])
    c, s = np.cos(omega * t), np.sin(omega * t)
    turn = np.array([[c, -s], [s, c]])
    velocity = turn @ (v + omega * np.array([-q[1], q[0]])) + np.array([u, 0.0])
    np.testing.assert_allclose(system.energy(t, q, v), velocity @ velocity, rtol=1e-14)
    np.testing.assert_allclose(system.momentum(t, q, v), 2.0 * turn.T @ velocity, rtol=1e-14)
    # free motion: the acceleration is Coriolis and centrifugal alone
    expected = 2 * omega * np.array([v[1], -v[0]]) + omega**2 * q
    np.testing.assert_allclose(system.acceleration(t, q, v), expected, rtol=1e-12)


def test_a_lagrangian_that_is_not_quadratic():
    """−√(1−v²): M = γ³, p = γ v, energy γ."""
    system = hl.System.from_lagrangian(lambda t, q, v: -jnp.sqrt(1.0 - v[0] ** 2), coordinates=("x",))
    gamma = 1 / np.sqrt(1 - 0.36)
    np.testing.assert_allclose(system.mass_matrix(0.0, [0.0], [0.6]), [[gamma**3]], rtol=1e-14)
    np.testing.assert_allclose(system.momentum(0.0, [0.0], [0.6]), [gamma * 0.6], rtol=1e-14)
    np.testing.assert_allclose(system.energy(0.0, [0.0], [0.6]), gamma, rtol=1e-14)
    np.testing.assert_allclose(system.velocity(0.0, [0.0], [gamma * 0.6], guess=[0.5]), [0.6], rtol=1e-13)


def test_an_indefinite_mass_matrix_is_solved_with_pivots():
    """L = v₁v₂ − q₁q₂ has a zero diagonal; each coordinate is the other's oscillator."""
    system = hl.System.from_lagrangian(lambda t, q, v: v[0] * v[1] - q[0] * q[1], coordinates=("a", "b"))
    np.testing.assert_allclose(system.acceleration(0.0, [0.3, -0.7], [0.0, 0.0]), [-0.3, 0.7], rtol=1e-14)
    with pytest.warns(UserWarning, match="negative kinetic energy"):
        run = hl.simulate(system, [1.0, 0.5], [0.0, 0.0], 1.0, dt=0.01)
    np.testing.assert_allclose(run.q[-1], np.cos(1.0) * np.array([1.0, 0.5]), atol=1e-12)


def test_forces_do_virtual_work():
    """A Cartesian force on the bobs equals its pull-back by the Jacobian of the positions."""
    push = np.array([[0.0, 0.0], [3.0, -1.0]])
    pushed = from_positions.forced(cartesian=lambda t, q, v, p: jnp.asarray(push))
    jacobian = np.array([[np.cos(Q[0]), np.sin(Q[0])], [np.cos(Q[1]), np.sin(Q[1])]])  # rows: d(last bob)/dq_i
    general = from_positions.forced(lambda t, q, v, p: jnp.asarray(jacobian @ push[1]))
    np.testing.assert_allclose(pushed.acceleration(0.0, Q, V), general.acceleration(0.0, Q, V), rtol=1e-13)
    assert not np.allclose(pushed.acceleration(0.0, Q, V), from_positions.acceleration(0.0, Q, V))


def test_angles_are_circles():
    assert double_pendulum.space.dim == double_pendulum.space.point_dim == 2
    assert double_pendulum.flat


def test_the_unrolled_factorisation_solves():
    from holonomy.systems.dense_solve import solve

    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 5, 8, 11):
        a = rng.normal(size=(n, n))
        a = a @ a.T + 0.1 * np.eye(n)
        b = rng.normal(size=n)
        for definite in (True, False):
            np.testing.assert_allclose(
                solve(jnp.asarray(a), jnp.asarray(b), definite), np.linalg.solve(a, b), rtol=1e-9
            )


def test_inertial_force_is_lagranges_left_side():
    """d/dt ∂L/∂v − ∂L/∂q along the motion vanishes."""
    a = double_pendulum.acceleration(0.0, Q, V)
    lagrangian = double_pendulum.raw_lagrangian
    _, rate = jax.jvp(lambda q, v: mechanics.momentum(lagrangian, 0.0, q, v), (Q, V), (V, np.asarray(a)))
    np.testing.assert_allclose(rate, jax.grad(lagrangian, argnums=1)(0.0, Q, V), rtol=1e-12)


def test_one_mass_from_a_parameter_belongs_to_every_particle():
    system = hl.System.from_positions(
        lambda t, q, p: jnp.stack([q, 2 * q]), lambda p: p.m, coordinates=("x", "y"), parameters={"m": 3.0}
    )
    np.testing.assert_allclose(system.mass_matrix(0.0, [0.1, 0.2]), 15.0 * np.eye(2), rtol=1e-15)

"""What a constrained system says about itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.motion.examples import pendulum
from tests.systems.constraints.examples import (
    FOUR_BAR_START,
    G,
    edge,
    four_bar,
    from_angles,
    loop_lengths,
    rod_pendulum,
    skate,
)

import holonomy as hl

ANGLE, RATE = 0.7, 1.3
ROD = from_angles([ANGLE], [RATE])


def test_acceleration_and_multiplier_of_a_rod_are_those_of_the_angle():
    q, v = ROD
    turn = float(pendulum.acceleration(0.0, [ANGLE], [RATE])[0])
    along, inward = np.array([np.cos(ANGLE), np.sin(ANGLE)]), -q
    np.testing.assert_allclose(rod_pendulum.acceleration(0.0, q, v), turn * along + RATE**2 * inward, atol=1e-14)
    tension = RATE**2 + G * np.cos(ANGLE)
    np.testing.assert_allclose(rod_pendulum.multipliers(0.0, q, v), [-tension], rtol=1e-14)
    # the force on the bob in Cartesian components, and the sign convention M a = f + Gᵀλ
    np.testing.assert_allclose(rod_pendulum.constraint_forces(0.0, q, v), [tension * inward], rtol=1e-14)


def test_multipliers_and_accelerations_solve_one_linear_system_on_the_loop():
    q, v = FOUR_BAR_START
    a, multipliers = four_bar.acceleration(0.0, q, v), four_bar.multipliers(0.0, q, v)
    phi = loop_lengths
    slope = jax.jacfwd(lambda x: phi(0.0, x))(q)
    mass = four_bar.mass_matrix(0.0, q)
    weight = -G * jnp.array([0.0, 1.0, 0.0, 1.5])
    np.testing.assert_allclose(mass @ a, weight + slope.T @ multipliers, atol=1e-12)
    # the second derivative of the constraints along the motion vanishes
    bend = jax.jvp(lambda x: jax.jvp(lambda z: phi(0.0, z), (x,), (v,))[1], (q,), (v,))[1]
    np.testing.assert_allclose(slope @ a + bend, 0.0, atol=1e-12)


def test_degrees_of_freedom_and_virtual_displacements():
    q, v = FOUR_BAR_START
    assert four_bar.dof(0.0, q) == 1
    assert skate.dof(0.0, np.zeros(3)) == 2
    assert pendulum.dof(0.0, [0.3]) == 1
    ways = four_bar.virtual_displacements(0.0, q)
    assert ways.shape == (4, 1)
    # one degree of freedom: every consistent velocity is along the one displacement, which has unit kinetic length
    np.testing.assert_allclose(ways @ (ways.T @ four_bar.mass_matrix(0.0, q) @ v), v, atol=1e-13)
    two = skate.virtual_displacements(0.0, [0.0, 0.0, 0.4])
    np.testing.assert_allclose(two.T @ skate.mass_matrix(0.0, [0.0, 0.0, 0.4]) @ two, np.eye(2), atol=1e-14)
    np.testing.assert_allclose([edge(0.0, np.array([0, 0, 0.4]), w) for w in two.T], 0.0, atol=1e-15)


def test_projection_is_nearest_in_the_kinetic_metric():
    heavy = hl.System.from_metric(lambda q: jnp.diag(jnp.array([1.0, 4.0])), coordinates=("x", "y")).constrained(
        holonomic=lambda t, q: q[0] + q[1] ** 2 - 1.0
    )
    start = np.array([0.4, 0.9])
    q, v = heavy.project(0.0, start, [1.0, 1.0])
    assert abs(q[0] + q[1] ** 2 - 1.0) < 1e-15
    # stationary: what is left is normal to the surface in the metric; and no other point of it is nearer
    normal = np.array([1.0, 2.0 * q[1]])
    moved = np.array([1.0, 4.0]) * (np.asarray(q) - start)
    assert abs(moved[0] * normal[1] - moved[1] * normal[0]) < 1e-12
    y = np.linspace(-2.0, 2.0, 4001)
    distance = (1.0 - y**2 - start[0]) ** 2 + 4.0 * (y - start[1]) ** 2
    gap = np.asarray(q) - start
    assert gap[0] ** 2 + 4.0 * gap[1] ** 2 <= distance.min() + 1e-12
    assert abs(normal @ v) < 1e-14
    kick = np.array([1.0, 4.0]) * (np.asarray(v) - 1.0)
    assert abs(kick[0] * normal[1] - kick[1] * normal[0]) < 1e-14


def test_redundant_constraints_give_the_same_motion_and_least_multipliers():
    q, v = ROD
    twice = rod_pendulum.constrained(holonomic=lambda t, q, p: 3.0 * (jnp.sqrt(jnp.dot(q, q)) - p.l))
    one = rod_pendulum.multipliers(0.0, q, v)[0]
    # λ₁ + 3 λ₂ is fixed by the force; the least such pair is along (1, 3)
    np.testing.assert_allclose(twice.multipliers(0.0, q, v), one * np.array([0.1, 0.3]), rtol=1e-12)
    np.testing.assert_allclose(twice.acceleration(0.0, q, v), rod_pendulum.acceleration(0.0, q, v), rtol=1e-12)
    assert twice.dof(0.0, q) == 1
    runs = [hl.simulate(s, q, v, 1.0, dt=0.01, method=hl.Rattle(4)) for s in (rod_pendulum, twice)]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-13)
    np.testing.assert_allclose(runs[1].multipliers, runs[0].multipliers * np.array([[0.1, 0.3]]), rtol=1e-11)


def test_multipliers_and_accelerations_have_derivatives_where_conditions_are_alike():
    """Two equal, orthogonal conditions: their Gram matrix has a double eigenvalue, whose vectors have no derivative."""
    wall = hl.System.from_metric(lambda q: jnp.eye(3), lambda t, q: q[0] * q[1] * q[2], ("x", "y", "z")).constrained(
        holonomic=lambda t, q: jnp.stack([q[0] - 1.0, q[1] - 2.0])
    )
    slope = jax.jacfwd(lambda q: wall.multipliers(0.0, q, np.zeros(3)))(jnp.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(slope, [[0.0, 3.0, 2.0], [3.0, 0.0, 1.0]], atol=1e-12)
    bend = jax.jacrev(lambda q: wall.acceleration(0.0, q, np.zeros(3)))(jnp.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(bend, [[0.0] * 3, [0.0] * 3, [-2.0, -1.0, 0.0]], atol=1e-12)


def test_conditions_of_very_different_size_are_all_held():
    """The four-bar's second rod in units that make its condition a millionth of a billionth."""
    q, v = FOUR_BAR_START
    scale = jnp.array([1.0, 1e-12, 1.0])
    free = hl.System.from_positions(
        lambda t, q: q.reshape(2, 2), [1.0, 1.5], lambda t, q: G * (q[1] + 1.5 * q[3]), ("a", "b", "c", "d")
    )
    uneven = free.constrained(holonomic=lambda t, q: scale * loop_lengths(t, q))
    np.testing.assert_allclose(uneven.multipliers(0.0, q, v) * scale, four_bar.multipliers(0.0, q, v), rtol=1e-9)
    assert uneven.dof(0.0, q) == 1
    run = hl.simulate(uneven, q, v, 0.5, dt=0.01)
    np.testing.assert_allclose(run.q, hl.simulate(four_bar, q, v, 0.5, dt=0.01).q, atol=1e-12)


def test_a_moving_constraint_drives_the_motion():
    """Bead on a straight wire that turns at ω: r'' = ω² r, as a rheonomic constraint in the plane."""
    omega = 1.1
    free = hl.System.from_metric(lambda q: jnp.eye(2), coordinates={"x": "length", "y": "length"})
    wire = free.constrained(holonomic=lambda t, q: jnp.sin(omega * t) * q[0] - jnp.cos(omega * t) * q[1])
    t = 1.5
    place, turn = np.cosh(omega * t), np.array([np.cos(omega * t), np.sin(omega * t)])
    for method, allowed in ((hl.Rattle(6), 1e-9), (hl.Radau(3), 1e-9), (hl.RK4(), 1e-7)):
        run = hl.simulate(wire, [1.0, 0.0], [0.0, omega], t, dt=0.01, method=method)
        np.testing.assert_allclose(run.q[-1], place * turn, atol=allowed)
        # the wire's force is Coriolis' force, -2 ω r' across it
        np.testing.assert_allclose(run.multipliers[-1], [-2 * omega**2 * np.sinh(omega * t)], atol=100 * allowed)
        assert run.certificate.violation < 1e-14
        assert run.certificate.velocity_violation < 1e-13
        assert not run.certificate.energy_conserved


def test_cartesian_and_generalised_forces_agree_under_constraints():
    q, v = ROD
    wind = rod_pendulum.forced(cartesian=lambda t, q, v, p: jnp.stack([jnp.stack([0.3 * jnp.cos(t), -0.1 * v[1]])]))
    same = rod_pendulum.forced(lambda t, q, v, p: jnp.stack([0.3 * jnp.cos(t), -0.1 * v[1]]))
    np.testing.assert_array_equal(wind.multipliers(0.4, q, v), same.multipliers(0.4, q, v))
    assert abs(wind.multipliers(0.4, q, v)[0] - rod_pendulum.multipliers(0.4, q, v)[0]) > 0.1


def test_constraints_stack_in_the_order_of_calls():
    q, v = FOUR_BAR_START
    free = hl.System.from_positions(
        lambda t, q: q.reshape(2, 2), [1.0, 1.5], lambda t, q: G * (q[1] + 1.5 * q[3]), ("a", "b", "c", "d")
    )
    phi = loop_lengths
    built = free
    for k in range(3):
        built = built.constrained(holonomic=lambda t, q, k=k: phi(t, q)[k])
    np.testing.assert_allclose(built.multipliers(0.0, q, v), four_bar.multipliers(0.0, q, v), rtol=1e-12)


def test_combined_systems_move_like_their_parts_and_share_what_couples_them():
    q, v = ROD
    pair = hl.combine(rod_pendulum.with_parameters(m=3.0), skate)
    assert pair.names == ("x1", "y1", "x", "y", "phi")
    assert set(pair.parameters) == {"m_1", "m_2", "l", "g", "i", "slope"}
    a = pair.acceleration(0.0, np.concatenate([q, np.zeros(3)]), np.concatenate([v, [0.2, 0.0, 1.0]]))
    np.testing.assert_allclose(a[:2], rod_pendulum.acceleration(0.0, q, v), rtol=1e-13)
    np.testing.assert_allclose(a[2:], skate.acceleration(0.0, np.zeros(3), [0.2, 0.0, 1.0]), rtol=1e-13)
    twins = hl.combine(pendulum, pendulum, coupling=lambda t, q, p: 0.5 * p.g * 0.04 * (q[0] - q[1]) ** 2)
    assert twins.names == ("theta_1", "theta_2")
    run = hl.simulate(twins, [1e-4, -1e-4], [0.0, 0.0], 2.0, dt=0.01)
    np.testing.assert_allclose(run.q[:, 0], -run.q[:, 1], atol=1e-18)
    np.testing.assert_allclose(run.q[-1, 0], 1e-4 * np.cos(2.0 * np.sqrt(9.81 * 1.08)), rtol=1e-6)
    assert run.certificate.energy_drift_relative < 1e-15


def test_system_remembers_its_constraints_under_other_numbers():
    q, v = from_angles([0.7], [1.3])
    long = rod_pendulum.with_parameters(l=2.0)
    assert long.dof(0.0, 2 * q) == 1
    with pytest.raises(ValueError, match="q0 is about"):
        hl.simulate(long, q, v, 1.0, dt=0.1)
    assert hl.simulate(long, 2 * q, v, 0.1, dt=0.01).certificate.violation < 1e-14

"""Mass matrices that are singular, but regular along the motions that the constraints allow."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.systems.constraints import massless

G, K = 9.81, 40.0

# A bob on a spring: in the plane alone, and with the length of the spring as a coordinate without mass.
spring = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * v @ v - G * q[1] - 0.5 * K * (jnp.sqrt(q @ q) - 1.0) ** 2, ("x", "y")
)
with_length = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * v[:2] @ v[:2] - G * q[1] - 0.5 * K * (q[2] - 1.0) ** 2, ("x", "y", "l")
).constrained(holonomic=lambda t, q: jnp.stack([q[0] ** 2 + q[1] ** 2 - q[2] ** 2]))
SPRING = (np.array([0.6, -0.9]), np.array([1.0, 0.3]))

# A pendulum in its angle, and as a hinge and a unit vector, whose sum is where the mass is.
in_angle = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + G * jnp.cos(q[0]), {"theta": "angle"})
natural = hl.System.from_positions(
    lambda t, q: (q[:2] + q[2:])[None], 1.0, lambda t, q: G * (q[1] + q[3]), ("x", "y", "c", "s")
).constrained(holonomic=lambda t, q: jnp.stack([q[0], q[1], 0.5 * (q[2] ** 2 + q[3] ** 2 - 1.0)]))


def lengthened(q, v):
    length = np.hypot(*q)
    return np.append(q, length), np.append(v, q @ v / length)


def as_vector(angle, rate):
    along, across = np.array([np.sin(angle), -np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    return np.append(np.zeros(2), along), np.append(np.zeros(2), rate * across)


def test_accelerations_and_multipliers_are_those_of_the_mechanism():
    q, v = lengthened(*SPRING)
    expected = np.asarray(spring.acceleration(0.0, *SPRING))
    np.testing.assert_allclose(with_length.acceleration(0.0, q, v)[:2], expected, rtol=1e-12)
    # the massless coordinate balances the force of the spring: -K (l - 1) - 2 l λ = 0
    force = with_length.multipliers(0.0, q, v)[0]
    np.testing.assert_allclose(-K * (q[2] - 1.0) - 2.0 * q[2] * force, 0.0, atol=1e-12)
    q, v = as_vector(0.7, 1.3)
    tip = natural.acceleration(0.0, q, v)[2:]
    along, across = q[2:], np.array([np.cos(0.7), np.sin(0.7)])
    np.testing.assert_allclose([tip @ along, tip @ across], [-(1.3**2), -G * np.sin(0.7)], rtol=1e-12)
    assert natural.dof(0.0, q) == 1
    np.testing.assert_allclose(natural.project(0.0, 1.001 * q, v)[0], q, atol=1e-12)


@pytest.mark.parametrize("method", [hl.Rattle(4), hl.Radau(3), hl.RK4()], ids=lambda m: m.label)
def test_motion_is_that_in_minimal_coordinates(method):
    whole = hl.simulate(spring, *SPRING, 2.0, dt=0.005, method=hl.Gauss(3))
    run = hl.simulate(with_length, *lengthened(*SPRING), 2.0, dt=0.005, method=method)
    np.testing.assert_allclose(run.q[:, :2], whole.q, atol=2e-6)
    np.testing.assert_allclose(run.energy, whole.energy, atol=2e-5)
    assert run.certificate.violation < 1e-12
    whole = hl.simulate(in_angle, [0.7], [1.3], 2.0, dt=0.005, method=hl.Gauss(3))
    run = hl.simulate(natural, *as_vector(0.7, 1.3), 2.0, dt=0.005, method=method)
    np.testing.assert_allclose(run.q[:, 2], np.sin(whole.q[:, 0]), atol=1e-7)
    np.testing.assert_allclose(run.energy, whole.energy, atol=1e-6)


def test_a_mass_matrix_that_stays_singular_is_refused():
    """Two massless coordinates and one condition; a massless coordinate alone; angles at a pole."""
    loose = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * (q @ q), ("x", "y", "z")).constrained(
        holonomic=lambda t, q: q[1] - q[2]
    )
    state = ([1.0, 0.5, 0.5], [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"that the constraints allow: velocities along y \+ z cost no kinetic energy"):
        loose.acceleration(0.0, *state)
    with pytest.raises(ValueError, match="also along the motions that the constraints allow"):
        hl.simulate(loose, *state, 1.0, dt=0.1)
    alone = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - q[1] ** 2, ("x", "y"))
    with pytest.raises(ValueError, match=r"mass matrix is singular.*: velocities along y cost no kinetic energy"):
        alone.acceleration(0.0, [1.0, 1.0], [0.0, 0.0])
    tied = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (2 * v[0] - v[1]) ** 2, ("x", "y"))
    with pytest.raises(ValueError, match=r"velocities along 0\.5 x \+ y cost no kinetic energy"):
        tied.acceleration(0.0, [1.0, 1.0], [0.0, 0.0])
    pole = hl.System.from_metric(lambda q: jnp.diag(jnp.stack([1.0, jnp.sin(q[0]) ** 2])), coordinates=("a", "b"))
    with pytest.raises(ValueError, match=r"mass matrix is singular.*: velocities along b cost no kinetic energy"):
        pole.acceleration(0.0, [0.0, 1.0], [1.0, 0.0])


def test_a_factorisation_tells_large_positive_matrices_from_doubtful_ones():
    """In any units; what is singular, indefinite or near to it is left to the eigenvalues."""
    random = np.random.default_rng(0)
    for n in (17, 60):
        rows = random.normal(size=(n, n))
        units = 10.0 ** random.uniform(-9.0, 9.0, n)
        positive = (rows @ rows.T + 0.1 * np.eye(n)) * np.outer(units, units)
        assert massless.surely_positive(positive)
        assert not massless.is_singular(massless.eigenvalues(positive)[1])
        thin = rows[:, : n - 1]
        assert not massless.surely_positive(thin @ thin.T)
        assert not massless.surely_positive(np.diag(np.r_[-1.0, np.ones(n - 1)]))
        assert not massless.surely_positive(np.diag(np.r_[0.0, np.ones(n - 1)]))
    lower = np.eye(60) - np.tril(np.ones((60, 60)), -1)  # its pivots are ones, its least eigenvalue is rounding
    assert not massless.surely_positive(lower @ lower.T)

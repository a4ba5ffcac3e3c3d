"""Chaplygin's reduction and the nonholonomic momentum equation: the same motions as those of the full systems."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

sin, cos = jnp.sin, jnp.cos
AHEAD, INERTIA = 0.4, 0.1


def sleigh(damping=0.0, unit=1.0):
    """A knife edge under a body whose centre of mass is ahead of it; lengths in the given unit."""

    def lagrangian(t, q, v):
        x, y = (v[0] / unit - AHEAD * sin(q[2]) * v[2]), (v[1] / unit + AHEAD * cos(q[2]) * v[2])
        return 0.5 * (x**2 + y**2 + INERTIA * v[2] ** 2)

    made = hl.System.from_lagrangian(lagrangian, {"x": "length", "y": "length", "theta": "angle"})
    if damping:
        made = made.forced(lambda t, q, v: -damping * v / jnp.stack([unit**2, unit**2, 1.0]))
    return made.constrained(velocity=lambda t, q, v: jnp.stack([sin(q[2]) * v[0] - cos(q[2]) * v[1]]))


def disc(potential=lambda q: 0.0):
    """A vertical disc that rolls, heading theta, turned by phi."""
    made = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.125 * v[2] ** 2 + 0.25 * v[3] ** 2 - potential(q),
        {"x": "length", "y": "length", "theta": "angle", "phi": "angle"},
    )
    return made.constrained(velocity=lambda t, q, v: jnp.stack([v[0] - cos(q[2]) * v[3], v[1] - sin(q[2]) * v[3]]))


def snakeboard():
    """Wheels at opposite angles, coordinates x, y, heading, rotor, wheels."""

    def rolling(t, q, v):
        front, back = (-sin(q[2] + s * q[4]) * v[0] + cos(q[2] + s * q[4]) * v[1] for s in (1.0, -1.0))
        return jnp.stack([front + cos(q[4]) * v[2], back - cos(q[4]) * v[2]])

    made = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + 0.5 * v[2] ** 2 + 0.3 * (v[2] + v[3]) ** 2 + 0.2 * v[4] ** 2),
        {"x": "length", "y": "length", "theta": "angle", "psi": "angle", "phi": "angle"},
    )
    return made.forced(lambda t, q, v: jnp.stack([0 * t, 0 * t, 0 * t, cos(t), 0.1 * sin(t)])).constrained(
        velocity=rolling
    )


def carriage():
    """Two wheels on an axle, each turned by its own angle, and a centre of mass ahead of the axle."""

    def rolling(t, q, v):
        ahead, aside = cos(q[2]) * v[0] + sin(q[2]) * v[1], sin(q[2]) * v[0] - cos(q[2]) * v[1]
        return jnp.stack([aside, ahead + 0.7 * v[2] - 0.5 * v[3], ahead - 0.7 * v[2] - 0.5 * v[4]])

    def lagrangian(t, q, v):
        body = (v[0] - 0.3 * sin(q[2]) * v[2]) ** 2 + (v[1] + 0.3 * cos(q[2]) * v[2]) ** 2
        return 0.5 * (body + 0.4 * v[2] ** 2 + 0.05 * (v[3] ** 2 + v[4] ** 2)) - 0.2 * cos(q[3])

    names = {"x": "length", "y": "length", "theta": "angle", "left": "angle", "right": "angle"}
    return hl.System.from_lagrangian(lagrangian, names).constrained(velocity=rolling)


def skate_in_space():
    """One condition on three velocities, of which two stay free."""
    made = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v) + 0.2 * v[3] * v[0] - 0.3 * q[3] ** 2, ("x", "y", "z", "a")
    )
    return made.constrained(velocity=lambda t, q, v: jnp.stack([v[0] + q[3] * v[1] + sin(q[3] + t) * v[2] - 0.3]))


CASES = {
    # system, left out, names of the reduced one, start
    "knife edge": (sleigh, ("x", "y"), ("theta", "s1"), [3.0, -2.0, 0.3], [1.0, 0.3, 1.0]),
    "damped sleigh": (lambda: sleigh(0.2), ("x", "y"), ("theta", "s1"), [0.0, 0.0, 0.3], [1.0, 0.3, 1.0]),
    "disc in a field": (
        lambda: disc(lambda q: sin(q[3]) * q[2]),
        ("x", "y"),
        ("theta", "phi"),
        [1e3, 0.0, 0.3, 0.0],
        [1.0, 0.3, 1.0, 0.7],
    ),
    "disc without its turn": (disc, ("x", "y", "phi"), ("theta", "s1"), [0, 0, 0.3, 0], [1.0, 0.3, 1.0, 0.7]),
    "snakeboard": (
        snakeboard,
        ("x", "y"),
        ("theta", "psi", "phi"),
        [0.0, 0.0, 0.2, 0.3, 0.5],
        [0.1, 0.3, 0.4, 0.5, 0.1],
    ),
    "carriage": (carriage, ("x", "y", "right"), ("theta", "left"), [0, 0, 0.2, 0.3, 0.5], [0.1, 0.3, 0.4, 0.5, 0.1]),
    "car with a trailer": (
        lambda: hl.models.car_with_trailers(1),
        ("x", "y"),
        ("theta0", "theta1"),
        [0.0, 0.0, 0.3, 1.2],
        [1.0, 0.3, 0.4, 0.7],
    ),
    "two free directions": (
        skate_in_space,
        ("x", "y", "z"),
        ("a", "s1", "s2"),
        [0.0, 0.0, 0.0, 0.4],
        [0.5, 0.3, -0.2, 0.6],
    ),
}


def difference(system, reduced, q0, v0, end=1.0):
    q0, v0 = (np.asarray(x, float) for x in system.project(0.0, q0, v0))
    how = {"dt": 0.01, "method": hl.Gauss(4)}
    z, w, start = reduced.adapted(q0, v0)
    back = reduced.reconstruct(hl.simulate(reduced, z, w, end, **how), start)
    full = hl.simulate(system, q0, v0, end, **how)
    assert np.ptp(full.q, axis=0).max() > 0.1, "it must have moved"
    assert np.max(back.violation) < 1e-10 * np.max(np.abs(full.v))
    sizes = np.max(np.abs(full.q), axis=0), np.max(np.abs(full.v), axis=0)
    return max(
        float(np.max(np.abs(a - b) / size))
        for a, b, size in zip((back.q, back.v), (full.q, full.v), sizes, strict=True)
    )


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=() if k == 0 else pytest.mark.proof) for k, c in enumerate(CASES)]
)
def test_the_reduced_motion_is_that_of_the_full_system(case) -> None:
    make, out, names, q0, v0 = CASES[case]
    system = make()
    reduced = hl.chaplygin(system, out)
    assert reduced.names == names
    assert "compared with the full motion from 3 starts" in reduced.checked
    assert difference(system, reduced, q0, v0) < 1e-10


def test_the_momentum_of_the_sleigh_obeys_the_equation_of_its_books() -> None:
    """With the centre of mass a ahead of the edge: du/dt = a ω², (i + a²) dω/dt = -a u ω, for unit mass."""
    reduced = hl.chaplygin(sleigh(), ("x", "y"))
    spin, speed = 1.3, 0.7
    found = np.asarray(reduced.acceleration(0.0, [0.4, 0.0], [spin, speed]))
    expected = [-AHEAD * speed * spin / (INERTIA + AHEAD**2), AHEAD * spin**2]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert hl.cyclic(reduced) == ()


def test_the_curvature_of_the_disc_vanishes_so_that_its_momenta_are_conserved() -> None:
    reduced = hl.chaplygin(disc(), ("x", "y"))
    assert not reduced.forces
    assert hl.cyclic(reduced) == ("theta", "phi")
    np.testing.assert_allclose(reduced.mass_matrix(0.0, [0.3, 0.0]), np.diag([0.25, 1.5]), atol=1e-15)


@pytest.mark.proof
def test_units_do_not_matter() -> None:
    unit = 1e-6
    system = sleigh(unit=unit)
    reduced = hl.chaplygin(system, ("x", "y"))
    assert difference(system, reduced, [3 * unit, -2 * unit, 0.3], [unit, 0.3 * unit, 1.0]) < 1e-10


def test_what_is_refused_and_why() -> None:
    uphill = disc(lambda q: 0.1 * q[0])
    with pytest.raises(ValueError, match="The Lagrangian depends on x, so that the others are no system of their own"):
        hl.chaplygin(uphill, ("x", "y"))
    pulled = sleigh().forced(lambda t, q, v: jnp.stack([0 * t, 0 * t, sin(q[1])]))
    with pytest.raises(ValueError, match="The force depends on y"):
        hl.chaplygin(pulled, ("x", "y"))
    with pytest.raises(ValueError, match="The velocity constraint depends on a"):
        hl.chaplygin(dumbbell_with_rotor(), ("x", "y", "a"))
    with pytest.raises(ValueError, match="velocity of phi is in no velocity constraint"):
        hl.chaplygin(dumbbell_with_rotor(), ("x", "y", "phi"))
    with pytest.raises(ValueError, match="2 velocity constraints for the 1 velocities of x"):
        hl.chaplygin(hl.models.car_with_trailers(1), ("x",))
    with pytest.raises(ValueError, match="this system has none"):
        hl.chaplygin(hl.models.spherical_pendulum(), ("phi",))
    twice = sleigh().constrained(velocity=lambda t, q, v: jnp.stack([sin(q[2]) * v[0] - cos(q[2]) * v[1]]))
    with pytest.raises(ValueError, match="dependent in the velocities of x, y"):
        hl.chaplygin(twice, ("x", "y"))
    with pytest.raises(ValueError, match="no coordinate 'w'"):
        hl.chaplygin(sleigh(), ("w",))
    with pytest.raises(ValueError, match="names of the coordinates"):
        hl.chaplygin(sleigh(), "x")


def dumbbell_with_rotor():
    made = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v), {"x": "length", "y": "length", "a": "angle", "phi": "angle"}
    )
    return made.constrained(velocity=lambda t, q, v: jnp.stack([cos(q[2]) * v[0] + sin(q[2]) * v[1]]))


def test_where_the_constraints_become_dependent_is_told() -> None:
    """The axles of a car and its trailer in line give no velocity of the car from the headings."""
    car = hl.models.car_with_trailers(1)
    reduced = hl.chaplygin(car, ("x", "y"))
    q, v = car.project(0.0, [0.0, 0.0, 0.3, 0.3], [1.0, 0.3, 0.4, 0.7])
    with pytest.raises(ValueError, match="At t = 0 the constraints are dependent in the velocities of x, y"):
        reduced.adapted(q, v)

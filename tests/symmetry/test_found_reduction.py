"""Routh's reduction by the fields that `hl.killing` finds, which have no formula."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.symmetry.test_killing import kepler, metric, odd, pendulum_in_tilted_coordinates, pulled_back, tilted, top

import holonomy as hl

sin, cos = jnp.sin, jnp.cos


def planet():
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) + 1 / jnp.sqrt(q @ q), coordinates=("x", "y"))


def surface_of_revolution(radius, height, weight):
    """A point on it in coordinates that are neither its meridians nor its circles; the weight is along its axis."""

    def positions(t, q):
        a, b = q[0] + 0.2 * sin(q[1]), q[1] + 0.3 * q[0]
        return jnp.stack([radius(a) * cos(b), radius(a) * sin(b), height(a)])[None]

    def potential(t, q):
        return weight * positions(t, q)[0, 2]

    return hl.System.from_positions(positions, [0.7], potential=potential, coordinates=("a", "b"))


def torus():
    return surface_of_revolution(lambda a: 2 + cos(a), sin, 1.3)


def ellipsoid():
    return surface_of_revolution(sin, lambda a: 0.6 * cos(a), 0.0)


def column():
    """Euclidean space in odd coordinates, with a potential that a rotation and a translation leave."""
    return metric(pulled_back, ("a", "b", "c"), lambda t, q: 0.5 * (odd(q)[0] ** 2 + odd(q)[1] ** 2))


def sphere_and_line():
    space = hl.Product(hl.Sphere(2), hl.Euclidean(1))
    return hl.System.from_lagrangian(lambda t, x, v: 0.5 * (v @ v) - 2.0 * x[2] ** 2, space=space)


def atom():
    """Units in which lengths are 1e-10 and masses 1e-27."""
    return hl.System.from_lagrangian(lambda t, q, v: 1e-27 * (v @ v) - 10.0 * (q @ q), coordinates=("x", "y"))


def compared(system, q0, v0, count, end, dt, **where):
    """How far the reduced motion, led back, is from the motion of the full system: positions, velocities, energies."""
    found = hl.killing(system, **where)
    momenta = np.asarray(found.momenta(0.0, q0, v0))
    along = {f"s{k}": found.fields[k] for k in range(count)}
    reduced = hl.routh(system, {name: momenta[k] for k, name in enumerate(along)}, along=along, at=q0)
    assert len(reduced.names) == system.space.dim - count
    u, w, start = reduced.adapted(q0, v0)
    how = {"dt": dt, "method": hl.Gauss(4)}
    every = max(1, round(end / dt / 20))
    back = reduced.reconstruct(hl.simulate(reduced, u, w, end, **how)[::every], start)
    full = hl.simulate(system, q0, v0, end, **how)[::every]
    assert back.names == system.names
    assert np.ptp(full.q, axis=0).max() > 0.3 * np.max(np.abs(q0)), "it must have moved"
    pairs = (back.q, full.q), (back.v, full.v), (back.energy, full.energy)
    return max(float(np.max(np.abs(ours - known)) / np.max(np.abs(known))) for ours, known in pairs)


CASES = {
    "Kepler in the plane": (planet, [1.0, 0.2], [0.1, 1.1], 1, 10.0, 0.01),
    "spherical pendulum in tilted coordinates": (
        pendulum_in_tilted_coordinates,
        [2.07, 2.64],
        [0.7, 3.5],
        1,
        3.0,
        0.005,
    ),
    "torus in odd coordinates": (torus, [0.7, 0.4], [0.6, 0.5], 1, 10.0, 0.01),
    "ellipsoid of revolution in odd coordinates": (ellipsoid, [1.0, 0.4], [0.3, 0.8], 1, 5.0, 0.005),
    "Kepler in space, one rotation of three": (kepler, [0.9, 0.6, 0.5], [-0.3, 0.5, 0.4], 1, 5.0, 0.01),
    "E3 with a potential, rotation and translation": (column, [0.5, 0.4, 0.3], [0.3, 0.2, -0.2], 2, 2.0, 0.01),
    "heavy top": (lambda: top(1.0), [0.8, 0.6, 0.7], [0.2, 0.4, 1.0], 2, 5.0, 0.01),
    "sphere and line": (sphere_and_line, [0.8, 0.0, 0.6, 0.3], [0.3, 0.9, -0.4, 0.5], 2, 2.0, 0.01),
}


@pytest.mark.proof
@pytest.mark.parametrize("case", CASES)
def test_the_reduced_motion_is_that_of_the_full_system(case) -> None:
    make, *rest = CASES[case]
    assert compared(make(), *rest) < 1e-10


@pytest.mark.proof
def test_units_do_not_matter() -> None:
    q0, v0 = np.array([1e-10, 2e-10]), np.array([1e4, -5e3])
    assert compared(atom(), q0, v0, 1, 2e-13, 5e-16, at=q0) < 1e-10


def test_derivatives_of_a_field_are_exact() -> None:
    """Of the second order, against the rotation about the vertical as a formula."""
    (field,) = hl.killing(pendulum_in_tilted_coordinates()).fields

    def about_vertical(q):
        x, frame = tilted(0.0, q)[0], jax.jacfwd(lambda p: tilted(0.0, p)[0])(q)
        return jnp.linalg.solve(frame.T @ frame, frame.T @ jnp.stack([-x[1], x[0], jnp.zeros(())]))

    def along(f):
        return jax.jit(lambda p: jax.jvp(lambda x: jax.jvp(f, (x,), (way,))[1], (p,), (way,)))

    q, way = jnp.array([1.3, -0.2]), jnp.array([0.6, -0.9])
    factor = (np.asarray(field(q)) / np.asarray(about_vertical(q)))[0]
    for ours, known in zip(along(field)(q), along(about_vertical)(q), strict=True):
        np.testing.assert_allclose(ours, factor * known, rtol=0, atol=1e-12 * np.max(np.abs(known)))


def test_combinations_of_fields() -> None:
    found = hl.killing(kepler())
    one, two = found.fields[:2]
    q = np.array([0.9, 0.6, 0.5])
    np.testing.assert_allclose((2 * one - two * 0.5)(q), 2 * one(q) - 0.5 * two(q), rtol=1e-14)
    np.testing.assert_allclose((-one)(q), -one(q), rtol=1e-14)
    with pytest.raises(ValueError, match=r"two calls of hl\.killing"):
        _ = one + hl.killing(kepler()).fields[0]


def test_fields_that_do_not_reduce_are_refused() -> None:
    system = kepler()
    found = hl.killing(system)
    one, two, three = found.fields
    q = [0.9, 0.6, 0.5]
    with pytest.raises(ValueError, match="do not commute"):
        hl.routh(system, {"a": 1.0, "b": 2.0}, along={"a": one, "b": two}, at=q)
    with pytest.raises(ValueError, match=r"several calls of hl\.killing"):
        hl.routh(system, {"a": 1.0, "b": 2.0}, along={"a": one, "b": hl.killing(system).fields[1]}, at=q)
    with pytest.raises(ValueError, match="coordinates x, y, z, not x, y"):
        hl.routh(planet(), {"a": 1.0}, along={"a": one})
    other = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) - q[0] * q[1] ** 2, coordinates=("x", "y", "z"))
    with pytest.raises(ValueError, match="is no symmetry of the Lagrangian"):
        hl.routh(other, {"a": 1.0}, along={"a": one}, at=q)
    with pytest.raises(ValueError, match="momentum of a"):
        hl.routh(system, {"a": np.inf}, along={"a": three}, at=q)
    flat = hl.killing(hl.Euclidean(2))
    moves = [f for f in flat.fields if np.allclose(f([0.0, 0.0]), f([1.0, 2.0]))]
    with pytest.raises(ValueError, match="leave no coordinate to move"):
        hl.routh(flat.system, {"a": 1.0, "b": 1.0}, along=dict(zip("ab", moves, strict=True)))


def test_points_where_fields_end_or_vanish_are_told() -> None:
    system = planet()
    (turn,) = hl.killing(system).fields
    trap = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) - 0.5 * (q @ q), coordinates=("x", "y"))
    (about_centre,) = hl.killing(trap).fields
    with pytest.raises(ValueError, match=r"vanish or are not independent at q = \[0. 0.\]"):
        hl.routh(trap, {"s": 0.3}, along={"s": about_centre}, at=[0.0, 0.0])
    pendulum = pendulum_in_tilted_coordinates()
    (field,) = hl.killing(pendulum).fields
    with pytest.raises(ValueError, match=r"do not reach at = \[-1.   0.3\] along the straight line"):
        hl.routh(pendulum, {"s": 0.1}, along={"s": field}, at=[-1.0, 0.3])
    reduced = hl.routh(system, {"s": 1.0}, along={"s": turn}, at=[1.0, 0.2])
    with pytest.raises(ValueError, match=r"other momenta than the reduced system, \{'s': "):
        reduced.adapted([1.0, 0.2], [0.1, 1.1])
    assert pickle.loads(pickle.dumps(reduced)).names == ("u1",)


def test_a_momentum_that_cannot_occur_is_refused() -> None:
    """With L = sqrt(1 + v²) momenta are below 1."""
    light = hl.System.from_lagrangian(lambda t, q, v: jnp.sqrt(1 + v @ v), coordinates=("x", "y"))
    with pytest.raises(ValueError, match="this value cannot occur"):
        hl.routh(light, {"s": 1.5}, along={"s": lambda q: jnp.array([1.0, 0.0])}, at=[0.3, 0.2])

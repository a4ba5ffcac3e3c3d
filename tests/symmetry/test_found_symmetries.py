"""Routh's reduction by symmetries that are no coordinates, and the momenta of those that `hl.killing` finds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.symmetry.test_killing import CASES, pendulum_in_tilted_coordinates, tilted

import holonomy as hl

HOW = {"dt": 0.01, "method": hl.Gauss(4)}


def rotation(q):
    return jnp.stack([-q[1], q[0]])


@pytest.fixture(scope="module")
def planet():
    return hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v) + 1 / jnp.sqrt(q @ q), coordinates=("x", "y"))


def test_kepler_in_cartesian_coordinates_by_its_rotation(planet) -> None:
    q0, v0 = np.array([1.0, 0.2]), np.array([0.1, 1.1])
    momentum = q0[0] * v0[1] - q0[1] * v0[0]
    reduced = hl.routh(planet, {"s": momentum}, along={"s": rotation}, at=[0.7, 0.4])
    assert reduced.names == ("u1",)
    u, w, start = reduced.adapted(q0, v0)
    run = hl.simulate(reduced, u, w, 10.0, **HOW)
    back, full = reduced.reconstruct(run, start), hl.simulate(planet, q0, v0, 10.0, **HOW)
    assert back.names == ("x", "y")
    for ours, known in ((back.q, full.q), (back.v, full.v), (back.energy, full.energy)):
        np.testing.assert_allclose(ours, known, rtol=0, atol=1e-10)


@pytest.mark.proof
def test_the_tilted_spherical_pendulum_by_its_rotation_about_the_vertical() -> None:
    """The field that `hl.killing` finds (`test_killing`), here as a formula."""
    pendulum = pendulum_in_tilted_coordinates()

    def about_vertical(q):
        x, frame = tilted(0.0, q)[0], jax.jacfwd(lambda p: tilted(0.0, p)[0])(q)
        across = jnp.stack([-x[1], x[0], jnp.zeros(())])
        return jnp.linalg.solve(frame.T @ frame, frame.T @ across)

    q0, v0 = np.array([1.2, 0.4]), np.array([0.3, 0.8])
    momentum = float(hl.noether(pendulum, about_vertical)(0.0, q0, v0))
    reduced = hl.routh(pendulum, {"s": momentum}, along={"s": about_vertical}, at=q0)
    u, w, start = reduced.adapted(q0, v0)
    # later the section, a straight line in these coordinates, is no longer across the circles about the vertical
    run = hl.simulate(reduced, u, w, 0.4, **HOW)
    full = hl.simulate(pendulum, q0, v0, 0.4, **HOW)
    back = reduced.reconstruct(run[::10], start)
    np.testing.assert_allclose(back.q, full.q[::10], rtol=0, atol=1e-10)
    np.testing.assert_allclose(back.v, full.v[::10], rtol=0, atol=1e-10)


@pytest.mark.proof
def test_two_symmetries_of_a_point_on_a_sphere_and_a_line() -> None:
    """A curved space, where the section is the image of a line in a chart."""
    space = hl.Product(hl.Sphere(2), hl.Euclidean(1))
    system = hl.System.from_lagrangian(lambda t, x, v: 0.5 * (v @ v) - 2.0 * x[2] ** 2, space=space)
    zero = jnp.zeros(())
    about = {
        "turn": lambda x: jnp.stack([-x[1], x[0], zero, zero]),
        "move": lambda x: jnp.array([0.0, 0.0, 0.0, 1.0]),
    }
    q0, v0 = np.array([0.8, 0.0, 0.6, 0.3]), np.array([0.3, 0.9, -0.4, 0.5])
    reduced = hl.routh(system, {"turn": 0.72, "move": 0.5}, along=about, at=q0)
    u, w, start = reduced.adapted(q0, v0)
    run = hl.simulate(reduced, u, w, 2.0, **HOW)
    back, full = reduced.reconstruct(run[::50], start), hl.simulate(system, q0, v0, 2.0, **HOW)
    np.testing.assert_allclose(back.q, full.q[::50], rtol=0, atol=1e-10)
    np.testing.assert_allclose(back.v, full.v[::50], rtol=0, atol=1e-10)


def test_fields_that_do_not_reduce_are_refused(planet) -> None:
    at = [1.0, 0.2]
    with pytest.raises(ValueError, match="'s' is no symmetry of the Lagrangian, which changes along it by"):
        hl.routh(planet, {"s": 1.0}, along={"s": lambda q: q}, at=at)
    with pytest.raises(ValueError, match="vanish or are not independent at"):
        hl.routh(planet, {"s": 1.0}, along={"s": lambda q: 0.0 * q}, at=at)
    with pytest.raises(ValueError, match="momenta and along have the same names"):
        hl.routh(planet, {"p": 1.0}, along={"s": rotation}, at=at)
    with pytest.raises(ValueError, match="has forces"):
        hl.routh(planet.forced(lambda t, q, v: -v), {"s": 1.0}, along={"s": rotation})
    with pytest.raises(ValueError, match="pass along= too"):
        hl.routh(planet, {"x": 1.0}, at=at)
    with pytest.raises(ValueError, match="one component per coordinate"):
        hl.routh(planet, {"s": 1.0}, along={"s": lambda q: q[:1]}, at=at)
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * (v @ v), coordinates=("x", "y", "z"))
    turn, move = (lambda q: jnp.stack([-q[1], q[0], 0.0])), (lambda q: jnp.array([1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="do not commute"):
        hl.routh(free, {"s": 1.0, "m": 1.0}, along={"s": turn, "m": move})
    flat = {name: (lambda q, e=e: jnp.asarray(e)) for name, e in zip("abc", np.eye(3), strict=True)}
    with pytest.raises(ValueError, match="leave no coordinate to move"):
        hl.routh(free, dict.fromkeys("abc", 1.0), along=flat)


STARTS = {
    "E3 in odd coordinates": ([0.5, 0.4, 0.3], [0.3, 0.2, -0.2]),
    "S2": ([1.0, 0.5], [0.3, 0.8]),
    "S2 with a potential": ([1.0, 0.5], [0.3, 0.8]),
    "torus": ([1.0, 0.5], [0.3, 0.8]),
    "Kepler": ([0.9, 0.6, 0.5], [-0.3, 0.5, 0.4]),
    "double pendulum without gravity": ([0.6, 1.0], [0.5, -0.3]),
    "free symmetric top": ([0.8, 0.6, 0.7], [0.2, 0.4, 1.0]),
    "heavy symmetric top": ([0.8, 0.6, 0.7], [0.2, 0.4, 1.0]),
}


@pytest.mark.proof
@pytest.mark.parametrize("case", STARTS)
def test_the_momenta_of_all_found_symmetries_are_conserved(case) -> None:
    make, dim, *_ = CASES[case]
    system = make()
    found = hl.killing(system)
    run = hl.simulate(system, *STARTS[case], 1.0, dt=0.01, method=hl.Gauss(4), save_every=25)
    momenta = np.asarray(found.momenta_along(run))
    assert momenta.shape == (5, dim)
    assert np.max(np.ptp(momenta, axis=0)) < 1e-11 * max(1.0, np.max(np.abs(momenta)))
    assert np.ptp(run.q, axis=0).max() > 0.1, "it must have moved"

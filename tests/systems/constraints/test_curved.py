"""Rigid rods in curved spaces, carried across a Killing flow: the multiplier is constant and known (MATH.md §2)."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl


def rod_in(space):
    """Two unit masses a distance 1 apart, as a system on the product of the space with itself."""
    n = space.point_dim

    def kinetic(t, x, v):
        return 0.5 * (space.inner(x[:n], v[:n], v[:n]) + space.inner(x[n:], v[n:], v[n:]))

    free = hl.System.from_lagrangian(kinetic, space=space**2)
    return free.constrained(holonomic=lambda t, x: space.distance(x[:n], x[n:]) - 1.0)


def start(space, first, second, flow):
    """The two vertices and their velocities along a Killing flow."""
    points = [space.from_polar(*first), space.from_polar(*second)]
    return jnp.concatenate(points), jnp.concatenate([space.killing()[flow](x) for x in points])


def test_rod_in_hyperbolic_space():
    space = hl.Hyperbolic(3)
    begin = start(space, (0.5, np.pi / 2, np.pi / 2), (0.5, np.pi / 2, 3 * np.pi / 2), "boost_x")
    run = hl.simulate(rod_in(space), *begin, 3.0, dt=0.02, method=hl.Rattle(4))
    np.testing.assert_allclose(run.multipliers, -0.5 * np.sinh(1.0), atol=1e-7)
    assert run.certificate.violation < 1e-14


def test_rod_on_the_sphere_by_two_stages_of_radau():
    """The thesis's rs2: its multipliers got worse with smaller steps; iterated to round-off they get better."""
    space = hl.Sphere(3)
    begin = start(space, ((np.pi - 1) / 2, np.pi / 2, 0.0), ((np.pi + 1) / 2, np.pi / 2, 0.0), "rotate_xy")
    errors = []
    for steps in (50, 200, 800):
        run = hl.simulate(rod_in(space), *begin, 1.0, dt=1 / steps, method=hl.Radau(2), save_every=steps // 10)
        errors.append(np.max(np.abs(run.multipliers[1:] - 0.5 * np.sin(1.0))))
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 4.0, atol=0.1)

"""Squares of distances have their derivatives at coincident points too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.spaces import Carried

SPACES = [hl.Euclidean(2), hl.Circle(2.0), hl.Sphere(2, radius=2.0), hl.Hyperbolic(2, radius=0.5)]


@pytest.mark.parametrize("space", [*SPACES, hl.Product(hl.Hyperbolic(2), hl.Euclidean(1))], ids=repr)
def test_square_of_the_distance(space):
    """It is the square, and along a geodesic from the point itself its second derivative is 2|v|²."""
    keys = jax.random.split(jax.random.key(3), 3)
    x, y = space.random(keys[0]), space.random(keys[1])
    np.testing.assert_allclose(space.squared_distance(x, y), space.distance(x, y) ** 2, rtol=1e-12)
    v = space.random_tangent(keys[2], x)
    along = lambda s: space.squared_distance(x, space.exp(x, s * v))  # noqa: E731
    second = jax.jit(jax.jacfwd(jax.jacfwd(along)))(0.0)
    np.testing.assert_allclose(second, 2.0 * space.inner(x, v, v), rtol=1e-12)


@pytest.mark.proof
def test_a_rod_in_the_plane_of_a_product_feels_that_it_turns_out_of_it():
    r"""At the start the heights of its ends agree; \(\lambda = -\mu w^2\) with the reduced mass, as in flat space."""
    space = hl.Product(hl.Hyperbolic(2), hl.Euclidean(1))
    plane = space.factors[0]
    ends = [plane.exp(plane.origin, jnp.array([0.0, s, 0.0])) for s in (-0.5, 0.5)]
    points = np.stack([np.append(x, 0.0) for x in ends])
    velocities = np.zeros((2, 4))
    velocities[:, 3] = [-0.5, 0.5]
    world = hl.World(space, hl.Body([1.0, 1.0], rods=[(0, 1, 1.0)]))
    assert world.rigid is not None
    assert isinstance(world.space, Carried)
    q, v = world.space.state(points.ravel(), velocities.ravel())
    np.testing.assert_allclose(world.rigid.multipliers(world, 0.0, q, v), [-0.5], rtol=1e-12)

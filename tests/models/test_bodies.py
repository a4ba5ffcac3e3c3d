"""Builders of bodies: how many vertices and springs, at rest in every space, and where they are placed."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.models import bodies

COUNTS = {  # vertices and springs
    "rod": (lambda s: bodies.rod(s), 2, 1),
    "triangle": (lambda s: bodies.triangle(s, 0.5), 3, 3),
    "ring": (lambda s: bodies.ring(s, 5, 0.4), 5, 5),
    "chain": (lambda s: bodies.chain(s, 6, 0.2, bending=True), 6, 9),
    "cloth": (lambda s: bodies.cloth(s, 3, 4, 0.1, bending=True), 12, 17 + 12 + 10),
    "cubic lattice": (lambda s: bodies.cubic_lattice(s, 3, 0.1), 27, 54 + 72),
    "tetrahedral lattice": (lambda s: bodies.tetrahedral_lattice(s, 2, 0.2), 10, 24),
}


@pytest.mark.parametrize("name", COUNTS)
def test_vertices_and_springs_of_bodies(name):
    make, vertices, springs = COUNTS[name]
    body, points = make(hl.Euclidean(3))
    assert (body.count, len(body.springs), points.shape) == (vertices, springs, (vertices, 3))
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=1e-15)


def test_springs_are_at_rest_where_they_are_placed():
    body, points = bodies.triangle(hl.Sphere(3), 0.5, rotate_xw=0.4)
    world = hl.World(hl.Sphere(3), body)
    assert float(world.energies(points, np.zeros_like(points))["springs"]) < 1e-28


def test_places_by_isometries_and_rigid_bodies():
    """The same lengths after a boost, at another point too; rods in place of springs."""
    space = hl.Hyperbolic(3)
    here = bodies.triangle(space, rigid=True)
    there = bodies.triangle(space, rigid=True, rotate_xy=0.3, boost_x=2.0)
    np.testing.assert_allclose(there.body.rods.numbers, here.body.rods.numbers, rtol=1e-13)
    out = [float(space.distance(space.origin, x)) for x in there.points]
    assert 2.0 - 1.0 / np.sqrt(3.0) < min(out) < 2.0 < max(out) < 2.0 + 1.0 / np.sqrt(3.0)
    at = space.from_polar(1.0, 0.3, 0.2)
    np.testing.assert_allclose(bodies.rod(space, 0.7, at=at).body.springs.numbers[0, 1], 0.7, rtol=1e-14)
    with pytest.raises(ValueError, match="no Killing field 'translate_x'"):
        bodies.rod(space, translate_x=1.0)
    with pytest.raises(ValueError, match="whole number from 3"):
        bodies.ring(space, 2)


@pytest.mark.parametrize(
    "space",
    [
        pytest.param(hl.Euclidean(3), marks=pytest.mark.proof),
        pytest.param(hl.Sphere(3, 2.0), marks=pytest.mark.proof),
        hl.Hyperbolic(3, 2.0),
    ],
    ids=repr,
)
def test_many_vertices_move_as_few_do(space):
    """The flows by components against those by the space's own functions, for short and for long springs."""
    for spacing in (0.05, 0.5) if isinstance(space, hl.Hyperbolic) else (0.2,):
        body, points = bodies.cloth(space, 9, 8, spacing, stiffness=3.0, mass=2.0)
        world = hl.World(space, body)
        many = world.many
        assert many is not None
        shaken = np.asarray(world.killing_velocities(points, rotate_xy=0.3))
        start, turning = map(jnp.asarray, world._state(0.0, points, shaken)[1:])
        q, v = world.space.geodesic(start, turning, 1.0)
        noise = jnp.asarray(np.random.default_rng(0).normal(size=q.shape))
        v = v + 0.1 * world.space.sharp(q, noise)
        near, slow = many.drift(0.2, *many.enter(q, v))
        x, u = world.drift(0.2, q, v)
        for one, other in zip(many.leave(q, near, slow), (x, u), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)
        pulled = many.leave(q, many.enter(q, v)[0], many.kick(0.0, *many.enter(q, v)))[1]
        np.testing.assert_allclose(pulled, world.kick(0.0, q, v), rtol=0, atol=1e-12)

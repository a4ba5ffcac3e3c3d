"""Builders of bodies: how many vertices and springs, at rest in every space, and where they are placed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.models import bodies
from holonomy.spaces import Carried

HEXAGON = np.array([[0.0, 0.0, 0.0], *([np.cos(t), np.sin(t), 0.0] for t in np.pi / 3 * np.arange(6))])
COUNTS = {  # vertices and springs
    "rod": (lambda s: bodies.rod(s), 2, 1),
    "triangle": (lambda s: bodies.triangle(s, 0.5), 3, 3),
    "ring": (lambda s: bodies.ring(s, 5, 0.4), 5, 5),
    "chain": (lambda s: bodies.chain(s, 6, 0.2, bending=True), 6, 9),
    "cloth": (lambda s: bodies.cloth(s, 3, 4, 0.1, bending=True), 12, 17 + 12 + 10),
    "mesh": (lambda s: bodies.mesh(s, HEXAGON, [(0, i, i % 6 + 1) for i in range(1, 7)], refine=1), 19, 42),
    "cubic lattice": (lambda s: bodies.cubic_lattice(s, 3, 0.1), 27, 54 + 72),
    "tetrahedral lattice": (lambda s: bodies.tetrahedral_lattice(s, 2, 0.2), 10, 24),
}


@pytest.mark.parametrize("name", COUNTS)
def test_vertices_and_springs_of_bodies(name):
    make, vertices, springs = COUNTS[name]
    body, points = make(hl.Euclidean(3))
    assert (body.count, len(body.springs), points.shape) == (vertices, springs, (vertices, 3))
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=1e-15)


def test_edges_of_a_refined_triangle_are_shorter_and_shared():
    body, _ = bodies.mesh(hl.Euclidean(2), [[0, 0], [1, 0], [0, 1]], [(0, 1, 2)], refine=3)
    assert (body.count, len(body.springs)) == (45, 108)  # Euler: 45 - 108 + 64 = 1
    assert float(np.max(body.springs.numbers[:, 1])) == pytest.approx(np.sqrt(2.0) / 8)
    with pytest.raises(ValueError, match="three different corners from 0 to 2"):
        bodies.mesh(hl.Euclidean(2), [[0, 0], [1, 0], [0, 1]], [(0, 1, 3)])


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


def test_forces_by_offsets_are_those_by_lists_of_neighbours():
    """The same cloth with its vertices numbered at random has no few offsets between the ends of its springs."""
    space, rng = hl.Hyperbolic(3), np.random.default_rng(0)
    sheet = bodies.cloth(space, 9, 8, 0.2, stiffness=3.0, mass=2.0)
    order = rng.permutation(72)
    springs = [(order[i], order[j], k, rest) for (i, j), (k, rest) in zip(*_springs(sheet.body), strict=True)]
    points = np.asarray(sheet.points)
    points = np.asarray(jax.vmap(space.project)(points + 0.05 * rng.normal(size=points.shape)))
    shuffled = np.empty_like(points)
    shuffled[order] = points
    worlds = hl.World(space, sheet.body), hl.World(space, hl.Body(2.0 * np.ones(72), springs=springs))
    forces = []
    for world, at in zip(worlds, (points, shuffled), strict=True):
        x = jnp.asarray(at[:, :3].T)
        assert world.many is not None
        forces.append(np.asarray(jax.jit(lambda z, many=world.many: many.kick(0.0, z, z))(x)))
    assert [type(world.neighbours).__name__ for world in worlds] == ["Offsets", "Neighbours"]
    np.testing.assert_allclose(forces[1][:, order], forces[0], rtol=0, atol=1e-13)


def _springs(body):
    return body.springs.vertices.tolist(), body.springs.numbers.tolist()


@pytest.mark.proof
def test_many_vertices_far_from_the_origin_are_written_near_it():
    """Two cloths, each in a frame of its own, of which one moves away: its points are those before."""
    space = hl.Hyperbolic(3)
    made = [bodies.cloth(space, 7, 6, 0.05, boost_x=place) for place in (0.0, 0.4)]
    world = hl.World(space, [one.body for one in made])
    points = np.concatenate([one.points for one in made])
    q = jnp.concatenate([jnp.asarray(points).reshape(-1), jnp.zeros(6)])
    v = world.space.tangent(q, jnp.asarray(np.random.default_rng(0).normal(size=q.shape)))
    many, where = world.many, world.space
    assert many is not None
    assert isinstance(where, Carried)
    assert world.kinetic is not None
    after = jax.jit(lambda z: many.recentred(z))(many.state(q, v))  # a bound method has arrays in its identity
    assert np.max(np.abs(np.asarray(after.frame)[:3])) < 0.01
    np.testing.assert_allclose(after.frame[3], 0.4, atol=0.01)
    near, speeds = many.read(after)
    np.testing.assert_allclose(where.points(near), points.reshape(-1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(world.kinetic(0.0, near, speeds), world.kinetic(0.0, q, v), rtol=1e-13)

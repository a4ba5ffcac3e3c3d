"""Rigid bodies along geodesics: multipliers, sizes and momenta, and sparse multipliers against dense ones."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.systems.bodies.examples import FLOWS, SPACES, rigid, start

import holonomy as hl
from holonomy.models import bodies
from holonomy.spaces import Carried
from holonomy.systems.bodies import cells, many_rods, rigid_elements, shared_vertices
from holonomy.systems.bodies.placing import placed

_CHAIN = 40


def _chain(space, count):
    """A chain of rods that begins to bend: its world, points and velocities."""
    built = bodies.chain(space, count + 1, 1.0 / count, rigid=True, mass=1.0 / count)
    world = hl.World(space, built.body)
    s = np.linspace(0.0, 1.0, count + 1)
    velocities = np.zeros(built.points.shape)
    velocities[:, 1], velocities[:, 2] = np.sin(3.0 * s), np.cos(2.0 * s)
    velocities = np.asarray(jax.vmap(space.tangent)(built.points, velocities))
    q, v = (np.asarray(world.points(z)) for z in world.project(0.0, built.points, velocities))
    return world, q, v


@pytest.mark.parametrize(
    ("where", "shape"), [("H", "rod"), pytest.param("S", "triangle", marks=pytest.mark.compat)], ids=str
)
def test_rigid_bodies_move_by_the_isometry(where, shape):
    r"""Along a Killing flow: \(\lambda\) is -sinh(1)/2 in H³ and sin(1)/2 in S³ across it and 0 elsewhere, lengths
    stay 1 through 10⁵ steps, and every vertex is where the isometry takes it."""
    world, space, begin = hl.World(SPACES[where], rigid(shape)), SPACES[where], start(where, shape)
    run = hl.simulate(world, *begin, 4.0, dt=0.05, method=hl.Rattle(6))
    across = -0.5 * np.sinh(1.0) if where == "H" else 0.5 * np.sin(1.0)
    expected = [across] if shape == "rod" else [0.0, 0.0, across]
    np.testing.assert_allclose(run.multipliers, np.tile(expected, (len(run.t), 1)), rtol=0, atol=1e-12)
    flow = space.isometries()[FLOWS[where]]
    last = np.asarray(world.space.points(run.q[-1]) if isinstance(world.space, Carried) else run.q[-1])
    np.testing.assert_allclose(last.reshape(-1, 4), [flow(4.0, x) for x in begin[0]], rtol=1e-11, atol=1e-11)
    assert run.certificate.engine.startswith("native")
    assert "reversible" in run.certificate.method
    # 10⁵ steps; in H³ the points can be told up to 300 radii from the start
    end, dt = (5000.0, 0.05) if where == "S" else (250.0, 0.0025)
    long = hl.simulate(world, *begin, end, dt=dt, method=hl.Rattle(6), save_every=1000)
    assert long.certificate.violation < 1e-13
    assert long.certificate.energy_drift_relative < (1e-12 if where == "S" else 1e-14)


@pytest.mark.parametrize("order", ["one chain", "two chains", "in any order"])
def test_sparse_multipliers_are_the_dense_ones(order):
    """Of chains that bend: tridiagonal or by elimination, and by the dense matrix of all differentials of the
    lengths."""
    built = bodies.chain(hl.Euclidean(3), 31, 0.1, rigid=True, mass=0.2)
    rods = [(*ends, 0.1) for ends in built.body.rods.vertices.tolist()]
    if order == "two chains":
        del rods[12]
    elif order == "in any order":
        np.random.default_rng(3).shuffle(rods)
    world = hl.World(hl.Euclidean(3), hl.Body(0.2 * np.ones(31), rods=rods))
    elements = world.rigid
    assert elements is not None
    assert isinstance(
        elements.sharing, shared_vertices.Sharing if order == "in any order" else shared_vertices.Following
    )
    rng = np.random.default_rng(2)
    q, v = jnp.asarray(built.points + 0.02 * rng.standard_normal((31, 3))).ravel(), jnp.asarray(rng.standard_normal(93))

    @jax.jit
    def both(q, v):
        rows = jax.jacfwd(lambda x: elements.values(world, x))(q)
        along = lambda s: elements.values(world, q + s * v)  # noqa: E731
        bend = jax.jvp(lambda s: jax.jvp(along, (s,), (1.0,))[1], (0.0,), (1.0,))[1]
        return elements.multipliers(world, 0.0, q, v), jnp.linalg.solve(rows @ rows.T / 0.2, -bend)

    sparse, dense = both(q, v)
    np.testing.assert_allclose(sparse, dense, rtol=0, atol=1e-12 * float(jnp.max(jnp.abs(dense))))


@pytest.mark.proof
def test_a_chain_keeps_its_sizes_its_energy_and_its_momenta():
    world, points, velocities = _chain(hl.Euclidean(3), _CHAIN)
    run = hl.simulate(world, points, velocities, 0.5, dt=0.005, method=hl.Rattle(2), save_every=20)
    assert run.certificate.violation < 1e-14
    assert run.certificate.velocity_violation < 1e-13
    assert run.certificate.energy_drift_relative < 1e-3
    momenta = np.array([list(world.momentum_maps(q, v).values()) for q, v in zip(run.q, run.v, strict=True)])
    np.testing.assert_allclose(momenta, np.tile(momenta[0], (len(momenta), 1)), rtol=0, atol=1e-13)


@pytest.mark.proof
def test_an_angle_of_infinite_stiffness_never_changes():
    """A hinge of a right angle between two springs in H²; its multiplier is that of the general machinery."""
    space = hl.Hyperbolic(2)
    points = placed(space, np.array([[0.5, 0.0], [0.0, 0.0], [0.0, 0.5]]))
    springs = [(0, 1, 5.0, 0.5), (1, 2, 5.0, 0.5)]
    world = hl.World(space, hl.Body([1.0, 2.0, 1.5], springs=springs, angles=[(0, 1, 2, np.inf, np.pi / 2)]))
    moving = world.killing_velocities(points, boost_x=0.7, rotate_xy=0.4)
    run = hl.simulate(world, points, moving, 1.0, dt=0.02, method=hl.Rattle(2), save_every=10)
    assert set(world.energies(points, moving)) == {"kinetic", "springs"}
    assert run.certificate.violation < 1e-14
    assert run.certificate.energy_drift_relative < 1e-4
    assert np.ptp(run.distance(0, 1)) > 1e-3  # the springs move
    np.testing.assert_allclose(run.multipliers[3], world.multipliers(run.t[3], run.q[3], run.v[3]), rtol=0, atol=1e-12)


@pytest.mark.compat
@pytest.mark.parametrize("space", [hl.Euclidean(3), hl.Sphere(3), hl.Hyperbolic(3)], ids=repr)
def test_a_volume_of_infinite_stiffness_never_changes(space):
    """A tetrahedron of springs along its edges that swings at a fixed volume; its multiplier is that of the general
    machinery, its momenta are kept."""
    shape = 0.5 * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.9, 0.0], [0.3, 0.3, 0.8]])
    points = np.asarray(placed(space, shape))
    pairs = list(itertools.combinations(range(4), 2))
    volume = float(cells.measure(space, jnp.asarray(points)))
    assert abs(volume / abs(np.linalg.det(shape[1:] - shape[0]) / 6.0) - 1.0) < (0.3 if space.point_dim == 4 else 1e-14)
    springs = [(i, j, 5.0, 0.45) for i, j in pairs]
    world = hl.World(space, hl.Body([1.0, 2.0, 1.5, 1.0], springs=springs, volumes=[(0, 1, 2, 3, np.inf, volume)]))
    moving = world.killing_velocities(points, rotate_xy=0.4, rotate_yz=0.7)
    run = hl.simulate(world, points, moving, 0.5, dt=0.02, method=hl.Rattle(4), save_every=5)
    sizes = [float(cells.measure(space, jnp.asarray(x))) for x in world.points(run.q)]
    assert np.max(np.abs(np.array(sizes) / volume - 1.0)) < 1e-13
    assert np.ptp(run.distance(0, 1)) > 1e-3  # the springs move
    assert run.certificate.energy_drift_relative < 1e-5
    np.testing.assert_allclose(run.multipliers[3], world.multipliers(run.t[3], run.q[3], run.v[3]), rtol=0, atol=1e-11)
    if not isinstance(world.space, Carried):
        first, last = (world.momentum_maps(run.q[k], run.v[k]) for k in (0, -1))
        np.testing.assert_allclose(list(last.values()), list(first.values()), rtol=0, atol=1e-12)


def test_rods_of_many_that_cannot_hold_are_named():
    """A start off the lengths, velocities that change them, and another method with dense matrices."""
    space = hl.Euclidean(3)
    built = bodies.chain(space, 400, 0.01, rigid=True)
    world, still = hl.World(space, built.body), np.zeros((400, 3))
    points = np.asarray(built.points)
    moved, moving = points.copy(), still.copy()
    moved[-1, 0] += 0.01
    moving[-1, 0] = 1.0
    cases = [
        (moved, still, None, r"violate the sizes .*: rod \(398, 399\) by 0.01, "),
        (points, moving, None, r"change the sizes .*: rod \(398, 399\) at the rate 1, "),
        (points, still, hl.Radau(3), "dense matrices, of which up to 300 are supported"),
    ]
    for q, v, method, said in cases:
        with pytest.raises(ValueError, match=said):
            hl.simulate(world, q, v, 1.0, dt=0.1, method=method)


@pytest.mark.parametrize(
    "space",
    [
        hl.Euclidean(3),
        pytest.param(hl.Sphere(3, radius=2.0), marks=pytest.mark.compat),
        pytest.param(hl.Hyperbolic(3, radius=2.0), marks=pytest.mark.compat),
    ],
    ids=repr,
)
def test_many_rods_by_components_are_those_of_the_space(space):
    """Lengths and differentials in closed form against those of the space's own distance."""
    chain = bodies.chain(space, 71, 0.1, rigid=True)
    world = hl.World(space, chain.body)
    noise = 0.02 * np.random.default_rng(0).normal(size=chain.points.shape)
    x = jax.vmap(space.project)(jnp.asarray(chain.points) + noise)
    rods = world.rods
    assert rods is not None
    assert many_rods.applies(space, rods)
    at = rigid_elements.corners(x, rods)
    size = rigid_elements.measure(space, "rods")
    distances, wanted = jax.jit(jax.vmap(size))(at), jnp.full(len(rods), 0.1)
    excess = distances - wanted
    if isinstance(space, hl.Euclidean):  # where squares take no roots
        excess = (distances**2 - wanted**2) / (2 * wanted)
    np.testing.assert_allclose(many_rods.stretches(space, x, rods.vertices, wanted), excess, rtol=0, atol=1e-14)
    np.testing.assert_allclose(many_rods.stretches(space, x, rods.vertices, distances), 0.0, rtol=0, atol=1e-14)
    # where rods have the lengths that are wanted, the differentials are those of the distances
    _, rises = many_rods.gradients(space, x, rods.vertices, distances)
    truth = jax.jit(jax.vmap(lambda z: jax.vmap(space.sharp)(z, jax.grad(size)(z))))(at)
    np.testing.assert_allclose(np.stack([end.T for end in rises], axis=1), truth, rtol=0, atol=1e-12)


@pytest.mark.proof
@pytest.mark.parametrize("space", [hl.Euclidean(3), hl.Sphere(3), hl.Hyperbolic(3)], ids=repr)
def test_a_step_of_a_chain_of_rods_takes_operations_linear_in_their_number(space):
    """Operations of the compiled step, its iteration counted once, and the iterations that it takes."""
    operations, iterations = [], []
    for count in (200, 800):
        world, q, v = _chain(space, count)
        q, v = world._state(0.0, q, v)[1:]
        method = hl.Rattle(2)
        state = method.start(world, jnp.asarray(0.0), jnp.asarray(q), jnp.asarray(v))
        step = jax.jit(lambda h, z, world=world, method=method: method.step(world, jnp.asarray(0.0), h, z))
        step = step.lower(jnp.asarray(0.1 / count), state).compile()
        cost = step.cost_analysis()
        assert cost is not None
        operations.append(cost["flops"])
        works = []
        for _ in range(3):
            state, status = step(jnp.asarray(0.1 / count), state)
            works.append(int(status.work))
        iterations.append(works[-1])
    assert 3.5 < operations[1] / operations[0] < 4.2  # four times as many rods
    assert iterations[1] <= iterations[0] + 1

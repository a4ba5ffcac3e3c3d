"""Bodies with rods whose balls collide: impacts in closed form, conservation, walls between all pairs, refusals."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.motion import cluster_impacts
from holonomy.motion.methods.geodesic_state import GeodesicState
from holonomy.root_finding import derivatives_of_roots
from holonomy.systems.bodies import ball_flight
from holonomy.systems.bodies.ball_flight import flight
from holonomy.systems.bodies.checks import refuse_start
from holonomy.systems.bodies.placing import placed
from holonomy.systems.bodies.world import settled

SPACES = {"E": hl.Euclidean(3), "S": hl.Sphere(3), "H": hl.Hyperbolic(3)}


def _triangles(space, side, spacing, radius=0.08, seed=0):
    """side³ rigid triangles of balls on a grid, turned at random: a body of all, points and velocities."""
    rng = np.random.default_rng(seed)
    grid = spacing * np.stack(np.meshgrid(*[np.arange(side) - (side - 1) / 2] * 3, indexing="ij"), axis=-1)
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    flat = 0.15 * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    turns = np.linalg.qr(rng.standard_normal((side**3, 3, 3)))[0]
    shape = grid.reshape(-1, 1, 3) + np.einsum("nij,kj->nki", turns, flat)
    points = np.asarray(placed(space, shape.reshape(-1, 3)))
    velocities = np.asarray(jax.vmap(space.tangent)(points, rng.standard_normal(points.shape)))
    ends = np.array([(3 * n + a, 3 * n + b) for n in range(side**3) for a, b in ((0, 1), (1, 2), (0, 2))])
    lengths = np.asarray(jax.vmap(space.distance)(points[ends[:, 0]], points[ends[:, 1]]))
    rods = [(*row, float(length)) for row, length in zip(ends.tolist(), lengths, strict=True)]
    masses = np.linspace(1.0, 2.0, len(points))
    return hl.Body(masses, rods=rods, radii=radius), points, velocities


def _on_rods(world, points, velocities):
    q, v = settled(world, *world._state(0.0, points, velocities)[1:])
    return np.asarray(world.points(q)), np.asarray(world.points(v))


def test_impacts_of_rigid_bodies_in_closed_form():
    """With e = 1/2: two rods of two balls meet head-on; a ball hits an end of a rod at 45 degrees, where the effective
    mass of the end is that of a rigid body; a triangle hits two balls at the same instant and does not turn. The
    others of 46 balls look on: contacts are no walls."""
    e, slope = 0.5, np.sqrt(0.5)
    head_on = [[-1.7, 0, 0], [-0.7, 0, 0], [0.7, 0, 0], [1.7, 0, 0]]
    struck = [[0, 5, 0], [1, 5, 0], [1 + slope, 5 + slope, 0]]  # rod (4, 5) along x, the ball (6) on the diagonal
    both = [[0, 10, 0], [1, 10, 0], [0.5, 11, 0], [0, 9, 0], [1, 9, 0]]  # triangle (7, 8, 9) above two balls
    watching = [[3.0 * n, -10.0, 0.0] for n in range(34)]
    points = np.array([*head_on, *struck, *both, *watching], float)
    velocities = np.zeros_like(points)
    velocities[:4, 0] = [1, 1, -1, -1]
    velocities[6] = [-slope, -slope, 0]
    velocities[7:10, 1] = -1.0
    masses = np.ones(len(points))
    masses[6] = 3.0
    side = float(np.hypot(0.5, 1.0))
    rods = [(0, 1, 1.0), (2, 3, 1.0), (4, 5, 1.0), (7, 8, 1.0), (8, 9, side), (7, 9, side)]
    world = hl.World(hl.Euclidean(3), hl.Body(masses, rods=rods, radii=0.2), collisions=e)
    run = hl.simulate(world, points, velocities, 0.8, dt=0.1, method=hl.Rattle(4), save_at=[0.0, 0.8])
    assert run.certificate.engine == "xla, contacts on the host"
    np.testing.assert_allclose(sorted(run.events.t), [0.5, 0.6, 0.6, 0.6], rtol=0, atol=1e-13)
    v, x = world.points(run.v[-1]), world.points(run.q[-1])
    np.testing.assert_allclose(v[:4, 0], [-e, -e, e, e], rtol=0, atol=1e-13)
    np.testing.assert_allclose(x[:4, 0], points[:4, 0] + 0.5 * velocities[:4, 0] + 0.3 * v[:4, 0], rtol=0, atol=1e-13)
    # the end gives way along the rod as both balls together, across it as one
    impulse = (1.0 + e) / (1.0 / 3.0 + 0.5 / 2.0 + 0.5 / 1.0)
    np.testing.assert_allclose(v[6], [-slope * (1.0 - impulse / 3.0)] * 2 + [0.0], rtol=0, atol=1e-13)
    middle = 0.5 * (v[4] + v[5])
    np.testing.assert_allclose(middle, [-0.5 * slope * impulse] * 2 + [0.0], rtol=0, atol=1e-12)
    turning = np.linalg.norm(v[5] - v[4])
    np.testing.assert_allclose(turning, slope * impulse, rtol=0, atol=1e-12)
    after = -1.0 + (1.0 + e) * 2.0 / 5.0  # 3 masses against 2, at once
    np.testing.assert_allclose(v[7:10, 1], after, rtol=0, atol=1e-12)
    np.testing.assert_allclose(v[10:12, 1], -(1.0 + e) * 3.0 / 5.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(v[7:12, [0, 2]], 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(x[12:], points[12:], rtol=0, atol=0)
    assert run.certificate.violation < 1e-13


@pytest.mark.parametrize("where", ["E", *(pytest.param(w, marks=pytest.mark.proof) for w in "SH")])
def test_rigid_triangles_keep_energy_momenta_and_sizes(where):
    """27 triangles, more balls than walls between all pairs are for: sparse multipliers; taken back; in half the
    step."""
    space = SPACES[where]
    body, points, velocities = _triangles(space, 3, 0.45)
    world = hl.World(space, body, collisions=True)
    start = _on_rods(world, points, velocities)

    def run(dt):
        return hl.simulate(world, *start, 0.4, dt=dt, method=hl.Rattle(4), save_at=[0.0, 0.4], max_events=10_000)

    found = run(0.02)
    assert len(found.events) > 15
    assert found.certificate.violation < 1e-13
    assert found.certificate.velocity_violation < 1e-12
    assert found.certificate.energy_drift_relative < 1e-5
    half = run(0.01)
    assert half.certificate.energy_drift < 0.25 * found.certificate.energy_drift + 1e-12
    np.testing.assert_allclose(half.events.t[:10], found.events.t[:10], rtol=0, atol=1e-5)
    if where != "H":  # its momenta change with the frame that carries the points
        first, last = (np.array(list(world.momentum_maps(found.q[k], found.v[k]).values())) for k in (0, -1))
        np.testing.assert_allclose(last, first, rtol=0, atol=1e-11)
        back = hl.simulate(world, world.points(found.q[-1]), world.points(found.v[-1]), 0.0, t0=0.4, dt=0.02,
                           method=hl.Rattle(4), save_at=[0.4, 0.0], max_events=10_000)  # fmt: skip
        np.testing.assert_allclose(world.points(back.q[-1]), start[0], rtol=0, atol=1e-9)


@pytest.mark.proof
@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_two_rods_against_walls_between_all_pairs(damping):
    """The impact law on the host, with contacts located by the step of Rattle, and the general machinery of contact and
    constraints with Radau's method; in S³ the latter takes minutes to compile. With damping a spring joins the rods."""
    space = SPACES["E"]
    shape = np.array([[0, 0, 0], [0.5, 0, 0], [0.1, 0.6, 0.05], [0.55, 0.7, -0.1]])
    points = np.asarray(placed(space, shape))
    speeds = np.zeros(points.shape)
    speeds[:2, 1], speeds[2:, 1], speeds[1, 2], speeds[3, 0] = 1.0, -0.8, 0.5, 0.3
    speeds = np.asarray(jax.vmap(space.tangent)(points, speeds))
    rods = [(k, k + 1, float(space.distance(points[k], points[k + 1]))) for k in (0, 2)]
    springs = [(0, 3, 5.0, 0.8)] if damping else ()
    body = hl.Body([1.0, 2.0, 1.5, 1.0], radii=0.15, rods=rods, springs=springs, damping=damping)
    world = hl.World(space, body, collisions=True)
    start = _on_rods(world, points, speeds)
    host = hl.simulate(world, *start, 0.6, dt=0.01, method=hl.Rattle(6), save_at=[0.0, 0.6])
    walls = hl.simulate(world, *start, 0.6, dt=0.005, method=hl.Radau(3), save_at=[0.0, 0.6])
    assert len(host.events) >= 2
    assert "contacts on the host" in host.certificate.engine
    assert "contacts on the host" not in walls.certificate.engine
    np.testing.assert_allclose(host.events.t, walls.events.t, rtol=0, atol=1e-10)
    for i, j in itertools.combinations(range(4), 2):
        np.testing.assert_allclose(host.distance(i, j)[-1], walls.distance(i, j)[-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(host.energy, walls.energy, rtol=1e-10)


@pytest.mark.parametrize("where", ["E", *(pytest.param(w, marks=pytest.mark.proof) for w in "SH")])
def test_damped_springs_beside_rods(where):
    """Two rods joined by two damped springs, among more balls than may be walls; the others are at rest, on rods as
    well in S³ and H³, for sparse multipliers. The four alone take the general step of Radau's method."""
    space = SPACES[where]
    four = np.array([[0, 0, 0], [0.4, 0, 0], [0.5, 0.5, 0.1], [0.1, 0.6, -0.1]])
    grid = np.stack(np.meshgrid(*[np.arange(3) - 1.0] * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    others = grid * [0.5, 0.5, 0.2] + np.array([[0.0, 0.0, 1.4], [0.2, 0.0, 1.4]])
    points = np.asarray(placed(space, np.concatenate([four, others.reshape(-1, 3)])))
    rng, speeds = np.random.default_rng(0), np.zeros(points.shape)
    speeds[:4, :3] = rng.standard_normal((4, 3))
    speeds = np.asarray(jax.vmap(space.tangent)(points, speeds))

    def world(count, **options):
        firsts = range(0, 4 if where == "E" else count, 2)
        rods = [(i, i + 1, float(space.distance(points[i], points[i + 1]))) for i in firsts]
        springs, masses = [(1, 2, 30.0, 0.4), (0, 3, 20.0, 0.5)], 1.0 + 0.3 * np.arange(count)
        body = hl.Body(masses, rods=rods, springs=springs, damping=2.0, radii=0.02)
        return hl.World(space, body, **options)

    many, few = world(len(points), collisions=True), world(4)
    start = _on_rods(many, points, speeds)
    found = hl.simulate(many, *start, 0.4, dt=0.005, method=hl.Rattle(6), save_at=[0.0, 0.4])
    alone = hl.simulate(few, start[0][:4], start[1][:4], 0.4, dt=0.0025, method=hl.Radau(3), save_at=[0.0, 0.4])
    assert found.certificate.engine == "xla, contacts on the host"
    assert found.energy[0] - found.energy[1] > 0.4
    assert max(found.certificate.violation, found.certificate.velocity_violation) < 1e-14
    for i, j in itertools.combinations(range(4), 2):
        np.testing.assert_allclose(found.distance(i, j)[-1], alone.distance(i, j)[-1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.energy, alone.energy, rtol=0, atol=1e-10)


def test_strong_damping_beside_rods():
    """Without collisions any damping goes, by the general step; with them a step that is too long for it is refused."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    rods, springs = [(0, 1, 1.0), (2, 3, 1.0)], [(0, 3, 5.0, 0.8), (1, 2, 5.0, 0.8)]

    def world(**options):
        body = hl.Body([1.0, 2.0, 1.5, 1.0], rods=rods, springs=springs, damping=500.0, radii=0.1)
        return hl.World(hl.Euclidean(3), body, **options)

    start = points, np.array([[0, 0, 0.1], [0, 0.3, 0.1], [0.2, 0, 0], [0.2, 0, 0]])
    runs = [hl.simulate(world(), *start, 0.4, dt=0.02, method=m) for m in (hl.Rattle(4), hl.Radau(3))]
    assert runs[0].energy[0] - runs[0].energy[-1] > 0.01
    np.testing.assert_allclose(runs[0].energy[-1], runs[1].energy[-1], rtol=1e-3)
    with pytest.raises(ValueError, match=r"damped too strongly for dt = 0.02 .* take dt below 0.00"):
        hl.simulate(world(collisions=True), *start, 0.4, dt=0.02, method=hl.Rattle(2))


@pytest.mark.compat
def test_newton_takes_as_many_iterations_far_out_in_hyperbolic_space():
    """One of eight triangles lies R = 0, 1 or 10 radii further out than on the grid. The step takes the same number of
    iterations, and the same for the others to the last bit: a position far out has large coordinates, but is no reason
    to end the iteration for other bodies."""
    space, steps = SPACES["H"], {}
    body, points, _ = _triangles(space, 2, 0.6)
    world = hl.World(space, body, collisions=True)
    velocities = np.asarray(world.killing_velocities(points, boost_y=1.0, rotate_xy=2.0, rotate_yz=3.0))
    rigid = world.rigid
    assert rigid is not None

    @eqx.filter_jit
    def step(world, times, state):
        with derivatives_of_roots(False):
            state, status = hl.Rattle(2).step_of_each(world, times, state)
        return state, status.work, jnp.max(jnp.abs(rigid.values(world, state.q)[:-3]))

    boost = space.isometries()["boost_x"]
    for far in (0.0, 1.0, 10.0):
        x, u = points.copy(), velocities.copy()
        violation = jnp.inf
        x[-3:], u[-3:] = jax.vmap(lambda a, b, s=far: jax.jvp(lambda c: boost(s, c), (a,), (b,)))(x[-3:], u[-3:])
        state, work = GeodesicState(*world._state(0.0, x, u)[1:], jnp.zeros(rigid.count)), []
        for _ in range(6):
            state, made, violation = step(world, np.full(world.count, 0.03), state)
            work.append(int(made))
        steps[far] = work, np.asarray(world.points(state.q))[:-3], float(violation)
        assert np.max(np.abs(world.points(state.q))) > 0.4 * np.exp(far)
    assert steps[1.0][0] == steps[10.0][0] == steps[0.0][0]
    assert max(steps[0.0][0]) <= 6
    for far in (1.0, 10.0):
        np.testing.assert_array_equal(steps[far][1], steps[0.0][1])
        assert steps[far][2] < 1e-15


def test_balls_that_rods_keep_apart_take_no_impulse():
    """Of a rigid row the outer balls touch the middle one and cannot approach it: what rods leave of their normal is
    rounding, by which no impulse may be divided."""
    x = np.array([[0.0, 0, 0], [0.2, 0, 0], [0.1, 5, 0]])
    u = np.array([[1.0, 0, 0], [-1e-17, 0, 0], [0.0, 0, 0]])
    geometry = flight(hl.Euclidean(3))
    assert geometry is not None
    law = cluster_impacts.Impacts(geometry, np.ones(3), 1.0, lambda ways: 1e-17 * ways)
    found = law.bounced(x, u, np.array([[0, 1]]), np.array([0]), np.array([0, 0, -1]))
    assert not np.any(found.struck)
    np.testing.assert_allclose(found.velocities, u, rtol=0, atol=0)


def test_what_colliding_rods_cannot_do_is_said():
    space = SPACES["E"]
    body, points, velocities = _triangles(space, 3, 0.45)
    world = hl.World(space, body, collisions=True)
    close = points.copy()
    close[3] = close[0] + [0.0, 0.0, 0.1]
    with pytest.raises(ValueError, match=r"Balls overlap at the start: \(0, 3\) by 0.06"):
        hl.simulate(world, close, 0.0 * velocities, 1.0, dt=0.1)
    with pytest.raises(ValueError, match="change the sizes"):
        hl.simulate(world, points, velocities, 1.0, dt=0.1)
    with pytest.raises(ValueError, match="together with events"):
        hl.simulate(world, points, 0.0 * velocities, 1.0, dt=0.1, events=[hl.Event(lambda t, q, v: q[0])])
    with pytest.raises(ValueError, match=r"all pairs of balls in every step; use hl.Rattle\(4\)"):
        hl.simulate(world, points, 0.0 * velocities, 1.0, dt=0.1, method=hl.Radau(3))


def test_balls_that_a_rod_joins_may_overlap():
    """Rods shorter than two radii: such balls cannot meet, and are neither refused nor found in contact."""
    middles = np.stack(np.meshgrid(range(3), range(3), range(3), indexing="ij"), axis=-1).reshape(-1, 3)
    points = np.stack([middles, middles + np.array([0.1, 0.0, 0.0])], axis=1).reshape(-1, 3)
    pairs = ball_flight.not_joined(np.array([[0, 1], [1, 0], [1, 2], [3, 2]]), _dumb_bells().rods)
    np.testing.assert_array_equal(pairs, [[1, 2]])
    world = hl.World(hl.Euclidean(3), _dumb_bells(), collisions=True)
    refuse_start(world, points.ravel(), np.zeros(points.size))


def _dumb_bells():
    return hl.Body(np.ones(54), rods=[(2 * n, 2 * n + 1, 0.1) for n in range(27)], radii=0.1)

"""Bodies of springs whose balls collide: an exact rebound, conservation, the general machinery of contact, refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.motion import ball_lists
from holonomy.systems.bodies.placing import placed

SPACES = {"E": hl.Euclidean(3), "S": hl.Sphere(3), "H": hl.Hyperbolic(3)}


def _gas(space, side, spacing, radius=0.1, length=0.3, seed=0):
    """side³ pairs of balls, each joined by a spring, on a grid: the body of all, points and velocities."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(side) - (side - 1) / 2] * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    way = rng.standard_normal(grid.shape)
    way *= 0.5 * length / np.linalg.norm(way, axis=2, keepdims=True)
    points = np.asarray(placed(space, (spacing * grid + np.concatenate([-way, way], axis=1)).reshape(-1, 3)))
    velocities = np.asarray(jax.vmap(space.tangent)(points, rng.standard_normal(points.shape)))
    rests = np.asarray(jax.vmap(space.distance)(points[::2], points[1::2]))
    springs = [(2 * n, 2 * n + 1, 40.0, float(rest)) for n, rest in enumerate(rests)]
    return hl.Body(np.linspace(1.0, 2.0, len(points)), springs=springs, radii=radius), points, velocities


def _momenta(world, run):
    return np.array([list(world.momentum_maps(q, v).values()) for q, v in zip(run.q, run.v, strict=True)])


@pytest.mark.parametrize(
    ("where", "restitution"), [("E", 1.0), ("E", 0.5), *(pytest.param(w, 1.0, marks=pytest.mark.proof) for w in "SH")]
)
def test_two_bodies_meet_on_a_geodesic(where, restitution):
    """Head-on at speeds ±1: the inner balls turn round, each spring swings for half a period, the inner balls meet a
    second time, and with e = 1 both bodies go back as they came. With e = 1/2 they turn with half the speed. On one
    geodesic the motion is that of flat space."""
    space = SPACES[where]
    body = hl.Body([1.0, 1.0], springs=[(0, 1, 8.0, 1.0)], radii=0.2)
    world = hl.World(space, [body, body], collisions=restitution)
    places = np.array([-1.7, -0.7, 0.7, 1.7])
    along = jnp.zeros(space.point_dim).at[0].set(1.0)
    points, ways = (np.asarray(z) for z in jax.vmap(lambda s: space.geodesic(space.origin, along, s))(places))
    velocities = ways * np.array([[1.0], [1.0], [-1.0], [-1.0]])
    first, swing = 0.5, np.pi / 4.0  # ω² = 2k/m = 16
    end = first + swing + 0.3

    def run(x, v, start, until, saved):
        return hl.simulate(world, x, v, until, t0=start, dt=0.02, method=hl.Splitting(8), save_at=saved)

    found = run(points, velocities, 0.0, end, [0.0, first + 0.1, end])

    def apart(row):
        return [found.distance(0, k)[row] for k in (1, 2, 3)]

    if restitution == 1.0:
        np.testing.assert_allclose(found.events.t, [first, first + swing], rtol=0, atol=1e-12)
        np.testing.assert_allclose(apart(2), [1.0, 2.0, 3.0], rtol=0, atol=1e-12)
        assert found.certificate.energy_drift_relative < 1e-12
        at = found.local[-1] if where == "H" else world.points(found.q[-1])
        back = run(at, world.points(found.v[-1]), end, 0.0, [end, 0.0])
        back_points = back.local[-1] if where == "H" else world.points(back.q[-1])
        gaps = [float(space.distance(a, b)) for a, b in zip(back_points[:1].repeat(3, 0), back_points[1:], strict=True)]
        whole = 2.0 * np.pi - 3.4 if where == "S" else 3.4  # the shorter way round
        np.testing.assert_allclose(gaps, [1.0, 2.4, whole], rtol=0, atol=1e-12)
        return
    # after the first impact the centre of mass moves at 1/4, and the ends swing about it with amplitude (3/4)/ω
    t = 0.1
    inner, outer = (k + 0.25 * t + s * 0.75 / 4.0 * np.sin(4.0 * t) for k, s in ((-0.2, -1.0), (-1.2, 1.0)))
    np.testing.assert_allclose(apart(1), [inner - outer, -inner - outer, -2.0 * outer], rtol=0, atol=1e-11)
    assert not found.certificate.energy_conserved


@pytest.mark.parametrize("where", ["E", *(pytest.param(w, marks=pytest.mark.proof) for w in "SH")])
def test_bodies_in_each_space_keep_energy_and_momenta(where):
    """27 pairs of balls, more than contact between all pairs takes: the energy to the order of the method, momenta to
    round-off, and the same contacts where every pair is listed."""
    space = SPACES[where]
    body, points, velocities = _gas(space, 3, 0.6 if where == "S" else 0.5)
    world = hl.World(space, body, collisions=True)
    run = hl.simulate(world, points, velocities, 0.5, dt=0.025, save_every=20, max_events=10_000)
    assert run.certificate.method.startswith("Splitting(4)")
    assert len(run.events) > 15
    assert run.certificate.energy_drift_relative < 1e-5
    if where != "H":  # its momenta change with the frame that carries the points
        np.testing.assert_allclose(_momenta(world, run)[-1], _momenta(world, run)[0], rtol=0, atol=1e-12)
    half = hl.simulate(world, points, velocities, 0.5, dt=0.0125, save_every=40, max_events=10_000)
    assert half.certificate.energy_drift < 0.25 * run.certificate.energy_drift
    np.testing.assert_allclose(half.events.t[:10], run.events.t[:10], rtol=0, atol=1e-4)


@pytest.mark.proof
def test_a_thousand_collisions_of_bodies(monkeypatch):
    """64 pairs of balls in S³; the first contacts are those of a run that lists all pairs."""
    space = SPACES["S"]
    body, points, velocities = _gas(space, 4, 0.5, radius=0.08)
    world = hl.World(space, body, collisions=True)
    run = hl.simulate(world, points, velocities, 50.0, dt=0.02, save_every=10, max_events=1000, throw=False)
    assert len(run.events) >= 1000
    assert run.result.code == hl.motion.Code.too_many_events
    momenta = _momenta(world, run)
    assert np.max(np.abs(momenta - momenta[0])) < 1e-11
    assert np.max(np.abs(run.energy / run.energy[0] - 1.0)) < 1e-5
    monkeypatch.setattr(ball_lists, "_LISTED", 10_000)
    whole = hl.simulate(world, points, velocities, 0.4, dt=0.02, save_every=10)
    np.testing.assert_allclose(run.events.t[: len(whole.events)], whole.events.t, rtol=0, atol=1e-13)


@pytest.mark.proof
def test_two_bodies_against_the_general_machinery_of_contact():
    """Contacts as walls between all pairs of balls, with Rattle(6), and these steps, with restitution 0.8."""
    space = SPACES["E"]
    body = hl.Body([1.0, 2.0], springs=[(0, 1, 30.0, 0.8)], radii=0.2)
    world = hl.World(space, [body, body], collisions=0.8)
    shape = np.array([[0.0, 0.0, 0.0], [0.8, 0.0, 0.0], [0.1, 1.0, 0.05], [0.9, 1.1, -0.1]])
    speeds = np.array([[0.2, 1.0, 0.0], [0.0, 1.2, 0.1], [0.0, -1.0, 0.0], [0.3, -0.8, 0.0]])
    walls = hl.simulate(world, shape, speeds, 1.5, dt=0.01, method=hl.Rattle(6), save_at=[0.0, 1.5])
    steps = hl.simulate(world, shape, speeds, 1.5, dt=0.02, method=hl.Splitting(8), save_at=[0.0, 1.5])
    assert len(steps.events) >= 2
    np.testing.assert_allclose(steps.events.t, walls.events.t, rtol=0, atol=1e-10)
    pairs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    for i, j in pairs:
        np.testing.assert_allclose(steps.distance(i, j)[-1], walls.distance(i, j)[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(steps.energy, walls.energy, rtol=1e-10)


@pytest.mark.proof
def test_a_box_of_bodies_keeps_its_energy():
    """125 pairs between smooth walls, 1000 steps; `benchmarks/bodies.py` does 1000 pairs and 10⁴ steps."""
    body, points, velocities = _gas(SPACES["E"], 5, 0.5)

    def walls(x):
        return 50.0 * jnp.sum(jax.nn.relu(jnp.abs(x) - 1.25) ** 4)

    world = hl.World(SPACES["E"], body, potential=walls, collisions=True)
    run = hl.simulate(world, points, velocities, 10.0, dt=0.01, save_every=100, max_events=10**6)
    assert len(run.events) > 1000
    assert run.certificate.energy_drift_relative < 1e-5


def test_what_colliding_bodies_cannot_do_is_said():
    space = SPACES["E"]
    body, points, velocities = _gas(space, 3, 0.5)
    world, still = hl.World(space, body, collisions=True), np.zeros_like(points)
    for method, said in ((hl.Gauss(3), r"all pairs of balls in every step; use hl.Splitting\(4\)"),
                         (hl.EventDriven(), "this one has springs")):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            hl.simulate(world, points, still, 1.0, dt=0.1, method=method)
    with pytest.raises(ValueError, match="together with events"):
        hl.simulate(world, points, still, 1.0, dt=0.1, events=[hl.Event(lambda t, q, v: q[0])])
    with pytest.raises(ValueError, match="runs on the host"):
        hl.Stepper(world, hl.Splitting(4), 0.1).start(0.0, points, velocities)
    with pytest.raises(ValueError, match=r"with an interaction.* up to 40 balls"):
        hl.World(space, body, interaction=lambda d, m1, m2: 0.1 * d, collisions=True)


def test_states_between_saved_times_of_balls_that_collide():
    """`run(t)`, forwards and backwards, for free balls and for bodies: what a run that saves these times has."""
    free = hl.World(hl.Euclidean(2), [hl.Body([1.0], radii=[0.1])] * 2, collisions=True)
    pairs = [hl.Body([1.0, 1.0], springs=[(0, 1, 10.0, 0.4)], radii=[0.1, 0.1])] * 2
    joined = hl.World(hl.Euclidean(2), pairs, collisions=True)
    x, v = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    many = np.array([[0.0, 0.0], [0.4, 0.0], [1.0, 0.0], [1.4, 0.0]])
    wanted = np.array([1.23, 0.0, 0.35, 0.95])
    for world, start, dt in ((free, (x, v), 0.5), (joined, (many, np.repeat(v, 2, axis=0)), 0.05)):
        for end in (1.5, -1.5):
            run = hl.simulate(world, *start, end, dt=dt)
            times = np.copysign(wanted, end)
            exact = hl.simulate(world, *start, end, dt=dt, save_at=np.sort(np.abs(times)) * np.sign(end))
            q, u = run(times)
            rows = np.argsort(np.argsort(np.abs(times)))
            np.testing.assert_allclose(q, np.asarray(exact.q)[rows], rtol=0, atol=1e-6 if dt < 0.1 else 1e-13)
            np.testing.assert_allclose(u, np.asarray(exact.v)[rows], rtol=0, atol=1e-5 if dt < 0.1 else 1e-13)
    assert run.provenance.method.startswith("Splitting(4)")


def test_few_balls_are_walls_where_events_are_watched():
    """Free balls and bodies have events, by the method whose steps can be watched, with the same motion."""
    free = hl.World(hl.Euclidean(2), [hl.Body([1.0], radii=[0.1])] * 2, collisions=True)
    start = [[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]
    watched = hl.simulate(free, *start, 1.5, dt=0.1, events=[hl.Event(lambda t, q, v: q[0] - 0.3)])
    assert watched.provenance.method.startswith("Rattle(4)")
    np.testing.assert_allclose(watched.events.t, [0.3, 0.8], atol=1e-12)
    np.testing.assert_allclose(watched.q[-1], hl.simulate(free, *start, 1.5, dt=0.1).q[-1], atol=1e-12)

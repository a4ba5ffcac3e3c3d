"""Free balls from collision to collision: exact answers, conservation, and lists of neighbours against all pairs."""

import numpy as np
import pytest

import holonomy as hl
from holonomy.motion import ball_collisions
from holonomy.systems.bodies.ball_flight import Pair, flight, neighbours

SPACES = {"E": hl.Euclidean(3), "S": hl.Sphere(3), "H": hl.Hyperbolic(3)}


def _tangent(space, x, v):
    return np.stack([np.asarray(space.tangent(a, b)) for a, b in zip(x, v, strict=True)])


def _gas(space, count, radius, size=1.0, seed=0):
    """Balls that do not overlap, within a distance of the origin, and velocities."""
    rng, found = np.random.default_rng(seed), []
    geometry = flight(space)
    assert geometry is not None
    while len(found) < count:
        step = rng.standard_normal(3)
        step *= size * rng.uniform() ** (1 / 3) / np.linalg.norm(step)
        x = np.asarray(space.exp(space.origin, np.append(step, 0.0) if space.point_dim == 4 else step))
        if not len(neighbours(geometry, np.array([*found, x]), 2.1 * radius)):
            found.append(x)
    x = np.array(found)
    return x, _tangent(space, x, rng.standard_normal(x.shape))


@pytest.mark.parametrize("where", ["S", "H"])
def test_two_balls_on_one_geodesic(where):
    """Of radius 0.2, 1 apart, each at speed 0.5: they meet at 0.6 and come back to the start at 1.2."""
    space, ball = SPACES[where], hl.Body([1.0], radii=0.2)
    pair = hl.World(space, [ball, ball], collisions=True)
    along = np.array([1.0, 0.0, 0.0, 0.0])
    points = np.stack([np.asarray(space.exp(space.origin, s * along)) for s in (-0.5, 0.5)])
    flow = {"S": {"rotate_xw": -0.5}, "H": {"boost_x": 0.5}}[where]
    velocities = np.asarray(pair.killing_velocities(points, **flow)) * [[1.0], [-1.0]]
    velocities *= -np.sign(velocities[0, 0]) * np.sign(points[0, 0])
    run = hl.simulate(pair, points, velocities, 1.2, dt=0.1, save_at=[0, 1.2])
    np.testing.assert_allclose(run.events.t, [0.6], rtol=0, atol=1e-14)
    assert run.events.names == ("impact (0, 1)",)
    last = run.local[-1] if where == "H" else run.q[-1].reshape(2, 4)
    np.testing.assert_allclose(last, points, rtol=0, atol=1e-14)
    assert run.certificate.method == "EventDriven()"
    assert run.certificate.verdict == "good"


def test_restitution_and_masses():
    """Masses 1 and 3, restitution 1/2: the relative velocity is halved and turned, the momentum stays."""
    world = hl.World(hl.Euclidean(3), hl.Body([1.0, 3.0], radii=[0.25, 0.5]), collisions=0.5)
    run = hl.simulate(world, [[0.0, 0, 0], [2.0, 0, 0]], [[2.0, 0, 0], [-1.0, 0, 0]], 1.0, dt=1.0)
    np.testing.assert_allclose(run.events.t, [1.25 / 3.0], rtol=1e-14)
    np.testing.assert_allclose(run.events.v_after[0].reshape(2, 3)[:, 0], [-1.375, 0.125], rtol=1e-14)
    assert not run.certificate.energy_conserved


@pytest.mark.parametrize("where", SPACES)
def test_first_contacts_against_a_table(where):
    """300 random pairs: the first sign change of a table of gaps is where the contact is found, or there is none."""
    space, rng = SPACES[where], np.random.default_rng(3)
    geometry, until = flight(space), 3.0
    assert geometry is not None
    x, u = _gas(space, 40, 0.01, size=1.2, seed=4)
    first, second = rng.integers(0, 40, 300), rng.integers(0, 40, 300)
    first, second = first[first != second], second[first != second]
    size = np.asarray(geometry.chord(np.full(len(first), 0.5)))
    pair = Pair(x[first], u[first], x[second], u[second], size)
    pair = pair.of(np.flatnonzero(geometry.gaps(pair, np.zeros(len(size)))[0] > 0))
    found = geometry.first_contacts(pair, until)
    times = np.linspace(0.0, until, 3001)
    table = np.stack([geometry.gaps(pair, np.full(len(pair.size), t))[0] for t in times])
    crosses = np.any(table < 0, axis=0)
    assert 5 < np.sum(crosses) < len(crosses)
    np.testing.assert_array_equal(np.isfinite(found)[crosses], True)
    begin = times[np.argmax(table < 0, axis=0) - 1]
    assert np.all((found >= begin)[crosses])
    assert np.all((found <= begin + 1e-3)[crosses])
    assert np.all(table[:, ~crosses & np.isfinite(found)].min(axis=0, initial=1.0) < 1e-5)  # contacts that graze
    met = np.isfinite(found)
    np.testing.assert_allclose(geometry.gaps(pair.of(np.flatnonzero(met)), found[met])[0], 0.0, atol=1e-12)


def test_energy_and_momenta_through_a_thousand_collisions(monkeypatch):
    """80 balls in S³, with lists of neighbours; the first collisions are those found by looking at all pairs."""
    space = SPACES["S"]
    x, u = _gas(space, 80, 0.14, size=3.0)
    world = hl.World(space, hl.Body(np.linspace(1.0, 2.0, 80), radii=0.14), collisions=True)
    run = hl.simulate(world, x, u, 50.0, dt=1.0, max_events=1001, throw=False)
    assert len(run.events) > 1000
    assert np.max(np.abs(run.energy / run.energy[0] - 1.0)) < 1e-12
    kept = np.array([list(world.momentum_maps(q, v).values()) for q, v in zip(run.q[::3], run.v[::3], strict=True)])
    assert np.max(np.abs(kept - kept[0])) < 1e-11
    monkeypatch.setattr(ball_collisions, "_ALL_PAIRS", 100)
    plain = hl.simulate(world, x, u, 50.0, dt=1.0, max_events=25, throw=False)
    np.testing.assert_allclose(plain.events.t[:24], run.events.t[:24], rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("count", "size", "end", "most"), [(30, 1.5, 2.0, 10), pytest.param(300, 1.8, 1.1, 1000, marks=pytest.mark.proof)]
)
def test_momenta_in_the_carried_frame(count, size, end, most):
    """Balls of H³ that fly to one centre and collide there, and the momenta at the end as seen from the start."""
    space = SPACES["H"]
    x, u = _gas(space, count, 0.1, size=size, seed=2)
    to_centre = np.stack([np.asarray(space.log(a, space.origin)) for a in x])
    world = hl.World(space, hl.Body(np.ones(count), radii=0.1), collisions=True)
    run = hl.simulate(world, x, to_centre + 0.1 * u, end, dt=end, max_events=10_000)
    assert len(run.events) > most
    whole = []
    for at, v, frame in zip(run.local, world.points(run.v), run.frame, strict=True):
        turn = np.einsum("ia,ib->ab", v, at)
        boost = np.asarray(space.isometry_to(space.exp(space.origin, np.append(frame, 0.0))))
        whole.append(boost @ (turn - turn.T) @ boost.T)
    np.testing.assert_allclose(whole[1], whole[0], rtol=0, atol=1e-11)
    assert abs(run.energy[1] / run.energy[0] - 1.0) < 1e-12
    if count == 30:  # more collisions would magnify rounding too much for the way back
        back = hl.simulate(world, run.local[-1], world.points(run.v)[-1], 0.0, t0=end, dt=end)
        assert len(back.events) == len(run.events)


def test_what_free_balls_cannot_do_is_said():
    space = hl.Euclidean(3)
    world = hl.World(space, hl.Body(np.ones(60), radii=0.5), collisions=True)
    x = np.stack(np.meshgrid(range(4), range(4), range(4), indexing="ij"), axis=-1).reshape(-1, 3)[:60] * 1.5
    still, close = np.zeros((60, 3)), x.copy()
    close[1], close[3] = close[0] + [0.0, 0.0, 0.9], close[2] + [0.0, 0.0, 0.8]
    watch = hl.Event(lambda t, q, v: q[0])
    stuck = hl.World(space, hl.Body(np.ones(60), radii=0.5), collisions=0.0)
    cases = [
        (world, close, {}, r"Balls overlap at the start: \(0, 1\) by 0.1, \(2, 3\) by 0.2"),
        (world, x, {"method": hl.Gauss(2)}, "use hl.EventDriven"),
        (world, x, {"events": [watch]}, "together with events"),
        (stuck, x, {"method": hl.EventDriven()}, "without bouncing"),
        (hl.World(space, hl.Body(np.ones(60))), x, {"method": hl.EventDriven()}, "no collisions"),
    ]
    for system, q, options, said in cases:
        with pytest.raises(ValueError, match=said):
            hl.simulate(system, q, still, 1.0, dt=0.1, **options)


def _wedge(apart, scale, shift):
    """A ball that flies between two others, of which the second is touched `apart` later; the velocity is along x."""
    second = 0.2 * np.array([np.cos(0.53), np.sin(0.53)])
    x = np.array([[-0.5, 0.0], second, second * [1.0, -1.0] * (1.0 + apart)])
    return (x + shift) * scale, np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]) * scale


def _after_wedge(world, method, apart, scale=1.0, shift=0.0, every=1):
    x, v = (np.repeat(z, every, axis=0) for z in _wedge(apart, scale, shift))
    x[1::2] += [0.0, 0.5 * scale] if every == 2 else 0.0
    run = hl.simulate(world, x, v, 1.0, dt=0.1, method=method)
    return np.asarray(run.v[-1]).reshape(-1, 2)[::every] / scale


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1e-9, 0.0), (1e9, 0.0), (1.0, 1e4)])
def test_contacts_at_one_instant_are_one_impact(scale, shift):
    """Balls met together fly apart symmetrically, by reflection at the cone of both; in any units, at any place."""
    world = hl.World(hl.Euclidean(2), [hl.Body([1.0], radii=[0.1 * scale])] * 3, collisions=True)
    cosine, sine = np.cos(0.53), np.sin(0.53)
    # the impulse of each, with the same normal velocity on both sides of the axis: (1 + e) c / (2 c² + 1)
    impulse = 2.0 * cosine / (2.0 * cosine**2 + 1.0)
    expected = [[1.0 - 2.0 * impulse * cosine, 0.0]] + [[impulse * cosine, s * impulse * sine] for s in (1, -1)]
    for apart in (0.0, 1e-13, 3e-12):
        found = _after_wedge(world, None, apart if shift == 0.0 else 0.0, scale, shift)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    one_by_one = _after_wedge(world, None, 1e-6, scale, shift)
    assert abs(one_by_one[0, 1]) > 0.1


@pytest.mark.proof
@pytest.mark.parametrize("apart", [0.0, 1e-13, 3e-12, 1e-6])
def test_simultaneous_impacts_are_the_same_as_walls_and_as_bodies(apart):
    ball = [hl.Body([1.0], radii=[0.1])] * 3
    pairs = [hl.Body([1.0, 1e-12], springs=[(0, 1, 1e-14, 0.5)], radii=[0.1, 0.0])] * 3
    free, joined = (hl.World(hl.Euclidean(2), bodies, collisions=True) for bodies in (ball, pairs))
    by_events = _after_wedge(free, None, apart)
    np.testing.assert_allclose(_after_wedge(free, hl.Rattle(4), apart), by_events, rtol=0, atol=1e-5)
    np.testing.assert_allclose(_after_wedge(joined, hl.Splitting(4), apart, every=2), by_events, rtol=0, atol=1e-5)


def test_a_rack_is_broken_symmetrically():
    """A ball hits the point of a triangle of ten touching balls: the mirror image of the motion is the motion."""
    rows = [(np.sqrt(3.0) * 0.1 * n, 0.1 * (2 * k - n)) for n in range(4) for k in range(n + 1)]
    x = np.array([(-1.0, 0.0), *rows])
    world = hl.World(hl.Euclidean(2), hl.Body(np.ones(11), radii=np.full(11, 0.1)), collisions=True)
    run = hl.simulate(world, x, np.eye(11, 1) * [[1.0, 0.0]], 1.5, dt=0.5)
    v = np.asarray(run.v[-1]).reshape(11, 2)
    mirror = [0, *(1 + rows.index(min(rows, key=lambda b, a=a: np.hypot(b[0] - a[0], b[1] + a[1]))) for a in rows)]
    np.testing.assert_allclose(v[mirror] * [1.0, -1.0], v, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.sum(v, axis=0), [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(np.sum(v**2), 1.0, rtol=1e-12)


def _on_a_line(direction, places, speeds):
    """Points at these distances from the origin of H³ along a unit vector, and velocities along the line."""
    along = lambda s: np.append(np.sinh(s) * np.array(direction), np.cosh(s))  # noqa: E731
    rate = lambda s: np.append(np.cosh(s) * np.array(direction), np.sinh(s))  # noqa: E731
    return np.array([along(s) for s in places]), np.array([w * rate(s) for s, w in zip(places, speeds, strict=True)])


@pytest.mark.parametrize(("far", "direction"), [(12.0, (1, 0, 0)), (24.0, (0, 1, 0)), (60.0, (2 / 3, -2 / 3, 1 / 3))])
def test_contacts_far_out_in_hyperbolic_space(far, direction):
    """Four balls of other masses on one geodesic, which collide on their way out: at the times of a straight line, and
    with distances that stay exact."""
    places, radii, masses = np.array([-0.6, 0.0, 0.7, 1.2]), np.full(4, 0.05), np.array([2.0, 1.0, 0.5, 1.5])
    speeds = 1.0 + np.array([2.0, 1.4, 0.8, 0.0]) / far
    options = {"t_end": 3.0 * far, "dt": far}
    flat = hl.World(hl.Euclidean(2), hl.Body(masses, radii=radii), collisions=True)
    line = hl.simulate(flat, np.outer(places, [1.0, 0.0]), np.outer(speeds, [1.0, 0.0]), **options)
    curved = hl.World(SPACES["H"], hl.Body(masses, radii=radii), collisions=True)
    run = hl.simulate(curved, *_on_a_line(np.array(direction), places, speeds), **options)
    assert len(line.events) == len(run.events) >= 3
    assert np.max(line.events.t) > far
    np.testing.assert_allclose(run.events.t, line.events.t, rtol=2e-11)
    assert [e.name for e in run.events] == [e.name for e in line.events]
    for pair in ((0, 1), (1, 2), (2, 3)):
        np.testing.assert_allclose(run.distance(*pair), line.distance(*pair), rtol=0, atol=1e-9)
    assert run.certificate.verdict == "good"


def test_contacts_far_out_against_many_digits():
    """Two balls whose geodesics converge, from arrays taken as exact: the contact at R = 12 in 50 digits."""
    mp = pytest.importorskip("mpmath")
    tilt = 0.1 / np.sinh(12.0)
    (x, u), (y, w) = (
        _on_a_line(d, [s], [c]) for d, s, c in (((1, 0, 0), 0.0, 1.03), ((np.cos(tilt), np.sin(tilt), 0), 0.5, 1.0))
    )
    world = hl.World(SPACES["H"], hl.Body([1.0, 1.0], radii=[0.1, 0.1]), collisions=True)
    run = hl.simulate(world, np.concatenate([x, y]), np.concatenate([u, w]), 20.0, dt=20.0)
    with mp.workdps(50):

        def at(point, velocity, t):
            s, r = ([mp.mpf(float(z)) for z in a[0][:3]] for a in (point, velocity))
            h = mp.sqrt(1 + sum(z * z for z in s))
            lift = sum(a * b for a, b in zip(s, r, strict=True)) / h
            speed = mp.sqrt(sum(z * z for z in r) - lift**2)
            return [
                a * mp.cosh(speed * t) + b * mp.sinh(speed * t) / speed
                for a, b in zip([*s, h], [*r, lift], strict=True)
            ]

        def gap(t):
            a, b = at(x, u, t), at(y, w, t)
            return a[3] * b[3] - sum(p * q for p, q in zip(a[:3], b[:3], strict=True)) - mp.cosh(mp.mpf("0.2"))

        contact = float(mp.findroot(gap, float(run.events.t[0])))
    assert contact > 9.0
    np.testing.assert_allclose(run.events.t[0], contact, rtol=0, atol=1e-8)

"""Bodies in curved spaces: known motions, methods that agree, and what a world says of itself."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.reference.hyperbolic_rod import SEPARATIONS as FAR
from tests.systems.bodies.examples import SEPARATIONS, SPACES, TIMES, elastic, rigid, start

import holonomy as hl
from holonomy.systems.bodies.placing import placed

INVARIANTS = ("boosts² - rotations²", "boosts · rotations")


@cache
def world(where, shape):
    return hl.World(SPACES[where], elastic(shape))


def side(run, shape):
    return run.distance(0, 1) if shape == "rod" else run.distance(1, 2)


@pytest.mark.parametrize(("where", "shape"), list(SEPARATIONS), ids=str)
def test_separations_of_the_validation_set(where, shape):
    """Without a method: the splitting of order 8, explicit, as one machine function."""
    run = hl.simulate(world(where, shape), *start(where, shape), 10.0, dt=0.05, save_at=[0, *TIMES])
    assert str(run.method) == "Splitting(8)"
    assert run.certificate.engine.startswith("native")
    np.testing.assert_allclose(side(run, shape)[1:], SEPARATIONS[where, shape], rtol=0, atol=1e-10)
    assert run.certificate.energy_drift < 1e-12


@pytest.mark.proof
@pytest.mark.parametrize("where", ["H", "S"])
def test_separations_by_gauss(where):
    """Of the triangle; `test_far_out` does the rod."""
    shape = "triangle"
    run = hl.simulate(world(where, shape), *start(where, shape), 10.0, dt=0.02, save_at=[0, *TIMES], method=hl.Gauss(3))
    np.testing.assert_allclose(side(run, shape)[1:], SEPARATIONS[where, shape], rtol=0, atol=1e-10)


@pytest.mark.proof
@pytest.mark.parametrize("where", ["H", "S"])
def test_separations_by_gauss_in_polar_coordinates(where):
    """The thesis's own coordinates."""
    space, polar = SPACES[where], type(SPACES[where])(3, model="polar")
    points, velocities = start(where, "rod")
    x = np.stack([space.to_polar(p) for p in points])
    v = jax.vmap(lambda p, u: jax.jvp(space.to_polar, (p,), (u,))[1])(points, velocities)
    run = hl.simulate(hl.World(polar, elastic("rod")), x, v, 10.0, dt=0.02, save_at=[0, *TIMES], method=hl.Gauss(3))
    np.testing.assert_allclose(run.distance(0, 1)[1:], SEPARATIONS[where, "rod"], rtol=0, atol=1e-10)


def test_the_rod_far_out():
    """At t = 100 the rod is 73 radii away, 10³¹ in hyperboloid coordinates: no digit of its length is lost."""
    run = hl.simulate(world("H", "rod"), *start("H", "rod"), 100.0, dt=0.05, save_at=[0, *FAR])
    np.testing.assert_allclose(run.distance(0, 1)[1:], list(map(float, FAR.values())), rtol=0, atol=1e-11)
    assert run.local.shape == (len(FAR) + 1, 2, 4)
    assert np.all(run.local[..., 3] < 2.0)
    assert 70 < np.linalg.norm(run.frame[-1]) < 76


def test_bodies_have_frames_of_their_own():
    """Two rods that do not act on each other fly apart, to 73 radii on either side: each keeps all digits."""
    pair, half = hl.World(SPACES["H"], [elastic("rod")] * 2), np.diag([-1.0, -1.0, 1.0, 1.0])
    points, velocities = (np.concatenate([z, z @ half]) for z in start("H", "rod"))
    run = hl.simulate(pair, points, velocities, 100.0, dt=0.05, save_at=[0, *FAR])
    for ends in ((0, 1), (2, 3)):
        np.testing.assert_allclose(run.distance(*ends)[1:], list(map(float, FAR.values())), rtol=0, atol=1e-11)
    assert run.local.shape == (len(FAR) + 1, 4, 4)
    assert run.frame.shape == (len(FAR) + 1, 2, 3)
    np.testing.assert_allclose(run.frame[:, 0], -run.frame[:, 1], rtol=0, atol=1e-9)
    middle = np.linalg.norm(run.frame[-1], axis=1).sum()
    assert abs(run.distance(0, 2)[-1] - middle) < 1.5
    drifts = run.certificate.conserved
    assert set(drifts) == {f"{one} of the momentum of body {k}" for one in INVARIANTS for k in (0, 1)}
    assert max(drifts.values()) < 1e-11
    assert pair.momentum_maps(run.q[-1], run.v[-1])["boost_x"].shape == (2,)
    # where they act on each other, or a potential has a place, they cannot
    assert not hl.World(SPACES["H"], [elastic("rod")] * 2, interaction=lambda d, a, b: 0.0 * d).several_frames
    with pytest.raises(ValueError, match="would see each of its bodies near the origin"):
        hl.simulate(pair.forced(lambda t, q, v: -0.1 * v), points, velocities, 1.0, dt=0.1)


@pytest.mark.proof
@pytest.mark.parametrize("where", ["H", "S"])
def test_the_order_goes_down_to_round_off(where):
    """Each splitting has its order, and with small steps an error below 1e-12: there is no floor."""
    exact = SEPARATIONS[where, "rod"][3] if where == "S" else float(FAR[10])
    fine = hl.simulate(world(where, "rod"), *start(where, "rod"), 10.0, dt=0.01, save_every=1000)
    best = float(fine.distance(0, 1)[-1])
    assert abs(best - exact) < (1e-12 if where == "H" else 2e-12)  # the table of S³ has twelve digits
    for order, dt in ((2, 0.02), (4, 0.1), (6, 0.2), (8, 0.25)):
        errors = []
        for step in (dt, dt / 2):
            run = hl.simulate(
                world(where, "rod"), *start(where, "rod"), 10.0, dt=step, method=hl.Splitting(order), save_at=[0, 10]
            )
            errors.append(abs(float(run.distance(0, 1)[-1]) - best))
        assert np.log2(errors[0] / errors[1]) > order - 0.7, (order, errors)
    for order, dt in ((6, 0.005), (8, 0.02)):
        run = hl.simulate(
            world(where, "rod"), *start(where, "rod"), 10.0, dt=dt, method=hl.Splitting(order), save_at=[0, 10]
        )
        assert abs(float(run.distance(0, 1)[-1]) - best) < 1e-12


@pytest.mark.proof
@pytest.mark.parametrize(("where", "shape"), [("H", "rod"), ("S", "triangle")], ids=str)
def test_multipliers_of_rigid_bodies(where, shape):
    r"""Along a Killing flow \(\lambda\) is -sinh(1)/2 in H³ and sin(1)/2 in S³ across it, and 0 elsewhere."""
    body = hl.World(SPACES[where], rigid(shape))
    run = hl.simulate(body, *start(where, shape), 2.0, dt=0.02, method=hl.Radau(3))
    across = -0.5 * np.sinh(1.0) if where == "H" else 0.5 * np.sin(1.0)
    expected = [across] if shape == "rod" else [0.0, 0.0, across]
    np.testing.assert_allclose(run.multipliers, np.tile(expected, (len(run.t), 1)), rtol=0, atol=1e-10)
    assert np.max(np.abs(side(run, shape) - 1.0)) < 1e-13


def test_energies_momenta_and_rows():
    """Energies by kind add up, a Killing field's momentum is that of its name, and rows or one array are the same."""
    where = world("H", "rod")
    points, velocities = start("H", "rod")
    found = where.energies(points, velocities)
    assert set(found) == {"kinetic", "springs"}
    np.testing.assert_allclose(sum(found.values()), where.energy(0.0, points, velocities), rtol=1e-15)
    np.testing.assert_allclose(where.energy(0.0, points.ravel(), velocities.ravel()), sum(found.values()), rtol=1e-15)
    momenta = where.momentum_maps(points, velocities)
    np.testing.assert_allclose(momenta["boost_x"], 2.0 * found["kinetic"], rtol=1e-14)  # v is that field itself
    assert abs(float(momenta["rotate_yz"])) < 1e-15
    np.testing.assert_allclose(where.separations(points), [1.0], rtol=1e-15)
    np.testing.assert_allclose(where.killing_velocities(points, boost_x=1.0), velocities, rtol=1e-15)


def test_momentum_maps_are_kept():
    """All six momenta of S³ through 2000 steps, of a body that turns and oscillates."""
    triangle = world("S", "triangle")
    points, velocities = start("S", "triangle")
    velocities = velocities + 0.3 * np.asarray(triangle.killing_velocities(points, rotate_zw=1.0, rotate_xz=0.5))
    run = hl.simulate(triangle, points, velocities, 100.0, dt=0.05, save_every=400)
    kept = np.array([list(triangle.momentum_maps(q, v).values()) for q, v in zip(run.q, run.v, strict=True)])
    assert np.max(np.abs(kept - kept[0])) < 1e-12
    drifts = run.certificate.conserved
    assert set(drifts) == {f"the momentum of {name}" for name in SPACES["S"].killing()}
    np.testing.assert_allclose(list(drifts.values()), np.max(np.abs(kept - kept[0]), axis=0), rtol=0, atol=1e-14)


def test_momenta_in_the_carried_frame():
    """The momentum of a travelling body, carried out by the boost of its frame, is that of the start."""
    triangle, space = world("H", "triangle"), SPACES["H"]
    points, velocities = start("H", "triangle")
    velocities = velocities + 0.3 * np.asarray(triangle.killing_velocities(points, rotate_yz=1.0, boost_y=0.5))
    run = hl.simulate(triangle, points, velocities, 4.0, dt=0.05, save_every=20)
    metric = np.diag([1.0, 1.0, 1.0, -1.0])

    def momentum(x, v):
        turn = np.einsum("ia,ib->ab", v, x)
        return (turn - turn.T) @ metric

    whole = []
    for x, v, frame in zip(run.local, triangle.points(run.v), run.frame, strict=True):
        boost = np.asarray(space.isometry_to(space.exp(space.origin, np.append(frame, 0.0))))
        whole.append(boost @ momentum(x, v) @ metric @ boost.T @ metric)
    assert np.linalg.norm(run.frame[-1]) > 2.5
    np.testing.assert_allclose(whole, np.tile(whole[0], (len(whole), 1, 1)), rtol=0, atol=1e-11)


@pytest.mark.proof
def test_every_energy_acts_as_the_lagrangian_says():
    """All kinds of energies: the kick against the acceleration from the Lagrangian in charts."""
    space = SPACES["S"]
    body = hl.Body(
        [1.0, 2.0, 1.5, 0.5],
        springs=[(0, 1, 2.0, 0.3)],
        angles=[(0, 1, 2, 0.7, 1.0)],
        volumes=[(0, 1, 2, 3.0, 0.1), (0, 1, 2, 3, 50.0, 0.01)],
        potentials=lambda x: x[0, 1] * x[3, 2],
    )
    every = hl.World(
        space, body, potential=lambda x: 0.3 * x[2], interaction=lambda d, a, b: 0.2 * a * b * jnp.exp(-(d**2))
    )
    shape = np.array([[0.0, 0.0, 0.0], [0.5, 0.1, 0.0], [0.1, 0.6, 0.1], [0.2, 0.1, 0.5]])
    points = placed(space, shape, rotate_xw=0.3)
    velocities = every.killing_velocities(points, rotate_xy=0.4)
    kinds = {"kinetic", "springs", "angles", "areas", "volumes", "potentials", "external", "interaction"}
    assert set(every.energies(points, velocities)) == kinds
    q, v = (jnp.ravel(z) for z in (points, velocities))
    along = every.space.tangent(q, every.acceleration(0.0, q, v))
    np.testing.assert_allclose(every.kick(0.0, q, v), along, rtol=0, atol=1e-13)
    assert float(jnp.max(jnp.abs(along))) > 0.1


BAD = [
    (lambda: hl.Body([1.0, 0.0]), "vertex 1 has 0"),
    (lambda: hl.Body([1.0, 1.0], springs=[(0, 2, 1.0, 1.0)]), "from 0 to 1; got 2"),
    (lambda: hl.Body([1.0, 1.0], springs=[(0, 1, 1.0)]), "stiffness, rest length"),
    (lambda: hl.Body([1.0, 1.0], springs=[(0, 0, 1.0, 1.0)]), "different vertices"),
    (lambda: hl.Body([1.0, 1.0], springs=[(0, 1, -1.0, 1.0)]), "must not be negative"),
    (lambda: hl.Body([1.0, 1.0], rods=[(0, 1, 1.0), (1, 0, 2.0)]), "contradict each other"),
    (lambda: hl.World(hl.Sphere(2), hl.Body([1.0, 1.0], rods=[(0, 1, 4.0)])), "pass a shorter one"),
    (
        lambda: hl.World(hl.Sphere(3), hl.Body([1.0] * 3, rods=[(0, 1, 0.5), (1, 2, 0.4), (0, 2, 1.0)])),
        r"rod \(0, 2\) of length 1 contradicts other rods: .* at most 0.9 apart",
    ),
    (lambda: hl.Body([1.0] * 2, springs=[(0, 1, np.inf, 1.0)]), "pass it as a rod"),
    (lambda: hl.World(hl.Sphere(2), []), "hl.Body or a list"),
    (lambda: hl.World(hl.Euclidean(3), hl.Body([1.0]), collisions=True), "radii"),
    (lambda: hl.World(hl.Inhomogeneous(3), hl.Body(np.ones(60), radii=0.1), collisions=True), "fewer vertices"),
    (lambda: hl.World(hl.Inhomogeneous(3), hl.Body([1.0] * 3, volumes=[(0, 1, 2, 1.0, 1.0)])), "default models"),
]


@pytest.mark.parametrize(("make", "said"), BAD, ids=[said for _, said in BAD])
def test_impossible_bodies_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_impossible_starts_are_refused():
    ball = hl.Body([1.0], radii=0.3)
    plane = hl.World(hl.Chart(lambda q: jnp.diag(jnp.stack([jnp.ones(()), jnp.sqrt(q[0])])), 2), hl.Body([1.0]))
    sphere, pair = world("S", "rod"), hl.World(hl.Euclidean(3), [ball, ball], collisions=True)
    points, velocities = start("S", "rod")
    cases = [
        (sphere, 1.1 * points, velocities, "vertex 0, .* nearest one is"),
        (sphere, 0.0 * points, velocities, r"vertex 0, .* none is nearest to it"),
        (sphere, points, velocities + 0.1 * points, "vertex 0, .* is not tangent"),
        (sphere, np.stack([points[0], -points[0]]), np.zeros((2, 4)), r"spring \(0, 1\) joins antipodal"),
        (plane, [[-0.5, 0.0]], [[0.0, 1.0]], r"the metric is not finite at q = \[-0.5"),
        (plane, [[0.0, 0.0]], [[0.0, 1.0]], "the metric is not positive definite"),
        (sphere, points[:1], velocities[:1], r"shape \(2, 4\), one row for each point"),
        (pair, [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]], np.zeros((2, 3)), r"Balls overlap at the start: \(0, 1\) by 0.1"),
    ]
    for system, q, v, said in cases:
        with pytest.raises(ValueError, match=said):
            hl.simulate(system, q, v, 1.0, dt=0.1)


@pytest.mark.proof
def test_springs_where_only_a_metric_is_known():
    """A rod on the sphere by the metric of polar coordinates alone, against distances in closed form; a motion that
    reaches the end of its metric stops there."""
    polar, rod = hl.Sphere(2, model="polar"), hl.Body([1.0, 2.0], springs=[(0, 1, 3.0, 0.5)])
    chart = hl.Chart(lambda q: jnp.diag(jnp.stack([jnp.ones(()), jnp.sin(q[0]) ** 2])), 2)
    points, velocities = [[1.0, 0.2], [1.3, 0.9]], [[0.1, 0.2], [0.0, 0.3]]
    runs = [hl.simulate(hl.World(space, rod), points, velocities, 1.0, dt=0.05) for space in (chart, polar)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-13)
    assert runs[0].certificate.engine.startswith("native")
    slopes = [jax.jit(jax.hessian(space.distance))(*map(jnp.asarray, points)) for space in (chart, polar)]
    np.testing.assert_allclose(*slopes, rtol=0, atol=1e-13)
    plane = hl.World(hl.Chart(lambda q: jnp.diag(jnp.stack([jnp.ones(()), jnp.sqrt(q[0])])), 2), hl.Body([1.0]))
    with pytest.raises(hl.SimulationError, match=r"stopped at t = 1\.2"):
        hl.simulate(plane, [[1.2, 0.0]], [[-1.0, 0.0]], 3.0, dt=0.01)


@pytest.mark.parametrize("space", [hl.Euclidean(3), hl.Sphere(3), hl.Hyperbolic(3)], ids=repr)
def test_volumes_of_cells(space):
    """A triangle of sides 1 by its angles (Gauss and Bonnet), and a small tetrahedron as in flat space."""
    from holonomy.systems.bodies.cells import measure

    edge = 1e-3
    corners = edge / np.sqrt(8.0) * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1.0]])
    assert abs(float(measure(space, placed(space, corners))) / (edge**3 / np.sqrt(72.0)) - 1.0) < 1e-5
    triangle = placed(space, np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.4, 0.9, 0.0]]))
    a, b, c = (float(space.distance(triangle[i], triangle[j])) for i, j in ((1, 2), (0, 2), (0, 1)))
    if isinstance(space, hl.Euclidean):
        area = 0.5 * 0.9
    elif isinstance(space, hl.Sphere):
        s = (a + b + c) / 2
        area = 4 * np.arctan(np.sqrt(np.tan(s / 2) * np.prod([np.tan((s - x) / 2) for x in (a, b, c)])))
    else:
        s = (a + b + c) / 2
        area = 4 * np.arctan(np.sqrt(np.tanh(s / 2) * np.prod([np.tanh((s - x) / 2) for x in (a, b, c)])))
    np.testing.assert_allclose(measure(space, triangle), area, rtol=1e-12)

"""Carried systems in hyperbolic space: the same motion at any distance from the origin, and after any way."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import holonomy as hl

SPACE, PLANE = hl.Hyperbolic(3), hl.Hyperbolic(2, 2.0)
PAIR = SPACE**2
FAR = [1.0, 10.0, 30.0, 300.0]


def apart(q):
    return SPACE.distance(q[:4], q[4:8])


free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * SPACE.inner(x, v, v), space=SPACE)
spring = hl.System.from_lagrangian(lambda t, q, v: 0.5 * PAIR.inner(q, v, v) - 0.5 * (apart(q) - 1.0) ** 2, space=PAIR)
orbit = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * PAIR.inner(q, v, v) + p.k / jnp.tanh(apart(q)), space=PAIR, parameters={"k": 1.0}
)
separations = jax.jit(jax.vmap(apart))


def place(distance):
    return SPACE.from_polar(distance, 1.0, 0.3)


def out_of(system):
    """The map from states of a carried system to points of its space."""
    assert isinstance(system.space, hl.Carried)
    return system.space.points


def begun(system, points, velocities):
    assert isinstance(system.space, hl.Carried)
    return system.space.state(points, velocities)


def particle_start():
    x = place(0.4)
    v = SPACE.tangent(x, np.array([0.3, 0.5, 0.9, 0.2]))
    return x, v / np.sqrt(float(SPACE.inner(x, v, v)))


def orbit_start(drift=0.0):
    """Two bodies on either side of the origin, which turn about each other and drift along z."""
    x = jnp.concatenate([SPACE.from_polar(0.4, np.pi / 2, 0.0), SPACE.from_polar(0.4, np.pi / 2, np.pi)])
    fields = SPACE.killing()
    turn, ahead = fields["rotate_xy"], fields["boost_z"]
    return x, jnp.concatenate([1.5 * turn(row) + drift * ahead(row) for row in x.reshape(2, 4)])


def rod_start():
    """The thesis's rod across a Killing flow, which carries it along x at a speed near 0.7."""
    x = jnp.concatenate([SPACE.from_polar(0.5, np.pi / 2, np.pi / 2), SPACE.from_polar(0.5, np.pi / 2, 1.5 * np.pi)])
    ahead = SPACE.killing()["boost_x"]
    return x, jnp.concatenate([ahead(row) for row in x.reshape(2, 4)])


CASES = {"particle": (free, particle_start), "orbit": (orbit, orbit_start), "spring": (spring, rod_start)}


@cache
def momenta(name):
    """The momenta of all isometries of the home, which are conserved, as a function of states."""
    system = CASES[name][0]
    near = hl.Carried(system.space)  # the same arrays, seen from the home
    fields = list(SPACE.killing().values())

    @jax.jit
    @jax.vmap
    def at(q, v):
        x, u = jax.jvp(near.points, (q,), (v,))
        p = jax.grad(lambda w: system.raw_lagrangian(0.0, x, w))(u).reshape(-1, 4)
        return jnp.stack([jnp.sum(p * jax.vmap(field)(x.reshape(-1, 4))) for field in fields])

    return at


@pytest.mark.parametrize(
    ("name", "method", "dt"),
    [
        *(pytest.param(name, hl.Gauss(3), 0.05, marks=[] if name == "orbit" else pytest.mark.proof) for name in CASES),
        ("orbit", hl.RK4(), 0.01),
    ],
    ids=lambda x: getattr(x, "label", x),
)
def test_the_same_motion_at_any_distance(name, method, dt):
    """Positions seen from the home, velocities, energy, momenta: as at the origin, with R = 1, 10, 30, 300 from it."""
    system, start = CASES[name]
    runs = {}
    for distance in [0.0, *FAR]:
        far = hl.carry(system, at=place(distance))
        runs[distance] = run = hl.simulate(far, *begun(far, *start()), t_end=3.0, dt=dt, method=method)
        assert run.certificate.engine.startswith("native")
        assert run.certificate.energy_drift_relative < (1e-12 if name == "particle" else 1e-7)
        if method.label != "RK4()":
            kept = np.asarray(momenta(name)(run.q, run.v))
            assert np.max(np.abs(kept - kept[0])) < 1e-12 * np.max(np.abs(kept[0]))
        out = np.asarray(jax.vmap(out_of(far))(run.q))[:, :4]
        # the points carried out lie where they should, as far as arrays can tell: within the body's way of the home
        radii = np.arcsinh(np.linalg.norm(out[:, :3], axis=1))
        assert np.all(np.abs(radii - distance) <= 0.4 + 3.1)
    for run in runs.values():
        np.testing.assert_allclose(run.local, runs[0.0].local, rtol=0, atol=1e-11)
        np.testing.assert_allclose(run.frame, runs[0.0].frame, rtol=0, atol=1e-11)
        np.testing.assert_allclose(run.v, runs[0.0].v, rtol=0, atol=1e-11)
        np.testing.assert_allclose(run.energy, runs[0.0].energy, rtol=1e-11)


def test_against_a_run_in_arrays_of_the_space():
    """The same orbit, moved by the isometry to R = 2 and simulated there without a frame."""
    x, v = orbit_start(0.3)
    at = place(2.0)
    out = np.asarray(SPACE.isometry_to(at))
    there, rate = ((z.reshape(2, 4) @ out.T).ravel() for z in (x, v))
    plain = hl.simulate(orbit, there, rate, 2.0, dt=0.05, method=hl.RK4())  # rounding in its arrays grows with time
    far = hl.carry(orbit, at=at)
    run = hl.simulate(far, *begun(far, x, v), t_end=2.0, dt=0.05, method=hl.RK4())
    scale = np.max(np.abs(plain.q))
    np.testing.assert_allclose(jax.vmap(out_of(far))(run.q), plain.q, rtol=0, atol=1e-12 * scale)
    moved = jax.vmap(lambda q, u: jax.jvp(out_of(far), (q,), (u,))[1])(run.q, run.v)
    np.testing.assert_allclose(moved, plain.v, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(run.energy, plain.energy, rtol=1e-12)


@pytest.mark.parametrize(
    ("method", "dt", "error"),
    [(hl.Gauss(4), 0.05, 1e-11), pytest.param(hl.RK4(), 0.0025, 1e-9, marks=pytest.mark.proof)],
)
def test_a_spring_that_travels(method, dt, error):
    """Its separation against the reduced equation of one degree of freedom, up to R = 220."""
    times = np.array([0.0, 1.0, 10.0, 30.0, 100.0, 300.0])

    def slope(t, y):
        return [y[1], np.cosh(0.5) ** 4 * np.tanh(y[0]) / np.cosh(y[0]) ** 2 - 2.0 * (y[0] - 0.5)]

    exact = 2.0 * solve_ivp(slope, (0, 300), [0.5, 0.0], method="DOP853", rtol=3e-14, atol=1e-15, t_eval=times).y[0]
    far = hl.carry(spring)
    run = hl.simulate(far, *begun(far, *rod_start()), t_end=300.0, dt=dt, method=method, save_at=times)
    way = np.linalg.norm(run.frame, axis=1)
    assert way[-1] > 200.0
    found = np.asarray(separations(run.q))
    print(f"{method.label}: {np.max(np.abs(found - exact)):.1e}, energy {run.certificate.energy_drift_relative:.1e}")
    np.testing.assert_allclose(found, exact, rtol=0, atol=error)
    np.testing.assert_allclose(run.frame[:, 1:], 0.0, atol=1e-11 * (1.0 + way[-1]))
    assert run.certificate.energy_drift_relative < error


def test_a_particle_that_travels():
    far = hl.carry(free)
    x, v = particle_start()
    run = hl.simulate(far, *begun(far, x, v), t_end=300.0, dt=0.02, method=hl.Gauss(4), save_every=50)
    assert run.certificate.energy_drift_relative < 1e-12
    gone = np.asarray(jax.vmap(lambda q: SPACE.distance(x, out_of(far)(q)))(run.q))
    np.testing.assert_allclose(gone, run.t, rtol=1e-12, atol=1e-12)
    speed = np.sqrt(np.asarray(jax.vmap(far.space.inner)(run.q, run.v, run.v)))
    np.testing.assert_allclose(speed, 1.0, rtol=1e-12)


@pytest.mark.proof
def test_an_orbit_that_travels():
    """Two bodies that drift along z: their separation 2r against the reduced equation, up to R = 31; then the last
    state as a start at the origin, in arrays of the space: the same relative motion."""
    drift, times = 0.3, np.append(np.arange(0.0, 96.0, 5.0), np.linspace(97.0, 100.0, 31))

    def slope(t, y):
        turn, ahead = 1.5 * np.sinh(0.4) ** 2 / np.sinh(y[0]) ** 2, drift * np.cosh(0.4) ** 2 / np.cosh(y[0]) ** 2
        return [y[1], np.sinh(y[0]) * np.cosh(y[0]) * (turn**2 + ahead**2) - 1.0 / np.sinh(2.0 * y[0]) ** 2]

    exact = 2.0 * solve_ivp(slope, (0, 100), [0.4, 0.0], method="DOP853", rtol=3e-14, atol=1e-15, t_eval=times).y[0]
    far = hl.carry(orbit)
    run = hl.simulate(far, *begun(far, *orbit_start(drift)), t_end=100.0, dt=0.02, method=hl.Gauss(4), save_at=times)
    assert np.linalg.norm(run.frame[-1]) > 30.0
    found = np.asarray(separations(run.q))
    print(f"orbit: {np.max(np.abs(found - exact)):.1e}, energy {run.certificate.energy_drift_relative:.1e}")
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-11)
    assert run.certificate.energy_drift_relative < 1e-11
    q, v = run.local[-31], run.v[-31, :8]
    again = hl.simulate(orbit, q, v, 3.0, dt=0.02, method=hl.Gauss(4), save_at=np.linspace(0.0, 3.0, 31))
    np.testing.assert_allclose(found[-31:], separations(again.q), rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.energy[-31:], again.energy, rtol=0, atol=1e-11)


@pytest.mark.parametrize("distance", FAR)
def test_a_potential_of_the_place(distance):
    """V = −d/2, d the distance from the origin: a fall along the radius with constant acceleration."""
    at = np.asarray(place(distance))
    out = np.append(at[:3] / np.linalg.norm(at[:3]), 0.0)
    far = hl.carry(free, at=at, potential=lambda t, q: -0.5 * SPACE.distance(q, SPACE.origin))
    run = hl.simulate(far, *begun(far, SPACE.origin, out), t_end=2.0, dt=0.02)
    np.testing.assert_allclose(run.frame, np.outer(run.t + 0.25 * run.t**2, out[:3]), rtol=0, atol=2e-12)
    np.testing.assert_allclose(run.energy, 0.5 - 0.5 * distance, rtol=0, atol=1e-12 * (1.0 + distance))


@pytest.mark.parametrize(
    ("method", "dt"),
    [(hl.Rattle(4), 0.02), pytest.param(hl.Radau(3), 0.02, marks=pytest.mark.proof)],
    ids=lambda x: getattr(x, "label", x),
)
def test_a_rigid_rod_that_travels(method, dt):
    """The force in it stays −½ sinh 1, as the flow carries it beyond R = 30."""
    rod = hl.System.from_lagrangian(lambda t, q, v: 0.5 * PAIR.inner(q, v, v), space=PAIR).constrained(
        holonomic=lambda t, q: jnp.stack([apart(q) - 1.0])
    )
    far = hl.carry(rod)
    run = hl.simulate(far, *begun(far, *rod_start()), t_end=40.0, dt=dt, method=method, save_every=100)
    np.testing.assert_allclose(run.frame[:, 0], run.t, atol=1e-6)
    np.testing.assert_allclose(run.multipliers, -0.5 * np.sinh(1.0), atol=1e-6)
    np.testing.assert_allclose(separations(run.q), 1.0, atol=1e-12)


@pytest.mark.parametrize(
    "method",
    [hl.SymplecticEuler(), pytest.param(hl.Adaptive(8, 1e-12, 1e-12), marks=pytest.mark.proof)],
    ids=lambda m: m.label,
)
def test_other_methods_carry_as_well(method):
    far = hl.carry(free)
    run = hl.simulate(far, *begun(far, *particle_start()), t_end=40.0, dt=0.05, method=method)
    np.testing.assert_allclose(np.linalg.norm(run.frame[-1]), 40.0, atol=0.5)
    assert run.certificate.energy_drift_relative < 1e-9
    assert np.max(np.abs(run.local[:, :3])) < 1e-12


def test_products_and_a_radius():
    """A particle in H² × E: a geodesic of radius 2 and a straight line."""
    space = hl.Product(PLANE, hl.Euclidean(1))
    system = hl.System.from_lagrangian(lambda t, q, v: 0.5 * space.inner(q, v, v), space=space)
    far = hl.carry(system)
    run = hl.simulate(far, *begun(far, [0, 0, 2.0, 1.0], [0.6, 0.8, 0.0, 0.5]), t_end=600.0, dt=0.1, save_every=100)
    np.testing.assert_allclose(run.local[:, 3], 1.0 + 0.5 * run.t, rtol=1e-12)
    np.testing.assert_allclose(run.frame, np.outer(run.t, [0.6, 0.8]), rtol=1e-9, atol=1e-11)
    assert run.certificate.energy_drift_relative < 1e-12


def test_engines_and_files(tmp_path):
    far = hl.carry(free)
    q, v = begun(far, *particle_start())
    native = hl.simulate(far, q, v, 2.0, dt=0.05, method=hl.RK4())
    other = hl.simulate(far, q, v, 2.0, dt=0.05, method=hl.RK4(), engine="xla")
    np.testing.assert_allclose(native.q, other.q, rtol=0, atol=1e-13)
    between, _ = native(0.525)
    np.testing.assert_allclose(between, hl.simulate(far, q, v, 0.525, dt=0.025, method=hl.RK4()).q[-1], atol=1e-4)
    native.save(tmp_path / "far.nc")
    loaded = hl.load(tmp_path / "far.nc")
    np.testing.assert_array_equal(loaded.frame, native.frame)
    np.testing.assert_array_equal(loaded.local, native.local)
    with pytest.raises(ValueError, match="different frames"):
        loaded(0.525)


@pytest.mark.proof
def test_gradients():
    """Reverse mode against differences, through a start at the home itself, where the frame has no direction."""
    far = hl.carry(free)

    def last(speed):
        v = speed * jnp.array([0.6, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0])
        return hl.simulate(far, far.space.origin, v, 2.0, dt=0.1, method=hl.Euler()).q[-1, 5]

    reverse = jax.jit(jax.grad(last))(1.0)
    np.testing.assert_allclose(reverse, (last(1.0 + 1e-5) - last(1.0 - 1e-5)) / 2e-5, rtol=1e-8)


def test_what_is_refused():
    with pytest.raises(ValueError, match="so far out in hyperbolic space"):
        hl.simulate(free, place(18.0), np.zeros(4), 1.0, dt=0.1)
    x = np.asarray(place(2.0))
    with pytest.raises(hl.SimulationError, match=r"hl\.carry") as error:
        hl.simulate(free, x, np.asarray(SPACE.log(x, place(3.0))), 40.0, dt=0.05)
    assert error.value.result.name == "too_far"
    assert 13.5 < error.value.run.t[-1] < 14.5  # R = 16, where an array places a point to 1e-9
    with pytest.raises(ValueError, match="Lagrangian is not invariant"):
        hl.carry(hl.System.from_lagrangian(lambda t, x, v: 0.5 * SPACE.inner(x, v, v) - x[3], space=SPACE))
    hidden = hl.System.from_lagrangian(
        lambda t, x, v, p: 0.5 * SPACE.inner(x, v, v) - p.g * x[3], space=SPACE, parameters={"g": 0.0}
    )
    with pytest.raises(ValueError, match="Lagrangian is not invariant"):
        hl.carry(hidden)
    with pytest.raises(ValueError, match="force is not invariant"):
        hl.carry(free.forced(lambda t, x, v: -v))
    with pytest.raises(ValueError, match="constraint is not invariant"):
        hl.carry(free.constrained(holonomic=lambda t, x: x[:1]))
    with pytest.raises(ValueError, match="Carried needs a space"):
        hl.carry(hl.System.from_lagrangian(lambda t, x, v: 0.5 * jnp.dot(v, v), space=hl.Sphere(2)))
    with pytest.raises(ValueError, match=r"hl\.carry\(system\)"):
        _ = hl.simulate(free, x, np.zeros(4), 1.0, dt=0.5).frame


def test_a_coordinate_called_frame_is_no_frame(tmp_path):
    """What carries is known from how the run was made, in files too, and not from the names of coordinates."""
    plain = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v), coordinates=("x", "frame_x"))
    run = hl.simulate(plain, [0.0, 0.0], [1.0, 2.0], 1.0, dt=0.25)
    run.save(tmp_path / "plain.nc")
    for one in (run, hl.load(tmp_path / "plain.nc")):
        with pytest.raises(ValueError, match="belong to carried systems"):
            _ = one.frame
        np.testing.assert_allclose(one(0.6)[0], [0.6, 1.2], atol=1e-14)

"""Systems on curved spaces, through places where coordinates would break."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import holonomy as hl
from holonomy.spaces import compensated

SPHERE, TURNS, SPACE = hl.Sphere(2), hl.SO3(), hl.Hyperbolic(3)

pendulum = hl.System.from_lagrangian(
    lambda t, x, v, p: 0.5 * jnp.dot(v, v) - p.g * x[2], space=SPHERE, parameters={"g": 9.81}
)


def body_rate(q, v):
    """The angular velocity in the body, twice the vector part of the conjugate of q times its derivative."""
    w, x, y, z = q
    a, b, c, d = v
    return 2.0 * jnp.stack(
        [w * b - x * a - y * d + z * c, w * c - y * a + x * d - z * b, w * d - z * a - x * c + y * b]
    )


def turned(q, u):
    """A body vector in space."""
    w, r = q[0], q[1:]
    return u + 2 * w * np.cross(r, u) + 2 * np.cross(r, np.cross(r, u))


rigid_body = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * jnp.dot(p.inertia, body_rate(q, v) ** 2),
    space=TURNS,
    parameters={"inertia": np.array([1.0, 2.0, 3.0])},
)

well = hl.System.from_lagrangian(
    lambda t, x, v, p: 0.5 * SPACE.inner(x, v, v) - 2.0 * jnp.sinh(0.5 * SPACE.distance(x, p.centre)) ** 2,
    space=SPACE,
    parameters={"centre": np.asarray(SPACE.from_polar(3.0, 1.0, 0.3))},
)


def well_start(distance):
    centre = np.asarray(SPACE.from_polar(distance, 1.0, 0.3))
    x = np.asarray(SPACE.from_polar(distance + 0.8, 1.05, 0.3))
    u = np.asarray(SPACE.tangent(x, np.array([0.3, 0.5, 0.9, 0.0])))
    return well.with_parameters(centre=centre), centre, x, u / np.sqrt(float(SPACE.inner(x, u, u)))


def band_is_bounded(run):
    error = run.energy - run.energy[0]
    quarter = len(error) // 4
    # twice the first band, and room for round-off's own walk
    return np.ptp(error[-quarter:]) <= 2 * np.ptp(error[:quarter]) + 1e-11 * abs(run.energy[0])


def test_a_swing_over_both_poles_is_the_plane_pendulum():
    """Started in a plane through the poles it stays in it, and is the pendulum in one angle."""
    plane = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * v[0] ** 2 + p.g * jnp.cos(q[0]), coordinates={"a": "angle"}, parameters={"g": 9.81}
    )
    whirl = hl.simulate(pendulum, [0.0, 0.0, -1.0], [0.0, 7.0, 0.0], 5.0, dt=0.005)
    angle = hl.simulate(plane, [0.0], [7.0], 5.0, dt=0.005)
    assert angle.q[-1, 0] > 4 * np.pi, "it must go over the top"
    np.testing.assert_allclose(whirl.q[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(whirl.q[:, 1], np.sin(angle.q[:, 0]), atol=1e-9)
    np.testing.assert_allclose(whirl.q[:, 2], -np.cos(angle.q[:, 0]), atol=1e-9)


def test_spherical_pendulum_for_long():
    run = hl.simulate(pendulum, [0.0, 0.6, -0.8], [0.05, 0.4, 0.3], 1000.0, dt=0.01, save_every=50)
    assert run.result.steps == 100_000
    assert band_is_bounded(run)
    momentum = run.q[:, 0] * run.v[:, 1] - run.q[:, 1] * run.v[:, 0]
    assert np.max(np.abs(momentum - momentum[0])) < 1e-12
    assert np.max(np.abs(np.sum(run.q**2, axis=1) - 1)) < 1e-14


@pytest.mark.proof
def test_rigid_body_for_long_and_its_flip():
    """Turning about the middle axis flips again and again; the momentum in space never moves."""
    spin = np.array([0.01, 2.0, 0.01])
    run = hl.simulate(rigid_body, [1.0, 0, 0, 0], 0.5 * np.r_[0, spin], 2000.0, dt=0.02, save_every=20)
    assert run.result.steps == 100_000
    assert band_is_bounded(run)
    rates = np.asarray(jax.vmap(body_rate)(run.q, run.v))
    assert rates[:, 1].min() < -1.9
    momenta = np.array([turned(q, np.array([1.0, 2.0, 3.0]) * r) for q, r in zip(run.q, rates, strict=True)])
    assert np.max(np.abs(momenta - momenta[0])) < 1e-12 * np.linalg.norm(momenta[0])


def test_rigid_body_against_elliptic_functions():
    """Euler's equations for L² > 2 E I₂: (a₁ cn, a₂ sn, a₃ dn)."""
    i1, i2, i3 = 1.0, 2.0, 3.0
    start = np.array([0.8, 0.0, 1.1])
    twice, square = np.dot([i1, i2, i3], start**2), np.sum((np.array([i1, i2, i3]) * start) ** 2)
    assert square > twice * i2
    a = np.sqrt(
        [
            (twice * i3 - square) / (i1 * (i3 - i1)),
            (twice * i3 - square) / (i2 * (i3 - i2)),
            (square - twice * i1) / (i3 * (i3 - i1)),
        ]
    )
    rate = np.sqrt((i3 - i2) * (square - twice * i1) / (i1 * i2 * i3))
    m = (i2 - i1) * (twice * i3 - square) / ((i3 - i2) * (square - twice * i1))
    run = hl.simulate(rigid_body, [1.0, 0, 0, 0], 0.5 * np.r_[0, start], 20.0, dt=0.01, method=hl.Gauss(4))
    sn, cn, dn, _ = ellipj(rate * run.t, m)
    exact = np.stack([a[0] * cn, a[1] * sn, a[2] * dn], axis=1)
    assert rate * 20.0 > 4 * ellipk(m), "the run must span a whole period"
    np.testing.assert_allclose(jax.vmap(body_rate)(run.q, run.v), exact, rtol=0, atol=1e-11)


@pytest.mark.parametrize("distance", [1.0, 3.0])
def test_a_particle_far_out_in_hyperbolic_space(distance):
    """Bound to a centre far from the origin; its angular momentum about that centre is conserved."""
    system, centre, x, v = well_start(distance)
    run = hl.simulate(system, x, v, 2000.0, dt=0.02, save_every=100, method=hl.Gauss(4))
    assert run.result.steps == 100_000
    assert band_is_bounded(run)
    home = np.eye(4)  # the boost that carries the centre to the origin
    s, w = centre[:3], centre[3]
    home[:3, :3] += np.outer(s, s) / (1 + w)
    home[:3, 3] = home[3, :3] = -s
    home[3, 3] = w
    near, rate = run.q @ home.T, run.v @ home.T
    momentum = np.cross(near[:, :3], rate[:, :3])
    # reading the momentum off the stored points costs ε e^{2R}; the motion itself does not lose it
    assert np.max(np.abs(momentum - momentum[0])) < 1e-12 + 4e-16 * np.exp(2 * distance + 1.6)


def placed(space, base, z):
    """The point and the momentum, in the frame there, of coordinates and momenta z in the chart at `base`."""
    y, p = jnp.split(z, 2)
    return space.chart(base, y), jax.vjp(lambda u: space.rechart(base, y, u), jnp.zeros_like(y))[1](p)[0]


def seen_from(space, base, q, p):
    """The inverse of `placed`."""
    y = space.coordinates(base, q)
    slope = jax.jacfwd(lambda u: space.rechart(base, y, u))(jnp.zeros_like(y))
    return jnp.concatenate([y, jnp.linalg.solve(slope.T, p)])


@pytest.mark.parametrize(
    ("method", "case"),
    [
        (hl.Gauss(2), "sphere"),
        *(
            pytest.param(method, case, marks=pytest.mark.proof)
            for method, case in (
                (hl.SymplecticEuler(), "rotations"),
                (hl.Gauss(1), "hyperbolic"),
                (hl.Gauss(3), "sphere"),
                (hl.Gauss(3), "rotations"),
                (hl.Gauss(2), "hyperbolic"),
            )
        ),
    ],
    ids=lambda x: getattr(x, "label", x),
)
def test_one_step_is_symplectic(method, case):
    """In canonical coordinates of a fixed chart around either end: the step's own chart moves with the state."""
    far, _, x, v = well_start(3.0)
    system, q0, v0 = {
        "sphere": (pendulum, np.array([0.0, 0.6, -0.8]), np.array([0.5, 0.4, 0.3])),
        "rotations": (rigid_body, np.array([1.0, 0, 0, 0]), np.array([0.0, 0.4, 1.0, 0.3])),
        "hyperbolic": (far, x, v),
    }[case]
    space, h, n = system.space, 0.1, system.space.dim
    first = jax.jit(method.start)(system, 0.0, jnp.asarray(q0), jnp.asarray(v0))
    last, _ = jax.jit(lambda s: method.step(system, 0.0, h, s))(first)

    @jax.jit
    @jax.jacfwd
    def step(z):
        q, p = placed(space, first.anchor, z)
        after, _ = method.step(
            system, 0.0, h, first._replace(anchor=q, p=p, compensated=compensated.begin(space, q, p))
        )
        return seen_from(space, last.anchor, after.anchor, after.p)

    derivative = step(jnp.concatenate([jnp.full(n, 0.2), first.p]))
    form = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    np.testing.assert_allclose(derivative.T @ form @ derivative, form, atol=1e-12)


@pytest.mark.parametrize("method", [hl.RK4(), hl.Adaptive(8, 1e-11, 1e-11), hl.Gauss(2)], ids=lambda m: m.label)
def test_every_method_steps_on_the_sphere(method):
    fine = hl.simulate(pendulum, [0.0, 0.6, -0.8], [0.5, 0.4, 0.3], 2.0, dt=0.01, method=hl.Gauss(4))
    run = hl.simulate(pendulum, [0.0, 0.6, -0.8], [0.5, 0.4, 0.3], 2.0, dt=0.002, method=method)
    np.testing.assert_allclose(run.q[-1], fine.q[-1], atol=2e-9)
    assert np.max(np.abs(np.sum(run.q**2, axis=1) - 1)) < 1e-14


def test_products_move_factor_by_factor():
    """A pendulum on the sphere beside a free particle on the line: each moves as if alone."""
    both = hl.System.from_lagrangian(
        lambda t, x, v, p: 0.5 * jnp.dot(v, v) - p.g * x[2],
        space=hl.Product(SPHERE, hl.Euclidean(1)),
        parameters={"g": 9.81},
    )
    run = hl.simulate(both, [0.0, 0.6, -0.8, 1.0], [0.5, 0.4, 0.3, 2.0], 2.0, dt=0.01)
    alone = hl.simulate(pendulum, [0.0, 0.6, -0.8], [0.5, 0.4, 0.3], 2.0, dt=0.01)
    np.testing.assert_allclose(run.q[:, :3], alone.q, atol=1e-12)
    np.testing.assert_allclose(run.q[:, 3], 1.0 + 2.0 * run.t, atol=1e-12)


def test_forces_do_their_work_on_a_space():
    """Air drag on the spherical pendulum, against RK4 with smaller steps; the certificate claims no symplecticity."""
    damped = pendulum.forced(lambda t, x, v, p: -0.3 * v)
    start = [0.0, 0.6, -0.8], [1.5, 0.4, 0.3]
    run = hl.simulate(damped, *start, 2.0, dt=0.02, method=hl.Gauss(3))
    fine = hl.simulate(damped, *start, 2.0, dt=0.0005, method=hl.RK4())
    np.testing.assert_allclose(run.q[-1], fine.q[-1], atol=1e-9)
    np.testing.assert_allclose(run.v[-1], fine.v[-1], atol=1e-9)
    assert "symplectic" not in str(run.certificate)


def test_velocity_constraints_on_a_space():
    """Suslov's problem, a body that cannot turn about one of its axes: energy, the constraint, and RK4's motion."""
    inertia = jnp.array([[1.0, 0.2, 0.3], [0.2, 2.0, 0.1], [0.3, 0.1, 1.5]])

    def kinetic(t, q, v):
        rate = body_rate(q, v)
        return 0.5 * jnp.dot(rate, inertia @ rate)

    body = hl.System.from_lagrangian(kinetic, space=TURNS).constrained(velocity=lambda t, q, v: body_rate(q, v)[2:])
    q, v = np.array([1.0, 0, 0, 0]), np.array([0.0, 0.5, 0.4, 0.0])
    run = hl.simulate(body, q, v, 4.0, dt=0.02, method=hl.Gauss(3))
    other = hl.simulate(body, q, v, 4.0, dt=0.002, method=hl.RK4())
    np.testing.assert_allclose(run.q[-1], other.q[-1], atol=1e-9)
    np.testing.assert_allclose(jax.vmap(body_rate)(run.q, run.v)[:, 2], 0.0, atol=1e-13)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-10)


@pytest.mark.proof
def test_gradients_on_a_space():
    """Derivatives of a final position by gravity, forward and reverse, against differences."""

    def last(g):
        system = pendulum.with_parameters(g=g)
        return hl.simulate(system, [0.0, 0.6, -0.8], [0.5, 0.4, 0.3], 0.4, dt=0.02, method=hl.Gauss(1)).q[-1, 1]

    forward, reverse = jax.jit(jax.jacfwd(last))(9.81), jax.jit(jax.grad(last))(9.81)
    np.testing.assert_allclose(forward, reverse, rtol=1e-11)
    np.testing.assert_allclose(forward, (last(9.81 + 1e-5) - last(9.81 - 1e-5)) / 2e-5, rtol=1e-8)


@pytest.mark.parametrize(("distance", "within"), [(2.0, 1e-11), (5.0, 1e-9), (10.0, 1e-6), (12.0, 1e-4)])
def test_a_free_particle_far_out_follows_its_geodesic(distance, within):
    """As far as arrays hold its points and velocities; from 1e-9 on the verdict says by how much they do not."""
    free = hl.System.from_lagrangian(lambda t, x, v: 0.5 * SPACE.inner(x, v, v), space=SPACE)
    x = np.asarray(SPACE.from_polar(distance, 1.0, 0.3))
    v = np.asarray(SPACE.tangent(x, np.array([0.3, 0.5, 0.9, 0.2])))
    v = v / np.sqrt(float(SPACE.inner(x, v, v)))
    run = hl.simulate(free, x, v, 2.0, dt=0.05)
    assert run.certificate.energy_drift_relative < 1e-13
    np.testing.assert_allclose(float(SPACE.distance(x, run.q[-1])), 2.0, atol=1e-9)
    assert float(SPACE.distance(SPACE.exp(x, 2.0 * v), run.q[-1])) < within
    assert run.certificate.verdict == ("good" if within < 1e-8 else "doubtful")
    assert ("far out" in str(run.certificate)) == (within > 1e-8)

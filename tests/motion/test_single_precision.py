"""Starts in single precision: the run stays in it, or one sentence says why it cannot."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

oscillator = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) - 0.5 * jnp.dot(q, q), coordinates=("x", "y")
)
on_circle = oscillator.constrained(holonomic=lambda t, q: jnp.dot(q, q) - 1.0)
START = np.array([1.0, 0.0], np.float32), np.array([0.0, 0.5], np.float32)


@pytest.mark.parametrize(
    "method",
    [hl.RK4(), hl.Gauss(2), hl.Radau(3), hl.Radau(2), hl.Adaptive(rtol=1e-5, atol=1e-5), hl.SymplecticEuler()],
    ids=lambda m: m.label,
)
def test_free_motion(method):
    run = hl.simulate(oscillator, *START, 1.0, dt=0.01, method=method)
    assert run.q.dtype == np.float32
    bound = 5e-3 if method.order == 1 else 3e-5
    np.testing.assert_allclose(run.q[-1], [np.cos(1.0), 0.5 * np.sin(1.0)], atol=bound)


@pytest.mark.parametrize("method", [hl.Rattle(2), hl.Rattle(4), hl.Radau(3)], ids=lambda m: m.label)
def test_constrained_motion(method):
    run = hl.simulate(on_circle, *START, 1.0, dt=0.01, method=method)
    assert run.q.dtype == np.float32
    np.testing.assert_allclose(run.q[-1], [np.cos(0.5), np.sin(0.5)], atol=2e-5)


@pytest.mark.parametrize("method", [hl.Rattle(4), hl.RK4()], ids=lambda m: m.label)
def test_starts_rounded_to_single_precision_lie_on_their_constraints(method):
    def start(angle, radius=1.0):
        radial = np.array([np.cos(angle), np.sin(angle)])
        return (radius * radial).astype(np.float32), np.array([-radial[1], radial[0]], np.float32)

    for angle in np.linspace(0.0, 6.2, 20):
        q, v = start(angle)
        run = hl.simulate(on_circle, q, v, 0.1, dt=0.05, method=method)
        assert run.q.dtype == np.float32
        np.testing.assert_allclose(run.q[-1], [np.cos(angle + 0.1), np.sin(angle + 0.1)], atol=2e-6)
    with pytest.raises(ValueError, match="violates the constraints: q0"):
        hl.simulate(on_circle, *start(6.2, 1.0001), 0.1, dt=0.05, method=method)


def test_a_tolerance_beyond_single_precision_is_refused():
    with pytest.raises(ValueError, match=r"asks for more digits than float32 has: pass q0 and v0 in float64"):
        hl.simulate(oscillator, *START, 1.0, dt=0.1, method=hl.Adaptive())


SPACES = [
    hl.Sphere(3, radius=1e3),
    hl.SO3(),
    *[pytest.param(space, marks=pytest.mark.proof) for space in (hl.Hyperbolic(2), hl.SE2(), hl.SE3())],
]


def near_origin(space, seed):
    key = np.random.default_rng(seed)
    origin = np.asarray(space.origin)
    far = float(space.chart_scale)
    x = np.asarray(space.exp(origin, np.asarray(space.tangent(origin, 0.5 * far * key.normal(size=origin.shape)))))
    return x, np.asarray(space.tangent(x, 0.3 * key.normal(size=x.shape)))


@pytest.mark.parametrize("space", SPACES)
def test_starts_rounded_to_single_precision_lie_on_curved_spaces(space):
    free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - 0.1 * q[0], space=space)
    for seed in range(3):
        q, v = near_origin(space, seed)
        run = hl.simulate(free, q.astype(np.float32), v.astype(np.float32), 0.2, dt=0.1, method=hl.RK4())
        exact = hl.simulate(free, q, v, 0.2, dt=0.1, method=hl.RK4())
        assert run.q.dtype == np.float32
        np.testing.assert_allclose(run.q, exact.q, atol=2e-6 * max(1.0, float(np.max(np.abs(q)))))
    if isinstance(space, hl.Sphere):
        q, v = near_origin(space, 0)
        with pytest.raises(ValueError, match="q0 does not lie on Sphere"):
            hl.simulate(free, (1.0001 * q).astype(np.float32), v.astype(np.float32), 0.2, dt=0.1)


@pytest.mark.parametrize(
    "space", [hl.Sphere(3), *[pytest.param(s, marks=pytest.mark.proof) for s in (hl.Euclidean(3), hl.Hyperbolic(3))]]
)
def test_worlds_in_single_precision(space):
    """Springs stay in it; rods and collisions are held to more digits than it has."""
    (x, u), (y, w) = near_origin(space, 5), near_origin(space, 6)
    points, speeds = np.stack([x, y]), np.stack([u, w])
    far = float(space.distance(x, y))
    spring = hl.World(space, hl.Body([1.0, 2.0], springs=[(0, 1, 1.0, 1.0)]))
    rod = hl.World(space, hl.Body([1.0, 2.0], rods=[(0, 1, far)]))
    balls = hl.World(space, [hl.Body([1.0], radii=[0.05]), hl.Body([2.0], radii=[0.05])], collisions=True)
    for world, moving, kept in ((spring, 1.0, np.float32), (rod, 0.0, np.float64), (balls, 1.0, np.float64)):
        given: tuple[np.ndarray, np.ndarray] = (points, moving * speeds)
        run = hl.simulate(world, given[0].astype(np.float32), given[1].astype(np.float32), 0.2, dt=0.1)
        assert run.q.dtype == kept
        np.testing.assert_allclose(run.q, hl.simulate(world, *given, 0.2, dt=0.1).q, atol=5e-6)

"""Gauss on curved spaces: no trend in the energy, momenta of isometries to round-off, order, symplectic form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

SPHERE, GLOME, FAR, TURNS, PLACES = hl.Sphere(2), hl.Sphere(3, 2.0), hl.Hyperbolic(3), hl.SO3(), hl.SE3()
PLANE = hl.SE2()


def turned(q, u):
    """A vector of the body, in space."""
    return u + 2.0 * jnp.cross(q[1:], q[0] * u + jnp.cross(q[1:], u))


def top(t, q, v, p):
    rate = TURNS.body_velocity(q, v)
    return 0.5 * jnp.dot(p.inertia, rate**2) - p.g * turned(q, jnp.array([0.0, 0.0, 1.0]))[2]


def of_lagrangian(f, space, **parameters):
    return hl.System.from_lagrangian(f, space=space, parameters=parameters)


pendulum = of_lagrangian(lambda t, x, v, p: 0.5 * jnp.dot(v, v) - p.g * x[2], SPHERE, g=9.81)
free_top = of_lagrangian(top, TURNS, inertia=np.array([1.0, 2.0, 3.0]), g=0.0)
heavy_top = of_lagrangian(top, TURNS, inertia=np.array([1.0, 1.0, 0.5]), g=2.0)
glome = of_lagrangian(lambda t, x, v, p: 0.5 * jnp.dot(v, v) - p.g * x[3] ** 2, GLOME, g=0.7)
well = of_lagrangian(
    lambda t, x, v, p: 0.5 * FAR.inner(x, v, v) - 2.0 * jnp.sinh(0.5 * FAR.distance(x, FAR.origin)) ** 2, FAR
)
pair = of_lagrangian(  # a pendulum on the sphere and a mass on a line, joined by a spring between x and z
    lambda t, x, v, p: 0.5 * jnp.dot(v, v) - p.g * x[2] - 0.5 * p.k * (x[3] - x[2]) ** 2,
    hl.Product(SPHERE, hl.Euclidean(1)),
    g=2.0,
    k=3.0,
)
two = of_lagrangian(lambda t, x, v, p: 0.5 * jnp.dot(v, v) + p.k * jnp.dot(x[:3], x[3:]), SPHERE**2, k=1.5)


def thrown(t, g, v, p):
    """A body of unequal inertia, thrown, with a place that a spring draws to the origin."""
    body = PLACES.body_velocity(g, v)
    spin = 0.5 * jnp.dot(p.inertia, body[3:] ** 2)
    return 0.5 * jnp.dot(body[:3], body[:3]) + spin - 0.5 * jnp.dot(g[4:], g[4:])


loose = of_lagrangian(thrown, PLACES, inertia=np.array([1.0, 1.6, 2.2]))


def sliding(t, g, v, p):
    """A body in the plane whose mass is larger across it than along it, on a spring to the origin."""
    return 0.5 * jnp.dot(jnp.array([1.0, 2.0, 0.7]), PLANE.body_velocity(g, v) ** 2) - 0.5 * jnp.dot(g[2:], g[2:])


sled = of_lagrangian(sliding, PLANE)
corner = np.array([0.6, 0.8, 1.0, 0.3])

unit = np.array([0.6, 0.2, -0.3, 0.1]) / np.linalg.norm([0.6, 0.2, -0.3, 0.1])
spin = np.array([0.3, 1.0, 0.4])
place = np.asarray(FAR.from_polar(0.8, 1.05, 0.3))
CASES = {
    # name: system, q, v, the Killing fields whose momenta are conserved, and a step with energy errors near 1e-3
    "spherical pendulum": (pendulum, [1.0, 0, 0], [0, 1.0, 0], ["rotate_xy"], 0.02),
    "free top": (free_top, unit, TURNS.lift(unit, spin), ["rotate_xy", "rotate_xz", "rotate_yz"], 0.2),
    "heavy top": (heavy_top, unit, TURNS.lift(unit, spin), ["rotate_xy", "body_xy"], 0.05),
    "particle in S3": (
        glome,
        2.0 * unit,
        GLOME.tangent(2.0 * unit, [0.2, 0.5, -0.3, 0.8]),
        ["rotate_xy", "rotate_xz", "rotate_yz"],
        0.1,
    ),
    "particle in H3": (
        well,
        place,
        FAR.tangent(place, [0.3, 0.5, 0.9, 0.0]),
        ["rotate_xy", "rotate_xz", "rotate_yz"],
        0.1,
    ),
    "product": (pair, [0, 0.6, -0.8, 0.3], [0.5, 0.4, 0.3, 0.2], ["rotate_xy"], 0.05),
    "power": (two, [0, 0.6, -0.8, 0.8, 0, 0.6], [0.5, 0.4, 0.3, 0.3, 1.0, -0.4], ["rotate_xy"], 0.1),
    "thrown body": (
        loose,
        np.r_[unit, 1.0, 0, 0.3],
        PLACES.lift(np.r_[unit, 1.0, 0, 0.3], np.r_[0.1, 0.7, 0.2, spin]),
        ["rotate_xy", "rotate_xz", "rotate_yz"],
        0.1,
    ),
    "body in the plane": (sled, corner, PLANE.lift(corner, [0.3, 0.7, 0.9]), ["rotate_xy"], 0.1),
}


def momenta(name, run):
    """Noether's momenta ∂L/∂v · K of the named fields at every saved state, by derivatives of L itself."""
    system, _, _, fields, _ = CASES[name]
    killing = system.space.killing()
    if name == "power":  # both points turn together
        pairs = [(killing[f"{k}_1"], killing[f"{k}_2"]) for k in fields]
        moves = [lambda x, a=a, b=b: a(x) + b(x) for a, b in pairs]
    else:
        moves = [killing[k] for k in fields]

    @jax.jit
    @jax.vmap
    def at(q, v):
        p = jax.grad(lambda u: system.raw_lagrangian(0.0, q, u))(v)
        return jnp.stack([jnp.dot(p, k(q)) for k in moves])

    return np.asarray(at(run.q, run.v))


def trend(t, values):
    """How far a fitted line rises over the run, and its error bar.

    The bar is the scatter of the means of forty blocks about the line, and what a line fitted to an oscillation picks
    up from its phases at the two ends: the band over the number of oscillations.
    """
    blocks = 40
    size = len(values) // blocks
    means = values[: blocks * size].reshape(blocks, size).mean(axis=1)
    times = t[: blocks * size].reshape(blocks, size).mean(axis=1)
    (slope, _), covariance = np.polyfit(times, means, 1, cov=True)
    length = times[-1] - times[0]
    oscillations = np.count_nonzero(np.diff(np.sign(values - np.median(values)))) / 2
    return slope * length, np.hypot(np.sqrt(covariance[0, 0]) * length, np.ptp(values) / oscillations)


def check(name, stages, steps):
    system, q, v, _, dt = CASES[name]
    dt = dt * {1: 1.0, 2: 2.0, 3: 3.0}[stages]
    run = hl.simulate(
        system,
        np.asarray(q, float),
        np.asarray(v, float),
        steps * dt,
        dt=dt,
        method=hl.Gauss(stages),
        save_every=max(1, steps // 20_000),
    )
    error = run.energy - run.energy[0]
    rise, bar = trend(run.t, error)
    band = np.ptp(error)
    assert abs(rise) <= 2.0 * bar, f"energy rises by {rise:.2e} ± {bar:.1e}, band {band:.1e}"
    kept = momenta(name, run)
    drift = np.max(np.abs(kept - kept[0])) / np.max(np.abs(kept[0]))
    return rise, bar, band, drift


FEW = list(zip(CASES, [1, 2, 3, 2, 3, 2, 1, 2, 1], strict=True))


@pytest.mark.parametrize(("name", "stages"), FEW)
def test_no_trend(name, stages):
    *_, band, drift = check(name, stages, 20_000)
    print(f"{name}, Gauss({stages}): band {band:.1e}, momenta {drift:.1e}")
    assert band > 1e-10, "the step must be large enough for its error to be seen"
    assert drift < 1e-13


ONCE = ("power", "thrown body", "body in the plane")  # built of the spaces of the others: one method each
MANY = [(name, stages) for name in CASES for stages in ((2,) if name in ONCE else (1, 2, 3))]


@pytest.mark.proof
@pytest.mark.parametrize(("name", "stages"), MANY)
def test_no_trend_in_a_million_steps(name, stages):
    rise, bar, band, drift = check(name, stages, 1_000_000)
    print(f"{name}, Gauss({stages}): rise {rise:.1e} ± {bar:.1e}, band {band:.1e}, momenta {drift:.1e}")
    assert drift < 1e-12


@pytest.mark.proof
def test_orders_on_spaces():
    """2s for every space, against a run with steps far smaller."""
    for name in ("spherical pendulum", "heavy top", "particle in H3"):
        system, q, v, _, _ = CASES[name]
        ends = {}
        for stages, dt in ((1, 0.02), (2, 0.04), (3, 0.08)):
            runs = [hl.simulate(system, q, v, 0.96, dt=dt / 2**k, method=hl.Gauss(stages)).q[-1] for k in range(2)]
            ends[stages] = runs
        exact = hl.simulate(system, q, v, 0.96, dt=0.01, method=hl.Gauss(4)).q[-1]
        for stages, runs in ends.items():
            coarse, fine = (np.max(np.abs(end - exact)) for end in runs)
            assert abs(np.log2(coarse / fine) - 2 * stages) < 0.2, (name, stages)

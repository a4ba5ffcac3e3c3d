"""Bodies in potentials of curved spaces: Kepler's problem and a pair that feels curvature."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import holonomy as hl

# The gravity of a unit mass at the origin: -cot r in S³, -coth r in H³; starts at the nearest point, with this rate.
CASES = {
    "S": (hl.Sphere(3), lambda x: -x[3] / jnp.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2), 6.8),
    "H": (hl.Hyperbolic(3), lambda x: -x[3] / jnp.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2), 6.636),
}
NEAREST = 0.3


def period(where, rate):
    r"""With \(u = \cot r\) (or \(\coth r\)) the orbit is \(u = (1 + e\cos\varphi)/L^2\) and
    \(\dot\varphi = L(u^2 \pm 1)\)."""
    sine, tangent, sign = (np.sin, np.tan, 1) if where == "S" else (np.sinh, np.tanh, -1)
    momentum = rate * sine(NEAREST) ** 2
    eccentricity = momentum**2 / tangent(NEAREST) - 1.0
    angles = 2.0 * np.pi * np.arange(4000) / 4000  # the mean of a smooth periodic function, exact to round-off
    u = (1.0 + eccentricity * np.cos(angles)) / momentum**2
    return float(np.mean(2.0 * np.pi / (momentum * (u**2 + sign))))


def second_integral(where, x, v):
    r"""The vector of Laplace, Runge and Lenz: \((u - 1/L^2,\ \dot r/L)\) turned by \(\varphi\) points to the nearest
    point of the orbit."""
    size = np.hypot(x[:, 0], x[:, 1])
    momentum = x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]
    radial = -v[:, 3] / size if where == "S" else v[:, 3] / size
    a, b = x[:, 3] / size - 1.0 / momentum**2, radial / momentum
    cosine, sine = x[:, 0] / size, x[:, 1] / size
    return np.stack([a * cosine + b * sine, a * sine - b * cosine], axis=1)


@pytest.mark.parametrize("where", CASES)
def test_kepler_orbits_close(where):
    """After 100 periods the point is where it began, and the nearest point has not turned."""
    space, gravity, rate = CASES[where]
    world = hl.World(space, hl.Body([1.0]), potential=gravity)
    assert world.singular
    start = np.asarray(space.from_polar(NEAREST, np.pi / 2, 0.0))[None]
    velocity = np.asarray(world.killing_velocities(start, rotate_xy=rate))
    whole = period(where, rate)
    run = hl.simulate(
        world, start, velocity, 100 * whole, dt=whole / 300, method=hl.Splitting(8), save_every=290, engine="native"
    )
    np.testing.assert_allclose(run.q[-1], run.q[0], rtol=0, atol=1e-10)
    kept = second_integral(where, run.q, run.v)
    assert np.max(np.abs(kept - kept[0])) < 1e-11 * np.max(np.abs(kept[0]))
    assert run.certificate.energy_drift < 1e-12
    # the momenta of rotations about the centre are conserved; that which moves the centre along the orbit's axis is not
    drifts = run.certificate.conserved
    assert {f"the momentum of rotate_{plane}" for plane in ("xy", "xz", "yz")} <= set(drifts)
    assert not {"the momentum of rotate_xw", "the momentum of boost_x"} & set(drifts)
    assert max(drifts.values()) < 1e-12


def reduced_pair(times):
    """The pair of the detector by its symmetry: points (x, ±y) of one plane, in the metric x² + y² + 2."""

    def distance(x, y):
        product = x * x - y * y
        size = np.sqrt(1.0 + x * x + y * y + product**2 / 4.0)
        delta = 2.0 * np.arcsinh(np.sqrt(4.0 * y * y / (4.0 * (1.0 + product / 2.0 + size))))
        return delta + np.sinh(delta) * (size + product / 2.0)

    rest = distance(-25.0, 0.5)

    def rates(t, state):
        x, y, vx, vy = state
        factor, square = x * x + y * y + 2.0, vx * vx + vy * vy
        step = 1e-30j  # derivatives by a complex step, to round-off
        pull = distance(x, y) - rest
        force = -pull * np.imag([distance(x + step, y), distance(x, y + step)]) / 1e-30
        along = 2.0 * (x * vx + y * vy)
        return [
            vx,
            vy,
            (x * square + force[0] / 2.0 - along * vx) / factor,
            (y * square + force[1] / 2.0 - along * vy) / factor,
        ]

    start = [-25.0, 0.5, 1.0, 0.0199361788]
    found = solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", rtol=3e-14, atol=1e-13, t_eval=times)
    return distance(found.y[0], np.abs(found.y[1]))


def test_a_pair_that_feels_curvature():
    """The detector through its crossing of the origin, by Gauss(3) and by its reduced equations."""
    space = hl.Inhomogeneous(3)
    points = np.array([[-25.0, 0.5, 0.0], [-25.0, -0.5, 0.0]])
    velocities = np.array([[1.0, 0.0199361788, 0.0], [1.0, -0.0199361788, 0.0]])
    rest = float(space.distance(*points))
    world = hl.World(space, hl.Body([1.0, 1.0], springs=[(0, 1, 1.0, rest)]))
    times = [0.0, 10.0, 14.021365, 15.0, 30.0, 50.0]
    run = hl.simulate(world, points, velocities, 50.0, dt=0.005, save_at=times)
    assert str(run.method) == "Gauss(3)"
    found = run.distance(0, 1)
    np.testing.assert_allclose(found, reduced_pair(times), rtol=0, atol=1e-8)
    np.testing.assert_allclose(found[[0, 1, 3]], [25.0399733602, 25.04941784, 36.42164832], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found[2], 56.402212, rtol=0, atol=1e-6)


def test_a_carried_world_feels_an_external_potential_far_out():
    """U = −d/2, d the distance from the origin: a fall along the radius with constant acceleration, up to R = 111."""
    space = hl.Hyperbolic(3)
    world = hl.World(space, hl.Body([2.0]), potential=lambda x: -0.5 * space.distance(x, space.origin), carried=True)
    point = np.asarray(space.from_polar(1.0, np.pi / 2, 0.0))
    velocity = np.array([point[3], 0.0, 0.0, point[0]])
    run = hl.simulate(world, point[None], velocity[None], 19.0, dt=0.02, save_every=50, method=hl.Splitting(4))
    np.testing.assert_allclose(np.linalg.norm(run.frame, axis=-1), 1.0 + run.t + 0.25 * run.t**2, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.energy, 0.0, rtol=0, atol=1e-11)

"""Rigid bodies against the Newton-Euler equations of the same bodies, and what each is known for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import holonomy as hl
from holonomy.models.rigid_bodies import body_rate, vertical
from holonomy.symmetry.along_run import integrals

UP = np.array([0.0, 0.0, 1.0])
cross = np.cross


def defaults(model) -> list[float]:
    return [parameter.default for parameter in model.parameters]


def rolling_ellipsoid(m, a, b, c, h, i1, i2, i3, delta, g):
    """Euler's equations about the contact for the rate and the vertical in the body, from d/dt of v = -Ω × ρ."""
    turn = np.array([[np.cos(delta), -np.sin(delta), 0], [np.sin(delta), np.cos(delta), 0], [0, 0, 1]])
    inertia, squares = turn @ np.diag([i1, i2, i3]) @ turn.T, np.array([a, b, c]) ** 2

    def rate(t, y):
        w, up = y[:3], y[3:]
        size, moved = np.sqrt(squares @ up**2), cross(up, w)
        point = -squares * up / size + h * UP
        along = -squares * moved / size + squares * up * (squares @ (up * moved)) / size**3
        whole = inertia + m * (point @ point * np.eye(3) - np.outer(point, point))
        torque = cross(point, m * (g * up - cross(w, along) - cross(w, cross(w, point)))) - cross(w, inertia @ w)
        return np.r_[np.linalg.solve(whole, torque), moved]

    return rate


def sliding_ball(m, r, d, i1, i3, mu, u0, g):
    """Newton's and Euler's equations in space for the axis, the angular velocity, the velocity and the work."""

    def rate(t, y):
        axis, w, v = y[:3], y[3:6], y[6:8]
        point, turned = d * axis - r * UP, cross(w, axis)
        slip = np.r_[v, -d * turned[2]] + cross(w, point)
        along = np.r_[slip[:2], 0] / np.sqrt(slip[:2] @ slip[:2] + u0**2)
        spin = i1 * w + (i3 - i1) * (w @ axis) * axis

        def freed(x):
            return x / i1 + (1 / i3 - 1 / i1) * (x @ axis) * axis

        pushed, own = freed(cross(point, UP - mu * along)), freed(-cross(w, spin))
        free = -d * (cross(own, axis) + cross(w, turned))[2]
        normal = (g + free) / (1 / m + d * cross(pushed, axis)[2])
        rub = -mu * normal * along
        return np.r_[turned, normal * pushed + own, rub[:2] / m, rub @ slip]

    return rate


def in_body(run):
    """The angular velocity and the vertical in the body."""
    return (np.asarray(jax.jit(jax.vmap(f))(*args)) for f, args in ((body_rate, (run.q, run.v)), (vertical, (run.q,))))


@pytest.mark.proof
def test_a_rattleback_turns_back() -> None:
    model = hl.models.rattleback
    run = hl.simulate(model(), model.q, model.v, model.t_end, dt=model.dt, save_every=20)
    rates, up = in_body(run)
    spin = np.sum(rates * up, axis=1)
    assert spin[0] == pytest.approx(-5.0)
    assert spin[np.searchsorted(run.t, 3.0)] > 4.9, "it must turn as fast the other way"
    assert np.ptp(run.energy) < 1e-8 * run.energy[0]
    times = run.t[run.t <= 1.0]
    known = solve_ivp(
        rolling_ellipsoid(*defaults(model)), (0, times[-1]), np.r_[rates[0], up[0]], "DOP853", times, rtol=1e-12,
        atol=1e-12,
    )  # fmt: skip
    ours = np.concatenate([rates, up], axis=1)[: len(times)]
    np.testing.assert_allclose(ours, known.y.T, rtol=0, atol=1e-8)
    other = hl.simulate(model(delta=-0.05), model.q, model.v, 3.0, dt=model.dt, save_every=20)
    rates, up = in_body(other)
    assert np.max(np.sum(rates * up, axis=1)) < -4.9, "the mirror image goes on turning"


@pytest.fixture(scope="module")
def tipped():
    model = hl.models.tippe_top
    return model, hl.simulate(model(), model.q, model.v, model.t_end, dt=model.dt, save_every=10)


def test_a_tippe_top_turns_over(tipped) -> None:
    model, run = tipped
    _, up = in_body(run)
    assert up[0, 2] > 0.99
    assert up[-1, 2] < -0.99
    height = model().positions(0.0, run.q[-1], run.system.parameters)[0, 2]
    assert height == pytest.approx(0.02 + 0.006, abs=1e-5)  # it has lifted its centre of mass


def test_energy_and_the_work_of_friction_balance(tipped) -> None:
    """Along the motion by our equations and by Newton's and Euler's, which count the work themselves."""
    model, run = tipped
    parameters = dict(zip((p.name for p in model.parameters), defaults(model), strict=True))
    order = ("m", "r", "d", "i1", "i3", "mu", "u0", "g")
    axis = np.array([0.0, -np.sin(0.1), np.cos(0.1)])
    times = run.t[run.t <= 0.2]
    known = solve_ivp(
        sliding_ball(*[parameters[name] for name in order]), (0, times[-1]), np.r_[axis, 150 * axis, np.zeros(3)],
        "DOP853", times, rtol=1e-11, atol=1e-13,
    )  # fmt: skip
    energy = run.energy[: len(times)]
    assert np.max(np.abs(energy - energy[0] - known.y[8])) < 1e-8 * energy[0]
    assert known.y[8][-1] < -1e-3 * energy[0], "friction must have done work"
    np.testing.assert_allclose(run.v[: len(times), 4:], known.y[6:8].T, rtol=0, atol=1e-8)


@pytest.mark.proof
def test_the_work_of_friction_until_it_stands_on_its_stem(tipped) -> None:
    _, run = tipped
    system = run.system
    work = integrals(run, lambda t, q, v: system.raw_force(t, q, v) @ v)[:, 0]
    assert np.max(np.abs(run.energy - run.energy[0] - work)) < 1e-8 * run.energy[0]
    assert work[-1] < -0.5 * run.energy[0]


@pytest.mark.proof
def test_a_ball_on_a_turning_plate_and_one_that_is_rolled_around() -> None:
    model = hl.models.ball_on_plate
    run = hl.simulate(model(), model.q, model.v, model.t_end, dt=model.dt, save_every=10)
    turned = np.unwrap(np.arctan2(run.v[:, 5], run.v[:, 4]))
    np.testing.assert_allclose(turned - turned[0], 2.0 * 2 / 7 * run.t, atol=1e-10)
    np.testing.assert_allclose(np.hypot(run.v[:, 4], run.v[:, 5]), 0.2, atol=1e-12)
    # on a plate at rest a spring leads it around a circle; the rotation that is left over is the holonomy
    rate, radius = np.sqrt(1.4), 0.3  # of m + I/r² = 1.4 and k = 1.4²
    rolled = model(omega=0.0, k=1.4**2)
    start = [1.0, 0, 0, 0, radius, 0], [0.0, -radius * rate / 0.2, 0, 0, 0, radius * rate]
    around = hl.simulate(rolled, *start, 2 * np.pi / rate, dt=0.002, save_every=100)
    np.testing.assert_allclose(around.q[-1, 4:], [radius, 0.0], atol=1e-9)
    ball, group = hl.models.rolling_ball(0.1), hl.SO3()

    def loop(s):
        angle = 2 * jnp.pi * s
        return radius * jnp.stack([jnp.cos(angle), jnp.sin(angle)])

    element = hl.holonomy(ball, loop)
    np.testing.assert_allclose(group.matrix(element).T, group.matrix(around.q[-1, :4]), rtol=0, atol=1e-8)
    angle = 2 * np.pi * np.sqrt(1 + (radius / 0.1) ** 2)
    assert float(np.trace(group.matrix(element))) == pytest.approx(1 + 2 * np.cos(angle), abs=1e-10)


def test_the_heavy_top_on_so3_against_euler_angles() -> None:
    """Lagrange's top in the chart of Euler's angles, which a textbook has."""

    def lagrangian(t, q, v):
        spin = v[2] + v[1] * jnp.cos(q[0])
        kinetic = 0.05 * (v[0] ** 2 + (jnp.sin(q[0]) * v[1]) ** 2) + 0.025 * spin**2
        return kinetic - 9.81 * 0.3 * jnp.cos(q[0])

    angles = hl.System.from_lagrangian(lagrangian, coordinates=("theta", "phi", "psi"))
    model = hl.models.heavy_top
    run = hl.simulate(model(), model.q, model.v, 2.0, dt=model.dt, save_every=10)
    other = hl.simulate(angles, [0.5, 0.0, 0.0], [0.0, 0.0, 20.0], 2.0, dt=model.dt, save_every=10)
    _, up = in_body(run)
    np.testing.assert_allclose(up[:, 2], np.cos(other["theta"]), rtol=0, atol=1e-9)

"""The energy function h = v·∂L/∂v − L: what it is, and that all that stands on it uses it and not T + V."""

import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import solve_ivp

import holonomy as hl
from holonomy.symmetry.natural import Natural
from holonomy.symmetry.turning_points import Well, turning_points
from holonomy.systems.equations.energies import lagrangian_form

G = 9.81


def lagrangian(function, names="x"):
    return hl.System.from_lagrangian(function, coordinates=tuple(names))


@pytest.fixture(scope="module")
def hoop():
    """A bead on a hoop that turns, in positions that depend on the time."""

    def bead(t, q, p):
        s, c = jnp.sin(q[0]), jnp.cos(q[0])
        return p.r * jnp.stack([s * jnp.cos(p.w * t), s * jnp.sin(p.w * t), -c])[None]

    return hl.System.from_positions(
        bead,
        1.0,
        lambda t, q, p: p.g * bead(t, q, p)[0, 2],
        coordinates={"theta": "angle"},
        parameters={"r": 1.0, "g": G, "w": 4.0},
    )


@pytest.fixture(scope="module")
def parabola():
    """A bead on the parabola z = a x², which turns about the vertical: its mass depends on the place."""

    def bead(t, q, p):
        x = q[0]
        return jnp.stack([x * jnp.cos(p.w * t), x * jnp.sin(p.w * t), p.a * x**2])[None]

    return hl.System.from_positions(
        bead, 1.0, lambda t, q, p: p.g * p.a * q[0] ** 2, ("x",), {"a": 1.3, "g": G, "w": 2.0}
    )


def independent_period(slope, mass, low, high) -> float:
    """The period by mpmath from T₂ = ½ m v² and h − V′ = ∫ slope, independent of the package."""
    mp.dps = 30
    low, high = mp.mpf(low), mp.mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2

    def rate(s):
        q = middle + half * mp.sin(s)
        return half * mp.cos(s) * mp.sqrt(mass(q) / (2 * slope(q)))

    return float(mp.re(2 * mp.quad(rate, [-mp.pi / 2, 0, mp.pi / 2], method="gauss-legendre")))


def test_the_shipped_hoop_turns_where_its_own_plot_shows(hoop) -> None:
    """0.1 … 1.33744 and 3.350132 s; with T + V in the place of h it would be ±1.363 and 5.478 s."""
    h = hl.energy_function(hoop)
    value = float(h(0.0, [0.1], [0.0]))
    assert (h.form.steady, h.is_energy, h.conserved) == (True, False, True)
    found = hl.quadrature(hoop, value, start=0.1)
    assert found.kind == "oscillation"
    mp.dps = 30

    def well(q):
        return -G * mp.cos(q) - 8 * mp.sin(q) ** 2

    start = mp.mpf(0.1)
    top = mp.findroot(lambda q: well(q) - well(start), 1.337)
    np.testing.assert_allclose(found.turning, [0.1, float(top)], rtol=1e-14)
    period = independent_period(lambda q: well(start) - well(q), lambda q: 1, start, top)
    assert found.period == pytest.approx(period, rel=1e-12)
    assert found.period == pytest.approx(3.350132016688751, rel=1e-12)
    below, beside = hl.equilibria(hoop, [[0.1], [0.9]])
    assert (below.stability, beside.stability) == ("unstable", "stable")
    run = hl.simulate(hoop, [0.1], [0.0], found.period, dt=0.005, method=hl.Gauss(3))
    np.testing.assert_allclose([run.q[-1, 0], run.v[-1, 0]], [0.1, 0.0], atol=1e-9)
    assert np.ptp(h.along(run)) < 1e-11
    assert np.ptp(run.energy) > 1.0


def test_a_bead_on_a_turning_parabola(parabola) -> None:
    h = hl.energy_function(parabola)
    assert h.is_energy is False
    value = float(h(0.0, [0.7], [0.4]))
    assert value == pytest.approx(0.5 * (1 + (2.6 * 0.7) ** 2) * 0.16 - 0.5 * 4 * 0.49 + G * 1.3 * 0.49, rel=1e-14)
    found = hl.quadrature(parabola, value, start=0.7)
    width = np.sqrt(value / (G * 1.3 - 2.0))
    np.testing.assert_allclose(found.turning, [-width, width], rtol=1e-13)
    stiff = G * 1.3 - 2.0
    period = independent_period(lambda q: value - stiff * q**2, lambda q: 1 + (2.6 * q) ** 2, -width, width)
    assert found.period == pytest.approx(period, rel=1e-10)
    run = hl.simulate(parabola, [0.7], [0.4], found.period, dt=0.005, method=hl.Gauss(3))
    np.testing.assert_allclose([run.q[-1, 0], run.v[-1, 0]], [0.7, 0.4], atol=1e-8)


def test_jacobis_metric_where_positions_depend_on_the_time() -> None:
    """A particle with a spring along one axis, both on a moving line: geodesics of 2(h − V′)g trace the motion, and
    a metric of T + V would not."""

    def places(t, q):  # a frame that moves at constant speed, in which h is not T + V
        return jnp.stack([q[0] + 0.7 * t, q[1]])[None]

    system = hl.System.from_positions(
        places, 1.0, lambda t, q: 0.5 * q[0] ** 2 + q[1] ** 2 + 0.3 * q[0] * q[1], ("x", "y")
    )
    q0, v0 = np.array([0.8, -0.2]), np.array([0.3, 0.9])
    h = hl.energy_function(system)
    assert h.is_energy is False
    metric = hl.jacobi_metric(system, float(h(0.0, q0, v0)))
    assert float(metric.rate(q0)) == pytest.approx(v0 @ v0, rel=1e-14)
    # the geodesic's own equation, by SciPy, against the motion
    stiff = np.array([[1.0, 0.3], [0.3, 2.0]])

    def motion(t, y):
        return [*y[2:4], *(-stiff @ y[:2]), float(metric.rate(y[:2]))]

    found = solve_ivp(motion, (0.0, 0.7), [*q0, *v0, 0.0], rtol=1e-11, atol=1e-12)
    ends = metric.path(q0, v0, [found.y[4, -1]])
    np.testing.assert_allclose(ends[0], found.y[:2, -1], atol=1e-8)


@pytest.mark.parametrize(
    "function, names, form",
    [
        (lambda t, q, v: 0.5 * (v @ v) + q[0] * v[1], "xy", (True, True, True)),
        (lambda t, q, v: 0.5 * (v @ v) + q[0] * v[1] + q[1] * v[0], "xy", (True, True, False)),
        (lambda t, q, v: 0.5 * (v @ v) + jnp.where(q[0] > 3, 1.0, 0.0) * v[1], "xy", (True, True, True)),
        (lambda t, q, v: 0.5 * v[0] ** 2 + jnp.where(t > 30, 1.0, 0.0) * q[0], "x", (False, True, False)),
        (lambda t, q, v: 0.5 * v[0] ** 2 * (jnp.sin(t) ** 2 + jnp.cos(t) ** 2), "x", (True, True, False)),
        (lambda t, q, v: -jnp.sqrt(1 - v @ v), "xy", (True, False, False)),
        (lambda t, q, v: 0.5 * v[0] ** 2 + 0.25 * v[0] ** 4, "x", (True, False, False)),
        (lambda t, q, v: jnp.where(v[0] > 30, 0.0, v[0] ** 2), "x", (True, False, False)),
    ],
)
def test_what_the_trace_tells(function, names, form) -> None:
    system = lagrangian(function, names)
    assert lagrangian_form(system)[:3] == form
    if form == (True, True, False):
        assert "Jacobi's metric" in repr(hl.jacobi_metric(system, 1.0))
    else:
        with pytest.raises(ValueError, match=r"depends on the time|not quadratic|first degree"):
            hl.jacobi_metric(system, 1.0)


def test_the_formulas(hoop, parabola) -> None:
    for system in (hoop, parabola):
        found = system.equations().sympy
        total = sum(v * found.lagrangian.diff(v) for v in found.velocities) - found.lagrangian
        assert (total - found.energy_function).simplify() == 0
        assert (found.potential - found.T0 - found.effective_potential).simplify() == 0
    fast = lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + 0.25 * v[0] ** 4 - q[0] ** 2)
    said = fast.equations().sympy
    assert said.effective_potential is None
    (v,), (x,) = said.velocities, said.coordinates
    assert (said.energy_function - (v**2 / 2 + 3 * v**4 / 4 + x**2)).expand() == 0
    damped = lagrangian(lambda t, q, v: 0.5 * v[0] ** 2).forced(lambda t, q, v: -0.5 * v)
    assert damped.equations().part("forces") == ("\\begin{aligned}\nQ_{x} &= - \\frac{\\dot{x}}{2}\n\\end{aligned}")


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_wells_of_any_size_and_a_start_at_a_turning_point(unit) -> None:
    """The double well of width `unit`: its own half, in units in which a fixed step would miss it."""
    well = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * v[0] ** 2 - ((q[0] / p.a) ** 2 - 1) ** 2, ("x",), {"a": unit}
    )
    start = 0.5 * unit
    found = hl.quadrature(well, float(hl.energy_function(well)(0.0, [start], [0.0])), start=start)
    np.testing.assert_allclose(np.divide(found.turning, unit), [0.5, np.sqrt(1.75)], rtol=1e-12)
    period = independent_period(
        lambda q: mp.mpf(9) / 16 - (q**2 - 1) ** 2, lambda q: 1, mp.mpf(1) / 2, mp.sqrt(mp.mpf(7) / 4)
    )
    assert found.period == pytest.approx(unit * period, rel=1e-11)


def test_an_angle_whose_potential_does_not_turn_with_it() -> None:
    """A torsion spring wound by more than a turn swings; it does not rotate."""
    spring = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, coordinates={"a": "angle"})
    found = hl.quadrature(spring, 50.0, start=0.0)
    assert found.kind == "oscillation"
    np.testing.assert_allclose(found.turning, [-10.0, 10.0], rtol=1e-13)
    assert found.period == pytest.approx(2 * np.pi, rel=1e-13)


def test_a_narrow_barrier_is_seen_between_the_turning_points() -> None:
    bump = lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 0.001 * q[0] ** 2 - 2 * jnp.exp(-(((q[0] - 30) / 0.05) ** 2)))
    low, high = turning_points(Well(Natural(bump.local(jnp.zeros(1))), 1.2), 1.0, False)
    assert low == pytest.approx(-np.sqrt(1200), rel=1e-12)
    assert 29.8 < high < 30.0
    with pytest.raises(ValueError, match="narrow step of the potential"):
        hl.quadrature(bump, 1.2, start=1.0)


def test_a_run_in_a_moving_frame_is_not_doubtful_for_its_energy() -> None:
    """T + V changes in a frame that moves, and is not taken for a loss of digits."""
    moving = hl.System.from_positions(lambda t, q: (q + 3.0 * t)[None], 1.0, lambda t, q: 0.5 * q @ q, ("x",))
    run = hl.simulate(moving, [1.0], [0.3], 20.0, dt=0.01)
    assert run.certificate.verdict == "good", run.certificate.reasons
    assert not run.certificate.energy_conserved
    assert np.ptp(run.energy) > 1.0
    assert np.ptp(hl.energy_function(moving).along(run)) < 1e-12

"""Motion by Taylor series: exact to round-off, from Lagrangians of every kind that it claims to take."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.models import classics
from holonomy.motion.events import taylor_events
from holonomy.motion.methods.taylor_form import motion_of
from holonomy.trace import heyoka as taylor

heyoka = pytest.importorskip("heyoka")

DOUBLE = classics.double_pendulum(1.0, 1.0, 1.0, 1.0, 9.81)
TAYLOR = hl.Taylor()


def test_double_pendulum_to_round_off() -> None:
    """MATH.md, section 3, from the start at rest whose series lacks the orders that heyoka looks at."""
    run = hl.simulate(DOUBLE, [np.pi / 2, np.pi / 2], [0.0, 0.0], 5.0, dt=0.5, method=TAYLOR)
    known = {
        2: (-0.62508769980639, -1.03458508568, -3.922279572888, -1.3030992486963),
        10: (-0.62718670506653, -1.3013155502098, 2.1254086738429, 3.8818887272656),
    }
    for row, state in known.items():
        np.testing.assert_allclose([*run.q[row], *run.v[row]], state, atol=2e-13 if row == 10 else 5e-13)
    assert run.certificate.engine == "heyoka"
    assert run.certificate.energy_drift_relative < 1e-14
    assert run.certificate.iterations < 200
    back = hl.simulate(DOUBLE, run.q[-1], run.v[-1], 0.0, t0=5.0, dt=5.0, method=TAYLOR)
    np.testing.assert_allclose([*back.q[-1], *back.v[-1]], [np.pi / 2, np.pi / 2, 0, 0], atol=1e-12)


def test_first_step_looks_at_more_than_two_orders() -> None:
    """At rest at π/2 only every fourth order is there; the step must not be longer than from a start nearby."""
    motion, constants = motion_of(replace(classics.simple_pendulum(1.0, 1.0, 9.81), definite=True))
    ta = motion.integrator(None, constants)
    steps = []
    for angle in (np.pi / 2, np.pi / 2 - 0.2, 0.0):
        ta.time, ta.state[:] = 0.0, (angle, 0.0)
        steps.append(taylor_events.first_step(ta))
    assert steps[0] < 1.3 * steps[1]
    assert steps[2] == np.inf


def test_saved_times_change_nothing() -> None:
    start = ([1.0, -0.4], [0.3, 0.2])
    coarse = hl.simulate(DOUBLE, *start, 3.0, dt=3.0, method=TAYLOR)
    fine = hl.simulate(DOUBLE, *start, 3.0, dt=0.004, method=TAYLOR)
    odd = hl.simulate(DOUBLE, *start, 3.0, dt=0.1, save_at=[0.0, 0.123, 0.1234, 2.99, 3.0], method=TAYLOR)
    assert len(fine.t) == 751
    np.testing.assert_allclose(fine.q[-1], coarse.q[-1], rtol=0, atol=2e-14)
    np.testing.assert_allclose(odd.q[-1], coarse.q[-1], rtol=0, atol=2e-14)
    np.testing.assert_allclose(odd.q[1], fine(0.123)[0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(fine.energy, fine.energy[0], rtol=1e-14)
    stepper = hl.Stepper(DOUBLE, TAYLOR, 0.5)
    state = stepper.start(0.0, *start)
    later = stepper.advance(stepper.advance(state, 3), 3)
    np.testing.assert_allclose(stepper.read(later)[1], coarse.q[-1], rtol=0, atol=2e-14)
    np.testing.assert_array_equal(stepper.read(state)[1], start[0])


# ── against Gauss, which shares nothing with it but the trace ─────────────────────────────────────
def driven(t, q, v, p):
    x, a = q
    bob = jnp.stack([v[0] + p.l * v[1] * jnp.cos(a), p.l * v[1] * jnp.sin(a)])
    return (
        1.5 * v[0] ** 2
        + 0.5 * p.m * jnp.dot(bob, bob)
        + p.m * 9.81 * p.l * jnp.cos(a)
        + 1.7 * x * jnp.sin(2.5 * t)
        - x**4
    )


def relativistic(t, q, v, p):
    return -(p.c**2) * jnp.sqrt(1 - (v[0] ** 2 + v[1] ** 2) / p.c**2) + p.k / jnp.sqrt(q[0] ** 2 + q[1] ** 2)


def mixed(t, q, v, p):
    """Functions of many kinds, a choice that is never made, and a product that is long when multiplied out."""
    long = (1 + q[0] ** 2 + q[1] ** 2 + jnp.cos(q[0] * q[1])) ** 8
    well = jnp.exp(-(q[0] ** 2)) * jnp.tanh(q[1]) + jnp.log(long) / 8 + jnp.where(q[0] < 9.0, jnp.cosh(q[1] / 2), 0.0)
    return 0.5 * p.m * (v[0] ** 2 + (2 + jnp.sin(q[0])) * v[1] ** 2) - well - jnp.abs(q[1] + 5.0)


CASES = {
    "driven": (driven, {"l": 1.2, "m": 0.7}, ([0.1, 1.0], [0.0, 0.5])),
    "relativistic": (relativistic, {"c": 3.0, "k": 1.0}, ([1.0, 0.0], [0.0, 1.1])),
    "mixed": (mixed, {"m": 1.3}, ([0.3, 0.2], [0.4, -0.6])),
}


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_gauss(case: str) -> None:
    lagrangian, parameters, start = CASES[case]
    system = hl.System.from_lagrangian(lagrangian, ("x", "y"), parameters)
    ours = hl.simulate(system, *start, 2.0, dt=0.5, method=TAYLOR)
    other = hl.simulate(system, *start, 2.0, dt=0.01, save_every=50, method=hl.Gauss(3))
    np.testing.assert_allclose(ours.q, other.q, rtol=0, atol=5e-11)


def test_forces_and_positions() -> None:
    """A damped oscillator from positions, against its formula."""
    system = hl.System.from_positions(
        lambda t, q, p: q[None, :], [2.0], lambda t, q, p: 0.5 * p.k * q[0] ** 2, ("x",), {"k": 5.0, "c": 0.8}
    ).forced(lambda t, q, v, p: -p.c * v)
    run = hl.simulate(system, [1.0], [0.0], 4.0, dt=1.0, method=TAYLOR)
    rate, turn = 0.8 / 4, np.sqrt(5.0 / 2 - 0.04)
    known = np.exp(-rate * run.t) * (np.cos(turn * run.t) + rate / turn * np.sin(turn * run.t))
    np.testing.assert_allclose(run.q[:, 0], known, rtol=0, atol=1e-15)


def test_other_numbers_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters and literals are heyoka's parameters."""

    def oscillator(stiffness, **parameters):
        return hl.System.from_lagrangian(
            lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 - 0.5 * stiffness * q[0] ** 2, ("x",), parameters
        )

    hl.simulate(oscillator(3.3, m=1.1), [1.0], [0.0], 1.0, dt=1.0, method=TAYLOR)
    made: list[object] = []
    plain = heyoka.taylor_adaptive
    monkeypatch.setattr(heyoka, "taylor_adaptive", lambda *a, **k: made.append(a) or plain(*a, **k))
    for stiffness, mass in ((3.3, 2.2), (7.9, 1.1), (0.77, 0.33)):
        run = hl.simulate(oscillator(stiffness, m=mass), [1.0], [0.0], 1.0, dt=1.0, method=TAYLOR)
        np.testing.assert_allclose(run.q[-1, 0], np.cos(np.sqrt(stiffness / mass)), rtol=0, atol=1e-15)
    assert made == []
    hl.simulate(oscillator(0.77, m=0.33), [1.0], [0.0], 1.0, dt=1.0, method=hl.Taylor(tol=1e-10))
    assert len(made) == 1


@pytest.mark.parametrize(("links", "most"), [(2, 14), (3, 34), (4, 64)])
def test_a_dense_lagrangian_costs_what_hand_written_equations_cost(links: int, most: float) -> None:
    """Products of series: hand-written equations with LDLᵀ have 14, 35 and 68 (sine and cosine counted as two)."""
    system = classics.multi_pendulum((1.0, 2.0, 0.5, 1.5)[:links], (1.0, 0.7, 1.1, 0.9)[:links], 9.81)
    motion, _ = motion_of(replace(system, definite=True))
    assert taylor.cost(motion.accelerations) <= most


def test_tolerance_order_and_label() -> None:
    loose = hl.Taylor(tol=1e-6)
    assert (TAYLOR.order, loose.order) == (20, 8)
    assert (TAYLOR.label, loose.label) == ("Taylor()", "Taylor(tol=1e-06)")
    run = hl.simulate(DOUBLE, [1.0, 1.0], [0.0, 0.0], 2.0, dt=2.0, method=loose)
    exact = hl.simulate(DOUBLE, [1.0, 1.0], [0.0, 0.0], 2.0, dt=2.0, method=TAYLOR)
    assert 1e-13 < np.max(np.abs(run.q[-1] - exact.q[-1])) < 1e-4


# ── what it refuses, and how it fails ─────────────────────────────────────────────────────────────
def test_a_collision_ends_the_run_with_its_good_part() -> None:
    """A fall from rest at distance 1 ends at t = π/(2√2) = 1.1107."""
    with pytest.raises(hl.SimulationError, match="infinite or not a number") as caught:
        hl.simulate(classics.kepler(1.0, 1.0), [1.0, 0.0], [0.0, 0.0], 2.0, dt=0.1, method=TAYLOR)
    run = caught.value.run
    np.testing.assert_allclose(run.t, np.arange(12) / 10, atol=1e-15)
    assert np.isfinite(run.q).all()
    assert run.result.name == "not_finite"


def test_refusals_say_what_to_do() -> None:
    def go(method=TAYLOR, system=DOUBLE, **options):
        n = system.space.point_dim
        return hl.simulate(system, jnp.ones(n) / np.sqrt(n), jnp.zeros(n), 1.0, dt=0.5, method=method, **options)

    with pytest.raises(ValueError, match=r"Use hl.Gauss\(3\) there"):
        jax.grad(lambda g: go(system=DOUBLE.with_parameters(g=g)).q[-1, 0])(9.81)
    with pytest.raises(ValueError, match="leave out engine="):
        go(engine="xla")
    with pytest.raises(ValueError, match="between 0 and 1"):
        hl.Taylor(tol=2.0)
    ball = hl.System.from_lagrangian(lambda t, q, v: jnp.dot(v, v), space=hl.spaces.Sphere(2))
    with pytest.raises(ValueError, match="works in coordinates"):
        go(system=ball)
    saddle = hl.System.from_lagrangian(lambda t, q, v: v[0] ** 2 - v[1] ** 2, ("x", "y"))
    with (
        pytest.warns(UserWarning, match="negative kinetic energy"),
        pytest.raises(ValueError, match="not positive for every velocity"),
    ):
        go(system=saddle)
    stuck = hl.System.from_lagrangian(
        lambda t, q, v: v[0] ** 2 - jax.lax.while_loop(lambda x: x > 1, lambda x: x / 2, q[0]), ("x",)
    )
    with pytest.raises(ValueError, match="while_loop"):
        go(system=stuck)


def test_holonomy_does_not_import_heyoka_and_says_how_to_get_it() -> None:
    """Without the package: a sentence; with it: imported by the first Taylor run and not before."""
    code = (
        "import sys\n"
        "sys.modules['heyoka'] = None\n"
        "import holonomy as hl\n"
        "system = hl.System.from_lagrangian(lambda t, q, v: v[0] ** 2, ('x',))\n"
        "method = hl.Taylor()\n"
        "try: hl.simulate(system, [0.0], [1.0], 1.0, dt=1.0, method=method)\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert '[taylor]"; without it, hl.Gauss(3)' in done.stdout
    quiet = "import sys, holonomy as hl; hl.Taylor(), hl.simulate; assert not {'heyoka', 'sympy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", quiet], check=True, cwd=Path(__file__).parent)

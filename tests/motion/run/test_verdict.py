"""Certificates that warn: verdicts, energy drift against the start, errors of dt=None, close encounters."""

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

pendulum = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * v[0] ** 2 + p.g * jnp.cos(q[0]), coordinates={"a": "angle"}, parameters={"g": 9.81}
)
kepler = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) + 1.0 / jnp.sqrt(jnp.dot(q, q)), coordinates=("x", "y")
)


def test_a_good_run_is_called_good():
    for system, start in ((pendulum, ([1.0], [0.0])), (kepler, ([1.0, 0.0], [0.0, 1.0]))):
        run = hl.simulate(system, *start, 5.0, dt=0.02)
        assert run.certificate.verdict == "good"
        assert not run.certificate.reasons
        assert "verdict" in str(run.certificate)


@pytest.mark.parametrize(("dt", "method"), [(0.6, hl.Gauss(3)), (1.0, hl.Gauss(3)), (1.0, hl.RK4()), (2.0, hl.RK4())])
def test_an_absurd_step_is_doubtful(dt, method):
    run = hl.simulate(pendulum, [2.0], [0.0], 60.0, dt=dt, method=method)
    assert run.certificate.verdict == "doubtful"
    assert "Reduce dt" in str(run.certificate)


def test_an_escaped_planet_is_measured_against_its_start():
    """Eccentricity 0.9 with steps too long at perihelion: the drift is of the order of the energy itself."""
    run = hl.simulate(kepler, [0.1, 0.0], [0.0, np.sqrt(19.0)], 50.0, dt=0.1, method=hl.RK4(), throw=False)
    first = abs(run.energy[0])
    kinetic = 0.5 * np.sum(run.v[0] ** 2)
    np.testing.assert_allclose(
        run.certificate.energy_drift_relative, np.max(np.abs(run.energy - run.energy[0])) / max(first, kinetic)
    )
    assert run.certificate.verdict != "good"


def test_rest_at_height_zero_has_a_scale():
    """Energy and kinetic energy begin at zero; the drift is still compared with energies of the motion."""
    run = hl.simulate(pendulum, [np.pi / 2], [0.0], 5.0, dt=0.01)
    assert run.certificate.verdict == "good"
    assert run.certificate.energy_drift_relative < 1e-9


def test_a_fast_driven_motion_with_few_steps_is_doubtful():
    driven = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 - 50.0 * q[0] ** 2 + q[0] * jnp.cos(t), coordinates=("x",)
    )  # ten radians a second
    long = hl.simulate(driven, [1.0], [0.0], 20.0, dt=0.4, throw=False)
    short = hl.simulate(driven, [1.0], [0.0], 20.0, dt=0.02)
    assert (long.certificate.verdict, short.certificate.verdict) == ("doubtful", "good")
    assert "symplectic" not in str(short.certificate)


def test_friction_is_never_conservative():
    block = hl.System.from_positions(lambda t, q: q[None], 1.0, lambda t, q: 9.81 * q[1], ("x", "y")).constrained(
        unilateral=lambda t, q: q[1:], restitution=1.0, friction=0.3
    )
    run = hl.simulate(block, [0.0, 0.0], [1.0, 0.0], 0.5, dt=0.01)
    assert not run.certificate.energy_conserved
    assert "symplectic" not in str(run.certificate)


@pytest.mark.parametrize(
    "lagrangian",
    [
        lambda t, q, v: 0.5 * v[0] ** 2 + 1.0 / (t - 1.0),  # infinite at one instant, without force
        lambda t, q, v: 0.5 * v[0] ** 2 - jnp.where(q[0] > 0.5, jnp.inf, 0.0),
    ],
    ids=["in time", "in space"],
)
def test_an_infinite_energy_is_a_failure(lagrangian):
    system = hl.System.from_lagrangian(lagrangian, coordinates=("x",))
    run = hl.simulate(system, [0.0], [1.0], 2.0, dt=0.125, method=hl.RK4(), throw=False)
    assert run.result.name == "not_finite"
    assert np.all(np.isfinite(run.energy))
    assert run.certificate.verdict == "failed"
    with pytest.raises(hl.SimulationError, match="infinite or not a number"):
        hl.simulate(system, [0.0], [1.0], 2.0, dt=0.125, method=hl.RK4())


def bounced(x, v, t):
    """Free fall towards x = 0 from both sides, parabola by parabola."""
    while True:
        a = -np.sign(x) if x else -np.sign(v)
        times = [r.real for r in np.roots([0.5 * a, v, x]) if abs(r.imag) < 1e-12 and r.real > 1e-9]
        if not times or min(times) > t:
            return x + v * t + 0.5 * a * t * t
        x, v, t = 0.0, v + a * min(times), t - min(times)


LONGER = [pytest.param(*one, marks=pytest.mark.compat) for one in ((0.3, 0.0, 20.0), (1.0, 0.0, 10.0))]


@pytest.mark.parametrize(("x", "v", "end"), [*LONGER, (0.7, 0.3, 8.0)])
def test_a_kink_is_not_said_to_be_exact(x, v, end):
    """L = v²/2 − |x|: the steps see the kink by chance only, and order six is not reached."""
    kink = hl.System.from_lagrangian(lambda t, q, w: 0.5 * w[0] ** 2 - jnp.abs(q[0]), coordinates=("x",))
    run = hl.simulate(kink, [x], [v], end, throw=False)
    true = abs(run.q[-1, 0] - bounced(x, v, end))
    assert run.certificate.step_error > 0.2 * true
    assert run.result.name == "inaccurate"
    assert not run.result.ok


def test_smooth_motions_still_find_their_step():
    run = hl.simulate(pendulum, [1.0], [0.0], 5.0)
    fine = hl.simulate(pendulum, [1.0], [0.0], 5.0, dt=0.001, method=hl.Gauss(4))
    assert run.result.ok
    assert run.certificate.step_error is not None
    assert run.certificate.step_error <= 1e-9
    assert abs(run.q[-1, 0] - fine.q[-1, 0]) < 3e-9


def test_a_close_encounter_is_named():
    """A fall into the centre, straight or almost, that the steps jump over; and one on which a step fails."""
    for aside in (0.0, 1e-3):
        run = hl.simulate(kepler, [1.0, 0.0], [0.0, aside], 2.0, dt=0.001, method=hl.Gauss(3))
        assert run.certificate.verdict == "doubtful"
        assert "close encounter" in str(run.certificate)
    steep = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + 1.0 / q[0] ** 4, coordinates=("x",))
    with pytest.raises(hl.SimulationError, match="close encounter"):
        hl.simulate(steep, [1.0], [0.0], 2.0, dt=0.001, method=hl.Gauss(3))
    with pytest.raises(hl.SimulationError, match="If bodies collide there, the motion has no continuation"):
        hl.simulate(kepler, [1.0, 0.0], [0.0, 0.0], 2.0, dt=0.001)

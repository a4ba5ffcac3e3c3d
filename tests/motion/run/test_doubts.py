"""What makes a run doubtful: each reason that a certificate gives, where it is true; runs that nothing can judge."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

spring = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * jnp.dot(v, v) - 0.5 * p.k * q[0] ** 2 - p.offset,
    coordinates=("x", "y"),
    parameters={"k": 1.0, "offset": 0.0},
)
beside_a_wall = spring.forced(lambda t, q, v, p: -0.1 * v).constrained(
    unilateral=lambda t, q, p: q[1:] + 10.0, restitution=0.5
)
late = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) - 0.5 * (1.0 + 1e4 * jnp.maximum(t - 50.0, 0.0) ** 2) * q[0] ** 2, ("x",)
)
pulsed = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * jnp.dot(v, v) + jnp.where((t > p.begin) & (t < p.begin + 1e-4), 1e4, 0.0) * q[0],
    ("x",),
    parameters={"begin": 0.5155},
)
START = ([1.0, 0.0], [0.0, 0.0])


def reasons(run, word):
    assert run.certificate.verdict == "doubtful"
    assert word in " ".join(run.certificate.reasons)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(("system", "dt"), [(spring, 0.9), (beside_a_wall, 2.0)])
def test_lost_motion_is_seen_whatever_else_is_in_the_energy(system, dt, unit):
    """RK4 damps, or beyond its limit of stability drives, an oscillation; a constant in V is 6e7 times its energy."""
    system = system.with_parameters(offset=9.81 * 6.4e6 * unit**2)
    run = hl.simulate(system, [unit, 0.0], [0.0, 0.0], 300.0, dt=dt, method=hl.RK4(), throw=False)
    reasons(run, "the state is off by up to")
    fine = hl.simulate(system, [unit, 0.0], [0.0, 0.0], 30.0, dt=0.02, method=hl.RK4())
    assert fine.certificate.verdict == "good"


@pytest.mark.parametrize("method", [hl.Radau(2), hl.Gauss(1)], ids=str)
def test_stiffness_that_comes_late_is_seen(method):
    run = hl.simulate(late, [1.0], [0.0], 60.0, dt=0.02, method=method)
    reasons(run, "the state is off by up to")
    assert 49.0 < float(run.certificate.reasons[0].split("t = ")[1].split()[0]) < 60.0


def test_a_force_or_a_wall_between_the_ends_of_a_step_is_seen():
    for begin, word in ((0.5155, "a force acts"), (5.0, None)):
        run = hl.simulate(pulsed.with_parameters(begin=begin), [0.0], [1.0], 2.0, dt=0.01, method=hl.Gauss(2))
        assert (word is None) == bool(run.certificate)
        if word is not None:
            reasons(run, word)
    for place, word in ((0.5055, "crossed unseen"), (5.0, None)):
        thin = spring.constrained(unilateral=lambda t, q, p, c=place: jnp.abs(q[1:] - c) - 1e-4)
        run = hl.simulate(thin, [1.0, 0.0], [0.0, 1.0], 2.0, dt=0.01, method=hl.Rattle(4))
        assert (word is None) == bool(run.certificate)


def test_a_part_of_a_run_has_the_error_of_the_whole_until_its_end():
    run = hl.simulate(spring.with_parameters(k=9.0), *START, 60.0, dt=0.2, method=hl.Gauss(1))
    reasons(run[-20:], "the state is off by up to")
    early, whole = run[:5].certificate.error, run.certificate.error
    assert early is not None
    assert whole is not None
    assert early < 0.1 * whole


@pytest.mark.parametrize("batch", [False, True])
def test_files_keep_the_verdict(tmp_path, batch):
    stiff = {"k": [1.0, 40.0, 1.0]}
    if batch:
        run = hl.ensemble(spring, *START, 60.0, stiff, dt=0.05, method=hl.Gauss(1))
    else:
        run = hl.simulate(spring.with_parameters(k=40.0), *START, 60.0, dt=0.05, method=hl.Gauss(1))
    again = hl.load(run.save(tmp_path / "run.nc"))
    for name in ("verdict", "reasons", "error", "members"):
        assert getattr(again.certificate, name) == getattr(run.certificate, name)
    assert again.certificate.verdict == "doubtful"
    if batch:
        each = [one.certificate.verdict for one in again if isinstance(one, hl.Run)]
        assert each == ["good", "doubtful", "good"]


def test_nothing_is_good_that_was_not_looked_at():
    run = hl.simulate(spring, *START, 5.0, dt=0.02)
    assert bool(run.certificate)
    for other in (replace(run, system=None), replace(run, provenance=replace(run.provenance, maker="unknown"))):
        assert other.certificate.verdict == "not checked"
        assert not other.certificate
        assert "not known" in str(other.certificate)


def test_times_that_do_not_hold_the_step_are_doubtful():
    assert not hl.simulate(spring, *START, 1e12 + 5.0, t0=1e12, dt=0.02).certificate
    assert hl.simulate(spring, *START, 1e6 + 5.0, t0=1e6, dt=0.02).certificate


def test_energy_that_an_action_takes_is_no_drift():
    event = hl.Event(lambda t, q, v, p: q[0], action=lambda t, q, v, p: (q, 0.5 * v))
    run = hl.simulate(spring, *START, 20.0, dt=0.02, events=event, method=hl.Gauss(2))
    assert run.certificate.verdict == "good"


def test_momenta_and_constraints_count():
    """Rows changed by hand: a momentum that no force changes, a state off its constraint."""
    run = hl.simulate(spring, [1.0, 0.0], [0.0, 1.0], 5.0, dt=0.02)
    changed = np.array(run.momentum)
    changed[100:, 1] *= 1.2
    reasons(replace(run, momentum=changed), "which the system conserves, changed by 0.17 times its size")
    held = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - q[1], ("x", "y")).constrained(
        holonomic=lambda t, q: jnp.stack([jnp.dot(q, q) - 1.0])
    )
    run = hl.simulate(held, [1.0, 0.0], [0.0, 0.0], 5.0, dt=0.02)
    places, violation = np.array(run.q), np.array(run.violation)
    places[150:] *= 1.1
    violation[150:, 0] = 0.21
    reasons(replace(run, q=places, violation=violation), "the constraints are missed by")

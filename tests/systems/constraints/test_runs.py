"""What a run with constraints can do: step halving, states in between, files, steps by hand, no recompiling."""

import jax.numpy as jnp
import numpy as np
from tests.systems.constraints.examples import from_angles, rod_pendulum, skate

import holonomy as hl
from holonomy.trace.native import compiler

START = from_angles([1.2], [0.5])


def test_step_halving_and_states_in_between():
    run = hl.simulate(rod_pendulum, *START, 1.0)
    error = run.certificate.step_error
    assert error is not None
    assert error < 1e-9
    q, v = run(0.4321)
    np.testing.assert_allclose([q @ q, q @ v], [1.0, 0.0], atol=1e-14)
    fine = hl.simulate(rod_pendulum, *START, 1.0, dt=1e-3, method=hl.Rattle(6), save_at=[0.4321])
    np.testing.assert_allclose(q, fine.q[-1], atol=1e-8)


def test_multipliers_and_violations_are_saved(tmp_path):
    run = hl.simulate(rod_pendulum, *START, 0.2, dt=0.01)
    loaded = hl.load(run.save(tmp_path / "rod.nc"))
    np.testing.assert_array_equal(loaded.multipliers, run.multipliers)
    assert loaded.certificate.violation == run.certificate.violation
    assert run.to_dataset()["multipliers"].shape == (21, 1)


def test_stepper_steps_as_simulate_does_and_back():
    stepper = hl.Stepper(skate, dt=0.01)
    first = stepper.start(0.0, np.zeros(3), np.array([0.5, 0.0, 1.0]))
    t, q, v, _ = stepper.read(stepper.advance(first, 20))
    run = hl.simulate(skate, np.zeros(3), [0.5, 0.0, 1.0], 0.2, dt=0.01)
    np.testing.assert_allclose((t, *q, *v), (0.2, *run.q[-1], *run.v[-1]), atol=1e-15)


def test_engines_agree():
    for system, start, method in (
        (rod_pendulum, START, hl.Rattle(4)),
        (rod_pendulum, START, hl.Radau(3)),
        (skate, (np.zeros(3), np.array([0.5, 0.0, 1.0])), hl.Gauss(2)),
    ):
        runs = [hl.simulate(system, *start, 0.5, dt=0.01, method=method, engine=e) for e in ("native", "xla")]
        np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-13)
        np.testing.assert_allclose(runs[0].multipliers, runs[1].multipliers, atol=1e-10)


def test_other_numbers_compile_nothing():
    def make(length, g):
        free = hl.System.from_positions(lambda t, q: q[None], 1.0, lambda t, q: g * q[1], ("x", "y"))
        return free.constrained(holonomic=lambda t, q: 0.37 * (jnp.dot(q, q) - length**2))

    hl.simulate(make(1.1, 9.81), 1.1 * START[0], START[1], 0.1, dt=0.01)
    before = compiler.compilations()
    run = hl.simulate(make(0.7, 1.62), 0.7 * START[0], START[1], 0.3, dt=0.02)
    assert compiler.compilations() == before
    assert run.certificate.violation < 1e-14

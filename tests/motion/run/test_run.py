"""Runs as objects: certificates, files, pictures, states in between, failures."""

import equinox as eqx
import jax
import numpy as np
import pytest
from tests.motion.examples import double_pendulum, pendulum

import holonomy as hl
from holonomy.motion import save_times


@pytest.fixture(scope="module")
def run():
    return hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0, dt=0.01)


def test_certificate_prints_what_matters(run):
    text = str(run.certificate)
    for word in ("engine", "Gauss(3)", "symplectic", "energy drift", "iterations", "200 of dt = 0.01"):
        assert word in text
    assert run.certificate.energy_drift_relative < 1e-9
    assert "<table>" in run.certificate._repr_html_()


def test_certificate_says_when_energy_is_not_to_be_kept():
    damped = pendulum.forced(lambda t, q, v, p: -0.4 * v)
    end = hl.simulate(damped, [1.0], [0.0], 5.0, dt=0.01)
    assert not end.certificate.energy_conserved
    assert end.energy[-1] < end.energy[0] - 1.0
    assert "not conserved" in str(end.certificate)


def test_states_in_between_have_the_methods_order(run):
    fine = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0, dt=0.001)
    q, v = run(1.2345)
    q_fine, v_fine = fine(1.2345)
    np.testing.assert_allclose(q, q_fine, atol=1e-9)
    np.testing.assert_allclose(v, v_fine, atol=1e-9)
    many, _ = run([0.0, 0.5, 2.0])
    np.testing.assert_array_equal(many, run.q[[0, 50, 200]])
    with pytest.raises(ValueError, match="from 0 to 2"):
        run(2.5)


def test_saved_times_near_the_grid_are_not_moved_to_it_however_late():
    """After a million steps a time 5e-4 of a step off the grid is that time, and t0 + k dt is on the grid."""
    fall = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - q[0], coordinates=("z",))
    late = np.array([999.9995, 999.9999995, 1000.0])
    run = hl.simulate(fall, [0.0], [1.0], 1000.0, dt=0.001, method=hl.Gauss(1), save_at=late)
    np.testing.assert_allclose(run.v[:, 0], 1.0 - late, rtol=0, atol=1e-10)
    whole = save_times.plan(0.3, 1000.3, 0.001, 1, 0.3 + 0.001 * np.arange(1_000_001))
    assert whole.steps == 1_000_000
    assert not np.any(whole.rests)


def test_saving_does_not_move_the_grid(run):
    sparse = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0, dt=0.01, save_every=7)
    np.testing.assert_array_equal(sparse.q[:-1], run.q[:197:7])
    np.testing.assert_array_equal(sparse.q[-1], run.q[-1])
    chosen = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0, dt=0.01, save_at=[0.005, 0.5, 1.3333])
    np.testing.assert_array_equal(chosen.q[1], run.q[50])
    np.testing.assert_allclose(chosen.q[2], run(1.3333)[0], atol=1e-12)
    odd = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 0.123, dt=0.01)
    assert odd.t[-1] == 0.123
    assert len(odd.t) == 14


def test_file_brings_back_the_run(run, tmp_path):
    path = run.save(tmp_path / "run.nc")
    again = hl.load(path)
    for name in ("t", "q", "v", "energy"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    assert again.result.ok
    assert str(again.certificate) == str(run.certificate)
    np.testing.assert_allclose(again(0.505)[0], run(0.505)[0], atol=1e-6)
    data = run.to_dataset()
    assert data.attrs["parameters"].startswith('{"g": 9.81')
    assert list(data.coordinate.values) == ["theta1", "theta2"]
    assert data.x.shape == (201, 2, 2)
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_files_that_are_no_runs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        hl.load(tmp_path / "missing.nc")
    (tmp_path / "text.nc").write_text("not a run")
    with pytest.raises(ValueError, match="not a run saved by holonomy"):
        hl.load(tmp_path / "text.nc")


def test_step_halving_states_its_error():
    run = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0)
    certificate = run.certificate
    assert certificate.step_error is not None
    assert certificate.step_error <= 1e-9
    exact = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 2.0, dt=0.002, method=hl.Gauss(4))
    assert np.max(np.abs(run.q[-1] - exact.q[-1])) < 1e-9


def test_failure_keeps_the_good_part():
    system = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + q[0] ** 4, coordinates=("x",))
    with pytest.raises(hl.SimulationError, match="stopped at t = 0\\.7") as caught:
        hl.simulate(system, [1.0], [1.0], 5.0, dt=0.01)
    good = caught.value.run
    assert np.all(np.isfinite(good.q))
    assert 0.5 < good.t[-1] < 0.8
    quiet = hl.simulate(system, [1.0], [1.0], 5.0, dt=0.01, method=hl.RK4(), throw=False)
    assert quiet.result.name == "not_finite"
    assert np.all(np.isfinite(quiet.q))


def test_interruption_keeps_the_good_part():
    def stop(fraction):
        if fraction > 0.2:
            raise KeyboardInterrupt

    with pytest.raises(hl.SimulationError, match="interrupted") as caught:
        hl.simulate(pendulum, [1.0], [0.0], 100.0, dt=0.01, progress=stop)
    assert 10 < caught.value.run.t[-1] < 90


def test_stiff_steps_are_solved_by_newton():
    """A step so long that the fixed point diverges still has a solution, and Newton's iteration finds it."""
    import jax.numpy as jnp

    system = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * v[0] ** 2 - 0.5 * p.k * q[0] ** 2 - 0.1 * jnp.cos(q[0]),
        coordinates=("x",),
        parameters={"k": 1e6},
    )
    run = hl.simulate(system, [1.0], [0.0], 1.0, dt=0.05)
    assert run.certificate.energy_drift_relative < 1e-6


@pytest.mark.parametrize("contraction", [0.3, 0.6, 0.9, 0.99])
def test_slow_iterations_are_not_taken_for_converged(contraction):
    """The midpoint rule keeps an oscillator's energy exactly, if its equations are solved to round-off.

    The fixed point contracts by kh²/4 here. An iteration that stopped when it merely became slow left a drift of 7e-11.
    """
    system = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * v[0] ** 2 - 0.5 * p.k * q[0] ** 2, coordinates=("x",), parameters={"k": 1.0}
    )
    run = hl.simulate(system.with_parameters(k=400.0 * contraction), [1.0], [0.0], 10.0, dt=0.1, method=hl.Gauss(1))
    assert run.certificate.energy_drift_relative < 1e-13


def test_stepper_goes_back_exactly():
    stepper = hl.Stepper(double_pendulum, hl.Gauss(2), dt=0.01)
    first = stepper.start(0.0, [1.0, 0.5], [0.0, 0.3])
    later = stepper.advance(first, 40)
    for a, b in zip(stepper.read(stepper.advance(first, 40)), stepper.read(later), strict=True):
        np.testing.assert_array_equal(a, b)
    t, q, _, _ = stepper.read(later)
    reference = hl.simulate(double_pendulum, [1.0, 0.5], [0.0, 0.3], 0.4, dt=0.01, method=hl.Gauss(2))
    assert t == pytest.approx(0.4)
    np.testing.assert_array_equal(q, reference.q[-1])


def test_same_input_same_bits():
    a, b = (hl.simulate(double_pendulum, [2.0, 0.5], [0.0, 0.3], 2.0, dt=0.01) for _ in range(2))
    np.testing.assert_array_equal(a.q, b.q)


@pytest.mark.parametrize("method", [hl.RK4(), hl.Gauss(2), hl.Gauss(3), hl.SymplecticEuler()], ids=lambda m: m.label)
def test_engines_give_the_same_numbers(method):
    native, xla = (
        hl.simulate(double_pendulum, [2.0, 0.5], [0.0, 0.3], 1.0, dt=0.01, method=method, engine=engine)
        for engine in ("native", "xla")
    )
    assert native.certificate.engine.startswith("native")
    assert xla.certificate.engine.startswith("xla")
    np.testing.assert_allclose(native.q, xla.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(native.v, xla.v, rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ["native", "xla"])
@pytest.mark.parametrize("method", [hl.RK4(), hl.Gauss(2)], ids=lambda m: m.label)
def test_single_precision_when_the_start_is_single(method, engine):
    q0, v0 = np.array([1.0, 0.5], np.float32), np.array([0.0, 0.3], np.float32)
    run = hl.simulate(double_pendulum, q0, v0, 2.0, dt=0.01, method=method, engine=engine)
    double = hl.simulate(double_pendulum, q0.astype(float), v0.astype(float), 2.0, dt=0.01, method=method)
    assert run.q.dtype == run.v.dtype == run.energy.dtype == np.float32
    np.testing.assert_allclose(run.q, double.q, rtol=0, atol=1e-4)
    assert np.max(np.abs(run.q - double.q)) > 1e-9, "it must really have computed in single precision"


def test_a_result_is_a_tree_of_any_leaves():
    """JAX, Equinox and users map over runs: what stands in a result's place meanwhile need not be a number."""
    run = hl.simulate(pendulum, [1.0], [0.0], 0.5, dt=0.1)
    names = jax.tree.map(lambda leaf: type(leaf).__name__, run.result)
    assert isinstance(names.code, str)
    moved = eqx.tree_at(lambda r: r.result.t, run, 0.25)
    assert moved.result.t == 0.25
    assert moved.result.ok
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(run.result)[0]]
    assert paths == [".code", ".t", ".steps", ".differentiable"]

"""The pendulum lab against the library's own system, and the reach of a hand."""

import contextlib

import hypothesis
import jax
import numpy as np
import pytest
from hypothesis import strategies as st
from jax import monitoring

import holonomy as hl
from holonomy.models.classics import double_pendulum
from holonomy.studio import wire
from holonomy.studio.labs import all_labs
from holonomy.studio.labs.chain import chain_points, reach
from holonomy.studio.labs.pendulum import PendulumLab
from holonomy.studio.live import prepare

PARAMETERS = {"g": 3.7, "l1": 1.3, "l2": 0.4, "m1": 2.0, "m2": 0.7}
Q, V = np.array([2.1, -0.8]), np.array([1.5, -4.0])


@pytest.fixture(scope="module")
def simulation():
    return prepare(PendulumLab())


def test_what_is_drawn_and_counted_is_what_the_system_says():
    lab, system = PendulumLab(), double_pendulum(**PARAMETERS)
    drawn = lab.position(Q, PARAMETERS)
    assert not drawn[0].any()
    assert system.positions is not None
    np.testing.assert_allclose(drawn[1:], system.positions(0.0, Q, system.parameters), rtol=1e-14)
    kinetic, potential, total = lab.energy(Q, V, float(system.energy(0.0, Q, V)), PARAMETERS)
    np.testing.assert_allclose(kinetic, V @ np.asarray(system.mass_matrix(0.0, Q)) @ V / 2, rtol=1e-13)
    np.testing.assert_allclose(potential, float(system.energy(0.0, Q, 0 * V)), rtol=1e-13)
    assert total == float(system.energy(0.0, Q, V))


def test_the_stepper_takes_the_steps_of_simulate(simulation):
    state = simulation.moment.orbit.stepper.start(0.0, Q, V)
    stepper = simulation.moment.orbit.stepper
    t, q, v, _ = stepper.read(stepper.advance(state, 96))
    run = hl.simulate(stepper.system, Q, V, 0.1, dt=1 / 960, method=hl.Gauss(2))
    assert t == 0.1
    np.testing.assert_array_equal(q, run.q[-1])
    np.testing.assert_array_equal(v, run.v[-1])


def test_steps_compose_bit_for_bit(simulation):
    """What `Orbit` rests on: any way to cut a number of steps into calls gives the same bits."""
    stepper, start = simulation.moment.orbit.stepper, simulation.moment.state
    whole = stepper.read(stepper.advance(start, 700))
    for strides in ((1,) * 10 + (690,), (16,) * 43 + (12,), (350, 350), (699, 1)):
        state = start
        for stride in strides:
            state = stepper.advance(state, stride)
        t, q, v, energy = stepper.read(state)
        assert (t, energy) == (whole[0], whole[3])
        assert q.tobytes() == whole[1].tobytes()
        assert v.tobytes() == whole[2].tobytes()


def test_real_steps_back_and_undo_are_exact(simulation):
    def bits():
        frame = simulation.frame(0)
        return np.concatenate([[frame.time], frame.q, frame.v]).tobytes()

    simulation.apply(wire.Reset(True))
    simulation.advance(1001)
    held = bits()
    simulation.apply(wire.Step(7, False))
    simulation.apply(wire.Step(-7, False))
    assert bits() == held
    simulation.apply(wire.DragBegin(1))
    simulation.apply(wire.DragMove(1.0, 0.5, 0.0))
    simulation.apply(wire.DragEnd(0.0, 0.0, 0.0))
    simulation.advance(100)
    simulation.apply(wire.Undo())
    assert bits() == held


@contextlib.contextmanager
def compilations():
    """Names of what JAX traces and compiles meanwhile."""
    names: list[str] = []

    def listen(event: str, duration_secs: float, **kwargs: str | int) -> None:
        if "compile" in event:
            names.append(event)

    monitoring.register_event_duration_secs_listener(listen)
    yield names
    monitoring.unregister_event_duration_listener(listen)


def test_other_parameters_compile_nothing(simulation):
    with compilations() as control:
        jax.jit(lambda x: x + 0.123)(1.0)
    assert control, "the listener hears nothing, so the rest would prove nothing"
    with compilations() as names:
        simulation.apply(wire.SetParameter("g", 1.234, True))
        simulation.apply(wire.SetParameter("l2", 0.77, True))
        simulation.apply(wire.DragBegin(0))
        simulation.apply(wire.DragMove(0.3, -0.3, 0.0))
        simulation.apply(wire.DragEnd(0.0, 0.0, 0.0))
        simulation.advance(64)
        simulation.frame(0)
    assert names == []


def test_every_lab_is_whole():
    for lab in all_labs():
        view, parameters = lab.view, lab.defaults
        _, q, v = lab.start()
        points = lab.position(q, parameters)
        assert len(q) == len(v) == len(view.coordinates)
        assert len(points) == view.anchors + len(view.bodies)
        assert len(lab.radii(parameters)) == len(view.bodies)
        assert len(lab.energy(q, v, 1.0, parameters)) == len(view.energies)
        assert all(max(rod.start, rod.end) < len(points) for rod in view.rods)
        assert all(p.low <= p.default <= p.high for p in view.parameters)
        assert np.abs(points).max() <= lab.extent(parameters)
        assert (view.frame_seconds / view.dt) % 1 == 0
    assert len({lab.view.name for lab in all_labs()}) == len(all_labs())


# ── Reaching ──────────────────────────────────────────────────────────────────────────────────────

angles = st.lists(st.floats(-10, 10), min_size=1, max_size=6).map(np.array)


@hypothesis.given(angles, st.data())
def test_a_target_within_reach_is_reached_without_whole_turns(start, data):
    lengths = np.array(data.draw(st.lists(st.floats(0.2, 2.0), min_size=len(start), max_size=len(start))))
    bob = data.draw(st.integers(0, len(start) - 1))
    goal = np.array(data.draw(st.lists(st.floats(-10, 10), min_size=len(start), max_size=len(start))))
    target = chain_points(goal, lengths)[bob + 1]
    reached = reach(start, lengths, bob, target)
    before, after = (chain_points(a, lengths)[bob + 1] for a in (start, reached))
    scale = lengths.sum()
    assert np.linalg.norm(after - target) <= np.linalg.norm(before - target) + 1e-9 * scale
    np.testing.assert_array_equal(reached[bob + 1 :], start[bob + 1 :])


def test_a_generic_target_is_met_to_round_off():
    lengths, target = np.array([1.0, 1.0]), np.array([0.3, -1.1])
    np.testing.assert_allclose(chain_points(reach(Q, lengths, 1, target), lengths)[2], target, atol=1e-8)


def test_a_target_out_of_reach_stretches_the_chain_towards_it():
    lengths, target = np.array([1.0, 0.5, 0.25]), np.array([30.0, 40.0])
    end = chain_points(reach(np.array([0.3, -0.2, 0.9]), lengths, 2, target), lengths)[3]
    np.testing.assert_allclose(end, 1.75 * target / 50, atol=1e-3)


def test_a_target_at_the_pivot_gives_finite_angles():
    for lengths in (np.array([1.0, 1.0]), np.array([1.0, 0.5])):
        assert np.isfinite(reach(np.array([0.1, 0.2]), lengths, 1, np.zeros(2))).all()

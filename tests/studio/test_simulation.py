"""Commands and what they do to the motion: exact steps back, exact undo, drags at rest."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from holonomy.motion import SimulationError
from holonomy.motion.result import Code, Result
from holonomy.studio import wire
from holonomy.studio.simulation import MOST_UNDOS, Refusal, Simulation

FRAME = 16  # steps in a picture


@pytest.fixture
def simulation(lab) -> Simulation:
    return Simulation(lab)


def bits(simulation: Simulation) -> bytes:
    frame = simulation.frame(0)
    return np.concatenate([[frame.time], frame.q, frame.v]).tobytes()


def test_play_and_pause(simulation):
    assert not simulation.playing
    simulation.apply(wire.Play())
    assert simulation.playing
    assert simulation.controls().undo == "play"
    simulation.apply(wire.Play())
    simulation.apply(wire.Undo())
    assert simulation.controls().undo is None, "a second play while playing is no action"
    simulation.apply(wire.Play())
    simulation.apply(wire.Pause())
    assert not simulation.playing


def test_steps_back_return_through_the_exact_states_of_the_steps_forward(simulation):
    past = [bits(simulation)]
    for _ in range(25):
        simulation.apply(wire.Step(1, False))
        past.append(bits(simulation))
    assert len(set(past)) == len(past)
    for was in past[-2::-1]:
        simulation.apply(wire.Step(-1, False))
        assert bits(simulation) == was
    with pytest.raises(Refusal, match="starts here"):
        simulation.apply(wire.Step(-1, False))
    simulation.apply(wire.Step(25, False))
    assert bits(simulation) == past[-1]


def test_steps_land_on_pictures_after_a_motion_of_any_length(simulation):
    simulation.advance(1237)
    simulation.apply(wire.Step(-600, False))
    assert simulation.moment.index == 0
    simulation.advance(7)
    simulation.apply(wire.Step(2, False))
    assert simulation.moment.index == 7 + 2 * FRAME
    assert not simulation.playing


def test_undo_and_redo_restore_exactly_with_time_and_parameters(simulation):
    history = [(bits(simulation), simulation.controls().parameters)]
    simulation.apply(wire.Play())
    simulation.advance(333)
    for command in (
        wire.SetParameter("g", 3.7, True),
        wire.SetParameter("l2", 0.5, True),
        wire.Step(3, False),
        wire.Reset(False),
        wire.Reset(True),
    ):
        history.append((bits(simulation), simulation.controls().parameters))
        simulation.apply(command)
    last = (bits(simulation), simulation.controls().parameters)
    names = []
    for was in reversed(history):
        names.append(simulation.controls().undo)
        simulation.apply(wire.Undo())
        assert (bits(simulation), simulation.controls().parameters) == was
    assert names == ["reset", "reset", "step", "Lower length", "Gravity", "play"]
    for will_be in [*history[1:], last]:
        simulation.apply(wire.Redo())
        assert (bits(simulation), simulation.controls().parameters) == will_be
    with pytest.raises(Refusal, match="nothing to redo"):
        simulation.apply(wire.Redo())


def test_motion_goes_on_from_an_undone_moment_as_it_did_before(simulation):
    simulation.advance(100)
    simulation.apply(wire.SetParameter("g", 1.0, True))
    simulation.apply(wire.Undo())
    simulation.advance(50)
    gone_on = bits(simulation)
    simulation.apply(wire.Reset(False))
    simulation.advance(150)
    assert bits(simulation) == gone_on


def test_a_new_action_forgets_what_could_be_redone(simulation):
    simulation.apply(wire.SetParameter("g", 1.0, True))
    simulation.apply(wire.Undo())
    assert simulation.controls().redo == "Gravity"
    simulation.apply(wire.Step(1, False))
    assert simulation.controls().redo is None


def test_undo_stops_time(simulation):
    simulation.apply(wire.Play())
    simulation.apply(wire.Undo())
    assert not simulation.playing


def test_the_undo_list_is_bounded(simulation):
    for _ in range(MOST_UNDOS + 5):
        simulation.apply(wire.Step(1, False))
    for _ in range(MOST_UNDOS):
        simulation.apply(wire.Undo())
    assert simulation.moment.index == 5 * FRAME
    with pytest.raises(Refusal, match="nothing to undo"):
        simulation.apply(wire.Undo())


def test_a_drag_moves_the_bob_at_rest_and_is_one_action(simulation):
    simulation.apply(wire.Play())
    simulation.advance(200)
    before, time = bits(simulation), simulation.frame(0).time
    simulation.apply(wire.DragBegin(1))
    for x in (0.5, 0.6, 0.7):
        simulation.apply(wire.DragMove(x, -1.2, 0.0))
    frame = simulation.frame(0)
    np.testing.assert_allclose(frame.position[2], [0.7, -1.2], atol=1e-8)
    assert not frame.v.any()
    assert frame.time == time
    assert frame.flags & wire.FrameFlag.HELD
    simulation.apply(wire.DragEnd(0.0, 0.0, 0.0))
    assert simulation.playing, "the motion goes on from where the bob was let go"
    assert simulation.controls().undo == "drag of lower bob"
    simulation.apply(wire.Undo())
    assert bits(simulation) == before


def test_two_drags_are_two_actions_and_a_touch_is_none(simulation):
    for x in (0.5, 0.7):
        simulation.apply(wire.DragBegin(0))
        simulation.apply(wire.DragMove(x, -0.5, 0.0))
        simulation.apply(wire.DragEnd(0.0, 0.0, 0.0))
    simulation.apply(wire.DragBegin(0))
    simulation.apply(wire.DragEnd(0.0, 0.0, 0.0))
    simulation.apply(wire.Undo())
    simulation.apply(wire.Undo())
    assert simulation.controls().undo is None


def test_drags_of_nothing_are_refused(simulation):
    with pytest.raises(Refusal, match="No body is held"):
        simulation.apply(wire.DragMove(0.0, 0.0, 0.0))
    with pytest.raises(Refusal, match="no body 3"):
        simulation.apply(wire.DragBegin(2))


def test_a_moving_slider_is_one_action(simulation):
    for value, settled in ((1.0, False), (2.0, False), (3.0, True), (4.0, True)):
        simulation.apply(wire.SetParameter("g", value, settled))
    simulation.apply(wire.Undo())
    assert simulation.controls().parameters["g"] == 3.0
    simulation.apply(wire.Undo())
    assert simulation.controls().parameters["g"] == 9.81
    assert simulation.controls().undo is None


def test_a_held_key_is_one_action(simulation):
    for repeat in (False, True, True, True):
        simulation.apply(wire.Step(1, repeat))
    simulation.apply(wire.Undo())
    assert simulation.moment.index == 0
    assert simulation.controls().undo is None


@pytest.mark.parametrize("name, value, sentence", [("g", -1.0, "between 0 and 30"), ("q", 1.0, "no parameter 'q'")])
def test_parameters_keep_to_their_intervals(simulation, name, value, sentence):
    before = simulation.controls()
    with pytest.raises(Refusal, match=sentence):
        simulation.apply(wire.SetParameter(name, value, True))
    assert simulation.controls() == before


def test_setting_the_same_value_is_no_action(simulation):
    simulation.apply(wire.SetParameter("g", 9.81, True))
    assert simulation.controls().undo is None


def test_parameters_keep_position_and_velocity_and_change_the_motion(simulation):
    simulation.advance(300)
    before = bits(simulation)
    simulation.apply(wire.SetParameter("g", 2.0, True))
    assert bits(simulation) == before
    assert simulation.frame(0).drift == 0.0
    simulation.advance(FRAME)
    slow = simulation.frame(0).v
    simulation.apply(wire.Undo())
    simulation.advance(FRAME)
    assert np.abs(simulation.frame(0).v - slow).max() > 0.01


def test_energies_of_a_frame_add_up_and_drift_is_counted_from_the_last_change(simulation):
    simulation.advance(500)
    frame = simulation.frame(0)
    kinetic, potential, total = frame.energy
    assert kinetic + potential == pytest.approx(total, abs=1e-12)
    assert kinetic > 0
    assert 0 < abs(frame.drift) < 1e-6


def test_samples_come_evenly_once_and_break_where_the_motion_was_changed(simulation):
    assert simulation.frame(0).sample.shape == (1, 1 + 7 + 2)
    simulation.advance(5 * FRAME)
    sample = simulation.frame(0).sample
    np.testing.assert_allclose(np.diff(sample[:, 0]), 1 / 60, rtol=1e-12)
    assert len(sample) == 5
    frame = simulation.frame(0)
    assert len(frame.sample) == 0
    np.testing.assert_array_equal(sample[-1], [frame.time, *frame.channel, *frame.position[2]])
    simulation.apply(wire.SetParameter("g", 2.0, True))
    gap, after = simulation.frame(0).sample
    assert np.isnan(gap).all()
    assert np.isfinite(after).all()


def test_a_motion_that_fails_stops_at_its_last_good_state(simulation, lab, monkeypatch):
    def broken(state, steps):
        raise SimulationError(cast(Any, SimpleNamespace(result=Result(Code.not_finite, 1.5, 1440))))

    simulation.apply(wire.Play())
    simulation.advance(FRAME)
    good = bits(simulation)
    monkeypatch.setattr(lab.steppers[-1], "advance", broken)
    with pytest.raises(Refusal, match=r"not a number\. It stopped at t = 1\.5"):
        simulation.advance(FRAME)
    assert not simulation.playing
    with pytest.raises(Refusal):
        simulation.apply(wire.Step(1, False))
    assert bits(simulation) == good
    assert simulation.controls().undo == "play"


def test_speed_is_kept_for_the_clock(simulation):
    simulation.apply(wire.SetSpeed(0.25))
    assert simulation.controls().speed == 0.25

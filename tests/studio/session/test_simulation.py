"""Commands and what they do to the motion: exact steps back, exact undo, drags at rest."""

import contextlib
import json

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from tests.studio.conftest import FakeKernel

from holonomy.studio.labs.settings import Refusal
from holonomy.studio.session.actions import MOST_UNDOS
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

FRAME = 16  # steps in a picture
DT = 1 / 960


def bits(simulation: Simulation) -> bytes:
    frame = simulation.frame(0)
    return np.concatenate([[frame.time], frame.q, frame.v]).tobytes()


def test_play_and_pause(simulation):
    assert not simulation.playing
    simulation.apply(messages.Play())
    assert simulation.playing
    assert simulation.controls().undo == "play"
    simulation.apply(messages.Play())
    simulation.apply(messages.Undo())
    assert simulation.controls().undo is None, "a second play while playing is no action"
    simulation.apply(messages.Play())
    simulation.apply(messages.Pause())
    assert not simulation.playing


def test_steps_back_return_through_the_exact_states_of_the_steps_forward(simulation):
    past = [bits(simulation)]
    for _ in range(25):
        simulation.apply(messages.Step(1, False))
        past.append(bits(simulation))
    assert len(set(past)) == len(past)
    for was in past[-2::-1]:
        simulation.apply(messages.Step(-1, False))
        assert bits(simulation) == was
    with pytest.raises(Refusal, match="starts here"):
        simulation.apply(messages.Step(-1, False))
    simulation.apply(messages.Step(25, False))
    assert bits(simulation) == past[-1]


def test_steps_land_on_pictures_after_a_motion_of_any_length(simulation):
    simulation.advance(1237)
    simulation.apply(messages.Step(-600, False))
    assert simulation.moment.index == 0
    simulation.advance(7)
    simulation.apply(messages.Step(2, False))
    assert simulation.moment.index == 7 + 2 * FRAME
    assert not simulation.playing


def test_undo_and_redo_restore_exactly_with_time_and_parameters(simulation):
    history = [(bits(simulation), simulation.controls().parameters)]
    simulation.apply(messages.Play())
    simulation.advance(333)
    for command in (
        messages.SetParameter("gravity", 3.7, True),
        messages.SetParameter("length2", 0.5, True),
        messages.Step(3, False),
        messages.Reset(False),
        messages.Reset(True),
    ):
        history.append((bits(simulation), simulation.controls().parameters))
        simulation.apply(command)
    last = (bits(simulation), simulation.controls().parameters)
    names = []
    for was in reversed(history):
        names.append(simulation.controls().undo)
        simulation.apply(messages.Undo())
        assert (bits(simulation), simulation.controls().parameters) == was
    assert names == ["reset", "reset", "step", "Length 2", "Gravity", "play"]
    for will_be in [*history[1:], last]:
        simulation.apply(messages.Redo())
        assert (bits(simulation), simulation.controls().parameters) == will_be
    with pytest.raises(Refusal, match="nothing to redo"):
        simulation.apply(messages.Redo())


def test_a_layout_is_undone_without_the_motion_and_kept_by_presets_and_the_past(simulation):
    def shown():
        return simulation.controls().texts.get("page", "")

    simulation.advance(100)
    simulation.apply(messages.SetParameter("gravity", 1.0, True))
    simulation.advance(40)
    simulation.apply(messages.SetText("page", "[1]", True))
    simulation.apply(messages.Step(-10, False))
    assert shown() == "[1]", "the segment before the change has it too"
    simulation.apply(messages.Undo())
    simulation.advance(100)
    there = bits(simulation)
    simulation.apply(messages.Undo())
    assert (shown(), bits(simulation)) == ("", there)
    simulation.advance(20)
    there = bits(simulation)
    simulation.apply(messages.Redo())
    assert (shown(), bits(simulation)) == ("[1]", there)
    simulation.apply(messages.Act("preset:moon"))
    assert (shown(), simulation.controls().parameters["gravity"]) == ("[1]", 1.62)
    simulation.apply(messages.Reset(True))
    assert shown() == ""


def test_motion_goes_on_from_an_undone_moment_as_it_did_before(simulation):
    simulation.advance(100)
    simulation.apply(messages.SetParameter("gravity", 1.0, True))
    simulation.apply(messages.Undo())
    simulation.advance(50)
    gone_on = bits(simulation)
    simulation.apply(messages.Reset(False))
    simulation.advance(150)
    assert bits(simulation) == gone_on


def test_a_new_action_forgets_what_could_be_redone(simulation):
    simulation.apply(messages.SetParameter("gravity", 1.0, True))
    simulation.apply(messages.Undo())
    assert simulation.controls().redo == "Gravity"
    simulation.apply(messages.Step(1, False))
    assert simulation.controls().redo is None


def test_undo_stops_time_only_where_it_takes_back_play_and_never_starts_it(simulation):
    simulation.apply(messages.Play())
    simulation.apply(messages.SetParameter("gravity", 3.0, True))
    simulation.apply(messages.Undo())
    assert simulation.playing
    simulation.apply(messages.Undo())
    assert not simulation.playing
    simulation.apply(messages.Redo())
    assert not simulation.playing


def test_the_undo_list_is_bounded(simulation):
    for _ in range(MOST_UNDOS + 5):
        simulation.apply(messages.Step(1, False))
    for _ in range(MOST_UNDOS):
        simulation.apply(messages.Undo())
    assert simulation.moment.index == 5 * FRAME
    with pytest.raises(Refusal, match="nothing to undo"):
        simulation.apply(messages.Undo())


def test_a_drag_moves_the_bob_at_rest_and_is_one_action(simulation):
    simulation.apply(messages.Play())
    simulation.advance(200)
    before, time = bits(simulation), simulation.frame(0).time
    simulation.apply(messages.DragBegin(1))
    for x in (0.5, 0.6, 0.7):
        simulation.apply(messages.DragMove(x, -1.2, 0.0))
    frame = simulation.frame(0)
    np.testing.assert_allclose(frame.position[2], [0.7, -1.2], atol=1e-8)
    assert not frame.v.any()
    assert frame.time == time
    assert frame.flags & messages.FrameFlag.HELD
    simulation.apply(messages.DragEnd(0.0, 0.0, 0.0))
    assert simulation.playing, "the motion goes on from where the bob was let go"
    assert simulation.controls().undo == "drag of bob 2"
    simulation.apply(messages.Undo())
    assert bits(simulation) == before


def test_two_drags_are_two_actions_and_a_touch_is_none(simulation):
    for x in (0.5, 0.7):
        simulation.apply(messages.DragBegin(0))
        simulation.apply(messages.DragMove(x, -0.5, 0.0))
        simulation.apply(messages.DragEnd(0.0, 0.0, 0.0))
    simulation.apply(messages.DragBegin(0))
    simulation.apply(messages.DragEnd(0.0, 0.0, 0.0))
    simulation.apply(messages.Undo())
    simulation.apply(messages.Undo())
    assert simulation.controls().undo is None


def test_drags_of_nothing_are_refused(simulation):
    with pytest.raises(Refusal, match="No body is held"):
        simulation.apply(messages.DragMove(0.0, 0.0, 0.0))
    with pytest.raises(Refusal, match="no body 3"):
        simulation.apply(messages.DragBegin(2))


def test_a_moving_slider_is_one_action(simulation):
    for value, settled in ((1.0, False), (2.0, False), (3.0, True), (4.0, True)):
        simulation.apply(messages.SetParameter("gravity", value, settled))
    simulation.apply(messages.Undo())
    assert simulation.controls().parameters["gravity"] == 3.0
    simulation.apply(messages.Undo())
    assert simulation.controls().parameters["gravity"] == 9.81
    assert simulation.controls().undo is None


def test_a_held_key_is_one_action(simulation):
    for repeat in (False, True, True, True):
        simulation.apply(messages.Step(1, repeat))
    simulation.apply(messages.Undo())
    assert simulation.moment.index == 0
    assert simulation.controls().undo is None


@pytest.mark.parametrize(
    "name, value, sentence",
    [("gravity", -1e5, "between -10000 and 10000"), ("q", 1.0, "no parameter 'q'"), ("links", 2.5, "whole")],
)
def test_parameters_keep_to_their_intervals(simulation, name, value, sentence):
    before = simulation.controls()
    with pytest.raises(Refusal, match=sentence):
        simulation.apply(messages.SetParameter(name, value, True))
    assert simulation.controls() == before


def test_setting_the_same_value_is_no_action(simulation):
    simulation.apply(messages.SetParameter("gravity", 9.81, True))
    assert simulation.controls().undo is None


def test_parameters_keep_position_and_velocity_and_change_the_motion(simulation):
    simulation.advance(300)
    before = bits(simulation)
    simulation.apply(messages.SetParameter("gravity", 2.0, True))
    assert bits(simulation) == before
    assert simulation.frame(0).drift == 0.0
    simulation.advance(FRAME)
    slow = simulation.frame(0).v
    simulation.apply(messages.Undo())
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
    assert simulation.frame(0).sample.shape == (1, 1 + len(simulation.view.channels) + 2 * 2)
    simulation.advance(5 * FRAME)
    sample = simulation.frame(0).sample
    np.testing.assert_allclose(np.diff(sample[:, 0]), 1 / 60, rtol=1e-12)
    assert len(sample) == 5
    frame = simulation.frame(0)
    assert len(frame.sample) == 0
    np.testing.assert_array_equal(sample[-1], [frame.time, *frame.channel, *frame.position[1:].ravel()])
    simulation.apply(messages.SetParameter("gravity", 2.0, True))
    gap, after = simulation.frame(0).sample
    assert np.isnan(gap).all()
    assert np.isfinite(after).all()


def test_a_motion_that_fails_stops_at_its_last_good_state(simulation):
    simulation.apply(messages.Play())
    simulation.advance(FRAME)
    good = bits(simulation)
    simulation.moment.segment.motion.kernel.broken_at = simulation.reading.t
    with pytest.raises(Refusal, match=r"stopped at t = 1\.5 s.*Undo, reset"):
        simulation.advance(FRAME)
    assert not simulation.playing
    with pytest.raises(Refusal):
        simulation.apply(messages.Step(1, False))
    assert bits(simulation) == good
    assert simulation.controls().undo == "play"


def test_speed_is_kept_for_the_clock_and_can_be_taken_back(simulation):
    simulation.apply(messages.SetSpeed(0.25))
    assert simulation.controls().speed == 0.25
    assert simulation.controls().undo == "speed"
    simulation.apply(messages.Undo())
    assert simulation.controls().speed == 1.0
    with pytest.raises(Refusal, match=r"between 0\.1 and 5"):
        simulation.apply(messages.SetSpeed(9.0))


# ── Timeline ──────────────────────────────────────────────────────────────────────────────────────


def test_any_time_seen_can_be_gone_to_exactly_across_changes_by_hand(simulation):
    simulation.advance(50 * FRAME)
    early = bits(simulation)
    simulation.advance(10 * FRAME)
    simulation.apply(messages.SetParameter("gravity", 2.0, True))
    simulation.advance(30 * FRAME)
    last = bits(simulation)
    frame = simulation.frame(0)
    assert (frame.oldest, frame.newest) == (0.0, frame.time)
    simulation.apply(messages.Seek(50 * FRAME * DT, False))
    assert bits(simulation) == early
    assert simulation.controls().parameters["gravity"] == 9.81, "what was then, with the settings of then"
    simulation.apply(messages.Seek(1e6, False))
    assert bits(simulation) == last
    simulation.apply(messages.Seek(-1.0, True))
    assert simulation.frame(0).time == 0.0
    assert simulation.frame(0).newest == frame.newest
    simulation.apply(messages.Undo())
    assert bits(simulation) == last, "one scrub is one action"


@pytest.mark.parametrize(
    "question", [messages.Share(), messages.Export("csv"), messages.AskEquations(), messages.Seen(0)]
)
def test_a_question_of_the_page_in_the_middle_of_a_gesture_does_not_divide_it(simulation, question):
    simulation.advance(20 * FRAME)
    last, gravity = bits(simulation), simulation.controls().parameters["gravity"]
    for time in (0.2, 0.1, 0.0):
        simulation.apply(messages.Seek(time, time == 0.0))
        simulation.apply(question)
    simulation.apply(messages.Undo())
    assert bits(simulation) == last
    for value in (3.0, 2.0, 1.0):
        simulation.apply(messages.SetParameter("gravity", value, value == 1.0))
        simulation.apply(question)
    simulation.apply(messages.Undo())
    assert simulation.controls().parameters["gravity"] == gravity


def test_going_on_from_the_past_leaves_the_other_future_behind(simulation):
    simulation.advance(20 * FRAME)
    simulation.apply(messages.SetParameter("gravity", 2.0, True))
    simulation.advance(20 * FRAME)
    newest = simulation.frame(0).newest
    simulation.apply(messages.Seek(10 * FRAME * DT, True))
    simulation.advance(FRAME)
    assert simulation.frame(0).newest == newest, "still within what was seen"
    simulation.advance(30 * FRAME)
    assert simulation.frame(0).newest == simulation.frame(0).time
    assert simulation.controls().parameters["gravity"] == 9.81


def test_steps_back_lead_into_the_motion_before_a_change(simulation):
    simulation.advance(3 * FRAME)
    at_two = None
    simulation.apply(messages.Step(-1, False))
    at_two = bits(simulation)
    simulation.apply(messages.Step(1, False))
    simulation.apply(messages.SetParameter("gravity", 2.0, True))
    simulation.apply(messages.Step(1, False))
    simulation.apply(messages.Step(-2, False))
    assert bits(simulation) == at_two
    assert simulation.controls().parameters["gravity"] == 9.81


def test_reset_clears_the_history_and_undo_brings_it_back(simulation):
    simulation.advance(20 * FRAME)
    simulation.apply(messages.SetParameter("gravity", 2.0, True))
    simulation.advance(20 * FRAME)
    newest = simulation.frame(0).newest
    simulation.apply(messages.Reset(False))
    assert simulation.frame(0).newest == 0.0
    assert simulation.controls().parameters["gravity"] == 2.0
    simulation.apply(messages.Undo())
    assert simulation.frame(0).newest == newest
    simulation.apply(messages.SetSpeed(3.0))
    simulation.apply(messages.Reset(True))
    assert simulation.controls().parameters["gravity"] == 9.81
    assert simulation.controls().speed == 1.0


# ── Structure ─────────────────────────────────────────────────────────────────────────────────────


def test_more_links_hang_in_line_and_fewer_are_left_out(simulation):
    simulation.advance(77)
    q, v, t = simulation.reading.q, simulation.reading.v, simulation.reading.t
    simulation.apply(messages.SetParameter("length2", 0.5, True))
    simulation.apply(messages.SetParameter("links", 4.0, True))
    assert simulation.revision == 2
    now = simulation.reading
    np.testing.assert_array_equal(now.q, [*q, q[-1], q[-1]])
    np.testing.assert_array_equal(now.v, [*v, 0.0, 0.0])
    assert now.t == t
    assert simulation.controls().parameters["length4"] == 0.5
    assert len(simulation.view.bodies) == 4
    simulation.apply(messages.SetParameter("links", 1.0, True))
    np.testing.assert_array_equal(simulation.reading.q, q[:1])
    assert "length2" not in simulation.controls().parameters
    simulation.apply(messages.Undo())
    simulation.apply(messages.Undo())
    simulation.apply(messages.Undo())
    assert simulation.revision == 5
    assert bits(simulation) == np.concatenate([[t], q, v]).tobytes()


def test_rods_become_springs_and_back_with_the_same_picture(simulation):
    simulation.advance(300)
    before = simulation.reading
    simulation.apply(messages.SetChoice("model", "elastic"))
    springs = simulation.reading
    np.testing.assert_allclose(springs.position, before.position, atol=1e-14)
    np.testing.assert_allclose(springs.energy[[0, 1, 3]], before.energy, atol=1e-12)
    assert abs(springs.strain).max() < 1e-14
    simulation.advance(160)
    assert abs(simulation.reading.strain).max() > 1e-3
    angles, rates = simulation.reading.channel[4:6], simulation.reading.channel[6:8]
    simulation.apply(messages.SetChoice("model", "rigid"))
    np.testing.assert_allclose(simulation.reading.q, angles, atol=1e-14)
    np.testing.assert_allclose(simulation.reading.v, rates, atol=1e-12)
    assert abs(simulation.reading.strain).max() == 0.0


def test_springs_too_are_added_in_line(simulation):
    simulation.apply(messages.SetChoice("model", "elastic"))
    simulation.advance(100)
    before = simulation.reading
    simulation.apply(messages.SetParameter("links", 4.0, True))
    now = simulation.reading
    np.testing.assert_array_equal(now.q[:4], before.q)
    np.testing.assert_allclose(now.channel[5:8], before.channel[5], rtol=1e-12)
    np.testing.assert_allclose(now.strain[2:], 0.0, atol=1e-12)
    np.testing.assert_array_equal(now.v[4:], [*before.v[2:], *before.v[2:]])


def test_a_change_waits_for_its_code_and_undo_takes_it_back(simulation, code_store, lab):
    wanted = lab.structure(lab.completed(lab.opening().with_parameter("links", 5.0)))
    code_store.slow.add(wanted)
    before = bits(simulation)
    simulation.apply(messages.SetParameter("links", 5.0, True))
    assert simulation.wanted == wanted
    assert simulation.controls().phase == "compiling"
    simulation.advance(FRAME)
    assert len(simulation.reading.q) == 2
    simulation.apply(messages.Undo())
    assert simulation.wanted is None
    assert bits(simulation) == before
    simulation.apply(messages.SetParameter("links", 5.0, True))
    code_store.slow.clear()
    simulation.supply(code_store(wanted))
    assert len(simulation.reading.q) == 5
    assert simulation.controls().undo == "Number of links"
    simulation.supply(code_store(wanted))  # a second one changes nothing
    assert simulation.revision == 2


def test_another_motion_shows_its_first_state_until_its_code_is_there(simulation, code_store, lab):
    wanted = lab.structure(lab.completed(lab.opening().with_parameter("links", 5.0)))
    simulation.apply(messages.SetParameter("links", 5.0, True))
    simulation.advance(3 * FRAME)
    document, there = simulation.document(), simulation.reading
    simulation.apply(messages.Reset(True))
    simulation.apply(messages.Play())
    before = bits(simulation)
    code_store.slow.add(wanted)
    simulation.apply(messages.Restore(document))
    shown = simulation.controls()
    assert (shown.phase, shown.parameters["links"], shown.undo, shown.playing) == ("opening", 5.0, "opened link", True)
    frame = simulation.frame(1)
    assert (frame.revision, frame.time) == (simulation.view.revision, there.t)
    np.testing.assert_allclose(frame.position, there.position, atol=1e-12)
    with pytest.raises(Refusal, match="as soon as its equations are compiled"):
        simulation.apply(messages.DragBegin(1))
    simulation.apply(messages.SetText("page", "[]", True))
    simulation.apply(messages.Cancel())
    assert (simulation.still, bits(simulation)) == (False, before)
    assert simulation.frame(2).revision == simulation.revision > frame.revision
    simulation.apply(messages.Restore(document))
    simulation.apply(messages.SetParameter("gravity", 2.0, True))
    code_store.slow.clear()
    simulation.supply(code_store(wanted))
    np.testing.assert_array_equal(simulation.reading.q, there.q)
    assert simulation.moment.settings.parameters["gravity"] == 2.0


def test_optimised_code_takes_over_in_the_same_state_and_the_past_stays_exact(simulation, code_store, lab):
    structure = lab.structure(lab.opening())
    quick = code_store(structure)
    quick.quick = True
    simulation.apply(messages.SetToggle("ghost", True))
    simulation.advance(2 * FRAME)
    before, index = simulation.reading, simulation.moment.number
    simulation.upgrade()
    assert simulation.moment.segment.motion.kernel is quick, "there is nothing better yet"
    code_store.kernels[structure] = better = FakeKernel(structure)
    simulation.upgrade()
    now = simulation.moment.segment.motion
    assert now.kernel is better
    assert (simulation.reading.t, simulation.moment.number) == (before.t, index + 1)
    for name in ("q", "v", "position"):
        np.testing.assert_array_equal(getattr(simulation.reading, name), getattr(before, name))
    simulation.advance(FRAME)
    simulation.apply(messages.Step(-2, False))
    assert simulation.moment.segment.motion.kernel is quick, "what was seen is computed again by the same code"
    assert simulation.controls().undo == "step"


def test_implicit_methods_are_refused_where_they_cannot_keep_up(simulation):
    simulation.apply(messages.SetChoice("method", "gauss2"))
    with pytest.raises(Refusal, match="too slow for 40 links"):
        simulation.apply(messages.SetParameter("links", 40.0, True))
    simulation.apply(messages.SetChoice("method", "rk4"))
    simulation.apply(messages.SetParameter("links", 40.0, True))
    assert len(simulation.reading.q) == 40
    with pytest.raises(Refusal, match="choose Runge–Kutta 4"):
        simulation.apply(messages.SetChoice("method", "gauss3"))
    with pytest.raises(Refusal, match="between 1 and 100"):
        simulation.apply(messages.SetParameter("links", 101.0, True))


def test_choices_switches_and_buttons_that_are_not_there_are_refused(simulation):
    for command, sentence in (
        (messages.SetChoice("method", "magic"), "one of rk4"),
        (messages.SetChoice("engine", "x"), "no choice 'engine'"),
        (messages.SetToggle("sound", True), "no switch 'sound'"),
        (messages.Act("explode"), "no button 'explode'"),
        (messages.Act("ghost"), "no button 'ghost'"),
    ):
        with pytest.raises(Refusal, match=sentence):
            simulation.apply(command)
    assert simulation.controls().undo is None


# ── Ghost ─────────────────────────────────────────────────────────────────────────────────────────


def channel(simulation, name):
    names = [c.name for c in simulation.view.channels]
    return simulation.frame(0).channel[names.index(name)]


def test_a_ghost_starts_beside_and_parts(simulation):
    simulation.apply(messages.SetToggle("ghost", True))
    assert channel(simulation, "divergence") == pytest.approx(1e-3, rel=1e-9)
    assert np.isnan(channel(simulation, "lyapunov"))
    assert len(simulation.frame(0).position) == 5
    assert len(simulation.frame(0).energy) == 6
    simulation.advance(180 * FRAME)
    assert channel(simulation, "divergence") > 5e-3
    assert 0.0 < channel(simulation, "lyapunov") < 10.0
    simulation.apply(messages.Act("ghost"))
    assert channel(simulation, "divergence") == pytest.approx(1e-3, rel=1e-9)
    with pytest.raises(Refusal, match="ghost of bob 1 cannot be held"):
        simulation.apply(messages.DragBegin(2))
    simulation.apply(messages.SetToggle("ghost", False))
    assert len(simulation.frame(0).position) == 3


def test_motion_and_ghost_do_not_depend_on_how_steps_are_cut(lab, code_store):
    def moved(strides):
        simulation = Simulation(lab, code_store)
        simulation.apply(messages.SetToggle("ghost", True))
        for stride in strides:
            simulation.advance(stride)
        return simulation.frame(0).channel.tobytes()

    assert moved([500]) == moved([1, 16, 33, 200, 250]) == moved([7] * 71 + [3])


def test_the_ghost_keeps_its_way_when_gravity_changes_and_starts_again_when_the_offset_does(simulation):
    simulation.apply(messages.SetToggle("ghost", True))
    simulation.advance(60 * FRAME)
    apart = channel(simulation, "divergence")
    simulation.apply(messages.SetParameter("gravity", 5.0, True))
    assert channel(simulation, "divergence") == apart
    simulation.apply(messages.SetParameter("ghost_offset", 1e-6, True))
    assert channel(simulation, "divergence") == pytest.approx(1e-6, rel=1e-6)


# ── Documents ─────────────────────────────────────────────────────────────────────────────────────


def test_a_document_brings_everything_back(simulation, lab, code_store):
    simulation.apply(messages.SetParameter("links", 3.0, True))
    simulation.apply(messages.SetParameter("mass2", 2.5, True))
    simulation.apply(messages.SetChoice("model", "elastic"))
    simulation.apply(messages.SetChoice("method", "euler"))
    simulation.apply(messages.SetToggle("ghost", True))
    simulation.apply(messages.SetSpeed(2.0))
    simulation.advance(100)
    text = simulation.document()
    assert len(text) < messages.LONGEST_DOCUMENT
    other = Simulation(lab, code_store)
    other.apply(messages.Restore(text))
    assert other.document() == text
    assert other.controls().speed == 2.0
    simulation.advance(100)
    other.advance(100)
    np.testing.assert_allclose(other.reading.channel[:-1], simulation.reading.channel[:-1], rtol=1e-12)
    other.apply(messages.Undo())
    assert other.controls().parameters == Simulation(lab, code_store).controls().parameters


def test_the_largest_document_fits_into_a_message(lab, code_store):
    simulation = Simulation(lab, code_store)
    for command in (
        messages.SetChoice("method", "rk4"),
        messages.SetChoice("model", "elastic"),
        messages.SetParameter("links", 100.0, True),
        messages.SetToggle("ghost", True),
        *(messages.SetParameter(f"length{i}", 0.1 + i / 97, True) for i in range(1, 101)),
        *(messages.SetParameter(f"mass{i}", 0.1 + i / 97, True) for i in range(1, 101)),
    ):
        simulation.apply(command)
    simulation.advance(1)
    assert len(simulation.document()) < messages.LONGEST_DOCUMENT


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda d: "nonsense", "not a document"),
        (lambda d: json.dumps({**d, "version": 9}), "another version"),
        (lambda d: json.dumps({**d, "lab": "aquarium"}), "another lab"),
        (lambda d: json.dumps({**d, "q": d["q"][:1]}), "2 coordinates"),
        (lambda d: json.dumps({**d, "v": [0.0, "x"]}), "not a number"),
        (lambda d: json.dumps({**d, "t": None}), "not a number"),
        (lambda d: json.dumps({**d, "speed": 99.0}), "speed"),
        (lambda d: json.dumps({**d, "ghost": [1.0]}), "ghost"),
        (lambda d: json.dumps({**d, "parameters": {**d["parameters"], "links": 1e9}}), "whole number from 1 to 100"),
        (lambda d: json.dumps({**d, "parameters": {**d["parameters"], "gravity": -3e5}}), "between -10000 and 10000"),
        (lambda d: json.dumps({**d, "parameters": {**d["parameters"], "length1": 0.0}}), "between 0.001"),
        (lambda d: json.dumps({**d, "parameters": {**d["parameters"], "mass9": 1.0}}), "does not know"),
        (lambda d: json.dumps({**d, "parameters": [1]}), "no readable parameters"),
        (lambda d: json.dumps({**d, "choices": {"model": "rubber"}}), "one of rigid"),
        (lambda d: json.dumps({**d, "choices": {"method": "magic"}}), "one of rk4"),
        (lambda d: json.dumps({**d, "toggles": {"ghost": 1}}), "wrong type"),
        (lambda d: json.dumps(d).replace("2.0", "1e999", 1), "not a number|not a document"),
    ],
)
def test_documents_from_strangers_are_checked(simulation, change, sentence):
    before = bits(simulation)
    text = change(json.loads(simulation.document()))
    with pytest.raises(Refusal, match=sentence):
        simulation.apply(messages.Restore(text))
    assert bits(simulation) == before
    assert simulation.controls().undo is None


# ── Anything at all ───────────────────────────────────────────────────────────────────────────────

finite = st.floats(-2.0, 2.0)
commands = st.one_of(
    st.builds(messages.Play),
    st.builds(messages.Pause),
    st.builds(messages.Step, st.integers(-5, 3), st.booleans()),
    st.builds(messages.Seek, st.floats(-1.0, 3.0), st.booleans()),
    st.builds(messages.DragBegin, st.integers(0, 5)),
    st.builds(messages.DragMove, finite, finite, st.just(0.0)),
    st.builds(messages.DragEnd, finite, finite, st.just(0.0)),
    st.builds(
        messages.SetParameter, st.sampled_from(["gravity", "length2", "mass1", "ghost_offset"]), finite, st.booleans()
    ),
    st.builds(messages.SetParameter, st.just("links"), st.sampled_from([0.0, 1.0, 2.0, 3.0, 13.0]), st.booleans()),
    st.builds(messages.SetChoice, st.just("model"), st.sampled_from(["rigid", "elastic", ""])),
    st.builds(messages.SetChoice, st.just("method"), st.sampled_from(["rk4", "gauss2", "euler"])),
    st.builds(messages.SetChoice, st.just("step"), st.sampled_from(["960", "240", "60"])),
    st.builds(messages.SetToggle, st.just("ghost"), st.booleans()),
    st.builds(messages.Act, st.sampled_from(["ghost", "nothing"])),
    st.builds(messages.SetSpeed, st.floats(0.01, 10.0)),
    st.builds(messages.Reset, st.booleans()),
    st.builds(messages.Undo),
    st.builds(messages.Redo),
)


def everything(simulation: Simulation) -> tuple[object, ...]:
    controls = simulation.controls()
    return controls.parameters, controls.choices, controls.toggles, controls.speed, simulation.view.channels


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(st.lists(commands, max_size=14))
def test_whatever_is_asked_is_done_or_refused_and_can_be_taken_back(fresh, asked):
    simulation = fresh()
    before = everything(simulation)
    for command in asked:
        with contextlib.suppress(Refusal):
            simulation.apply(command)
        with contextlib.suppress(Refusal):
            simulation.advance(3)
        frame = simulation.frame(1)
        view = simulation.view
        assert frame.revision == view.revision
        assert len(frame.channel) == len(view.channels)
        assert len(frame.position) == view.anchors + len(view.bodies)
        assert len(frame.strain) == len(view.rods)
        assert len(frame.energy) == len(view.energies)
        assert frame.oldest <= frame.time <= frame.newest
        assert messages.unpack(messages.pack(frame)).q.tobytes() == frame.q.tobytes()
    simulation.apply(messages.Pause())
    while simulation.controls().undo is not None:
        simulation.apply(messages.Undo())
    assert everything(simulation) == before

"""The thread of one simulation: what it says from its first moment to its last."""

import queue
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest

from holonomy.studio.session.session_thread import MOST_WAITING, SessionThread
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

PATIENCE = 20.0


class Recorder:
    """An outbox that keeps everything."""

    def __init__(self):
        self.said: queue.Queue = queue.Queue()
        self.unattended = False

    def say(self, notice):
        self.said.put(notice)

    def show(self, frame):
        self.said.put(frame)

    def until(self, condition) -> Any:
        while True:
            thing = self.said.get(timeout=PATIENCE)
            if condition(thing):
                return thing


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def live(lab, services, recorder) -> Iterator[SessionThread]:
    """Not started yet."""
    made = SessionThread(lab, services)
    made.attach(cast(Any, recorder))
    yield made
    made.stop()
    if made.started:
        made.join(PATIENCE)


def frames(condition):
    return lambda thing: isinstance(thing, messages.Frame) and condition(thing)


def controls(condition):
    return lambda thing: isinstance(thing, messages.Controls) and condition(thing)


def test_it_says_what_it_is_then_shows_and_ends_when_told(live, recorder):
    live.start()
    assert recorder.said.get(timeout=PATIENCE).phase == "opening"
    pose = recorder.said.get(timeout=PATIENCE)
    assert recorder.said.get(timeout=PATIENCE).lab.revision == 1
    assert recorder.said.get(timeout=PATIENCE).phase == "ready"
    first = recorder.said.get(timeout=PATIENCE)
    assert first.time == 0.0
    assert first.sample[:, 0].tolist() == [0.0], "curves begin at the beginning"
    assert pose.revision == 0, "the view of the welcome"
    assert np.isnan(pose.energy).all()
    np.testing.assert_allclose(pose.position, first.position, atol=1e-12)
    assert (pose.sample.shape[0], pose.sample.shape[1], pose.strain.size) == (0, first.sample.shape[1], 2)
    live.stop()
    live.join(PATIENCE)
    assert recorder.said.empty(), "time is held, so there is nothing more to show"


def test_a_lab_that_cannot_be_compiled_says_why_and_tries_again_for_the_next_page(live, services, recorder, caplog):
    services.code_store.impossible = "the process that compiles ended."
    live.start()
    failed = recorder.until(controls(lambda c: c.phase == "failed"))
    assert "could not be compiled: the process that compiles ended." in failed.message
    later = Recorder()
    live.attach(cast(Any, later))
    assert later.until(controls(lambda c: c.phase == "failed")).message == failed.message
    assert "could not be compiled" in caplog.text
    assert "Traceback" not in caplog.text
    services.code_store.impossible = ""
    live.attach(cast(Any, later))
    assert later.until(controls(lambda c: c.phase == "ready"))
    assert later.until(frames(lambda f: True)).time == 0.0


def test_a_link_is_shown_and_compiled_instead_of_what_the_lab_opens_with(live, services, recorder, lab):
    store = services.code_store
    settings = lab.completed(lab.opening().with_parameter("links", 5.0).with_toggle("ghost", True))
    other = Simulation(lab, store, settings)
    other.advance(500)
    store.slow.update({lab.structure(settings), lab.structure(lab.opening())})
    live.send(messages.Restore("no document"))
    live.send(messages.Play())
    live.send(messages.Restore(other.document()))
    live.start()
    assert "cannot be read" in recorder.until(lambda thing: isinstance(thing, messages.Refused)).message
    view = recorder.until(lambda thing: isinstance(thing, messages.Lab)).lab
    waiting = recorder.until(controls(lambda c: c.phase == "opening" and c.parameters["links"] == 5.0))
    assert waiting.undo == "opening", "it can be cancelled"
    pose = recorder.until(frames(lambda f: True))
    assert (pose.revision, pose.time) == (view.revision, other.reading.t)
    np.testing.assert_allclose(pose.position, other.reading.position, atol=1e-12)
    assert [structure for structure, _ in store.waiting] == [lab.structure(settings)]
    store.deliver()
    first = recorder.until(frames(lambda f: f.revision > view.revision))
    np.testing.assert_array_equal(first.q, other.reading.q)
    assert first.flags & messages.FrameFlag.PLAYING


def test_a_link_that_is_cancelled_opens_the_lab_as_it_is(live, services, recorder, lab):
    store = services.code_store
    settings = lab.completed(lab.opening().with_parameter("links", 5.0))
    document = Simulation(lab, store, settings).document()
    store.slow.add(lab.structure(settings))
    store.slow.add(lab.structure(lab.opening()))
    live.send(messages.Restore(document))
    live.send(messages.Cancel())
    live.start()
    opened = recorder.until(controls(lambda c: c.phase == "opening" and c.undo is None and c.parameters["links"] == 2))
    assert opened.choices["model"] == "rigid"
    store.deliver()
    assert recorder.until(controls(lambda c: c.phase == "ready")).parameters["links"] == 2.0


def test_commands_that_wait_are_bounded(lab, services):
    live = SessionThread(lab, services)  # not started, so nothing is taken from the line
    assert all(live.send(messages.Pause()) for _ in range(MOST_WAITING))
    assert not live.send(messages.Pause())


def test_only_the_last_place_of_a_pointer_is_computed(live, services, recorder, lab):
    live.send(messages.DragBegin(1))
    for step in range(50):
        live.send(messages.DragMove(0.5 + 0.01 * step, -1.0, 0.0))
    live.send(messages.DragEnd(0.0, 0.0, 0.0))
    live.start()
    moved = recorder.until(frames(lambda f: abs(f.position[2, 0] - 0.99) < 1e-6))
    assert not moved.v.any()
    kernel = services.code_store.kernel(lab, lab.structure(lab.opening()))
    assert kernel.begun == 2, "one for the start, one for the last place"


def test_a_running_motion_follows_the_clock(live, recorder):
    live.start()
    live.send(messages.SetSpeed(5.0))
    live.send(messages.Play())
    frame = recorder.until(frames(lambda f: f.time > 0.3))
    assert frame.flags & messages.FrameFlag.PLAYING
    live.send(messages.Undo())
    recorder.until(frames(lambda f: f.time == 0.0))


def test_the_old_motion_goes_on_while_the_new_structure_is_compiled(live, services, recorder, lab):
    wanted = lab.structure(lab.completed(lab.opening().with_parameter("links", 4.0)))
    services.code_store.slow.add(wanted)
    live.start()
    live.send(messages.Play())
    live.send(messages.SetParameter("links", 4.0, True))
    recorder.until(controls(lambda c: c.phase == "compiling" and c.parameters["links"] == 4.0))
    before = recorder.until(frames(lambda f: f.time > 0.1))
    assert len(before.q) == 2
    services.code_store.deliver()
    view = recorder.until(lambda thing: isinstance(thing, messages.Lab)).lab
    assert len(view.bodies) == 4
    after = recorder.until(frames(lambda f: len(f.q) == 4))
    assert after.revision == view.revision
    assert after.time >= before.time


def test_a_structure_that_cannot_be_compiled_is_refused_and_forgotten(live, services, recorder):
    live.start()
    recorder.until(controls(lambda c: c.phase == "ready"))
    services.code_store.slow.update(services.code_store.lab.likely(services.code_store.lab.opening()))
    services.code_store.impossible = "there is no room for it"
    live.send(messages.SetParameter("links", 3.0, True))
    refused = recorder.until(lambda thing: isinstance(thing, messages.Refused))
    assert refused.message == "That could not be compiled: there is no room for it"
    after = recorder.until(controls(lambda c: c.phase == "ready"))
    assert after.parameters["links"] == 2.0
    assert after.undo is None


def test_without_a_page_time_is_held_and_a_page_that_comes_back_finds_it_there(live, recorder):
    live.start()
    live.send(messages.Play())
    seen = recorder.until(frames(lambda f: f.time > 0.1))
    live.detach(cast(Any, recorder))
    later = Recorder()
    live.attach(cast(Any, later))
    assert later.until(lambda thing: isinstance(thing, messages.Lab)).lab.revision == 1
    back = later.until(frames(lambda f: True))
    assert seen.time <= back.time < seen.time + 60.0
    assert back.flags & messages.FrameFlag.PLAYING


def test_time_is_held_while_no_one_sees_the_frames(live, recorder):
    live.start()
    live.send(messages.Play())
    recorder.until(frames(lambda f: f.time > 0.05))
    recorder.unattended = True
    live.wake()
    live.send(messages.Share())  # answered after the last step
    recorder.until(lambda thing: isinstance(thing, messages.Shared))
    held = recorder.until(frames(lambda f: True))
    live.send(messages.SetSpeed(2.0))
    again = recorder.until(frames(lambda f: True))
    assert again.time == held.time
    recorder.unattended = False
    live.wake()
    assert recorder.until(frames(lambda f: f.time > held.time)).flags & messages.FrameFlag.PLAYING


def test_answers_come_as_notices(live, services, recorder):
    live.start()
    live.send(messages.Share())
    assert '"lab":"pendulum"' in recorder.until(lambda thing: isinstance(thing, messages.Shared)).document
    live.send(messages.AskEquations())
    assert recorder.until(lambda thing: isinstance(thing, messages.Equations)).items[0].latex
    for kind in ("python", "toml", "csv"):
        live.send(messages.Export(kind))
        told = recorder.until(lambda thing: isinstance(thing, messages.Download))
        file = services.downloads.take(told.path.removeprefix("download/"))
        assert file.name == told.filename
        assert len(b"".join(file.blocks())) == file.size > 0
    live.send(messages.SetParameter("damping", 0.5, True))
    live.send(messages.Export("toml"))
    assert "no air drag" in recorder.until(lambda thing: isinstance(thing, messages.Refused)).message

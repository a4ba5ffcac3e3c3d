"""The thread of one simulation: what it says from its first moment to its last."""

import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from holonomy.studio.session import export
from holonomy.studio.session.session_thread import MOST_WAITING, SessionThread
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

PATIENCE = 20.0


class Recorder:
    """An outbox that keeps everything."""

    def __init__(self):
        self.said: queue.Queue = queue.Queue()
        self.unattended = False
        self.log: list = []

    def say(self, notice):
        self.said.put(notice)

    def show(self, frame):
        self.said.put(frame)

    def until(self, condition) -> Any:
        while True:
            thing = self.said.get(timeout=PATIENCE)
            self.log.append(thing)
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


# ── Answers that come late ────────────────────────────────────────────────────────────────────────────────────────────


def of(kind):
    return lambda thing: isinstance(thing, kind)


def current(recorder, kind):
    """The number of an answer of this type that would be up to date, as the page was told last."""
    return recorder.until(of(messages.Controls)).current[messages.tag(kind)]


CHANGES = {
    "another preset": [messages.Act("preset:moon")],
    "another structure": [messages.SetParameter("links", 3.0, True)],
    "undo": [messages.Undo()],
    "two quick changes": [messages.SetParameter("links", 3.0, True), messages.SetParameter("links", 4.0, True)],
    "there and back": [messages.SetParameter("links", 3.0, True), messages.Undo()],
}


@pytest.mark.parametrize("change", CHANGES)
def test_equations_of_a_system_that_is_left_are_dropped(live, services, recorder, change):
    store = services.code_store
    store.derives_slowly = True
    live.start()
    live.send(messages.SetChoice("model", "elastic"))
    live.send(messages.AskEquations())
    live.send(messages.AskEquations())  # the page was opened twice
    live.send(messages.Share())
    recorder.until(of(messages.Shared))
    assert len(store.deriving) == 1
    for command in CHANGES[change]:
        live.send(command)
        live.send(messages.Share())
        recorder.until(of(messages.Shared))
    live.send(messages.AskEquations())
    live.send(messages.Share())
    recorder.until(of(messages.Shared))
    (first, late), (second, wanted) = store.deriving
    if change != "there and back":
        assert first != second
    assert store.released == [first]
    late.set_result(("late", ()))
    live.send(messages.Share())
    recorder.until(of(messages.Shared))
    assert not any(isinstance(thing, messages.Equations) for thing in recorder.log)
    wanted.set_result(("in time", ()))
    found = recorder.until(of(messages.Equations))
    told = [thing for thing in recorder.log if isinstance(thing, messages.Controls)][-1]
    assert (found.message, found.of) == ("in time", told.current["equations"]), "the page was told of it before"


def test_equations_are_derived_anew_for_a_page_that_connects_again(live, services, recorder):
    store = services.code_store
    store.derives_slowly = True
    live.start()
    live.send(messages.AskEquations())
    live.send(messages.Share())
    recorder.until(of(messages.Shared))
    live.detach(cast(Any, recorder))
    later = Recorder()
    live.attach(cast(Any, later))
    number = current(later, messages.Equations)
    assert len(store.released) == 1, "no one waits for the first"
    live.send(messages.AskEquations())
    live.send(messages.Share())
    later.until(of(messages.Shared))
    store.deriving[1][1].set_result(("", ()))
    assert later.until(of(messages.Equations)).of == number


def test_a_file_of_a_motion_that_is_left_is_dropped_and_said_to_be(live, services, recorder, monkeypatch):
    held, rows = threading.Event(), export.rows

    def slow(lab, moment):
        held.wait(PATIENCE)
        yield from rows(lab, moment)

    monkeypatch.setattr(export, "rows", slow)
    live.start()
    live.send(messages.Export("csv"))
    live.send(messages.SetParameter("gravity", 3.0, True))
    said = recorder.until(of(messages.Announced))
    assert "export it anew" in said.message
    held.set()
    live.send(messages.Export("csv"))
    live.send(messages.Seek(0.0, True))  # a file is of the motion so far, wherever it is looked at
    found = recorder.until(of(messages.Download))
    assert b"".join(services.downloads.take(found.path.removeprefix("download/")).blocks()).startswith(b"t,")
    live.send(messages.Share())
    recorder.until(of(messages.Shared))
    assert len(services.downloads) == 0


def test_what_a_button_computed_is_done_only_under_its_settings(live, services, recorder, lab, monkeypatch):
    jobs: list = []

    def submit(function, *args):
        jobs.append((args, Future()))
        return jobs[-1][1]

    monkeypatch.setattr(
        lab, "computed", lambda settings, name: ("module:function", (settings,)) if name == "best" else None
    )
    services.workers.background = SimpleNamespace(submit=submit, cancel=lambda future: future.cancel())
    live.start()
    live.send(messages.Act("best"))
    assert "some seconds" in recorder.until(of(messages.Announced)).message
    live.send(messages.SetParameter("gravity", 3.0, True))
    assert "was dropped" in recorder.until(of(messages.Announced)).message
    assert jobs[0][1].cancelled()
    live.send(messages.Act("best"))
    recorder.until(of(messages.Announced))
    jobs[1][1].set_result(messages.SetParameter("gravity", 5.0, True))
    assert recorder.until(controls(lambda c: c.parameters["gravity"] != 3.0)).parameters["gravity"] == 5.0


def test_rows_of_another_timeline_are_told_apart(live, recorder):
    live.start()
    live.send(messages.SetParameter("gravity", 3.0, True))
    same = recorder.until(controls(lambda c: c.parameters["gravity"] == 3.0)).current["history"]
    live.send(messages.Act("preset:moon"))
    other = recorder.until(controls(lambda c: c.parameters["gravity"] == 1.62)).current["history"]
    live.send(messages.Undo())
    back = recorder.until(controls(lambda c: c.parameters["gravity"] == 3.0)).current["history"]
    assert len({same, other, back}) == 3

"""The thread of one simulation: what it says from its first moment to its last."""

import queue
from typing import Any, cast

from holonomy.studio import wire
from holonomy.studio.live import MOST_WAITING, Live

PATIENCE = 20.0


class Recorder:
    """An outbox that keeps everything."""

    def __init__(self):
        self.said: queue.Queue = queue.Queue()

    def say(self, notice):
        self.said.put(notice)

    def show(self, frame):
        self.said.put(frame)

    def until(self, condition) -> Any:
        while True:
            thing = self.said.get(timeout=PATIENCE)
            if condition(thing):
                return thing


def live_on(lab) -> tuple[Live, Recorder]:
    recorder = Recorder()
    return Live(lab, cast(Any, recorder)), recorder


def test_it_says_compiling_then_ready_then_shows_and_ends_when_told(lab):
    live, recorder = live_on(lab)
    live.start()
    assert recorder.said.get(timeout=PATIENCE).phase == "compiling"
    assert recorder.said.get(timeout=PATIENCE).phase == "ready"
    first = recorder.said.get(timeout=PATIENCE)
    assert first.time == 0.0
    assert first.sample[:, 0].tolist() == [0.0], "curves begin at the beginning"
    live.stop()
    live.join(PATIENCE)
    assert recorder.said.empty(), "time is held, so there is nothing more to show"


def test_a_lab_that_cannot_be_prepared_says_why(lab, monkeypatch, caplog):
    def broken(parameters):
        raise ValueError("the mass matrix is singular")

    monkeypatch.setattr(lab, "stepper", broken)
    live, recorder = live_on(lab)
    live.start()
    failed = recorder.until(lambda thing: isinstance(thing, wire.Controls) and thing.phase == "failed")
    assert failed.message == "The simulation ended: the mass matrix is singular"
    live.join(PATIENCE)
    assert "a simulation ended" in caplog.text


def test_commands_that_wait_are_bounded(lab):
    live, _ = live_on(lab)  # not started, so nothing is taken from the line
    assert all(live.send(wire.Pause()) for _ in range(MOST_WAITING))
    assert not live.send(wire.Pause())


def test_only_the_last_place_of_a_pointer_is_computed(lab):
    live, recorder = live_on(lab)
    live.send(wire.DragBegin(1))
    for step in range(50):
        live.send(wire.DragMove(0.5 + 0.01 * step, -1.0, 0.0))
    live.send(wire.DragEnd(0.0, 0.0, 0.0))
    live.start()
    moved = recorder.until(lambda thing: isinstance(thing, wire.Frame) and abs(thing.position[2, 0] - 0.99) < 1e-6)
    assert not moved.v.any()
    live.stop()
    live.join(PATIENCE)
    assert len(lab.steppers) == 2, "one for the start, one for the last place"


def test_a_running_motion_follows_the_clock(lab):
    live, recorder = live_on(lab)
    live.start()
    live.send(wire.SetSpeed(5.0))
    live.send(wire.Play())
    frame = recorder.until(lambda thing: isinstance(thing, wire.Frame) and thing.time > 0.3)
    assert frame.flags & wire.FrameFlag.PLAYING
    live.send(wire.Undo())
    recorder.until(lambda thing: isinstance(thing, wire.Frame) and thing.time == 0.0)
    live.stop()
    live.join(PATIENCE)

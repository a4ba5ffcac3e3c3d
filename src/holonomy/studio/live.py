"""A thread that keeps one simulation in step with the clock."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import Final

from holonomy.studio import wire
from holonomy.studio.lab import AbstractLab
from holonomy.studio.outbox import Outbox
from holonomy.studio.pacer import TICK, Pacer
from holonomy.studio.simulation import Refusal, Simulation, certificate

MOST_WAITING: Final = 256
"""Commands not yet carried out. A page sends a few per picture; one that sends more than this at once is broken."""

_log = logging.getLogger(__name__)
_compiling = threading.Lock()


def prepare(lab: AbstractLab) -> Simulation:
    """The lab at its start, with all that it needs compiled.

    One at a time: tracing holds the interpreter's lock, so a second structure compiled beside the first would only make
    both, and everyone's pictures, slower.
    """
    with _compiling:
        simulation = Simulation(lab)
        moment = simulation.moment
        moment.orbit.stepper.advance(moment.state, 1)
        return simulation


class Live:
    """One user's simulation, in a thread of its own."""

    def __init__(self, lab: AbstractLab, outbox: Outbox):
        self._lab = lab
        self._outbox = outbox
        self._inbox: deque[wire.Command] = deque()
        self._wakeup = threading.Condition()
        self._stopped = False
        self._sequence = 0
        self._thread = threading.Thread(target=self._main, name=f"studio-{lab.view.name}", daemon=True)

    def start(self) -> None:
        """Begin: the page is told "compiling", then gets its first frame."""
        self._thread.start()

    def send(self, command: wire.Command) -> bool:
        """Hand a command over; False when too many wait already."""
        with self._wakeup:
            if len(self._inbox) >= MOST_WAITING:
                return False
            self._inbox.append(command)
            self._wakeup.notify()
            return True

    def stop(self) -> None:
        """End the thread as soon as its present step is done."""
        with self._wakeup:
            self._stopped = True
            self._wakeup.notify()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread's end."""
        self._thread.join(timeout)

    def _main(self) -> None:
        try:
            self._outbox.say(_waiting(self._lab, "compiling", "Compiling the equations of motion."))
            self._loop(prepare(self._lab))
        except Exception as error:  # noqa: BLE001 - the thread's last stand: the page must say so, not freeze
            _log.exception("a simulation ended")
            self._outbox.say(_waiting(self._lab, "failed", f"The simulation ended: {error}"))

    def _loop(self, simulation: Simulation) -> None:
        pacer = Pacer(self._lab.view.dt)
        self._outbox.say(simulation.controls())
        self._show(simulation, pacer)
        last = time.monotonic()
        while True:
            running = simulation.playing and simulation.held is None
            commands = self._wait(last + TICK - time.monotonic() if running else None)
            if commands is None:
                return
            if commands:
                self._obey(simulation, commands)
            now = time.monotonic()
            if running and simulation.playing and simulation.held is None:
                self._advance(simulation, pacer, now - last)
            else:
                pacer.rest()
            last = now
            self._show(simulation, pacer)

    def _wait(self, seconds: float | None) -> list[wire.Command] | None:
        """Commands that came, none after `seconds`, or None when it is time to stop."""
        with self._wakeup:
            if not self._inbox and not self._stopped and (seconds is None or seconds > 0):
                self._wakeup.wait(seconds)
            if self._stopped:
                return None
            commands = list(self._inbox)
            self._inbox.clear()
            return commands

    def _obey(self, simulation: Simulation, commands: list[wire.Command]) -> None:
        for command, following in zip(commands, [*commands[1:], None], strict=True):
            if _overtaken(command, following):
                continue
            try:
                simulation.apply(command)
            except Refusal as refusal:
                self._outbox.say(wire.Refused(str(refusal)))
        self._outbox.say(simulation.controls())

    def _advance(self, simulation: Simulation, pacer: Pacer, elapsed: float) -> None:
        steps = pacer.steps(elapsed, simulation.speed)
        began = time.monotonic()
        try:
            simulation.advance(steps)
        except Refusal as refusal:
            self._outbox.say(wire.Refused(str(refusal)))
            self._outbox.say(simulation.controls())
        pacer.spent(steps, time.monotonic() - began)

    def _show(self, simulation: Simulation, pacer: Pacer) -> None:
        self._sequence += 1
        self._outbox.show(simulation.frame(self._sequence, rate=pacer.rate, behind=pacer.behind))


def _overtaken(command: wire.Command, following: wire.Command | None) -> bool:
    """Whether the next command makes this one's result invisible: only the last place of a pointer matters."""
    match command, following:
        case wire.DragMove(), wire.DragMove():
            return True
        case wire.SetParameter(name, _, False), wire.SetParameter(other, _, _):
            return name == other
        case _:
            return False


def _waiting(lab: AbstractLab, phase: wire.Phase, message: str) -> wire.Controls:
    parameters = lab.defaults
    return wire.Controls(
        phase, message, False, 1.0, None, parameters, {}, {}, lab.extent(parameters), (lab.extent(parameters),),
        lab.radii(parameters), certificate(lab), None, None,
    )  # fmt: skip

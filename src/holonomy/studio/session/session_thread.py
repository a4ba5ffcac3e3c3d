"""A thread that keeps one simulation in step with the clock."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import Refusal, Structure
from holonomy.studio.server.outbox import Outbox
from holonomy.studio.server.services import Services
from holonomy.studio.session import backgrounds, side_requests
from holonomy.studio.session.actions import superseded
from holonomy.studio.session.answers import Answers, Job
from holonomy.studio.session.clock import TICK, Clock
from holonomy.studio.session.controls import OPENS
from holonomy.studio.session.preview import Opening
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages

MOST_WAITING: Final = 256
"""Commands not yet carried out. A page sends a few per frame; one that sends more than this at once has a fault."""

_log = logging.getLogger(__name__)
Event = messages.Command | Callable[["SessionThread"], None]


class SessionThread:
    """One user's simulation, in a thread of its own. It outlives a lost connection: without a page, time is paused."""

    def __init__(self, lab: AbstractLab, services: Services):
        self.lab = lab
        self.services = services
        self.simulation: Simulation | None = None
        self.outbox: Outbox | None = None
        self._inbox: deque[Event] = deque()
        self._wakeup = threading.Condition()
        self._stopped = False
        self._sequence = 0
        self._revision = 0
        self._asked: Structure | None = None
        self._failure = ""
        self._opening = Opening(lab)
        self._changed = True
        self._answers = Answers()
        self._told: dict[str, int] = {}  # the numbers for which the page has controls and backgrounds
        self._thread = threading.Thread(target=self._main, name=f"studio-{lab.name}", daemon=True)

    @property
    def started(self) -> bool:
        """Whether the thread was started."""
        return self._thread.ident is not None

    def start(self) -> None:
        """Begin: the page is told "compiling", then gets its first frame."""
        self._thread.start()

    def send(self, command: messages.Command) -> bool:
        """Hand a command over; False when too many wait already."""
        with self._wakeup:
            if len(self._inbox) >= MOST_WAITING:
                return False
        self._post(command)
        return True

    def attach(self, outbox: Outbox) -> None:
        """Show everything to this page from now on."""
        self._post(lambda live: live._connected(outbox))

    def detach(self, outbox: Outbox) -> None:
        """This page has gone."""
        self._post(lambda live: live._disconnected(outbox))

    def stop(self) -> None:
        """End the thread as soon as its present step is done."""
        with self._wakeup:
            self._stopped = True
            self._wakeup.notify()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread's end."""
        self._thread.join(timeout)

    def say(self, notice: messages.Notice) -> None:
        """Tell the page, if there is one."""
        if self.outbox is not None:
            self.outbox.say(notice)

    def wake(self) -> None:
        """Look again whether time should pass."""
        self._post(lambda live: None)

    def post(self, event: Callable[[SessionThread], None]) -> None:
        """Have this done in the simulation's own thread. From any thread."""
        self._post(event)

    # ── Answers ───────────────────────────────────────────────────────────────────────────────────

    def answer(self, notice: messages.AnyAnswer) -> None:
        """Say a notice that was computed just now. The page is told of what it is before. In the thread itself."""
        simulation = self.simulation
        if simulation is not None:
            self._tell(simulation)
            notice = replace(notice, of=self._answers.current[messages.tag(type(notice))])
        self.say(notice)

    def begin(self, kind: type) -> Job | None:
        """Work for an answer of this type (or for what a button does, `Act`) begins; None where it is under way."""
        self._look()
        return self._answers.begin(messages.tag(kind))

    def finish(self, job: Job, act: Callable[[], None], otherwise: Callable[[], None] = lambda: None) -> None:
        """The work is done: `act` in the simulation's own thread if it is still of the present. From any thread."""

        def end(live: SessionThread) -> None:
            live._look()
            (act if live._answers.done(job) else otherwise)()

        self.post(end)

    def carry_out(self, command: messages.Command) -> None:
        """Carry out a command that was computed. In the thread itself."""
        if self.simulation is not None:
            self._carry_out(self.simulation, [command])

    def _look(self) -> None:
        """Number anew what has changed, and drop the work that is of something before."""
        if self.simulation is not None:
            for job in self._answers.look(self.lab, self.simulation):
                side_requests.dropped(self, job)

    def _post(self, event: Event) -> None:
        with self._wakeup:
            self._inbox.append(event)
            self._wakeup.notify()

    def _main(self) -> None:
        try:
            commands = self._open()
            if commands is not None:
                self._loop(commands)
        except Exception as error:  # noqa: BLE001 - the page must show it instead of freezing
            _log.exception("a simulation ended")
            sentence = f"The simulation ended: {error}"
            self._report("failed", sentence)
            self._after_failure(sentence)
        finally:
            self._answers.stop()

    def _after_failure(self, sentence: str) -> None:
        """Tell pages that connect later what has happened."""
        while (events := self._wait(None)) is not None:
            for event in events:
                if callable(event):
                    event(self)
                    self._report("failed", sentence)

    # ── Code ──────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> list[Event] | None:
        """Wait for the first structure's code and show its first state; returns the commands that come meanwhile.

        None when told to stop.
        """
        self._ask_first()
        late: list[Event] = []
        while self.simulation is None:
            events = self._wait(None)
            if events is None:
                return None
            for event in events:
                if callable(event):
                    event(self)
                elif self.simulation is None:
                    self._take_before(event)
                else:
                    late.append(event)
        return [*self._opening.commands(MOST_WAITING), *late]

    def _take_before(self, command: messages.Command) -> None:
        """Carry out a command while there is no simulation."""
        before = self._opening.structure
        try:
            self._opening.take(command)
        except Refusal as refusal:
            self._refuse(refusal, messages.tag(type(command)))
        if self._opening.structure != before:
            self.services.code_store.release(self.lab, before)
            self._ask_first()
        self._show_opening()

    def _ask_first(self) -> None:
        self._failure = ""
        structure = self._opening.structure
        self.services.code_store.fetch(
            self.lab,
            structure,
            lambda kernel, sentence: self.post(lambda live: live._begin(structure, kernel, sentence)),
        )

    def _begin(self, structure: Structure, kernel: Kernel | None, sentence: str) -> None:
        if self.simulation is not None or structure != self._opening.structure:
            return
        if kernel is None:
            if not self.services.stopping.is_set():
                _log.error("the lab %s could not be compiled: %s", self.lab.name, sentence)
            self._failure = (
                f"The equations of motion could not be compiled: {sentence} Load the page again to try again."
            )
            self._report("failed", self._failure)
            return

        def at_hand(structure: Structure) -> Kernel | None:
            return self.services.code_store.kernel(self.lab, structure)

        self.simulation = Simulation(self.lab, at_hand, self._opening.settings, self._opening.revision)

    def _ask(self, simulation: Simulation) -> None:
        """See to it that the code which a change waits for is made."""
        wanted = simulation.wanted
        if wanted == self._asked:
            return
        if self._asked is not None:
            self.services.code_store.release(self.lab, self._asked)
        self._asked = wanted
        if wanted is not None:
            self.services.code_store.fetch(
                self.lab,
                wanted,
                lambda kernel, sentence: self.post(lambda live: live._got_code(wanted, kernel, sentence)),
            )

    def _got_code(self, structure: Structure, kernel: Kernel | None, sentence: str) -> None:
        simulation = self.simulation
        if simulation is None or simulation.wanted != structure:
            return
        self._asked = None
        if kernel is None:
            refusal = Refusal(f"That could not be compiled: {sentence}")
            simulation.give_up(refusal)
            self._refuse(refusal, "")
        else:
            simulation.supply(kernel)
            self.services.code_store.prefetch(self.lab, self.lab.likely(simulation.moment.settings))

    # ── The page ──────────────────────────────────────────────────────────────────────────────────

    def _connected(self, outbox: Outbox) -> None:
        self.outbox = outbox
        self._revision = 0
        self._told = {}
        self._changed = True
        if self.simulation is None:
            self._show_opening()
            if self._failure:
                self._ask_first()

    def _disconnected(self, outbox: Outbox) -> None:
        if self.outbox is outbox:
            self.outbox = None
            self._answers.left()
            if self.simulation is not None and self.simulation.held is not None:
                self.simulation.held = None

    def _report(self, phase: messages.Phase, sentence: str) -> None:
        """What the controls show where there is no simulation."""
        self.say(self._opening.controls(phase, sentence))

    def _show_opening(self) -> None:
        """The state with which the motion will begin."""
        outbox, opening = self.outbox, self._opening
        if outbox is None:
            return
        if opening.view.revision != self._revision:
            self._revision = opening.view.revision
            outbox.say(messages.Lab(opening.view))
        self._report("opening", OPENS)
        self._sequence += 1
        frame = opening.frame(self._sequence)
        if frame is not None:
            outbox.show(frame)

    def _refuse(self, refusal: Refusal, command: str, setting: str = "") -> None:
        if self.simulation is not None and self.simulation.draft and self.simulation.draft.refusal is refusal:
            return  # it stands in the controls for as long as it is so
        place = refusal.setting or setting
        self.answer(messages.Refused(str(refusal), command, place, refusal.start, refusal.end))

    # ── The clock ─────────────────────────────────────────────────────────────────────────────────

    def _loop(self, commands: list[Event]) -> None:
        simulation = self.simulation
        assert simulation is not None
        pacer = Clock(simulation.moment.segment.motion.dt)
        self.services.code_store.prefetch(self.lab, self.lab.likely(simulation.moment.settings))
        self._carry_out(simulation, commands)
        self._show(simulation, pacer)
        last = time.monotonic()
        while True:
            running = self._runs(simulation)
            events = self._wait(last + TICK - time.monotonic() if running else None)
            if events is None:
                return
            if events:
                self._carry_out(simulation, events)
            now = time.monotonic()
            if running and self._runs(simulation):
                self._advance(simulation, pacer, now - last)
            else:
                pacer.rest()
            last = now
            self._show(simulation, pacer)

    def _runs(self, simulation: Simulation) -> bool:
        """Whether time passes: not without a page that looks, while a body is held, or before the code is there."""
        return simulation.runs and self.outbox is not None and not self.outbox.unattended

    def _wait(self, seconds: float | None) -> list[Event] | None:
        """Events that came, none after `seconds`, or None when it is time to stop."""
        with self._wakeup:
            if not self._inbox and not self._stopped and (seconds is None or seconds > 0):
                self._wakeup.wait(seconds)
            if self._stopped:
                return None
            events = list(self._inbox)
            self._inbox.clear()
            return events

    def _carry_out(self, simulation: Simulation, events: list[Event]) -> None:
        for event, following in itertools.zip_longest(events, events[1:]):
            if superseded(event, following):
                continue
            try:
                if callable(event):
                    event(self)
                elif not side_requests.computes(self, simulation, event):
                    simulation.apply(event)
                    side_requests.run(self, simulation, event)
            except Refusal as refusal:
                name = "" if callable(event) else messages.tag(type(event))
                self._refuse(refusal, name, getattr(event, "name", ""))  # commands with a name set that setting
        self._ask(simulation)
        self._look()
        self._changed = True

    def _advance(self, simulation: Simulation, pacer: Clock, elapsed: float) -> None:
        pacer.follow(simulation.moment.segment.motion.dt)
        steps = pacer.steps(elapsed, simulation.speed)
        began = time.monotonic()
        try:
            simulation.upgrade()
            simulation.advance(steps)
        except Refusal as refusal:
            self._changed = True
            self.answer(messages.Refused(str(refusal), ""))
        pacer.spent(steps, time.monotonic() - began)

    def _show(self, simulation: Simulation, pacer: Clock) -> None:
        outbox = self.outbox
        if outbox is None:
            return
        self._tell(simulation)
        self._sequence += 1
        outbox.show(simulation.frame(self._sequence, rate=pacer.rate, behind=pacer.behind))

    def _tell(self, simulation: Simulation) -> None:
        """Say what the page shows besides frames and answers, where it is another than before."""
        outbox = self.outbox
        if outbox is None:
            return
        self._look()
        current = dict(self._answers.current)
        # computed before the lab and the controls are said, for which the page takes away what it has
        behind = [] if simulation.still else list(self._behind(simulation, current))
        if simulation.revision != self._revision:
            self._revision = simulation.revision
            outbox.say(messages.Lab(simulation.view))
        if self._changed or current != self._told:
            self._changed = False
            outbox.say(replace(simulation.controls(), current=current))
        for notice in behind:
            outbox.say(notice)
        if not simulation.still:
            self._told = current

    def _behind(self, simulation: Simulation, current: dict[str, int]) -> Iterator[messages.Notice]:
        """What stands still behind the motion, where it is another than the page has."""
        for kind, make in backgrounds.KINDS:
            number = current[messages.tag(kind)]
            found = make(self.lab, simulation.moment) if self._told.get(messages.tag(kind)) != number else None
            if found is not None:
                yield replace(found, of=number)

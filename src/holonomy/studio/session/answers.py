"""What a page's answers are computed from, numbered, and the work that is under way for them.

An answer (`viewer.protocol.answers`) may come seconds after it was asked for, when the page shows another system. Here
is said, in one place, what each type of answer depends on: where that changes, its number grows, and work for the
number before is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final

from holonomy.studio.labs.base import AbstractLab
from holonomy.studio.labs.settings import PAGE, Settings
from holonomy.studio.session.simulation import Simulation
from holonomy.viewer.protocol import messages
from holonomy.viewer.protocol.messages import tag

HISTORY: Final = "history"
"""The timeline whose rows are plotted: no answer, but out of date as answers are."""


def bases(lab: AbstractLab, simulation: Simulation) -> dict[str, Any]:
    """For each type of answer, what is equal as long as an answer of that type is up to date."""
    settings, moment = simulation.shown, simulation.moment
    chosen, still = _chosen(settings), simulation.still
    draft = None if simulation.draft is None else _chosen(simulation.draft.settings)
    behind = (simulation.revision, lab.surface_key(settings), still)
    motion = (chosen, moment.segment.trajectory, still)
    now = None if simulation.playing else moment.index
    return {
        tag(messages.Equations): (lab.derivation(settings), draft),
        tag(messages.Surface): behind,
        tag(messages.Field): behind,
        tag(messages.Curves): (simulation.revision, motion),
        tag(messages.Shared): (motion, draft, now),
        tag(messages.Download): (chosen, draft, moment.origin, still),
        tag(messages.Refused): (chosen, draft),
        tag(messages.Announced): (chosen, draft),
        tag(messages.Act): (chosen, draft),
        HISTORY: (moment.origin, still),
    }


def _chosen(settings: Settings) -> Hashable:
    """Everything that is set, without what the page keeps for itself."""
    texts = tuple((name, text) for name, text in settings.texts.items() if name != PAGE)
    parts = settings.parameters, settings.choices, settings.toggles
    return (*(tuple(part.items()) for part in parts), texts)


class Job:
    """Work under way for an answer of one number. From any thread."""

    def __init__(self, kind: str, of: int):
        self.kind = kind
        self.of = of
        self._lock = threading.Lock()
        self._dropped = False
        self._cancels: list[Callable[[], object]] = []

    @property
    def dropped(self) -> bool:
        """Whether no one waits for it any more."""
        return self._dropped

    def cancelled_by(self, cancel: Callable[[], object]) -> None:
        """How to end a part of the work; at once where it is dropped already."""
        with self._lock:
            if not self._dropped:
                self._cancels.append(cancel)
                return
        cancel()

    def drop(self) -> None:
        """End the work."""
        with self._lock:
            self._dropped = True
            cancels, self._cancels = self._cancels, []
        for cancel in cancels:
            cancel()


class Answers:
    """The present number for each type of answer, and the jobs. Used by the simulation's own thread."""

    def __init__(self) -> None:
        self.current: dict[str, int] = {}
        self._bases: dict[str, Any] = {}
        self._jobs: list[Job] = []

    def look(self, lab: AbstractLab, simulation: Simulation) -> tuple[Job, ...]:
        """See what is another than before; returns the jobs that were dropped for it."""
        for kind, basis in bases(lab, simulation).items():
            if kind not in self._bases or self._bases[kind] != basis:
                self._bases[kind] = basis
                self.current[kind] = self.current.get(kind, 0) + 1
        late = tuple(job for job in self._jobs if not self.is_current(job))
        self._end(late)
        return late

    def begin(self, kind: str) -> Job | None:
        """A job for an answer of this type; None for equations that are being derived already."""
        if kind == tag(messages.Equations) and any(job.kind == kind for job in self._jobs):
            return None
        job = Job(kind, self.current[kind])
        self._jobs.append(job)
        return job

    def is_current(self, job: Job) -> bool:
        """Whether what the job computes is still wanted."""
        return self.current.get(job.kind) == job.of

    def done(self, job: Job) -> bool:
        """The job is at its end; whether its answer is to be given."""
        wanted = job in self._jobs and self.is_current(job)
        self._jobs = [other for other in self._jobs if other is not job]
        return wanted

    def left(self) -> None:
        """The page has gone: one that comes back asks for equations anew."""
        self._end(tuple(job for job in self._jobs if job.kind == tag(messages.Equations)))

    def stop(self) -> None:
        """Drop everything."""
        self._end(tuple(self._jobs))

    def _end(self, jobs: tuple[Job, ...]) -> None:
        self._jobs = [job for job in self._jobs if job not in jobs]
        for job in jobs:
            job.drop()

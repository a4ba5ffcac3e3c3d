"""The history of a session: motions one after another, each from one change by the user to the next."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from holonomy.studio.labs.settings import PAGE, Settings
from holonomy.studio.session.checkpointed_trajectory import CheckpointedTrajectory
from holonomy.studio.session.motion_with_ghost import MotionState, MotionWithGhost

MOST_SEGMENTS: Final = 256
KEPT_WHEN_LEFT: Final = 32
"""States that an trajectory keeps once it is in the past, to bound the memory of a long history."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """One unbroken motion: where it began, under which settings, and how many steps of it have been seen."""

    motion: MotionWithGhost
    trajectory: CheckpointedTrajectory
    settings: Settings
    t0: float
    energy: float
    """At its start."""
    last: int

    @property
    def end(self) -> float:
        """The time of the last step seen."""
        return self.t0 + self.last * self.motion.dt


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """All of the motion that undo restores: what happened, and which step of which segment is now."""

    segments: tuple[Segment, ...]
    number: int
    index: int
    state: MotionState
    origin: object = field(default_factory=object)
    """The same for all moments of one timeline, from one beginning to the next."""

    @property
    def segment(self) -> Segment:
        """The one that is now."""
        return self.segments[self.number]

    @property
    def settings(self) -> Settings:
        """The settings that are now."""
        return self.segment.settings

    @property
    def oldest(self) -> float:
        """The first time that can be reached."""
        return self.segments[0].t0

    @property
    def newest(self) -> float:
        """The last time that has been seen."""
        return self.segments[-1].end

    def later(self, steps: int) -> Moment:
        """Further along this motion; what followed it is left behind once it goes beyond."""
        segment, index = self.segment, self.index + steps
        state = segment.trajectory.advance(self.index, self.state, steps)
        segments = self.segments
        if index > segment.last:
            segments = (*segments[: self.number], replace(segment, last=index))
        return Moment(segments, self.number, index, state, self.origin)

    def back(self, steps: int) -> Moment:
        """Earlier, into the segments before where there are any; at the oldest moment it stays there."""
        number, index = self.number, self.index - steps
        while index < 0 and number > 0:
            number -= 1
            index += self.segments[number].last
        index = max(0, index)
        return Moment(self.segments, number, index, self.segments[number].trajectory.at(index), self.origin)

    def at(self, time: float) -> Moment:
        """The exact state at the step nearest to a time that has been seen."""
        number = max((k for k, segment in enumerate(self.segments) if segment.t0 <= time), default=0)
        segment = self.segments[number]
        index = min(segment.last, max(0, round((time - segment.t0) / segment.motion.dt)))
        return Moment(self.segments, number, index, segment.trajectory.at(index), self.origin)

    def with_page(self, text: str) -> Moment:
        """The same motion, past and present, with another text that the page keeps for itself."""
        segments = tuple(replace(s, settings=s.settings.with_text(PAGE, text)) for s in self.segments)
        return replace(self, segments=segments)

    def followed(self, segment: Segment) -> Moment:
        """A new motion that begins now; of this one, what was seen up to now is kept."""
        past = self.segments[: self.number]
        if self.index > 0:
            past = (*past, replace(self.segment, last=self.index))
            self.segment.trajectory.thin(KEPT_WHEN_LEFT)
        segments = (*past, segment)[-MOST_SEGMENTS:]
        return Moment(segments, len(segments) - 1, 0, segment.trajectory.start, self.origin)


def beginning(segment: Segment) -> Moment:
    """A motion with nothing before it."""
    return Moment((segment,), 0, 0, segment.trajectory.start)

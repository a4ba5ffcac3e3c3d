"""The first state of a motion whose code is not there yet: its picture, without what only compiled code can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from holonomy.studio.labs.base import PRESET, STORY, AbstractLab
from holonomy.studio.labs.settings import Settings, Structure
from holonomy.studio.session import share_link
from holonomy.studio.session.actions import Pending
from holonomy.studio.session.controls import PlayerState, controls
from holonomy.studio.stories import step_at
from holonomy.viewer.protocol import messages

NEEDS_MOTION: Final = (
    messages.Step, messages.Seek, messages.DragBegin, messages.DragMove, messages.DragEnd, messages.Share,
    messages.Export, messages.AskEquations,
)  # fmt: skip
"""Commands that cannot be carried out while only the first state of a motion is shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """A state in numbers as far as they are known without compiled code."""

    settings: Settings
    t: float
    q: np.ndarray
    v: np.ndarray
    position: np.ndarray

    def frame(self, view: messages.LabView, sequence: int) -> messages.Frame:
        """The frame of this state: energies and channels are NaN, and no row of it goes to the plots."""
        channels, traced = len(view.channels), sum(body.trail for body in view.bodies)
        unknown = np.full(len(view.energies), np.nan)
        width = 1 + channels + traced * self.position.shape[1]
        return messages.Frame(
            sequence, messages.FrameFlag(0), view.revision, self.t, 0.0, 0.0, self.t, self.t, 0, self.q, self.v,
            unknown, np.full(channels, np.nan), self.position, np.zeros(len(view.rods)), np.zeros((0, width)),
        )  # fmt: skip


def preview(lab: AbstractLab, pending: Pending) -> Preview | None:
    """The state with which the motion will begin, or None where the lab cannot tell the places of its points."""
    settings, found = pending.settings, pending.state
    if found is None:
        (q, v), points, t = lab.start(settings), lab.pose(settings), 0.0
    else:
        q, v, t = found.q, found.v, found.t
        beside = lab.ghost(settings, q, v)
        states = [q] if beside is None else [q, (beside if found.ghost is None else found.ghost)[0]]
        parts = [lab.placed(settings, state) for state in states]
        points = None if any(part is None for part in parts) else np.concatenate([p for p in parts if p is not None])
    return None if points is None else Preview(settings, t, q, v, np.concatenate([lab.anchors(settings), points]))


class Opening:
    """A session before its first code is there: what it waits for, and the commands to be carried out then.

    A link or a preset that is asked for meanwhile replaces what the lab opens with, so that its code is made first.
    """

    def __init__(self, lab: AbstractLab):
        self._lab = lab
        self.revision = -1
        self._first: messages.Command | None = None
        self._later: list[messages.Command] = []
        self._wait_for(Pending(lab.opening(), lab.structure(lab.opening()), None, True))

    @property
    def structure(self) -> Structure:
        """The structure whose code is wanted."""
        return self._pending.structure

    @property
    def settings(self) -> Settings:
        """The settings with which the simulation will begin."""
        return self._pending.settings

    def commands(self, most: int) -> list[messages.Command]:
        """What is to be carried out once there is a simulation: the link first, then at most so many others."""
        return ([] if self._first is None else [self._first]) + self._later[:most]

    def take(self, command: messages.Command) -> None:
        """Carry out what concerns the first state, keep the rest for later; `Refusal` for a link that is wrong."""
        match command:
            case messages.Restore(text):
                found = share_link.read(self._lab, text)
                self._first = command
                self._wait_for(Pending(found.settings, self._lab.structure(found.settings), found))
            case messages.Act(name) if name.startswith(PRESET):
                self._open_with(self._lab.preset(name.removeprefix(PRESET)))
            case messages.Act(name) if name.startswith(STORY):
                self._open_with(step_at(self._lab, name.removeprefix(STORY))[0].settings)
                self._first = command
            case messages.Cancel() | messages.Reset(True):
                self._open_with(self._lab.opening())
            case _:
                self._later.append(command)

    def _open_with(self, settings: Settings) -> None:
        self._first = None
        self._wait_for(Pending(settings, self._lab.structure(settings), None, True))

    def _wait_for(self, pending: Pending) -> None:
        self._pending = pending
        self._shown = preview(self._lab, pending)
        self.revision += 1
        self.view = self._lab.view(pending.settings, self.revision)

    def controls(self, phase: messages.Phase, message: str) -> messages.Controls:
        """What the page's controls should show."""
        undo = None if self.settings == self._lab.opening() and self._first is None else "opening"
        return controls(self._lab, phase, message, self.settings, self.settings, None, PlayerState(undo=undo))

    def frame(self, sequence: int) -> messages.Frame | None:
        """The picture of the state to open with."""
        return None if self._shown is None else self._shown.frame(self.view, sequence)

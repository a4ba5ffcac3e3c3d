"""What undo and a change that waits for its code remember."""

from __future__ import annotations

from dataclasses import dataclass

from holonomy.studio.labs.settings import Settings, Structure
from holonomy.studio.session.share_link import Document
from holonomy.studio.session.timeline import Moment
from holonomy.viewer.protocol import messages


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Everything that undo restores."""

    moment: Moment
    speed: float
    playing: bool


@dataclass(frozen=True, slots=True)
class Action:
    """An entry of the undo list: what was done, and how things were on the other side of it."""

    name: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Pending:
    """Settings that wait for their code; with `state`, what the motion goes on from then."""

    settings: Settings
    structure: Structure
    state: Document | None = None
    reset: bool = False


def label_of(view: messages.LabView, command: messages.SetParameter | messages.SetChoice | messages.SetToggle) -> str:
    """What the user calls the thing that a command sets."""
    for known in (*view.parameters, *view.choices, *view.toggles):
        if known.name == command.name:
            return known.label
    return command.name

"""What undo and a change that waits for its code remember."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from holonomy.studio.labs.settings import PAGE, Refusal, Settings, Structure
from holonomy.studio.session.drafts import Draft
from holonomy.studio.session.share_link import Document
from holonomy.studio.session.timeline import Moment, Segment
from holonomy.viewer.protocol import messages

MOST_UNDOS: Final = 200
LAYOUT: Final = "layout"
"""The action that changes what the page keeps for itself. The motion has no part in it."""
SERIES: Final = (
    messages.Step, messages.Seek, messages.SetParameter, messages.SetText, messages.DragMove, messages.DragEnd,
    messages.Seen, messages.Share, messages.Export, messages.AskEquations,
)  # fmt: skip
"""Commands that come in series which are one action for undo, or that are no actions.

A page asks for its state (`Share`) every other second by itself, in the middle of a gesture too.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Everything that undo restores."""

    moment: Moment
    speed: float
    playing: bool
    draft: Draft | None


@dataclass(frozen=True, slots=True)
class Action:
    """An entry of the undo list: what was done, and how things were on the other side of it."""

    name: str
    snapshot: Snapshot


class UndoList:
    """What can be taken back and what can be done again, the last one last."""

    def __init__(self) -> None:
        self._undo: list[Action] = []
        self._redo: list[Action] = []
        self._grouped: str | None = None  # the action that further commands of its kind belong to

    @property
    def names(self) -> tuple[str | None, str | None]:
        """What undo would take back, and what redo would do again."""
        undo, redo = (actions[-1].name if actions else None for actions in (self._undo, self._redo))
        return undo, redo

    def remember(self, name: str, before: Snapshot, *, group: bool = False) -> None:
        """Note an action, unless this command goes on with the one at the end of the list."""
        if group and self._grouped == name:
            return
        self._grouped = name
        self._undo.append(Action(name, before))
        del self._undo[:-MOST_UNDOS]
        self._redo.clear()

    def end_group(self) -> None:
        """The next command begins an action of its own."""
        self._grouped = None

    def drop(self) -> None:
        """The last action did not happen after all."""
        self._grouped = None
        del self._undo[-1:]

    def take(self, now: Snapshot, *, redo: bool) -> Action:
        """The last action, with how things were on the other side of it; `Refusal` where there is none."""
        source, target = (self._redo, self._undo) if redo else (self._undo, self._redo)
        if not source:
            raise Refusal(f"There is nothing to {'redo' if redo else 'undo'}.")
        action = source.pop()
        target.append(Action(action.name, now))
        return action


@dataclass(frozen=True, slots=True)
class Pending:
    """Settings that wait for their code; with `state`, what the motion goes on from then."""

    settings: Settings
    structure: Structure
    state: Document | None = None
    reset: bool = False
    kept: str | None = None
    """The setting whose change stays on the page where it is refused; None for what is taken back then."""
    draft: Draft | None = None
    """What was shown before, though refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Stop:
    """Where the motion that a button has begun is to be held: so many seconds after the start of its segment."""

    segment: Segment
    seconds: float

    def steps_left(self, now: Moment) -> int | None:
        """Steps until then; None where something else has been done since."""
        if now.segment.trajectory is not self.segment.trajectory:
            return None
        left = round(self.seconds / self.segment.motion.dt) - now.index
        return left if left >= 0 else None


def require_graspable(view: messages.LabView, body: int) -> None:
    """Refuse to hold a body that there is not, or that cannot be held."""
    if body >= len(view.bodies):
        raise Refusal(f"There is no body {body + 1}; this lab has {len(view.bodies)}.")
    if not view.bodies[body].grasp:
        raise Refusal(f"The {view.bodies[body].label} cannot be held.")


def label_of(
    view: messages.LabView,
    command: messages.SetParameter | messages.SetChoice | messages.SetToggle | messages.SetText,
) -> str:
    """What the user calls the thing that a command sets."""
    if command.name == PAGE:
        return LAYOUT
    for known in (*view.parameters, *view.choices, *view.toggles, *view.texts):
        if known.name == command.name:
            return known.label
    return command.name


def require_speed(view: messages.LabView, value: float) -> None:
    """`Refusal` for a speed out of the lab's range."""
    if not view.speed_low <= value <= view.speed_high:
        between = f"between {view.speed_low:g} and {view.speed_high:g}"
        raise Refusal(f"Speed must be {between}, but {value:g} was given.")


def superseded(event: object, following: object) -> bool:
    """Whether the next command makes this one's result invisible: only the last place of a pointer matters."""
    match event, following:
        case messages.DragMove(), messages.DragMove():
            return True
        case messages.SetParameter(name, _, False), messages.SetParameter(other, _, _):
            return name == other
        case messages.SetText(name, _, False), messages.SetText(other, _, _):
            return name == other
        case messages.Seek(_, False), messages.Seek():
            return True
        case _:
            return False

"""What the studio's server and its page say to each other.

Three kinds of messages, and no others:

* **commands**, JSON, page to server: the members of `COMMANDS`;
* **notices**, JSON, server to page: the members of `NOTICES`, in `holonomy.viewer.protocol.notices`;
* **frames**, binary, server to page: a `FrameHeader` followed by the arrays of `FRAME_ARRAYS`, little-endian, in
  `holonomy.viewer.protocol.frames`.

A JSON message is an object whose `type` is the class's name in kebab case and whose other members are the fields of the
dataclass. `python -m holonomy.viewer.protocol.typescript` writes the same vocabulary to
`frontend/src/wire.ts`; a test keeps them in step.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final

from holonomy.viewer.protocol import export_formats
from holonomy.viewer.protocol.answers import (
    Announced,
    Answer,
    Download,
    Equations,
    EquationView,
    Refused,
    Shared,
)
from holonomy.viewer.protocol.backgrounds import Curves, CurveView, Field, MarkView, Surface
from holonomy.viewer.protocol.catalogue import (
    Catalogue,
    LabCard,
    PresetView,
    StoryView,
    Thumbnail,
    ThumbnailDot,
    ThumbnailLine,
)
from holonomy.viewer.protocol.frames import (
    FRAME_ARRAYS,
    HEADER,
    HEADER_FIELDS,
    Frame,
    FrameFlag,
    FrameHeader,
    pack,
    unpack,
)
from holonomy.viewer.protocol.notices import (  # fmt: skip
    NOTICES,
    ActionView,
    Alive,
    AnyAnswer,
    BodyView,
    CertificateView,
    ChannelView,
    ChoiceView,
    Controls,
    CoordinateView,
    EnergyView,
    Fault,
    Lab,
    LabEntry,
    LabView,
    Notice,
    Option,
    ParameterView,
    Phase,
    PictureView,
    PlotView,
    RodView,
    ShapeView,
    TextView,
    ToggleView,
    Welcome,
)

__all__ = [
    "COMMANDS", "FRAME_ARRAYS", "HEADER", "HEADER_FIELDS", "LONGEST_DOCUMENT", "NOTICES", "PROTOCOL", "Act",
    "ActionView", "Alive", "Announced", "Answer", "AnyAnswer", "AskEquations", "BodyView", "Cancel", "Catalogue",
    "CertificateView", "ChannelView", "ChoiceView", "Command", "Controls", "CoordinateView", "CurveView", "Curves",
    "Download", "DragBegin", "DragEnd", "DragMove", "EnergyView", "EquationView", "Equations", "Export", "Fault",
    "Field", "Frame", "FrameFlag", "FrameHeader", "Lab", "LabCard", "LabEntry", "LabView", "MarkView", "Notice",
    "Option", "ParameterView", "Pause", "Phase", "PictureView", "Play", "PlotView", "PresetView", "Range", "Redo",
    "Refused", "Reset", "Restore", "RodView", "Seek", "Seen", "SetChoice", "SetParameter", "SetSpeed", "SetText",
    "SetToggle", "ShapeView", "Share", "Shared", "Step", "StoryView", "Surface", "Text", "TextView", "Thumbnail",
    "ThumbnailDot", "ThumbnailLine", "ToggleView", "Undo", "Welcome", "pack", "tag", "unpack",
]  # fmt: skip

PROTOCOL: Final = 4
"""Raised when a page of the last version could misread this one. The page refuses another number."""

LONGEST_DOCUMENT: Final = 49152
"""Characters of a state document. That of a hundred links with a ghost has about 16 000."""


@dataclass(frozen=True, slots=True)
class Range:
    """The closed interval [low, high] in which a number in a message must lie."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Text:
    """At most `longest` characters."""

    longest: int


Name = Annotated[str, Text(64)]
Metres = Annotated[float, Range(-1e6, 1e6)]
Index = Annotated[int, Range(0, 65535)]


@dataclass(frozen=True, slots=True)
class Play:
    """Start or continue the motion."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Pause the motion."""


@dataclass(frozen=True, slots=True)
class Step:
    """Move by `frames` frames: forward when positive, back to the exact earlier state when negative."""

    frames: Annotated[int, Range(-600, 600)]
    repeat: bool
    """True while a key is held down: the whole series is then one action for undo."""


@dataclass(frozen=True, slots=True)
class Seek:
    """Go to the exact state at the frame nearest to this time, between a frame's `oldest` and `newest`."""

    time: Annotated[float, Range(-1e9, 1e9)]
    settled: bool
    """False while the timeline is being dragged: the whole series is one action for undo."""


@dataclass(frozen=True, slots=True)
class DragBegin:
    """Start to drag a body. The motion pauses until `DragEnd`."""

    body: Index


@dataclass(frozen=True, slots=True)
class DragMove:
    """Bring the dragged body as near to (x, y, z) as the system allows, at rest. In a plane z is 0."""

    x: Metres
    y: Metres
    z: Metres


@dataclass(frozen=True, slots=True)
class DragEnd:
    """Release the body, with the velocity (x, y, z) of the pointer where `BodyView.throws`, else at rest."""

    x: Metres
    y: Metres
    z: Metres


@dataclass(frozen=True, slots=True)
class SetParameter:
    """Give one parameter a value, keeping positions and velocities as far as the structure allows."""

    name: Name
    value: Annotated[float, Range(-1e12, 1e12)]
    settled: bool
    """False while a slider moves: all its values up to the settled one are one action for undo."""


@dataclass(frozen=True, slots=True)
class SetChoice:
    """Choose one of the options of a choice."""

    name: Name
    value: Name


@dataclass(frozen=True, slots=True)
class SetToggle:
    """Turn something on or off."""

    name: Name
    on: bool


@dataclass(frozen=True, slots=True)
class SetText:
    """Give one text, which may be a formula or a drawn curve; "page" is what the page keeps for itself."""

    name: Name
    value: Annotated[str, Text(32768)]
    settled: bool
    """False while a curve is being drawn: the whole series is one action for undo."""


@dataclass(frozen=True, slots=True)
class Act:
    """Press a button of the lab."""

    name: Name


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Seconds of motion for one second of the clock."""

    value: Annotated[float, Range(0.01, 10.0)]


@dataclass(frozen=True, slots=True)
class Reset:
    """Go back to the lab's first state at time zero; with `defaults`, to its first settings too."""

    defaults: bool


@dataclass(frozen=True, slots=True)
class Undo:
    """Restore the exact state before the last action, its time included."""


@dataclass(frozen=True, slots=True)
class Redo:
    """Restore the exact state that the last undo left."""


@dataclass(frozen=True, slots=True)
class Share:
    """Ask for the complete state as a document; `Shared` brings it."""


@dataclass(frozen=True, slots=True)
class Restore:
    """Restore the state in a document that `Shared` brought, in this session or an earlier one."""

    document: Annotated[str, Text(LONGEST_DOCUMENT)]


@dataclass(frozen=True, slots=True)
class Export:
    """Make a file of the present state (python, toml) or of the motion so far (others); `Download` brings it."""

    kind: export_formats.Kind


@dataclass(frozen=True, slots=True)
class AskEquations:
    """Ask for the equations of motion; `Equations` brings them, perhaps seconds later."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Take back the change whose equations of motion are being compiled; the motion before goes on."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A frame has arrived. The server keeps few frames on the way, so a slow page gets the newest, never a queue."""

    sequence: Annotated[int, Range(0, 2**32 - 1)]


Command = (
    Play | Pause | Step | Seek | DragBegin | DragMove | DragEnd | SetParameter | SetChoice | SetToggle | SetText | Act
    | SetSpeed | Reset | Undo | Redo | Share | Restore | Export | AskEquations | Cancel | Seen
)  # fmt: skip
COMMANDS: Final[tuple[type, ...]] = (
    Play, Pause, Step, Seek, DragBegin, DragMove, DragEnd, SetParameter, SetChoice, SetToggle, SetText, Act, SetSpeed,
    Reset, Undo, Redo, Share, Restore, Export, AskEquations, Cancel, Seen,
)  # fmt: skip


def tag(kind: type) -> str:
    """The `type` member of a message: the class's name in kebab case (`DragBegin` is `drag-begin`)."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()

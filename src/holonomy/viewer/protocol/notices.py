"""Notices: what the server tells the page. Part of the vocabulary of `holonomy.viewer.protocol.messages`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from holonomy.viewer.protocol.answers import Announced, Download, Equations, Refused, Shared
from holonomy.viewer.protocol.backgrounds import Curves, Field, Surface
from holonomy.viewer.protocol.catalogue import Catalogue

Phase = Literal["opening", "compiling", "ready", "failed"]
"""While "opening", the picture shows the state with which the motion begins as soon as its equations are compiled.
While "compiling", the motion goes on as it was, and the controls show what it changes to."""


@dataclass(frozen=True, slots=True)
class LabEntry:
    """One lab in the list of labs."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class CoordinateView:
    """One coordinate of the system and how to write it."""

    name: str
    symbol: str
    unit: str
    rate_symbol: str
    rate_unit: str
    period: float | None
    """A turn, for coordinates that come back to themselves; null for others."""


@dataclass(frozen=True, slots=True)
class ParameterView:
    """One number the user may change, and the interval in which it makes sense. A slider and an exact box."""

    name: str
    label: str
    symbol: str
    unit: str
    low: float
    high: float
    step: float
    default: float
    group: str = ""
    """Parameters of one group stand together under this heading, which can be folded away; "" stands on its own."""
    integer: bool = False
    """Whether only whole numbers make sense."""
    logarithmic: bool = False
    """Whether the slider should move by factors rather than by differences."""
    most: float | None = None
    """What the box accepts at most, where that is more than the slider's `high`."""
    least: float | None = None
    """What the box accepts at least, where that is less than the slider's `low`."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of the values of a choice."""

    value: str
    label: str
    note: str = ""
    """A sentence that says what it is good for; may be empty."""


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """One of a few, set by `SetChoice`."""

    name: str
    label: str
    options: tuple[Option, ...]
    default: str
    group: str = ""
    """The heading under which it stands; "" stands on its own."""


@dataclass(frozen=True, slots=True)
class ToggleView:
    """A switch, set by `SetToggle`."""

    name: str
    label: str
    default: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class TextView:
    """A text, set by `SetText`: a formula on one line, several lines, or a curve that is drawn in a picture.

    A curve is JSON: a list of points [[x, y], …] in the coordinates of its picture, closed by the page.
    """

    name: str
    label: str
    default: str
    kind: Literal["formula", "lines", "curve"]
    picture: int = 0
    """In which picture a curve is drawn and edited."""
    hint: str = ""
    """An example of what to type."""
    group: str = ""
    longest: int = 4000
    spline: str = ""
    """The switch that joins a curve's points by a periodic cubic spline; without one, lines do."""


@dataclass(frozen=True, slots=True)
class ActionView:
    """A button, pressed by `Act`."""

    name: str
    label: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PictureView:
    """One picture: a plane seen from the front, space that can be turned, space with a surface in it whose points the
    bodies are, or a field: a rectangle of two coordinates coloured by a function. Bodies say in which one they are."""

    name: str
    title: str
    kind: Literal["plane", "space", "surface", "field"]
    boundary: Literal["none", "ball", "cylinder", "floor", "disc"] = "none"
    """What encloses the points of a model of a space: a unit sphere, a cylinder about the third axis, the plane below a
    half-space, a unit circle."""


@dataclass(frozen=True, slots=True)
class BodyView:
    """One point of the picture that can be drawn and, unless it is a ghost, dragged."""

    label: str
    trail: bool
    """Whether its path says something and is drawn behind it."""
    colour: int = 0
    """Which of the page's body colours, counted round."""
    ghost: bool = False
    """Whether it belongs to a second motion that is drawn faded behind the first."""
    grasp: bool = True
    """Whether a hand can take hold of it (`DragBegin`)."""
    throws: bool = False
    """Whether the velocity in `DragEnd` is given to it; otherwise it starts at rest."""
    picture: int = 0


@dataclass(frozen=True, slots=True)
class RodView:
    """A straight line in the picture between two of the frame's points."""

    start: int
    end: int
    elastic: bool = False
    """Whether its entry in the frame's `strain` means something and is shown by colour and width."""
    ghost: bool = False


@dataclass(frozen=True, slots=True)
class ShapeView:
    """Something drawn through `count` of the frame's points, the first of them `first`, that moves with them.

    A polyline or a filled polygon joins them in order; an arrow leads from the first to the last; discs stand at each,
    of `radius` metres; a label stands at the first; a mesh has triangles, three entries of `faces` each, counted from
    `first`.
    """

    kind: Literal["polyline", "polygon", "arrow", "disc", "label", "mesh"]
    first: int
    count: int
    colour: int = 0
    picture: int = 0
    text: str = ""
    radius: float = 0.0
    faces: tuple[int, ...] = ()
    ghost: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class EnergyView:
    """One of the energies in a frame, for the bars; the channel of the same name is its history."""

    name: str
    label: str
    symbol: str
    group: str = ""
    """Which motion's energy it is; bars of one group stand together, groups side by side."""
    total: bool = False
    """Whether it is the sum of the others of its group."""


@dataclass(frozen=True, slots=True)
class ChannelView:
    """One number that can be plotted over time or against another."""

    name: str
    symbol: str
    label: str
    unit: str
    group: str
    """Heading under which a list of channels shows it."""
    period: float | None = None
    """A turn, for numbers that come back to themselves: curves are then drawn folded into one turn."""
    colour: int | None = None
    """The body colour that it shares; null for none."""
    ghost: bool = False
    logarithmic: bool = False
    """Whether an axis of powers of ten shows it best."""
    meter: float | None = None
    """The value at which a meter of it is full; null for channels without a meter."""
    highlight: bool = False
    """Whether its present value is written out beside the controls."""


@dataclass(frozen=True, slots=True)
class PlotView:
    """A plot that the lab opens with; the user can put other channels on either axis."""

    title: str
    kind: Literal["time", "phase"]
    x: tuple[str, ...]
    """Names of channels, or "t": one for all curves, or one for each."""
    y: tuple[str, ...]
    seconds: float
    """How much of the recent motion it shows."""


@dataclass(frozen=True, slots=True)
class LabView:
    """Everything about a lab that does not change until the next notice `Lab` with another revision.

    The points of a frame are first `anchors` fixed ones of the first picture, then the bodies in order, then further
    points of the shapes; rods and shapes count them all.
    """

    name: str
    title: str
    summary: str
    revision: int
    anchors: int
    pictures: tuple[PictureView, ...]
    coordinates: tuple[CoordinateView, ...]
    parameters: tuple[ParameterView, ...]
    choices: tuple[ChoiceView, ...]
    toggles: tuple[ToggleView, ...]
    texts: tuple[TextView, ...]
    actions: tuple[ActionView, ...]
    bodies: tuple[BodyView, ...]
    rods: tuple[RodView, ...]
    shapes: tuple[ShapeView, ...]
    energies: tuple[EnergyView, ...]
    channels: tuple[ChannelView, ...]
    plots: tuple[PlotView, ...]
    method: str
    dt: float
    frame_seconds: float
    speed_low: float
    speed_high: float
    formulas: bool = False
    """Whether the page opens the formulas of `AskEquations` beside the pictures."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """The first notice on a connection."""

    protocol: int
    version: str
    labs: tuple[LabEntry, ...]
    session: str
    """Opening the socket with `session=` this resumes the same simulation for a while after a connection was lost."""
    resumed: bool
    lab: LabView


@dataclass(frozen=True, slots=True)
class Lab:
    """The lab has another structure from now on; frames of earlier revisions are void."""

    lab: LabView


@dataclass(frozen=True, slots=True)
class CertificateView:
    """What computes the motion and what is known of it; drift, rate and steps are in every frame."""

    engine: str
    method: str
    traits: tuple[str, ...]
    """In words: order, symplectic or not, reversible or not, what it conserves."""
    note: str
    """Why a number is to be taken with care; empty when there is no reason."""
    drift_limit: float | None
    """Energy drift, relative to the energy, beyond which the motion is doubtful; null where energy is not conserved."""
    known_until: float | None = None
    """The time from which on errors of rounding are no longer small; null where there is none or it is not known."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the settings that are shown make no motion, for as long as they do not: time is held meanwhile."""

    message: str
    setting: str
    """The setting at which the sentence stands; "" where it is none."""
    start: int
    """In a text, the first character that is wrong."""
    end: int
    """The character after the last wrong one; `start` where the place is known but not its length."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What the controls should show now; sent whenever any of it changes."""

    phase: Phase
    message: str
    playing: bool
    speed: float
    held: int | None
    parameters: dict[str, float]
    choices: dict[str, str]
    toggles: dict[str, bool]
    texts: dict[str, str]
    """The texts, and under "page" what the page keeps for itself."""
    extents: tuple[float, ...]
    """For each picture, half the width of a square about the origin that holds every position, in metres."""
    radii: tuple[float, ...]
    """Radius of each body in the picture as a fraction of its picture's extent."""
    certificate: CertificateView
    undo: str | None
    """What undo would take back, in the user's words; null when there is nothing."""
    redo: str | None
    faults: tuple[Fault, ...] = ()
    """Why there is no motion of the settings that are shown; empty where the motion is of them."""
    current: dict[str, int] = field(default_factory=dict)
    """For each `type` of answer, the number of what one that is up to date is computed from (`Answer.of`); under
    "history", that of the timeline whose rows are plotted."""


@dataclass(frozen=True, slots=True)
class Alive:
    """Sent when nothing else was for a moment: a page that hears nothing knows that the server has stopped."""


AnyAnswer = Refused | Announced | Shared | Equations | Download | Surface | Field | Curves
Notice = (
    Welcome | Lab | Controls | Refused | Announced | Shared | Equations | Download | Surface | Field | Curves
    | Catalogue | Alive
)  # fmt: skip
NOTICES: Final[tuple[type, ...]] = (
    Welcome, Lab, Controls, Refused, Announced, Shared, Equations, Download, Surface, Field, Curves, Catalogue, Alive,
)  # fmt: skip

"""Notices: what the server tells the page. Part of the vocabulary of `holonomy.viewer.protocol.messages`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Phase = Literal["compiling", "ready", "failed"]


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


@dataclass(frozen=True, slots=True)
class ToggleView:
    """A switch, set by `SetToggle`."""

    name: str
    label: str
    default: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class ActionView:
    """A button, pressed by `Act`."""

    name: str
    label: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PictureView:
    """One picture: a plane seen from the front, space that can be turned, or space with a unit sphere in it whose
    points the bodies are. Bodies say in which one they are."""

    name: str
    title: str
    kind: Literal["plane", "space", "surface"]


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

    The points of a frame are first `anchors` fixed ones of the first picture, then the bodies in order; rods count them
    all.
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
    actions: tuple[ActionView, ...]
    bodies: tuple[BodyView, ...]
    rods: tuple[RodView, ...]
    energies: tuple[EnergyView, ...]
    channels: tuple[ChannelView, ...]
    plots: tuple[PlotView, ...]
    method: str
    dt: float
    frame_seconds: float
    speed_low: float
    speed_high: float


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
    extents: tuple[float, ...]
    """For each picture, half the width of a square about the origin that holds every position, in metres."""
    radii: tuple[float, ...]
    """Radius of each body in the picture as a fraction of its picture's extent."""
    certificate: CertificateView
    undo: str | None
    """What undo would take back, in the user's words; null when there is nothing."""
    redo: str | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A command that could not be carried out, and why, in one sentence."""

    message: str
    command: str
    """The `type` of that command, so that the sentence can stand beside its control; "" when there was none."""


@dataclass(frozen=True, slots=True)
class Shared:
    """The complete state as a versioned JSON document, for a link or a file; `Restore` restores it bit for bit."""

    document: str


@dataclass(frozen=True, slots=True)
class EquationView:
    """One displayed formula."""

    title: str
    latex: str


@dataclass(frozen=True, slots=True)
class Equations:
    """The equations of motion of the present structure, or a sentence that says why there are none to read."""

    revision: int
    message: str
    items: tuple[EquationView, ...]


@dataclass(frozen=True, slots=True)
class Download:
    """A file is ready: GET `path` (relative to the page) once, soon; the browser keeps it under `filename`."""

    path: str
    filename: str


@dataclass(frozen=True, slots=True)
class Surface:
    r"""A unit sphere coloured by a function; sent when the function changes, never with frames.

    Vertex j of row i lies at the polar angle \(\pi i/(rows-1)\) from the third axis and at the azimuth
    \(2\pi j/(columns-1)\) from the first; rows come one after the other. Without rows the sphere is bare.
    """

    picture: int
    rows: int
    columns: int
    symbol: str
    label: str
    unit: str
    low: float
    """The ends of the colour scale; few values lie beyond them."""
    high: float
    least: float
    most: float
    values: str
    """Little-endian float32 in base64, one for each vertex."""


@dataclass(frozen=True, slots=True)
class CurveView:
    """A line in a picture, such as a geodesic."""

    kind: Literal["fan", "shortest", "axis"]
    points: str
    """Little-endian float32 in base64, three for each point."""


@dataclass(frozen=True, slots=True)
class MarkView:
    """A marked place with a letter; it does not move and cannot be dragged."""

    label: str
    x: float
    y: float
    z: float


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines and marks that do not move; they replace those that were sent before."""

    picture: int
    curves: tuple[CurveView, ...]
    marks: tuple[MarkView, ...]
    note: str
    """What they show, in a sentence; may be empty."""


Notice = Welcome | Lab | Controls | Refused | Shared | Equations | Download | Surface | Curves
NOTICES: Final[tuple[type, ...]] = (
    Welcome, Lab, Controls, Refused, Shared, Equations, Download, Surface, Curves
)  # fmt: skip

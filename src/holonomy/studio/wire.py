"""What the studio's server and its page say to each other.

Three vocabularies, and nothing else travels:

* **commands**, JSON, page to server: the members of `COMMANDS`;
* **notices**, JSON, server to page: the members of `NOTICES`;
* **frames**, binary, server to page: a `FrameHeader` followed by the arrays of `FRAME_ARRAYS`, little-endian.

A JSON message is an object whose `type` is the class's name in kebab case and whose other members are the fields of the
dataclass. `python -m holonomy.studio.wire` writes the same vocabulary to `frontend/src/wire.ts`; a test keeps them in
step.
"""

from __future__ import annotations

import enum
import re
import struct
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
from jaxtyping import Float

Phase = Literal["compiling", "ready", "failed"]

PROTOCOL: Final = 1
"""Raised when a page of the last version could misread this one. The page refuses another number."""


@dataclass(frozen=True, slots=True)
class Range:
    """The closed interval [low, high] in which a number on the wire must lie."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Text:
    """At most `longest` characters."""

    longest: int


Name = Annotated[str, Text(64)]
Metres = Annotated[float, Range(-1e6, 1e6)]
Index = Annotated[int, Range(0, 65535)]


# ── Commands: what the page asks for ──────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Play:
    """Let time run."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Hold time where it is."""


@dataclass(frozen=True, slots=True)
class Step:
    """Move by `frames` pictures: forward when positive, back to the exact earlier state when negative."""

    frames: Annotated[int, Range(-600, 600)]
    repeat: bool
    """True while a key is held down: the whole series is then one action for undo."""


@dataclass(frozen=True, slots=True)
class DragBegin:
    """Take hold of a body. Time stands still until `DragEnd`."""

    body: Index


@dataclass(frozen=True, slots=True)
class DragMove:
    """Bring the body held as near to (x, y) as the system lets it, at rest."""

    x: Metres
    y: Metres


@dataclass(frozen=True, slots=True)
class DragEnd:
    """Let the body go."""


@dataclass(frozen=True, slots=True)
class SetParameter:
    """Give one parameter a value, keeping positions and velocities."""

    name: Name
    value: Annotated[float, Range(-1e12, 1e12)]
    settled: bool
    """False while a slider moves: all its values up to the settled one are one action for undo."""


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Seconds of motion for one second of the clock."""

    value: Annotated[float, Range(0.01, 10.0)]


@dataclass(frozen=True, slots=True)
class Reset:
    """Go back to the lab's first state at time zero; with `defaults`, to its first parameters too."""

    defaults: bool


@dataclass(frozen=True, slots=True)
class Undo:
    """Restore the exact state before the last action, its time included."""


@dataclass(frozen=True, slots=True)
class Redo:
    """Restore the exact state that the last undo left."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A frame has arrived. The server keeps few frames on the way, so a slow page gets the newest, never a queue."""

    sequence: Annotated[int, Range(0, 2**32 - 1)]


Command = Play | Pause | Step | DragBegin | DragMove | DragEnd | SetParameter | SetSpeed | Reset | Undo | Redo | Seen
COMMANDS: Final[tuple[type, ...]] = (
    Play, Pause, Step, DragBegin, DragMove, DragEnd, SetParameter, SetSpeed, Reset, Undo, Redo, Seen,
)  # fmt: skip


# ── Notices: what the server says ─────────────────────────────────────────────────────────────────


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
    """One number the user may change, and the interval in which it makes sense."""

    name: str
    label: str
    symbol: str
    unit: str
    low: float
    high: float
    step: float
    default: float


@dataclass(frozen=True, slots=True)
class BodyView:
    """One point of the picture that can be drawn and dragged."""

    label: str
    trail: bool
    """Whether its path says something and is drawn behind it."""


@dataclass(frozen=True, slots=True)
class RodView:
    """A straight line in the picture between two of the frame's points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EnergyView:
    """One of the energies in a frame."""

    name: str
    label: str
    symbol: str


@dataclass(frozen=True, slots=True)
class LabView:
    """Everything about a lab that does not change while it runs.

    The points of a frame are first `anchors` fixed ones, then the bodies in order; rods count them all.
    """

    name: str
    title: str
    summary: str
    anchors: int
    coordinates: tuple[CoordinateView, ...]
    parameters: tuple[ParameterView, ...]
    bodies: tuple[BodyView, ...]
    rods: tuple[RodView, ...]
    energies: tuple[EnergyView, ...]
    method: str
    dt: float
    frame_seconds: float


@dataclass(frozen=True, slots=True)
class Welcome:
    """The first notice on a connection."""

    protocol: int
    version: str
    labs: tuple[LabEntry, ...]
    lab: LabView


@dataclass(frozen=True, slots=True)
class Controls:
    """What the controls should show now; sent whenever any of it changes."""

    phase: Phase
    message: str
    playing: bool
    speed: float
    held: int | None
    parameters: dict[str, float]
    extent: float
    """Half the width of a square about the origin that holds every position, in metres."""
    radii: tuple[float, ...]
    """Radius of each body in the picture as a fraction of `extent`."""
    undo: str | None
    """What undo would take back, in the user's words; null when there is nothing."""
    redo: str | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A command that could not be carried out, and why, in one sentence."""

    message: str


Notice = Welcome | Controls | Refused
NOTICES: Final[tuple[type, ...]] = (Welcome, Controls, Refused)


# ── Frames: what is drawn ─────────────────────────────────────────────────────────────────────────

U32 = Annotated[int, "I"]
F64 = Annotated[float, "d"]


class FrameFlag(enum.IntFlag):
    """Bits of `FrameHeader.flags`."""

    PLAYING = 1
    HELD = 2
    BEHIND = 4
    """Physics took longer than the clock allows, so time runs slower than asked."""


@dataclass(frozen=True, slots=True)
class FrameHeader:
    """The fixed part of a frame. Field order is byte order; every array after it starts at a multiple of 8 bytes."""

    sequence: U32
    flags: U32
    coordinates: U32
    energies: U32
    points: U32
    dimension: U32
    samples: U32
    """Rows of recent motion since the last frame that was sent."""
    sample_width: U32
    time: F64
    drift: F64
    """Energy now minus energy at the last jump, in joules."""
    rate: F64
    """Seconds of motion in the last second of the clock."""


@dataclass(frozen=True, slots=True)
class FrameArray:
    """One float64 array after the header; its length is the product of the header fields in `lengths`."""

    name: str
    lengths: tuple[str, ...]


FRAME_ARRAYS: Final = (
    FrameArray("q", ("coordinates",)),
    FrameArray("v", ("coordinates",)),
    FrameArray("energy", ("energies",)),
    FrameArray("position", ("points", "dimension")),
    FrameArray("sample", ("samples", "sample_width")),
)

HEADER: Final = struct.Struct("<" + "I" * 8 + "d" * 3)
HEADER_FIELDS: Final = tuple(FrameHeader.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the motion: exact time, coordinates and velocities, energies, and where to draw the points.

    A row of `sample` is a time, the energies, and the position of each traced body. Rows come close in time however
    few frames reach the page, so that curves and trails do not depend on its speed. A row of NaN stands where the
    motion was changed by hand.
    """

    sequence: int
    flags: FrameFlag
    time: float
    drift: float
    rate: float
    q: Float[np.ndarray, " coordinates"]
    v: Float[np.ndarray, " coordinates"]
    energy: Float[np.ndarray, " energies"]
    position: Float[np.ndarray, "points dimension"]
    sample: Float[np.ndarray, "samples sample_width"]


def pack(frame: Frame) -> bytes:
    """The frame as bytes: header, then the arrays in the order of `FRAME_ARRAYS` as little-endian float64."""
    header = HEADER.pack(
        frame.sequence % 2**32, int(frame.flags), frame.q.size, frame.energy.size,
        *frame.position.shape, *frame.sample.shape, frame.time, frame.drift, frame.rate,
    )  # fmt: skip
    arrays = (frame.q, frame.v, frame.energy, frame.position, frame.sample)
    return header + b"".join(np.ascontiguousarray(a, dtype="<f8").tobytes() for a in arrays)


def unpack(data: bytes) -> Frame:
    """The frame that `pack` wrote. Raises `ValueError` when the length does not fit the header."""
    if len(data) < HEADER.size:
        raise ValueError(f"A frame has at least {HEADER.size} bytes, but {len(data)} came.")
    sequence, flags, n, energies, points, dimension, samples, width, time, drift, rate = HEADER.unpack_from(data)
    sizes = (n, n, energies, points * dimension, samples * width)
    if len(data) != HEADER.size + 8 * sum(sizes):
        raise ValueError(f"The header announces {sum(sizes)} numbers, but {len(data) - HEADER.size} bytes follow it.")
    numbers = np.frombuffer(data, dtype="<f8", offset=HEADER.size)
    q, v, energy, position, sample = np.split(numbers, np.cumsum(sizes)[:-1])
    position, sample = position.reshape(points, dimension), sample.reshape(samples, width)
    return Frame(sequence, FrameFlag(flags), time, drift, rate, q, v, energy, position, sample)


def tag(kind: type) -> str:
    """The `type` member of a message: the class's name in kebab case (`DragBegin` is `drag-begin`)."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()


if __name__ == "__main__":
    from holonomy.studio.typescript import main

    main()

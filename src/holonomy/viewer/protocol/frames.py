"""Frames: what is drawn, as bytes. Part of the vocabulary of `holonomy.viewer.protocol.messages`."""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from jaxtyping import Float

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
    revision: U32
    """The `LabView.revision` that this frame belongs to; the page drops frames of others."""
    coordinates: U32
    energies: U32
    channels: U32
    points: U32
    dimension: U32
    rods: U32
    traced: U32
    """Bodies whose places are in the rows, in the order of the bodies."""
    samples: U32
    """Rows of recent motion since the last frame that was sent."""
    sample_width: U32
    """1 + channels + traced × dimension."""
    time: F64
    drift: F64
    """Energy now minus energy at the last jump, in joules."""
    rate: F64
    """Seconds of motion in the last second of the clock."""
    oldest: F64
    """The first time that `Seek` can reach."""
    newest: F64
    """The last time that `Seek` can reach."""
    steps: F64
    """Steps of the method since the last jump."""


@dataclass(frozen=True, slots=True)
class FrameArray:
    """One float64 array after the header; its length is the product of the header fields in `lengths`."""

    name: str
    lengths: tuple[str, ...]


FRAME_ARRAYS: Final = (
    FrameArray("q", ("coordinates",)),
    FrameArray("v", ("coordinates",)),
    FrameArray("energy", ("energies",)),
    FrameArray("channel", ("channels",)),
    FrameArray("position", ("points", "dimension")),
    FrameArray("strain", ("rods",)),
    FrameArray("sample", ("samples", "sample_width")),
)

HEADER: Final = struct.Struct("<" + "I" * 12 + "d" * 6)
HEADER_FIELDS: Final = tuple(FrameHeader.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the motion: exact time, coordinates and velocities, channels, and where to draw the points.

    `channel` holds the present value of each of `LabView.channels`, `strain` the relative stretch of each rod, zero for
    rigid ones. A row of `sample` is a time, the channels, and the position of each traced body. Rows come close in time
    however few frames reach the page, so that curves and trails do not depend on its speed. A row of NaN stands where
    the motion was changed by hand. A single channel is NaN where it has no value.
    """

    sequence: int
    flags: FrameFlag
    revision: int
    time: float
    drift: float
    rate: float
    oldest: float
    newest: float
    steps: int
    q: Float[np.ndarray, " coordinates"]
    v: Float[np.ndarray, " coordinates"]
    energy: Float[np.ndarray, " energies"]
    channel: Float[np.ndarray, " channels"]
    position: Float[np.ndarray, "points dimension"]
    strain: Float[np.ndarray, " rods"]
    sample: Float[np.ndarray, "samples sample_width"]


def pack(frame: Frame) -> bytes:
    """The frame as bytes: header, then the arrays in the order of `FRAME_ARRAYS` as little-endian float64."""
    points, dimension = frame.position.shape
    samples, width = frame.sample.shape
    traced = max(0, width - 1 - frame.channel.size) // max(1, dimension)
    header = HEADER.pack(
        frame.sequence % 2**32, int(frame.flags), frame.revision % 2**32, frame.q.size, frame.energy.size,
        frame.channel.size, points, dimension, frame.strain.size, traced, samples, width,
        frame.time, frame.drift, frame.rate, frame.oldest, frame.newest, float(frame.steps),
    )  # fmt: skip
    arrays = (frame.q, frame.v, frame.energy, frame.channel, frame.position, frame.strain, frame.sample)
    return header + b"".join(np.ascontiguousarray(a, dtype="<f8").tobytes() for a in arrays)


def unpack(data: bytes) -> Frame:
    """The frame that `pack` wrote. Raises `ValueError` when the length does not fit the header."""
    if len(data) < HEADER.size:
        raise ValueError(f"A frame has at least {HEADER.size} bytes, but {len(data)} came.")
    sequence, flags, revision, n, energies, channels, points, dimension, rods, _, samples, width, *numbers = (
        HEADER.unpack_from(data)
    )
    time, drift, rate, oldest, newest, steps = numbers
    sizes = (n, n, energies, channels, points * dimension, rods, samples * width)
    if len(data) != HEADER.size + 8 * sum(sizes):
        raise ValueError(f"The header announces {sum(sizes)} numbers, but {len(data) - HEADER.size} bytes follow it.")
    body = np.frombuffer(data, dtype="<f8", offset=HEADER.size)
    q, v, energy, channel, position, strain, sample = np.split(body, np.cumsum(sizes)[:-1])
    return Frame(
        sequence, FrameFlag(flags), revision, time, drift, rate, oldest, newest, int(steps), q, v, energy, channel,
        position.reshape(points, dimension), strain, sample.reshape(samples, width),
    )  # fmt: skip

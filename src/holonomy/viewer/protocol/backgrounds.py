"""What stands still behind the motion: surfaces, fields, curves; part of `viewer.protocol.messages`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from holonomy.viewer.protocol.answers import Answer


@dataclass(frozen=True, slots=True)
class Surface(Answer):
    r"""A surface coloured by a function; sent when the function changes, never with frames.

    Rows of vertices come one after the other. Without `points` it is the unit sphere: vertex j of row i lies at the
    polar angle \(\pi i/(rows-1)\) from the third axis and at the azimuth \(2\pi j/(columns-1)\) from the first.
    Without rows the sphere is bare.
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
    points: str = ""
    """Where the vertices are: little-endian float32 in base64, three for each; "" for the unit sphere."""
    signed: bool = False
    """Whether the sign matters: colours then diverge about zero, each side with a scale of its own."""


@dataclass(frozen=True, slots=True)
class Field(Answer):
    r"""A picture of kind "field": a function of two coordinates as a heat map with contours, behind what moves.

    Values are given row by row: row i at the y coordinate \(y_{low} + (y_{high} - y_{low})\, i/(rows-1)\), from the
    lowest x to the highest. Points of frames in such a picture are these coordinates.
    """

    picture: int
    rows: int
    columns: int
    x_low: float
    x_high: float
    x_symbol: str
    x_unit: str
    y_low: float
    y_high: float
    y_symbol: str
    y_unit: str
    symbol: str
    label: str
    unit: str
    low: float
    """The ends of the colour scale; few values lie beyond them."""
    high: float
    signed: bool
    """Whether colours diverge about zero."""
    values: str
    """Little-endian float32 in base64; NaN where there is no value."""


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
class Curves(Answer):
    """Lines and marks that do not move; they replace those that were sent before."""

    picture: int
    curves: tuple[CurveView, ...]
    marks: tuple[MarkView, ...]
    note: str
    """What they show, in a sentence; may be empty."""

"""The catalogue of labs: what the home page and the pictures of presets show. The server gives it at `/labs`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ThumbnailLine:
    """A line through some of the moving points of a thumbnail, in this order."""

    points: tuple[int, ...]
    colour: int
    """Of a body; -1 for the colour of rods."""
    ghost: bool = False
    filled: bool = False


@dataclass(frozen=True, slots=True)
class ThumbnailDot:
    """A disc at one of the moving points; its radius is a fraction of half the thumbnail's width."""

    point: int
    colour: int
    radius: float
    ghost: bool = False
    trail: bool = False
    """Whether the path of the last frames is drawn behind it."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small picture that moves: positions of some points in a few frames, seen from a fixed direction.

    Coordinates lie in [-1, 1], x to the right and y upwards, as little-endian int16 of which 32767 is 1, in base64. The
    first frame is the opening pose.
    """

    frames: int
    seconds: float
    """Duration of all frames at normal speed."""
    count: int
    """Moving points."""
    places: str
    """For each frame, for each point, x and y."""
    lines: tuple[ThumbnailLine, ...]
    dots: tuple[ThumbnailDot, ...]
    curves: tuple[str, ...] = ()
    """Lines that do not move, each with x and y for each point."""
    circle: float = 0.0
    """Radius of the outline of a sphere or a disc about the middle; 0 for none."""


@dataclass(frozen=True, slots=True)
class PresetView:
    """A preset as a picture; the action "preset:NAME" takes it."""

    name: str
    label: str
    note: str
    thumbnail: Thumbnail | None


@dataclass(frozen=True, slots=True)
class StoryView:
    """A captioned sequence of states; the action "story:NAME:STEP" takes one, counted from 0.

    Texts are given by language ("en", "de"); every text has at least one.
    """

    name: str
    title: dict[str, str]
    captions: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class LabCard:
    """A lab on the home page."""

    name: str
    title: str
    sentence: str
    hint: str
    """What to drag, said until the user has dragged something; "" for nothing."""
    presets: tuple[PresetView, ...]
    stories: tuple[StoryView, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All labs, in the order in which the page lists them."""

    labs: tuple[LabCard, ...]

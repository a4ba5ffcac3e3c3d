"""What a lab says of itself that does not depend on its settings, and the stories that are told about it."""

from __future__ import annotations

from dataclasses import dataclass

from holonomy.studio.labs.settings import NOTHING_SET, Settings
from holonomy.viewer.protocol import messages


@dataclass(frozen=True)
class Preset:
    """Settings under a name. What they leave out is at its default."""

    name: str
    label: str
    settings: Settings = NOTHING_SET
    note: str = ""
    picture: int = 0
    """Which of the lab's pictures its thumbnail shows."""
    seconds: float = 4.0
    """How much of the motion the thumbnail shows."""


@dataclass(frozen=True)
class LabDescriptor:
    """What does not depend on the settings: name (of the folder and in addresses), title, pictures, presets.

    The lab opens with the first preset. Where there are several, the page has a button for each.
    """

    name: str
    title: str
    pictures: tuple[messages.PictureView, ...]
    presets: tuple[Preset, ...] = (Preset("default", "Default settings"),)
    sentence: str = ""
    """What the lab is about, for the home page."""
    hint: str = ""
    """What to drag, said beside the picture until the user has dragged something."""
    frame_seconds: float = 1 / 60
    """Motion between two frames at speed 1; a whole number of steps."""
    speed_low: float = 0.1
    speed_high: float = 5.0


@dataclass(frozen=True)
class StoryStep:
    """One state of a story: complete settings, whether the motion starts anew, whether time runs, and how fast.

    Without `restart` the motion goes on where it was, if the step before was shown. `play` and `speed` are None to
    leave them as they are.
    """

    caption: dict[str, str]
    settings: Settings
    restart: bool
    play: bool | None = None
    speed: float | None = None


@dataclass(frozen=True)
class Story:
    """A captioned sequence of states; `studio.stories` reads it from a file. Texts are given by language."""

    name: str
    title: dict[str, str]
    steps: tuple[StoryStep, ...]

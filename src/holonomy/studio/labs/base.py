"""What a lab is: systems of one kind, what a user may set about them, and how to draw and grasp them.

A new lab is one final class in `studio/labs` and one line in `studio/labs/__init__.py`; everything else (time, history,
undo, frames, the page) is shared. A lab is asked two kinds of things. Those that are asked all the time are answered
with NumPy, at once, by the class itself. What is compiled, a `Program`, is traced with JAX in another process, so its
module is imported only when `program` or `equations` is called.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from holonomy.studio.compile.kernel import Kernel
from holonomy.viewer.protocol import messages

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

Coordinates = Float[np.ndarray, " n"]
Structure = tuple[tuple[str, Hashable], ...]
"""What decides which code is compiled, as names and values; all else is numbers."""


class Refusal(Exception):
    """A command that makes sense, but not now or not with this value; the sentence goes to the user."""


@dataclass(frozen=True)
class Settings:
    """Everything a user has set: numbers, choices and what is on."""

    parameters: Mapping[str, float]
    choices: Mapping[str, str]
    toggles: Mapping[str, bool]

    def with_parameter(self, name: str, value: float) -> Settings:
        """The same with one other number."""
        return replace(self, parameters={**self.parameters, name: value})

    def with_choice(self, name: str, value: str) -> Settings:
        """The same with one other choice."""
        return replace(self, choices={**self.choices, name: value})

    def with_toggle(self, name: str, on: bool) -> Settings:
        """The same with one thing on or off."""
        return replace(self, toggles={**self.toggles, name: on})


@dataclass(frozen=True)
class Extra:
    """What the shell computes beside the motion itself, for the channels of `AbstractLab.channels`."""

    divergence: float
    lyapunov: float


@dataclass(frozen=True)
class Deed:
    """What a button of the lab does: other settings of the same structure, another state, time that begins to run."""

    settings: Settings
    q: Coordinates
    v: Coordinates
    play: bool = False


class AbstractLab(ABC):
    """A kind of system with its settings, picture and energies. Holds no state: one object serves all users."""

    name: str
    title: str
    frame_seconds: float
    """Motion between two pictures at speed 1; a whole number of steps."""

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    def opening(self) -> Settings:
        """The settings with which the lab opens: everything at its default."""
        return self.completed(Settings({}, {}, {}))

    @abstractmethod
    def completed(self, settings: Settings) -> Settings:
        """The settings with what they need added at its default and what they do not know left out.

        Raises `Refusal` for a combination that makes no sense.
        """

    @abstractmethod
    def view(self, settings: Settings, revision: int) -> messages.LabView:
        """What the page is told. Depends on settings only through `outline`."""

    @abstractmethod
    def outline(self, settings: Settings) -> Hashable:
        """Equal for settings that have the same `view`."""

    @abstractmethod
    def structure(self, settings: Settings) -> Structure:
        """Which code the motion needs."""

    @abstractmethod
    def likely(self, settings: Settings) -> tuple[Structure, ...]:
        """Structures that the user may want next, the likeliest first; they are compiled while there is time."""

    # ── The motion ────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def step(self, settings: Settings) -> float:
        """The method's step in seconds."""

    @abstractmethod
    def numbers(self, settings: Settings) -> Float[np.ndarray, " numbers"]:
        """The parameters as the row that the compiled code takes."""

    @abstractmethod
    def start(self, settings: Settings) -> tuple[Coordinates, Coordinates]:
        """Coordinates and velocities with which the lab opens."""

    @abstractmethod
    def carried(
        self, old: Settings, new: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates
    ) -> tuple[Coordinates, Coordinates]:
        """A state under old settings as one under new ones, whose kernel this is; the same motion as far as can be."""

    @abstractmethod
    def ghost(self, settings: Settings, q: Coordinates, v: Coordinates) -> tuple[Coordinates, Coordinates] | None:
        """Where a second motion starts beside the first, or None when there is none."""

    @abstractmethod
    def keeps_ghost(self, old: Settings, new: Settings) -> bool:
        """Whether a ghost goes on from its own state when settings change so, rather than start beside again."""

    @abstractmethod
    def distance(self, settings: Settings, a: Coordinates, b: Coordinates) -> float:
        """How far two configurations are from each other in the space of configurations."""

    def acted(self, settings: Settings, kernel: Kernel, name: str, q: Coordinates, v: Coordinates) -> Deed:
        """What pressing the lab's own button of that name does."""
        raise Refusal(f"There is no button {name!r} in this lab.")

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def anchors(self, settings: Settings) -> Float[np.ndarray, "anchors d"]:
        """The fixed points of the picture."""

    @abstractmethod
    def dragged(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, target: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        """Coordinates near q that bring the body to the target, or as near as it can go."""

    def thrown(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, velocity: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        """Velocities when the body is let go with this velocity of the hand; at rest for bodies that are not thrown."""
        return np.zeros_like(q)

    def surface_key(self, settings: Settings) -> Hashable:
        """Equal for settings that have the same `surface`."""
        return None

    def surface(self, settings: Settings, kernel: Kernel) -> messages.Surface | None:
        """The coloured surface behind the moving points, where there is one; asked when `surface_key` changes."""
        return None

    def curves(self, settings: Settings, kernel: Kernel, q: Coordinates, v: Coordinates) -> messages.Curves | None:
        """Lines and marks that do not move; asked when a motion begins, in the state with which it does."""
        return None

    @abstractmethod
    def extents(self, settings: Settings) -> tuple[float, ...]:
        """For each picture, half the width of a square or cube about the origin that holds every position."""

    @abstractmethod
    def radii(self, settings: Settings) -> tuple[float, ...]:
        """Radius of each body in its picture, as a fraction of the extent."""

    @abstractmethod
    def energies(self, settings: Settings, channels: Float[np.ndarray, " channels"]) -> Float[np.ndarray, " energies"]:
        """The energies of the view out of what a kernel sees of one motion."""

    @abstractmethod
    def channels(
        self,
        settings: Settings,
        main: Float[np.ndarray, " channels"],
        ghost: Float[np.ndarray, " channels"] | None,
        extra: Extra,
    ) -> Float[np.ndarray, " all_channels"]:
        """The channels of the view out of what a kernel sees of the motion and of its ghost."""

    @abstractmethod
    def caution(self, settings: Settings) -> str:
        """Why a figure of the certificate is to be taken with care; empty when there is no reason."""

    # ── In the workshop ───────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def program(self, structure: Structure) -> Program:
        """What to compile for a structure. May import JAX."""

    @abstractmethod
    def library(self, settings: Settings) -> tuple[System, AbstractMethod]:
        """The system and the method as a user of the library would make them. May import JAX."""

    @abstractmethod
    def equations(self, structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
        """A sentence and titled formulas: the equations of motion. May import JAX, may take seconds."""

    # ── Taking it along ───────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def snippet(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        """A Python program that holds the same system in the same state."""

    @abstractmethod
    def scene(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        """A scene file with the same system in the same state, or `Refusal` where a scene cannot say it."""

    @abstractmethod
    def columns(self, settings: Settings) -> tuple[str, ...]:
        """Names of the coordinates, for files."""


def checked(view: messages.LabView, settings: Settings, command: Any) -> Settings:
    """The settings after `SetParameter`, `SetChoice` or `SetToggle`, or `Refusal`."""
    match command:
        case messages.SetParameter(name, value, _):
            known = _known(view.parameters, name, "parameter")
            high = known.high if known.most is None else known.most
            if not known.low <= value <= high:
                between = f"between {known.low:g} and {high:g} {known.unit}".rstrip()
                raise Refusal(f"{known.label} lies {between}, but {value:g} was given.")
            if known.integer and value != round(value):
                raise Refusal(f"{known.label} is a whole number, but {value:g} was given.")
            return settings.with_parameter(name, value)
        case messages.SetChoice(name, value):
            known = _known(view.choices, name, "choice")
            if value not in {option.value for option in known.options}:
                options = ", ".join(option.value for option in known.options)
                raise Refusal(f"{known.label} is one of {options}, but {value!r} was given.")
            return settings.with_choice(name, value)
        case messages.SetToggle(name, on):
            _known(view.toggles, name, "switch")
            return settings.with_toggle(name, on)
        case _:
            raise TypeError(f"{command!r} sets nothing.")


def _known(views: tuple[Any, ...], name: str, what: str) -> Any:
    for view in views:
        if view.name == name:
            return view
    raise Refusal(f"There is no {what} {name!r} in this lab.")

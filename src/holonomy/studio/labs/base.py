"""What a lab is: systems of one kind, what a user may set about them, and how to draw and drag them.

A lab is a folder with

* a descriptor (`LabDescriptor`): name, title, pictures, presets;
* its settings as data (`SettingsTable`): parameters, choices and switches with ranges, units and defaults;
* a system: `program` says what is compiled, `library` gives the same as objects of the library;
* views: `drawing` says what is drawn and plotted.

The class derives from `AbstractLab`, whose abstract methods are all that must be written; the other methods have
defaults that a lab overrides where it can do more. The folder's `__init__.py` holds one object `LAB`, and
`studio/labs/__init__.py` lists the folder. Everything else (time, history, undo, frames, the page) is shared.

Methods that are called all the time answer with NumPy, at once. What is compiled, a `Program`, is traced with JAX in
another process, so a lab imports JAX only inside `program`, `library` and `equations`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.descriptor import LabDescriptor as LabDescriptor
from holonomy.studio.labs.descriptor import Preset as Preset
from holonomy.studio.labs.descriptor import Story as Story
from holonomy.studio.labs.descriptor import StoryStep as StoryStep
from holonomy.studio.labs.settings import Refusal, Settings, SettingsTable, Structure
from holonomy.viewer.protocol import messages

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

Coordinates = Float[np.ndarray, " n"]
State = tuple[Coordinates, Coordinates]
"""Coordinates and velocities."""
PRESET: Final = "preset:"
"""A button whose name begins so takes the preset with the rest of the name."""
STORY: Final = "story:"
"""A button whose name begins so takes a state of a story: "story:NAME:STEP"."""
_MOST_DRAWINGS: Final = 256
_BODY: Final = 0.05
"""Radius of a body as a fraction of the extent, unless a lab says otherwise."""


@dataclass(frozen=True)
class Drawing:
    """What is drawn and plotted under some settings; see the classes of `viewer.protocol.notices`.

    `channels` begin with those that `Program.observe` returns, in its order; with a ghost, some of the ghost's follow,
    then its distance and the Lyapunov exponent; those of `AbstractLab.measured` are the last. An energy is the channel
    of the same name; the last one of a motion is its total. `anchors` counts the fixed points, which come before the
    bodies; rods count both.
    """

    summary: str
    method: str
    coordinates: tuple[messages.CoordinateView, ...]
    bodies: tuple[messages.BodyView, ...]
    energies: tuple[messages.EnergyView, ...]
    channels: tuple[messages.ChannelView, ...]
    rods: tuple[messages.RodView, ...] = ()
    shapes: tuple[messages.ShapeView, ...] = ()
    plots: tuple[messages.PlotView, ...] = ()
    actions: tuple[messages.ActionView, ...] = ()
    anchors: int = 0
    pictures: tuple[messages.PictureView, ...] | None = None
    """Where their titles depend on the settings; else those of the descriptor."""
    formulas: bool = False
    """Whether the page opens what `AbstractLab.equations` returns beside the pictures."""


@dataclass(frozen=True)
class GhostReading:
    """What is computed of a motion and its ghost together, for the channels of `AbstractLab.channels`."""

    divergence: float
    lyapunov: float


@dataclass(frozen=True)
class ButtonEffect:
    """What a button of the lab does: other settings of the same structure, another state, time that begins to run."""

    settings: Settings
    q: Coordinates
    v: Coordinates
    play: bool = False
    stop_after: float | None = None
    """Seconds of motion, whole steps, after which time is held again, unless something else has been done."""


class AbstractLab(ABC):
    """A kind of system with its settings and pictures. Keeps no user's state: one object serves all users."""

    descriptor: LabDescriptor
    table: SettingsTable
    steps_per_second: int = 960

    def __init__(self) -> None:
        self._drawings: dict[Hashable, Drawing] = {}
        self.stories: dict[str, Story] = {}
        """The server's stories about this lab, by name; they are the same for all users."""

    # ── What a lab must say ───────────────────────────────────────────────────────────────────────

    @abstractmethod
    def drawing(self, settings: Settings) -> Drawing:
        """What is drawn and plotted. Depends on the settings only through `outline`."""

    @abstractmethod
    def start(self, settings: Settings) -> State:
        """Coordinates and velocities with which the lab opens."""

    @abstractmethod
    def extents(self, settings: Settings) -> tuple[float, ...]:
        """For each picture, half the width of a square or cube about the origin that holds every position."""

    @abstractmethod
    def program(self, structure: Structure) -> Program:
        """What to compile for a structure. May import JAX."""

    @abstractmethod
    def library(self, settings: Settings) -> tuple[System, AbstractMethod]:
        """The system and the method as a user of the library would make them. May import JAX."""

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    @property
    def name(self) -> str:
        """The name in addresses and files."""
        return self.descriptor.name

    @property
    def title(self) -> str:
        """The name that users read."""
        return self.descriptor.title

    @property
    def frame_seconds(self) -> float:
        """Motion between two frames at speed 1."""
        return self.descriptor.frame_seconds

    def opening(self) -> Settings:
        """The settings with which the lab opens: the first preset."""
        return self.completed(self.descriptor.presets[0].settings)

    def preset(self, name: str) -> Settings:
        """The settings of a preset."""
        for preset in self.descriptor.presets:
            if preset.name == name:
                return self.completed(preset.settings)
        raise Refusal(f"This lab has no preset {name!r}.")

    def completed(self, settings: Settings) -> Settings:
        """The settings with what they need added at its default and what they do not know left out.

        Raises `Refusal` for a combination that makes no sense.
        """
        return self.adjusted(self.table.completed(settings))

    def adjusted(self, settings: Settings) -> Settings:
        """Complete settings as rules between several of them want them, or `Refusal`."""
        return settings

    def retyped(self, settings: Settings, name: str) -> Settings:
        """Settings of which a text was typed: numbers that the lab reads from that text are no longer those before."""
        return settings

    def keeps(self, command: messages.Command) -> bool:
        """Whether what a command sets stays on the page while it is refused, with the reason beside it, and time is
        held; else the control goes back. Texts can depend on each other, so that each is wrong until the last is typed.
        """
        return isinstance(command, messages.SetText)

    def outline(self, settings: Settings) -> Hashable:
        """Equal for settings that have the same `view`."""
        return self.table.outline(settings)

    def structure(self, settings: Settings) -> Structure:
        """Which code the motion needs."""
        return self.table.structure(settings)

    def numbers(self, settings: Settings) -> Float[np.ndarray, " numbers"]:
        """The parameters as the row that the compiled code takes; `SettingsTable.named` reads it."""
        return self.table.numbers(settings)

    def likely(self, settings: Settings) -> tuple[Structure, ...]:
        """Structures that the user may want next, the likeliest first; they are compiled while there is time."""
        return ()

    def step(self, settings: Settings) -> float:
        """The method's step in seconds."""
        return 1 / self.steps_per_second

    # ── The motion ────────────────────────────────────────────────────────────────────────────────

    def admitted(self, settings: Settings, q: Coordinates, v: Coordinates) -> State:
        """The state for numbers that came from outside, in a link: the nearest one where they are none."""
        return q, v

    def carried(self, old: Settings, new: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates) -> State:
        """A state under old settings as one under new ones, whose kernel this is; the same motion as far as can be."""
        return (q, v) if self.columns(old) == self.columns(new) else self.start(new)

    def check_start(  # noqa: B027 - most labs have nothing to refuse
        self, settings: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates
    ) -> None:
        """Raise `Refusal` where the library would not start a motion in this state."""

    def ghost(self, settings: Settings, q: Coordinates, v: Coordinates) -> State | None:
        """Where a second motion starts beside the first, or None when there is none."""
        return None

    def keeps_ghost(self, old: Settings, new: Settings) -> bool:
        """Whether a ghost continues from its own state when settings change so, rather than start beside again."""
        return False

    def distance(self, settings: Settings, a: Coordinates, b: Coordinates) -> float:
        """The distance of two configurations in the space of configurations."""
        return float(np.linalg.norm(a - b))

    def measured(self, settings: Settings, kernel: Kernel) -> Float[np.ndarray, " numbers"]:
        """Numbers that stay the same as long as a motion goes on under these settings: its last channels."""
        return np.zeros(0)

    def pressed(self, settings: Settings, kernel: Kernel, name: str, q: Coordinates, v: Coordinates) -> ButtonEffect:
        """What pressing the lab's own button of that name does."""
        raise Refusal(f"This lab has no button {name!r}.")

    def computed(self, settings: Settings, name: str) -> tuple[str, tuple[Any, ...]] | None:
        """For a button whose effect takes seconds: what a worker process calls, `module:function` and its arguments.

        The function returns the command that is carried out then; what it raises is told to the user.
        """
        return None

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    def drawn(self, settings: Settings) -> Drawing:
        """`drawing`, remembered: it is asked several times for every frame."""
        key = self.outline(settings)
        found = self._drawings.get(key)
        if found is None:
            if len(self._drawings) >= _MOST_DRAWINGS:
                self._drawings.clear()
            found = self._drawings[key] = self.drawing(settings)
        return found

    def view(self, settings: Settings, revision: int) -> messages.LabView:
        """What the page is told. Depends on the settings only through `outline`."""
        drawn, descriptor = self.drawn(settings), self.descriptor
        presets = descriptor.presets if len(descriptor.presets) > 1 else ()
        buttons = tuple(messages.ActionView(PRESET + p.name, p.label, p.note) for p in presets)
        return messages.LabView(
            name=descriptor.name,
            title=descriptor.title,
            summary=drawn.summary,
            revision=revision,
            anchors=drawn.anchors,
            pictures=descriptor.pictures if drawn.pictures is None else drawn.pictures,
            coordinates=drawn.coordinates,
            parameters=self.table.parameter_views(settings),
            choices=self.table.choice_views(settings),
            toggles=self.table.toggle_views(settings),
            texts=self.table.text_views(settings),
            actions=drawn.actions + buttons,
            bodies=drawn.bodies,
            rods=drawn.rods,
            shapes=drawn.shapes,
            energies=drawn.energies,
            channels=drawn.channels,
            plots=drawn.plots,
            method=drawn.method,
            dt=self.step(settings),
            frame_seconds=descriptor.frame_seconds,
            speed_low=descriptor.speed_low,
            speed_high=descriptor.speed_high,
            formulas=drawn.formulas,
        )

    def anchors(self, settings: Settings) -> Float[np.ndarray, "anchors d"]:
        """The fixed points of the picture, as many as the drawing says; three numbers each if a picture is of space."""
        solid = any(picture.kind in ("space", "surface") for picture in self.descriptor.pictures)
        return np.zeros((self.drawn(settings).anchors, 3 if solid else 2))

    def placed(self, settings: Settings, q: Coordinates) -> Float[np.ndarray, "points d"] | None:
        """Where the points after the anchors are with coordinates q, as `Program.observe` says, but without its code.

        In NumPy, in milliseconds: it is drawn while the code is being compiled. None where only the code can tell.
        """
        return None

    def pose(self, settings: Settings) -> Float[np.ndarray, "points d"] | None:
        """Where the points after the anchors are when the motion starts, those of a ghost too; see `placed`."""
        q, v = self.start(settings)
        beside = self.ghost(settings, q, v)
        parts = [self.placed(settings, state) for state in ([q] if beside is None else [q, beside[0]])]
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if len(known) == len(parts) else None

    def radii(self, settings: Settings) -> tuple[float, ...]:
        """Radius of each body in its picture, as a fraction of the extent."""
        return (_BODY,) * len(self.drawn(settings).bodies)

    def dragged(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, target: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        """Coordinates near q that bring the body to the target, or as near as possible."""
        raise Refusal("The bodies of this lab cannot be dragged.")

    def thrown(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, velocity: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        """Velocities when the body is released with this velocity of the pointer; zero where bodies start at rest."""
        return np.zeros_like(q)

    def surface_key(self, settings: Settings) -> Hashable:
        """Equal for settings that have the same `surface` and the same `field`."""
        return None

    def surface(self, settings: Settings, kernel: Kernel) -> messages.Surface | None:
        """The coloured surface behind the moving points, where there is one; asked when `surface_key` changes."""
        return None

    def field(self, settings: Settings, kernel: Kernel) -> messages.Field | None:
        """The function behind a picture of kind "field", where there is one; asked when `surface_key` changes."""
        return None

    def curves(self, settings: Settings, kernel: Kernel, q: Coordinates, v: Coordinates) -> messages.Curves | None:
        """Lines and marks that do not move; asked when a motion begins, in the state with which it does."""
        return None

    def channels(
        self,
        settings: Settings,
        main: Float[np.ndarray, " channels"],
        ghost: Float[np.ndarray, " channels"] | None,
        reading: GhostReading,
    ) -> Float[np.ndarray, " all_channels"]:
        """The channels of the drawing, from those that a kernel returns for the motion and for its ghost."""
        if ghost is None:
            return main
        shown = len(self.drawn(settings).channels) - len(main) - 2
        return np.concatenate([main, ghost[:shown], [reading.divergence, reading.lyapunov]])

    def caution(self, settings: Settings) -> str:
        """Why a figure of the certificate is to be taken with care; empty when there is no reason."""
        return ""

    def conserves_energy(self, settings: Settings) -> bool:
        """Whether the energy of the motion should stay the same, so that a drift is an error."""
        return True

    # ── Equations and files ───────────────────────────────────────────────────────────────────────

    def derivation(self, settings: Settings) -> Structure:
        """What the equations depend on, to be passed to `equations`: the structure, or also numbers."""
        return self.structure(settings)

    def equations(self, structure: Structure) -> tuple[str, tuple[tuple[str, ...], ...]]:
        """A sentence and the fields of an `EquationView` each: the equations of motion. May import JAX, may take
        seconds."""
        return "This lab does not show its equations of motion.", ()

    def snippet(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        """A Python program that holds the same system in the same state, or `Refusal`."""
        raise Refusal("This lab has no Python program to export.")

    def scene(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        """A scene file with the same system in the same state, or `Refusal`."""
        raise Refusal("This lab has no scene file to export.")

    def columns(self, settings: Settings) -> tuple[str, ...]:
        """Names of the coordinates, for files."""
        return tuple(coordinate.name for coordinate in self.drawn(settings).coordinates)

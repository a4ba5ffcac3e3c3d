r"""The Swimmer lab: bodies that move by changing their shape.

Coordinates are the phase of the gait, the place in the group, the momentum where there is one, the cost and the length
so far (`motion`). The gait is a text among the settings: the points of a closed curve in the picture of shapes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.compile.kernel import Kernel, Stopped
from holonomy.studio.labs.base import AbstractLab, ButtonEffect, Coordinates, Drawing, State
from holonomy.studio.labs.settings import Refusal, Settings, Structure
from holonomy.studio.labs.swimmer import field, gait, outlines, view
from holonomy.studio.labs.swimmer import settings as table
from holonomy.studio.labs.swimmer.catalogue import MODELS
from holonomy.viewer.protocol import messages

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

_STEPS: Final = 64
"""Steps, at least, in which the displacement of a stroke is computed."""
_PATH: Final = 0.018
_SHAPE: Final = 0.035
_NAMES: Final = [model.name for model in MODELS]


class SwimmerLab(AbstractLab):
    """All movers of the library that can be drawn."""

    descriptor = table.DESCRIPTOR
    table = table.TABLE
    steps_per_second = 60

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    def adjusted(self, settings: Settings) -> Settings:
        """A gait that belongs to the mover: the first one where there is none or it was drawn for another."""
        model = table.model(settings)
        drawn_for = float(_NAMES.index(model.name))
        text = settings.texts[gait.NAME]
        if not text or settings.parameters.get("drawn_for", drawn_for) != drawn_for:
            text = gait.written(table.first_gait(model))
        points = gait.read(text)
        if len(points) > gait.MOST_POINTS:
            text = gait.written(gait.few(points))
        return settings.with_text(gait.NAME, text).with_parameter("drawn_for", drawn_for)

    def structure(self, settings: Settings) -> Structure:
        return ("model", settings.choices["model"]), ("links", int(settings.parameters.get("links", 0)))

    def numbers(self, settings: Settings) -> Float[np.ndarray, " numbers"]:
        model, p = table.model(settings), settings.parameters
        axes, origin = table.plane(settings)
        found = gait.pieces(table.points(settings), table.smooth(settings), table.turns(settings))
        rows = np.zeros((gait.MOST_POINTS, 4, 2))
        rows[: len(found)] = found
        own = list(model.numbers_of(p).values())
        return np.concatenate([own, [p["period"]], axes.ravel(), origin, [len(found)], rows.ravel()])

    def likely(self, settings: Settings) -> tuple[Structure, ...]:
        here = self.structure(settings)
        presets = [self.structure(self.completed(preset.settings)) for preset in self.descriptor.presets]
        return tuple(dict.fromkeys(structure for structure in presets if structure != here))

    # ── The motion ────────────────────────────────────────────────────────────────────────────────

    def start(self, settings: Settings) -> State:
        model = table.model(settings)
        q = np.concatenate([[0.0], outlines.identity(model.group), np.zeros(model.momentum + 2)])
        return q, np.zeros_like(q)

    def admitted(self, settings: Settings, q: Coordinates, v: Coordinates) -> State:
        if not 0.0 <= q[0] <= 1.0:
            raise Refusal("The link's state has a phase of the stroke that is not between 0 and 1.")
        model = table.model(settings)
        place = q[1 : 1 + outlines.PLACES[model.group]]
        if model.group == "so3" and not abs(place @ place - 1.0) < 1e-6:
            raise Refusal("The link's state is no rotation.")
        return q, v

    def carried(self, old: Settings, new: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates) -> State:
        if old.choices["model"] != new.choices["model"]:
            return self.start(new)
        return q, v

    def measured(self, settings: Settings, kernel: Kernel) -> Float[np.ndarray, " numbers"]:
        """Displacement, cost, length and efficiency of one stroke that starts at rest; `Refusal` where none can."""
        model = table.model(settings)
        period = settings.parameters["period"]
        try:
            state = kernel.start(self.numbers(settings), 0.0, period / _STEPS, *self.start(settings))
            state = kernel.advance(state, _STEPS)
        except Stopped as error:
            why = f" ({model.limit})" if model.limit else ""
            raise Refusal(f"The gait passes shapes that this mover cannot take{why}.", gait.NAME) from error
        q, channels = kernel.q(state), kernel.channels(state)
        first = 1 + len(view.shape_names(settings))
        moved = channels[first : first + len(view.POSES[model.group])]
        far = moved[:2] if model.group in ("se2", "sphere", "hyperbolic") else moved
        length = q[-1]
        efficiency = model.reference(table.numbers(settings)) * float(far @ far) / length**2 if length > 0 else 0.0
        return np.concatenate([moved, q[-2:], [efficiency]])

    def pressed(self, settings: Settings, kernel: Kernel, name: str, q: Coordinates, v: Coordinates) -> ButtonEffect:
        model, points, turns = table.model(settings), table.points(settings), table.turns(settings)
        if name == "ellipse":
            points = table.first_gait(model)
        elif name == "eight":
            points = gait.figure_eight(model.centre, model.radii)
        elif name == "reverse":
            points = gait.backwards(points, turns)
            if turns.any():
                settings = settings.with_parameter("turns", -settings.parameters["turns"])
        else:
            return super().pressed(settings, kernel, name, q, v)
        if name != "reverse" and turns.any():
            settings = settings.with_parameter("turns", 0.0)
        return ButtonEffect(settings.with_text(gait.NAME, gait.written(points)), q, v)

    def computed(self, settings: Settings, name: str) -> tuple[str, tuple[Any, ...]] | None:
        if name != "optimise":
            return None
        return "holonomy.studio.labs.swimmer.optimise:optimised", (settings,)

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    def outline(self, settings: Settings) -> Hashable:
        return self.structure(settings), tuple(settings.choices.items()), tuple(settings.toggles.items())

    def anchors(self, settings: Settings) -> Float[np.ndarray, "anchors d"]:
        return np.zeros((0, 3))

    def drawing(self, settings: Settings) -> Drawing:
        return view.drawing(settings)

    def extents(self, settings: Settings) -> tuple[float, ...]:
        model, p = table.model(settings), table.numbers(settings)
        low, high, bottom, top = model.shown(p)
        return model.size(p), 0.5 * min(high - low, top - bottom)

    def placed(self, settings: Settings, q: Coordinates) -> Float[np.ndarray, "points d"] | None:
        return view.points_at(settings, q)

    def radii(self, settings: Settings) -> tuple[float, ...]:
        return _PATH, _SHAPE

    def surface_key(self, settings: Settings) -> Hashable:
        shown = (settings.choices["model"], settings.choices.get("component"), settings.choices.get("frame"))
        numbers = table.numbers(settings)
        return shown, tuple(numbers.values()), *(part.tobytes() for part in table.plane(settings))

    def surface(self, settings: Settings, kernel: Kernel) -> messages.Surface | None:
        if table.model(settings).kind != "surface":
            return None
        return messages.Surface(table.PLANE, 0, 0, "", "", "", 0.0, 0.0, 0.0, 0.0, "")

    def field(self, settings: Settings, kernel: Kernel) -> messages.Field | None:
        model = table.model(settings)
        window = model.shown(table.numbers(settings))
        looked = kernel.routines["field"](self.numbers(settings), field.grid(window))[0]
        minimal = settings.choices.get("frame") == "minimal"
        values = field.heights(looked, window, model.group, minimal=minimal)
        component = int(settings.choices.get("component", "0"))
        return field.picture(model, values, window, component, table.SHAPES)

    def caution(self, settings: Settings) -> str:
        if table.model(settings).momentum:
            return "The displacement of a stroke is that of one from rest; momentum stays for the next."
        return ""

    def conserves_energy(self, settings: Settings) -> bool:
        return False

    # ── Compiled code and the library ─────────────────────────────────────────────────────────────

    def program(self, structure: Structure) -> Program:
        from holonomy.studio.labs.swimmer import system

        return system.program(structure)

    def library(self, settings: Settings) -> tuple[System, AbstractMethod]:
        raise Refusal("A stroke is not the motion of a system with forces; export the table (CSV) or Python instead.")

    def equations(self, structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
        from holonomy.studio.labs.swimmer import text

        return text.equations(structure)

    # ── Files ─────────────────────────────────────────────────────────────────────────────────────

    def snippet(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        return view.snippet(settings)

    def scene(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        raise Refusal("A scene file cannot describe a gait; export the Python program instead.")

r"""The Workbench lab: type a mechanical system, see it move.

Coordinates, a Lagrangian or particles, constraints and forces are texts in the language of scenes, read in the server's
process without JAX (`typed`), so that every mistake is told at its characters. The code depends on the texts without
the numbers in them; each parameter in the text has a slider, which starts at the text's value.

Channels of the compiled code: kinetic, potential, total energy, coordinates, rates, momenta, multipliers.
"""

from __future__ import annotations

import base64
from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from holonomy.notation import KINDS, symbol
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.base import AbstractLab, Coordinates, Drawing, State
from holonomy.studio.labs.settings import Refusal, Settings, Structure
from holonomy.studio.labs.workbench import layout, text, typed, view
from holonomy.studio.labs.workbench.settings import DESCRIPTOR, TABLE
from holonomy.viewer.protocol import messages

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

_WRITTEN: Final = " in the text"
"""Added to a parameter's name: the value that the text had when the slider was moved."""
_CONSISTENT: Final = 1e-6
"""Distance from the constraints at which a typed start is taken for one on them."""
_BODY: Final = 0.035
_SEEN: Final = (2.0, 98.0)
"""Percentiles of a map's values at which its colours end."""


class WorkbenchLab(AbstractLab):
    """Systems that a user types."""

    descriptor = DESCRIPTOR
    table = TABLE

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    def completed(self, settings: Settings) -> Settings:
        """The settings with a number for each parameter of the text: the slider's, until the text has another one."""
        whole = self.table.completed(settings)
        values = typed.read(whole.texts).values
        numbers: dict[str, float] = {}
        for name, written in values.items():
            kept = settings.parameters.get(name + _WRITTEN) == written
            numbers[name] = settings.parameters.get(name, written) if kept else written
            numbers[name + _WRITTEN] = written
        return self.adjusted(replace(whole, parameters=numbers))

    def adjusted(self, settings: Settings) -> Settings:
        found = typed.read(settings.texts)
        if not view.mappable(found):
            settings = replace(settings, choices={k: c for k, c in settings.choices.items() if k != "map"})
        if settings.choices["method"] == "rattle" and not found.scene.constraints:
            raise Refusal("RATTLE is for systems with constraints on positions, and this one has none.", "method")
        if settings.choices["method"] != "rk4" and found.scene.velocity_constraints and found.scene.constraints:
            raise Refusal("With constraints on positions and on velocities, choose RK4.", "method")
        return settings

    def outline(self, settings: Settings) -> Hashable:
        return tuple(settings.choices.values()), tuple(settings.texts.get(name, "") for name in typed.TEXTS)

    def structure(self, settings: Settings) -> Structure:
        choices = settings.choices
        texts = typed.structural(settings.texts)
        return (("texts", texts), ("method", choices["method"]), ("map", choices.get("map", "none")))

    def numbers(self, settings: Settings) -> Float[np.ndarray, " numbers"]:
        return np.array([settings.parameters[name] for name in typed.read(settings.texts).values])

    def step(self, settings: Settings) -> float:
        return 1 / int(settings.choices["step"])

    # ── The motion ────────────────────────────────────────────────────────────────────────────────

    def start(self, settings: Settings) -> State:
        return typed.read(settings.texts).start

    def carried(self, old: Settings, new: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates) -> State:
        """Other numbers let the motion go on from where it is; another system starts anew."""
        moves = self.structure(old)[0] == self.structure(new)[0] and old.texts["start"] == new.texts["start"]
        if not moves:
            q, v = self.start(new)
        near_q, near_v = kernel.routines["settle"](self.numbers(new), t, q, v)
        off = max(float(np.max(np.abs(near_q - q))), float(np.max(np.abs(near_v - v))))
        if not moves and not off < _CONSISTENT:
            raise self._inconsistent(new, near_q, near_v)
        return near_q, near_v

    def _inconsistent(self, settings: Settings, q: Coordinates, v: Coordinates) -> Refusal:
        text = settings.texts["start"]
        names = self.columns(settings)
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
            return Refusal("No state near the start satisfies the constraints.", "start", 0, len(text))
        near = [f"{name} = {x:.9g}" for name, x in zip(names, q, strict=True)]
        near += [f"{name}_dot = {x:.9g}" for name, x in zip(names, v, strict=True) if abs(x) > 1e-12]
        return Refusal(f"The start violates the constraints; the nearest: {', '.join(near)}.", "start", 0, len(text))

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    def drawing(self, settings: Settings) -> Drawing:
        return view.drawing(settings)

    def view(self, settings: Settings, revision: int) -> messages.LabView:
        """With a slider for each parameter of the text, and a map where there can be one."""
        found, made = typed.read(settings.texts), super().view(settings, revision)
        choices = made.choices if view.mappable(found) else tuple(c for c in made.choices if c.name != "map")
        return replace(made, parameters=tuple(_slider(*item) for item in found.values.items()), choices=choices)

    def placed(self, settings: Settings, q: Coordinates) -> Float[np.ndarray, "points d"] | None:
        found = typed.read(settings.texts)
        values = {name: settings.parameters[name] for name in found.values}
        return layout.placed(found, values, q, view.has_map(settings))

    def anchors(self, settings: Settings) -> Float[np.ndarray, "anchors d"]:
        found = typed.read(settings.texts)
        wide = layout.dimension(found)
        if found.scene.positions is not None:
            return np.zeros((1, wide))
        return layout.centres(found)

    def extents(self, settings: Settings) -> tuple[float, ...]:
        found = typed.read(settings.texts)
        values = {name: settings.parameters[name] for name in found.values}
        return layout.extents(found, values, view.has_map(settings))

    def radii(self, settings: Settings) -> tuple[float, ...]:
        return (_BODY,) * len(self.drawn(settings).bodies)

    def dragged(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, target: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        found = kernel.routines["drag"](self.numbers(settings), q, np.int64(body), target)[0]
        return found if np.all(np.isfinite(found)) else q

    def surface_key(self, settings: Settings) -> Hashable:
        return settings.choices.get("map"), self.numbers(settings).tobytes(), settings.texts["start"]

    def field(self, settings: Settings, kernel: Kernel) -> messages.Field | None:
        """The potential, or the curvature of Jacobi's metric at the energy of the start."""
        kind = settings.choices.get("map", "none")
        if kind == "none":
            return None
        found = typed.read(settings.texts)
        (x, y), side = layout.map_ranges(found), layout.SIDE
        across, up = np.meshgrid(np.linspace(*x, side), np.linspace(*y, side))
        grid = np.stack([across.ravel(), up.ravel()], axis=1)
        values = np.asarray(kernel.routines["map"](self.numbers(settings), *found.start, grid)[0])
        values = np.where(np.isfinite(values), values, np.nan)
        finite = values[np.isfinite(values)]
        low, high = np.percentile(finite, _SEEN) if finite.size else (0.0, 1.0)
        names, kinds = list(found.kinds), [KINDS[kind] for kind in found.kinds.values()]
        label, letter = (
            ("Potential energy", "V") if kind == "potential" else ("Gaussian curvature of Jacobi's metric", "K")
        )
        return messages.Field(
            1, side, side, *x, symbol(names[0]), kinds[0].unit, *y, symbol(names[1]), kinds[1].unit, letter, label,
            "J" if kind == "potential" else "", float(low), float(high), kind == "jacobi",
            base64.b64encode(values.astype("<f4").tobytes()).decode(),
        )  # fmt: skip

    def caution(self, settings: Settings) -> str:
        if not self.conserves_energy(settings):
            return "Forces or formulas that use the time change the energy, so its drift is not an error here."
        return ""

    def conserves_energy(self, settings: Settings) -> bool:
        return typed.read(settings.texts).conserves_energy

    # ── Compiled code and the library ─────────────────────────────────────────────────────────────

    def program(self, structure: Structure) -> Program:
        from holonomy.studio.labs.workbench import system

        return system.program(structure)

    def derivation(self, settings: Settings) -> Structure:
        """All texts and numbers: equilibria and periods depend on them."""
        texts = tuple((name, settings.texts.get(name, "")) for name in typed.TEXTS)
        numbers, choices = tuple(settings.parameters.items()), tuple(settings.choices.items())
        return (("texts", texts), ("parameters", numbers), ("choices", choices))

    def equations(self, structure: Structure) -> tuple[str, tuple[tuple[str, ...], ...]]:
        from holonomy.studio.labs.workbench import analysis

        return analysis.equations(self, structure)

    def library(self, settings: Settings) -> tuple[System, AbstractMethod]:
        from holonomy.studio.labs.workbench import system

        return system.library(settings)

    def snippet(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        return text.snippet(self, settings, t, q, v)

    def scene(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        return text.scene(self, settings, t, q, v)


def _slider(name: str, value: float) -> messages.ParameterView:
    """A parameter between zero and some times the value of the text; both signs where that is zero."""
    size = 10.0 ** np.ceil(np.log10(abs(value))) if value else 1.0
    low, high = (-size, size) if value == 0 else (0.0, 3 * value) if value > 0 else (3 * value, 0.0)
    step = 10.0 ** (np.floor(np.log10(high - low)) - 3)
    return messages.ParameterView(
        name, symbol(name), "", "", float(low), float(high), float(step), value, "", False,
        False, None,
    )  # fmt: skip

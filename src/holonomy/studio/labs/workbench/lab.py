r"""The Workbench lab: type a mechanical system, see it move.

Coordinates, a Lagrangian or particles, constraints and forces are texts in the language of scenes, read in the server's
process without JAX (`typed`), so that every mistake is told at its characters. The code depends on the texts without
the numbers in them. Each parameter in the text has a slider, which writes its number there: the text is what counts.

Channels of the compiled code: kinetic, potential, total energy, coordinates, rates, momenta, multipliers.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from holonomy.notation import KINDS, symbol
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.base import AbstractLab, Coordinates, Drawing, State
from holonomy.studio.labs.methods import LIBRARY
from holonomy.studio.labs.settings import Refusal, Settings, Structure
from holonomy.studio.labs.workbench import layout, text, typed, view
from holonomy.studio.labs.workbench.judge import NOTHING_NEAR, Judge
from holonomy.studio.labs.workbench.settings import DESCRIPTOR, TABLE
from holonomy.viewer.protocol import messages

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

_WRITTEN: Final = " in the text"
"""Added to a parameter's name: the value that was typed, which the range of the slider comes from."""
_BODY: Final = 0.035
_SEEN: Final = (2.0, 98.0)
"""Percentiles of a map's values at which its colours end."""


class WorkbenchLab(AbstractLab):
    """Systems that a user types."""

    descriptor = DESCRIPTOR
    table = TABLE

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    def completed(self, settings: Settings) -> Settings:
        """The settings with the numbers of the text. A number that is given and differs from the text is written there:
        a slider was moved."""
        whole = self.table.completed(settings)
        values = typed.read(whole.texts).values
        moved = {n: settings.parameters[n] for n, x in values.items() if settings.parameters.get(n, x) != x}
        if moved:
            whole = whole.with_text("parameters", typed.with_values(whole.texts, moved))
            values = typed.read(whole.texts).values
        numbers: dict[str, float] = {}
        for name, value in values.items():
            typed_last = settings.parameters.get(name + _WRITTEN, value)
            kept = view.in_range(typed_last, value) if name in moved else settings.parameters.get(name) == value
            numbers[name], numbers[name + _WRITTEN] = value, typed_last if kept else value
        return self.adjusted(replace(whole, parameters=numbers))

    def retyped(self, settings: Settings, name: str) -> Settings:
        """Numbers that the new text has not are gone, or they would be written into it."""
        if name != "parameters":
            return settings
        try:
            values = typed.read(settings.texts).values
        except Refusal:
            values = {}
        kept = {n: x for n, x in settings.parameters.items() if n.endswith(_WRITTEN) or values.get(n) == x}
        return replace(settings, parameters=kept)

    def keeps(self, command: messages.Command) -> bool:
        return True

    def adjusted(self, settings: Settings) -> Settings:
        found = typed.read(settings.texts)
        if not view.mappable(found):
            settings = replace(settings, choices={k: c for k, c in settings.choices.items() if k != "map"})
        row, _ = LIBRARY[settings.choices["method"]]
        if row.holds == ("holonomic",) and not found.scene.constraints:
            raise Refusal("RATTLE is for systems with constraints on positions, and this one has none.", "method")
        given = {"holonomic": found.scene.constraints, "velocity": found.scene.velocity_constraints}
        if any(conditions and kind not in row.holds for kind, conditions in given.items()):
            both = all(given.values())
            if both:
                raise Refusal("With constraints on positions and on velocities, choose RK4.", "method")
            kinds = "positions" if given["holonomic"] else "velocities"
            raise Refusal(f"This method cannot hold constraints on {kinds}; choose RK4.", "method")
        return settings

    def outline(self, settings: Settings) -> Hashable:
        texts = tuple(settings.texts.get(name, "") for name in typed.TEXTS if name != "parameters")
        sliders = tuple((n, x) for n, x in settings.parameters.items() if n.endswith(_WRITTEN))
        return tuple(settings.choices.values()), texts, sliders

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
        judge = self._judge(new, kernel)
        if not moves:
            q, v = self.start(new)
            judge.check(t, q, v, self._told(new))
        near = judge.nearest(t, q, v)
        if near is None:
            raise Refusal(NOTHING_NEAR)
        return near

    def check_start(self, settings: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates) -> None:
        self._judge(settings, kernel).check(t, q, v, self._told(settings))

    def _judge(self, settings: Settings, kernel: Kernel) -> Judge:
        return Judge(kernel, self.numbers(settings), len(typed.read(settings.texts).scene.constraints or ()))

    def _told(self, settings: Settings) -> Callable[[Coordinates, Coordinates], str]:
        """What writes a state as the text of a start does."""

        def told(q: Coordinates, v: Coordinates) -> str:
            names = self.columns(settings)
            near = [f"{name} = {x:.9g}" for name, x in zip(names, q, strict=True)]
            near += [f"{name}_dot = {x:.9g}" for name, x in zip(names, v, strict=True) if abs(x) > 1e-12]
            return ", ".join(near)

        return told

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    def drawing(self, settings: Settings) -> Drawing:
        return view.drawing(settings)

    def view(self, settings: Settings, revision: int) -> messages.LabView:
        """With a slider for each parameter of the text, and a map where there can be one."""
        found, made = typed.read(settings.texts), super().view(settings, revision)
        choices = made.choices if view.mappable(found) else tuple(c for c in made.choices if c.name != "map")
        ranges = {name: settings.parameters.get(name + _WRITTEN, value) for name, value in found.values.items()}
        return replace(made, parameters=tuple(view.slider(*item) for item in ranges.items()), choices=choices)

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
        near = (
            self._judge(settings, kernel).nearest(0.0, found, np.zeros_like(q)) if np.all(np.isfinite(found)) else None
        )
        return q if near is None else near[0]

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

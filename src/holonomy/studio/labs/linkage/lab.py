r"""The Linkage lab: a chain of unit rods with pinned ends, and the sphere of its configurations.

Coordinates are a point of \(S^{n-2} \subset R^{n-1}\); with a second route, its coordinates follow. The marks A and B
are points of the sphere among the parameters that the page does not show: undo, links and files have them too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.base import AbstractLab, Coordinates, Deed, Extra, Refusal, Settings, Structure
from holonomy.studio.labs.linkage import shortest
from holonomy.studio.labs.linkage import sphere as sphere
from holonomy.studio.labs.linkage import view as linkage_view
from holonomy.viewer.protocol import messages

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

_STEPS: Final = 960
"""In a second."""
_HINGE: Final = 0.05
_POINT: Final = 0.055
_TRAVEL: Final = 4.0
"""Seconds from A to B."""
_FASTEST: Final = 12.0
"""Speed on the sphere beyond which a throw is not followed: the eye could not either."""


class LinkageLab(AbstractLab):
    """No forces: the motions are the geodesics of the kinetic metric."""

    name = "linkage"
    title = "Sphere linkage"
    frame_seconds = 1 / 60

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    def completed(self, settings: Settings) -> Settings:
        given = settings.parameters
        rods = given.get("rods", float(sphere.RODS))
        if not (3 <= rods <= linkage_view.MOST_RODS and rods == round(rods)):
            raise Refusal(f"A linkage has 3 to {linkage_view.MOST_RODS} rods here, but {rods:g} were asked for.")
        defaults = linkage_view.defaults(int(rods))
        parameters = {name: float(given.get(name, value)) for name, value in defaults.items()}
        if not rods - 2 < parameters["base"] < rods:
            parameters["base"] = defaults["base"]
        if parameters["rod_mass"] == 0 and parameters["hinge_mass"] == 0:
            raise Refusal("Rods and hinges cannot both be without mass: nothing would resist a push.")
        marks = {}
        if int(rods) == sphere.RODS:
            for letter in "ab":
                marks |= _mark(given, letter)
        chosen = linkage_view.chosen(int(rods))
        toggles = linkage_view.switches(int(rods))
        return Settings(
            parameters | marks,
            {name: settings.choices.get(name, default) for name, default in chosen.items()},
            {name: settings.toggles.get(name, default) for name, default in toggles.items()},
        )

    def outline(self, settings: Settings) -> Hashable:
        return (
            rods_of(settings),
            settings.choices["route"],
            settings.toggles.get("fan", False),
            marked(settings, "a") is not None and marked(settings, "b") is not None,
        )

    def view(self, settings: Settings, revision: int) -> messages.LabView:
        return linkage_view.view(self, settings, revision)

    def structure(self, settings: Settings) -> Structure:
        return (("rods", rods_of(settings)), ("route", settings.choices["route"]))

    def likely(self, settings: Settings) -> tuple[Structure, ...]:
        here, rods = settings.choices["route"], rods_of(settings)
        routes = [name for name in ("rods", "embedding", "chart", "none") if name != here]
        other = [n for n in (rods + 1, rods - 1) if 3 <= n <= linkage_view.MOST_RODS]
        return (
            *((("rods", rods), ("route", route)) for route in routes),
            *((("rods", n), ("route", here)) for n in other),
        )

    # ── The motion ────────────────────────────────────────────────────────────────────────────────

    def step(self, settings: Settings) -> float:
        return 1 / _STEPS

    def numbers(self, settings: Settings) -> Float[np.ndarray, " numbers"]:
        p = settings.parameters
        return np.array([p["base"], p["rod_mass"], p["hinge_mass"]])

    def start(self, settings: Settings) -> tuple[Coordinates, Coordinates]:
        return _whole(settings, *_opening_state(rods_of(settings)))

    def carried(
        self, old: Settings, new: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates
    ) -> tuple[Coordinates, Coordinates]:
        if rods_of(old) != rods_of(new):
            return self.start(new)
        if self.structure(old) == self.structure(new) and (self.numbers(old) == self.numbers(new)).all():
            return q, v  # colours and lines only: both routes go on
        n = rods_of(old) - 1
        return _whole(new, q[:n], v[:n])

    def ghost(self, settings: Settings, q: Coordinates, v: Coordinates) -> tuple[Coordinates, Coordinates] | None:
        return None

    def keeps_ghost(self, old: Settings, new: Settings) -> bool:
        return False

    def distance(self, settings: Settings, a: Coordinates, b: Coordinates) -> float:
        return float(np.linalg.norm(a - b))

    def acted(self, settings: Settings, kernel: Kernel, name: str, q: Coordinates, v: Coordinates) -> Deed:
        if name == "here":
            return Deed(settings, q, v)
        if name in ("mark_a", "mark_b"):
            return Deed(_with_mark(settings, name[-1], q[: rods_of(settings) - 1]), q, v)
        if name == "clear":
            kept = {k: x for k, x in settings.parameters.items() if k in linkage_view.defaults(rods_of(settings))}
            return Deed(Settings(kept, settings.choices, settings.toggles), q, v)
        if name == "travel":
            a, motion = marked(settings, "a"), self._shortest(settings, kernel)
            if a is None or motion is None:
                raise Refusal("Mark two different configurations first; then there is a shortest motion between them.")
            return Deed(settings, *_whole(settings, a, motion.velocity / _TRAVEL), play=True)
        raise Refusal(f"There is no button {name!r} in this lab.")

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    def anchors(self, settings: Settings) -> Float[np.ndarray, "anchors d"]:
        half = settings.parameters["base"] / 2
        return np.array([[-half, 0.0, 0.0], [half, 0.0, 0.0]])

    def dragged(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, target: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        n = rods_of(settings) - 1
        x = q[:n]
        if body == n:
            goal = target[[2, 0]] if n == 2 else sphere.taken(target)
            size = float(np.linalg.norm(goal))
            return _whole(settings, goal / size if size > 1e-6 else x, x)[0]
        hand = np.array([target[0] + settings.parameters["base"] / 2, target[1]])
        found = kernel.routines["reach"](self.numbers(settings), x, np.eye(n)[body], hand)[0]
        return _whole(settings, found, found)[0]

    def thrown(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, velocity: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        n = rods_of(settings) - 1
        x = q[:n]
        if body == n:
            v = velocity[[2, 0]] if n == 2 else sphere.taken(velocity)
            v = v - (v @ x) * x
        else:
            v = kernel.routines["throw"](self.numbers(settings), x, np.eye(n)[body], velocity[:2])[0]
        speed = float(np.linalg.norm(v))
        return _whole(settings, x, v * min(1.0, _FASTEST / speed) if speed > 0 else v)[1]

    def surface_key(self, settings: Settings) -> Hashable:
        return (self.numbers(settings).tobytes(), settings.choices.get("field"))

    def surface(self, settings: Settings, kernel: Kernel) -> messages.Surface | None:
        if rods_of(settings) != sphere.RODS:
            return messages.Surface(1, 0, 0, "", "", "", 0.0, 0.0, 0.0, 0.0, "")
        return sphere.coloured(kernel, self.numbers(settings), settings.choices["field"], 1)

    def curves(self, settings: Settings, kernel: Kernel, q: Coordinates, v: Coordinates) -> messages.Curves | None:
        rods, numbers = rods_of(settings), self.numbers(settings)
        if rods != sphere.RODS:
            return messages.Curves(1, linkage_view.circle(rods), (), linkage_view.note(rods))
        lines: list[messages.CurveView] = []
        if settings.toggles["fan"]:
            rays = sphere.fan(kernel, numbers, q[:3], settings.parameters["fan_length"])
            lines += [messages.CurveView("fan", sphere.packed(sphere.placed(ray))) for ray in rays]
        motion = self._shortest(settings, kernel)
        if motion is not None:
            lines.append(messages.CurveView("shortest", sphere.packed(sphere.placed(motion.path))))
        marks = [(letter, marked(settings, letter)) for letter in "ab"]
        shown = tuple(messages.MarkView(k.upper(), *map(float, sphere.placed(x))) for k, x in marks if x is not None)
        note = "" if motion is None else f"A to B: length {motion.length:.6g} in the kinetic metric"
        return messages.Curves(1, tuple(lines), shown, note)

    def _shortest(self, settings: Settings, kernel: Kernel) -> shortest.Motion | None:
        a, b = marked(settings, "a"), marked(settings, "b")
        if a is None or b is None:
            return None
        return shortest.shortest(kernel, self.numbers(settings), a, b)

    def extents(self, settings: Settings) -> tuple[float, ...]:
        return (max(1.0, settings.parameters["base"] / 2 + 0.45), 1.12)

    def radii(self, settings: Settings) -> tuple[float, ...]:
        p = settings.parameters
        weight = p["hinge_mass"] + 2 / 3 * p["rod_mass"]
        size = _HINGE * min(1.3, max(0.7, weight ** (1 / 3)))
        one = (size,) * (rods_of(settings) - 1) + (_POINT,)
        return one if settings.choices["route"] == "none" else 2 * one

    def energies(self, settings: Settings, channels: Float[np.ndarray, " channels"]) -> Float[np.ndarray, " energies"]:
        return channels[:1]

    def channels(
        self,
        settings: Settings,
        main: Float[np.ndarray, " channels"],
        ghost: Float[np.ndarray, " channels"] | None,
        extra: Extra,
    ) -> Float[np.ndarray, " all_channels"]:
        return main

    def caution(self, settings: Settings) -> str:
        return linkage_view.note(rods_of(settings))

    # ── In the workshop ───────────────────────────────────────────────────────────────────────────

    def program(self, structure: Structure) -> Program:
        from holonomy.studio.labs.linkage import program as linkage_program

        return linkage_program.program(structure)

    def library(self, settings: Settings) -> tuple[System, AbstractMethod]:
        from holonomy.studio.labs.linkage import program as linkage_program

        return linkage_program.library(settings)

    def equations(self, structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
        from holonomy.studio.labs.linkage import program as linkage_program

        return linkage_program.equations(structure)

    # ── Taking it along ───────────────────────────────────────────────────────────────────────────

    def snippet(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        n = rods_of(settings) - 1
        return linkage_view.snippet(settings, t, q[:n], v[:n], _STEPS)

    def scene(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        raise Refusal("A scene file has no word for a linkage's sphere; take the Python program.")

    def columns(self, settings: Settings) -> tuple[str, ...]:
        return tuple(c.name for c in linkage_view.coordinates(rods_of(settings), settings.choices["route"]))


def rods_of(settings: Settings) -> int:
    """How many rods there are."""
    return int(settings.parameters["rods"])


def marked(settings: Settings, letter: str) -> Float[np.ndarray, " 3"] | None:
    """The point that bears the mark a or b."""
    p = settings.parameters
    return np.array([p[f"{letter}{i}"] for i in "123"]) if f"{letter}1" in p else None


def _with_mark(settings: Settings, letter: str, x: Coordinates) -> Settings:
    mark = {f"{letter}{i + 1}": float(c) for i, c in enumerate(x)}
    return Settings({**settings.parameters, **mark}, settings.choices, settings.toggles)


def _mark(given: Mapping[str, float], letter: str) -> dict[str, float]:
    """The three numbers of a mark, or none of them."""
    mark = {name: given[name] for name in (f"{letter}1", f"{letter}2", f"{letter}3") if name in given}
    if mark and not (len(mark) == 3 and abs(sum(c * c for c in mark.values()) - 1.0) < 1e-9):
        raise Refusal(f"The mark {letter.upper()} is no point of the sphere.")
    return mark


def _whole(settings: Settings, x: Coordinates, v: Coordinates) -> tuple[Coordinates, Coordinates]:
    """The state with the other route's coordinates left open: it begins in the same state."""
    tail = np.full(linkage_view.beside(rods_of(settings), settings.choices["route"]), np.nan)
    return np.concatenate([x, tail]), np.concatenate([v, tail])


def _opening_state(rods: int) -> tuple[Coordinates, Coordinates]:
    """A motion that wanders over the whole sphere."""
    x, v = np.linspace(0.9, -0.4, rods - 1), np.linspace(-0.3, 1.2, rods - 1)
    x = x / np.linalg.norm(x)
    v = v - (v @ x) * x
    return x, 1.1 * v / np.linalg.norm(v)

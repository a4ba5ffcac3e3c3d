r"""The Linkage lab: a chain of unit rods with pinned ends, and the sphere of its configurations.

Coordinates are a point of \(S^{n-2} \subset R^{n-1}\); with a second route, its coordinates follow. The marks A and B
are points of the sphere among the parameters that the page does not show: undo, links and files have them too.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.base import AbstractLab, ButtonEffect, Coordinates, Drawing, State
from holonomy.studio.labs.linkage import sphere, view
from holonomy.studio.labs.linkage.settings import (
    DESCRIPTOR,
    EVERYWHERE,
    MOST_RODS,
    STARTS,
    TABLE,
    fan,
    has_surface,
    marked,
    rods,
    route,
    with_mark,
    without_marks,
)
from holonomy.studio.labs.settings import Refusal, Settings, Structure
from holonomy.viewer.protocol import messages

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

_HINGE: Final = 0.05
_POINT: Final = 0.055
_TRAVEL: Final = 4.0
"""Seconds from A to B."""
_FASTEST: Final = 12.0
"""Largest speed on the sphere with which a body is thrown; faster motions cannot be followed on the screen."""
_ON_SPHERE: Final = 1e-14
"""How far rounding takes a point of the sphere off it, and a velocity off its tangent space."""


class LinkageLab(AbstractLab):
    """No forces: the motions are the geodesics of the kinetic metric."""

    descriptor = DESCRIPTOR
    table = TABLE

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    def adjusted(self, settings: Settings) -> Settings:
        p = settings.parameters
        if not rods(settings) - 2 < p["base"] < rods(settings):
            settings = settings.with_parameter("base", rods(settings) - 1.0)
        if p["rod_mass"] == 0 and p["hinge_mass"] == 0:
            raise Refusal("Rods and hinges cannot both be without mass: the kinetic energy would be zero.")
        for letter in "ab":
            _check_mark(settings, letter)
        return settings

    def outline(self, settings: Settings) -> Hashable:
        both = marked(settings, "a") is not None and marked(settings, "b") is not None
        return rods(settings), route(settings), fan(settings), both

    def likely(self, settings: Settings) -> tuple[Structure, ...]:
        here, count = route(settings), rods(settings)
        routes = [name for name in ("rods", "embedding", "chart", "none") if name != here]
        other = [n for n in (count + 1, count - 1) if 3 <= n <= MOST_RODS]
        return (
            *((("rods", count), ("route", name)) for name in routes),
            *((("rods", n), ("route", here)) for n in other),
        )

    # ── The motion ────────────────────────────────────────────────────────────────────────────────

    def start(self, settings: Settings) -> State:
        n, where = rods(settings) - 1, settings.choices.get("start", EVERYWHERE)
        if where in STARTS:
            x, v = (np.array(given) for given in STARTS[where])
        else:
            x, v = np.linspace(0.9, -0.4, n), np.linspace(-0.3, 1.2, n)
        x = x / np.linalg.norm(x)
        v = v - (v @ x) * x
        return _whole(settings, x, 1.1 * v / np.linalg.norm(v))

    def admitted(self, settings: Settings, q: Coordinates, v: Coordinates) -> State:
        n = rods(settings) - 1
        x, w = q[:n], v[:n]
        off = abs(x @ x - 1.0) + abs(x @ w) / (1.0 + float(np.linalg.norm(w)))
        if off < _ON_SPHERE:
            return q, v
        size = float(np.linalg.norm(x))
        if size == 0.0:
            raise Refusal("The link's state is no configuration of the linkage.")
        x = x / size
        return np.concatenate([x, q[n:]]), np.concatenate([w - (w @ x) * x, v[n:]])

    def carried(self, old: Settings, new: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates) -> State:
        if rods(old) != rods(new) or old.choices.get("start") != new.choices.get("start"):
            return self.start(new)
        if self.structure(old) == self.structure(new) and (self.numbers(old) == self.numbers(new)).all():
            return q, v  # colours and lines only: both routes go on
        n = rods(old) - 1
        return _whole(new, q[:n], v[:n])

    def pressed(self, settings: Settings, kernel: Kernel, name: str, q: Coordinates, v: Coordinates) -> ButtonEffect:
        if name == "here":
            return ButtonEffect(settings, q, v)
        if name in ("mark_a", "mark_b"):
            return ButtonEffect(with_mark(settings, name[-1], q[: rods(settings) - 1]), q, v)
        if name == "clear":
            return ButtonEffect(without_marks(settings), q, v)
        if name == "travel":
            a, motion = marked(settings, "a"), self._shortest(settings, kernel)
            if a is None or motion is None:
                raise Refusal("Mark two different configurations first; then there is a shortest motion between them.")
            state = _whole(settings, a, motion.velocity / _TRAVEL)
            return ButtonEffect(settings, *state, play=True, stop_after=_TRAVEL)
        return super().pressed(settings, kernel, name, q, v)

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    def drawing(self, settings: Settings) -> Drawing:
        return view.drawing(settings)

    def anchors(self, settings: Settings) -> Float[np.ndarray, "anchors d"]:
        half = settings.parameters["base"] / 2
        return np.array([[-half, 0.0, 0.0], [half, 0.0, 0.0]])

    def placed(self, settings: Settings, q: Coordinates) -> Float[np.ndarray, "points 3"]:
        x, base = q[: rods(settings) - 1], settings.parameters["base"]
        hinges = sphere.hinges(rods(settings), base, x) - [base / 2, 0.0]
        own = np.concatenate([np.pad(hinges, ((0, 0), (0, 1))), sphere.placed(x)[None]])
        return own if route(settings) == "none" else np.concatenate([own, own])  # both routes begin in the same state

    def dragged(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, target: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        n = rods(settings) - 1
        x = q[:n]
        if body == n:
            goal = sphere.coordinates(target, n)
            size = float(np.linalg.norm(goal))
            return _whole(settings, goal / size if size > 1e-6 else x, x)[0]
        hand = np.array([target[0] + settings.parameters["base"] / 2, target[1]])
        found = kernel.routines["drag"](self.numbers(settings), x, np.int64(body), hand)[0]
        return _whole(settings, found, found)[0]

    def thrown(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, velocity: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        n = rods(settings) - 1
        x = q[:n]
        if body == n:
            v = sphere.coordinates(velocity, n)
            v = v - (v @ x) * x
        else:
            v = kernel.routines["throw"](self.numbers(settings), x, np.int64(body), velocity[:2])[0]
        speed = float(np.linalg.norm(v))
        return _whole(settings, x, v * min(1.0, _FASTEST / speed) if speed > 0 else v)[1]

    def surface_key(self, settings: Settings) -> Hashable:
        return (self.numbers(settings).tobytes(), settings.choices.get("field"))

    def surface(self, settings: Settings, kernel: Kernel) -> messages.Surface | None:
        if not has_surface(settings):
            return messages.Surface(1, 0, 0, "", "", "", 0.0, 0.0, 0.0, 0.0, "")
        return sphere.coloured(kernel, self.numbers(settings), settings.choices["field"], 1)

    def curves(self, settings: Settings, kernel: Kernel, q: Coordinates, v: Coordinates) -> messages.Curves | None:
        if not has_surface(settings):
            return messages.Curves(1, view.circle(rods(settings)), (), view.note(rods(settings)))
        lines: list[messages.CurveView] = []
        if fan(settings):
            rays = sphere.fan(kernel, self.numbers(settings), q[:3], settings.parameters["fan_length"])
            lines += [messages.CurveView("fan", sphere.packed(sphere.placed(ray))) for ray in rays]
        motion = self._shortest(settings, kernel)
        if motion is not None:
            lines.append(messages.CurveView("shortest", sphere.packed(sphere.placed(motion.path))))
        marks = [(letter, marked(settings, letter)) for letter in "ab"]
        shown = tuple(messages.MarkView(k.upper(), *map(float, sphere.placed(x))) for k, x in marks if x is not None)
        note = "" if motion is None else f"A to B: length {motion.length:.6g} in the kinetic metric"
        return messages.Curves(1, tuple(lines), shown, note)

    def _shortest(self, settings: Settings, kernel: Kernel) -> sphere.Motion | None:
        a, b = marked(settings, "a"), marked(settings, "b")
        if a is None or b is None:
            return None
        return sphere.shortest(kernel, self.numbers(settings), a, b)

    def extents(self, settings: Settings) -> tuple[float, ...]:
        return (max(1.0, settings.parameters["base"] / 2 + 0.45), 1.12)

    def radii(self, settings: Settings) -> tuple[float, ...]:
        p = settings.parameters
        weight = p["hinge_mass"] + 2 / 3 * p["rod_mass"]
        size = _HINGE * min(1.3, max(0.7, weight ** (1 / 3)))
        one = (size,) * (rods(settings) - 1) + (_POINT,)
        return one if route(settings) == "none" else 2 * one

    def caution(self, settings: Settings) -> str:
        return view.note(rods(settings))

    # ── Compiled code and the library ─────────────────────────────────────────────────────────────

    def program(self, structure: Structure) -> Program:
        from holonomy.studio.labs.linkage import system

        return system.program(structure)

    def library(self, settings: Settings) -> tuple[System, AbstractMethod]:
        from holonomy.studio.labs.linkage import system

        return system.library(settings)

    def equations(self, structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
        from holonomy.studio.labs.linkage import system

        return system.equations(structure)

    # ── Files ─────────────────────────────────────────────────────────────────────────────────────

    def snippet(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        n = rods(settings) - 1
        return view.snippet(settings, t, q[:n], v[:n], self.steps_per_second)

    def scene(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        raise Refusal("A scene file cannot describe a linkage's sphere; export the Python program instead.")


def _check_mark(settings: Settings, letter: str) -> None:
    """Refuse a mark that lacks a coordinate or is no point of the sphere."""
    mark = [settings.parameters[name] for i in "123" if (name := f"{letter}{i}") in settings.parameters]
    if mark and not (len(mark) == 3 and abs(sum(c * c for c in mark) - 1.0) < 1e-9):
        raise Refusal(f"The mark {letter.upper()} is no point of the sphere.")


def _whole(settings: Settings, x: Coordinates, v: Coordinates) -> State:
    """The state with the second route's coordinates left open: it begins in the same state."""
    tail = np.full(view.second_coordinates(rods(settings), route(settings)), np.nan)
    return np.concatenate([x, tail]), np.concatenate([v, tail])

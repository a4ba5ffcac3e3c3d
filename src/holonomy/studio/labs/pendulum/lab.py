r"""The Pendulum lab: any number of bobs on rods or springs, in the plane, under gravity.

On rods the coordinates are the angles \(\theta_i\) from the downward vertical, on springs the bobs' Cartesian ones.
Channels of the compiled code: kinetic, potential, (elastic,) total, the angles, their rates, (the strains,)
then speeds, tensions and momenta.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from holonomy.models.pendulums.inverse_kinematics import chain_points, reach
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.base import AbstractLab, ButtonEffect, Coordinates, Drawing, State
from holonomy.studio.labs.pendulum import view
from holonomy.studio.labs.pendulum.settings import DESCRIPTOR, METHODS, SAME_METHOD, TABLE, elastic, links
from holonomy.studio.labs.settings import Refusal, Settings, Structure, each_of

if TYPE_CHECKING:
    from holonomy.motion import AbstractMethod
    from holonomy.studio.compile.program import Program
    from holonomy.systems import System

_LARGEST_BOB: Final = 0.06
"""Radius of the heaviest bob in the picture, as a fraction of the extent."""
_OF_ROD: Final = 0.3
"""Largest part of the shorter rod beside it that a bob covers, so that rods can be seen."""
_SMALLEST_BOB: Final = 0.002
_LAST_BOB: Final = 0.014
"""The least radius of the last bob, which leaves the trail and is pulled at: the end of a chain stays visible."""
_IMPLICIT: Final = ("gauss2", "gauss3", "symplectic")
_IMPLICIT_LINKS: Final = 12
"""With more links an implicit method's dense equations cannot keep up with the clock."""
_LONGEST: Final = 3.0
"""How far a drag stretches a spring, times its length."""
_METHODS: Final = tuple(option.value for option in METHODS)
_STARTS: Final = {"raised": (2.0, 2.6), "level": (np.pi / 2, np.pi / 2), "upright": (np.pi - 0.02, np.pi - 0.1)}
"""Angles of the first and of the last link at the start; those between are evenly spaced."""
_SOON: Final = 10
"""Numbers of links that are compiled ahead."""


class PendulumLab(AbstractLab):
    r"""\(V = g\sum m_i y_i\), zero at the pivot; springs add \(\tfrac12 k\,(|x_i-x_{i-1}|-l_i)^2\)."""

    descriptor = DESCRIPTOR
    table = TABLE

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────

    def adjusted(self, settings: Settings) -> Settings:
        count = links(settings)
        used = [settings.choices["method"], *([settings.choices["ghost_method"]] if settings.toggles["ghost"] else [])]
        if count > _IMPLICIT_LINKS and any(name in _IMPLICIT for name in used):
            raise Refusal(
                f"An implicit method is too slow for {count} links; with more than {_IMPLICIT_LINKS}, choose "
                "Runge–Kutta 4 or explicit Euler."
            )
        return settings

    def structure(self, settings: Settings) -> Structure:
        """With the ghost's own method, where there is a ghost that has one."""
        found, method = super().structure(settings), settings.choices["ghost_method"]
        own = settings.toggles["ghost"] and method not in (SAME_METHOD, settings.choices["method"])
        return (*found, ("ghost_method", method)) if own else found

    def likely(self, settings: Settings) -> tuple[Structure, ...]:
        here, count = self.structure(settings), links(settings)
        others = sorted(set(range(1, _SOON + 1)) - {count}, key=lambda n: (abs(n - count), -n))
        near = [_changed(here, "links", n) for n in others]
        model = _changed(here, "model", "rigid" if elastic(settings) else "elastic")
        methods = [_changed(here, "method", name) for name in _METHODS if name != dict(here)["method"]]
        possible = [near[0], model, *near[1:], *methods] if near else [model, *methods]
        return tuple(s for s in possible if _feasible(s))

    # ── The motion ────────────────────────────────────────────────────────────────────────────────

    def step(self, settings: Settings) -> float:
        return 1 / int(settings.choices["step"])

    def start(self, settings: Settings) -> State:
        count = links(settings)
        first, last = _STARTS[settings.choices["start"]]
        q = np.linspace(first, last, count) if count > 1 else np.array([first])
        if elastic(settings):
            q = chain_points(q, _lengths(settings))[1:].ravel()
        return q, np.zeros_like(q)

    def carried(self, old: Settings, new: Settings, kernel: Kernel, t: float, q: Coordinates, v: Coordinates) -> State:
        if old.choices["start"] != new.choices["start"]:
            return self.start(new)
        if links(old) != links(new):
            q, v = _resized(old, new, q, v)
        if elastic(old) and not elastic(new):
            return _angles(q, v)
        if elastic(new) and not elastic(old):
            return _hung(q, v, _lengths(new))
        return q, v

    def ghost(self, settings: Settings, q: Coordinates, v: Coordinates) -> State | None:
        if not settings.toggles["ghost"]:
            return None
        offset = settings.parameters["ghost_offset"]
        if not elastic(settings):
            return np.concatenate([[q[0] + offset], q[1:]]), v
        turn = np.array([[np.cos(offset), -np.sin(offset)], [np.sin(offset), np.cos(offset)]])
        return (q.reshape(-1, 2) @ turn.T).ravel(), (v.reshape(-1, 2) @ turn.T).ravel()

    def keeps_ghost(self, old: Settings, new: Settings) -> bool:
        alike = self.columns(old) == self.columns(new) and new.toggles["ghost"]
        return alike and old.parameters["ghost_offset"] == new.parameters["ghost_offset"]

    def distance(self, settings: Settings, a: Coordinates, b: Coordinates) -> float:
        gap = a - b
        if not elastic(settings):
            gap = gap - 2 * np.pi * np.round(gap / (2 * np.pi))
        return float(np.linalg.norm(gap))

    def pressed(self, settings: Settings, kernel: Kernel, name: str, q: Coordinates, v: Coordinates) -> ButtonEffect:
        if name == "ghost":  # begins beside the pendulum, as at every new start
            return ButtonEffect(settings, q, v)
        return super().pressed(settings, kernel, name, q, v)

    # ── The picture ───────────────────────────────────────────────────────────────────────────────

    def drawing(self, settings: Settings) -> Drawing:
        return view.drawing(settings)

    def placed(self, settings: Settings, q: Coordinates) -> Float[np.ndarray, "links 2"]:
        return q.reshape(-1, 2) if elastic(settings) else chain_points(q, _lengths(settings))[1:]

    def dragged(
        self, settings: Settings, kernel: Kernel, q: Coordinates, body: int, target: Float[np.ndarray, " 3"]
    ) -> Coordinates:
        lengths, goal = _lengths(settings), target[:2]
        if not elastic(settings):
            return reach(q, lengths, body, goal)
        angles, _ = _angles(q, np.zeros_like(q))
        spans = _spans(q)
        pull = float(np.linalg.norm(goal)) / float(spans[: body + 1].sum())
        if pull > 1.0:  # springs stretch towards the pointer
            spans = spans.copy()
            spans[: body + 1] = np.minimum(spans[: body + 1] * pull, np.maximum(spans, _LONGEST * lengths)[: body + 1])
        return chain_points(reach(angles, spans, body, goal), spans)[1:].ravel()

    def extents(self, settings: Settings) -> tuple[float, ...]:
        longest = float(_lengths(settings).sum())
        if elastic(settings):  # hanging still, each spring carries what is below it
            p = settings.parameters
            longest += p["gravity"] * float(np.cumsum(_masses(settings)[::-1]).sum()) / p["stiffness"]
        return (1.12 * longest,)

    def radii(self, settings: Settings) -> tuple[float, ...]:
        size, lengths = np.cbrt(_masses(settings)), _lengths(settings) / self.extents(settings)[0]
        beside = np.minimum(lengths, np.append(lengths[1:], lengths[-1]))
        wanted = _LARGEST_BOB * np.maximum(size / size.max(), 0.4)
        bobs = np.maximum(np.minimum(wanted, _OF_ROD * beside), _SMALLEST_BOB)
        bobs[-1] = max(bobs[-1], _LAST_BOB)
        return tuple(bobs.tolist()) * (2 if settings.toggles["ghost"] else 1)

    def caution(self, settings: Settings) -> str:
        if settings.parameters["damping"] > 0:
            return "Air drag takes energy out of the motion, so the energy drift is not an error here."
        return ""

    def conserves_energy(self, settings: Settings) -> bool:
        return settings.parameters["damping"] == 0

    # ── Compiled code and the library ─────────────────────────────────────────────────────────────

    def program(self, structure: Structure) -> Program:
        from holonomy.studio.labs.pendulum import system

        return system.program(structure)

    def library(self, settings: Settings) -> tuple[System, AbstractMethod]:
        from holonomy.studio.labs.pendulum import system

        return system.library(settings)

    def equations(self, structure: Structure) -> tuple[str, tuple[tuple[str, str], ...]]:
        from holonomy.studio.labs.pendulum import system

        return system.equations(structure)

    # ── Files ─────────────────────────────────────────────────────────────────────────────────────

    def snippet(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        from holonomy.studio.labs.pendulum import text

        return text.snippet(self, settings, t, q, v)

    def scene(self, settings: Settings, t: float, q: Coordinates, v: Coordinates) -> str:
        from holonomy.studio.labs.pendulum import text

        return text.scene(self, settings, t, q, v)


def _lengths(settings: Settings) -> Float[np.ndarray, " links"]:
    return each_of(settings, "length")


def _masses(settings: Settings) -> Float[np.ndarray, " links"]:
    return each_of(settings, "mass")


def _changed(structure: Structure, name: str, value: Hashable) -> Structure:
    return tuple((key, value if key == name else was) for key, was in structure)


def _feasible(structure: Structure) -> bool:
    parts = dict(structure)
    return not (parts["method"] in _IMPLICIT and int(str(parts["links"])) > _IMPLICIT_LINKS)


def _steps(q: Coordinates) -> Float[np.ndarray, "links 2"]:
    """From each bob to the next, the pivot first."""
    return np.diff(np.concatenate([np.zeros((1, 2)), q.reshape(-1, 2)]), axis=0)


def _spans(q: Coordinates) -> Float[np.ndarray, " links"]:
    return np.linalg.norm(_steps(q), axis=1)


def _angles(q: Coordinates, v: Coordinates) -> State:
    """Directions of springs as angles, and the rates at which they turn."""
    steps, rates = _steps(q), _steps(v)
    turning = steps[:, 0] * rates[:, 1] - steps[:, 1] * rates[:, 0]
    return np.arctan2(steps[:, 0], -steps[:, 1]), turning / np.sum(steps * steps, axis=1)


def _hung(q: Coordinates, v: Coordinates, lengths: Coordinates) -> State:
    """Bobs on springs at rest lengths where rods hold them: the picture and both energies stay as they were."""
    across = (lengths * v)[:, None] * np.stack([np.cos(q), np.sin(q)], axis=1)
    return chain_points(q, lengths)[1:].ravel(), np.cumsum(across, axis=0).ravel()


def _resized(old: Settings, new: Settings, q: Coordinates, v: Coordinates) -> State:
    """Links removed at the end, or added in line with the last one and not turning, so that it is disturbed least."""
    width = 2 if elastic(old) else 1
    extra = links(new) - links(old)
    if extra <= 0:
        return q[: width * links(new)], v[: width * links(new)]
    if width == 1:
        return np.concatenate([q, np.full(extra, q[-1])]), np.concatenate([v, np.zeros(extra)])
    angles, _ = _angles(q, v)
    reachings = np.cumsum(_lengths(new)[-extra:])[:, None]
    along = np.array([np.sin(angles[-1]), -np.cos(angles[-1])])
    return np.concatenate([q, (q[-2:] + reachings * along).ravel()]), np.concatenate([v, np.tile(v[-2:], extra)])

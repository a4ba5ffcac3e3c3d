"""The Linkage lab's name, and what a user may set about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.labs.base import Coordinates, LabDescriptor, Preset
from holonomy.studio.labs.settings import Choice, Parameter, Settings, SettingsTable, Toggle, never
from holonomy.viewer.protocol.messages import Option, PictureView

SURFACE_RODS: Final = 4
"""With four rods the configurations form a surface."""
MOST_RODS: Final = 6
_EDGE: Final = 0.02
"""How near the base comes to the ends of its range, where the configurations degenerate."""

EVERYWHERE: Final = "everywhere"
STARTS: Final[dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]]] = {
    "refocus": ((-0.57, 0.193, 0.799), (0.4, 0.9, 0.07)),
    "conjugate": ((0.707, 0.707, 0.0), (0.0, 0.3, 1.0)),
    "saddle": ((0.35, 0.92, 0.15), (0.9, -0.3, -0.3)),
    # 1.5 s before the geodesic of a base of 3 that passes the pole (1, 0, 0) with velocity (0, 0.88, 0.66)
    "pole": ((0.19642765, 0.86385707, -0.46386113), (0.64617072, 0.19392231, 0.63477394)),
}
"""Points and directions in which motions start; both are scaled onto the sphere and its tangent plane."""


def _preset(name: str, label: str, note: str, numbers: dict[str, float], picture: int, **options: str) -> Preset:
    toggles = {"fan": True} if "fan_length" in numbers else {}
    return Preset(name, label, Settings(numbers, {"start": name, **options}, toggles), note, picture)


DESCRIPTOR: Final = LabDescriptor(
    "linkage",
    "Sphere linkage",
    (PictureView("plane", "Linkage", "plane"), PictureView("configurations", "Sphere of configurations", "surface")),
    (
        Preset("four", "Four rods", note="A free motion that comes everywhere on the sphere."),
        _preset(
            "refocus", "Refocusing fan", "Geodesics from one point in all directions come together again.",
            {"base": 3.0, "fan_length": 4.2}, 1,
        ),
        _preset(
            "conjugate", "Conjugate points", "Beyond them neighbouring geodesics cross, and none is the shortest.",
            {"base": 3.5, "fan_length": 5.0}, 1,
        ),
        _preset(
            "saddle", "K < 0", "Where K < 0 geodesics spread faster than in a plane.",
            {"base": 2.2, "fan_length": 2.0}, 1,
        ),
        _preset(
            "pole", "Through a pole", "The angles φ and t break down at their pole; the point of the sphere does not.",
            {"base": 3.0}, 0, route="chart",
        ),
        Preset(
            "five", "Five rods", Settings({"rods": 5.0}, {}, {}),
            "Configurations form a sphere of three dimensions; no picture shows it.",
        ),
        Preset(
            "six", "Six rods", Settings({"rods": 6.0}, {}, {}),
            "A sphere of four dimensions, and still no pole to fall over.",
        ),
    ),
    sentence="Rods between two pins without forces: motions are geodesics on the sphere of configurations.",
    hint="Drag a hinge, or the point on the sphere",
)  # fmt: skip


def rods(settings: Settings) -> int:
    """The number of rods."""
    return int(settings.parameters["rods"])


def route(settings: Settings) -> str:
    """The second route to the motion, "none" where there is none."""
    return settings.choices["route"]


def fan(settings: Settings) -> bool:
    """Whether geodesics in all directions are drawn."""
    return settings.toggles.get("fan", False)


def has_surface(settings: Settings) -> bool:
    """Whether the configurations form a surface."""
    return rods(settings) == SURFACE_RODS


def marked(settings: Settings, letter: str) -> Float[np.ndarray, " 3"] | None:
    """The point of the sphere with the mark a or b."""
    p = settings.parameters
    return np.array([p[f"{letter}{i}"] for i in "123"]) if f"{letter}1" in p else None


def with_mark(settings: Settings, letter: str, x: Coordinates) -> Settings:
    """The settings with the mark at x."""
    for i, c in enumerate(x):
        settings = settings.with_parameter(f"{letter}{i + 1}", float(c))
    return settings


def without_marks(settings: Settings) -> Settings:
    """The settings without both marks."""
    kept = {name: value for name, value in settings.parameters.items() if name not in _MARKS}
    return replace(settings, parameters=kept)


_MARKS: Final = tuple(f"{letter}{i}" for letter in "ab" for i in "123")
_FIELDS: Final = (
    Option("gauss", "K", "Gaussian curvature of the kinetic metric."),
    Option("bending", "|II|²", "Total bending of the sphere in the space of hinges."),
)
_ROUTES: Final = (
    Option("none", "Nothing", "The motion on the sphere alone."),
    Option("chart", "Angles φ, t", "Christoffel symbols in the angles, which are singular at the poles."),
    Option("embedding", "Embedding", "Every hinge accelerates by II(v, v), normal to the sphere of configurations."),
    Option("rods", "Rods", "Hinges as particles connected by rods: constraints with multipliers."),
)
_STARTS: Final = (
    Option(EVERYWHERE, "Everywhere", "A motion that comes everywhere on the sphere."),
    Option("refocus", "Refocusing", "Geodesics from here come together again, for a base of 3."),
    Option("conjugate", "Conjugate points", "Geodesics from here cross, for a base of 3.5."),
    Option("saddle", "Negative curvature", "K < 0 here, for a short base."),
    Option("pole", "To the pole", "Passes near the pole of the angles φ and t, for a base of 3."),
)

TABLE: Final = SettingsTable(
    parameters=(
        Parameter(
            name="rods", label="Number of rods", low=3, high=MOST_RODS, step=1, default=SURFACE_RODS,
            integer=True, structural=True,
        ),
        Parameter(
            name="base", label="Length of the base", low=lambda s: rods(s) - 2 + _EDGE,
            high=lambda s: rods(s) - _EDGE, default=lambda s: rods(s) - 1.0, compiled=True,
        ),
        Parameter(
            name="rod_mass", label="Mass of each rod", low=0.0, high=3.0, default=0.0,
            compiled=True,
        ),
        Parameter(
            name="hinge_mass", label="Mass of each hinge", low=0.0, high=3.0, default=1.0,
            compiled=True,
        ),
        Parameter(
            name="fan_length", label="Length of the fan", low=0.5, high=16.0, step=0.1,
            default=4.0, shown=fan,
        ),
        *(Parameter(name=name, exists=has_surface, shown=never) for name in _MARKS),
    ),
    choices=(
        Choice(name="field", label="Colour by", options=_FIELDS, default="gauss", exists=has_surface),
        Choice(name="start", label="Start", options=_STARTS, default=EVERYWHERE, exists=has_surface),
        Choice(name="route", label="Compare with", options=_ROUTES, default="none", structural=True),
    ),
    toggles=(
        Toggle(
            name="fan", label="Geodesic fan", exists=has_surface,
            note="Geodesics in all directions from where the motion began.",
        ),
    ),
)  # fmt: skip

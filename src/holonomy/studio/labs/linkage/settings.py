"""The Linkage lab's name, and what a user may set about it."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.labs.base import Coordinates, LabDescriptor
from holonomy.studio.labs.settings import Choice, Parameter, Settings, SettingsTable, Toggle, never
from holonomy.viewer.protocol.messages import Option, PictureView

SURFACE_RODS: Final = 4
"""With four rods the configurations form a surface."""
MOST_RODS: Final = 6
_EDGE: Final = 0.02
"""How near the base comes to the ends of its range, where the configurations degenerate."""

DESCRIPTOR: Final = LabDescriptor(
    "linkage",
    "Sphere linkage",
    (PictureView("plane", "Linkage", "plane"), PictureView("configurations", "Sphere of configurations", "surface")),
)


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
    return Settings(kept, settings.choices, settings.toggles)


_MARKS: Final = tuple(f"{letter}{i}" for letter in "ab" for i in "123")
_FIELDS: Final = (
    Option("gauss", "K", "Gaussian curvature of the kinetic metric."),
    Option("bending", "|II|²", "Total bending of the sphere in the space of hinges."),
)
_ROUTES: Final = (
    Option("none", "none", "The motion on the sphere alone."),
    Option("chart", "angles φ, t", "Christoffel symbols in the angles, which are singular at the poles."),
    Option("embedding", "embedding", "Every hinge accelerates by II(v, v), normal to the sphere of configurations."),
    Option("rods", "rods", "Hinges as particles connected by rods: constraints with multipliers."),
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
        Choice(name="route", label="Second route", options=_ROUTES, default="none", structural=True),
    ),
    toggles=(
        Toggle(
            name="fan", label="Geodesic fan", exists=has_surface,
            note="Geodesics in all directions from where the motion began.",
        ),
    ),
)  # fmt: skip

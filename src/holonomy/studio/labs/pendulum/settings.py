"""The Pendulum lab's name, and what a user may set about it."""

from __future__ import annotations

from typing import Any, Final

from holonomy import method_table
from holonomy.method_table import MethodRow
from holonomy.studio.labs.base import LabDescriptor
from holonomy.studio.labs.settings import Choice, Parameter, Settings, SettingsTable, Toggle
from holonomy.viewer.protocol.messages import Option, PictureView

MOST_LINKS: Final = 100
DESCRIPTOR: Final = LabDescriptor("pendulum", "Pendulum", (PictureView("plane", "Pendulum", "plane"),))


def links(settings: Settings) -> int:
    """The number of links."""
    return int(settings.parameters["links"])


def elastic(settings: Settings) -> bool:
    """Whether the links are springs."""
    return settings.choices["model"] == "elastic"


def ghost(settings: Settings) -> bool:
    """Whether there is a second pendulum."""
    return settings.toggles["ghost"]


METHODS: Final = (
    Option("rk4", "Runge–Kutta 4", "Order 4, explicit, for any number of links; the energy drifts slowly."),
    Option("gauss2", "Gauss, 2 stages", "Order 4, symplectic and reversible: the energy error stays small."),
    Option("gauss3", "Gauss, 3 stages", "Order 6, symplectic and reversible."),
    Option("symplectic", "Symplectic Euler", "Order 1, symplectic: inaccurate, but the energy error stays bounded."),
    Option("euler", "Explicit Euler", "Order 1; the energy grows without bound."),
)
_ROWS: Final = {row.name: row for row in method_table.TABLE}
LIBRARY: Final[dict[str, tuple[MethodRow, dict[str, Any]]]] = {
    "rk4": (_ROWS["rk4"], {}),
    "gauss2": (_ROWS["gauss"], {"stages": 2}),
    "gauss3": (_ROWS["gauss"], {"stages": 3}),
    "symplectic": (_ROWS["symplectic_euler"], {}),
    "euler": (_ROWS["euler"], {}),
}
"""Each of `METHODS` as a row of the library's table, with its options."""
_STEPS: Final = (
    Option("3840", "1/3840 s", "64 steps per frame, for many links."),
    Option("960", "1/960 s", "16 steps per frame: errors too small to see with all but Euler's methods."),
    Option("240", "1/240 s", "4 steps per frame."),
    Option("60", "1/60 s", "1 step per frame: shows the errors of each method."),
)
_MODELS: Final = (
    Option("rigid", "Rods", "Rigid and massless."),
    Option("elastic", "Springs", "Massless springs that push as well as pull."),
)

TABLE: Final = SettingsTable(
    parameters=(
        Parameter(
            name="links", label="Number of links", low=1, high=10, step=1, default=2, most=MOST_LINKS,
            integer=True, structural=True,
        ),
        Parameter(
            name="gravity", label="Gravity", low=0.0, high=30.0, default=9.81, compiled=True
        ),
        Parameter(
            name="damping", label="Air drag", low=0.0, high=2.0, default=0.0, compiled=True
        ),
        Parameter(
            name="stiffness", label="Stiffness", low=10, high=1000, step=1, default=500,
            logarithmic=True, compiled=True, shown=elastic,
        ),
        Parameter(
            name="ghost_offset", label="Offset of the ghost", low=1e-12, high=0.5, step=1e-12,
            default=1e-3, logarithmic=True, shown=ghost,
        ),
        Parameter(
            name="length", label="Length", low=0.1, high=3.0, default=1.0, each="links",
            group="Lengths", compiled=True,
        ),
        Parameter(
            name="mass", label="Mass", low=0.1, high=10.0, step=0.1, default=1.0, each="links",
            group="Masses", compiled=True,
        ),
    ),
    choices=(
        Choice(name="model", label="Links", options=_MODELS, default="rigid", structural=True),
        Choice(name="method", label="Method", options=METHODS, default="rk4", structural=True),
        Choice(name="step", label="Step", options=_STEPS, default="960"),
    ),
    toggles=(Toggle(name="ghost", label="Ghost", note="A second pendulum that starts close to the first."),),
)  # fmt: skip

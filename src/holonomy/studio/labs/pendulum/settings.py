"""The Pendulum lab's name, and what a user may set about it."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.base import LabDescriptor, Preset
from holonomy.studio.labs.settings import NUMERICS, Choice, Parameter, Settings, SettingsTable, Toggle
from holonomy.viewer.protocol.messages import Option, PictureView

MOST_LINKS: Final = 100
_ROPE: Final = 50


def _preset(
    name: str, label: str, note: str, numbers: dict[str, float] | None = None, seconds: float = 4.0, **options: str
) -> Preset:
    """A preset; the option ghost="on" turns the ghost on."""
    toggles = {"ghost": True} if options.pop("ghost", "") else {}
    return Preset(name, label, Settings(numbers or {}, options, toggles), note, seconds=seconds)


PRESETS: Final = (
    _preset("double", "Double pendulum", "Two masses on rods: the simplest chaotic pendulum."),
    _preset(
        "butterfly", "Butterfly", "A second pendulum starts a thousandth of a radian beside the first.",
        {"links": 2, "ghost_offset": 1e-3}, seconds=8.0, ghost="on", start="upright",
    ),
    _preset(
        "rope", f"Rope of {_ROPE}", f"{_ROPE} short links, let go from the side.",
        {"links": _ROPE} | {f"length{i}": 0.05 for i in range(1, _ROPE + 1)}
        | {f"mass{i}": 0.1 for i in range(1, _ROPE + 1)}, start="level",
    ),
    _preset(
        "jelly", "Jelly", "Six masses on soft springs.",
        {"links": 6, "stiffness": 120.0} | {f"length{i}": 0.4 for i in range(1, 7)}
        | {f"mass{i}": 0.3 for i in range(1, 7)}, model="elastic", start="level",
    ),
    _preset(
        "euler", "Euler beside Gauss",
        "The same pendulum, computed by Gauss's method and, faded, by Euler's, which gains energy until it explodes.",
        {"links": 1, "ghost_offset": 1e-12}, seconds=8.0, method="gauss2", step="240", ghost_method="euler",
        ghost="on",
    ),
    _preset("moon", "On the Moon", "A sixth of the Earth's gravity.", {"gravity": 1.62}, seconds=8.0),
    _preset(
        "rewind", "Rewind chaos", "Let it run, then drag the line of time back: every bit comes back.",
        {"links": 4} | {f"length{i}": 0.6 for i in range(1, 5)}, start="upright",
    ),
)  # fmt: skip
DESCRIPTOR: Final = LabDescriptor(
    "pendulum", "Pendulum", (PictureView("plane", "Pendulum", "plane"),), PRESETS,
    sentence="Chains of masses on rods or springs: order, chaos, and methods that keep or lose energy.",
    hint="Drag a mass",
)  # fmt: skip


DESCRIBED: Final = 10
"""With more links, only the last bob's speed and momentum and the first link's tension are channels."""


def described(links: int, *, upper: bool = False) -> tuple[int, ...]:
    """The links whose speeds and momenta, or with `upper` tensions, are channels."""
    if links <= DESCRIBED:
        return tuple(range(1, links + 1))
    return (1,) if upper else (links,)


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
SAME_METHOD: Final = "same"
_GHOST_METHODS: Final = (
    Option(SAME_METHOD, "The same method", "The ghost is computed as the pendulum is."),
    *(option for option in METHODS if option.value in ("euler", "symplectic", "rk4")),
)
_STEPS: Final = (
    Option("3840", "1/3840 s", "64 steps per frame, for many links."),
    Option("960", "1/960 s", "16 steps per frame: errors too small to see with all but Euler's methods."),
    Option("240", "1/240 s", "4 steps per frame."),
    Option("60", "1/60 s", "1 step per frame: shows the errors of each method."),
)
_STARTS: Final = (
    Option("raised", "Raised", "Above the level of the pivot, to the side."),
    Option("level", "Level", "Straight out to the side."),
    Option("upright", "Upright", "Almost straight up."),
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
            name="gravity", label="Gravity", low=0.0, high=30.0, default=9.81, least=-1e4, most=1e4, compiled=True
        ),
        Parameter(
            name="damping", label="Air drag", low=0.0, high=2.0, default=0.0, most=1e3, compiled=True
        ),
        Parameter(
            name="stiffness", label="Stiffness", low=10, high=1000, step=1, default=500,
            least=1e-3, most=1e6, logarithmic=True, compiled=True, shown=elastic,
        ),
        Parameter(
            name="ghost_offset", label="Offset of the ghost", low=1e-12, high=0.5, step=1e-12,
            default=1e-3, least=0.0, logarithmic=True, shown=ghost,
        ),
        Parameter(
            name="length", label="Length", low=0.1, high=3.0, default=1.0, each="links",
            least=1e-3, most=1e3, group="Lengths", compiled=True,
        ),
        Parameter(
            name="mass", label="Mass", low=0.1, high=10.0, step=0.1, default=1.0, each="links",
            least=1e-6, most=1e6, group="Masses", compiled=True,
        ),
    ),
    choices=(
        Choice(name="model", label="Links", options=_MODELS, default="rigid", structural=True),
        Choice(name="start", label="Start", options=_STARTS, default="raised"),
        Choice(name="method", label="Method", options=METHODS, default="rk4", group=NUMERICS, structural=True),
        Choice(name="step", label="Step", options=_STEPS, default="960", group=NUMERICS),
        Choice(
            name="ghost_method", label="Method of the ghost", options=_GHOST_METHODS, default=SAME_METHOD,
            group=NUMERICS, shown=ghost,
        ),
    ),
    toggles=(Toggle(name="ghost", label="Ghost", note="A second pendulum that starts close to the first."),),
)  # fmt: skip

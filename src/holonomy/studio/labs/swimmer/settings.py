"""The Swimmer lab's name, its presets, and what a user may set about it."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.studio.labs.base import LabDescriptor, Preset
from holonomy.studio.labs.settings import Choice, Condition, Parameter, Settings, SettingsTable, Text, Toggle, never
from holonomy.studio.labs.swimmer import gait
from holonomy.studio.labs.swimmer.catalogue import BY_NAME, MODELS, Model
from holonomy.viewer.protocol.messages import Option, PictureView

PLANE: Final = 0
SHAPES: Final = 1
"""The pictures."""
FEWEST_LINKS: Final = 2
MOST_LINKS: Final = 6
# The numbers of `holonomy reproduce`, whose modules need JAX; a test compares them.
MIDDLE, RADII = (3.0, 0.5), (1.0, 0.4)
STROKE: Final = (
    (1.495398722861924, 1.326600886340017),
    (0.083253854456986, 0.089227148110158),
    (-0.034695750579259, -0.044759551791058),
)
SHIFT, TURN = 3.0, float(np.pi / 3)
_MANY: Final = 48
"""Points of the gaits of figures: their splines are 2e-6 of the radius away from the curves."""


def model(settings: Settings) -> Model:
    """The mover."""
    return BY_NAME[settings.choices["model"]]


def numbers(settings: Settings) -> dict[str, float]:
    """The mover's numbers by their names in the library, and `links` where that is one."""
    found = model(settings).numbers_of(settings.parameters)
    if "links" in settings.parameters:
        found["links"] = settings.parameters["links"]
    return found


def points(settings: Settings) -> gait.Points:
    """The points of the gait, in the plane of the picture of shapes."""
    return gait.read(settings.texts[gait.NAME])


def turns(settings: Settings) -> Float[np.ndarray, " 2"]:
    """How many full turns each variable of the picture makes in a stroke."""
    return np.array([0.0, settings.parameters.get("turns", 0.0)])


def smooth(settings: Settings) -> bool:
    """Whether the gait is a spline rather than a polygon."""
    return settings.toggles["smooth"]


def plane(settings: Settings) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, " n"]]:
    """The plane of shapes that the picture shows: the vectors along its axes, as columns, and its origin."""
    if "links" not in settings.parameters:
        return np.eye(2), np.zeros(2)
    n = int(settings.parameters["links"]) - 1
    axes = np.zeros((n, 2))
    if n == 1:
        axes[0, 0] = 1.0
    elif settings.choices["slice"] == "ends":
        axes[0, 0] = axes[-1, 1] = 1.0
    else:
        bend = 2 * np.pi * np.arange(n) / (n + 1)
        axes[:, 0], axes[:, 1] = np.cos(bend), np.sin(bend)
    return axes, np.full(n, settings.parameters["held"]) * (axes == 0).all(axis=1)


def _is(name: str) -> Condition:
    return lambda settings: settings.choices.get("model", MODELS[0].name) == name


def _several(settings: Settings) -> bool:
    """Whether the group has more than one dimension; asked where only the parameters are known."""
    return not any(f"{m.name}_{m.numbers[0].name}" in settings.parameters for m in MODELS if m.group == "line")


def _middle_joints(settings: Settings) -> bool:
    return settings.parameters.get("links", 0.0) > 3 and settings.choices.get("slice") == "ends"


_COMPONENTS: Final = (
    Option("0", "x", "Ahead; for the cat, turning about x."),
    Option("1", "y", "Sideways; for the cat, turning about y."),
    Option("2", "θ", "Turning; for the cat, about its spine."),
)
_FRAMES: Final = (
    Option("body", "Body", "The mover's own frame, on one of its parts."),
    Option(
        "minimal", "Min. perturbation",
        "Minimum-perturbation coordinates: the integral over a loop tells its displacement better.",
    ),
)  # fmt: skip
_SLICES: Final = (
    Option("ends", "First and last joint", "The joints between are held."),
    Option("wave", "Travelling wave", "x and y are the sizes of a cosine and a sine along the body."),
)

TABLE: Final = SettingsTable(
    parameters=(
        Parameter(
            name="links", label="Number of links", symbol="n", low=FEWEST_LINKS, high=MOST_LINKS, step=1, default=4,
            integer=True, exists=_is("links"),
        ),
        *(
            Parameter(
                name=f"{m.name}_{n.name}", label=n.label, symbol=n.symbol, unit=n.unit, low=n.low, high=n.high,
                step=n.step, default=n.default, exists=_is(m.name),
            )
            for m in MODELS for n in m.numbers
        ),
        Parameter(
            name="held", label="Angle of the held joints", symbol="α", unit="rad", low=-2.0, high=2.0, default=0.0,
            exists=_is("links"), shown=_middle_joints,
        ),
        Parameter(
            name="turns", label="Full turns in a stroke", symbol="w", low=-3, high=3, step=1, default=0, integer=True,
            exists=_is("raft"),
        ),
        # which mover the gait was drawn for: its place in MODELS
        Parameter(name="drawn_for", low=0, high=len(MODELS) - 1, step=1, shown=never),
        Parameter(name="period", label="Time of a stroke", symbol="T", unit="s", low=0.5, high=20.0, default=4.0),
    ),
    choices=(
        Choice(
            name="model", label="Mover", options=tuple(Option(m.name, m.label, m.note) for m in MODELS),
            default=MODELS[0].name, structural=True,
        ),
        Choice(
            name="slice", label="Shapes shown", options=_SLICES, default="wave",
            exists=lambda s: s.parameters.get("links", 0.0) > 2,
        ),
        Choice(name="component", label="Curvature along", options=_COMPONENTS, default="0", exists=_several),
        Choice(name="frame", label="Frame", options=_FRAMES, default="minimal", exists=_several),
    ),
    toggles=(
        Toggle(
            name="smooth", label="Smooth gait", default=True,
            note="A spline through the points; otherwise straight lines between them.",
        ),
    ),
    texts=(
        Text(
            name=gait.NAME, label="Gait", kind="curve", picture=SHAPES, longest=gait.LONGEST,
            hint="[[1, 0], [0, 1], [-1, 0], [0, -1]]", spline="smooth",
        ),
    ),
)  # fmt: skip


def first_gait(found: Model) -> gait.Points:
    """The ellipse with which a mover opens."""
    return gait.ellipse(found.centre, found.radii)


# ── Presets ───────────────────────────────────────────────────────────────────────────────────────────


def _set(
    name: str,
    label: str,
    note: str,
    mover: str,
    points: gait.Points | None = None,
    *,
    smooth: bool = True,
    choices: dict[str, str] | None = None,
    **parameters: float,
) -> Preset:
    own = {f"{mover}_{k}" if any(n.name == k for n in BY_NAME[mover].numbers) else k: v for k, v in parameters.items()}
    curve = {} if points is None else {gait.NAME: gait.written(points)}
    return Preset(name, label, Settings(own, {"model": mover, **(choices or {})}, {"smooth": smooth}, curve), note)


def _known_stroke() -> gait.Points:
    """The stroke of `holonomy reproduce purcell-curvature`."""
    t = 2 * np.pi * np.arange(_MANY) / _MANY
    turn = np.sqrt(0.5) * np.array([[1.0, -1.0], [1.0, 1.0]])
    rows = [np.stack([a * np.cos(k * t), -b * np.sin(k * t)]) for k, (a, b) in zip((1, 3, 5), STROKE, strict=True)]
    return (turn @ sum(rows)).T


_LINE: Final = np.array([[-1.2, 1.2], [1.2, -1.2]])
_ORDERS: Final = np.array([[0.0, 0.0], [SHIFT, 0.0], [SHIFT, TURN], [0.0, TURN]])

DESCRIPTOR: Final = LabDescriptor(
    "swimmer",
    "Swimmer",
    (PictureView("plane", "Mover", "plane"), PictureView("shapes", "Shapes", "field")),
    (
        _set("purcell", "Purcell swims", "A circle of shapes of radius 1 moves three links.", "purcell"),
        _set(
            "known", "Purcell's best stroke", "The stroke known as most efficient (purcell-curvature).", "purcell",
            _known_stroke(), length=1 / 3,
        ),
        _set(
            "line", "There and back", "A gait that encloses no area leads nowhere, with two joints too.", "purcell",
            _LINE, smooth=False,
        ),
        _set(
            "scallop", "Scallop", "One joint: whatever it does, it comes back (the scallop theorem).", "links",
            gait.ellipse((0.8, 0.0), (0.7, 1.0)), links=2, length=0.5,
        ),
        _set("wave", "Five links in a wave", "A travelling wave along the body.", "links", links=5, length=0.4),
        _set(
            "pmpy", "PushMePullYou", "The stroke of pmpy-stroke.", "pushmepullyou",
            gait.ellipse((MIDDLE[0], MIDDLE[1]), (RADII[0], RADII[1]), count=_MANY),
        ),
        _set("spheres", "Three spheres", "The swimmer of Najafi and Golestanian.", "spheres"),
        _set(
            "raft", "Pendulum on a raft", "One turn of the pendulum turns the raft back (raft).", "raft",
            np.array([[1.0, -np.pi], [1.0, -np.pi / 3], [1.0, np.pi / 3]]), turns=1,
        ),
        _set("cat", "Falling cat", "A bend that goes around turns the cat, without angular momentum.", "cat",
             choices={"component": "2"}),
        _set("snakeboard", "Snakeboard", "Rotor and wheels in phase: momentum builds up.", "snakeboard",
             gait.ellipse((0.0, 0.0), (0.7, 0.5), angle=0.0)),
        _set("car", "Parallel parking", "Rolling and steering around a loop moves a car sideways.", "car",
             choices={"component": "1"}),
        _set("snake", "Snake on wheels", "Shapes where the axles meet must be avoided.", "snake"),
        _set("robot", "Robot in space", "Moving the arm around turns the base.", "robot", choices={"component": "2"}),
        _set(
            "sphere", "Swimming on a sphere", "In a curved space a body moves by deforming (curved-swim).", "sphere",
            gait.ellipse((1.0, 1.0), (0.3, 0.4), count=_MANY),
        ),
        _set(
            "hyperbolic", "In the hyperbolic plane", "The same gait moves the body the other way.", "hyperbolic",
            gait.ellipse((1.0, 1.0), (0.3, 0.4), count=_MANY),
        ),
        _set("flat", "In a flat plane", "The same gait leads nowhere.", "flat",
             gait.ellipse((1.0, 1.0), (0.3, 0.4), count=_MANY)),
        _set(
            "orders", "Orders of motion", "Ahead, turn, back, turn back: not where it began (fig-1.2).", "triangle",
            _ORDERS, smooth=False,
        ),
    ),
    sentence="Swimmers, wheels and a falling cat, moved by changes of shape: draw a loop and see where it leads.",
    hint="Draw a loop in the picture of shapes",
)  # fmt: skip

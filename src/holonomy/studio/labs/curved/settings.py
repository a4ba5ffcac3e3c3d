"""The Curved space lab's name, and what a user may set about it."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.base import LabDescriptor
from holonomy.studio.labs.curved import models
from holonomy.studio.labs.curved.geometry import Geometry, Kind
from holonomy.studio.labs.curved.models import Model
from holonomy.studio.labs.curved.presets import PRESETS
from holonomy.studio.labs.curved.shapes import BALLS, MOST_BALLS, Shape, shape_of
from holonomy.studio.labs.settings import Choice, Parameter, Settings, SettingsTable, Structure
from holonomy.viewer.protocol.messages import Option, PictureView

SPACES: Final[dict[str, tuple[str, Kind, int]]] = {
    "e2": ("E²", "flat", 2),
    "s2": ("S²", "sphere", 2),
    "h2": ("H²", "hyperbolic", 2),
    "e3": ("E³", "flat", 3),
    "s3": ("S³", "sphere", 3),
    "h3": ("H³", "hyperbolic", 3),
    "hxe": ("H² × E", "product", 3),
    "inhomogeneous": ("Inhomogeneous", "inhomogeneous", 3),
}
"""By name: how it is written, its kind and dimension."""
LARGEST_ON_SPHERE: Final = 1.5
"""Size of a body over the radius of the sphere up to which all bodies fit."""


def title(settings: Settings) -> str:
    """The space as it is written."""
    return SPACES[settings.choices["space"]][0]


def kind(settings: Settings) -> Kind:
    """What kind of space it is."""
    return SPACES[settings.choices.get("space", "h3")][1]


def geometry(settings: Settings) -> Geometry:
    """The space with its numbers."""
    _, found, dim = SPACES[settings.choices["space"]]
    p = settings.parameters
    return Geometry(found, dim, p["radius"] if _curved(settings) else 1.0, p["position"])


def shape(settings: Settings) -> Shape | None:
    """The body; None where the space has too few dimensions for it."""
    dim = SPACES[settings.choices["space"]][2]
    return shape_of(settings.choices["body"], dim, rigid(settings), int(settings.parameters["balls"]))


def structure_of(space: str, body: str, joints: str = "springs", count: int = 0) -> Structure:
    """Which code a body in a space needs: what joins its vertices matters where something does, the number of balls
    where there are balls."""
    found: Structure = (("space", space), ("body", body))
    if body == BALLS:
        return (*found, ("balls", count))
    return found if body in _GRAVITY else (*found, ("joints", joints))


def model(settings: Settings) -> Model:
    """The model in which the space is drawn."""
    choice, known = _models(settings.choices["space"])
    return known[0] if choice is None else next(m for m in known if m.name == settings.choices[choice])


def _models(space: str) -> tuple[str | None, tuple[Model, ...]]:
    """The choice of models of a space, and the models."""
    match SPACES[space][1:]:
        case ("sphere", 2):
            return "surface_view", models.SURFACE
        case ("sphere", _):
            return "sphere_view", models.SPHERE
        case ("hyperbolic", _):
            return "hyperbolic_view", models.HYPERBOLIC
        case ("product", _):
            return "product_view", models.CYLINDER
        case _:
            return None, models.FLAT


def gravitating(settings: Settings) -> bool:
    """Whether gravity takes the place of springs."""
    return settings.choices.get("body") in _GRAVITY


def colliding(settings: Settings) -> bool:
    """Whether there are free balls that bounce off each other."""
    return settings.choices.get("body") == BALLS


def rigid(settings: Settings) -> bool:
    """Whether rods join the vertices."""
    return _joined(settings) and settings.choices.get("joints") == "rods"


def turns_out_of_the_plane(settings: Settings) -> bool:
    """Whether a rotation about the first axis of the plane of H² × E, which is no isometry, can be set."""
    found = shape(settings)
    return kind(settings) == "product" and found is not None and found.planar


def _joined(settings: Settings) -> bool:
    return not gravitating(settings) and not colliding(settings)


def _joins(settings: Settings) -> bool:
    return _joined(settings) and kind(settings) != "inhomogeneous"


def _elastic(settings: Settings) -> bool:
    return _joined(settings) and not rigid(settings)


def _sized(settings: Settings) -> bool:
    return not gravitating(settings)


def _curved(settings: Settings) -> bool:
    return kind(settings) in ("sphere", "hyperbolic", "product")


def _solid(settings: Settings) -> bool:
    return not gravitating(settings) and SPACES[settings.choices.get("space", "h3")][2] == 3


def _rises(settings: Settings) -> bool:
    return _solid(settings) and kind(settings) != "inhomogeneous"


def _rolls(settings: Settings) -> bool:
    return _solid(settings) and (kind(settings) != "product" or turns_out_of_the_plane(settings))


def _moved(settings: Settings) -> bool:
    return _joined(settings) and kind(settings) in ("flat", "inhomogeneous")


def _view(name: str, known: tuple[Model, ...]) -> Choice:
    options = tuple(Option(m.name, m.label, m.note) for m in known)
    return Choice(
        name=name, label="View", options=options, default=known[0].name,
        shown=lambda s: _models(s.choices["space"])[0] == name,
    )  # fmt: skip


_GRAVITY: Final = ("particle", "pair")
_BODIES: Final = (
    Option("rod", "Rod", "Two masses and a spring or rod across the direction of the translation."),
    Option("triangle", "Triangle", "Three masses; the first lies ahead."),
    Option("ring", "Ring", "Eight masses, each joined to the next; its springs are half as long."),
    Option("tetrahedron", "Tetrahedron", "Four masses, all joined; in space."),
    Option("lattice", "Lattice", "A cube with the diagonals of its faces; on a surface nine masses in a square."),
    Option("mesh", "Refined triangle", "A triangle cut into sixteen, with springs along all edges."),
    Option("particle", "Particle", "One mass around a centre of gravity: Kepler's problem; in E, S and H."),
    Option("pair", "Pair", "Two masses that attract each other; in E, S and H."),
    Option(BALLS, "Balls", "Free balls that fly to one centre and bounce off each other; in E, S and H."),
)
_JOINTS: Final = (
    Option("springs", "Springs", "Distances change, and springs pull them back."),
    Option("rods", "Rods", "Distances never change; the plot shows the forces that keep them."),
)
_FLOW: Final = "Killing field at the start"
START: Final = (
    "radius", "size", "along", "rise", "spin", "roll", "position", "distance", "orbit", "ball_radius", "inward",
)  # fmt: skip
"""Numbers that say where and how the motion starts; another value lets it start again."""

DESCRIPTOR: Final = LabDescriptor(
    "curved",
    "Curved space",
    (PictureView("space", "Poincaré ball model of H³", "space", "ball"),),
    PRESETS,
    sentence="Elastic and rigid bodies, balls and gravity on spheres, in hyperbolic and in other spaces.",
    hint="Drag a vertex: the body then starts at rest",
)
TABLE: Final = SettingsTable(
    parameters=(
        Parameter(
            name="radius", label="Radius of curvature", symbol="R", unit="m", low=0.5, high=5.0, default=1.0,
            logarithmic=True, compiled=True, shown=_curved,
        ),
        Parameter(
            name="size", label="Size of the body", symbol="a", unit="m", low=0.1, high=2.0, default=1.0, shown=_sized,
        ),
        Parameter(
            name="stiffness", label="Stiffness", low=0.0, high=50.0, default=1.0, most=2000.0, compiled=True,
            shown=_elastic,
        ),
        Parameter(
            name="rest", label="Rest length over length at the start", symbol="l₀", low=0.3, high=2.0, default=1.0,
            shown=_elastic,
        ),
        Parameter(name="mass", label="Mass of each vertex", low=0.1, high=10.0, default=1.0, compiled=True),
        Parameter(
            name="balls", label="Number of balls", symbol="N", low=2, high=MOST_BALLS, step=1.0, default=16,
            integer=True, structural=True, shown=colliding,
        ),
        Parameter(
            name="ball_radius", label="Radius of the balls", symbol="r", unit="m", low=0.02, high=0.4, default=0.1,
            compiled=True, shown=colliding,
        ),
        Parameter(
            name="restitution", label="Restitution", symbol="e", low=0.2, high=1.0, default=1.0, compiled=True,
            shown=colliding,
        ),
        Parameter(
            name="inward", label="Speed of the outermost balls towards the centre", symbol="v₀", unit="m/s", low=0.0,
            high=3.0, default=1.0, shown=colliding,
        ),
        Parameter(
            name="gravity", label="Gravity, in m³/(kg s²)", symbol="G", low=0.0, high=5.0, default=1.0,
            compiled=True, shown=gravitating,
        ),
        Parameter(
            name="distance", label="Distance", symbol="r₀", unit="m", low=0.1, high=1.5, default=0.3, shown=gravitating,
        ),
        Parameter(
            name="orbit", label="Angular velocity at the start", symbol="ω₀", unit="rad/s", low=0.0, high=10.0,
            default=5.4, shown=gravitating,
        ),
        Parameter(
            name="position", label="Place at the start", symbol="x₀", unit="m", low=-30.0, high=30.0, step=0.1,
            default=-3.0, shown=_moved,
        ),
        Parameter(
            name="along", label="Translation along x", symbol="u₁", unit="m/s", low=-3.0, high=3.0,
            default=lambda s: 0.0 if colliding(s) else 1.0, group=_FLOW, shown=_sized,
        ),
        Parameter(
            name="rise", label="Translation along z", symbol="u₃", unit="m/s", low=-3.0, high=3.0, default=0.0,
            group=_FLOW, shown=_rises,
        ),
        Parameter(
            name="spin", label="Rotation about z", symbol="ω₃", unit="rad/s", low=-5.0, high=5.0, default=0.0,
            group=_FLOW, shown=_sized,
        ),
        Parameter(
            name="roll", label="Rotation about x", symbol="ω₁", unit="rad/s", low=-5.0, high=5.0, default=0.0,
            group=_FLOW, shown=_rolls,
        ),
    ),
    choices=(
        Choice(
            name="space", label="Space", default="h3", structural=True,
            options=tuple(Option(name, label) for name, (label, _, _) in SPACES.items()),
        ),
        Choice(name="body", label="Body", default="rod", structural=True, options=_BODIES),
        Choice(
            name="joints", label="Joined by", default="springs", structural=True, options=_JOINTS, shown=_joins,
        ),
        _view("hyperbolic_view", models.HYPERBOLIC),
        _view("sphere_view", models.SPHERE),
        _view("surface_view", models.SURFACE),
        _view("product_view", models.CYLINDER),
    ),
)  # fmt: skip

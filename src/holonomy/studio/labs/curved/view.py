"""What is drawn and plotted of the Curved space lab."""

from __future__ import annotations

from typing import Final

from holonomy.notation import KINDS, QUANTITIES
from holonomy.notation import subscripted as symbol
from holonomy.studio.labs.base import Drawing
from holonomy.studio.labs.curved import settings as table
from holonomy.studio.labs.curved.models import Boundary, Model
from holonomy.studio.labs.curved.shapes import BALLS, Shape
from holonomy.studio.labs.settings import Settings
from holonomy.viewer.protocol import messages

MOST_SEPARATIONS: Final = 8
"""Springs whose lengths, and rods whose forces, are plotted one by one; of more, the least and the largest value."""
_LENGTH: Final = KINDS["length"]
_WINDOW: Final = 20.0
"""Seconds that a plot shows."""
_TURNS: Final = ("rotate_xy", "rotate_xz", "rotate_yz")
_MOMENTA: Final = {
    "e2": ("translate_x", "translate_y", "rotate_xy"),
    "s2": _TURNS,
    "h2": ("invariant",),
    "e3": ("translate_x", "translate_y", "translate_z", *_TURNS),
    "s3": ("rotate_xy", "rotate_xz", "rotate_xw", "rotate_yz", "rotate_yw", "rotate_zw"),
    "h3": ("invariant", "invariant_mixed"),
    "hxe": ("invariant", "translate_x"),
    "inhomogeneous": _TURNS,
}
_SQUARE: Final = "kg² m⁴/s²"
_INVARIANTS: Final = {
    "invariant": ("|B|²−|J|²", "Invariant of the momentum maps: boosts squared less rotations squared", _SQUARE),
    "invariant_mixed": ("B·J", "Invariant of the momentum maps: boosts times rotations", _SQUARE),
}


def momenta(space: str, body: str) -> tuple[str, ...]:
    """Names of the Killing fields whose momentum maps are shown, or of invariants of them.

    A centre of gravity leaves the rotations about it. What is shown of hyperbolic space does not depend on the boost
    that carries the body.
    """
    if body == "particle":
        return _TURNS[: 1 if space.endswith("2") else 3]
    return _MOMENTA[space]


def arc_points(shape: Shape) -> int:
    """Points of the line that draws a spring or a rod."""
    return 7 if len(shape.joints) > MOST_SEPARATIONS else 17


def joint_colour(shape: Shape, number: int) -> int:
    """The colour of a spring or rod and of its curve in a plot; vertices have the first ones."""
    return shape.count + (number if len(shape.joints) <= MOST_SEPARATIONS else 0)


def local(shape: Shape) -> bool:
    """Whether a second picture shows the body from its centre."""
    return bool(shape.joints)


def dimension(settings: Settings) -> int:
    """Coordinates of the points in the frames: two where all pictures are planes."""
    return 2 if table.geometry(settings).dim == 2 and not table.model(settings).third else 3


def shape_of(settings: Settings) -> Shape:
    """The body, which the space has room for."""
    found = table.shape(settings)
    assert found is not None
    return found


def has_height(space: str, body: str) -> bool:
    """Whether the height of a body along the line of H² × E is plotted."""
    return space == "hxe" and body in ("rod", "triangle", "mesh", "ring")


def drawing(settings: Settings) -> Drawing:
    """The drawing under these settings."""
    shape, model = shape_of(settings), table.model(settings)
    space, body = settings.choices["space"], settings.choices["body"]
    rigid = table.rigid(settings)
    channels = _channels(space, body, shape, rigid)
    return Drawing(
        summary=_summary(settings),
        method=_method(space, body, rigid),
        coordinates=_coordinates(settings, shape),
        bodies=_bodies(shape),
        energies=tuple(
            messages.EnergyView(name, label, QUANTITIES[name].symbol, total=name == "total")
            for name, label in _energies(body, rigid)
        ),
        channels=channels,
        shapes=_joints(shape, 1 if shape.central else 0),
        plots=_plots(channels),
        anchors=1 if body == "particle" else 0,
        pictures=_pictures(settings, shape, model),
    )


def _pictures(settings: Settings, shape: Shape, model: Model) -> tuple[messages.PictureView, ...]:
    space = table.geometry(settings)
    flat = dimension(settings) == 2
    name = table.title(settings)
    round_name = "cylinder" if space.kind == "product" else "disc" if flat else "ball"
    where = {
        "flat": "Coordinates of the space" if space.kind == "inhomogeneous" else f"Euclidean space {name}",
        "ball": f"Poincaré {round_name} of {name}",
        "klein": f"Klein {round_name} of {name}",
        "half": f"{'Half-plane' if flat else 'Half-space'} model of {name}",
        "stereographic": f"Stereographic projection of {name}",
        "orthographic": f"Orthographic projection of {name}",
        "globe": f"The sphere {name}",
    }[model.name]
    boundary: Boundary = "disc" if flat and model.boundary == "ball" else model.boundary
    first = messages.PictureView("space", where, "plane" if flat else "space", boundary)
    if not local(shape):
        return (first,)
    around: Boundary = "cylinder" if space.kind == "product" else "disc" if space.dim == 2 else "ball"
    around = around if space.hyperbolic else "none"
    return first, messages.PictureView("centre", "Seen from its centre", "plane" if space.dim == 2 else "space", around)


def _coordinates(settings: Settings, shape: Shape) -> tuple[messages.CoordinateView, ...]:
    """The arrays of all vertices, and in hyperbolic space the boost that carries them, named as in the library."""
    space = table.geometry(settings)
    letters = "xyzw" if space.point_dim <= 4 else ""
    names = [f"{letter}{i + 1}" for i in range(shape.count) for letter in letters[: space.point_dim]]
    if space.hyperbolic and settings.choices["body"] != "particle":
        names += [f"frame_{letter}" for letter in letters[: space.hyperbolic]]
    return tuple(
        messages.CoordinateView(n, _written(n), _LENGTH.unit, f"{_written(n)}′", _LENGTH.rate_unit, None) for n in names
    )


def _written(name: str) -> str:
    if name.startswith("frame_"):
        return f"ρ{name.removeprefix('frame_')}"
    return symbol(name[0], int(name[1:]))


def _bodies(shape: Shape) -> tuple[messages.BodyView, ...]:
    main = tuple(messages.BodyView(f"vertex {i + 1}", True, i) for i in range(shape.count))
    if not local(shape):
        return main
    return main + tuple(
        messages.BodyView(f"vertex {i + 1} from the centre", False, i, picture=1) for i in range(shape.count)
    )


def _joints(shape: Shape, anchors: int) -> tuple[messages.ShapeView, ...]:
    """A line for each spring or rod in both pictures, along its geodesic, in the order of `CurvedLab.placed`."""
    count, first = arc_points(shape), anchors + shape.count * (2 if local(shape) else 1)
    return tuple(
        messages.ShapeView(
            "polyline", first + count * k, count, joint_colour(shape, k % len(shape.joints)), k // len(shape.joints)
        )
        for k in range(2 * len(shape.joints))
    )


def _method(space: str, body: str, rigid: bool) -> str:
    if body == BALLS:
        return "From collision to collision"
    if rigid:
        return "Rattle, order 4"
    return "Gauss, 2 stages" if space == "inhomogeneous" else "Splitting, order 8"


def _energies(body: str, rigid: bool) -> tuple[tuple[str, str], ...]:
    if rigid or body == BALLS:
        return (("kinetic", "Kinetic"), ("total", "Total"))
    second = ("potential", "Gravity") if body in ("particle", "pair") else ("elastic", "Springs")
    return (("kinetic", "Kinetic"), second, ("total", "Total"))


def _channels(space: str, body: str, shape: Shape, rigid: bool) -> tuple[messages.ChannelView, ...]:
    found = [
        messages.ChannelView(name, QUANTITIES[name].symbol, f"{label} energy", QUANTITIES[name].unit, "Energy")
        for name, label in _energies(body, rigid)
    ]
    found += _forces(body, shape) if rigid else _separations(body, shape)
    if has_height(space, body):
        label = "Height of the body out of the plane"
        taken = {channel.colour for channel in found if channel.group == "Separations"}
        colour = next(colour for colour in range(len(taken) + 1) if colour not in taken)
        found.append(messages.ChannelView("height", "h", label, "m", "Separations", None, colour))
    for k, name in enumerate(momenta(space, body)):
        written, label, unit = _INVARIANTS.get(name) or _momentum(space, name)
        found.append(messages.ChannelView(name, written, label, unit, "Momentum maps", None, k))
    return tuple(found)


def _forces(body: str, shape: Shape) -> list[messages.ChannelView]:
    """Of the rods, positive where they push their ends apart; of a triangle also a median, which no rod keeps."""
    group, few = "Forces of the rods", len(shape.joints) <= MOST_SEPARATIONS
    found = [
        messages.ChannelView(
            f"f{i + 1}{j + 1}", symbol("λ", 10 * (i + 1) + j + 1), f"Force of the rod {i + 1}–{j + 1}, outwards", "N",
            group, None, joint_colour(shape, k), highlight=len(shape.joints) <= 3,
        )
        for k, (i, j) in enumerate(shape.joints)
    ]  # fmt: skip
    if not few:
        found = [
            messages.ChannelView("least", "λ₋", "Least force of a rod, outwards", "N", group, None, 0, highlight=True),
            messages.ChannelView("most", "λ₊", "Largest force of a rod, outwards", "N", group, None, 1, highlight=True),
        ]
    if body == "triangle":
        label = "From vertex 1 to the middle of the opposite side"
        found.append(messages.ChannelView("median", "m₁", label, "m", "Separations", None, 0))
    return found


def _separations(body: str, shape: Shape) -> list[messages.ChannelView]:
    if body == BALLS:
        label = "Least distance of two surfaces"
        return [messages.ChannelView("gap", "g", label, "m", "Separations", highlight=True)]
    if body in ("particle", "pair"):
        label = "Distance from the centre" if body == "particle" else "Distance of the two"
        return [messages.ChannelView("separation", "d", label, "m", "Separations", highlight=True)]
    if len(shape.joints) > MOST_SEPARATIONS:
        return [
            messages.ChannelView("least", "ε₋", "Least strain of a spring", "", "Strains", None, 0, highlight=True),
            messages.ChannelView("largest", "ε₊", "Largest strain of a spring", "", "Strains", None, 1, highlight=True),
        ]
    return [
        messages.ChannelView(
            f"s{i + 1}{j + 1}", symbol("s", 10 * (i + 1) + j + 1), f"Length of the spring {i + 1}–{j + 1}", "m",
            "Separations", None, joint_colour(shape, k), highlight=len(shape.joints) <= 3,
        )
        for k, (i, j) in enumerate(shape.joints)
    ]  # fmt: skip


def _momentum(space: str, name: str) -> tuple[str, str, str]:
    """Symbol, label and unit of the momentum map of a Killing field."""
    kind, letters = name.split("_")
    if kind == "rotate":
        first, second = ("xyzw".index(letter) + 1 for letter in letters)
        return symbol("J", 10 * first + second), f"Momentum of the rotation in the plane {letters}", "kg m²/s"
    axis = "z" if space == "hxe" else letters  # the line is the only factor of its kind
    return symbol("p", "xyz".index(axis) + 1), f"Momentum of the translation along {axis}", "kg m/s"


def _plots(channels: tuple[messages.ChannelView, ...]) -> tuple[messages.PlotView, ...]:
    groups: dict[str, list[str]] = {}
    for channel in channels:
        groups.setdefault(channel.group, []).append(channel.name)
    order = [group for group in groups if group != "Energy"]
    return tuple(
        messages.PlotView(group, "time", ("t",), tuple(groups[group]), _WINDOW)
        for group in (order[0], "Energy", *order[1:])
    )


_SUMMARIES: Final = {
    "flat": "Flat space: a translation moves all points alike, and the body keeps its shape.",
    "sphere": "Positive curvature: lines that start side by side approach each other, and a moving body is pressed.",
    "hyperbolic": "Negative curvature: lines that start side by side separate, and a moving body is stretched.",
    "product": "A hyperbolic plane times a line: only what moves along the plane feels curvature.",
    "inhomogeneous": "Curved most around the origin: a body that drifts through is stretched there.",
}
_RIGID: Final = {
    "flat": "Rods keep their lengths. In flat space a translation needs no force for that.",
    "sphere": "Rods keep their lengths against geodesics that approach each other: they push.",
    "hyperbolic": "Rods keep their lengths against geodesics that separate: they pull.",
    "product": "Rods keep their lengths. Turned out of the plane, where curvature is less, other distances change.",
}
_OTHERS: Final = {
    BALLS: "Balls move along geodesics and bounce off each other; energy and momentum maps are kept.",
    "particle": "A mass around a fixed centre: all bounded orbits are closed.",
    "pair": "Two masses that attract each other. In curved space their centre does not move along a geodesic.",
}


def _summary(settings: Settings) -> str:
    known = _RIGID if table.rigid(settings) else _SUMMARIES
    return _OTHERS.get(settings.choices["body"]) or known[table.kind(settings)]

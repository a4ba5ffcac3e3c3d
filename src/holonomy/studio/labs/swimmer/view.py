"""What is drawn and plotted of the Swimmer lab, and its gait as a Python program."""

from __future__ import annotations

from typing import Final

import numpy as np

from holonomy.notation import KINDS, rate_symbol, subscripted
from holonomy.studio.labs.base import Coordinates, Drawing
from holonomy.studio.labs.settings import Settings
from holonomy.studio.labs.swimmer import gait, outlines
from holonomy.studio.labs.swimmer import settings as table
from holonomy.studio.labs.swimmer.catalogue import Model
from holonomy.studio.labs.swimmer.outlines import Group
from holonomy.viewer.protocol import messages

TURN: Final = 2 * np.pi
_WINDOW: Final = 20.0
"""Seconds that a plot shows."""
POSES: Final[dict[Group, tuple[tuple[str, str, str], ...]]] = {
    "line": (("x", "x", "length"),),
    "so3": (("rx", "ρ₁", "angle"), ("ry", "ρ₂", "angle"), ("rz", "ρ₃", "angle")),
    "se2": (("x", "x", "length"), ("y", "y", "length"), ("theta", "θ", "angle")),
    "sphere": (("x", "x", "length"), ("y", "y", "length"), ("theta", "θ", "angle")),
    "hyperbolic": (("x", "x", "length"), ("y", "y", "length"), ("theta", "θ", "angle")),
}
"""Of each group, what is plotted of a place: name, symbol and kind."""
_WORDS: Final = {
    "x": "x", "y": "y", "theta": "Turn", "rx": "Rotation about x", "ry": "Rotation about y", "rz": "Rotation about z",
}  # fmt: skip


def drawing(settings: Settings) -> Drawing:
    """The drawing under these settings."""
    model = table.model(settings)
    plane, shapes = table.DESCRIPTOR.pictures
    boundary = model.boundary
    return Drawing(
        summary=_summary(settings),
        method="Reconstruction on the group",
        coordinates=coordinates(model),
        bodies=(
            messages.BodyView(_traced(model), True, 3, grasp=False, picture=table.PLANE),
            messages.BodyView("present shape", False, 3, grasp=False, picture=table.SHAPES),
        ),
        energies=(messages.EnergyView("cost", _cost(model), "W"),),
        channels=_channels(settings),
        shapes=_shapes(settings),
        plots=_plots(settings),
        actions=_ACTIONS,
        pictures=(
            messages.PictureView(plane.name, model.title, model.kind, boundary),
            messages.PictureView(shapes.name, _title(settings), shapes.kind),
        ),
    )


def coordinates(model: Model) -> tuple[messages.CoordinateView, ...]:
    """Phase, place, momentum, cost and length."""
    length, angle, number = KINDS["length"], KINDS["angle"], KINDS["number"]
    found = [messages.CoordinateView("phase", "s", "", "ṡ", "s⁻¹", 1.0)]
    if model.group in ("line", "se2"):
        kinds = {"length": length, "angle": angle}
        places = [(name, symbol, kinds[kind]) for name, symbol, kind in POSES[model.group]]
    elif model.group == "so3":
        places = [(name, name, number) for name in "wijk"]
    else:
        places = [(f"g{i}{j}", f"g{i}{j}", number) for i in range(3) for j in range(3)]
    found += [
        messages.CoordinateView(name, symbol, kind.unit, rate_symbol(name), kind.rate_unit, None)
        for name, symbol, kind in places
    ]
    found += [messages.CoordinateView("momentum", "p", "", "ṗ", "s⁻¹", None)] * model.momentum
    found.append(messages.CoordinateView("cost", "W", _cost_unit(model), "P", "", None))
    found.append(messages.CoordinateView("path_length", "ℓ", "", "v", "", None))
    return tuple(found)


def shape_names(settings: Settings) -> tuple[tuple[str, str, str], ...]:
    """Name, symbol and unit of every shape variable."""
    model = table.model(settings)
    if "links" in settings.parameters:
        count = int(settings.parameters["links"]) - 1
        return tuple((f"alpha{i}", subscripted("α", i), "rad") for i in range(1, count + 1))
    return tuple(zip(model.names, model.shape, model.units, strict=True))


def snippet(settings: Settings) -> str:
    """A Python program with the same mover and the same points of its gait, and what the gait does."""
    model = table.model(settings)
    given = {k: repr(int(v) if k == "links" else v) for k, v in table.numbers(settings).items()}
    rows = table.points(settings).tolist()
    axes, origin = table.plane(settings)
    plane = np.array_equal(axes, np.eye(len(origin))) and not origin.any()
    turns = table.turns(settings)
    more = "" if table.smooth(settings) else ", smooth=False"
    more += f", turns=[{int(turns[0])}, {int(turns[1])}]" if turns.any() else ""
    lines = [
        f'"""{model.label} as the Holonomy studio showed it: a gait and what it does."""',
        "",
        "import numpy as np",
        "",
        "import holonomy as hl",
        "",
        f"mover = {model.call.format(**given)}",
        "points = np.array(",
        "    [",
        *(f"        [{x!r}, {y!r}]," for x, y in rows),
        "    ]",
        ")",
    ]
    if not plane:
        lines += [
            f"axes = np.array({axes.tolist()!r})  # of the plane of shapes that the picture shows, as columns",
            f"points = np.array({origin.tolist()!r}) + points @ axes.T",
        ]
    return "\n".join(
        [
            *lines,
            f"gait = hl.Gait.points(points, period={settings.parameters['period']!r}{more})",
            "found = hl.perform(mover, gait)",
            'print("displacement of one stroke:", np.asarray(found.displacement).tolist())',
            'print("cost:", float(found.energy), "efficiency:", float(found.efficiency))',
            "",
        ]
    )


def _summary(settings: Settings) -> str:
    model = table.model(settings)
    return f"{model.label}: {model.note[0].lower()}{model.note[1:]} Draw a gait in the picture of shapes."


def _title(settings: Settings) -> str:
    if "links" not in settings.parameters:
        return "Shapes"
    if settings.parameters["links"] == 2:
        return "Shapes: one joint, x; nothing is y"
    return "Shapes: first and last joint" if settings.choices["slice"] == "ends" else "Shapes: cosine and sine wave"


def _traced(model: Model) -> str:
    return "end of the spine" if model.group == "so3" else model.title.split()[0].lower()


def _cost(model: Model) -> str:
    return "Cost" if model.inertial else "Work"


def _cost_unit(model: Model) -> str:
    return "J s" if model.inertial else "J"


_ACTIONS: Final = (
    messages.ActionView("ellipse", "Ellipse", "The gait with which the mover opens."),
    messages.ActionView("eight", "Figure eight", "Two loops in opposite directions."),
    messages.ActionView("reverse", "Reverse", "The same gait backwards: the displacement is undone."),
    messages.ActionView(
        "optimise", "Optimise", "The gait with the same displacement and the least cost near this one; takes seconds."
    ),
)


def _shapes(settings: Settings) -> tuple[messages.ShapeView, ...]:
    """The parts of the mover's outline, whose points follow the two bodies."""
    model = table.model(settings)
    axes, origin = table.plane(settings)
    shape = origin + axes @ np.array(model.centre)
    first, found = 2, []
    for part in model.outline(np, table.numbers(settings), shape):
        count = len(part.points)
        found.append(messages.ShapeView(part.kind, first, count, part.colour, table.PLANE, faces=part.faces))
        first += count
    return tuple(found)


def _channels(settings: Settings) -> tuple[messages.ChannelView, ...]:
    model = table.model(settings)
    poses = POSES[model.group]
    found = [messages.ChannelView("cost", "W", _cost(model), _cost_unit(model), "Cost")]
    found += [
        messages.ChannelView(f"shape_{name}", symbol, f"Shape {symbol}", unit, "Shape", None, i)
        for i, (name, symbol, unit) in enumerate(shape_names(settings))
    ]
    found += [
        messages.ChannelView(name, symbol, _WORDS[name], KINDS[kind].unit, "Place", None, i)
        for i, (name, symbol, kind) in enumerate(poses)
    ]
    found += [
        messages.ChannelView(
            f"xi_{name}", f"ξ{'' if len(poses) == 1 else '₁₂₃'[i]}", f"Body velocity, {_WORDS[name]}",
            KINDS[kind].rate_unit, "Body velocity", None, i,
        )
        for i, (name, _, kind) in enumerate(poses)
    ]  # fmt: skip
    found.append(messages.ChannelView("power", "P", "Power", "J" if model.inertial else "W", "Cost"))
    found.append(messages.ChannelView("phase", "s", "Phase of the stroke", "", "Cost", 1.0))
    found += [messages.ChannelView("momentum", "p", "Momentum", "", "Place")] * model.momentum
    found += [
        messages.ChannelView(
            f"stroke_{name}", f"Δ{symbol}", f"{_WORDS[name]} in a stroke", KINDS[kind].unit, "One stroke", None, i,
            highlight=True,
        )
        for i, (name, symbol, kind) in enumerate(poses)
    ]  # fmt: skip
    found += [
        messages.ChannelView("stroke_cost", "W₁", f"{_cost(model)} of a stroke", _cost_unit(model), "One stroke"),
        messages.ChannelView("stroke_length", "ℓ", "Length of the gait", "", "One stroke"),
        messages.ChannelView("efficiency", "η", "Efficiency", "", "One stroke", highlight=True),
    ]
    return tuple(found)


def _plots(settings: Settings) -> tuple[messages.PlotView, ...]:
    poses = tuple(name for name, _, _ in POSES[table.model(settings).group])
    shapes = tuple(f"shape_{name}" for name, _, _ in shape_names(settings))
    return (
        messages.PlotView("Place", "time", ("t",), poses, _WINDOW),
        messages.PlotView("Shape", "time", ("t",), shapes, _WINDOW),
        messages.PlotView("Power", "time", ("t",), ("power",), _WINDOW),
    )


def points_at(settings: Settings, q: Coordinates) -> np.ndarray:
    """The points of both pictures in a state, as the compiled code says them."""
    model = table.model(settings)
    axes, origin = table.plane(settings)
    cubics = gait.pieces(table.points(settings), table.smooth(settings), table.turns(settings))
    at = q[0] * len(cubics)
    index = min(max(int(at), 0), len(cubics) - 1)
    u = at - index
    x = np.array([1.0, u, u * u, u**3]) @ cubics[index]
    place = q[1 : 1 + outlines.PLACES[model.group]]
    parts = [outlines.placed(np, model.group, place, outlines.origin(model.group)), np.append(x, 0.0)[None]]
    found = model.outline(np, table.numbers(settings), origin + axes @ x)
    parts += [outlines.placed(np, model.group, place, part.points) for part in found]
    return np.concatenate(parts)

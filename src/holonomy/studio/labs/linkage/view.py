"""What is drawn and plotted of the Linkage lab, and its state as a Python program."""

from __future__ import annotations

from typing import Final

import numpy as np

from holonomy.notation import KINDS, QUANTITIES, rate_symbol
from holonomy.notation import subscripted as symbol
from holonomy.studio.labs.base import Coordinates, Drawing
from holonomy.studio.labs.linkage import settings as table
from holonomy.studio.labs.linkage import sphere
from holonomy.studio.labs.linkage.settings import SURFACE_RODS
from holonomy.studio.labs.settings import Settings
from holonomy.viewer.protocol import messages

TURN: Final = 2 * np.pi
_ANGLE, _LENGTH, _NUMBER = (KINDS[kind] for kind in ("angle", "length", "number"))
_KINETIC, _TENSION = QUANTITIES["kinetic"], QUANTITIES["tension"]
_BENDING, _FORCE = QUANTITIES["path_bending"], QUANTITIES["rod_force"]
_WINDOW: Final = 20.0
"""Seconds that a plot shows."""
_AHEAD: Final = 10.0
"""Seconds that the exported motion goes on."""


def second_coordinates(rods: int, route: str) -> int:
    """How many coordinates the second route has."""
    return {"none": 0, "chart": rods - 2}.get(route, 2 * (rods - 1))


def note(rods: int) -> str:
    """What the second picture shows where it is no surface."""
    if rods == 3:
        return "With three rods the configurations form a circle."
    if rods > SURFACE_RODS:
        return f"The picture shows three coordinates of the sphere of dimension {rods - 2}."
    return ""


def drawing(settings: Settings) -> Drawing:
    """The drawing under these settings."""
    rods, route = table.rods(settings), table.route(settings)
    second = route != "none"
    plane, configurations = table.DESCRIPTOR.pictures
    return Drawing(
        summary=_summary(rods),
        method="Runge–Kutta 4",
        coordinates=coordinates(rods, route),
        bodies=_bodies(rods, False) + (_bodies(rods, True) if second else ()),
        energies=(messages.EnergyView("kinetic", "Kinetic", "T"),),
        channels=_channels(rods, second),
        rods=_rods(rods, False) + (_rods(rods, True) if second else ()),
        plots=_plots(rods, second),
        actions=_actions(settings),
        anchors=2,
        pictures=(plane, messages.PictureView(configurations.name, _space(rods), configurations.kind)),
    )


def coordinates(rods: int, route: str) -> tuple[messages.CoordinateView, ...]:
    """The point of the sphere, and where there is a second route, its coordinates."""
    main = tuple(
        messages.CoordinateView(f"x{i}", symbol("x", i), _NUMBER.unit, rate_symbol(f"x{i}"), _NUMBER.rate_unit, None)
        for i in range(1, rods)
    )
    if route == "none":
        return main
    if route == "chart":
        outer = [symbol("φ", i) for i in range(1, rods - 2)] if rods > 4 else ["φ"][: rods - 3]
        names = [f"phi{i}" for i in range(1, rods - 2)]
        pairs = [*zip(names, outer, strict=True), ("t", "t")]
        return main + tuple(
            messages.CoordinateView(f"beside_{n}", f"{s}′", _ANGLE.unit, f"{s}̇′", _ANGLE.rate_unit, TURN)
            for n, s in pairs
        )
    return main + tuple(
        messages.CoordinateView(
            f"beside_{axis}{i}", f"p{symbol(axis, i)}′", _LENGTH.unit, f"ṗ{symbol(axis, i)}′", _LENGTH.rate_unit, None
        )
        for i in range(1, rods)
        for axis in "xy"
    )


def circle(rods: int) -> tuple[messages.CurveView, ...]:
    """All configurations of three rods, as a line."""
    if rods != 3:
        return ()
    turn = np.linspace(0.0, TURN, 181)
    points = sphere.placed(np.stack([np.sin(turn), np.cos(turn)], axis=1))
    return (messages.CurveView("axis", sphere.packed(points)),)


def snippet(settings: Settings, t: float, x: Coordinates, v: Coordinates, steps: int) -> str:
    """A Python program with the same linkage in the same state. Decimals are the shortest that read back exactly."""
    p = settings.parameters
    return "\n".join(
        [
            f'"""A linkage as the Holonomy studio showed it at t = {t:.6g} s."""',
            "",
            "import numpy as np",
            "",
            "import holonomy as hl",
            "",
            f"link = hl.Linkage(rods={int(p['rods'])}, base={p['base']!r}, rod_mass={p['rod_mass']!r}, "
            f"hinge_mass={p['hinge_mass']!r})",
            'system = link.system("sphere")',
            f"t = {float(t)!r}",
            f"q = np.array({x.tolist()!r})  # a point of the sphere; its hinges: link.hinges(q)",
            f"v = np.array({v.tolist()!r})",
            "",
            "run = hl.simulate(",
            f"    system, q, v, t + {_AHEAD!r}, t0=t, dt=1 / {steps}, save_every={steps // 60}, method=hl.RK4(), "
            "throw=False,",
            ")",
            "print(run.certificate)",
            'run.plot().savefig("linkage.png")  # each coordinate over time',
            "",
        ]
    )


def _summary(rods: int) -> str:
    return (
        f"{('Three', 'Four', 'Five', 'Six')[rods - 3]} unit rods between two pins. "
        f"Moving freely, they follow a geodesic of the {_space(rods).lower()}."
    )


def _space(rods: int) -> str:
    return {3: "Circle of configurations", 4: "Sphere of configurations"}.get(
        rods, f"{rods - 2}-sphere of configurations"
    )


def _actions(settings: Settings) -> tuple[messages.ActionView, ...]:
    if not table.has_surface(settings):
        return ()
    both = table.marked(settings, "a") is not None and table.marked(settings, "b") is not None
    fan = (messages.ActionView("here", "Fan from here"),) if table.fan(settings) else ()
    marks = (
        messages.ActionView("mark_a", "Mark A here", "The shortest motion goes from A to B."),
        messages.ActionView("mark_b", "Mark B here", "The shortest motion goes from A to B."),
    )
    travel = (
        messages.ActionView("travel", "Move from A to B", "Along the shortest geodesic, in four seconds."),
        messages.ActionView("clear", "Clear marks"),
    )
    return (*fan, *marks, *(travel if both else ()))


def _bodies(rods: int, ghost: bool) -> tuple[messages.BodyView, ...]:
    word = "second hinge" if ghost else "hinge"
    hinges = tuple(messages.BodyView(f"{word} {i}", True, i, ghost, not ghost, not ghost, 0) for i in range(1, rods))
    # beyond four rods a place in the ball does not name a configuration
    held = not ghost and rods <= SURFACE_RODS
    return (*hinges, messages.BodyView("second point" if ghost else "point", True, 0, ghost, held, held, 1))


def _rods(rods: int, ghost: bool) -> tuple[messages.RodView, ...]:
    first = 2 + (rods if ghost else 0)
    ends = [0, *range(first, first + rods - 1), 1]
    return tuple(messages.RodView(ends[i], ends[i + 1], False, ghost) for i in range(rods))


def _channels(rods: int, second: bool) -> tuple[messages.ChannelView, ...]:
    channels = [
        messages.ChannelView("kinetic", _KINETIC.symbol, "Kinetic energy", _KINETIC.unit, "Energy"),
        *(
            messages.ChannelView(f"x{i}", symbol("x", i), f"Coordinate {i}", _NUMBER.unit, "Point", None, i - 1)
            for i in range(1, rods)
        ),
        *(
            messages.ChannelView(
                f"v{i}", rate_symbol(f"x{i}"), f"Velocity {i}", _NUMBER.rate_unit, "Velocity of the point", None, i - 1
            )
            for i in range(1, rods)
        ),
        *(
            messages.ChannelView(
                f"tension{i}",
                symbol(_TENSION.symbol, i),
                f"Tension of rod {i}",
                _TENSION.unit,
                "Rod tensions",
                None,
                i - 1,
            )
            for i in range(1, rods + 1)
        ),
        messages.ChannelView(
            "bending", _BENDING.symbol, "Bending of the path", _BENDING.unit, "Bending", None, 0, highlight=True
        ),
        messages.ChannelView(
            # Dashed: it lies on the other curve as long as the motion is a geodesic.
            "pull",
            _FORCE.symbol,
            "Force of the rods",
            _FORCE.unit,
            "Bending",
            None,
            1,
            ghost=True,
            highlight=True,
        ),
    ]
    return (*channels, *_further(rods), *(_of_second_route() if second else ()))


def _of_second_route() -> tuple[messages.ChannelView, ...]:
    return (
        messages.ChannelView(
            "second_kinetic",
            f"{_KINETIC.symbol}′",
            "Kinetic energy by the second route",
            _KINETIC.unit,
            "Energy",
            ghost=True,
        ),
        messages.ChannelView(
            "divergence",
            QUANTITIES["distance"].symbol,
            "Distance of the two routes",
            QUANTITIES["distance"].unit,
            "Divergence",
            logarithmic=True,
        ),
    )


def _further(rods: int) -> list[messages.ChannelView]:
    """Speeds of hinges, angles of rods, and for four rods the curvature."""
    speed, gauss = QUANTITIES["speed"], QUANTITIES["gauss"]
    speeds = [
        messages.ChannelView(
            f"speed{i}", symbol(speed.symbol, i), f"Speed of hinge {i}", speed.unit, "Speeds", None, i - 1
        )
        for i in range(1, rods)
    ]
    angles = [
        messages.ChannelView(
            f"angle{i}", symbol("α", i), f"Angle of rod {i}", _ANGLE.unit, "Angles of rods", TURN, i - 1
        )
        for i in range(1, rods + 1)
    ]
    curved = messages.ChannelView("gauss", gauss.symbol, "Gaussian curvature", gauss.unit, "Curvature", None, 0)
    return [*speeds, *angles, *((curved,) if rods == SURFACE_RODS else ())]


def _plots(rods: int, second: bool) -> tuple[messages.PlotView, ...]:
    tensions = tuple(f"tension{i}" for i in range(1, rods + 1))
    plots = [
        messages.PlotView("Rod tensions", "time", ("t",), tensions, _WINDOW),
        messages.PlotView("Bending and force", "time", ("t",), ("bending", "pull"), _WINDOW),
        messages.PlotView("Curvature along the motion", "time", ("t",), ("gauss",), _WINDOW)
        if rods == SURFACE_RODS
        else messages.PlotView("Point on the sphere", "time", ("t",), tuple(f"x{i}" for i in range(1, rods)), _WINDOW),
    ]
    if second:
        plots[2:] = [messages.PlotView("Distance of the two routes", "time", ("t",), ("divergence",), _WINDOW)]
    return tuple(plots)

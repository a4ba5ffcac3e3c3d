"""What is drawn and plotted of the Workbench lab."""

from __future__ import annotations

from typing import Final

import numpy as np

from holonomy.notation import KINDS, QUANTITIES, rate_symbol, symbol
from holonomy.studio.labs.base import Drawing
from holonomy.studio.labs.settings import Settings
from holonomy.studio.labs.workbench import layout
from holonomy.studio.labs.workbench.settings import METHODS
from holonomy.studio.labs.workbench.typed import Typed, read
from holonomy.viewer.protocol import messages

_WINDOW: Final = 20.0
"""Seconds that a plot shows."""
_TRAILS: Final = 4
"""With more points, trails cover each other."""
LARGEST: Final = 1e12
"""Of the numbers that a parameter takes."""
_ENERGIES: Final = ("kinetic", "potential", "total")


def has_map(settings: Settings) -> bool:
    """Whether there is a second picture, a map of the coordinates."""
    return settings.choices.get("map", "none") != "none"


def mappable(typed: Typed) -> bool:
    """Whether a map makes sense: two coordinates and nothing that holds them."""
    scene = typed.scene
    return len(typed.kinds) == 2 and not scene.constraints and not scene.velocity_constraints


def drawing(settings: Settings) -> Drawing:
    """The drawing under these settings."""
    typed, maps = read(settings.texts), has_map(settings)
    drawn = typed.scene.positions is not None
    return Drawing(
        summary=summary(typed),
        method=next(option.label for option in METHODS if option.value == settings.choices["method"]),
        coordinates=tuple(_coordinate(name, kind) for name, kind in typed.kinds.items()),
        bodies=_bodies(typed, maps),
        energies=tuple(
            messages.EnergyView(name, name.capitalize(), QUANTITIES[name].symbol, "System", name == "total")
            for name in _ENERGIES
        ),
        channels=_channels(typed),
        rods=_rods(typed),
        shapes=() if drawn else tuple(_label(i, name) for i, name in enumerate(typed.kinds)),
        plots=_plots(typed),
        anchors=1 if drawn else len(typed.kinds),
        pictures=_pictures(typed, maps),
    )


def slider(name: str, written: float) -> messages.ParameterView:
    """A parameter between zero and some times the value that was typed; both signs where that is zero. Its box takes
    every number, as the text does: what makes no motion is refused when it is tried."""
    low, high = _range(written)
    step = 10.0 ** (np.floor(np.log10(high - low)) - 3)
    return messages.ParameterView(
        name, symbol(name), "", "", low, high, float(step), written, "", False, False, LARGEST, -LARGEST,
    )  # fmt: skip


def in_range(written: float, value: float) -> bool:
    """Whether the slider of a typed value reaches another one."""
    low, high = _range(written)
    return low <= value <= high


def _range(written: float) -> tuple[float, float]:
    size = float(10.0 ** np.ceil(np.log10(abs(written)))) if written else 1.0
    return (-size, size) if written == 0 else (0.0, 3 * written) if written > 0 else (3 * written, 0.0)


def summary(typed: Typed) -> str:
    """What the system is, in a sentence."""
    scene, n = typed.scene, len(typed.kinds)
    held = len(scene.constraints or ()), len(scene.velocity_constraints or ())
    source = "a Lagrangian" if scene.lagrangian is not None else f"{_count(len(scene.positions or ()), 'particle')}"
    parts = [f"{_count(n, 'coordinate')} ({', '.join(symbol(name) for name in typed.kinds)}), given by {source}"]
    if held[0]:
        parts.append(f"{_count(held[0], 'constraint')} on positions")
    if held[1]:
        parts.append(f"{_count(held[1], 'constraint')} on velocities")
    if scene.forces:
        parts.append("with forces")
    return ", ".join(parts) + "."


def _count(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _pictures(typed: Typed, maps: bool) -> tuple[messages.PictureView, ...]:
    kind = "space" if layout.dimension(typed) == 3 else "plane"
    title = "Motion" if typed.scene.positions is not None else "Coordinates"
    one = messages.PictureView(kind, title, kind)
    return (one, messages.PictureView("map", "Map of the coordinates", "field")) if maps else (one,)


def _coordinate(name: str, kind: str) -> messages.CoordinateView:
    units, turn = KINDS[kind], layout.TURN if kind == "angle" else None
    return messages.CoordinateView(name, symbol(name), units.unit, rate_symbol(name), units.rate_unit, turn)


def _bodies(typed: Typed, maps: bool) -> tuple[messages.BodyView, ...]:
    still = "t" not in {name for f in _formulas(typed) for name in f}
    if typed.scene.positions is not None:
        count = len(typed.scene.positions)
        moving = [_moves(typed, i) for i in range(count)]
        found = [
            messages.BodyView(f"point {i + 1}", count <= _TRAILS and moving[i], i, grasp=still and moving[i])
            for i in range(count)
        ]
    else:
        found = [messages.BodyView(symbol(name), False, i, grasp=still) for i, name in enumerate(typed.kinds)]
    if maps:
        found.append(messages.BodyView("configuration", True, 0, grasp=still, picture=1))
    return tuple(found)


def _formulas(typed: Typed) -> list[tuple[str, ...]]:
    points = [formula for point in typed.scene.positions or () for formula in point]
    return [f.names for f in (*points, *(typed.scene.constraints or ()), *typed.scene.let.values())]


def _moves(typed: Typed, i: int) -> bool:
    """Whether a point of `positions` depends on the coordinates or the time."""
    needed = typed.setup.definitions.needed((typed.scene.positions or ())[i])
    return bool(needed & {"t", *typed.kinds})


def _rods(typed: Typed) -> tuple[messages.RodView, ...]:
    if typed.scene.positions is not None:
        return tuple(messages.RodView(a, b) for a, b in typed.lines)
    n = len(typed.kinds)
    return tuple(messages.RodView(i, n + i) for i in range(n))


def _label(i: int, name: str) -> messages.ShapeView:
    return messages.ShapeView("label", i, 1, colour=i, text=symbol(name))


def _channels(typed: Typed) -> tuple[messages.ChannelView, ...]:
    """In the order of `system._observed`."""
    scene = typed.scene
    energies = [
        messages.ChannelView(name, QUANTITIES[name].symbol, f"{name.capitalize()} energy", "J", "Energy")
        for name in _ENERGIES
    ]
    kinds = list(typed.kinds.items())
    places, rates, momenta = [], [], []
    for i, (name, kind) in enumerate(kinds):
        units, letter = KINDS[kind], symbol(name)
        turn = layout.TURN if kind == "angle" else None
        places.append(messages.ChannelView(name, letter, letter, units.unit, units.group, turn, i))
        dotted = rate_symbol(name)
        rates.append(messages.ChannelView(f"{name}_dot", dotted, dotted, units.rate_unit, units.rate_group, None, i))
        momentum = f"p({letter})"
        momenta.append(messages.ChannelView(f"p_{name}", momentum, f"Momentum of {letter}", "", "Momenta", None, i))
    held = [*(scene.constraints or ()), *(scene.velocity_constraints or ())]
    forces = [
        messages.ChannelView(
            f"lambda{i}", symbol(f"lambda{i}"), f"Multiplier of constraint {i}", "", "Constraint forces"
        )
        for i in range(1, len(held) + 1)
    ]
    return (*energies, *places, *rates, *momenta, *forces)


def _plots(typed: Typed) -> tuple[messages.PlotView, ...]:
    names = list(typed.kinds)
    rates = tuple(f"{name}_dot" for name in names)
    plots = [
        messages.PlotView("Coordinates", "time", ("t",), tuple(names), _WINDOW),
        messages.PlotView("Coordinates and their rates", "phase", tuple(names), rates, _WINDOW),
        messages.PlotView("Energies", "time", ("t",), _ENERGIES, _WINDOW),
        messages.PlotView("Momenta", "time", ("t",), tuple(f"p_{name}" for name in names), _WINDOW),
    ]
    held = len(typed.scene.constraints or ()) + len(typed.scene.velocity_constraints or ())
    if held:
        forces = tuple(f"lambda{i}" for i in range(1, held + 1))
        plots.append(messages.PlotView("Multipliers of the constraints", "time", ("t",), forces, _WINDOW))
    return tuple(plots)

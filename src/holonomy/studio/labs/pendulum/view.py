"""What is drawn and plotted of the Pendulum lab."""

from __future__ import annotations

from typing import Final

import numpy as np

from holonomy.notation import KINDS, QUANTITIES, rate_symbol
from holonomy.notation import subscripted as symbol
from holonomy.studio.labs.base import Drawing
from holonomy.studio.labs.pendulum import settings as table
from holonomy.studio.labs.pendulum.settings import METHODS
from holonomy.studio.labs.settings import Settings
from holonomy.viewer.protocol import messages

TURN: Final = 2 * np.pi
_ANGLE: Final = KINDS["angle"]
_LENGTH: Final = KINDS["length"]
_STRAIN, _SPEED, _TENSION = (QUANTITIES[name] for name in ("strain", "speed", "tension"))
_MANY: Final = 10
"""With more links the ghost's angles are not channels of their own, and only the last bob leaves a trail."""
_WINDOW: Final = 40.0
"""Seconds that a plot shows."""
_PLOTTED: Final = 10
"""Links whose angles are plotted to begin with; the user can add the others."""


def drawing(settings: Settings) -> Drawing:
    """The drawing under these settings."""
    links, elastic, ghost = table.links(settings), table.elastic(settings), table.ghost(settings)
    own = _channels(links, elastic)
    shown = len(_energies(elastic, False)) + (2 * links if links <= _MANY else 0)
    method = next(option.label for option in METHODS if option.value == settings.choices["method"])
    return Drawing(
        summary=_summary(links, elastic),
        method=method,
        coordinates=_coordinates(links, elastic),
        bodies=_bodies(links, False) + (_bodies(links, True) if ghost else ()),
        energies=_energies(elastic, False) + (_energies(elastic, True) if ghost else ()),
        channels=own if not ghost else own + _of_ghost(own[:shown]) + _CHAOS,
        rods=_rods(links, elastic, False) + (_rods(links, elastic, True) if ghost else ()),
        plots=_plots(links, elastic, ghost),
        actions=(messages.ActionView("ghost", "Restart the ghost"),) if ghost else (),
        anchors=1,
    )


_CHAOS: Final = (
    messages.ChannelView(
        "divergence", QUANTITIES["divergence"].symbol, "Distance to the ghost in phase space",
        QUANTITIES["divergence"].unit, "Divergence", logarithmic=True, meter=10.0,
    ),
    messages.ChannelView(
        "lyapunov", QUANTITIES["lyapunov"].symbol, "Largest Lyapunov exponent, running estimate",
        QUANTITIES["lyapunov"].unit, "Lyapunov exponent", highlight=True,
    ),
)  # fmt: skip


def _summary(links: int, elastic: bool) -> str:
    links_of = "massless spring" if elastic else "rigid, massless rod"
    if links == 1:
        return f"One mass on a {links_of}."
    return f"{links} masses on {links_of}s, each hung from the one before."


def _coordinates(links: int, elastic: bool) -> tuple[messages.CoordinateView, ...]:
    if not elastic:
        return tuple(
            messages.CoordinateView(f"theta{i}", symbol("θ", i), _ANGLE.unit, symbol("ω", i), _ANGLE.rate_unit, TURN)
            for i in range(1, links + 1)
        )
    return tuple(
        messages.CoordinateView(
            f"{axis}{i}", symbol(axis, i), _LENGTH.unit, rate_symbol(f"{axis}{i}"), _LENGTH.rate_unit, None
        )
        for i in range(1, links + 1)
        for axis in "xy"
    )


def _bodies(links: int, ghost: bool) -> tuple[messages.BodyView, ...]:
    word = "ghost of bob" if ghost else "bob"
    return tuple(
        messages.BodyView(f"{word} {i + 1}", links <= _MANY or i == links - 1, colour=i, ghost=ghost, grasp=not ghost)
        for i in range(links)
    )


def _rods(links: int, elastic: bool, ghost: bool) -> tuple[messages.RodView, ...]:
    first = 1 + (links if ghost else 0)
    ends = [0, *range(first, first + links)]
    return tuple(messages.RodView(ends[i], ends[i + 1], elastic, ghost) for i in range(links))


def _energies(elastic: bool, ghost: bool) -> tuple[messages.EnergyView, ...]:
    before, group = ("ghost_", "Ghost") if ghost else ("", "Pendulum")
    kinds = ("kinetic", "potential", *(("elastic",) if elastic else ()), "total")
    return tuple(
        messages.EnergyView(before + name, name.capitalize(), QUANTITIES[name].symbol, group, name == "total")
        for name in kinds
    )


def _channels(links: int, elastic: bool) -> tuple[messages.ChannelView, ...]:
    energies = [
        messages.ChannelView(e.name, e.symbol, f"{e.label} energy", QUANTITIES[e.name].unit, "Energy")
        for e in _energies(elastic, False)
    ]
    angles = [
        messages.ChannelView(f"theta{i}", symbol("θ", i), f"Angle {i}", _ANGLE.unit, _ANGLE.group, TURN, i - 1)
        for i in range(1, links + 1)
    ]
    rates = [
        messages.ChannelView(
            f"omega{i}", symbol("ω", i), f"Angular velocity {i}", _ANGLE.rate_unit, _ANGLE.rate_group, None, i - 1
        )
        for i in range(1, links + 1)
    ]
    strains = [
        messages.ChannelView(
            f"strain{i}", symbol(_STRAIN.symbol, i), f"Strain {i}", _STRAIN.unit, "Strains", None, i - 1
        )
        for i in range(1, links + 1)
    ]
    return (*energies, *angles, *rates, *(strains if elastic else ()), *_further(links, elastic))


def _further(links: int, elastic: bool) -> list[messages.ChannelView]:
    """Speeds, tensions, and the momenta of the coordinates."""
    ends = table.described(links)
    speeds = [
        messages.ChannelView(
            f"speed{i}", symbol(_SPEED.symbol, i), f"Speed of bob {i}", _SPEED.unit, "Speeds", None, i - 1
        )
        for i in ends
    ]
    tensions = [
        messages.ChannelView(
            f"tension{i}", symbol(_TENSION.symbol, i), f"Tension of link {i}", _TENSION.unit, "Tensions", None, i - 1
        )
        for i in table.described(links, upper=True)
    ]
    if elastic:
        momenta = [
            messages.ChannelView(
                f"p{axis}{i}", symbol(f"p{axis}", i), f"Momentum of bob {i} along {axis}", "kg m/s",
                f"Momenta along {axis}", None, i - 1,
            )
            for i in ends
            for axis in "xy"
        ]  # fmt: skip
    else:
        momenta = [
            messages.ChannelView(f"p{i}", symbol("p", i), f"Momentum of angle {i}", "kg m²/s", "Momenta", None, i - 1)
            for i in ends
        ]
    return [*speeds, *tensions, *momenta]


def _of_ghost(channels: tuple[messages.ChannelView, ...]) -> tuple[messages.ChannelView, ...]:
    return tuple(
        messages.ChannelView(
            f"ghost_{c.name}",
            f"{c.symbol}′",
            f"{c.label} of the ghost",
            c.unit,
            f"{c.group} of the ghost",
            c.period,
            c.colour,
            True,
        )
        for c in channels
    )


def _plots(links: int, elastic: bool, ghost: bool) -> tuple[messages.PlotView, ...]:
    shown = [f"theta{i}" for i in range(1, min(links, _PLOTTED) + 1)]
    rates = [f"omega{i}" for i in range(1, min(links, _PLOTTED) + 1)]
    plots = [
        messages.PlotView("Angles", "time", ("t",), tuple(shown), _WINDOW),
        messages.PlotView("Angles and their rates", "phase", tuple(shown), tuple(rates), _WINDOW),
    ]
    if links > 1:
        plots.append(
            messages.PlotView("Each angle against the next", "phase", tuple(shown[:-1]), tuple(shown[1:]), _WINDOW)
        )
    plots.append(
        messages.PlotView("Energies", "time", ("t",), tuple(e.name for e in _energies(elastic, False)), _WINDOW)
    )
    if ghost:
        plots.append(messages.PlotView("Distance to the ghost", "time", ("t",), ("divergence",), _WINDOW))
    return tuple(plots)

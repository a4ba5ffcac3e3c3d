"""What the page is told about the Pendulum lab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from holonomy.studio.labs.base import Settings
from holonomy.viewer.protocol import messages

if TYPE_CHECKING:
    from holonomy.studio.labs.pendulum.lab import PendulumLab

MOST_LINKS: Final = 100
TURN: Final = 2 * np.pi
_MANY: Final = 10
"""With more links the ghost's angles are not channels of their own, and only the last bob leaves a trail."""
_WINDOW: Final = 40.0
_PLOTTED: Final = 10
"""Links whose angles are plotted to begin with; the user can put on the others."""
_SUBSCRIPTS: Final = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

METHODS: Final = {
    "rk4": ("Runge–Kutta 4", "Order 4, explicit, for any number of links; the energy drifts, slowly."),
    "gauss2": ("Gauss, 2 stages", "Order 4, symplectic and reversible: the energy error stays small for ever."),
    "gauss3": ("Gauss, 3 stages", "Order 6, symplectic and reversible."),
    "symplectic": ("Symplectic Euler", "Order 1, symplectic: coarse, but the energy error stays bounded."),
    "euler": ("Explicit Euler", "Order 1; the energy grows until the motion explodes."),
}


_STEPS: Final = {
    "3840": "Sixty-four steps a picture, for many links.",
    "960": "Sixteen steps a picture: errors too small to see with all but Euler's methods.",
    "240": "Four steps a picture.",
    "60": "One step a picture: shows what each method does wrong.",
}
CHOSEN: Final = {"model": "rigid", "method": "rk4", "step": "960"}


def symbol(letter: str, number: int) -> str:
    """A letter with a number below the line."""
    return letter + str(number).translate(_SUBSCRIPTS)


def defaults(links: int) -> dict[str, float]:
    """Every parameter at its default."""
    single = {"links": 2.0, "gravity": 9.81, "damping": 0.0, "stiffness": 500.0, "ghost_offset": 1e-3}
    return single | {f"{kind}{i + 1}": 1.0 for kind in ("length", "mass") for i in range(links)}


def ghost_channels(settings: Settings) -> int:
    """How many of the kernel's channels are shown of the ghost: energies, and with few links angles and rates."""
    energies = 4 if settings.choices["model"] == "elastic" else 3
    links = int(settings.parameters["links"])
    return energies + (2 * links if links <= _MANY else 0)


def view(lab: PendulumLab, settings: Settings, revision: int) -> messages.LabView:
    """The lab under these settings."""
    links, elastic = int(settings.parameters["links"]), settings.choices["model"] == "elastic"
    ghost = settings.toggles["ghost"]
    own = _channels(links, elastic)
    channels = own if not ghost else own + _ghostly(own[: ghost_channels(settings)]) + _CHAOS
    return messages.LabView(
        name=lab.name,
        title=lab.title,
        summary=_summary(links, elastic),
        revision=revision,
        anchors=1,
        pictures=(messages.PictureView("plane", "Pendulum", "plane"),),
        coordinates=_coordinates(links, elastic),
        parameters=_parameters(links, elastic, ghost),
        choices=_CHOICES,
        toggles=(
            messages.ToggleView("ghost", "Ghost", False, "A second pendulum that starts a little beside the first."),
        ),
        actions=(messages.ActionView("ghost", "Set the ghost beside again"),) if ghost else (),
        bodies=_bodies(links, False) + (_bodies(links, True) if ghost else ()),
        rods=_rods(links, elastic, False) + (_rods(links, elastic, True) if ghost else ()),
        energies=_energies(elastic, False) + (_energies(elastic, True) if ghost else ()),
        channels=channels,
        plots=_plots(links, elastic, ghost),
        method=METHODS[settings.choices["method"]][0],
        dt=lab.step(settings),
        frame_seconds=lab.frame_seconds,
        speed_low=0.1,
        speed_high=5.0,
    )


_CHOICES: Final = (
    messages.ChoiceView(
        "model",
        "Links",
        (
            messages.Option("rigid", "Rods", "Rigid and massless."),
            messages.Option("elastic", "Springs", "Massless springs that push as well as pull."),
        ),
        "rigid",
    ),
    messages.ChoiceView(
        "method", "Method", tuple(messages.Option(name, label, note) for name, (label, note) in METHODS.items()), "rk4"
    ),
    messages.ChoiceView(
        "step", "Step", tuple(messages.Option(name, f"1/{name} s", note) for name, note in _STEPS.items()), "960"
    ),
)
_CHAOS: Final = (
    messages.ChannelView(
        "divergence", "d", "Distance to the ghost in phase space", "", "Divergence", logarithmic=True, meter=10.0
    ),
    messages.ChannelView(
        "lyapunov", "λ", "Largest Lyapunov exponent, running estimate", "s⁻¹", "Lyapunov exponent", highlight=True
    ),
)


def _summary(links: int, elastic: bool) -> str:
    bobs = "One mass" if links == 1 else f"{links} masses"
    if elastic:
        return f"{bobs} on massless springs, hung one from another." if links > 1 else f"{bobs} on a massless spring."
    return (
        f"{bobs} on rigid, massless rods, hung one from another." if links > 1 else f"{bobs} on a rigid, massless rod."
    )


def _coordinates(links: int, elastic: bool) -> tuple[messages.CoordinateView, ...]:
    if not elastic:
        return tuple(
            messages.CoordinateView(f"theta{i}", symbol("θ", i), "rad", symbol("ω", i), "rad/s", TURN)
            for i in range(1, links + 1)
        )
    return tuple(
        messages.CoordinateView(f"{axis}{i}", symbol(axis, i), "m", symbol("ẋẏ"["xy".index(axis)], i), "m/s", None)
        for i in range(1, links + 1)
        for axis in "xy"
    )


def _parameters(links: int, elastic: bool, ghost: bool) -> tuple[messages.ParameterView, ...]:
    first = [
        messages.ParameterView("links", "Number of links", "N", "", 1, 10, 1, 2, integer=True, most=MOST_LINKS),
        messages.ParameterView("gravity", "Gravity", "g", "m/s²", 0.0, 30.0, 0.01, 9.81),
        messages.ParameterView("damping", "Friction of the air", "c", "kg/s", 0.0, 2.0, 0.01, 0.0),
    ]
    if elastic:
        first.append(messages.ParameterView("stiffness", "Stiffness", "k", "N/m", 10, 1000, 1, 500, logarithmic=True))
    if ghost:
        first.append(
            messages.ParameterView(
                "ghost_offset", "Ghost's offset", "δ", "rad", 1e-12, 0.5, 1e-12, 1e-3, logarithmic=True
            )
        )
    lengths = [
        messages.ParameterView(f"length{i}", f"Length {i}", symbol("l", i), "m", 0.1, 3.0, 0.01, 1.0, "Lengths")
        for i in range(1, links + 1)
    ]
    masses = [
        messages.ParameterView(f"mass{i}", f"Mass {i}", symbol("m", i), "kg", 0.1, 10.0, 0.1, 1.0, "Masses")
        for i in range(1, links + 1)
    ]
    return (*first, *lengths, *masses)


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
    kinds = [("kinetic", "Kinetic", "T"), ("potential", "Potential", "V")]
    kinds += [("elastic", "Elastic", "S")] if elastic else []
    kinds += [("total", "Total", "E")]
    return tuple(
        messages.EnergyView(before + name, label, letter, group, name == "total") for name, label, letter in kinds
    )


def _channels(links: int, elastic: bool) -> tuple[messages.ChannelView, ...]:
    energies = [
        messages.ChannelView(e.name, e.symbol, f"{e.label} energy", "J", "Energy") for e in _energies(elastic, False)
    ]
    angles = [
        messages.ChannelView(f"theta{i}", symbol("θ", i), f"Angle {i}", "rad", "Angles", TURN, i - 1)
        for i in range(1, links + 1)
    ]
    rates = [
        messages.ChannelView(
            f"omega{i}", symbol("ω", i), f"Angular velocity {i}", "rad/s", "Angular velocities", None, i - 1
        )
        for i in range(1, links + 1)
    ]
    strains = [
        messages.ChannelView(f"strain{i}", symbol("ε", i), f"Strain {i}", "", "Strains", None, i - 1)
        for i in range(1, links + 1)
    ]
    return (*energies, *angles, *rates, *(strains if elastic else ()))


def _ghostly(channels: tuple[messages.ChannelView, ...]) -> tuple[messages.ChannelView, ...]:
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

"""The movers of the lab as data: their numbers, the rectangle of shapes that is shown, a first gait, their picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from holonomy.studio.labs.swimmer import outlines
from holonomy.studio.labs.swimmer.outlines import Group, Outline

P = Mapping[str, float]
Window = tuple[float, float, float, float]
"""Lowest and highest x, lowest and highest y of the picture of shapes."""


@dataclass(frozen=True)
class Number:
    """One number of a mover: its name in the library's function, and how the page shows it."""

    name: str
    label: str
    symbol: str
    unit: str
    default: float
    low: float
    high: float
    step: float = 0.01


@dataclass(frozen=True, kw_only=True)
class Model:
    """A mover of `hl.models`."""

    name: str
    label: str
    note: str
    group: Group
    numbers: tuple[Number, ...]
    outline: Outline
    call: str
    """The expression that makes it in Python, a template of its numbers."""
    shape: tuple[str, str]
    """Symbols of the two variables of the picture."""
    units: tuple[str, str] = ("rad", "rad")
    names: tuple[str, str] = ("alpha1", "alpha2")
    window: Window | Callable[[P], Window] = (-2.6, 2.6, -2.6, 2.6)
    centre: tuple[float, float] = (0.0, 0.0)
    radii: tuple[float, float] = (1.0, 1.0)
    """Of its first gait, an ellipse."""
    extent: float | Callable[[P], float] = 2.0
    kind: Literal["plane", "space", "surface"] = "plane"
    boundary: Literal["none", "disc"] = "none"
    title: str = "Mover"
    limit: str = ""
    """Why a shape may not be taken."""
    reference: Callable[[P], float] = lambda p: 1.0
    """The drag to which efficiencies refer."""
    momentum: int = 0
    """Components of momentum that its shape changes build up."""
    inertial: bool = False
    turns: bool = False
    """Whether its second variable may end a full turn away from where it begins."""

    def shown(self, p: P) -> Window:
        """The rectangle of shapes that is shown."""
        return self.window(p) if callable(self.window) else self.window

    def size(self, p: P) -> float:
        """Half the width of the picture of the mover."""
        return self.extent(p) if callable(self.extent) else self.extent

    def numbers_of(self, parameters: P) -> dict[str, float]:
        """Its numbers by their names in the library."""
        return {n.name: parameters[f"{self.name}_{n.name}"] for n in self.numbers}


def _length(default: float = 1.0, label: str = "Length of each link") -> Number:
    return Number("length", label, "l", "m", default, 0.1, 3.0)


_DRAG: Final = (
    Number("drag", "Drag along a link", "kₜ", "Pa s", 1.0, 0.1, 5.0),
    Number("drag_ratio", "Drag across against along", "kₙ/kₜ", "", 2.0, 1.0, 4.0),
)
_FOLDED: Final = "its links would overlap or cross"
_MASSES: Final = tuple(Number(f"mass{k}", f"Mass {k}", f"m{'₁₂₃'[k - 1]}", "kg", 1.0, 0.1, 5.0) for k in (1, 2, 3))


def _curved(name: str, label: str, group: Group, space: str, outline: Outline, note: str, **more: object) -> Model:
    return Model(
        name=name, label=label, note=note, group=group, numbers=_MASSES, outline=outline,
        call=f"hl.models.curved_body({space}, [{{mass1}}, {{mass2}}, {{mass3}}])", shape=("a", "φ"), units=("m", "rad"),
        names=("arm", "opening"), window=(0.2, 1.8, 0.1, 2.0), centre=(1.0, 1.0), radii=(0.3, 0.4), inertial=True,
        title="Body", **more,  # pyright: ignore[reportArgumentType]
    )  # fmt: skip


MODELS: Final = (
    Model(
        name="purcell", label="Purcell's swimmer", note="Three links in a viscous fluid.", group="se2",
        numbers=(_length(), *_DRAG), outline=outlines.links,
        call="hl.Purcell(length={length}, drag={drag}, drag_ratio={drag_ratio})", shape=("α₁", "α₂"),
        extent=lambda p: 2.0 * p["length"], limit=_FOLDED, reference=lambda p: 3 * p["drag"] * p["length"],
        title="Swimmer",
    ),
    Model(
        name="links", label="Chain of links", note="Two to six links; the picture is a plane in their shapes.",
        group="se2", numbers=(_length(0.6), *_DRAG), outline=outlines.links,
        call="hl.models.links([{length}] * {links}, {drag}, {drag_ratio})", shape=("x", "y"), names=("x", "y"),
        extent=lambda p: 2.6 * p["length"], limit=_FOLDED,
        reference=lambda p: p["links"] * p["drag"] * p["length"], title="Swimmer",
    ),
    Model(
        name="pushmepullyou", label="PushMePullYou", note="Two balls that exchange volume.", group="line",
        numbers=(
            Number("volume", "Volume of both balls", "V", "m³", 1.0, 0.1, 3.0),
            Number("viscosity", "Viscosity", "μ", "Pa s", 1.0, 0.1, 5.0),
        ),
        outline=outlines.pushmepullyou, call="hl.PushMePullYou(volume={volume}, viscosity={viscosity})",
        shape=("l", "v"), units=("m", "m³"), names=("l", "v"),
        window=lambda p: (1.0, 5.0, 0.02 * p["volume"], 0.98 * p["volume"]), centre=(3.0, 0.5), radii=(1.0, 0.4),
        extent=3.2, limit="a ball would vanish, or the balls would overlap", title="Swimmer",
        reference=lambda p: 6 * np.pi * p["viscosity"] * float(np.cbrt(3 * p["volume"] / (4 * np.pi))),
    ),
    Model(
        name="spheres", label="Three spheres", note="Three balls on a line, two arms of changing length.",
        group="line",
        numbers=(
            Number("radius", "Radius of each ball", "a", "m", 0.1, 0.02, 0.2),
            Number("viscosity", "Viscosity", "μ", "Pa s", 1.0, 0.1, 5.0),
        ),
        outline=outlines.three_spheres, call="hl.models.three_spheres({radius}, {viscosity})", shape=("l₁", "l₂"),
        units=("m", "m"), names=("l1", "l2"), window=(0.3, 2.0, 0.3, 2.0), centre=(1.1, 1.1), radii=(0.5, 0.5),
        extent=2.0, limit="balls would overlap", title="Swimmer",
        reference=lambda p: 18 * np.pi * p["viscosity"] * p["radius"],
    ),
    Model(
        name="raft", label="Pendulum on a raft", note="A spherical pendulum on a motor turns the raft.", group="se2",
        numbers=(
            Number("mass", "Mass of the raft", "M", "kg", 1.0, 0.1, 5.0),
            Number("inertia", "Inertia of the raft", "I", "kg m²", 1.0, 0.1, 5.0),
            Number("bob", "Mass of the bob", "m", "kg", 1.0, 0.1, 5.0), _length(1.0, "Length of the pendulum"),
        ),
        outline=outlines.raft, call="hl.models.raft({mass}, {inertia}, {bob}, {length})", shape=("ϑ", "φ"),
        names=("polar", "azimuth"), window=(0.0, float(np.pi), -float(np.pi), float(np.pi)), centre=(1.0, 0.0),
        radii=(0.6, 1.5), extent=lambda p: 2.0 * p["length"], inertial=True, turns=True, title="Raft from above",
    ),
    Model(
        name="cat", label="Falling cat", note="Two halves that bend but do not twist; no angular momentum.",
        group="so3",
        numbers=(
            Number("mass", "Mass of each half", "m", "kg", 1.0, 0.1, 5.0), _length(1.0, "Length of each half"),
            Number("across", "Inertia across", "I", "kg m²", 0.3, 0.05, 2.0),
            Number("along", "Inertia along", "J", "kg m²", 0.1, 0.02, 1.0),
        ),
        outline=outlines.cat, call="hl.models.falling_cat({mass}, {length}, {across}, {along})", shape=("β₁", "β₂"),
        names=("bend_x", "bend_y"), window=(-2.8, 2.8, -2.8, 2.8), radii=(1.6, 1.6), extent=lambda p: 1.7 * p["length"],
        kind="space", inertial=True, title="Cat",
    ),
    Model(
        name="snakeboard", label="Snakeboard", note="A rotor and turned wheels build up momentum.", group="se2",
        numbers=(
            Number("mass", "Mass", "m", "kg", 1.0, 0.1, 5.0),
            Number("inertia", "Inertia of the board", "I", "kg m²", 0.5, 0.05, 3.0),
            Number("rotor", "Inertia of the rotor", "J", "kg m²", 0.3, 0.02, 2.0),
            Number("wheels", "Inertia of each axle", "K", "kg m²", 0.1, 0.01, 1.0),
            _length(1.0, "Half the distance of the axles"),
        ),
        outline=outlines.snakeboard,
        call="hl.models.snakeboard({mass}, {inertia}, {rotor}, {wheels}, {length})", shape=("ψ", "φ"),
        names=("rotor", "steering"), window=(-2.6, 2.6, -1.5, 1.5), radii=(0.7, 0.5),
        extent=lambda p: 3.0 * p["length"], limit="its wheels would stand across", momentum=1, inertial=True,
        title="Board",
    ),
    Model(
        name="car", label="Car", note="Rolling and steering; wheels do not slip sideways.", group="se2",
        numbers=(
            Number("wheelbase", "Distance of the axles", "l", "m", 1.0, 0.3, 3.0),
            Number("mass", "Mass", "m", "kg", 1.0, 0.1, 5.0),
            Number("inertia", "Inertia", "I", "kg m²", 0.2, 0.02, 2.0),
        ),
        outline=outlines.car, call="hl.models.car({wheelbase}, {mass}, {inertia})", shape=("s", "φ"),
        units=("m", "rad"), names=("rolled", "steering"), window=(-2.0, 2.0, -1.3, 1.3), radii=(1.0, 0.7),
        extent=lambda p: 3.0 * p["wheelbase"], limit="its front wheels would stand across", inertial=True, title="Car",
    ),
    Model(
        name="snake", label="Snake on wheels", note="Three links with wheels that do not slip sideways.", group="se2",
        numbers=(_length(), Number("mass", "Mass of each link", "m", "kg", 1.0, 0.1, 5.0)), outline=outlines.snake,
        call="hl.models.snake([{length}] * 3, {mass})", shape=("α₁", "α₂"), window=(-2.6, 2.6, -2.6, 2.6),
        centre=(1.1, -0.9), radii=(0.5, 0.5), extent=lambda p: 2.5 * p["length"],
        limit="its axles would meet in one point, so that the wheels do not determine its motion", inertial=True,
        title="Snake",
    ),
    Model(
        name="robot", label="Robot in space", note="A floating base with an arm of two links.", group="se2",
        numbers=(
            Number("mass", "Mass of the base", "M", "kg", 10.0, 0.5, 30.0, 0.1),
            Number("inertia", "Inertia of the base", "I", "kg m²", 5.0, 0.2, 20.0, 0.1), _length(),
            Number("link", "Mass of each link", "m", "kg", 1.0, 0.1, 5.0),
            Number("reach", "Shoulder from the centre", "d", "m", 0.5, 0.1, 1.0),
        ),
        outline=outlines.space_robot,
        call="hl.models.space_robot({mass}, {inertia}, [{length}] * 2, [{link}] * 2, {reach})", shape=("α₁", "α₂"),
        centre=(0.9, 1.2), radii=(0.8, 0.8), extent=lambda p: p["reach"] + 2.2 * p["length"], inertial=True,
        title="Robot",
    ),
    _curved(
        "sphere", "Body on a sphere", "sphere", "hl.Sphere(2)", outlines.on_sphere,
        "Three masses on the unit sphere swim by deforming.", kind="surface", extent=1.12,
    ),
    _curved(
        "hyperbolic", "Body in the hyperbolic plane", "hyperbolic", "hl.Hyperbolic(2)", outlines.in_hyperbolic_plane,
        "Three masses in the Poincaré disc swim the other way.", boundary="disc", extent=1.05,
    ),
    _curved(
        "flat", "Body in the plane", "se2", "hl.Euclidean(2)", outlines.in_plane,
        "The same three masses: in a flat plane no gait moves their centre of mass.", extent=2.0,
    ),
    Model(
        name="triangle", label="Triangle", note="The first variable moves it ahead, the second turns it.", group="se2",
        numbers=(), outline=outlines.triangle,
        call="hl.Mover.from_connection(lambda r: [[-1.0, 0.0], [0.0, 0.0], [0.0, -1.0]], hl.SE2(), "
        '{{"ahead": "length", "turn": "angle"}})',
        shape=("s", "φ"), units=("m", "rad"), names=("ahead", "turn"), window=(-1.0, 4.0, -0.6, 1.8),
        centre=(1.5, 0.5), radii=(1.5, 0.5), extent=4.5, title="Triangle",
    ),
)  # fmt: skip
BY_NAME: Final = {model.name: model for model in MODELS}

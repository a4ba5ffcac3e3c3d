"""Settings of the Curved space lab under a name: the thesis's figures, and what curvature does."""

from __future__ import annotations

from typing import Final

from holonomy.studio.labs.base import Preset
from holonomy.studio.labs.settings import Settings


def _preset(
    name: str, label: str, note: str, space: str, body: str, view: str = "", rods: bool = False, **numbers: float
) -> Preset:
    views = {"h2": "hyperbolic_view", "h3": "hyperbolic_view", "s2": "surface_view", "s3": "sphere_view"}
    chosen = {"space": space, "body": body} | ({views[space]: view} if view else {})
    chosen |= {"joints": "rods"} if rods else {}
    return Preset(name, label, Settings(numbers, chosen, {}), note)


PRESETS: Final = (
    _preset(
        "thesis-2.13", "Rod in H³", "Thesis, Figure 2.13: across a translation the rod is stretched.", "h3", "rod"
    ),
    _preset(
        "thesis-2.14", "Rod in S³", "The motion whose error Figure 2.14 measures: here the rod is pressed.", "s3", "rod"
    ),
    _preset(
        "thesis-2.15", "Rod far out in H³",
        "Figure 2.15 follows it to t = 20, 15 radii away; the second picture keeps it in sight.", "h3", "rod", "klein",
    ),
    _preset("thesis-2.17", "Triangle in H³", "Thesis, Figure 2.17: its sides.", "h3", "triangle"),
    _preset("thesis-2.18", "Triangle in S³", "The motion whose error Figure 2.18 measures.", "s3", "triangle"),
    _preset(
        "thesis-2.19", "Triangle far out in H³", "Figure 2.19 follows it to t = 20.", "h3", "triangle", "half"
    ),
    _preset(
        "detector", "Detector", "A spring pair crosses the curved region at t = 14.25 and rings afterwards.",
        "inhomogeneous", "rod", position=-25.0,
    ),
    _preset("kepler-s3", "Kepler in S³", "The potential −cot r: orbits close.", "s3", "particle", orbit=6.8),
    _preset("kepler-h3", "Kepler in H³", "The potential −coth r: orbits close.", "h3", "particle", orbit=5.8),
    _preset(
        "deviation-s2", "Geodesic deviation in S²", "Two free masses start side by side and meet.", "s2", "rod",
        stiffness=0.0, size=0.7,
    ),
    _preset(
        "deviation-e2", "Geodesic deviation in E²", "Two free masses start side by side and stay so.", "e2", "rod",
        stiffness=0.0, size=0.7,
    ),
    _preset(
        "deviation-h2", "Geodesic deviation in H²", "Two free masses start side by side and separate.", "h2", "rod",
        stiffness=0.0, size=0.7,
    ),
    _preset(
        "cube", "Cube in H² × E", "A rotation that is an isometry of the plane, and a translation along the line.",
        "hxe", "lattice", stiffness=20.0, along=0.4, rise=0.3, spin=0.6, size=0.6,
    ),
    _preset(
        "thesis-2.16", "Rigid rod in H³", "Its multiplier, whose error Figure 2.16 measures: −½ sinh 1 N, a pull.",
        "h3", "rod", rods=True,
    ),
    _preset(
        "thesis-2.20", "Rigid triangle in H³", "Figures 2.20 and 2.21: only the side across the flow is pulled.", "h3",
        "triangle", rods=True,
    ),
    _preset(
        "thesis-2.21", "Rigid triangle in S³", "Figures 2.20 and 2.21: the side across the flow pushes, ½ sin 1 N.",
        "s3", "triangle", rods=True,
    ),
    _preset(
        "h2e-rod", "Rigid rod in H² × E", "Turned out of the plane it feels less of the curvature: the pull goes.",
        "hxe", "rod", rods=True, roll=1.0,
    ),
    _preset(
        "h2e-triangle", "Rigid triangle in H² × E", "Turned out of the plane: its sides stay, its medians do not.",
        "hxe", "triangle", rods=True, along=0.0, roll=1.0,
    ),
    _preset(
        "h2e-refine", "Refined triangle in H² × E",
        "With stiff springs along all edges: turning it out of the plane strains it.",
        "hxe", "mesh", stiffness=200.0, along=0.0, roll=1.0,
    ),
    _preset(
        "collisions", "Balls in S³", "They fly to one point, bounce, and meet again at the opposite one.", "s3",
        "balls", "orthographic", along=0.0,
    ),
    _preset(
        "balls-h2", "Balls in H²", "They meet once; in hyperbolic space they then separate for ever.", "h2", "balls",
        balls=24, ball_radius=0.06, along=0.0, spin=0.3,
    ),
    _preset("pair", "Pair in S²", "Two masses attract each other; no centre of mass moves freely.", "s2", "pair",
            distance=0.8, orbit=2.0),
)  # fmt: skip

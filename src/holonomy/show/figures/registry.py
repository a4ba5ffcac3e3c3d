"""The figures by name, each loaded when it is made."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from holonomy.extras import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Reproduction(NamedTuple):
    """A figure and the numbers that it shows."""

    figure: Figure
    data: dict[str, Any]


def _make(module: str, function: str = "make", *arguments: str) -> Callable[[], Reproduction]:
    def make() -> Reproduction:
        require("plot", "This figure")
        return getattr(importlib.import_module(f"holonomy.show.figures.{module}"), function)(*arguments)

    return make


FIGURES: dict[str, Callable[[], Reproduction]] = {
    "thesis-2.1": _make("path_dependence"),
    "thesis-2.3": _make("geodesic_deviation"),
    "thesis-2.13": _make("elastic_bodies", "separations", "rod"),
    "thesis-2.14": _make("elastic_bodies", "orders", "rod"),
    "thesis-2.15": _make("elastic_bodies", "errors", "rod"),
    "thesis-2.17": _make("elastic_bodies", "separations", "triangle"),
    "thesis-2.18": _make("elastic_bodies", "orders", "triangle"),
    "thesis-2.19": _make("elastic_bodies", "errors", "triangle"),
    "thesis-2.16": _make("rigid_bodies", "multipliers", "rod", "2", "3"),
    "thesis-2.20": _make("rigid_bodies", "multipliers", "triangle", "2"),
    "thesis-2.21": _make("rigid_bodies", "multipliers", "triangle", "3"),
    "rs2-oddity": _make("rigid_bodies", "oddity"),
    "h2e-rod": _make("out_of_plane", "rod"),
    "h2e-triangle": _make("out_of_plane", "triangle"),
    "h2e-refine": _make("out_of_plane", "refine"),
    "collisions": _make("ball_gas"),
    "detector": _make("body_potentials", "detector"),
    "kepler-s3": _make("body_potentials", "kepler", "S"),
    "kepler-h3": _make("body_potentials", "kepler", "H"),
    "ring-centre": _make("ring_centre"),
    "gauss-bonnet": _make("gauss_bonnet"),
    "flip": _make("flip"),
    "rattleback": _make("tops", "rattleback"),
    "tippe-top": _make("tops", "tippe_top"),
    "jacobi-curvature": _make("jacobi_curvature"),
    "steep-walls": _make("steep_walls"),
    "linkage-metric": _make("linkage_metric"),
    "linkage-geodesics": _make("linkage_geodesics"),
    "linkage-routes": _make("linkage_routes"),
    "linkage-curvature": _make("linkage_curvature"),
    "linkage-masses": _make("linkage_masses"),
    "fig-1.2": _make("rigid_order"),
    "pmpy-stroke": _make("pmpy_stroke"),
    "purcell-curvature": _make("purcell_curvature"),
    "raft": _make("raft"),
    "scallop": _make("scallop"),
    "curved-swim": _make("curved_swim"),
}

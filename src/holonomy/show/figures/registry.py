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


def _make(module: str) -> Callable[[], Reproduction]:
    def make() -> Reproduction:
        require("plot", "This figure")
        return importlib.import_module(f"holonomy.show.figures.{module}").make()

    return make


FIGURES: dict[str, Callable[[], Reproduction]] = {
    "thesis-2.1": _make("path_dependence"),
    "thesis-2.3": _make("geodesic_deviation"),
    "ring-centre": _make("ring_centre"),
    "gauss-bonnet": _make("gauss_bonnet"),
    "flip": _make("flip"),
    "steep-walls": _make("steep_walls"),
    "linkage-metric": _make("linkage_metric"),
    "linkage-geodesics": _make("linkage_geodesics"),
    "linkage-routes": _make("linkage_routes"),
    "linkage-curvature": _make("linkage_curvature"),
    "linkage-masses": _make("linkage_masses"),
}

"""Thesis, Figure 2.1: a vector carried to the same place along two paths arrives as two vectors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from holonomy.show.figures.globe import Globe
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

if TYPE_CHECKING:
    from jax import Array

BLUE, RED, GREEN, YELLOW = OKABE_ITO[0], OKABE_ITO[1], OKABE_ITO[2], OKABE_ITO[4]
DARK_GREEN = "#004D38"
WEST, EAST, NORTH = np.radians(-95.0), np.radians(-25.0), np.radians(70.0)


def make() -> Reproduction:
    """Along a meridian (yellow), and along the equator, another meridian and a third great circle (green)."""
    import jax.numpy as jnp
    from matplotlib import pyplot as plt

    from holonomy.spaces import Sphere

    sphere = Sphere(2)

    def place(longitude: float, latitude: float):
        c = np.cos(latitude)
        return jnp.array([c * np.cos(longitude), c * np.sin(longitude), np.sin(latitude)])

    corner, goal = place(WEST, 0.0), place(WEST, NORTH)
    routes = {"yellow": [corner, goal], "green": [corner, place(EAST, 0.0), place(EAST, NORTH), goal]}
    w = 0.45 * sphere.tangent(corner, place(WEST + 0.9, 0.55))
    ends, lines, stations = {}, {}, {}
    for name, stops in routes.items():
        carried, line, along = w, [], []
        for a, b in pairwise(stops):
            v = sphere.log(a, b)
            line += [np.asarray(sphere.exp(a, t * v)) for t in np.linspace(0, 1, 60)]
            along += [(sphere.exp(a, t * v), sphere.transport(a, t * v, carried)) for t in (1 / 3, 2 / 3)]
            carried = sphere.transport(a, v, carried)
        ends[name], lines[name], stations[name] = np.asarray(carried), np.array(line), along
    one, two = ends["yellow"], ends["green"]
    angle = float(np.arctan2(np.cross(one, two) @ np.asarray(goal), one @ two))
    with style():
        figure, axes = plt.subplots(figsize=(6.4, 6.4))
        globe = Globe(axes, longitude=-62.0, latitude=28.0)
        for name, colour in (("yellow", YELLOW), ("green", GREEN)):
            globe.curve(lines[name], color=colour, linewidth=3.2)
            for x, v in stations[name]:
                globe.arrow(x, 0.6 * v, colour, linewidth=1.3, mutation_scale=10)
        globe.arrow(corner, w, BLUE)
        globe.arrow(goal, two, DARK_GREEN)
        globe.arrow(goal, one, RED)
        globe.dots(np.stack([corner, goal]), color="0.15", markersize=6)
        globe.label(corner, "start", (-0.04, -0.09), ha="right")
        globe.label(goal, "goal", (-0.05, 0.05), ha="right")
        axes.set_title(
            f"One vector, two paths on $S^2$: the results differ by {np.degrees(angle):.1f}°,\n"
            "the area between the paths",
            fontsize=12,
        )
    return Reproduction(figure, {"angle": angle, "area": _area(list(routes["green"])), **ends})


def _area(corners: list[Array]) -> float:
    """The area of a spherical polygon: the sum of its angles less that of a flat one."""
    points = [np.asarray(c) for c in corners]
    total = 0.0
    for i, p in enumerate(points):
        before, after = points[i - 1], points[(i + 1) % len(points)]
        u, v = before - (before @ p) * p, after - (after @ p) * p
        total += np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v)
    return float(total - (len(points) - 2) * np.pi)

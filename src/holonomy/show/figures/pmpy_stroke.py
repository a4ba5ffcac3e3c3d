"""A stroke of the two balls of PushMePullYou: its loop of shapes, and the balls through it."""

from __future__ import annotations

import numpy as np

from holonomy.show.figures import shape_space
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

MIDDLE, RADII = (3.0, 0.5), (1.0, 0.4)
FRAMES = 9


def make() -> Reproduction:
    """Left the height function with the loop; right where the balls are, from top to bottom."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    from holonomy.locomotion import Gait, curvature_integral, perform
    from holonomy.models import PushMePullYou

    swimmer, gait = PushMePullYou(), Gait.ellipse(MIDDLE, RADII)
    found = perform(swimmer, gait)
    area = curvature_integral(swimmer, gait)
    with style():
        figure = Figure(figsize=(11.0, 4.8))
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
        image = shape_space.paint(left, swimmer, (1.5, 0.03), (4.5, 0.97), 0)
        figure.colorbar(image, ax=left, shrink=0.85)
        shape_space.loop(left, gait, "0.1")
        left.set_title("$-B$ and the loop of shapes")
        path, shapes = np.asarray(found.path)[:, 0], np.asarray(found.shapes)
        for k, at in enumerate(np.linspace(0, len(path) - 1, FRAMES).astype(int)):
            distance, volume = shapes[at]
            for sign, size, colour in ((-0.5, volume, OKABE_ITO[0]), (0.5, 1 - volume, OKABE_ITO[1])):
                centre = (path[at] + sign * distance, -1.4 * k)
                right.add_patch(Circle(centre, np.cbrt(3 * size / (4 * np.pi)), color=colour, alpha=0.85))
            right.plot(path[at], -1.4 * k, "|", color="0.15", markersize=12)
        right.set_aspect("equal")
        right.autoscale_view()
        right.set_yticks([])
        right.set_xlabel("$x$; the middle is marked")
        right.set_title(f"one stroke moves it by {path[-1]:.4f}")
    data = {"displacement": float(path[-1]), "minus the integral of B": float(area[0]), "energy": float(found.energy)}
    return Reproduction(figure, {**data, "efficiency": float(found.efficiency)})

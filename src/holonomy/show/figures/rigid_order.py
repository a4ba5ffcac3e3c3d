"""Thesis, Figure 1.2: a rotation and a translation of a triangle, in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRIANGLE = np.array([[0.5, -0.5], [1.7, 0.0], [0.5, 0.5]])
SHIFT, TURN = 3.0, np.pi / 3


def make() -> Reproduction:
    """Black as given, red turned and then moved, blue moved and then turned; a circle marks one corner."""
    import jax.numpy as jnp
    from matplotlib.figure import Figure

    from holonomy.spaces import SE2

    group = SE2()
    turn, move = (group.from_pose(jnp.array(pose)) for pose in ([0.0, 0.0, TURN], [SHIFT, 0.0, 0.0]))
    orders = {"turned, then moved": group.compose(move, turn), "moved, then turned": group.compose(turn, move)}
    poses = {name: np.asarray(group.to_pose(g)) for name, g in orders.items()}
    with style():
        figure = Figure(figsize=(6.4, 5.2))
        axes = figure.subplots()
        _draw(axes, np.zeros(3), "0.15", "as given")
        for (name, pose), colour in zip(poses.items(), (OKABE_ITO[1], OKABE_ITO[0]), strict=True):
            _draw(axes, pose, colour, name)
        axes.plot(0.0, 0.0, "+", color="0.4", markersize=10)
        axes.set_aspect("equal")
        axes.set_xlabel("$x$")
        axes.set_ylabel("$y$")
        axes.legend(loc="center left")
        axes.set_title("Two motions in both orders: rigid motions of the plane do not commute", fontsize=12)
    gap = np.linalg.norm(poses["turned, then moved"][:2] - poses["moved, then turned"][:2])
    return Reproduction(figure, {**poses, "distance between the results": float(gap)})


def _draw(axes: Axes, pose: np.ndarray, colour: str, name: str) -> None:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    corners = TRIANGLE @ np.array([[c, s], [-s, c]]) + pose[:2]
    axes.fill(*corners.T, facecolor="none", edgecolor=colour, linewidth=2.2, label=name)
    axes.plot(*corners[1], "o", color=OKABE_ITO[2], markersize=9)

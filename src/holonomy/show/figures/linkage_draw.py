"""Parts of the linkage figures: a chain of rods in the plane, and the sphere of configurations with a field on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy.show.figures.globe import Globe
from holonomy.show.style import OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGITUDE, LATITUDE = 35.0, 36.0
_PIXELS = 320  # of the sphere's picture in each direction


def upright(x: Any) -> np.ndarray:
    """Points of the sphere with the pole of the outer angle on top: (cos t, sin t, sin phi) of (sin phi, ...)."""
    return np.asarray(x)[..., ::-1]


def globe(axes: Axes) -> Globe:
    """The sphere of configurations as the figures show it."""
    return Globe(axes, LONGITUDE, LATITUDE)


def visible() -> tuple[np.ndarray, np.ndarray]:
    """The points of the sphere that a picture shows, (k, 3), and which pixels of the square they are."""
    from matplotlib.figure import Figure

    frame = globe(Figure().add_subplot()).frame
    edge = (np.arange(_PIXELS) + 0.5) / _PIXELS * 2 - 1
    across, up = np.meshgrid(edge, edge)
    inside = across**2 + up**2 < 1
    a, b = across[inside], up[inside]
    shown = np.stack([a, b, np.sqrt(1 - a**2 - b**2)], axis=1) @ frame
    return shown[:, ::-1], inside


def paint(axes: Axes, values: np.ndarray, inside: np.ndarray, **how: Any) -> Any:
    """A field on the visible half of the sphere; gives what a colour bar is made from."""
    square = np.full(inside.shape, np.nan)
    square[inside] = values
    shown = globe(axes)
    image = axes.imshow(square, extent=(-1, 1, -1, 1), origin="lower", zorder=0.5, interpolation="bilinear", **how)
    axes.set_xlim(-1.12, 1.12)
    axes.set_ylim(-1.12, 1.12)
    shown.label(np.array([0.0, 0.0, 1.0]), r"$\varphi=\pi/2$", (0.04, 0.22), fontsize=8, color="0.25")
    return image


def chain(axes: Axes, hinges: Any, base: float, **how: Any) -> None:
    """The rods and hinges, with the pinned ends."""
    points = np.concatenate([np.zeros((1, 2)), np.asarray(hinges), [[base, 0.0]]])
    look: dict[str, Any] = {"color": OKABE_ITO[0], "linewidth": 2.6, "alpha": 1.0, "zorder": 3, **how}
    axes.plot(*points.T, solid_capstyle="round", solid_joinstyle="round", **look)
    axes.plot(*points[1:-1].T, "o", color=look["color"], markersize=6.5, alpha=look["alpha"], zorder=look["zorder"] + 1)
    axes.plot([0.0, base], [0.0, 0.0], "s", color="0.2", markersize=7, zorder=6)


def plane(axes: Axes, base: float) -> None:
    """Axes for chains."""
    axes.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    axes.set_aspect("equal")
    axes.set(xlim=(-0.45, base + 0.45), ylim=(-1.55, 1.55), xlabel="$x$ (rod lengths)", ylabel="$y$ (rod lengths)")

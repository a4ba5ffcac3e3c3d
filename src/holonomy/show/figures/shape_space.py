"""Height functions over two shape variables, with gaits drawn on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from holonomy.locomotion import Gait, Mover

POINTS = 81


def field(mover: Mover, low: Any, high: Any, component: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The two axes and minus the curvature on their grid: what a loop run counter-clockwise gains per area."""
    from holonomy.locomotion import heights

    first, second = (np.linspace(a, b, POINTS) for a, b in zip(low, high, strict=True))
    grid = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
    return first, second, -heights(mover, grid)[:, component, 0, 1].reshape(POINTS, POINTS)


def paint(axes: Axes, mover: Mover, low: Any, high: Any, component: int) -> Any:
    """The height function as a map, its colours diverging about zero; the largest size that it has."""
    first, second, values = field(mover, low, high, component)
    most = float(np.abs(values).max())
    image = axes.pcolormesh(first, second, values.T, cmap="RdBu_r", vmin=-most, vmax=most, shading="gouraud")
    if most > 0:
        axes.contour(first, second, values.T, levels=[0.0], colors="0.3", linewidths=0.8)
    axes.set_xlabel(_label(mover.names[0]))
    axes.set_ylabel(_label(mover.names[1]))
    return image


def loop(axes: Axes, gait: Gait, colour: str) -> None:
    """The gait, with an arrow for its direction."""
    times = np.linspace(0.0, float(gait.period), 201)
    rows = np.array([np.asarray(gait(t)) for t in times])
    axes.plot(*rows.T, color=colour, linewidth=2.4)
    look = {"arrowstyle": "-|>", "color": colour, "mutation_scale": 18}
    axes.annotate("", xy=tuple(rows[27]), xytext=tuple(rows[24]), arrowprops=look)


def _label(name: str) -> str:
    greek = name.rstrip("0123456789")
    index = name[len(greek) :]
    return f"$\\{greek}_{{{index}}}$" if greek == "alpha" else f"${name}$"

"""A motion of a linkage as a moving picture: the chain in the plane beside its point on the sphere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from holonomy.extras import require
from holonomy.show.animate import write
from holonomy.show.figures import linkage_draw as draw
from holonomy.show.style import OKABE_ITO, style


def animate_linkage(link: Any, points: Any, path: str | Path, *, fps: int = 30) -> Path:
    """Write the configurations in the rows of `points`, one per frame, to a .gif or .mp4 file.

    With four rods the sphere is drawn beside the chain, coloured by K, with the way gone so far.
    """
    target, rows = Path(path), np.asarray(points, float)
    if target.suffix.lower() not in (".gif", ".mp4"):
        raise ValueError(f"An animation is a .gif or .mp4 file; got {target.name!r}.")
    if rows.ndim != 2 or rows.shape[1] != link.rods - 1 or len(rows) < 2:
        raise ValueError(
            f"points must be at least two rows of the sphere, shape (k, {link.rods - 1}); got {rows.shape}."
        )
    require("video", "linkage.animate()")
    return write(target, _frames(link, rows / np.linalg.norm(rows, axis=1, keepdims=True)), fps)


def _frames(link: Any, rows: np.ndarray) -> Iterator[np.ndarray]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    base = float(link.base)
    chains = [np.concatenate([np.zeros((1, 2)), np.asarray(link.hinges(x)), [[base, 0.0]]]) for x in rows]
    with style(layout=False):  # laying out anew for every frame would cost more than drawing it
        figure = Figure(figsize=(9.0 if link.rods == 4 else 5.2, 4.2), dpi=90)
        canvas = FigureCanvasAgg(figure)
        left: Any = figure.add_axes((0.08, 0.13, 0.46 if link.rods == 4 else 0.88, 0.8))
        draw.plane(left, base)
        draw.chain(left, chains[0][1:-1], base, alpha=0.0)
        (line,) = left.plot([], [], "-o", color=OKABE_ITO[0], linewidth=2.8, markersize=7, zorder=4)
        follow = _sphere(figure, link, rows) if link.rods == 4 else lambda k: None
        for k, chain in enumerate(chains):
            line.set_data(*chain.T)
            follow(k)
            canvas.draw()
            yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _sphere(figure: Any, link: Any, rows: np.ndarray) -> Callable[[int], None]:
    """The sphere, and a function that shows the way up to a row."""
    axes = figure.add_axes((0.57, 0.04, 0.42, 0.92))
    points, inside = draw.visible()
    k = np.asarray(link.fields(points)[0])
    size = float(np.abs(k).max())
    draw.paint(axes, k, inside, cmap="RdBu_r", vmin=-size, vmax=size)
    seen = draw.globe(axes).place(draw.upright(rows))
    front = np.where(seen[:, 2:] >= 0, seen[:, :2], np.nan)
    (trail,) = axes.plot([], [], color="black", linewidth=1.8, zorder=5)
    (dot,) = axes.plot([], [], "o", color="black", markersize=8, zorder=9)

    def follow(row: int) -> None:
        trail.set_data(*front[: row + 1].T)
        dot.set_data(*seen[row : row + 1, :2].T)
        dot.set_alpha(1.0 if seen[row, 2] >= 0 else 0.4)

    return follow

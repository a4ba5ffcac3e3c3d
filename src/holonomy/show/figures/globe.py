"""A sphere seen from far away: what lies in front is drawn firmly, what lies behind faintly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Globe:
    """Orthographic drawing of the unit sphere on a pair of axes, seen from a longitude and latitude in degrees."""

    def __init__(self, axes: Axes, longitude: float = -60.0, latitude: float = 20.0):
        a, b = np.radians(longitude), np.radians(latitude)
        towards = np.array([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        self.axes, self.frame = axes, np.stack([right, np.cross(towards, right), towards])
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_xlim(-1.12, 1.12)
        axes.set_ylim(-1.12, 1.12)
        turn = np.linspace(0, 2 * np.pi, 361)
        axes.fill(np.cos(turn), np.sin(turn), color="#F4F4F1", zorder=0)
        axes.plot(np.cos(turn), np.sin(turn), color="0.35", linewidth=1.0, zorder=6)
        self._graticule(turn)

    def place(self, x: Any) -> np.ndarray:
        """Across, up and towards the eye."""
        return np.asarray(x) @ self.frame.T

    def curve(self, x: Any, **how: Any) -> None:
        """A curve through the rows of x."""
        across, up, depth = self.place(x).T
        for visible, alpha in ((depth >= -1e-9, 1.0), (depth < 0, 0.25)):
            shown = np.where(visible, across, np.nan), np.where(visible, up, np.nan)
            style: dict[str, Any] = {"solid_capstyle": "round", "zorder": 5, **how}
            self.axes.plot(*shown, **{**style, "alpha": alpha * style.get("alpha", 1.0)})

    def dots(self, x: Any, **how: Any) -> None:
        """Points, one per row; those behind are faint."""
        for row in np.atleast_2d(np.asarray(x)):
            across, up, depth = self.place(row)
            style: dict[str, Any] = {"zorder": 8, **how, "alpha": 1.0 if depth > -1e-9 else 0.55}
            self.axes.plot(across, up, "o", **style)

    def arrow(self, x: Any, v: Any, color: str, **how: Any) -> None:
        """The tangent vector v at x."""
        start, end = self.place(x)[:2], self.place(np.asarray(x) + np.asarray(v))[:2]
        look = {"arrowstyle": "-|>", "color": color, "linewidth": 2.6, "mutation_scale": 17, "shrinkA": 0, "shrinkB": 0}
        self.axes.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops={**look, **how}, zorder=9)

    def label(self, x: Any, text: str, offset: tuple[float, float] = (0.0, 0.0), **how: Any) -> None:
        """Text beside a point."""
        across, up, _ = self.place(x)
        style: dict[str, Any] = {"zorder": 10, **how}
        self.axes.text(across + offset[0], up + offset[1], text, **style)

    def _graticule(self, turn: np.ndarray) -> None:
        faint = {"color": "0.62", "linewidth": 0.5, "zorder": 1}
        for b in np.radians(np.arange(-60, 61, 30)):
            ring = [np.cos(b) * np.cos(turn), np.cos(b) * np.sin(turn), np.full_like(turn, np.sin(b))]
            self.curve(np.stack(ring, axis=1), **faint)
        for a in np.radians(np.arange(0, 180, 30)):
            ring = [np.cos(turn) * np.cos(a), np.cos(turn) * np.sin(a), np.sin(turn)]
            self.curve(np.stack(ring, axis=1), **faint)

"""Strokes of the two balls of PushMePullYou: a loop of shapes, the balls through it, and strokes of stationary cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from holonomy.show.figures import shape_space
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

MIDDLE, RADII = (3.0, 0.5), (1.0, 0.4)
FRAMES = 9
LARGEST = (0.6, 0.7, 0.8)  # volume of the larger ball at the turning points of the stationary strokes
FAR = (
    1e4  # distance at which the flow from a ball that grows does not matter: its share of the curvature is 1/(2 pi l³)
)
_NODES = 200


class Stationary(NamedTuple):
    """A stroke of stationary cost by quadrature: displacement, length in the metric of power, and its points (l, v)."""

    displacement: float
    length: float
    shapes: np.ndarray


def stationary_by_quadrature(largest: float) -> Stationary:
    r"""The stroke of balls far apart, of total volume 1 and viscosity 1, whose cost is stationary for its displacement,
    from formulas alone.

    Far apart \(dX = \frac12 f\,dl\) with \(f = (a_1 - a_2)/(a_1 + a_2)\), and power and f depend on v only. The
    momentum dual to l is then conserved, and zero for a loop that is symmetric under the exchange of the balls:
    \(G_l\dot l = \lambda f/2\). With \(h = f^2/4G_l\) and \(h_m\) its value where v turns, at `largest`,

    \[ X = \oint\frac{h\sqrt{G_v}}{\sqrt{h_m - h}}\,dv,\qquad
        \ell = \oint\frac{\sqrt{h_m G_v}}{\sqrt{h_m - h}}\,dv,\qquad
        dl = \frac{f}{2G_l}\frac{\sqrt{G_v}}{\sqrt{h_m - h}}\,dv. \]
    """
    angles = 2.0 * np.pi * (np.arange(_NODES) + 0.5) / _NODES  # between the turning points, where cos is zero
    half = largest - 0.5
    v = 0.5 + half * np.sin(angles)
    f, along, growth = _terms(v)
    top = float(_terms(np.array([largest]))[0][0] ** 2 / (4.0 * _terms(np.array([largest]))[1][0]))
    h = f**2 / (4.0 * along)
    rate = (
        np.sqrt(growth / (top - h)) * half * np.abs(np.cos(angles))
    )  # smooth: both roots vanish at the turning points
    step = 2.0 * np.pi / _NODES
    waves = np.fft.rfft(f / (2.0 * along) * rate)
    waves[1:] = waves[1:] / (1j * np.arange(1, len(waves)))
    waves[[0, -1]] = 0.0
    distance = np.fft.irfft(waves, _NODES)
    return Stationary(
        float(step * np.sum(h * rate)), float(step * np.sqrt(top) * np.sum(rate)), np.stack([distance, v], 1)
    )


def _terms(v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f, and the powers that changes of distance and of volume cost."""
    a, b = np.cbrt(3.0 * v / (4.0 * np.pi)), np.cbrt(3.0 * (1.0 - v) / (4.0 * np.pi))
    return (a - b) / (a + b), 6.0 * np.pi * a * b / (a + b), 4.0 / 3.0 * (1.0 / v + 1.0 / (1.0 - v))


def make() -> Reproduction:
    """The height function with a loop; where the balls are through it, from top to bottom; stationary strokes."""
    from matplotlib.figure import Figure

    from holonomy.locomotion import Gait, curvature_integral, perform
    from holonomy.models import PushMePullYou

    swimmer, gait = PushMePullYou(), Gait.ellipse(MIDDLE, RADII)
    found = perform(swimmer, gait)
    area = curvature_integral(swimmer, gait)
    with style():
        figure = Figure(figsize=(15.0, 4.8))
        left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1.2, 1))
        image = shape_space.paint(left, swimmer, (1.5, 0.03), (4.5, 0.97), 0)
        figure.colorbar(image, ax=left, shrink=0.85)
        shape_space.loop(left, gait, "0.1")
        left.set_title("$-B$ and a loop of shapes")
        path = np.asarray(found.path)[:, 0]
        _balls(middle, path, np.asarray(found.shapes))
        middle.set_title(f"it moves the swimmer by {path[-1]:.4f}")
        known = _stationary(right)
    data = {"displacement": float(path[-1]), "minus the integral of B": float(area[0]), "energy": float(found.energy)}
    return Reproduction(figure, {**data, "efficiency": float(found.efficiency), **known})


def _balls(axes: object, path: np.ndarray, shapes: np.ndarray) -> None:
    from matplotlib.axes import Axes
    from matplotlib.patches import Circle

    assert isinstance(axes, Axes)
    for k, at in enumerate(np.linspace(0, len(path) - 1, FRAMES).astype(int)):
        distance, volume = shapes[at]
        for sign, size, colour in ((-0.5, volume, OKABE_ITO[0]), (0.5, 1 - volume, OKABE_ITO[1])):
            centre = (path[at] + sign * distance, -1.4 * k)
            axes.add_patch(Circle(centre, np.cbrt(3 * size / (4 * np.pi)), color=colour, alpha=0.85))
        axes.plot(path[at], -1.4 * k, "|", color="0.15", markersize=12)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_yticks([])
    axes.set_xlabel("$x$; the middle is marked")


def _stationary(axes: object) -> dict[str, np.ndarray]:
    """Stationary strokes of balls far apart: by Wong's equations as lines, by quadrature as points."""
    from matplotlib.axes import Axes

    from holonomy.locomotion import optimal_gait, perform
    from holonomy.models import PushMePullYou

    assert isinstance(axes, Axes)
    swimmer, rows = PushMePullYou(), []
    for largest, colour in zip(LARGEST, OKABE_ITO, strict=False):
        known = stationary_by_quadrature(largest)
        found = perform(swimmer, optimal_gait(swimmer, [known.displacement], start=[FAR, 0.5]))
        shapes = np.asarray(found.shapes)
        axes.plot(shapes[:, 0] - shapes[:-1, 0].mean(), shapes[:, 1], color=colour)
        axes.plot(*known.shapes[::8].T, ".", color=colour)
        efficiency = float(swimmer.reference * (known.displacement / known.length) ** 2)
        rows.append((known.displacement, float(found.length), known.length, float(found.efficiency), efficiency))
        text = f"{known.displacement:.3f}: {100 * efficiency:.2f} %"
        top = (0.0, float(known.shapes[:, 1].max()))
        axes.annotate(text, top, xytext=(0, -6), textcoords="offset points", ha="center", va="top")
    axes.set_xlabel("$l$, from its mean")
    axes.set_ylabel("$v$")
    axes.set_title("stationary strokes: displacement, efficiency")
    names = (
        "displacements",
        "lengths by Wong's equations",
        "by quadrature",
        "efficiencies by Wong's equations",
        "known",
    )
    return {
        f"stationary strokes: {name}": np.array(column)
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }

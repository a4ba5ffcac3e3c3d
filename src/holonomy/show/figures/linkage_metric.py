"""What moving each angle costs: the kinetic metric of four rods."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures import linkage_draw as draw
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

BASE, PHI = 3.0, 0.4


def make() -> Reproduction:
    """Left: configurations along t; middle: the metric along t, straight elbows included; right: area on the sphere."""
    from matplotlib.figure import Figure

    from holonomy.models import Linkage

    link = Linkage(4, BASE)
    t = np.linspace(0, 2 * np.pi, 241)
    g = np.stack([np.asarray(link.metric([PHI, a])) for a in t])
    inner = Linkage(3, float(np.hypot(*np.asarray(link.hinges(link.from_angles([PHI, 0.0])))[2])))
    three = np.array([float(inner.metric([a])[0, 0]) for a in t])
    points, inside = draw.visible()
    with style():
        figure = Figure(figsize=(12.6, 4.3))
        left, middle, right = figure.subplots(1, 3, width_ratios=(1.25, 1.15, 1))
        _configurations(left, link)
        for k, (i, j, name) in enumerate(((0, 0, r"\varphi\varphi"), (0, 1, r"\varphi t"), (1, 1, "tt"))):
            middle.plot(t, g[:, i, j], color=OKABE_ITO[k], label=f"$h_{{{name}}}$")
        middle.plot(t[::12], three[::12], "o", color=OKABE_ITO[2], markersize=5, markerfacecolor="white")
        middle.plot([], [], "o", color=OKABE_ITO[2], markerfacecolor="white", label="three rods alone")
        for straight in (np.pi / 2, 3 * np.pi / 2):
            middle.axvline(straight, color="0.6", linewidth=0.8, linestyle=":")
        middle.set_xticks(
            [0, np.pi / 2, np.pi, 3 * np.pi / 2, 2 * np.pi], ["0", r"$\pi/2$", r"$\pi$", r"$3\pi/2$", r"$2\pi$"]
        )
        middle.set_xlabel("$t$")
        middle.set_ylim(-1.0, 7.0)
        middle.legend(ncols=2, loc="upper center", fontsize=9)
        middle.set_title(rf"kinetic metric along $t$, $\varphi$ = {PHI}", loc="left")
        area = _areas(link, points)
        image = draw.paint(right, area, inside, cmap="cividis")
        figure.colorbar(image, ax=right, shrink=0.75)
        right.set_title("kinetic area / round area")
    straight = np.asarray(link.metric([PHI, np.pi / 2]))
    data = {
        "metric at t = pi/2": [straight[0, 0], straight[0, 1], straight[1, 1]],
        "largest difference of h_tt to three rods": float(np.abs(g[:, 1, 1] - three).max()),
        "area": link.volume(),
    }
    return Reproduction(figure, data)


def _configurations(axes: Any, link: Any) -> None:
    draw.plane(axes, BASE)
    for k, t in enumerate(np.linspace(0, 2 * np.pi, 8, endpoint=False)):
        strong = k == 0
        draw.chain(
            axes,
            link.hinges(link.from_angles([PHI, t])),
            BASE,
            color=OKABE_ITO[0] if strong else OKABE_ITO[5],
            alpha=1.0 if strong else 0.45,
            zorder=4 if strong else 2,
        )
    for i, p in enumerate(np.asarray(link.hinges(link.from_angles([PHI, 0.0])))):
        axes.text(p[0] + 0.07, p[1] + 0.11 * (1 if i < 2 else -2), f"$p_{i + 1}$", fontsize=11, zorder=7)
    axes.set_title(rf"$L$ = {BASE:g}, $\varphi$ = {PHI}, all $t$", loc="left")


def _areas(link: Any, points: np.ndarray) -> np.ndarray:
    from holonomy.models.linkages.compiled import many
    from holonomy.models.linkages.integrals import density

    return np.asarray(many(density, link.surface, points))

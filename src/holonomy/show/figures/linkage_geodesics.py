"""Free motions of four rods: a fan of geodesics on the sphere, one through the pole, and the chain that moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures import linkage_draw as draw
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

BASE, START, RATE = 3.0, (0.4, 0.7), (1.0, 0.5)
FAN, LENGTH = 24, 3.0


def make() -> Reproduction:
    """Left: geodesics from one configuration over K, one of them through the pole; right: that motion of the chain."""
    from matplotlib.figure import Figure

    from holonomy.models import Linkage

    link = Linkage(4, BASE)
    x = link.from_angles(START)
    pole = np.array([1.0, 0.0, 0.0])
    aimed = link.shortest(x, pole)[0]
    s = np.linspace(0, 2.2, 200)
    through = np.asarray(link.geodesic(x, aimed.velocity, s))
    fan = _fan(link, x)
    points, inside = draw.visible()
    k = np.asarray(link.fields(points)[0])
    with style():
        figure = Figure(figsize=(11.6, 4.9))
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
        scale = float(np.abs(k).max())
        image = draw.paint(left, k, inside, cmap="RdBu_r", vmin=-scale, vmax=scale)
        figure.colorbar(image, ax=left, shrink=0.75, label="$K$")
        shown = draw.globe(left)
        for line in fan:
            shown.curve(draw.upright(line), color="0.15", linewidth=0.8)
        shown.curve(draw.upright(through), color=OKABE_ITO[4], linewidth=2.8)
        shown.dots(draw.upright(x), color="black", markersize=8)
        left.set_title(f"{FAN} geodesics of length {LENGTH:g}; one through the pole", fontsize=11)
        draw.plane(right, BASE)
        for i, a in enumerate(np.linspace(0, len(s) - 1, 12).astype(int)):
            draw.chain(
                right, link.hinges(_unit(through[a])), BASE, color=OKABE_ITO[4] if i else "black", alpha=1 - 0.06 * i
            )
        right.set_title("the motion through the pole, from black on", loc="left")
    _, velocity = link.geodesic_flow(x, aimed.velocity, 2.2)
    end = _unit(through[-1])
    data = {
        "length to the pole": aimed.length,
        "distance from the pole at time 1": float(
            np.abs(np.asarray(link.geodesic(x, aimed.velocity, 1.0)) - pole).max()
        ),
        "energy drift": float(link.energy(end, velocity) - link.energy(x, aimed.velocity)),
        "reference hinges": np.asarray(link.hinges(_unit(link.geodesic(*reference(link), 1.0)))),
    }
    return Reproduction(figure, data)


def _unit(x: Any) -> np.ndarray:
    return np.asarray(x) / np.linalg.norm(x)


def reference(link: Any) -> tuple[Any, Any]:
    """Point and velocity of the start that the source material uses."""
    import jax
    import jax.numpy as jnp

    return jax.jvp(link.from_angles, (jnp.array(START),), (jnp.array(RATE),))


def _fan(link: Any, x: Any) -> list[np.ndarray]:
    frame = np.asarray(link.frame(x))
    turns = 2 * np.pi * np.arange(FAN) / FAN
    s = np.linspace(0, LENGTH, 120)
    return [np.asarray(link.geodesic(x, frame @ [np.cos(a), np.sin(a)], s)) for a in turns]

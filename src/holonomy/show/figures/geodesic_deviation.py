"""Thesis, Figure 2.3: geodesics that start parallel converge in S^2, stay in E^2, and diverge in H^2."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.globe import Globe
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import style

SEPARATION, LENGTH, RUNGS = 0.7, 1.4, 57
TICKS = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)


def make() -> Reproduction:
    """Rungs between the two geodesics: blue where shorter than at the start, red where longer."""
    import matplotlib as mpl
    from matplotlib import cm, colors
    from matplotlib import pyplot as plt

    from holonomy.spaces import Euclidean, Hyperbolic, Sphere

    spaces = {"S": Sphere(2), "E": Euclidean(2), "H": Hyperbolic(2)}
    found = {name: _rails(space) for name, space in spaces.items()}
    norm, palette = colors.Normalize(-1.5, 1.5), mpl.colormaps["coolwarm"]
    with style():
        figure, axes = plt.subplots(1, 3, figsize=(11.5, 4.3))
        pictures = _canvases(axes, spaces)
        titles = ("$S^2$, $K = 1$: converging", "$E^2$, $K = 0$: equidistant", "$H^2$, $K = -1$: diverging")
        for name, title, axis in zip(found, titles, axes, strict=True):
            draw, data = pictures[name], found[name]
            for rung, separation in zip(data["rungs"], data["separation"], strict=True):
                draw(rung, color=palette(norm(np.log2(separation / SEPARATION))), linewidth=3.2, zorder=4)
            for rail in data["rails"]:
                draw(rail, color="0.1", linewidth=2.0, zorder=5)
            axis.set_title(title, fontsize=12)
        shade = cm.ScalarMappable(norm=norm, cmap=palette)
        bar = figure.colorbar(shade, ax=axes, shrink=0.8, pad=0.02, ticks=TICKS, extend="both")
        bar.ax.set_yticklabels([f"{2.0**t:.2f}" for t in TICKS])
        bar.set_label("separation / initial separation")
    return Reproduction(figure, {name: {k: d[k] for k in ("s", "separation")} for name, d in found.items()})


def _rails(space: Any) -> dict[str, Any]:
    """Two geodesics that leave a common perpendicular at right angles, and the geodesic rungs between them."""
    import jax
    import jax.numpy as jnp

    s = jnp.linspace(0.0, LENGTH, RUNGS)

    def rung(x: Any, y: Any) -> Any:
        v = space.log(x, y)
        return jax.vmap(lambda t: space.exp(x, t * v))(jnp.linspace(0.0, 1.0, 12))

    @jax.jit
    def draw() -> dict[str, Any]:
        # begin before the origin, so that the pictures are centred
        frame = space.frame(space.origin)
        back = -LENGTH / 2 * frame[:, 1]
        foot = space.exp(space.origin, back)
        across, along = (space.transport(space.origin, back, v) for v in frame.T)
        rails = []
        for side in (-SEPARATION / 2 * across, SEPARATION / 2 * across):
            x, v = space.exp(foot, side), space.transport(foot, side, along)
            rails.append(jax.vmap(lambda t, x=x, v=v: space.exp(x, t * v))(s))
        return {"rails": rails, "rungs": jax.vmap(rung)(*rails), "separation": jax.vmap(space.distance)(*rails)}

    return {"s": np.asarray(s), **jax.tree.map(np.asarray, draw())}


def _canvases(axes: Any, spaces: dict[str, Any]) -> dict[str, Any]:
    import jax

    # the geodesics pass the north pole: look down on them, from behind their start
    globe = Globe(axes[0], longitude=-90.0, latitude=68.0)
    axes[1].set_aspect("equal")
    axes[1].set_xlabel("x")
    axes[1].set_ylabel("y")
    axes[1].set_xlim(-1.0, 1.0)
    axes[1].set_ylim(-1.0, 1.0)
    disc = axes[2]
    disc.set_aspect("equal")
    disc.set_axis_off()
    turn = np.linspace(0, 2 * np.pi, 361)
    disc.fill(np.cos(turn), np.sin(turn), color="#F4F4F1", zorder=0)
    disc.plot(np.cos(turn), np.sin(turn), color="0.35", linewidth=1.0)
    disc.text(0.0, -1.12, "Poincaré disc", ha="center", va="top", fontsize=9, color="0.3")
    poincare = jax.vmap(spaces["H"].pictures()["poincare"])
    return {
        "S": lambda x, **how: globe.curve(x, **how),
        "E": lambda x, **how: axes[1].plot(*np.asarray(x).T, solid_capstyle="round", **how),
        "H": lambda x, **how: disc.plot(*np.asarray(poincare(x)).T, solid_capstyle="round", **how),
    }

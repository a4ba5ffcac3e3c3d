"""Thesis, Figure 2.4: the nearest point equally far from all of a ring jumps as the ring passes the equator."""

from __future__ import annotations

import numpy as np

from holonomy.show.figures.globe import Globe
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

BROWN, BLUE, RED = "#8C5A2B", OKABE_ITO[0], OKABE_ITO[1]
SHOWN = (np.radians(65.0), np.radians(90.0), np.radians(115.0))


def make() -> Reproduction:
    """Three rings, and the way of their "centre" over the ring's way from pole to pole."""
    import jax
    import jax.numpy as jnp
    from jaxtyping import Array, Float
    from matplotlib import pyplot as plt

    from holonomy.spaces import Sphere
    from holonomy.types import Scalar

    sphere = Sphere(2)
    poles = jnp.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    turn = jnp.linspace(0.0, 2.0 * jnp.pi, 73)[:-1]

    def ring(colatitude: Scalar) -> Float[Array, "points 3"]:
        return jax.vmap(lambda g: sphere.from_polar(colatitude, g))(turn)

    @jax.jit
    @jax.vmap
    def reach(colatitude: Scalar) -> Float[Array, " poles"]:
        """How far the ring is from each of the two points that are equally far from all of it."""
        points = ring(colatitude)
        return jax.vmap(lambda pole: jnp.mean(jax.vmap(sphere.distance, in_axes=(None, 0))(pole, points)))(poles)

    way = np.radians(np.linspace(5.0, 175.0, 171))
    distances = np.asarray(reach(way))
    nearer = np.where(distances[:, 0] < distances[:, 1], 0.0, np.pi)
    nearer[np.isclose(distances[:, 0], distances[:, 1])] = np.nan
    with style():
        figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), width_ratios=(1, 1, 1, 1.25))
        for axis, colatitude, title in zip(axes, SHOWN, ("a) above", "b) on the equator", "c) below"), strict=False):
            globe = Globe(axis, longitude=-60.0, latitude=12.0)
            points = np.asarray(ring(colatitude))
            globe.curve(np.vstack([points, points[:1]]), color=BROWN, linewidth=4.0)
            tie = np.isclose(colatitude, np.pi / 2)
            for pole, own in zip(np.asarray(poles), (colatitude <= np.pi / 2, colatitude >= np.pi / 2), strict=True):
                if own or tie:
                    globe.dots(pole, color=RED if tie else BLUE, markersize=11)
            axis.set_title(title, fontsize=12)
        last = axes[3]
        last.plot(np.degrees(way), np.degrees(nearer), color=BLUE, linewidth=2.6)
        last.plot([90, 90], [0, 180], "o", color=RED, markersize=8, zorder=5)
        last.plot([90, 90], [0, 180], ":", color=RED, linewidth=1.2)
        last.set_xlabel("colatitude of the ring (°)")
        last.set_ylabel("colatitude of its “centre” (°)")
        last.set_xticks([0, 45, 90, 135, 180])
        last.set_yticks([0, 45, 90, 135, 180])
        last.set_title("the centre jumps", fontsize=12)
    return Reproduction(figure, {"ring": way, "centre": nearer, "distances": distances})

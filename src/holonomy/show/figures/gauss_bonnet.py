"""Holonomy of a loop against the integral of curvature over its inside, on three surfaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

SIZES = np.linspace(0.05, 0.6, 12)
RADIAL, AROUND = 20, 64


def make() -> Reproduction:
    """Dots: the angle by which transport turns a vector; lines: the curvature inside; below: their difference."""
    from matplotlib import pyplot as plt

    found = {name: _compare(metric, centre, size) for name, (metric, centre, size) in _surfaces().items()}
    with style():
        figure, (above, below) = plt.subplots(2, 1, figsize=(7.2, 6.4), sharex=True, height_ratios=(2.2, 1))
        for (name, data), colour, marker in zip(found.items(), OKABE_ITO, "os^", strict=False):
            above.plot(SIZES, data["curvature"], color=colour, label=f"{name}: $\\int K\\,dA$")
            above.plot(SIZES, data["holonomy"], marker, color=colour, markersize=7, markerfacecolor="white")
            gap = np.abs(data["holonomy"] - data["curvature"])
            below.semilogy(SIZES, np.maximum(gap, 1e-17), marker, color=colour, markersize=6)
        above.plot([], [], "o", color="0.3", markerfacecolor="white", label="angle of holonomy")
        above.axhline(0.0, color="0.4", linewidth=0.8)
        above.set_ylabel("angle (rad)")
        above.legend(loc="lower left")
        above.set_title("Transport around a loop turns a vector by the curvature inside", fontsize=12)
        below.set_ylim(2e-18, 1e-9)
        below.axhline(1e-10, color="0.4", linewidth=0.8, linestyle=":")
        below.set_ylabel("difference (rad)")
        below.set_xlabel("size of the loop, in coordinates")
    return Reproduction(figure, {"size": SIZES, **found})


def _surfaces() -> dict[str, tuple[Callable[[Any], Any], tuple[float, float], float]]:
    import jax.numpy as jnp

    from holonomy.geometry import Embedding

    def sphere(q: Any) -> Any:
        return jnp.diag(jnp.stack([jnp.ones(()), jnp.sin(q[0]) ** 2]))

    def hyperbolic(q: Any) -> Any:
        return 4.0 / (1.0 - q @ q) ** 2 * jnp.eye(2)

    def ellipsoid(q: Any) -> Any:
        return jnp.stack([jnp.sin(q[0]) * jnp.cos(q[1]), 1.5 * jnp.sin(q[0]) * jnp.sin(q[1]), 0.6 * jnp.cos(q[0])])

    return {
        "sphere": (sphere, (1.3, 0.3), 1.0),
        "hyperbolic plane": (hyperbolic, (0.15, -0.1), 0.6),
        "ellipsoid": (Embedding(ellipsoid).metric, (1.1, 0.7), 1.0),
    }


def _compare(metric: Callable[[Any], Any], centre: tuple[float, float], scale: float) -> dict[str, np.ndarray]:
    """Holonomy and total curvature for loops of every size."""
    import jax
    import jax.numpy as jnp

    from holonomy.geometry import curvature, holonomy_angle

    nodes, weights = np.polynomial.legendre.leggauss(RADIAL)
    k = curvature(metric)

    def inside(size: Any, s: Any, angle: Any) -> Any:
        reach = scale * size * s * (1.0 + 0.2 * jnp.sin(3.0 * angle))
        return jnp.asarray(centre) + reach * jnp.stack([jnp.cos(angle), jnp.sin(angle)])

    def density(size: Any, s: Any, angle: Any) -> Any:
        jacobian = jnp.linalg.det(jax.jacfwd(lambda a: inside(size, a[0], a[1]))(jnp.stack([s, angle])))
        q = inside(size, s, angle)
        return k.gaussian(q) * jnp.sqrt(jnp.linalg.det(metric(q))) * jacobian

    @jax.jit
    @jax.vmap
    def total(size: Any) -> Any:
        angles = 2.0 * jnp.pi * jnp.arange(AROUND) / AROUND
        grid = jax.vmap(jax.vmap(density, in_axes=(None, 0, None)), in_axes=(None, None, 0))
        values = grid(size, jnp.asarray((nodes + 1) / 2), angles)
        return jnp.sum(values @ jnp.asarray(weights / 2)) * 2.0 * jnp.pi / AROUND

    @jax.jit
    @jax.vmap
    def turned(size: Any) -> Any:
        return holonomy_angle(metric, lambda t: inside(size, jnp.ones(()), 2.0 * jnp.pi * t))

    return {"holonomy": np.asarray(turned(SIZES)), "curvature": np.asarray(total(SIZES))}

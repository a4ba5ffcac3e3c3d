"""The curvature of Jacobi's metric of Hénon and Heiles's system, and how neighbours part from a motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

ENERGY = 1.0 / 6.0
START, UPWARD = (0.0, -0.15), 0.05
END = 150.0


def system() -> Any:
    """Hénon and Heiles's system."""
    from holonomy.systems import System

    return System.from_lagrangian(
        lambda t, q, v: 0.5 * (v @ v) - 0.5 * (q @ q) - q[0] ** 2 * q[1] + q[1] ** 3 / 3, coordinates=("x", "y")
    )


def start() -> tuple[np.ndarray, np.ndarray]:
    """A state of the energy 1/6 in the chaotic sea."""
    x, y = START
    kinetic = ENERGY - (x**2 + y**2) / 2 - x**2 * y + y**3 / 3
    return np.array(START), np.array([np.sqrt(2 * kinetic - UPWARD**2), UPWARD])


def make() -> Reproduction:
    """The curvature over the plane with a motion, and the growth of the Jacobi field against Lyapunov's exponent."""
    import jax
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    from holonomy.geometry.curvature import MetricCurvature
    from holonomy.motion import Gauss, simulate
    from holonomy.study import lyapunov
    from holonomy.symmetry import jacobi_metric

    found = system()
    q0, v0 = start()
    metric = jacobi_metric(found, found.energy(0.0, q0, v0))
    run = simulate(found, q0, v0, END, dt=0.05, method=Gauss(4))
    moving = metric.stability(run)
    exponent = lyapunov(found, q0, v0, END, dt=0.05, method=Gauss(4), count=1)
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 161), np.linspace(-0.65, 1.1, 141))
    grid = np.stack([x.ravel(), y.ravel()], axis=1)
    inside = np.sum(grid**2, axis=1) / 2 + grid[:, 0] ** 2 * grid[:, 1] - grid[:, 1] ** 3 / 3 < ENERGY - 1e-3
    curved = np.full(len(grid), np.nan)
    curved[inside] = np.asarray(jax.jit(jax.vmap(MetricCurvature(metric).gaussian))(grid[inside]))
    with style():
        figure = Figure(figsize=(10.5, 4.6))
        left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
        norm = LogNorm(vmin=10.0, vmax=1e5)
        picture = left.pcolormesh(x, y, curved.reshape(x.shape), cmap="viridis", norm=norm, rasterized=True)
        figure.colorbar(picture, ax=left, label="curvature of $2(E - V)g$")
        left.plot(*run.q.T, color="white", lw=0.6)
        left.set_aspect("equal")
        left.set_xlabel("$x$")
        left.set_ylabel("$y$")
        left.set_title("a motion of the energy 1/6", loc="left")
        right.plot(moving.t, moving.growth, color=OKABE_ITO[0], label="Jacobi field")
        right.plot(moving.t, exponent.largest * moving.t, color=OKABE_ITO[1], ls="--", label="Lyapunov exponent · $t$")
        right.set_xlabel("$t$")
        right.set_ylabel("logarithm of the growth")
        right.set_title("how neighbours part", loc="left")
        right.legend(loc="upper left", fontsize=9)
    data = {
        "jacobi_exponent": moving.exponent,
        "lyapunov_exponent": exponent.largest,
        "lyapunov_error": float(exponent.errors[0]),
        "least_curvature": float(np.min(moving.curvature)),
    }
    return Reproduction(figure, data)

"""Ever steeper repulsion becomes a wall: a dumbbell thrown at a floor, by forces and by reflection."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

ROD = 1.0
RADIUS = 0.2
ENERGY = 1.0
EXPONENTS = (6, 12, 24, 48, 96, 192, 384, 768)
SHOWN = (6, 12, 48)
START = np.array([0.0, 1.1, 0.9])
THROW = np.array([1.0, -1.0, -0.4])
END = 2.0


def ends(q: Any) -> Any:
    """The centres of the two balls, one per row, for a middle (x, y) and an angle."""
    import jax.numpy as jnp

    half = 0.5 * ROD * jnp.stack([jnp.cos(q[2]), jnp.sin(q[2])])
    return jnp.stack([q[:2] - half, q[:2] + half])


def dumbbell(steep: bool) -> Any:
    r"""Two unit masses on a rod above a floor, which repels each by \((r/y)^n\) or (not `steep`) is a wall at y = r."""
    import jax.numpy as jnp

    from holonomy.systems import System

    def kinetic(v: Any) -> Any:
        return v[0] ** 2 + v[1] ** 2 + 0.25 * ROD**2 * v[2] ** 2

    names = {"x": "length", "y": "length", "theta": "angle"}
    if steep:
        return System.from_lagrangian(
            lambda t, q, v, p: kinetic(v) - ENERGY * jnp.sum((RADIUS / ends(q)[:, 1]) ** p.n),
            coordinates=names,
            parameters={"n": float(EXPONENTS[0])},
        )
    free = System.from_lagrangian(lambda t, q, v: kinetic(v), coordinates=names)
    return free.constrained(unilateral=lambda t, q: ends(q)[:, 1] - RADIUS)


def make() -> Reproduction:
    """Paths of one ball for some exponents, and the distance from the reflected motion over all of them."""
    import jax
    from matplotlib.figure import Figure

    from holonomy.motion import Adaptive, simulate

    method = Adaptive(order=8, rtol=1e-12, atol=1e-12)
    hard = simulate(dumbbell(False), START, THROW, END, dt=0.01)
    soft = dumbbell(True)
    runs = {n: simulate(soft.with_parameters(n=float(n)), START, THROW, END, dt=0.01, method=method) for n in EXPONENTS}
    place = np.array([np.max(np.abs(run.q[-1] - hard.q[-1])) for run in runs.values()])
    speed = np.array([np.max(np.abs(run.v[-1] - hard.v[-1])) for run in runs.values()])
    balls = jax.jit(jax.vmap(ends))
    with style():
        figure = Figure(figsize=(10.5, 4.4))
        left, right = figure.subplots(1, 2, width_ratios=(1.4, 1))
        left.axhspan(0.0, RADIUS, color="0.9", zorder=-1)
        left.text(2.4, 0.5 * RADIUS, "closer than a ball's radius", ha="right", va="center", fontsize=9, color="0.35")
        _draw_ghosts(left, np.asarray(balls(hard.q)))
        for colour, n in zip(OKABE_ITO, SHOWN, strict=False):
            path = np.asarray(balls(runs[n].q))[:, 0]
            left.plot(path[:, 0], path[:, 1], color=colour, label=f"$n$ = {n}")
        path = np.asarray(balls(hard.q))[:, 0]
        left.plot(path[:, 0], path[:, 1], "k--", lw=1.4, label="reflection")
        left.set(aspect="equal", xlabel="$x$ (m)", ylabel="$y$ (m)", ylim=(0.0, 2.0))
        left.set_title("path of one ball, repelled by $(r/y)^n$", loc="left")
        left.legend(loc="upper left", fontsize=9)
        right.loglog(EXPONENTS, place, "o-", color=OKABE_ITO[0], label="place")
        right.loglog(EXPONENTS, speed, "s--", color=OKABE_ITO[1], mfc="none", label="velocity")
        guide = 2.0 * place[-1] * EXPONENTS[-1] / np.array(EXPONENTS, float)
        right.loglog(EXPONENTS, guide, ":", color="0.4", label="$1/n$")
        right.set(xlabel="exponent $n$", ylabel="distance from the reflected motion")
        right.set_title(f"at t = {END:g} s", loc="left")
        right.legend(fontsize=9)
    rates = {name: np.log2(e[:-1] / e[1:]).tolist() for name, e in (("place", place), ("velocity", speed))}
    return Reproduction(
        figure,
        {
            "exponents": list(EXPONENTS),
            "place": place.tolist(),
            "velocity": speed.tolist(),
            "rates": rates,
            "impacts": len(hard.events),
        },
    )


def _draw_ghosts(axes: Any, balls: np.ndarray) -> None:
    """The dumbbell of the reflected motion at a few instants."""
    from matplotlib.patches import Circle

    for k in np.linspace(0, len(balls) - 1, 6).astype(int):
        axes.plot(*balls[k].T, color="0.75", lw=1.2, zorder=0)
        for centre in balls[k]:
            axes.add_patch(Circle(tuple(centre), RADIUS, fc="0.96", ec="0.75", lw=0.8, zorder=0))

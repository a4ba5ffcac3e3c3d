"""Bodies under potentials: Kepler orbits in S^3 and H^3, and a spring pair that feels the curvature of space."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import style

NEAREST, PERIODS, STEPS = 0.3, 100, 300
RATES = {"S": (5.4, 6.8, 8.0), "H": (5.0, 5.8, 6.636)}  # of the angle at the nearest point, or the farthest


def kepler(where: str) -> Reproduction:
    """Closed orbits, and Kepler's third law: period, energy, and by how much the orbit misses after 100 periods."""
    from matplotlib import pyplot as plt

    from holonomy.motion import Splitting, simulate
    from holonomy.spaces import Hyperbolic, Sphere
    from holonomy.systems import Body, World

    space = Sphere(3) if where == "S" else Hyperbolic(3)
    world = World(space, Body([1.0]), potential=_gravity)
    begin = np.asarray(space.from_polar(NEAREST, np.pi / 2, 0.0))[None]
    data: dict[str, Any] = {"energy": [], "period": [], "missed": []}
    with style():
        figure, axis = plt.subplots(figsize=(5.5, 5.5))
        for rate in RATES[where]:
            velocity = np.asarray(world.killing_velocities(begin, rotate_xy=rate))
            period, energy = _law(where, rate)
            times = np.linspace(0.0, period, STEPS + 1)
            run = simulate(
                world,
                begin,
                velocity,
                PERIODS * period,
                dt=period / STEPS,
                method=Splitting(8),
                save_at=[*times[:-1], PERIODS * period],
            )
            x = np.asarray(run.q)
            axis.plot(x[:-1, 0], x[:-1, 1], label=f"T = {period:.4f}")
            data["energy"].append(energy)
            data["period"].append(period)
            data["missed"].append(float(np.max(np.abs(x[-1] - x[0]))))
        axis.plot(0.0, 0.0, "o", color="0.2")
        axis.set_aspect("equal")
        axis.set_xlabel("x")
        axis.set_ylabel("y")
        title = "$S^3$, potential $-\\cot r$" if where == "S" else "$H^3$, potential $-\\coth r$"
        axis.set_title(f"Kepler orbits in {title}")
        axis.legend(loc="upper right")
    return Reproduction(figure, data)


def _gravity(x: Any) -> Any:
    import jax.numpy as jnp

    return -x[3] / jnp.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2)


def _law(where: str, rate: float) -> tuple[float, float]:
    r"""Period and energy: the orbit is \(u = (1 + e\cos\varphi)/L^2\), u = cot r or coth r, and
    \(\dot\varphi = L(u^2 \pm 1)\)."""
    sine, tangent, sign = (np.sin, np.tan, 1.0) if where == "S" else (np.sinh, np.tanh, -1.0)
    momentum = rate * sine(NEAREST) ** 2
    eccentricity = momentum**2 / tangent(NEAREST) - 1.0
    angles = 2.0 * np.pi * np.arange(4000) / 4000
    u = (1.0 + eccentricity * np.cos(angles)) / momentum**2
    energy = 0.5 * (rate * sine(NEAREST)) ** 2 - 1.0 / tangent(NEAREST)
    return float(np.mean(2.0 * np.pi / (momentum * (u**2 + sign)))), float(energy)


def detector() -> Reproduction:
    """A spring pair that starts at its rest length: curvature stretches it, and it rings after the crossing."""
    from matplotlib import pyplot as plt

    from holonomy.motion import Gauss, simulate
    from holonomy.spaces import Inhomogeneous
    from holonomy.systems import Body, World

    space = Inhomogeneous(3)
    points = np.array([[-25.0, 0.5, 0.0], [-25.0, -0.5, 0.0]])
    velocities = np.array([[1.0, 0.0199361788, 0.0], [1.0, -0.0199361788, 0.0]])
    rest = float(space.distance(*points))
    world = World(space, Body([1.0, 1.0], springs=[(0, 1, 1.0, rest)]))
    times = np.linspace(0.0, 50.0, 10001)
    run = simulate(world, points, velocities, 50.0, dt=0.005, method=Gauss(3), save_at=times)
    apart, middle = run.distance(0, 1), np.asarray(run.q)[:, [0, 3]].mean(axis=1)
    crossing = float(np.interp(0.0, middle[: int(np.argmax(middle > 0)) + 1], times[: int(np.argmax(middle > 0)) + 1]))
    with style():
        figure, axis = plt.subplots(figsize=(7.5, 4.0))
        axis.plot(times, apart)
        axis.axvline(crossing, color="0.6", linewidth=1.0)
        axis.set_xlabel("t")
        axis.set_ylabel("separation")
        axis.set_title("A spring pair crosses the curved region")
    data = {"t": times, "separation": apart, "rest": rest, "crossing": crossing, "peak": float(np.max(apart))}
    return Reproduction(figure, data)

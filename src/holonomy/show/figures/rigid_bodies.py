"""Thesis, Figures 2.16, 2.20, 2.21: multipliers of the rigid rod and triangle in H^3 and S^3; why rs2 got worse."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import style

END = 10.0
STEPS = (0.1, 0.01, 0.001)
_LEAST = 1e-17  # drawn in place of an error of zero


def multipliers(
    shape: str, *stages: str, steps: tuple[float, ...] = STEPS, end: float = END, spaces: str = "HS"
) -> Reproduction:
    """The largest error of the multipliers as time goes on, by Radau with these stages and by Rattle(6).

    Fewer `steps`, another `end` or one of the `spaces` make a shorter form of the figure.
    """
    from matplotlib import pyplot as plt

    from holonomy.motion import Radau, Rattle
    from holonomy.show.figures import body_examples as bodies

    times = np.linspace(0.0, end, 101)[1:]
    data: dict[str, Any] = {"t": times}
    with style():
        size = (5.0 * len(spaces), 3.6 * len(stages))
        figure, grid = plt.subplots(len(stages), len(spaces), figsize=size, sharey=True, squeeze=False)
        for row, count in zip(grid, stages, strict=True):
            for axis, where in zip(row, spaces, strict=True):
                for dt in steps:
                    name = f"Radau({count}), dt = {dt:g}"
                    data[f"{where} {name}"] = _errors(where, shape, times, dt, Radau(int(count)))
                    axis.semilogy(times, np.maximum(data[f"{where} {name}"], _LEAST), label=name)
                name = "Rattle(6), dt = 0.05"
                data[f"{where} {name}"] = _errors(where, shape, times, 0.05, Rattle(6))
                axis.semilogy(times, np.maximum(data[f"{where} {name}"], _LEAST), label=name, color="0.4")
                axis.set_title(f"{bodies.TITLES[where]}: rigid {shape}")
                axis.set_xlabel("t")
            row[0].set_ylabel("largest error of a multiplier")
            row[-1].legend(fontsize=8)
    return Reproduction(figure, data)


def _errors(where: str, shape: str, times: np.ndarray, dt: float, method: Any) -> np.ndarray:
    from holonomy.motion import simulate
    from holonomy.show.figures import body_examples as bodies

    across = -0.5 * np.sinh(1.0) if where == "H" else 0.5 * np.sin(1.0)
    truth = np.zeros(len(bodies.SIDES[shape]))
    truth[-1] = across
    begin = bodies.start(where, shape)
    run = simulate(bodies.rigid_world(where, shape), *begin, float(times[-1]), dt=dt, method=method, save_at=times)
    return np.max(np.abs(run.multipliers - truth), axis=1)


def oddity() -> Reproduction:
    """Two stages of Radau with conditions at the end of the step, solved to a fixed tolerance and to round-off."""
    from matplotlib import pyplot as plt

    from holonomy.show.figures.fixed_tolerance import worst_multiplier

    counts = [2**k * 10 for k in range(3, 10)]
    q, v = np.array([np.sin(1.0), -np.cos(1.0)]), np.zeros(2)
    data: dict[str, Any] = {"dt": [1.0 / n for n in counts]}
    with style():
        figure, axis = plt.subplots(figsize=(7.2, 4.6))
        for tolerance in (1e-6, 1e-9, 1e-12, None):
            name = "to round-off" if tolerance is None else f"tolerance {tolerance:g}"
            data[name] = [worst_multiplier(q, v, 1.0, n, tolerance) for n in counts]
            axis.loglog(data["dt"], data[name], marker="o", label=name)
        axis.set_xlabel("dt")
        axis.set_ylabel("largest error of the multiplier at the end of a step")
        axis.set_title("Two-stage Radau on a circle: a fixed tolerance spoils small steps", fontsize=12)
        axis.legend()
    return Reproduction(figure, data)

"""Thesis, Figures 2.13 to 2.15 and 2.17 to 2.19: elastic rod and triangle in H^3 and S^3, in both coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import style

END = 10.0
STEPS = (0.1, 0.05, 0.02, 0.01, 0.005)
ROUGH = "the same, by arccosh and arccos"
METHODS = ("Gauss(1) polar", "Gauss(2) polar", "Gauss(3) polar", "Splitting(8)")


def separations(shape: str) -> Reproduction:
    """Sides as functions of time, by Splitting(8) and by the reduced equations."""
    from matplotlib import pyplot as plt

    from holonomy.motion import Splitting
    from holonomy.show.figures import body_examples as bodies

    times = np.linspace(0.0, END, 401)
    data: dict[str, Any] = {"t": times}
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.0), sharex=True)
        for axis, where in zip(axes, bodies.SPACES, strict=True):
            run = bodies.moved(where, shape, times, 0.025, Splitting(8))
            truth = bodies.exact(where, shape, times)
            for name, (i, j) in bodies.SIDES[shape].items():
                found = run.distance(i, j)
                axis.plot(times, found, label=name)
                data[f"{where} {name}"] = found
                data[f"{where} {name} error"] = float(np.max(np.abs(found - truth[name])))
            axis.set_title(f"{bodies.TITLES[where]}: the {shape} in a Killing flow")
            axis.set_xlabel("t")
            axis.set_ylabel("separation")
            axis.legend()
    return Reproduction(figure, data)


def orders(shape: str) -> Reproduction:
    """The error of a side at t = 10 for steps of Gauss in polar coordinates and of the splitting of order 8."""
    from matplotlib import pyplot as plt

    from holonomy.show.figures import body_examples as bodies

    times = np.array([0.0, END])
    side = list(bodies.SIDES[shape])[-1]
    data: dict[str, Any] = {"dt": list(STEPS), "side": side}
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.2), sharey=True)
        for axis, where in zip(axes, bodies.SPACES, strict=True):
            truth = bodies.exact(where, shape, times)[side][-1]
            for name in METHODS:
                errors = []
                for dt in STEPS:
                    run = bodies.moved(where, shape, times, dt, _method(name), "polar" in name)
                    errors.append(abs(float(run.distance(*bodies.SIDES[shape][side])[-1]) - float(truth)))
                axis.loglog(STEPS, np.maximum(errors, 1e-16), marker="o", label=name)
                data[f"{where} {name}"] = errors
            axis.set_title(f"{bodies.TITLES[where]}: {shape}, side {side}")
            axis.set_xlabel("dt")
        axes[0].set_ylabel("error at t = 10")
        axes[0].legend()
    return Reproduction(figure, data)


def errors(shape: str) -> Reproduction:
    """The error of a side as time goes on, at one step, in polar coordinates and with the body kept near the origin."""
    from matplotlib import pyplot as plt

    from holonomy.show.figures import body_examples as bodies

    times = np.linspace(0.0, 20.0, 201)
    side = list(bodies.SIDES[shape])[-1]
    data: dict[str, Any] = {"t": times, "dt": 0.01, "side": side}
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.2), sharey=True)
        for axis, where in zip(axes, bodies.SPACES, strict=True):
            truth = bodies.exact(where, shape, times)[side]
            for name in ("Gauss(3) polar", "Splitting(8)"):
                run = bodies.moved(where, shape, times, 0.01, _method(name), "polar" in name)
                found = np.abs(run.distance(*bodies.SIDES[shape][side]) / truth - 1.0)
                axis.semilogy(times, np.maximum(found, 1e-17), label=name)
                data[f"{where} {name}"] = found
                if "polar" in name:
                    rough = bodies.by_inner_products(run, where, *bodies.SIDES[shape][side])
                    data[f"{where} {ROUGH}"] = np.abs(rough / truth - 1.0)
                    axis.semilogy(times, np.maximum(data[f"{where} {ROUGH}"], 1e-17), label=ROUGH, linewidth=0.8)
            axis.set_title(f"{bodies.TITLES[where]}: {shape}, side {side}")
            axis.set_xlabel("t")
        axes[0].set_ylabel("relative error")
        axes[1].legend(loc="upper left")
    return Reproduction(figure, data)


def _method(name: str) -> Any:
    from holonomy.motion.methods.by_name import method_by_name

    return method_by_name(name.removesuffix(" polar"))

"""Four ways to one motion, and how far apart they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures.linkage_geodesics import BASE, reference
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

END, STEP, SAVED = 10.0, 0.0025, 201


def make() -> Reproduction:
    """Above: the largest distance of a hinge from where an integration to round-off has it; below: the energy."""
    from matplotlib.figure import Figure

    from holonomy.models import Linkage
    from holonomy.motion import RK4, Rattle, simulate

    link = Linkage(4, BASE)
    x, v = reference(link)
    times = np.linspace(0, END, SAVED)
    exact = np.stack([np.asarray(link.hinges(p / np.linalg.norm(p))) for p in np.asarray(link.geodesic(x, v, times))])
    data: dict[str, Any] = {"times": times}
    for route in ("sphere", "chart", "embedding", "rods"):
        system, method = link.system(route), Rattle(4) if route == "rods" else RK4()
        run = simulate(system, *link.state(route, x, v), END, dt=STEP, method=method, save_at=times)
        gap = np.linalg.norm(system.places(run.t, run.q) - exact, axis=2).max(axis=1)
        data[route] = {"divergence": gap, "energy": np.abs(run.energy - run.energy[0]) / run.energy[0]}
    with style():
        figure = Figure(figsize=(8.4, 6.2))
        above, below = figure.subplots(2, 1, sharex=True)
        for k, route in enumerate(("sphere", "chart", "embedding", "rods")):
            method = "Rattle(4)" if route == "rods" else "RK4"
            for axes, what in ((above, "divergence"), (below, "energy")):
                axes.semilogy(
                    times, np.maximum(data[route][what], 1e-17), color=OKABE_ITO[k], label=f"{route}: {method}"
                )
        above.set_ylabel("distance from the exact motion")
        below.set_ylabel("relative energy error")
        below.set_xlabel("time")
        above.legend(fontsize=9, loc="lower right")
        above.set_title(f"Four routes to one free motion, steps of {STEP:g}, order 4", loc="left")
    return Reproduction(figure, data)

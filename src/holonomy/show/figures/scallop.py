"""The scallop theorem: with one joint a swimmer comes back, with two it gets on."""

from __future__ import annotations

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

STROKES = 4


def make() -> Reproduction:
    """Along x over time: a scallop that opens and closes, and Purcell's swimmer moving its two joints in turn."""
    from matplotlib.figure import Figure

    from holonomy.locomotion import Gait, perform
    from holonomy.models import Purcell, links

    cases = {
        "scallop, one joint": (links([0.5, 0.5]), Gait.fourier([0.8], [[0.0]], [[0.7]])),
        "Purcell, two joints": (Purcell(length=1 / 3), Gait.ellipse(0.0, [1.2, -1.2], angle=np.pi / 4)),
    }
    data: dict[str, np.ndarray] = {}
    with style():
        figure = Figure(figsize=(7.2, 4.2))
        axes = figure.subplots()
        for (name, (mover, gait)), colour in zip(cases.items(), (OKABE_ITO[1], OKABE_ITO[0]), strict=True):
            found = perform(mover, gait)
            path = np.asarray(found.path)
            moved, times = _repeated(path), np.linspace(0, STROKES, STROKES * (len(path) - 1) + 1)
            axes.plot(times, moved, color=colour, label=name)
            data[name] = np.asarray(found.displacement)
        axes.set_xlabel("strokes")
        axes.set_ylabel("$x$ of the body frame, lengths of the swimmer")
        axes.set_title("What is undone in the same way moves nothing", fontsize=12)
        axes.legend()
    return Reproduction(figure, data)


def _repeated(path: np.ndarray) -> np.ndarray:
    """x over several strokes, each beginning where the one before ended."""
    x, place, heading = [path[0, 0]], np.zeros(2), 0.0
    for _ in range(STROKES):
        c, s = np.cos(heading), np.sin(heading)
        x += list(place[0] + c * path[1:, 0] - s * path[1:, 1])
        place = place + np.array([[c, -s], [s, c]]) @ path[-1, :2]
        heading += path[-1, 2]
    return np.array(x)

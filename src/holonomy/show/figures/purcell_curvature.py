"""The height functions of Purcell's swimmer, with the stroke known as most efficient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holonomy.show.figures import shape_space
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import style

if TYPE_CHECKING:
    from holonomy.locomotion import Gait

# Coefficients of cos kt and sin kt in coordinates turned by 45 degrees, k = 1, 3, 5.
STROKE = (
    (1.495398722861924, 1.326600886340017),
    (0.083253854456986, 0.089227148110158),
    (-0.034695750579259, -0.044759551791058),
)


def make() -> Reproduction:
    """Minus the curvature along x, y and the turn; displacement exact, and by the integrals of the curvature."""
    from matplotlib.figure import Figure

    from holonomy.locomotion import body_velocity_integrals, perform
    from holonomy.models import Purcell

    swimmer, gait = Purcell(length=1 / 3), stroke()
    found, estimate = perform(swimmer, gait), body_velocity_integrals(swimmer, gait)
    with style():
        figure = Figure(figsize=(12.6, 4.2))
        for k, (axes, name) in enumerate(zip(figure.subplots(1, 3), ("along $x$", "along $y$", "turn"), strict=True)):
            image = shape_space.paint(axes, swimmer, (-2.5, -2.5), (2.5, 2.5), k)
            figure.colorbar(image, ax=axes, shrink=0.85)
            shape_space.loop(axes, gait, "0.1")
            axes.set_aspect("equal")
            axes.set_title(f"$-B$, {name}")
        moved = np.hypot(*found.displacement[:2])
        figure.suptitle(
            f"Purcell's swimmer of length 1: the stroke known as most efficient moves it by {moved:.6f}", fontsize=12
        )
    return Reproduction(
        figure,
        {
            "displacement": np.asarray(found.displacement),
            "integral of the curvature": estimate.plain,
            "the same in minimum-perturbation coordinates": estimate.corrected,
            "length": float(found.length),
            "efficiency": float(found.efficiency),
        },
    )


def stroke() -> Gait:
    """The known stroke as a gait."""
    from holonomy.locomotion import Gait

    turn = np.sqrt(0.5) * np.array([[1.0, -1.0], [1.0, 1.0]])
    cosines, sines = np.zeros((5, 2)), np.zeros((5, 2))
    for k, (a, b) in zip((1, 3, 5), STROKE, strict=True):
        cosines[k - 1], sines[k - 1] = turn @ [a, 0.0], -turn @ [0.0, b]
    return Gait.fourier([0.0, 0.0], cosines, sines)

"""A body of three masses swims by its curvature: displacement of one cycle over the curvature of the space."""

from __future__ import annotations

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import OKABE_ITO, style

CURVATURES = np.array([-1.0, -0.6, -0.3, -0.1, 0.1, 0.3, 0.6, 1.0])


def make() -> Reproduction:
    """Dots: one cycle on spheres and hyperbolic planes; line: proportional to the curvature."""
    from matplotlib.figure import Figure

    from holonomy.locomotion import Gait, perform
    from holonomy.models import curved_body
    from holonomy.spaces import Euclidean, Hyperbolic, Sphere

    cycle = Gait.fourier([1.0, 1.0], [[0.3, 0.0]], [[0.0, 0.4]])

    def moved(k: float) -> float:
        space = Euclidean(2) if k == 0 else (Sphere if k > 0 else Hyperbolic)(2, radius=abs(k) ** -0.5)
        return float(perform(curved_body(space), cycle).displacement[0])

    found = np.array([moved(k) for k in CURVATURES])
    flat = moved(0.0)
    slope = (found[4] - found[3]) / (CURVATURES[4] - CURVATURES[3])
    with style():
        figure = Figure(figsize=(6.8, 4.4))
        axes = figure.subplots()
        axes.plot([-1, 1], [-slope, slope], color="0.5", linewidth=1.0, label="linear in the curvature")
        axes.plot(CURVATURES, found, "o", color=OKABE_ITO[0], label="one cycle of shapes")
        axes.plot(0.0, flat, "s", color=OKABE_ITO[1], label="in the plane")
        axes.set_xlabel("Gaussian curvature of the space")
        axes.set_ylabel("displacement along the axis")
        axes.set_title("Swimming with momentum zero, by curvature alone", fontsize=12)
        axes.legend()
    return Reproduction(figure, {"curvature": CURVATURES, "displacement": found, "in the plane": flat, "slope": slope})

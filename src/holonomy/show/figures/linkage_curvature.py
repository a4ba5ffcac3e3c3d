"""Gaussian curvature and total bending of the configurations of four rods, for three lengths of the base."""

from __future__ import annotations

from typing import Any

import numpy as np

from holonomy.show.figures import linkage_draw as draw
from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import style

BASES = (2.2, 3.0, 3.8)


def make() -> Reproduction:
    """Above K, below |II|², for L = 2.2, 3 and 3.8 with unit hinge masses."""
    from holonomy.models import Linkage

    return panels([(f"$L$ = {base:g}", Linkage(4, base)) for base in BASES], "unit hinge masses, massless rods")


def panels(cases: list[tuple[str, Any]], title: str) -> Reproduction:
    """K and |II|² on the sphere for each linkage, with the range of both and the integral of K."""
    from matplotlib.colors import PowerNorm, TwoSlopeNorm
    from matplotlib.figure import Figure

    points, inside = draw.visible()
    data: dict[str, Any] = {}
    with style():
        figure = Figure(figsize=(10.2, 6.9))
        axes = figure.subplots(2, len(cases))
        for column, (name, link) in enumerate(cases):
            k, bending = (np.asarray(a) for a in link.fields(points))
            every = np.concatenate([k, np.asarray(link.fields(-points)[0])])
            low, high = float(every.min()), float(every.max())
            norm = TwoSlopeNorm(0.0, low if low < 0 else -high, high)
            above = draw.paint(axes[0, column], k, inside, cmap="RdBu_r", norm=norm)
            below = draw.paint(axes[1, column], bending, inside, cmap="viridis", norm=PowerNorm(0.5))
            axes[0, column].set_title(f"{name}:  $K$", pad=10)
            axes[1, column].set_title(r"$|II|^2$", pad=10)
            bar = figure.colorbar(above, ax=axes[0, column], shrink=0.75)
            bar.set_ticks([low, 0.0, high] if low < 0 else [0.0, high])
            bar.ax.set_ylim(min(low, 0.0), high)
            bar.ax.yaxis.set_major_formatter("{x:.2f}")
            figure.colorbar(below, ax=axes[1, column], shrink=0.75)
            data[name] = {"K": [low, high], "bending": [float(bending.min()), float(bending.max())]}
            data[name]["total curvature / 4 pi"] = link.total_curvature() / (4 * np.pi)
        figure.suptitle(f"Configurations of four rods, {title}; negative curvature on its own scale", fontsize=12)
    return Reproduction(figure, data)

"""Colours and rules that every picture shares."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from holonomy.viewer.palette import OKABE_ITO as OKABE_ITO

_RULES = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "axes.titlesize": 11,
    "axes.labelsize": 11,
    "font.size": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "figure.dpi": 110,
    "savefig.dpi": 150,
}


@contextmanager
def style(*, layout: bool = True) -> Generator[None]:
    """Okabe–Ito colours, light grid, no box; for the figures made inside. `layout` fits labels into the figure."""
    import matplotlib as mpl
    from cycler import cycler

    rules: Any = {**_RULES, "axes.prop_cycle": cycler(color=OKABE_ITO), "figure.constrained_layout.use": layout}
    with mpl.rc_context(rules):
        yield

"""Colours and rules that every picture shares."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from holonomy.viewer.palette import OKABE_ITO as OKABE_ITO
from holonomy.viewer.palette import Palette

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
    "figure.max_open_warning": 0,
}


@contextmanager
def style(*, layout: bool = True, palette: Palette | None = None) -> Generator[None]:
    """Okabe–Ito colours, light grid, no box; for the figures made inside. `layout` fits labels into the figure.

    With a palette the background, text and lines have its colours, which are those of the studio.
    """
    import matplotlib as mpl
    from cycler import cycler

    colours = OKABE_ITO if palette is None else palette.bodies
    rules: Any = {**_RULES, "axes.prop_cycle": cycler(color=colours), "figure.constrained_layout.use": layout}
    if palette is not None:
        rules |= _coloured(palette)
    with mpl.rc_context(rules):
        yield


def _coloured(palette: Palette) -> dict[str, Any]:
    ink = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.labelcolor", "ytick.labelcolor")
    lines = ("axes.edgecolor", "xtick.color", "ytick.color")
    paper = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    rules = dict.fromkeys(ink, palette.ink) | dict.fromkeys(lines, palette.faint) | dict.fromkeys(paper, palette.paper)
    return rules | {"grid.color": palette.line, "grid.alpha": 0.7}

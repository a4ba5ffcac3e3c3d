"""A batch as a figure: its members as a fan of lines, or their quantiles at each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from holonomy import notation
from holonomy.show.labels import above_right, label_of, symbol_of, unit_of, values
from holonomy.show.thin import kept
from holonomy.viewer.palette import Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holonomy.motion import Run

_FEW = 24  # members of which each is drawn unless quantiles are asked for
_MOST_LINES = 200  # members that a fan draws, evenly taken of all
_PANELS = 4  # coordinates that the overview shows
_BANDS = ((0.05, 0.95, 0.18), (0.25, 0.75, 0.32))  # quantiles, and how dense the band between them is


def overview(run: Run, palette: Palette, wrap: bool, spread: Literal["fan", "quantiles"] | None) -> Figure:
    """The first coordinates of all members over time, each in a panel."""
    from holonomy.show.figure import new_figure

    names = list(run.names[:_PANELS])
    figure = new_figure(7.2, 1.6 + 1.7 * len(names))
    panels: Any = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, names, strict=True):
        over_time(panel, run, [name], palette, wrap, spread)
    for panel in panels[1:]:
        if panel.get_legend() is not None:
            panel.get_legend().remove()
    for panel in panels[:-1]:
        panel.set_xlabel("")
    said = f"{len(run.t)} members, {run.provenance.method}, dt = {run.dt:.4g} s"
    figure.suptitle(said, x=0.01, ha="left", fontsize=11)
    return figure


def over_time(
    axes: Axes,
    run: Run,
    names: list[str],
    palette: Palette,
    wrap: bool,
    spread: Literal["fan", "quantiles"] | None,
) -> None:
    """Variables of all members over time. `spread` None draws few members one by one, and quantiles of many."""
    fan = spread == "fan" or (spread is None and len(run.t) <= _FEW)
    for k, name in enumerate(names):
        colour = palette.bodies[k % len(palette.bodies)]
        if fan:
            _fan(axes, run, name, wrap, colour, symbol_of(name))
        else:
            _quantiles(axes, run, name, colour, f"{symbol_of(name)}, " if len(names) > 1 else "")
    units = {unit_of(run, name) for name in names}
    axes.set_ylabel(label_of(run, names[0]) if len(names) == 1 else f"({units.pop()})" if len(units) == 1 else "")
    axes.set_xlabel(f"${notation.QUANTITIES['time'].symbol}$ ({notation.QUANTITIES['time'].unit})")
    if len(names) > 1 or not fan:
        above_right(axes, 3)


def _fan(axes: Axes, run: Run, name: str, wrap: bool, colour: str, label: str) -> None:
    t = np.asarray(run.t, float)
    shown = np.unique(np.linspace(0, len(t) - 1, min(len(t), _MOST_LINES)).round().astype(int))
    dense = float(np.clip(8 / len(shown), 0.12, 0.8))
    found = values(run, name, wrap)
    for k in shown:
        rows = kept(found[k])
        first = label if k == shown[0] else None
        axes.plot(t[k, rows], found[k, rows], color=colour, alpha=dense, linewidth=1.0, label=first)


def _quantiles(axes: Axes, run: Run, name: str, colour: str, label: str) -> None:
    """The median and two bands; an angle is not wrapped, since quantiles belong to numbers on a line."""
    found, t = values(run, name, False), np.asarray(run.t, float)
    known = ~np.all(np.isnan(found), axis=0)
    found, t = found[:, known], np.nanmax(t[:, known], axis=0)
    for low, high, dense in _BANDS:
        band = np.nanquantile(found, (low, high), axis=0)
        said = f"{label}{low:.0%} to {high:.0%}"
        axes.fill_between(t, *band, color=colour, alpha=dense, linewidth=0, label=said)
    axes.plot(t, np.nanmedian(found, axis=0), color=colour, linewidth=1.8, label=f"{label}median")

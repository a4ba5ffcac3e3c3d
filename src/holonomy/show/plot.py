"""A run as a figure: what moved, how well the energy was kept, and where the particles went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from holonomy import notation
from holonomy.extras import require
from holonomy.motion.run.positions import places
from holonomy.show import batch_plot
from holonomy.show.known import shade
from holonomy.show.labels import above_right, label_of, symbol_of, unit_of, values
from holonomy.show.style import style
from holonomy.show.thin import is_long, kept, scattered
from holonomy.viewer.palette import DARK, LIGHT, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holonomy.motion import Run

_MOST_NAMED = 8  # coordinates that a legend names
_ERRORS = ("constraint_error", "velocity_error")


def plot(
    run: Run,
    *names: str | Sequence[str],
    ax: Axes | None = None,
    dark: bool = False,
    wrap: bool = True,
    points: bool = False,
    spread: Literal["fan", "quantiles"] | None = None,
) -> Figure:
    """See `Run.plot`. Needs matplotlib, which the extra `plot` brings."""
    if not np.size(run.t):
        raise ValueError("The run saved no state, so there is nothing to plot.")
    asked = _checked(names, spread)
    require("plot", "run.plot()")
    from holonomy.show.figure import new_figure

    palette = DARK if dark else LIGHT
    batch = np.ndim(run.t) > 1
    if np.ndim(run.t) > 2:
        raise ValueError("A picture shows one run or one batch; of a batch of batches take run[0].")
    with style(palette=palette):
        if not asked and ax is None:
            return batch_plot.overview(run, palette, wrap, spread) if batch else _overview(run, palette, wrap)
        if ax is None:
            figure = new_figure(6.5, 4.2) if len(asked) < 2 else new_figure(5.6, 4.8)
            axes: Any = figure.add_subplot(projection="3d" if len(asked) == 3 else None)
        else:
            axes = ax
        if len(asked) < 2:
            over = list(asked[0]) if asked else list(run.names)
            batch_plot.over_time(axes, run, over, palette, wrap, spread) if batch else _over_time(axes, run, over, wrap)
        else:
            _against(axes, run, [name for group in asked for name in group], wrap, points)
    return axes.figure


def _checked(names: tuple[Any, ...], spread: Any) -> list[tuple[str, ...]]:
    """The names as groups: one of several over time, or two or three of one each."""
    groups = [(one,) if isinstance(one, str) else tuple(one) for one in names]
    if len(groups) > 3 or (len(groups) > 1 and any(len(group) != 1 for group in groups)):
        raise ValueError(
            "run.plot takes one variable or a list of them to draw over time, two to draw the second over the first, "
            f"or three for a curve in space; got {', '.join(map(repr, names))}."
        )
    if spread not in (None, "fan", "quantiles"):
        raise ValueError(f"spread is 'fan' or 'quantiles'; got {spread!r}.")
    return groups


def _overview(run: Run, palette: Palette, wrap: bool) -> Figure:
    from holonomy.show.figure import new_figure

    picture = _picture(run)
    constrained = bool(np.shape(run.multipliers)[-1])
    figure = new_figure(6.5 if picture is None else 10.5, 7.0 if constrained else 5.6)
    rows = 3 if constrained else 2
    grid = figure.add_gridspec(rows, 1 if picture is None else 2, height_ratios=(2, 1, 1)[:rows])
    upper = figure.add_subplot(grid[0, 0])
    _over_time(upper, run, list(run.names), wrap)
    figure.suptitle(f"{run.provenance.method_and_properties}, dt = {run.dt:.4g} s", x=0.01, ha="left", fontsize=11)
    panels = [upper, figure.add_subplot(grid[1, 0], sharex=upper)]
    _energy(panels[1], run, palette)
    if constrained:
        panels.append(figure.add_subplot(grid[2, 0], sharex=upper))
        _over_time(panels[2], run, list(_ERRORS), wrap)
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)
        panel.set_xlabel("")
    if picture is not None:
        x, note = picture
        _paths(figure, grid[:, 1], x, "" if note else notation.KINDS["length"].unit)
    return figure


def _picture(run: Run) -> tuple[np.ndarray, str] | None:
    """The places of the particles, of a long run only some of them, and a note about them."""
    if run.drawn is not None:
        return np.asarray(run.drawn.x), run.drawn.note
    if run.system is None:
        return None
    q = np.asarray(run.q, float)
    rows = scattered(*q.T[:_MOST_NAMED])
    return places(run.system, np.asarray(run.t)[rows], q[rows])


def _over_time(axes: Axes, run: Run, names: list[str], wrap: bool) -> None:
    t = np.asarray(run.t, float)
    logarithmic = all(name in _ERRORS for name in names)
    for k, name in enumerate(names):
        value = values(run, name, wrap)
        if logarithmic:
            value = np.where(value > 0, value, np.nan)
        rows = kept(value)
        axes.plot(t[rows], value[rows], label=symbol_of(name) if k < _MOST_NAMED else None)
    units = {unit_of(run, name) for name in names}
    unit = f" ({next(iter(units))})" if len(units) == 1 and units != {""} else ""
    if logarithmic:
        axes.set_yscale("log")
        axes.set_ylabel("error")
    else:
        what = "coordinates" if names == list(run.names) else ""
        axes.set_ylabel((what if len(names) > 1 else symbol_of(names[0])) + unit)
    axes.set_xlabel(label_of(run, "t"))
    if not logarithmic:
        shade(axes, run)
    if len(names) > 1:
        above_right(axes, len(names))


def _curve(axes: Any, columns: list[np.ndarray], **look: Any) -> Any:
    """A curve in the plane or in space; of a long one some points, which joined by lines would be another curve."""
    if not is_long(len(columns[0])):
        return axes.plot(*columns, **look)[0]
    rows = scattered(*columns)
    return axes.plot(*(c[rows] for c in columns), **look | {"marker": ",", "linestyle": ""})[0]


def _against(axes: Any, run: Run, names: list[str], wrap: bool, points: bool) -> None:
    """The second variable over the first, or three as a curve in space; of a batch, a curve for each member."""
    columns = [values(run, name, wrap) for name in names]
    single = np.ndim(run.t) == 1
    for k in range(1 if single else len(run.t)):
        own = columns if single else [column[k] for column in columns]
        look: dict[str, Any] = {"linewidth": 1.2} if single else {"linewidth": 0.7, "alpha": 0.5, "color": "C0"}
        if points:
            look |= {"marker": ".", "linestyle": "", "markersize": 3}
        _curve(axes, own, **look)
    for axis, name in zip("xyz", names):
        getattr(axes, f"set_{axis}label")(label_of(run, name))
    lengths = {unit_of(run, name) for name in names} == {notation.KINDS["length"].unit}
    if lengths and len(names) == 2:
        axes.set_aspect("equal", adjustable="datalim")


def _energy(axes: Axes, run: Run, palette: Palette) -> None:
    energy = np.asarray(run.energy)
    conserved = run.provenance.conservative
    value = energy - energy[0] if conserved else energy
    rows = kept(value)
    axes.plot(np.asarray(run.t)[rows], value[rows], color=palette.ink, linewidth=1.1)
    energy_of = notation.QUANTITIES["total"]
    letter = energy_of.symbol
    axes.set_ylabel(f"${f'{letter}(t) - {letter}(0)' if conserved else letter}$ ({energy_of.unit})")
    axes.set_xlabel(label_of(run, "t"))


def _paths(figure: Figure, place: Any, places: np.ndarray, unit: str) -> None:
    three = places.shape[2] == 3
    axes: Any = figure.add_subplot(place, projection="3d" if three else None)
    for i in range(places.shape[1]):
        columns = [places[:, i, k] for k in range(min(places.shape[2], 3))]
        if len(columns) == 1:
            columns.append(np.zeros_like(columns[0]))
        line = _curve(axes, columns, linewidth=0.9, alpha=0.75)
        axes.plot(*(c[-1:] for c in columns), "o", color=line.get_color(), markersize=7)
    for axis in "xyz"[: 3 if three else 2]:
        getattr(axes, f"set_{axis}label")(f"${axis}$" + (f" ({unit})" if unit else ""))
    if three:
        axes.set_box_aspect(np.maximum(np.ptp(places.reshape(-1, 3), axis=0), 1e-9))
    else:
        axes.set_aspect("equal", adjustable="datalim")
    axes.set_title("paths of the particles", loc="left")

"""A run as a figure: what moved, how well the energy was kept, and where the particles went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from holonomy import notation
from holonomy.extras import require
from holonomy.show.style import OKABE_ITO, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holonomy.motion import Run


def plot(run: Run, *, wrap: bool = True) -> Figure:
    """The coordinates over time, the energy's error, and the particles' paths where positions are known.

    `wrap` shows angles in (−π, π]; the run itself never wraps them. Needs matplotlib, which the extra `plot` brings.
    """
    if len(run.t) == 0:
        raise ValueError("The run saved no state, so there is nothing to plot.")
    require("plot", "run.plot()")
    from matplotlib.figure import Figure

    places = positions(run)
    with style():
        figure = Figure(figsize=(10.5 if places is not None else 6.5, 5.6))
        grid = figure.add_gridspec(2, 2 if places is not None else 1, height_ratios=(2, 1))
        upper = figure.add_subplot(grid[0, 0])
        _coordinates(upper, run, wrap)
        _energy(figure.add_subplot(grid[1, 0], sharex=upper), run)
        if places is not None:
            _paths(figure, grid[:, 1], places)
    return figure


def positions(run: Run) -> np.ndarray | None:
    """Positions of the particles at the saved times (times, particles, d), or None where they are not known."""
    if run.drawn is not None:
        return np.asarray(run.drawn.x)
    if run.system is None or run.system.positions is None:
        return None
    return run.system.places(run.t, run.q)


def wrapped(angle: np.ndarray) -> np.ndarray:
    """The angle in (−π, π], with a gap where it jumps so that a line does not cross the picture."""
    folded = np.pi - np.mod(np.pi - angle, 2 * np.pi)
    jump = np.abs(np.diff(folded)) > np.pi
    folded[1:][jump] = np.nan
    return folded


def _coordinates(axes: Axes, run: Run, wrap: bool) -> None:
    kinds = set(run.kinds)
    for i, (name, kind) in enumerate(zip(run.names, run.kinds, strict=True)):
        value = np.array(run.q[:, i])
        axes.plot(run.t, wrapped(value) if wrap and kind == "angle" else value, label=f"${notation.latex(name)}$")
    unit = notation.KINDS[kinds.pop()].unit if len(kinds) == 1 else ""
    axes.set_ylabel("coordinates" + (f" ({unit})" if unit else ""))
    axes.tick_params(labelbottom=False)
    axes.legend(ncols=min(4, len(run.names)), loc="best")
    axes.set_title(f"{run.provenance.method_and_properties}, dt = {run.dt:.4g} s", loc="left")


def _energy(axes: Axes, run: Run) -> None:
    energy = np.asarray(run.energy)
    conserved = run.provenance.conservative
    value = energy - energy[0] if conserved else energy
    axes.plot(run.t, value, color=OKABE_ITO[6], linewidth=1.1)
    energy_of, time = notation.QUANTITIES["total"], notation.QUANTITIES["time"]
    letter = energy_of.symbol
    axes.set_ylabel(f"${f'{letter}(t) - {letter}(0)' if conserved else letter}$ ({energy_of.unit})")
    axes.set_xlabel(f"${time.symbol}$ ({time.unit})")


def _paths(figure: Figure, place: Any, places: np.ndarray) -> None:
    three = places.shape[2] == 3
    axes: Any = figure.add_subplot(place, projection="3d" if three else None)
    for i in range(places.shape[1]):
        columns = [places[:, i, k] for k in range(min(places.shape[2], 3))]
        if len(columns) == 1:
            columns.append(np.zeros_like(columns[0]))
        axes.plot(*columns, color=OKABE_ITO[i % 8], linewidth=0.9, alpha=0.75)
        axes.plot(*(c[-1:] for c in columns), "o", color=OKABE_ITO[i % 8], markersize=7)
    unit = notation.KINDS["length"].unit
    axes.set_xlabel(f"$x$ ({unit})")
    axes.set_ylabel(f"$y$ ({unit})")
    if three:
        axes.set_zlabel(f"$z$ ({unit})")
        axes.set_box_aspect(np.maximum(np.ptp(places.reshape(-1, 3), axis=0), 1e-9))
    else:
        axes.set_aspect("equal", adjustable="datalim")
    axes.set_title("paths of the particles", loc="left")

r"""Pictures of an analysis: the motion, a phase portrait, constraint forces, and equilibria over a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy import notation
from holonomy.show.analysis.energy import time_free
from holonomy.show.analysis.statements import say
from holonomy.show.analysis.statics import at_rest
from holonomy.show.figure import new_figure
from holonomy.show.labels import above_right, label_of, symbol_of, wrapped
from holonomy.show.style import style
from holonomy.symmetry.energy_function import energy_value
from holonomy.systems import System
from holonomy.systems.quantities import ambient_acceleration
from holonomy.viewer.palette import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIDE: Final = 121
"""Rows and columns of the grid of a phase portrait."""
_LEVELS: Final = 16
_VALUES: Final = 41
"""Values of a parameter at which equilibria are looked for."""
_MARKS: Final = {"stable": ("o", True), "unstable": ("o", False), "undecided": ("D", False)}
"""The sign of each kind of equilibrium, and whether it is filled."""


def figures(system: System, run: hl.Run, over: tuple[str, float, float] | None = None) -> dict[str, Figure]:
    """The pictures of a system and of a run by their names, and its equilibria `over` a parameter, first to last."""
    found: dict[str, Figure] = {}
    if len(run.t) > 1 and np.all(np.isfinite(run.q)):
        found["motion"] = run.plot()
        if len(system.names) == 1 and system.flat and not system.constraints.equations.total:
            found["phase"] = phase_portrait(system, run)
        if np.shape(run.multipliers)[-1]:
            found["multipliers"] = multipliers(run)
    if over is not None:
        name, first, last = over
        found["equilibria"] = bifurcation(system, np.asarray(run.q)[0], name, np.linspace(first, last, _VALUES))
    return found


def phase_portrait(system: System, run: hl.Run) -> Figure:
    """The plane of a coordinate and its rate, with the motion of the run over what holds of all motions.

    Where h is conserved these are curves of constant h. Elsewhere they would be curves that every motion crosses, so
    trajectories are drawn, or where the system depends on the time its directions of motion at the first time. The
    label of the figure says which.
    """
    energy, t = hl.energy_function(system), float(run.t[0])
    fixed = time_free(system, energy)
    name, kind = system.names[0], system.coordinates[0].kind
    q, v = np.asarray(run.q)[:, 0], np.asarray(run.v)[:, 0]
    turns = kind == "angle"
    middle, width = (0.0, np.pi) if turns else (0.5 * (q.min() + q.max()), 0.55 * np.ptp(q))
    width = width or max(abs(middle), 1.0)
    height = 1.6 * float(np.max(np.abs(v))) or 1.0
    sides = np.linspace(middle - width, middle + width, _SIDE), np.linspace(-height, height, _SIDE)
    across, up = np.meshgrid(*sides)
    with style(palette=LIGHT):
        figure = new_figure(6.0, 4.9)
        axes: Any = figure.add_subplot()
        if energy.conserved or (fixed and not system.forces):  # then only impacts change h
            said = "portrait with walls" if system.constraints.walls.unilateral else "portrait of motions"
            levels = _grid(lambda x, w: energy_value(system, jnp.asarray(t), x[None], w[None]), across, up)
            seen = np.where(np.isfinite(levels), levels, np.nan)
            wanted = np.unique(np.nanpercentile(seen, np.linspace(1, 99, _LEVELS)))
            axes.contour(across, up, seen, wanted, colors=LIGHT.faint, linestyles="solid")
        else:
            said = "portrait of trajectories" if fixed else "portrait at a time"
            pull = _grid(lambda x, w: ambient_acceleration(system, jnp.asarray(t), x[None], w[None])[0], across, up)
            axes.streamplot(*sides, up, np.where(np.isfinite(pull), pull, np.nan), color=LIGHT.faint, linewidth=0.9)
        axes.plot(wrapped(q) if turns else q, v)
        axes.set_xlim(sides[0][0], sides[0][-1])
        axes.set_ylim(-height, height)
        axes.set_xlabel(label_of(run, name))
        axes.set_ylabel(label_of(run, f"{name}_dot"))
        words = say(said, time=f"{t:g}")
        axes.set_title(words)
        figure.set_label(words)
    return figure


def _grid(function: Any, across: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The values of a function of a position and a velocity at the points of a grid."""
    values = jax.jit(jax.vmap(function))(jnp.asarray(across.ravel()), jnp.asarray(up.ravel()))
    return np.asarray(values).reshape(across.shape)


def multipliers(run: hl.Run) -> Figure:
    """The multipliers of the constraints over time."""
    rows = np.asarray(run.multipliers)
    with style(palette=LIGHT):
        figure = new_figure(6.5, 3.6)
        axes = figure.add_subplot()
        for k, row in enumerate(rows.T, 1):
            axes.plot(run.t, row, label=f"$\\lambda_{{{k}}}$")
        axes.set_xlabel(label_of(run, "t"))
        axes.set_ylabel("multipliers of the constraints")
        above_right(axes, rows.shape[1])
    return figure


def bifurcation(system: System, q: np.ndarray, name: str, values: Sequence[float] | np.ndarray) -> Figure:
    """The equilibria over the values of a parameter, one panel for each coordinate: filled where they are stable."""
    places: dict[str, list[tuple[float, np.ndarray]]] = {kind: [] for kind in _MARKS}
    near: list[np.ndarray] = []
    for value in values:
        found = at_rest(system.with_parameters({name: float(value)}), q, near)
        near = [one.q for one in found]
        for one in found:
            places[one.stability].append((float(value), one.q))
    with style(palette=LIGHT):
        count = len(system.names)
        figure = new_figure(6.5, 1.0 + 2.6 * count)
        panels: Any = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
        for i, (axes, coordinate) in enumerate(zip(panels, system.coordinates, strict=True)):
            for k, (kind, (sign, filled)) in enumerate(_MARKS.items()):
                if not places[kind]:
                    continue
                x, y = np.array([value for value, _ in places[kind]]), np.array([at[i] for _, at in places[kind]])
                if coordinate.kind == "angle":
                    y = y - 2 * np.pi * np.round(y / (2 * np.pi) - 1e-9)
                look: dict[str, Any] = {"color": LIGHT.bodies[k], "marker": sign, "linestyle": "", "label": kind}
                axes.plot(x, y, markersize=4.5, markerfacecolor=None if filled else "none", **look)
            unit = notation.KINDS[coordinate.kind].unit
            axes.set_ylabel(symbol_of(coordinate.name) + (f" ({unit})" if unit else ""))
        panels[-1].set_xlabel(symbol_of(name))
        above_right(panels[0], len(_MARKS))
    return figure

r"""Pictures of an analysis: the motion, a phase portrait, constraint forces, and equilibria over a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy import notation
from holonomy.show.analysis.statics import at_rest
from holonomy.show.figure import new_figure
from holonomy.show.labels import above_right, label_of, symbol_of
from holonomy.show.style import style
from holonomy.systems import System
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
        if len(system.names) == 1 and system.flat and system.autonomous and not system.forces:
            found["phase"] = phase_portrait(system, run)
        if np.shape(run.multipliers)[-1]:
            found["multipliers"] = multipliers(run)
    if over is not None:
        name, first, last = over
        found["equilibria"] = bifurcation(system, np.asarray(run.q)[0], name, np.linspace(first, last, _VALUES))
    return found


def phase_portrait(system: System, run: hl.Run) -> Figure:
    """Curves of constant energy in the plane of a coordinate and its rate, with the motion of the run."""
    name, kind = system.names[0], system.coordinates[0].kind
    q, v = np.asarray(run.q)[:, 0], np.asarray(run.v)[:, 0]
    middle, width = (0.0, np.pi) if kind == "angle" else (0.5 * (q.min() + q.max()), max(np.ptp(q), 1e-3))
    height = 1.6 * max(float(np.max(np.abs(v))), 1e-3)
    across, up = np.meshgrid(np.linspace(middle - width, middle + width, _SIDE), np.linspace(-height, height, _SIDE))
    energy = jax.jit(jax.vmap(lambda x, w: system.energy(0.0, x[None], w[None])))
    levels = np.asarray(energy(jnp.asarray(across.ravel()), jnp.asarray(up.ravel()))).reshape(across.shape)
    with style(palette=LIGHT):
        figure = new_figure(6.0, 4.6)
        axes: Any = figure.add_subplot()
        seen = np.where(np.isfinite(levels), levels, np.nan)
        axes.contour(across, up, seen, np.nanpercentile(seen, np.linspace(1, 99, _LEVELS)), colors=LIGHT.faint)
        turned = q - 2 * np.pi * np.round(q / (2 * np.pi)) if kind == "angle" else q
        turned = np.where(np.abs(np.diff(turned, prepend=turned[0])) > np.pi, np.nan, turned)
        axes.plot(turned, v)
        axes.set_xlabel(label_of(run, name))
        axes.set_ylabel(label_of(run, f"{name}_dot"))
    return figure


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

"""The variables of a run as pictures show them: values, symbols and units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holonomy import notation
from holonomy.motion.run.select import by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from holonomy.motion import Run


def above_right(axes: Axes, count: int) -> None:
    """A legend above the axes, at the right end, where it covers no line."""
    axes.legend(ncols=min(4, count), loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1)


def wrapped(angle: np.ndarray) -> np.ndarray:
    """The angle in (−π, π], with a gap where it jumps so that a line does not cross the picture."""
    outside = (angle <= -np.pi) | (angle > np.pi)
    folded = np.where(outside, np.pi - np.mod(np.pi - angle, 2 * np.pi), angle)
    jump = np.abs(np.diff(folded)) > np.pi
    folded[..., 1:][jump] = np.nan
    return folded


def values(run: Run, name: str, wrap: bool) -> np.ndarray:
    """A variable of a run, an angle in (−π, π] where `wrap` asks for it."""
    found = np.array(by_name(run, name), float)
    kind = dict(zip(run.names, run.kinds)).get(name)
    return wrapped(found) if wrap and kind == "angle" else found


def unit_of(run: Run, name: str) -> str:
    """The unit of a variable."""
    kinds = dict(zip(run.names, run.kinds))
    if name in kinds:
        return notation.KINDS[kinds[name]].unit
    rates = {f"{c}_dot": kind for c, kind in kinds.items()}
    rates |= {"omega" + c.removeprefix("theta"): kind for c, kind in kinds.items() if c.startswith("theta")}
    if name in rates:
        return notation.KINDS[rates[name]].rate_unit
    if name in ("energy", "kinetic"):
        return notation.QUANTITIES["total"].unit
    if name == "t":
        return notation.QUANTITIES["time"].unit
    return notation.KINDS["length"].unit if name.rstrip("0123456789") in ("x", "y", "z") else ""


def symbol_of(name: str) -> str:
    """A variable as mathematics."""
    words = {"constraint_error": "constraints", "velocity_error": "velocity constraints"}
    letters = {"energy": notation.QUANTITIES["total"].symbol, "kinetic": notation.QUANTITIES["kinetic"].symbol}
    if name in words:
        return words[name]
    if name.endswith("_dot"):
        return f"$\\dot{{{notation.latex(name.removesuffix('_dot'))}}}$"
    return f"${letters.get(name) or notation.latex(name)}$"


def label_of(run: Run, name: str) -> str:
    """A variable with its unit, as an axis is labelled."""
    unit = unit_of(run, name)
    return symbol_of(name) + (f" ({unit})" if unit else "")

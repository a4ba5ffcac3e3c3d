"""The time from which on a run is one of many possible motions, marked in pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holonomy.motion.run.known_until import growth_along

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from holonomy.motion import Run

SAID = "one of many possible motions"
"""What pictures say of the states after that time."""


def known_until(run: Run) -> float | None:
    """The time after which errors of rounding are no longer small; None where there is none in the run."""
    found = None if np.ndim(run.t) > 1 else growth_along(run)
    return found.known_until if found is not None and found.reason else None


def shade(axes: Axes, run: Run) -> None:
    """Shade what follows that time on axes over the time."""
    since = known_until(run)
    if since is None:
        return
    end = float(run.t[-1])
    axes.axvspan(since, end, color="0.5", alpha=0.15, linewidth=0, zorder=0)
    axes.axvline(since, color="0.5", linewidth=1.0, linestyle=(0, (3, 3)), zorder=0.5)
    if abs(end - since) > _WIDE * abs(end - float(run.t[0])):
        middle = 0.5 * (since + end)
        axes.text(middle, 0.02, SAID, transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=8)


_WIDE = 0.35  # part of the run that the words take

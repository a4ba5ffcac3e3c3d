"""The time from which on a run is one of many possible motions, marked in pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holonomy.motion.run.known_until import noise_from

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from holonomy.motion import Run

SAID = "one of many possible motions"
"""What pictures say of the states after that time."""


def shade(axes: Axes, run: Run) -> None:
    """Shade what follows that time on axes over the time."""
    since = noise_from(run)
    if since is None:
        return
    end = float(run.t[-1])
    axes.axvspan(since, end, color="0.5", alpha=0.15, linewidth=0, zorder=0)
    axes.axvline(since, color="0.5", linewidth=1.0, linestyle=(0, (3, 3)), zorder=0.5)
    if abs(end - since) > _WIDE * abs(end - float(run.t[0])):
        middle = 0.5 * (since + end)
        axes.text(middle, 0.02, SAID, transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=8)


_WIDE = 0.35  # part of the run that the words take

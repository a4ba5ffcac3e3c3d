"""A matplotlib figure that shows itself in a notebook, once."""

from __future__ import annotations

import io
import sys
from typing import Any

from matplotlib.figure import Figure

_SHARPNESS = 2  # pixels of a picture for one of the page


class ShownFigure(Figure):
    """A figure that a notebook shows as a PNG picture and that `matplotlib.pyplot.show` shows where pyplot is used."""

    def _repr_png_(self) -> bytes:
        memory = io.BytesIO()
        self.savefig(memory, format="png", dpi=_SHARPNESS * self.dpi)
        return memory.getvalue()

    def _ipython_display_(self) -> None:
        from IPython.display import Image, display

        display(Image(self._repr_png_(), width=round(self.get_figwidth() * self.dpi)))
        # pyplot would show the figures that it still knows a second time at the end of the cell
        pyplot: Any = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            pyplot.close(self)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, known to pyplot where the program has imported it."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return ShownFigure(figsize=(width, height))
    return pyplot.figure(FigureClass=ShownFigure, figsize=(width, height))

"""A scene's whole analysis as a document, with plots of its motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import holonomy as hl
from holonomy.scene.build_system import Built
from holonomy.scene.errors import SceneError, suggestion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_analysis(
    built: Built, path: Path, name: str, *, over: tuple[str, float, float] | None = None, force: bool = False
) -> list[Path]:
    """Write everything that can be said of a scene's system and of the motion from its start.

    **Arguments:** `path`, whose ending says the format (.md, .html, .tex); `name`, the title of a scene without one;
    `over`, a parameter and its first and last value, between which the equilibria are drawn. Returns the files.
    **Raises** `SceneError` for another ending, a file that is there already, unless `force`, and an unknown parameter.
    """
    from holonomy.show.analysis import FORMATS, analyse, write

    if path.suffix not in FORMATS:
        raise SceneError(f"the analysis is written as {', '.join(FORMATS)}; got {path.name}.", source="--out")
    if path.exists() and not force:
        raise SceneError(f'"{path}" is there already; write over it with --force.', source="--out")
    setup = built.setup
    if over is not None and not isinstance(setup.parameters.get(over[0]), float):
        numbers = [key for key, value in setup.parameters.items() if isinstance(value, float)]
        raise SceneError(
            f"the scene has no such parameter{suggestion(over[0][:64], numbers)}", f"--over {over[0][:64]}"
        )
    items = analyse(built.system, setup.q, setup.v, setup.t)
    figures = _figures(built, over)
    try:
        return write(path, setup.scene.title or name, items, figures)
    finally:
        _close(figures)


def _figures(built: Built, over: tuple[str, float, float] | None) -> dict[str, Figure]:
    """Pictures of the motion, as far as it can be computed, and of equilibria."""
    from holonomy.show.analysis.figures import figures

    return figures(built.system, hl.simulate(built.system, **built.arguments, throw=False), over)


def _close(figures: dict[str, Figure]) -> None:
    import matplotlib.pyplot as plt

    for figure in figures.values():
        plt.close(figure)

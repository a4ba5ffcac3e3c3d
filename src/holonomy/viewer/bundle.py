"""The viewer that notebooks and exported pages carry: one script and one style sheet, built from frontend/."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PLAYER = Path(__file__).parents[1] / "studio" / "static" / "player"


class Bundle(NamedTuple):
    """The viewer's script, an ECMAScript module, and its style sheet, with its fonts inside."""

    script: str
    style: str


def bundle(folder: Path = PLAYER) -> Bundle:
    """The viewer, from the package's own files."""
    script, style = folder / "player.js", folder / "player.css"
    if not (script.is_file() and style.is_file()):
        raise FileNotFoundError(
            "The viewer's pages are not built, so nothing can be shown. In a checkout run `make pages`; an installed "
            "holonomy has them, so install it again if they are missing there."
        )
    return Bundle(script.read_text(encoding="utf-8"), style.read_text(encoding="utf-8"))

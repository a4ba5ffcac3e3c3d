"""One palette for Python and the frontend."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holonomy.show import style
from holonomy.viewer import palette
from holonomy.viewer.page import PAGE_STYLE

FRONTEND = Path(__file__).parents[2] / "frontend"


@pytest.mark.parametrize("name", palette.WRITTEN)
def test_the_written_files_are_current(name: str) -> None:
    written = (palette.FRONTEND / name).read_text(encoding="utf-8")
    assert written == palette.WRITTEN[name](), "run `python -m holonomy.viewer.palette`"


def test_no_other_file_of_the_frontend_names_a_colour() -> None:
    """Black and white, which are put on any colour, aside."""
    files = [f for f in (FRONTEND / "src").rglob("*") if f.suffix in (".ts", ".tsx", ".css")]
    assert len(files) > 40
    named = {
        (f.name, colour)
        for f in files
        if f.name not in palette.WRITTEN
        for colour in re.findall(r"#[0-9a-fA-F]{6}\b", f.read_text(encoding="utf-8"))
    }
    assert {pair for pair in named if pair[1] not in ("#000000", "#ffffff")} == set()


def test_figures_and_exported_pages_use_the_palette() -> None:
    assert style.OKABE_ITO is palette.OKABE_ITO
    page = set(re.findall(r"#[0-9a-f]{6}\b", PAGE_STYLE))
    both = (palette.LIGHT, palette.DARK)
    assert page == {getattr(p, name) for p in both for name in ("paper", "ink", "faint")}


def test_text_can_be_read_on_its_background() -> None:
    """Contrast of at least 4.5 : 1, as WCAG 2.2 asks of text."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    for p in (palette.LIGHT, palette.DARK):
        for ground in (p.paper, p.margin):
            for text in (p.ink, p.faint, p.accent, p.warning):
                low, high = sorted([luminance(text), luminance(ground)])
                assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)

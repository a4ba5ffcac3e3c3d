"""The page on tracing lists what there is."""

from __future__ import annotations

from pathlib import Path

from holonomy.trace.lowering import primitive_table

PAGE = Path(__file__).parents[2] / "docs" / "trace.md"


def test_the_page_lists_the_supported_primitives() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert primitive_table.START in page
    assert primitive_table.updated(page) == page, "the table in docs/trace.md is old; write table.updated(page) to it"

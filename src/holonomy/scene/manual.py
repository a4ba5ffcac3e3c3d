"""The tables of `docs/scenes.md` and the table of methods in `docs/motion.md`, made from the code.

`python -m holonomy.scene.manual docs/scenes.md` brings a file up to date; a test says when it is not.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable
from pathlib import Path

from holonomy.method_table import TABLE
from holonomy.models import catalogue
from holonomy.notation import QUANTITIES
from holonomy.scene.forms import doc_of, form_of
from holonomy.scene.functions import CONSTANTS, FUNCTIONS
from holonomy.scene.spec import (
    METHODS,
    BodyChoice,
    Ensemble,
    EventChoice,
    Initial,
    MethodChoice,
    ModelChoice,
    Motion,
    Outputs,
    Scene,
    SpaceChoice,
)


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [headings, tuple("---" for _ in headings), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def keys(record: type) -> str:
    """The keys of a table of the format."""
    rows = [(f"`{field.name}`", _short(form_of(field).words()), doc_of(field)) for field in dataclasses.fields(record)]
    return _table(("key", "value", "meaning"), rows)


def _short(words: str) -> str:
    """The words of a form without the lists that the text around the tables gives anyway, formulas as code."""
    short = re.sub(r" \([^()]*, [^()]*\)|(?<=a table) with the keys .*", "", words)
    return re.sub(r'"[^"]+"', r"`\g<0>`", short)


def functions() -> str:
    """The functions and constants of formulas."""
    rows = [(f"`{f.name}`", f.arguments(), f.meaning) for f in FUNCTIONS.values()]
    rows += [(f"`{name}`", "constant", meaning) for name, (_, meaning) in CONSTANTS.items()]
    return _table(("name", "takes", "meaning"), rows)


def methods() -> str:
    """The methods and their options."""
    rows = [
        (f"`{row.name}`", f"`hl.{row.maker}`", ", ".join(f"`{x}`" for x in row.options) or "–", row.summary)
        for row in METHODS.values()
    ]
    return _table(("method", "in Python", "options", "what it is"), rows)


def table_of_methods() -> str:
    """All methods with their orders and what they keep, for the page about motion."""
    rows = [
        (
            f"`{row.written}`",
            row.order,
            row.keeps,
            " and ".join(row.holds) or "–",
            row.use,
        )
        for row in TABLE
    ]
    return _table(("method", "order", "what it keeps", "constraints it holds", "use it for"), rows)


def models() -> str:
    """The named models."""
    rows = []
    for model in catalogue():
        parameters = ", ".join(f"`{p.name}` {p.meaning}" for p in model.parameters)
        rows.append(
            (f"`{model.name}`", model.summary, ", ".join(f"`{name}`" for name in model.coordinates), parameters)
        )
    return _table(("model", "what it is", "coordinates", "parameters"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "scene": lambda: keys(Scene),
    "model": lambda: keys(ModelChoice),
    "space": lambda: keys(SpaceChoice),
    "body": lambda: keys(BodyChoice),
    "event": lambda: keys(EventChoice),
    "ensemble": lambda: keys(Ensemble),
    "initial": lambda: keys(Initial),
    "motion": lambda: keys(Motion),
    "method": lambda: keys(MethodChoice),
    "outputs": lambda: keys(Outputs),
    "functions": functions,
    "methods": methods,
    "models": models,
}
"""Each table of the page about scenes by its name in the markers around it."""


def quantities() -> str:
    """Symbols and units of quantities, for the page about notation."""
    rows = [(q.symbol, q.meaning, q.unit or "–", f"`{name}`") for name, q in QUANTITIES.items()]
    return _table(("symbol", "meaning", "unit", "name"), rows)


ELSEWHERE: dict[str, Callable[[], str]] = {"table_of_methods": table_of_methods, "quantities": quantities}
"""Tables of other pages, likewise."""


def renewed(text: str) -> str:
    """A page with the tables between its markers `<!-- table: NAME -->` and `<!-- end -->` as they should be."""

    def table(match: re.Match[str]) -> str:
        return f"<!-- table: {match[1]} -->\n\n{(TABLES | ELSEWHERE)[match[1]]()}\n\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->.*?<!-- end -->", table, text, flags=re.DOTALL)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")

"""The reference has every public name, and its formulas are written in one notation that the site sets."""

import ast
import re
from pathlib import Path

import holonomy as hl

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference"


def test_every_public_name_is_in_the_reference() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES.glob("*.md"))
    documented = set(re.findall(r"^::: holonomy\.(\w+)$", text, re.MULTILINE))
    assert set(hl.__all__) - documented == {"__version__"}
    assert "`holonomy.__version__`" in text
    assert documented <= set(hl.__all__)


def test_every_public_name_of_geometry_is_in_the_reference() -> None:
    (members,) = re.findall(r"members: \[(.*)\]", (PAGES / "geometry.md").read_text(encoding="utf-8"))
    public = {name for name, value in vars(hl.geometry).items() if not name.startswith("_") and callable(value)}
    assert set(members.split(", ")) == public


def docstrings() -> list[tuple[str, str]]:
    """Every docstring of the package, with where it stands."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (f"{path.name}: {getattr(node, 'name', 'module')}", text)
        for path in sorted((ROOT / "src" / "holonomy").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, kinds) and (text := ast.get_docstring(node))
    ]


def test_formulas_in_docstrings_stand_between_backslashes_and_brackets() -> None:
    texts = docstrings()
    assert sum(r"\(" in text for _, text in texts) > 200
    assert [where for where, text in texts if re.search(r"\$\S[^$`\n]*\$", text)] == []
    assert [where for where, text in texts if text.count(r"\(") != text.count(r"\)")] == []


def test_displayed_formulas_are_paragraphs() -> None:
    """A displayed formula inside a paragraph is not seen by the site's Markdown."""
    for where, text in docstrings():
        for paragraph in re.split(r"\n\s*\n", text):
            if r"\[" in paragraph:
                assert re.fullmatch(r"\\\[((?!\\\[).)*\\\]", paragraph.strip(), re.DOTALL), where

"""Every sentence that the studio can send to a page has its German in the page's table, `frontend/src/languages`."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import holonomy.studio
from holonomy.studio.labs import all_labs
from holonomy.studio.labs.base import AbstractLab

PACKAGE: Final = Path(holonomy.studio.__file__).parent
TABLES: Final = Path(__file__).resolve().parents[2] / "frontend" / "src" / "languages"
SAYS: Final = {"Refusal", "Refused", "Announced", "Stopped", "refusal"}
"""Calls whose first argument is told to the user."""
SAYS_IN_LABS: Final = SAYS | {"ValueError"}
"""What a lab's search or compilation raises is told, too."""
SHOWN: Final = {"label", "title", "note", "summary", "group", "sentence"}
"""Fields of views that are shown."""
NAMES: Final = {"PushMePullYou", "Snakeboard", "Jacobi", "Klein", "Poincaré", "RATTLE", "Runge–Kutta"}
"""The same in every language."""


def german() -> set[str]:
    """The English keys of the table."""
    entry = re.compile(r'^\s*(?:"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|(\w+)):', re.MULTILINE)
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(TABLES.glob("de*.ts")))
    found = (next(filter(None, match.groups())) for match in entry.finditer(text))
    return {re.sub(r"\\(.)", r"\1", key) for key in found}


KEYS: Final = german()
PATTERNS: Final = [
    re.compile("(.*?)".join(map(re.escape, key.split("{}"))), re.DOTALL)
    for key in sorted(KEYS, key=lambda key: -len(key.replace("{}", "")))
    if "{}" in key
]


def is_known(text: str) -> bool:
    """Whether the page finds German for all parts of a text, as `translated` of `words.ts` does; symbols need none."""
    if text in KEYS or text in NAMES or not re.search("[A-Za-z]{3}", text) or text[:1].upper() + text[1:] in KEYS:
        return True
    for pattern in PATTERNS:
        if found := pattern.fullmatch(text):
            return all(map(is_known, found.groups()))
    numbered = re.fullmatch(r"(.*\D) \d+", text, re.DOTALL)
    return numbered is not None and numbered[1] in KEYS


def spelled(node: ast.expr, constants: dict[str, str]) -> str | None:
    """The text of a string in a program, with {} for what is put in; None for what is no string."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(spelled(part, constants) or "{}" for part in parts)
        case ast.Name(name):
            return constants.get(name)
        case _:
            return None


def sentences(path: Path) -> Iterator[str]:
    """The sentences that a file hands to a page. Those of the Workbench begin with a capital letter there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants: dict[str, str] = {}
    for statement in tree.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(name), value=ast.Constant(str(text))):
                constants[name] = text
            case _:
                pass
    says = SAYS_IN_LABS if "labs" in path.parts else SAYS
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        text = spelled(node.args[0], constants) if name in says else None
        if text is not None:
            yield text[:1].upper() + text[1:]


def shown(view: Any) -> Iterator[str]:
    """The texts of a view and of all views in it."""
    if dataclasses.is_dataclass(view):
        for field in dataclasses.fields(view):
            value = getattr(view, field.name)
            if isinstance(value, str) and field.name in SHOWN and type(view).__name__ != "PlotView":
                yield value
            yield from shown(value)
    elif isinstance(view, tuple):
        for item in view:
            yield from shown(item)


def test_refusals_and_announcements():
    """Every sentence in the studio's code, found there."""
    found = {text for path in PACKAGE.rglob("*.py") for text in sentences(path)}
    assert len(found) > 70
    assert sorted(text for text in found if not is_known(text)) == []


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_labs(lab: AbstractLab):
    """Labels, notes and summaries of every preset, and what the home page says."""
    descriptor = lab.descriptor
    texts = {descriptor.title, descriptor.sentence, descriptor.hint}
    for preset in descriptor.presets:
        texts |= {preset.label, preset.note, *shown(lab.view(lab.completed(preset.settings), 1))}
    assert len(texts) > 30
    assert sorted(text for text in texts if not is_known(text)) == []


def test_a_sentence_without_german_is_found():
    """The check can fail."""
    assert not is_known("A sentence, of which no table knows anything.")
    assert is_known("Tension of link 12 of the ghost")

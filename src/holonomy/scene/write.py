"""A scene back as TOML: what a saved run remembers of where it came from, and what an editor or the studio exports."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from holonomy.scene.expression import Expression, Number
from holonomy.scene.spec import Scene

_TABLES = ("forces", "damping", "events", "coordinates", "parameters", "let", "initial", "motion", "ensemble",
           "outputs")  # fmt: skip


def dumps(scene: Scene) -> str:
    """The scene as TOML text that `loads` reads back as an equal scene; keys at their defaults are left out."""
    lines: list[str] = []
    tables: list[str] = []
    for name, value in _given(scene).items():
        if name in _TABLES and isinstance(value, dict):
            tables += ["", f"[{name}]", *(f"{key} = {_text(part)}" for key, part in value.items())]
        else:
            lines.append(f"{name} = {_text(value)}")
    return "\n".join([*lines, *tables, ""])


def _given(record: Any) -> dict[str, Any]:
    """The fields of a record that are not at their defaults, records inside as tables."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        factory = field.default_factory
        default = factory() if factory is not dataclasses.MISSING else field.default
        if value != default:
            found[field.name] = _given(value) if _is_record(value) else value
    return found


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, Expression)


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case Expression(text, tree):
            return text if isinstance(tree, Number) and text == repr(tree.value) else _quoted(text)
        case tuple():
            return "[" + ", ".join(map(_text, value)) + "]"
        case Mapping():
            return "{ " + ", ".join(f"{key} = {_text(part)}" for key, part in value.items()) + " }"
        case _ if _is_record(value):
            return _text(_given(value))
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""The JSON Schema of scenes, for editors that complete and check TOML; made from the dataclasses of `spec.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holonomy.scene.forms import Record
from holonomy.scene.spec import Scene

FILE = Path(__file__).with_name("scene.schema.json")
"""The schema as shipped, for `#:schema` comments in scene files; `holonomy schema` prints what it must be."""


def schema() -> dict[str, Any]:
    """The schema: every key with its form and meaning, and which keys make a system together."""
    own = {"lagrangian", "positions", "masses", "potential", "coordinates", "let"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Holonomy scene",
        "description": "A mechanical system, a start, a motion and what to keep of it.",
        **Record(Scene).schema(),
        "oneOf": [
            {"required": ["model"], **_without(*sorted(own))},
            {
                "required": ["lagrangian", "coordinates", "initial", "motion"],
                **_without("model", "masses", "potential"),
            },
            {
                "required": ["positions", "masses", "coordinates", "initial", "motion"],
                **_without("model", "lagrangian"),
            },
        ],
    }


def _without(*keys: str) -> dict[str, Any]:
    return {"properties": dict.fromkeys(keys, False)}


def text() -> str:
    """The schema as the text of a file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"

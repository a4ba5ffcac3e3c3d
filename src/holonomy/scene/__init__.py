"""Scene files: a system, a start, a motion and its outputs as TOML, with formulas that are never executed as Python.

`load(path)` and `loads(text)` read a `Scene` and check it whole, `dumps(scene)` writes one; `build(scene)` makes the
`hl.System` and the arguments of `hl.simulate`; `perform(scene, folder, stem)` runs it and writes its files. Reading
imports no JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import SceneError
from .json_schema import schema
from .reading import changed, from_table, load, loads
from .resolution import Setup, resolve
from .spec import Scene
from .writing import dumps

if TYPE_CHECKING:
    from .assembly import Built as Built
    from .assembly import build as build
    from .performance import Performance as Performance
    from .performance import perform as perform

_LATER = {"Built": "assembly", "build": "assembly", "Performance": "performance", "perform": "performance"}

__all__ = [
    "Built", "Performance", "Scene", "SceneError", "Setup", "build", "changed", "dumps", "from_table", "load", "loads",
    "perform", "resolve", "schema",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f"holonomy.scene.{_LATER[name]}"), name)
    raise AttributeError(f"holonomy.scene has no public name {name!r}")

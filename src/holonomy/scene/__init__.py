"""Scene files: a system, a start, a motion and its outputs as TOML, with formulas that are never executed as Python.

`load(path)` and `loads(text)` read a `Scene` and check it whole; `build(scene)` makes the `hl.System` and the
arguments of `hl.simulate`; `perform(scene, folder)` runs it and writes its files. Reading imports no JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import SceneError
from .load import changed, from_table, load, loads
from .resolve import Setup, resolve
from .schema import schema
from .spec import Scene

if TYPE_CHECKING:
    from .build import Built as Built
    from .build import build as build
    from .perform import Performance as Performance
    from .perform import perform as perform

_LATER = {"Built": "build", "build": "build", "Performance": "perform", "perform": "perform"}

__all__ = [
    "Built", "Performance", "Scene", "SceneError", "Setup", "build", "changed", "from_table", "load", "loads",
    "perform", "resolve", "schema",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f"holonomy.scene.{_LATER[name]}"), name)
    raise AttributeError(f"holonomy.scene has no public name {name!r}")

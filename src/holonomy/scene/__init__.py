"""Scene files: a system, a start, a motion and its outputs as TOML, with formulas that are never executed as Python.

`load(path)` and `loads(text)` read a `Scene` and check it whole, `dumps(scene)` writes one; `build(scene)` makes the
`hl.System` and the arguments of `hl.simulate`; `perform(scene, folder, stem)` runs it and writes its files. Reading
imports no JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holonomy.scene.errors import SceneError
from holonomy.scene.json_schema import schema
from holonomy.scene.read import changed, from_table, load, loads
from holonomy.scene.resolve import Setup, resolve
from holonomy.scene.spec import Scene
from holonomy.scene.write import dumps

if TYPE_CHECKING:
    from holonomy.scene.build_system import Built as Built
    from holonomy.scene.build_system import build as build
    from holonomy.scene.run import Performance as Performance
    from holonomy.scene.run import perform as perform

_LATER = {"Built": "build_system", "build": "build_system", "Performance": "run", "perform": "run"}

__all__ = [
    "Built", "Performance", "Scene", "SceneError", "Setup", "build", "changed", "dumps", "from_table", "load", "loads",
    "perform", "resolve", "schema",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f"holonomy.scene.{_LATER[name]}"), name)
    raise AttributeError(f"holonomy.scene has no public name {name!r}")

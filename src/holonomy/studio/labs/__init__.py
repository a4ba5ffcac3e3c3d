"""The labs. Each is a module, usually a folder of this package, that holds one object `LAB`; see `labs/base.py`."""

from __future__ import annotations

import importlib
from typing import Final

from holonomy.studio.labs.base import AbstractLab

_MODULES: Final = [
    "holonomy.studio.labs.pendulum",
    "holonomy.studio.labs.linkage",
    "holonomy.studio.labs.curved",
    "holonomy.studio.labs.swimmer",
    "holonomy.studio.labs.workbench",
]
"""In the order in which the page lists them."""


def register(module: str) -> None:
    """Add a lab of another package to those of the studio, by the name of the module that holds its `LAB`.

    The studio imports that module in the server and in the processes that compile, so all of them must find it.
    """
    if module not in _MODULES:
        load(module)
        _MODULES.append(module)


def unregister(module: str) -> None:
    """Take back `register`."""
    _MODULES.remove(module)


def load(module: str) -> AbstractLab:
    """The lab that a module holds."""
    found = getattr(importlib.import_module(module), "LAB", None)
    if not isinstance(found, AbstractLab):
        raise TypeError(
            f"The module {module} holds no lab: it needs an object LAB of a class derived from AbstractLab."
        )
    return found


def all_labs() -> tuple[AbstractLab, ...]:
    """One object per lab, shared by all users: labs hold no user's state."""
    return tuple(load(module) for module in _MODULES)


def module_of(name: str) -> str:
    """The module of the lab of that name."""
    return {load(module).name: module for module in _MODULES}[name]

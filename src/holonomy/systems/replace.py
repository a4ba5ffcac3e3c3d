"""`dataclasses.replace` for systems, whichever way their classes are made."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import equinox as eqx

from holonomy.types import Unchecked

T = TypeVar("T", bound=Any)


def replace(value: T, **changes: Unchecked) -> T:
    """A copy with some fields changed.

    A module is copied without its constructor, whose arguments need not be its fields (those of `World` are not).
    """
    if not isinstance(value, eqx.Module):
        return dataclasses.replace(value, **changes)
    new: Any = object.__new__(type(value))
    for field in dataclasses.fields(value):
        object.__setattr__(new, field.name, changes.pop(field.name, getattr(value, field.name)))
    if changes:
        raise TypeError(f"{type(value).__name__} has no field {next(iter(changes))!r}.")
    return new

"""A position or velocity from what a user passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jaxtyping import Float

from holonomy.systems.parameters import number
from holonomy.types import AnyArray, Number, StateLike

if TYPE_CHECKING:
    from holonomy.systems.system import System

_SAID = 24  # names in a message at most


def vector(name: str, value: StateLike, shape: tuple[int, ...], system: System) -> Float[AnyArray, " n"]:
    """A state vector from a user's argument; `ValueError` where it has another shape or is no array of numbers.

    A mapping names the coordinates.
    """
    array = number(name, _by_name(name, value, system) if isinstance(value, Mapping) else value)
    if array.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, one entry per coordinate ({_few(system.names)}); "
            f"got shape {tuple(array.shape)}."
        )
    return array


def _by_name(name: str, value: Mapping[str, Number], system: System) -> list[Number]:
    unknown = [key for key in value if key not in system.names]
    missing = [key for key in system.names if key not in value]
    if unknown or missing:
        said = f"has no coordinate {unknown[0]!r}" if unknown else f"needs a value for {missing[0]!r}, too"
        raise ValueError(f"{name} by name {said}; the coordinates are {_few(system.names)}.")
    return [value[key] for key in system.names]


def _few(names: tuple[str, ...]) -> str:
    """The names, or the first and the last of many."""
    return ", ".join(names) if len(names) <= _SAID else f"{', '.join(names[: _SAID - 2])}, …, {names[-1]}"

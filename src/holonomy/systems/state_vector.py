"""A position or velocity from what a user passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxtyping import Float

from holonomy.systems.parameters import number
from holonomy.types import AnyArray, VectorLike

if TYPE_CHECKING:
    from holonomy.systems.system import System

_SAID = 24  # names in a message at most


def vector(name: str, value: VectorLike, shape: tuple[int, ...], system: System) -> Float[AnyArray, " n"]:
    """A state vector from a user's argument; `ValueError` where it has another shape or is no array of numbers."""
    array = number(name, value)
    if array.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, one entry per coordinate ({_few(system.names)}); "
            f"got shape {tuple(array.shape)}."
        )
    return array


def _few(names: tuple[str, ...]) -> str:
    """The names, or the first and the last of many."""
    return ", ".join(names) if len(names) <= _SAID else f"{', '.join(names[: _SAID - 2])}, …, {names[-1]}"

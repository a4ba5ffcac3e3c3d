"""A system in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jax.core import Tracer

from holonomy.systems.coordinates import Coordinate, blocks_of

if TYPE_CHECKING:
    from holonomy.systems.system import System
    from holonomy.types import AnyArray

_SAID = 8  # coordinates and parameters that a line names


def line(system: System) -> str:
    """Coordinates, space, parameters, and what acts on the system besides its Lagrangian."""
    parts = [f"coordinates {_few(_names(system.coordinates))}"]
    if not system.flat:
        parts.append(f"on {system.space!r}")
    if system.parameters:
        parts.append(f"parameters {_few([f'{k} = {_value(v)}' for k, v in system.parameters.items()])}")
    if system.forces:
        parts.append(f"{len(system.forces)} force" + ("s" if len(system.forces) > 1 else ""))
    if system.constraints:
        parts.append("constraints")
    return f"<System: {'; '.join(parts)}>"


def _names(given: tuple[Coordinate, ...]) -> list[str]:
    """Names of coordinates, those of an array together with its shape."""
    blocks = blocks_of(given)
    shapes = [f" {' × '.join(map(str, block.shape))}" if block.shape else "" for block in blocks]
    return [f"{b.name}{shape}" for b, shape in zip(blocks, shapes, strict=True)] or [c.name for c in given]


def _few(names: list[str]) -> str:
    rest = len(names) - _SAID
    return ", ".join(names[:_SAID]) + (f" and {rest} more" if rest > 0 else "")


def _value(value: AnyArray) -> str:
    if isinstance(value, Tracer) or not isinstance(value, np.ndarray | np.generic | float | int) or np.size(value) > 4:
        return f"array of shape {np.shape(value)}"
    return f"{float(value):g}" if np.ndim(value) == 0 else "[" + ", ".join(f"{x:g}" for x in np.ravel(value)) + "]"

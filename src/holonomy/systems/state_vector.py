"""A position or velocity from what a user passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.spaces import AbstractSpace, Carried, Power
from holonomy.systems import shaped
from holonomy.systems.coordinates import blocks_of
from holonomy.systems.parameters import number
from holonomy.types import AnyArray, Numbers, StateLike

if TYPE_CHECKING:
    from holonomy.systems.system import System

_SAID = 24  # names in a message at most


def vector(name: str, value: StateLike, shape: tuple[int, ...], system: System) -> Float[AnyArray, " n"]:
    """A state vector from a user's argument; `ValueError` where it has another shape or is no array of numbers.

    A mapping names the coordinates. Configurations of several points may have one row for each, and of points that are
    carried the frame may be left out.
    """
    blocks = blocks_of(system.coordinates)
    value = shaped.packed(blocks, value)
    array = number(name, _by_name(name, value, system) if isinstance(value, Mapping) else value)
    array = _from_rows(array, system.space)
    if array.shape != shape and array.ndim == 2 and isinstance(system.space, Power | Carried):
        inner = system.space.space if isinstance(system.space, Carried) else system.space
        if isinstance(inner, Power):
            raise ValueError(
                f"{name} must have shape {(inner.count, inner.space.point_dim)}, one row for each point of "
                f"{inner.space!r}; got shape {tuple(array.shape)}."
            )
    if array.shape != shape and len(blocks) == 1:
        (block,) = blocks
        raise ValueError(f"{name} must have shape {block.shape}, that of {block.name}; got {tuple(array.shape)}.")
    if array.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, one entry per coordinate ({_few(system.names)}); "
            f"got shape {tuple(array.shape)}."
        )
    return array


def _from_rows(array: AnyArray, space: AbstractSpace) -> AnyArray:
    """Points given one per row, or without the frame that carries them, as the array of a configuration."""
    inner = space.space if isinstance(space, Carried) else space
    if isinstance(inner, Power) and array.shape == (inner.count, inner.space.point_dim):
        array = array.reshape(-1)
    if isinstance(space, Carried) and array.shape == (inner.point_dim,):
        array = (np if isinstance(array, np.ndarray) else jnp).concatenate(
            [array, np.zeros(space.point_dim - inner.point_dim, array.dtype)]
        )
    return array


def _by_name(name: str, value: Mapping[str, Numbers], system: System) -> list[Numbers]:
    unknown = [key for key in value if key not in system.names]
    missing = [key for key in system.names if key not in value]
    if unknown or missing:
        said = f"has no coordinate {unknown[0]!r}" if unknown else f"needs a value for {missing[0]!r}, too"
        raise ValueError(f"{name} by name {said}; the coordinates are {_few(system.names)}.")
    return [value[key] for key in system.names]


def _few(names: tuple[str, ...]) -> str:
    """The names, or the first and the last of many."""
    return ", ".join(names) if len(names) <= _SAID else f"{', '.join(names[: _SAID - 2])}, …, {names[-1]}"

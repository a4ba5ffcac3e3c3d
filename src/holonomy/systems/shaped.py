"""Coordinates as arrays of the shapes they were given: what a user's functions get, and what users pass as states.

Inside, a configuration is one row of numbers. A system whose coordinates are one array, such as {"x": (50, 50)}, hands
q and v to its functions in that shape; with several arrays they are tuples with the arrays by name, q.x and q.theta.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import wraps
from typing import Any

import jax.numpy as jnp
import numpy as np

from holonomy.systems.coordinates import Block
from holonomy.types import AnyArray, ArrayFunction, Tree, Unchecked


def unpacked(blocks: Sequence[Block], row: AnyArray) -> Tree:
    """A row of numbers as the arrays of the blocks: the array itself where there is one."""
    if len(blocks) == 1:
        return row.reshape((*row.shape[:-1], *blocks[0].shape))
    names = [block.name for block in blocks]
    ends = np.cumsum([block.size for block in blocks])
    parts = [row[..., end - block.size : end] for block, end in zip(blocks, ends, strict=True)]
    made = (part.reshape((*row.shape[:-1], *block.shape)) for part, block in zip(parts, blocks, strict=True))
    return namedtuple("Arrays", names)(*made)  # pyright: ignore[reportUntypedNamedTuple]  names are the user's


def packed(blocks: Sequence[Block], value: Unchecked) -> Unchecked:
    """The row of numbers of arrays in the shapes of the blocks; any other value as it is."""
    if not blocks:
        return value
    if isinstance(value, Mapping) and set(value) == {block.name for block in blocks}:
        value = value[blocks[0].name] if len(blocks) == 1 else tuple(value[block.name] for block in blocks)
    if not (isinstance(value, tuple | list) and len(value) == len(blocks) > 1):
        one = len(blocks) == 1 and not isinstance(value, Mapping) and np.shape(value) == blocks[0].shape
        return jnp.reshape(jnp.asarray(value), -1) if one else value
    if any(np.shape(part) != block.shape for part, block in zip(value, blocks, strict=True)):
        return value
    arrays = np if all(isinstance(part, np.ndarray | float | int) for part in value) else jnp
    return arrays.concatenate([arrays.reshape(part, -1) for part in value])


def of_rows(
    blocks: Sequence[Block], function: ArrayFunction, states: Sequence[int], covector: bool = False
) -> ArrayFunction:
    """A user's function of arrays as one of rows of numbers; `states` are the places of q and v among its arguments.

    The value of a `covector` is a row of numbers too.
    """
    if not blocks:
        return function

    @wraps(function)
    def called(*args: Any) -> Any:
        shaped = [unpacked(blocks, a) if k in states else a for k, a in enumerate(args)]
        value = function(*shaped)
        return packed(blocks, value) if covector else value

    return called

"""How near to the constraints a state has to be, in the precision of its numbers."""

from __future__ import annotations

from typing import Final

import numpy as np

from holonomy.types import AnyArray

_CLOSE: Final = 1e-8  # of the size of the state: what a person types with eight digits is meant to lie on them
_ROUND_OFF: Final = 1e-14
_ROUNDINGS: Final = 64  # rounding errors of one number that the values of conditions may have


def close(dtype: np.dtype) -> float:
    """The part of its size up to which a state away from the constraints is meant to lie on them."""
    return max(_CLOSE, _ROUNDINGS * float(np.finfo(dtype).eps))


def round_off(dtype: np.dtype) -> float:
    """The part of its size up to which a state is not moved onto the constraints."""
    return max(_ROUND_OFF, _ROUNDINGS / 8 * float(np.finfo(dtype).eps))


def distances(values: AnyArray, lengths: AnyArray) -> AnyArray:
    """How far conditions with these values, whose normals have these lengths, are from holding, each for itself.

    In units of the state, whatever those of the conditions: squared lengths miss by more than lengths do.
    """
    return abs(values) / (lengths + (lengths == 0))

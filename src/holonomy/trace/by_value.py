"""An array as part of a key."""

from __future__ import annotations

import numpy as np


class ByValue:
    """An array that is compared by shape, type and bytes, so that compiled code can be kept by what is in it."""

    __slots__ = ("key", "value")

    def __init__(self, value: np.ndarray):
        self.value = value
        self.key = (value.shape, value.dtype.str, value.tobytes())

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByValue) and self.key == other.key

"""An array that is not computed yet: what its element at a position is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.arrays.index import Position
from holonomy.trace.lowering.statements import Buffer
from holonomy.trace.lowering.values import Memory, Scalars

Element = Callable[[Position], Node]


@dataclass(eq=False, slots=True)
class Deferred:
    """The array whose element at a position is `element(position)`.

    `cost` is about the operations that an element takes. `reads` are the buffers that it is computed from, and whether
    the element at a position needs only what is there at the same position.
    """

    shape: tuple[int, ...]
    dtype: str
    element: Element
    cost: float = 0.0
    reads: Mapping[Buffer, bool] = field(default_factory=dict[Buffer, bool])

    @property
    def size(self) -> int:
        return math.prod(self.shape)


Array: TypeAlias = Scalars | Memory | Deferred


def buffers(value: Array) -> Mapping[Buffer, bool]:
    """The buffers that a value is in or is computed from."""
    if isinstance(value, Deferred):
        return value.reads
    return {value.buffer: True} if isinstance(value, Memory) else {}


def all_reads(values: tuple[Array, ...] | list[Array], *, in_place: bool) -> dict[Buffer, bool]:
    """What an array that is computed from these reads; `in_place` if its elements need theirs at the same position."""
    reads: dict[Buffer, bool] = {}
    for value in values:
        for buffer, same in buffers(value).items():
            reads[buffer] = reads.get(buffer, True) and same and in_place
    return reads

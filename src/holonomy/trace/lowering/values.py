"""What a traced array is while a function is lowered: a tuple of scalar nodes, or a place in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.statements import Buffer


@dataclass(frozen=True, slots=True)
class Scalars:
    """A small array, element by element (row-major)."""

    shape: tuple[int, ...]
    dtype: str
    nodes: tuple[Node, ...]

    @property
    def size(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True)
class Memory:
    """A large array, contiguous and row-major in a buffer."""

    shape: tuple[int, ...]
    dtype: str
    buffer: Buffer

    @property
    def size(self) -> int:
        return math.prod(self.shape)


Value = Scalars | Memory


def strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides, in elements."""
    steps, step = [], 1
    for n in reversed(shape):
        steps.append(step)
        step *= n
    return tuple(reversed(steps))

"""The elements of an array in another shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.arrays.deferred import Array, Deferred
from holonomy.trace.lowering.arrays.index import Index, Position, flat
from holonomy.trace.lowering.values import Memory, Scalars, strides

if TYPE_CHECKING:
    from holonomy.trace.lowering.arrays.lowering import ArrayLowering


def reshaped(low: ArrayLowering, value: Array, shape: tuple[int, ...]) -> Array:
    """The same elements in another shape."""
    if value.shape == shape:
        return value
    if isinstance(value, Scalars):
        return Scalars(shape, value.dtype, value.nodes)
    if isinstance(value, Memory):
        return Memory(shape, value.dtype, value.buffer)

    def element(position: Position) -> Node:
        if not value.shape:
            return value.element(())
        left, place = flat(position, strides(shape)), []
        for step in strides(value.shape)[:-1]:
            first, left = low.divided(left, step) if step else (Index(0), left)
            place.append(first)
        return value.element((*place, left))

    return Deferred(shape, value.dtype, element, value.cost, value.reads)

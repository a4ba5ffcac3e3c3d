"""Whether a traced function is affine in an input, or a sum of functions of two inputs, by its form alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from holonomy.trace.function import Program

_LINEAR: Final = frozenset([
    "add", "add_any", "sub", "neg", "copy", "reduce_sum", "cumsum", "broadcast_in_dim", "concatenate", "reshape", "rev",
    "slice", "split", "squeeze", "stack", "transpose", "unstack", "pad", "tile",
])  # fmt: skip
# Linear in the first argument alone, for example in the numerator and not in the denominator.
_IN_FIRST: Final = frozenset(["div", "dynamic_slice", "gather"])
_BILINEAR: Final = frozenset(["mul", "dot_general"])


def affine_in(program: Program, slot: int) -> bool:
    """Whether all outputs are affine in an input, whatever the other inputs and the constants are.

    False where that is not seen: the function may be affine all the same, as the difference of two equal squares is.
    """
    reached = {slot}
    here = program.slots_in
    for primitive, params, arguments, results in program.instructions:
        moving = [isinstance(a, int) and a in reached for a in arguments]
        if any(moving):
            if not _affine(primitive.name, params, moving):
                return False
            reached.update(range(here, here + results))
        here += results
    return True


def separates(program: Program, first: int, second: int) -> bool:
    """Whether all outputs are sums of functions of one input and functions of another, whatever else they depend on.

    False where that is not seen.
    """
    reached: list[set[int]] = [{first}, {second}]
    here = program.slots_in
    for primitive, params, arguments, results in program.instructions:
        given = {a for a in arguments if isinstance(a, int)}
        touched = [own for own in reached if not own.isdisjoint(given)]
        if len(touched) == 2:
            moving = [isinstance(a, int) and any(a in own for own in reached) for a in arguments]
            if not _affine(primitive.name, params, moving):
                return False
        for own in touched:
            own.update(range(here, here + results))
        here += results
    return True


def _affine(name: str, params: dict[str, Any], moving: list[bool]) -> bool:
    if name == "convert_element_type":
        return np.dtype(params["new_dtype"]).kind == "f"
    if name in _BILINEAR:
        return sum(moving) == 1
    if name == "select_n":
        return not moving[0]
    return name in _LINEAR or (name in _IN_FIRST and not any(moving[1:]))

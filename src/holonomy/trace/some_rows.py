"""Some rows of a traced function's array, without computing the others.

The rows wanted are followed from the result back to the arguments: through operations on single elements, broadcasts,
sums over other dimensions, products with matrices and changes of shape, each array needs the same rows of its operands.
What an operation without such a rule gives is computed whole, and its rows are taken from that.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import numpy as np

from holonomy.trace.function import Function, Program, applied, slot_types

WHOLE = -1  # in place of the dimension of the rows: all of an array is needed, or it has no rows

# fmt: off
_ELEMENTWISE = frozenset([
    "add", "sub", "mul", "div", "rem", "neg", "sign", "abs", "floor", "ceil", "round", "sqrt", "rsqrt", "cbrt",
    "square", "exp", "exp2", "expm1", "log", "log1p", "logistic", "pow", "integer_pow", "max", "min", "sin", "cos",
    "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
    "is_finite", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "select_n", "convert_element_type",
    "clamp", "copy", "stop_gradient",
])
# fmt: on
_REDUCTIONS = frozenset(["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"])


def some_rows(function: Function, args: tuple[Any, ...], near: Any) -> Any:
    """`function(*args)[near]`, for a function whose value is one array."""
    inputs = [*jax.tree.leaves(args), *function.constants]
    shapes = tuple((tuple(np.shape(x)), str(jax.typeof(x).dtype)) for x in inputs)
    if any(dtype == "float32" for _, dtype in shapes):
        return _taken(function(*args), near, 0)
    needs, sizes = _needs(function.program, shapes)
    slots: list[tuple[Any, int]] = [(x, WHOLE) for x in inputs]

    def read(argument: Any, axis: int) -> Any:
        if not isinstance(argument, int):
            return argument.value
        value, has = slots[argument]
        return _taken(value, near, axis) if axis != WHOLE and has == WHOLE else value

    here = function.program.slots_in
    for primitive, params, arguments, results in function.program.instructions:
        axis, operands = needs[here], None
        if axis != WHOLE:
            operands = _operands(primitive, params, _shapes_of(arguments, sizes), sizes[here], axis)
        if operands is None:
            axis, operands = WHOLE, [WHOLE] * len(arguments)
        params = params if axis == WHOLE else _with_rows(primitive, params, sizes[here], axis, near.shape[0])
        values = [read(a, k) for a, k in zip(arguments, operands, strict=True)]
        out = applied(primitive, params, values)
        slots.extend((x, axis) for x in (out if primitive.multiple_results else [out]))
        here += results
    return read(function.program.outputs[0], 0)


def _taken(value: Any, near: Any, axis: int) -> Any:
    at = (slice(None),) * axis + (near,)
    return jax.numpy.asarray(value).at[at].get(mode="promise_in_bounds")


@lru_cache(maxsize=256)
def _needs(program: Program, shapes: tuple[Any, ...]) -> tuple[list[int], list[tuple[int, ...]]]:
    """In which dimension the rows of each slot are wanted, WHOLE for all of it; and the shapes of all slots."""
    sizes = [shape for shape, _ in slot_types(program, shapes)]
    needs: list[int | None] = [None] * len(sizes)
    needs[program.outputs[0]] = 0
    here = len(sizes)
    for primitive, params, arguments, results in reversed(program.instructions):
        here -= results
        axis = needs[here]
        if all(need is None for need in needs[here : here + results]):
            continue  # nobody needs it
        operands = None
        if results == 1 and axis is not None and axis != WHOLE:
            operands = _operands(primitive, params, _shapes_of(arguments, sizes), sizes[here], axis)
        for a, need in zip(arguments, operands or [WHOLE] * len(arguments), strict=True):
            if isinstance(a, int):
                needs[a] = need if needs[a] in (None, need) else WHOLE
    return [WHOLE if need is None else need for need in needs], sizes


def _shapes_of(arguments: tuple[Any, ...], sizes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [sizes[a] if isinstance(a, int) else a.value.shape for a in arguments]


def _operands(
    primitive: Any, params: dict[str, Any], shapes: list[tuple[int, ...]], shape: tuple[int, ...], axis: int
) -> list[int] | None:
    """The dimension in which rows of each operand are needed for rows `axis` of the result; None without a rule."""
    name = primitive.name
    if name in _ELEMENTWISE:
        return [axis if len(s) == len(shape) and s[axis] == shape[axis] else WHOLE for s in shapes]
    if name in _REDUCTIONS:
        kept = [d for d in range(len(shapes[0])) if d not in params["axes"]]
        return [kept[axis]]
    if name == "broadcast_in_dim":
        dims = list(params["broadcast_dimensions"])
        there = axis in dims and shapes[0][dims.index(axis)] == shape[axis]
        return [dims.index(axis) if there else WHOLE]
    if name == "transpose":
        return [params["permutation"][axis]]
    if name == "squeeze":
        kept = [d for d in range(len(shapes[0])) if d not in params["dimensions"]]
        return [kept[axis]]
    if name == "reshape":
        return _of_reshape(shapes[0], shape, axis) if params.get("dimensions") is None else None
    if name == "concatenate":
        return None if params["dimension"] == axis else [axis] * len(shapes)
    if name == "slice":
        return [axis] if shapes[0][axis] == shape[axis] else None
    return _of_product(params, shapes, axis) if name == "dot_general" else None


def _of_reshape(before: tuple[int, ...], after: tuple[int, ...], axis: int) -> list[int] | None:
    """The dimension that stays whole: as long, with as many elements before it."""
    ahead = int(np.prod(after[:axis]))
    for k, n in enumerate(before):
        if n == after[axis] and int(np.prod(before[:k])) == ahead:
            return [k]
    return None


def _of_product(params: dict[str, Any], shapes: list[tuple[int, ...]], axis: int) -> list[int]:
    """Dimensions of a product are those of the batch, then what is left of the first factor, then of the second."""
    contracted, batch = params["dimension_numbers"]
    if axis < len(batch[0]):
        return [batch[0][axis], batch[1][axis]]
    axis -= len(batch[0])
    free = [[d for d in range(len(s)) if d not in (*c, *b)] for s, c, b in zip(shapes, contracted, batch, strict=True)]
    first = len(free[0])
    return [free[0][axis], WHOLE] if axis < first else [WHOLE, free[1][axis - first]]


def _with_rows(primitive: Any, params: dict[str, Any], shape: tuple[int, ...], axis: int, count: int) -> dict[str, Any]:
    """The parameters of an operation for so many rows."""
    name, changed = primitive.name, (*shape[:axis], count, *shape[axis + 1 :])
    if name == "broadcast_in_dim":
        return {**params, "shape": changed}
    if name == "reshape":
        return {**params, "new_sizes": changed}
    if name == "slice":
        limits = list(params["limit_indices"])
        limits[axis] = count
        return {**params, "limit_indices": tuple(limits)}
    return params

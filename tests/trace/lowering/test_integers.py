"""Every primitive on whole numbers, over all types of them and on truth values, against XLA, bit by bit.

The data are random over the whole range of a type, with its extremes, 0, 1 and -1 put in; the same functions are
applied to arrays that are known when the function is traced, which are folded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from tests.trace.compare import assert_same

from holonomy.trace.lowering.limits import ARRAYS, Limits
from holonomy.trace.native import compiler

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
IN_MEMORY = Limits(scalars=4, carried=4, unrolled=0, solve=1, pivoted=1)
AS_ARRAYS = replace(ARRAYS, scalars=1, carried=1)

LOGIC: Mapping[str, Callable[..., Any]] = {
    "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor, "max": lax.max, "min": lax.min,
    "lt": lax.lt, "le": lax.le, "eq": lax.eq, "ne": lax.ne, "gt": lax.gt, "ge": lax.ge,
}  # fmt: skip
ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "add": lax.add, "sub": lax.sub, "mul": lax.mul, "div": lax.div, "rem": lax.rem, "shl": lax.shift_left,
    "lshr": lax.shift_right_logical, "ashr": lax.shift_right_arithmetic,
}  # fmt: skip
REDUCTIONS = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "reduce_xor")
OF_TRUTH = ("reduce_max", "reduce_min", "reduce_and", "reduce_or", "reduce_xor")


def of_logic(x: Any, y: Any) -> dict[str, Any]:
    """What is defined for truth values as well."""
    found = {name: op(x, y) for name, op in LOGIC.items()}
    found |= {"not": lax.bitwise_not(x), "where": lax.select(lax.lt(x, y), y, x)}
    for name in OF_TRUTH:
        found |= {f"{name} {axes}": getattr(lax, name)(x, axes) for axes in ((0,), (1,), (0, 1))}
    for axis in (0, 1):
        found |= {f"argmax {axis}": lax.argmax(x, axis, np.int32), f"argmin {axis}": lax.argmin(x, axis, np.int32)}
    return found


def of_numbers(x: Any, y: Any) -> dict[str, Any]:
    found = of_logic(x, y) | {name: op(x, y) for name, op in ARITHMETIC.items()}
    found |= {"clamp": lax.clamp(lax.min(x, y), y, lax.max(x, y))}
    if np.issubdtype(x.dtype, np.signedinteger):
        found |= {"abs": lax.abs(x), "abs of neg": lax.abs(lax.neg(x))}
    found |= {
        "neg": lax.neg(x),
        "sign": lax.sign(x),
        "sign of neg": lax.sign(lax.neg(x)),
        "square": lax.square(x),
        "power": lax.integer_pow(x, 3),
    }
    # factors whose product is beyond the type
    found |= {"scaled": (x * x.dtype.type(100)) * x.dtype.type(77), "neg scaled": lax.neg(x * x.dtype.type(93))}
    found |= {"shifted": (x + x.dtype.type(100)) + x.dtype.type(77)}
    for name in ("reduce_sum", "reduce_prod"):
        found |= {f"{name} {axes}": getattr(lax, name)(x, axes) for axes in ((0,), (1,), (0, 1))}
    for op in (lax.cumsum, lax.cumprod, lax.cummax, lax.cummin):
        found |= {f"{op.__name__} {back}": op(x, 1, reverse=back) for back in (False, True)}
    return found | {"dot": lax.dot_general(x, y, (((1,), (1,)), ((), ())))}


def converted(x: Any) -> dict[str, Any]:
    """The array in every type; numbers beyond the range of a type wrap, and the nearest of those of floats is taken."""
    found = {to: lax.convert_element_type(x, to) for to in (*WHOLE, "bool", "float32", "float64")}
    if x.dtype == np.bool_:
        return found
    real = lax.convert_element_type(x, np.float64)
    rows = [real * 1.5, real * 16.0, real / real * np.inf, -real / real * np.inf]  # 0/0 is NaN
    return found | {f"floats to {to}": lax.convert_element_type(jnp.stack(rows), to) for to in WHOLE}


def data(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    if dtype == "bool":
        return rng.random((3, 4)) < 0.6, rng.random((3, 4)) < 0.5
    info = np.iinfo(dtype)
    x, y = (rng.integers(info.min, info.max, (3, 4), dtype=dtype, endpoint=True) for _ in range(2))
    all_ones = np.array(0, dtype) - np.array(1, dtype)
    x[0], y[0] = [info.min, info.max, info.min, 0], [all_ones, 0, 1, info.max]
    x[1, :2], y[1] = 5, [2, 3, 70, 1]
    return x, y


@pytest.mark.parametrize("dtype", [*WHOLE, "bool"])
def test_operations_on_whole_numbers_agree_with_xla(dtype: str) -> None:
    x, y = data(dtype)
    whole = of_logic if dtype == "bool" else of_numbers

    def both(a: Any, b: Any) -> Any:
        return whole(a, b), converted(a)

    def sorts(a: Any) -> Any:  # left to XLA where arrays are large
        return ({"sort": lax.sort(a, dimension=1)},)

    def folded(a: Any) -> Any:
        return whole(jnp.asarray(x), jnp.asarray(y)), converted(jnp.asarray(x)), a

    expected = jax.jit(both)(x, y)
    for limits in (None, IN_MEMORY, AS_ARRAYS):
        _same(compiler.compile(both, (x, y), limits=limits)(x, y), expected)
    _same(compiler.compile(sorts, (x,))(x), jax.jit(sorts)(x))
    _same(compiler.compile(folded, (x,))(x)[:2], expected)


def _same(ours: Any, theirs: Any) -> None:
    for mine, its in zip(ours, theirs, strict=True):
        assert set(mine) == set(its)
        for name, value in its.items():
            assert_same({name: mine[name]}, {name: value})  # with the name, which a failure shows

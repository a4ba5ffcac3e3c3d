"""The same function on every row of arrays: side by side in XLA, one row after another in native code.

XLA is quickest with one operation on all rows. Native code writes out every operation on every number, so that rows
side by side make the code longer by their number; where a row takes much work it becomes a loop instead.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp

from holonomy.types import Vector

_one_by_one: ContextVar[bool] = ContextVar("one_by_one", default=False)


@contextmanager
def one_by_one() -> Generator[None]:
    """While this is entered, `each` and `jacobian` take rows one after another."""
    before = _one_by_one.set(True)
    try:
        yield
    finally:
        _one_by_one.reset(before)


def rows_one_by_one() -> bool:
    """Whether code is being traced in which every operation on every number is written out, as native code is."""
    return _one_by_one.get()


def each(function: Callable[..., Any], *rows: Any) -> Any:
    """The values of a function of each row of the arguments, stacked."""
    if not _one_by_one.get():
        return jax.vmap(function)(*rows)
    # unroll marks it for the lowering: written out as long as that is not too much
    return jax.lax.scan(lambda _, row: (None, function(*row)), None, rows, unroll=True)[1]


def jacobian(function: Callable[[Vector], Any], at: Vector) -> Any:
    """The derivatives of a function of a vector, each a matrix whose columns belong to the vector's components."""
    columns = each(lambda e: jax.jvp(function, (at,), (e,))[1], jnp.eye(at.size, dtype=at.dtype))
    return jax.tree.map(lambda column: jnp.moveaxis(column, 0, -1), columns)

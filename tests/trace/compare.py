"""Native code against XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from holonomy.trace.native import compiler

TOLERANCE = 1e-13


def assert_same(ours: Any, theirs: Any, tolerance: float = TOLERANCE) -> None:
    """Equal structures; real numbers within `tolerance` of the array's size, everything else exactly."""
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        if a.dtype.kind != "f":
            np.testing.assert_array_equal(a, b)
            continue
        finite = np.abs(b[np.isfinite(b)])
        size = max(1e-300, float(finite.max(initial=0.0)))
        bound = tolerance if a.dtype == np.float64 else 1e-6
        np.testing.assert_allclose(a / size, b / size, rtol=0.0, atol=bound, equal_nan=True)


def check(
    function: Callable[..., Any],
    args: Sequence[Any],
    tolerance: float = TOLERANCE,
    limits: Sequence[compiler.Limits | None] = (None,),
) -> None:
    """`function` gives the same in native code and in XLA, with each of the limits."""
    theirs = jax.jit(function)(*args)
    for limit in limits:
        assert_same(compiler.compile(function, args, limits=limit)(*args), theirs, tolerance)

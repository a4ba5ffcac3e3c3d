"""Formulas of a linkage as machine code where numbers are known, as plain JAX where they are being traced.

A second derivative of the hinges is some thousand scalar operations: one machine function of them is compiled in a
second and takes a microsecond, where XLA needs ten times as long for both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.geometry.metric import known
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.native import compiler
from holonomy.types import ArrayLike, Tree

Result = TypeVar("Result")

_kept: dict[Any, Any] = {}


def call(function: Callable[..., Result], *args: Tree) -> Result:
    """function(*args), compiled once for the form of its arguments.

    Pass a function of a module: code is kept by the function itself, so a new lambda would be compiled at each call.
    """
    if not known(args):
        return function(*args)
    run = _compiled(function, args)
    return jax.tree.map(jnp.asarray, run(*args))


def many(function: Callable[..., Result], fixed: Tree, batch: ArrayLike) -> Result:
    """function(fixed, row) for every row of the batch, spread over the cores; arrays with one entry per row."""
    if not known(fixed, batch):
        return jax.vmap(lambda row: function(fixed, row))(batch)
    rows = np.ascontiguousarray(np.asarray(batch, np.float64))
    run = _compiled(function, (fixed, rows[0]))
    if isinstance(run, compiler.Compiled):
        return jax.tree.map(jnp.asarray, run.batch(fixed, rows, axes=(None, 0)))
    return jax.vmap(lambda row: run(fixed, row))(jnp.asarray(rows))


def _compiled(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    leaves, structure = jax.tree.flatten(args)
    key = (function, structure, tuple((np.shape(a), np.asarray(a).dtype) for a in leaves))
    if key not in _kept:
        double = all(np.asarray(a).dtype in (np.dtype(np.float64), np.dtype(np.int64)) for a in leaves)
        try:
            _kept[key] = compiler.compile(function, args) if double else jax.jit(function)
        except Unsupported:
            _kept[key] = jax.jit(function)
    return _kept[key]

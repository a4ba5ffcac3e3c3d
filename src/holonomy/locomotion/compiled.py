"""Functions of a mover: as machine code where numbers are known, as plain JAX where they are being traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

from holonomy.geometry.metric import known
from holonomy.trace.native.engine import Engine
from holonomy.types import Tree

Result = TypeVar("Result")


def call(function: Callable[..., Result], *args: Tree) -> Result:
    """function(*args), compiled once for the form of its arguments; results are arrays of NumPy or JAX.

    Pass a function of a module: code is kept by the function itself.
    """
    return function(*args) if not known(args) else Engine(None).call(function, *args)


def arrays(function: Callable[..., Result], *args: Tree) -> Result:
    """The same with arrays of JAX as results."""
    return jax.tree.map(jnp.asarray, call(function, *args))

"""Checks of what a person passes, made only when values are known: under jit, vmap or grad nothing raises."""

from typing import TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from holonomy.types import ArrayLike, Numbers


def known(*values: object) -> bool:
    """Whether every array in `values` has numbers in it, rather than being traced by jit, vmap or grad."""
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def as_array(value: Numbers) -> Array:
    """The value as a floating-point JAX array (integers become floats of the default precision)."""
    array = jnp.asarray(value)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)


def as_number(value: Numbers) -> float | Array:
    """A parameter as a float, or as an array where it is one (it may then be traced)."""
    return float(value) if isinstance(value, (int, float, np.number)) else as_array(value)


def tolerance(dtype: np.dtype) -> float:
    """How far from its space a point may lie, relative to its size: a few square roots of the unit round-off."""
    return 8.0 * float(np.sqrt(np.finfo(dtype).eps))


def show(array: ArrayLike) -> str:
    """A short rendering of an array for error messages."""
    return np.array2string(np.asarray(array), precision=6, separator=", ", threshold=12)


def is_count(value: object) -> TypeGuard[int]:
    """Whether value is a positive integer."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 1


def require_dimension(name: str, n: object) -> None:
    """Raise unless n is a positive integer."""
    if not is_count(n):
        raise ValueError(f"{name} needs its dimension as a positive integer, but was given {n!r}.")


def require_positive(name: str, argument: str, value: Numbers) -> None:
    """Raise unless a known value is a positive, finite number."""
    if known(value) and not (np.all(np.isfinite(np.asarray(value))) and np.all(np.asarray(value) > 0)):
        raise ValueError(f"{name} needs {argument} to be a positive number, but was given {argument}={value!r}.")


def require_choice(name: str, argument: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise unless value is one of choices."""
    if value not in choices:
        raise ValueError(
            f"{name} knows the choices {', '.join(map(repr, choices))} for {argument}, but was given {value!r}."
        )

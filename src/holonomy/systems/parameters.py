"""The numbers of a system: named, batchable, differentiable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.types import AnyArray, Numbers, Tree

_SHOWN = 12  # numbers that a message repeats

# An array, NumPy's on the host and JAX's while it is traced; in maps over a tree, what stands in an array's place.
Value: TypeAlias = Tree


@jax.tree_util.register_pytree_with_keys_class
class Parameters(Mapping[str, Value]):
    """An immutable mapping from names to arrays, read as ``p["g"]`` or ``p.g``; a PyTree with the values as leaves."""

    __slots__ = ("_values",)
    _values: dict[str, Value]

    def __init__(self, values: Mapping[str, Value] | None = None):
        object.__setattr__(self, "_values", dict(sorted((values or {}).items())))

    @classmethod
    def checked(cls, values: Mapping[str, Numbers]) -> Parameters:
        """Parameters from what a user typed: finite numbers or arrays of them, with names that can be typed."""
        return cls({name: number(f"parameter {name!r}", value) for name, value in values.items() if _name(name)})

    def replace(self, values: Mapping[str, Numbers]) -> Parameters:
        """The same names with some other values; a shape is part of the structure and stays."""
        new = dict(self._values)
        for name, value in values.items():
            if name not in new:
                near = get_close_matches(name, new, 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                known = ", ".join(new) or "none: the system was made without parameters="
                raise ValueError(f"The system has no parameter {name!r}; it has {known}.{hint}")
            given = number(f"parameter {name!r}", value)
            if np.shape(given) != np.shape(new[name]):
                raise ValueError(
                    f"The parameter {name!r} has shape {np.shape(new[name])}, which belongs to the system's structure; "
                    f"got shape {np.shape(given)}. For many values at once use hl.ensemble or jax.vmap."
                )
            new[name] = given
        return Parameters(new)

    def __getitem__(self, name: str) -> Value:
        try:
            return self._values[name]
        except KeyError:
            raise KeyError(f"no parameter {name!r}; there are {', '.join(self._values) or 'none'}") from None

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"no parameter {name!r}; there are {', '.join(self._values) or 'none'}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"parameters do not change; use system.with_parameters({name}=...)")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Parameters({', '.join(f'{k}={v}' for k, v in self._values.items())})"

    def __reduce__(self) -> tuple[type[Parameters], tuple[dict[str, Value]]]:
        return Parameters, (self._values,)

    def tree_flatten_with_keys(self) -> tuple[list[tuple[object, Value]], tuple[str, ...]]:
        return [(jax.tree_util.DictKey(k), v) for k, v in self._values.items()], tuple(self._values)

    @classmethod
    def tree_unflatten(cls, names: tuple[str, ...], values: Iterable[Value]) -> Parameters:
        new = object.__new__(cls)
        object.__setattr__(new, "_values", dict(zip(names, values, strict=True)))
        return new


def _name(name: Any) -> bool:
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise ValueError(f"A parameter's name must be an identifier such as 'g' or 'length_1'; got {name!r}.")
    return True


def number(what: str, value: Numbers | None) -> AnyArray:
    """A float64 array from a number, array or tracer; refuses text, complex numbers, NaN and infinity by a sentence."""
    if isinstance(value, Tracer):
        return value
    if value is None:
        raise ValueError(f"The {what} is None; pass its numbers, zeros where you mean rest.")
    if isinstance(value, list | tuple) and any(isinstance(x, Tracer) for x in jax.tree.leaves(value)):
        return jnp.asarray(value)
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array) or array.dtype.kind in "USV":
            raise TypeError  # a conversion would drop the imaginary parts, or take text for a number
        if array.dtype != np.float32:
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"The {what} must be a real number or an array of real numbers; got {value!r}.") from None
    if not np.all(np.isfinite(array)):
        got = repr(value) if array.size <= _SHOWN else f"{array[~np.isfinite(array)][0]} among {array.size} numbers"
        raise ValueError(f"The {what} must be finite; got {got}.")
    return array

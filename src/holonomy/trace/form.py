"""The form of a traced function apart from its numbers, so that other numbers find the code that is already there."""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Any, Final

import jax.extend.core as jex
import numpy as np

from holonomy.trace.graph.dag import structural
from holonomy.trace.jaxpr import Jaxpr

_LARGEST_TAKEN_APART: Final = 256  # entries of a constant array whose numbers are looked at one by one


class Form:
    """A jaxpr's structure (`key`) and its numbers.

    `numbers` are the float literals and constant entries that are not structural (see `dag.structural`), each once;
    where they stand is part of the key.  `arrays` are constant arrays too large for that, passed whole.
    """

    def __init__(self, jaxpr: Jaxpr, *, whole_arrays: bool = True) -> None:
        self._largest = _LARGEST_TAKEN_APART if whole_arrays else 1 << 62
        self.numbers: list[float] = []
        self.arrays: list[np.ndarray] = []
        self._positions: dict[tuple[str, bytes], int] = {}
        self._jaxprs: dict[int, tuple[Any, int]] = {}
        self._keys: list[Hashable] = []
        self._where: dict[int, tuple[Any, Any]] = {}
        top = self._closed(jaxpr)
        self.key: Hashable = (top, tuple(self._keys))

    def place(self, constant: Any) -> Any:
        """Where a literal's or constant's numbers went: ("array", k), or a list of numbers and positions ("at", k)."""
        return self._where[id(constant)][1]

    def _closed(self, jaxpr: Jaxpr) -> Hashable:
        return self._jaxpr(jaxpr), tuple([self._constant(c) for c in jaxpr.consts])

    def _constant(self, value: Any) -> Hashable:
        array = np.asarray(value)
        if array.dtype.kind == "f" and array.size > self._largest:
            place: Any = ("array", len(self.arrays))
            self.arrays.append(array)
        elif array.dtype.kind == "f":
            place = [x if structural(x) else ("at", self._number(x, array.dtype)) for x in array.ravel().tolist()]
        else:
            place = array.ravel().tolist() if array.size <= _LARGEST_TAKEN_APART else array.tobytes()
        self._where[id(value)] = (value, place)
        return array.shape, array.dtype.str, repr(place) if isinstance(place, list) else place

    def _number(self, x: float, dtype: Any) -> int:
        key = (str(dtype), np.float64(x).tobytes())
        if key not in self._positions:
            self._positions[key] = len(self.numbers)
            self.numbers.append(x)
        return self._positions[key]

    def _jaxpr(self, jaxpr: Jaxpr) -> int:
        """The number of a jaxpr's key in the list of all keys; one that occurs twice is read once."""
        if id(jaxpr) in self._jaxprs:
            return self._jaxprs[id(jaxpr)][1]
        names: dict[Any, int] = {}

        def atom(a: Any) -> Hashable:
            if isinstance(a, jex.Literal):
                return ("literal", *self._literal(a))
            return names.setdefault(a, len(names))

        heads = tuple([(atom(v), _aval(v.aval)) for v in (*jaxpr.constvars, *jaxpr.invars)])
        body = tuple(
            [
                (
                    e.name,
                    tuple([(name, self._param(value)) for name, value in sorted(e.params.items()) if name != "name"]),
                    tuple([atom(a) for a in e.invars]),
                    tuple([(atom(v), _aval(v.aval)) for v in e.outvars]),
                )
                for e in jaxpr.eqns
            ]
        )
        key = (heads, body, tuple([atom(a) for a in jaxpr.outvars]))
        number = len(self._keys)
        self._jaxprs[id(jaxpr)] = (jaxpr, number)
        self._keys.append(key)
        return number

    def _literal(self, literal: Any) -> tuple[Hashable, ...]:
        array = np.asarray(literal.val, literal.aval.dtype)
        key = self._constant(array)
        self._where[id(literal)] = (literal, self._where.pop(id(array))[1])
        return (key,)

    def _param(self, value: Any) -> Hashable:
        if isinstance(value, Jaxpr):
            return self._closed(value)
        if isinstance(value, (tuple, list)):
            return tuple([self._param(v) for v in value])
        if value is None or isinstance(value, (int, float, str, bool, enum.Enum, np.dtype, np.generic)):
            return repr(value)
        if isinstance(value, np.ndarray):
            return value.shape, value.dtype.str, value.tobytes()
        if callable(value):
            return None  # how to differentiate or name it: not part of what it computes
        return repr(value)


def _aval(aval: Any) -> Hashable:
    return tuple(aval.shape), str(aval.dtype)

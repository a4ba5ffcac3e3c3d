"""Traced functions as bytes, so that systems and runs go to other processes by `pickle` and the like.

A program is written down as what it is: the names of its primitives, their parameters, and the jaxprs among those in
the same way. On the other side the jaxprs are traced anew, from the same primitives in the same order.

A function with a derivative of its own (`jax.custom_jvp`) is written with the program of that derivative, which is a
function like it again: down to `DEEPEST` derivatives, unless they come back to functions that are written already.
Below that the program itself is differentiated.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import jax.extend.core as jex
import jax.extend.core.primitives
import numpy as np

from holonomy import __version__
from holonomy.trace.jaxpr import JAXPRS, parts

DEEPEST: Final = 4
_KEPT: Final = 256
_OWN_DERIVATIVE: Final = "custom_jvp_call"

Row = tuple[str, dict[str, Any], tuple[Any, ...], int]
"""A primitive's name, its packed parameters, its arguments (slots or values) and its number of results."""


@functools.cache
def known_primitives() -> dict[str, Any]:
    """The primitives of JAX by name, from its public modules."""
    modules = (jax.lax, jax.lax.linalg, jax.extend.core.primitives)
    return {p.name: p for module in modules for p in vars(module).values() if isinstance(p, jex.Primitive)}


def check_release(made_by: str) -> None:
    """Raise `UnpicklingError` for what another minor release of Holonomy has pickled: its objects may be others."""
    if made_by.split(".")[:2] != __version__.split(".")[:2]:
        raise pickle.UnpicklingError(
            f"This was pickled by Holonomy {made_by}, and here is {__version__}. Pickles are for processes of the same "
            "minor release; to keep a run, use run.save and hl.load."
        )


def pack(instructions: Sequence[tuple[Any, ...]], more: tuple[Any, ...]) -> bytes:
    """The instructions of a program and what else there is to it, as bytes. Raises `PicklingError`."""
    packer = _Packer()
    rows = [packer.row(primitive, params, args, n, 0) for primitive, params, args, n in instructions]
    packer.derivatives()
    return pickle.dumps((rows, packer.table, more))


@functools.lru_cache(_KEPT)
def unpack(data: bytes) -> tuple[list[tuple[Any, ...]], tuple[Any, ...]]:
    """What `pack` was given. The same bytes give the same objects, so that code compiled for them is found again."""
    rows, table, more = pickle.loads(data)
    unpacker = _Unpacker(table)
    return [unpacker.instruction(row) for row in rows], more


def _unsuited(what: str) -> pickle.PicklingError:
    return pickle.PicklingError(f"The traced function holds {what}, which cannot go to another process.")


class _Packer:
    """Writes down jaxprs; `table` has the functions with derivatives of their own, each once."""

    def __init__(self) -> None:
        self.table: list[dict[str, Any]] = []
        self._numbers: dict[tuple[bytes, bytes], int] = {}
        self._first: dict[bytes, int] = {}
        self._pending: list[tuple[int, Any, int]] = []

    def row(self, primitive: Any, params: dict[str, Any], args: tuple[Any, ...], results: int, depth: int) -> Row:
        if primitive.name == _OWN_DERIVATIVE:
            return (_OWN_DERIVATIVE, {"number": self._own_derivative(primitive, params, depth)}, args, results)
        if known_primitives().get(primitive.name) is not primitive:
            raise _unsuited(f"the JAX primitive {primitive.name}")
        packed = {}
        for name, value in params.items():
            packed[name] = self._param(value, depth)
            try:
                pickle.dumps(packed[name])
            except (pickle.PicklingError, TypeError, AttributeError):
                raise _unsuited(f"the JAX primitive {primitive.name} with the parameter {name}") from None
        return (primitive.name, packed, args, results)

    def _param(self, value: Any, depth: int) -> Any:
        if isinstance(value, JAXPRS):
            return _Jaxpr(self.jaxpr(value, depth), open=not hasattr(value, "consts"))
        if isinstance(value, tuple | list) and any(isinstance(part, JAXPRS) for part in value):
            return _like(value, [self._param(part, depth) for part in value])
        return value

    def jaxpr(self, closed: Any, depth: int) -> tuple[Any, ...]:
        inner, consts = parts(closed)
        if len(inner.constvars) != len(consts):
            raise _unsuited("a jaxpr without the values of its constants")
        slots: dict[Any, int] = {}
        for v in (*inner.constvars, *inner.invars):
            slots[v] = len(slots)

        def atom(a: Any) -> Any:
            return _Value.of(a) if isinstance(a, jex.Literal) else slots[a]

        rows = []
        for eqn in inner.eqns:
            args = tuple(map(atom, eqn.invars))
            rows.append(self.row(eqn.primitive, eqn.params, args, len(eqn.outvars), depth))
            for v in eqn.outvars:
                slots[v] = len(slots)  # results that no one uses have slots too
        inputs = tuple(map(_described, inner.invars))
        return inputs, tuple(map(np.asarray, consts)), rows, tuple(map(atom, inner.outvars))

    def _own_derivative(self, primitive: Any, params: dict[str, Any], depth: int) -> int:
        if params["symbolic_zeros"]:
            raise _unsuited("a derivative of its own with symbolic zeros")
        call = pickle.dumps(_Packer._alone(params["call_jaxpr"]))
        if depth and call in self._first:
            return self._first[call]  # in a derivative: the function that was met before
        rule = _rule(primitive, params) if depth < DEEPEST else None
        key = (call, b"" if rule is None else pickle.dumps(_Packer._alone(rule)))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.table)
            self._first.setdefault(call, number)
            self.table.append({"call": None, "rule": None, "constants": params["num_consts"]})
            self._pending.append((number, (params["call_jaxpr"], rule), depth))
        return number

    @staticmethod
    def _alone(closed: Any) -> Any:
        """A jaxpr in which functions with derivatives of their own are told apart by what they compute alone."""
        return _Flat().jaxpr(closed, 0)

    def derivatives(self) -> None:
        """Write down the derivatives that are met, the lowest first."""
        while self._pending:
            number, (call, rule), depth = self._pending.pop(0)
            self.table[number]["call"] = self.jaxpr(call, depth + 1)
            if rule is not None:
                self.table[number]["rule"] = self.jaxpr(rule, depth + 1)


class _Flat(_Packer):
    """Writes functions with derivatives of their own without these."""

    def _own_derivative(self, primitive: Any, params: dict[str, Any], depth: int) -> Any:
        return self.jaxpr(params["call_jaxpr"], 0)


def _rule(primitive: Any, params: dict[str, Any]) -> Any:
    """The derivative of a function that has one of its own: a jaxpr of its arguments, then of their tangents."""
    inner, _ = parts(params["call_jaxpr"])
    first = params["num_consts"]
    given = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in inner.invars]
    if any(not np.issubdtype(x.dtype, np.floating) for x in given[first:]):
        raise _unsuited("a derivative of its own for arguments that are not real")

    def derivative(primals: Any, tangents: Any) -> Any:
        def call(*x: Any) -> Any:
            return primitive.bind(*primals[:first], *x, **primitive.get_bind_params(params))

        return jax.jvp(call, primals[first:], tangents)

    return jax.make_jaxpr(derivative)(given, given[first:])


def _like(value: Any, entries: list[Any]) -> Any:
    """The same kind of list, tuple or named tuple with these entries."""
    return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)


class _Jaxpr:
    """A jaxpr among the parameters of a primitive; `open` if it stands there without its constants."""

    def __init__(self, packed: tuple[Any, ...], open: bool):
        self.packed = packed
        self.open = open


class _Value:
    """A number that stands among the arguments of a primitive."""

    def __init__(self, value: np.ndarray, weak: bool):
        self.value = value
        self.weak = weak

    @staticmethod
    def of(literal: Any) -> _Value:
        return _Value(np.asarray(literal.val, literal.aval.dtype), bool(getattr(literal.aval, "weak_type", False)))

    @property
    def given(self) -> Any:
        """As it is given to a primitive: a number of Python has no type of its own."""
        return self.value.item() if self.weak and self.value.ndim == 0 else self.value


def _described(v: Any) -> tuple[tuple[int, ...], str, bool]:
    return tuple(v.aval.shape), np.dtype(v.aval.dtype).str, bool(getattr(v.aval, "weak_type", False))


class _Unpacker:
    """Makes the primitives, jaxprs and functions that were written down."""

    def __init__(self, table: list[dict[str, Any]]):
        self._table = table
        self._functions: dict[int, Callable[..., Any]] = {}

    def instruction(self, row: Row) -> tuple[Any, dict[str, Any], tuple[Any, ...], int]:
        """A row as a program has it: the primitive itself, and its parameters."""
        name, packed, args, results = row
        if name != _OWN_DERIVATIVE:
            return known_primitives()[name], self._params(packed), args, results
        shapes = [jax.ShapeDtypeStruct(s, d) for s, d, _ in self._table[packed["number"]]["call"][0]]
        made, _ = parts(jax.make_jaxpr(self._function(packed["number"]))(*shapes))
        (eqn,) = made.eqns
        return eqn.primitive, eqn.params, args, results

    def _params(self, packed: dict[str, Any]) -> dict[str, Any]:
        return {name: self._param(value) for name, value in packed.items()}

    def _param(self, value: Any) -> Any:
        if isinstance(value, _Jaxpr):
            inputs = [jax.ShapeDtypeStruct(s, d, weak_type=w) for s, d, w in value.packed[0]]
            closed = jax.make_jaxpr(self._callable(value.packed))(*inputs)
            return parts(closed)[0] if value.open else closed
        if isinstance(value, tuple | list) and any(isinstance(part, _Jaxpr) for part in value):
            return _like(value, [self._param(part) for part in value])
        return value

    def _callable(self, packed: tuple[Any, ...]) -> Callable[..., list[Any]]:
        """A packed jaxpr as a function that applies its primitives one after the other."""
        _, consts, rows, outputs = packed
        prepared: list[tuple[Any, dict[str, Any] | None, tuple[Any, ...]]] = [
            (self._function(p["number"]), None, args) if name == _OWN_DERIVATIVE else (
                known_primitives()[name], self._params(p), args
            )
            for name, p, args, _ in rows
        ]  # fmt: skip

        def run(*inputs: Any) -> list[Any]:
            slots = [*consts, *inputs]

            def read(a: Any) -> Any:
                return slots[a] if isinstance(a, int) else a.given

            for what, params, args in prepared:
                values = [read(a) for a in args]
                if params is None:
                    slots.extend(what(*values))
                else:
                    out = what.bind(*values, **what.get_bind_params(params))
                    slots.extend(out if what.multiple_results else [out])
            return [read(a) for a in outputs]

        return run

    def _function(self, number: int) -> Callable[..., Any]:
        """A function with a derivative of its own. Its parts are made when it is called: it may lead back to itself."""
        if number not in self._functions:
            entry = self._table[number]
            held = functools.cache(lambda part: self._callable(entry[part]))

            def call(*inputs: Any) -> list[Any]:
                return held("call")(*inputs)

            if entry["rule"] is not None:
                call = _with_rule(call, held, entry["constants"], len(entry["call"][3]))
            self._functions[number] = call
        return self._functions[number]


def _with_rule(call: Callable[..., list[Any]], held: Callable[[str], Any], first: int, results: int) -> Any:
    function = jax.custom_jvp(call)

    @function.defjvp
    def rule(primals: Any, tangents: Any) -> tuple[list[Any], list[Any]]:
        out = held("rule")(*primals, *tangents[first:])
        return list(out[:results]), list(out[results:])

    return function

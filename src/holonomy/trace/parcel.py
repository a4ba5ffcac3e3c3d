"""Machine code that one process makes and another runs: tracing and compiling away from a process that must not wait.

Nothing here imports JAX but `pack`, so that the process that only runs the code starts quickly and stays small.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holonomy.trace import machine


@dataclass(frozen=True)
class Parcel:
    """A function as an object file for this machine, with the shapes and types of what goes in and comes out."""

    code: bytes
    identity: str
    scratch: int
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    hidden: tuple[np.ndarray, ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]


def pack(function: Callable[..., Any], example_args: Sequence[Any]) -> Parcel:
    """The parcel of a function of arrays, traced at arguments shaped like `example_args`.

    Its results are the leaves of what the function returns. Raises `holonomy.trace.native.Unsupported` for what has no
    native form.
    """
    from holonomy.trace import native

    ir, scratch, plan, hidden = native.described(function, example_args)
    taken = len(plan.inputs) - len(hidden)
    return Parcel(
        machine.assemble(ir), machine.identity(), scratch,
        _specified(plan.inputs[:taken]), tuple(hidden), _specified(plan.outputs),
    )  # fmt: skip


def _specified(arrays: Sequence[Any]) -> tuple[tuple[tuple[int, ...], str], ...]:
    from holonomy.trace.dag import DTYPES

    return tuple((tuple(shape), np.dtype(DTYPES[kind]).str) for shape, kind in arrays)


class Routine:
    """A parcel loaded into this process. Other threads run while it does."""

    def __init__(self, parcel: Parcel):
        if parcel.identity != machine.identity():
            raise ValueError("This machine code was made on another machine or by another LLVM; compile it again.")
        self._loaded = machine.link(parcel.code)
        self._scratch = parcel.scratch
        self._inputs = [(shape, np.dtype(kind)) for shape, kind in parcel.inputs]
        self._outputs = [(shape, np.dtype(kind)) for shape, kind in parcel.outputs]
        self._hidden = parcel.hidden
        self._table = ctypes.c_void_p * (len(self._inputs) + len(parcel.hidden) + len(self._outputs))
        self._hidden_places = [_place(array) for array in parcel.hidden]

    def __call__(self, *args: Any) -> list[np.ndarray]:
        """The results for arguments of the shapes it was compiled for."""
        if len(args) != len(self._inputs):
            raise ValueError(f"The routine takes {len(self._inputs)} arrays, but {len(args)} came.")
        given = [
            _fitted(k, x, shape, kind) for k, (x, (shape, kind)) in enumerate(zip(args, self._inputs, strict=True))
        ]
        results = [np.empty(shape, kind) for shape, kind in self._outputs]
        scratch = np.empty(self._scratch, np.uint8)
        table = self._table(*map(_place, given), *self._hidden_places, *map(_place, results))
        self._loaded.kernel(table, _place(scratch))
        return results


def _fitted(position: int, x: Any, shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
    array = np.ascontiguousarray(x, kind) if shape else np.asarray(x, kind)
    if array.shape != shape:
        raise ValueError(f"Argument {position} has shape {array.shape}, but the code was compiled for {shape}.")
    return array


def _place(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]

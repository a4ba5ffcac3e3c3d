"""Machine code that one process makes and another runs: tracing and compiling away from a process that must not wait.

Nothing here imports JAX but `describe` and `export`, so that the process that only runs machine code starts quickly and
stays small. A function without a native form is exported for XLA instead; running it loads JAX.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from holonomy.trace.lowering.statements import attempt
from holonomy.trace.native import machine

XLA: Final = "xla"
IR: Final = "llvm ir"


@dataclass(frozen=True)
class ObjectFile:
    """A function as an object file for this machine, with the shapes and types of what goes in and comes out.

    `identity` says what made the code; for a function exported for XLA it is `XLA`, and for one that is not compiled
    yet it is `IR`: then the code is the text of LLVM, which any machine can compile.
    """

    code: bytes
    identity: str
    scratch: int
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    hidden: tuple[np.ndarray, ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]


def pack(function: Callable[..., Any], example_args: Sequence[Any]) -> ObjectFile:
    """The object file of a function of arrays, traced at arguments shaped like `example_args`.

    Its results are the leaves of what the function returns. Raises `Unsupported` for what has no native form.
    """
    return assembled(describe(function, example_args))


def describe(function: Callable[..., Any], example_args: Sequence[Any]) -> ObjectFile:
    """The function as LLVM's text, for `assembled` on any machine. Raises `Unsupported` for what has no native form."""
    from holonomy.trace.native import compiler

    ir, scratch, plan, hidden = compiler.described(function, example_args)
    taken = len(plan.inputs) - len(hidden)
    inputs, outputs = _specified(plan.inputs[:taken]), _specified(plan.outputs)
    return ObjectFile(ir.encode(), IR, scratch, inputs, tuple(hidden), outputs)


def assembled(file: ObjectFile, *, quick: bool = False) -> ObjectFile:
    """What `describe` returned, as machine code; needs no JAX. `quick` as in `machine.assemble`."""
    if file.identity != IR:
        return file
    with attempt("compiling with LLVM"):
        code = machine.assemble(file.code.decode(), quick=quick)
    return replace(file, code=code, identity=machine.identity())


def export(function: Callable[..., Any], example_args: Sequence[Any]) -> ObjectFile:
    """The object file of a function that has no native form: its program for XLA, compiled where it is loaded."""
    import jax
    import jax.export

    def flat(*args: Any) -> Any:
        return jax.tree.leaves(function(*args))

    args = [np.asarray(a) for a in example_args]
    exported = jax.export.export(jax.jit(flat))(*[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args])
    inputs = tuple((a.shape, a.dtype.str) for a in args)
    outputs = tuple((tuple(a.shape), np.dtype(a.dtype).str) for a in exported.out_avals)
    return ObjectFile(bytes(exported.serialize()), XLA, 0, inputs, (), outputs)


def _specified(arrays: Sequence[Any]) -> tuple[tuple[tuple[int, ...], str], ...]:
    from holonomy.trace.graph.dag import DTYPES

    return tuple((tuple(shape), np.dtype(DTYPES[kind]).str) for shape, kind in arrays)


class Routine:
    """An object file loaded into this process. Other threads run while it does."""

    def __init__(self, file: ObjectFile):
        self._inputs = [(shape, np.dtype(kind)) for shape, kind in file.inputs]
        self._outputs = [(shape, np.dtype(kind)) for shape, kind in file.outputs]
        self._run = _in_xla(file) if file.identity == XLA else self._native(file)

    def _native(self, file: ObjectFile) -> Callable[..., Any]:
        if file.identity != machine.identity():
            raise ValueError("This machine code was made on another machine or by another LLVM; compile it again.")
        loaded = machine.link(file.code)
        row = ctypes.c_void_p * (len(self._inputs) + len(file.hidden) + len(self._outputs))
        hidden = [_place(array) for array in file.hidden]

        def run(given: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
            scratch = np.empty(file.scratch, np.uint8)
            loaded.kernel(row(*map(_place, given), *hidden, *map(_place, results)), _place(scratch))

        return run

    def __call__(self, *args: Any) -> list[np.ndarray]:
        """The results for arguments of the shapes it was compiled for."""
        if len(args) != len(self._inputs):
            raise ValueError(f"The routine takes {len(self._inputs)} arrays, but {len(args)} came.")
        given = [
            _fitted(k, x, shape, kind) for k, (x, (shape, kind)) in enumerate(zip(args, self._inputs, strict=True))
        ]
        results = [np.empty(shape, kind) for shape, kind in self._outputs]
        self._run(given, results)
        return results


def _in_xla(file: ObjectFile) -> Callable[..., Any]:
    import jax
    import jax.export

    function = jax.jit(jax.export.deserialize(bytearray(file.code)).call)

    def run(given: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        for result, value in zip(results, function(*given), strict=True):
            result[...] = np.asarray(value)

    return run


def _fitted(position: int, x: Any, shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
    array = np.ascontiguousarray(x, kind) if shape else np.asarray(x, kind)
    if array.shape != shape:
        raise ValueError(f"Argument {position} has shape {array.shape}, but the code was compiled for {shape}.")
    return array


def _place(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]

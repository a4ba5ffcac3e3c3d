"""Run a JAX function of small arrays as machine code."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import jax
import numpy as np

from holonomy.root_finding import derivatives_of_roots
from holonomy.trace.compile_cache import CompileCache
from holonomy.trace.form import Form
from holonomy.trace.graph.dag import DTYPES, dtype_name
from holonomy.trace.jaxpr import Jaxpr, traced
from holonomy.trace.lowering.arrays.lowering import ArrayLowering
from holonomy.trace.lowering.limits import ARRAYS, TAKEN_APART, Limits, TooLarge, evaluations
from holonomy.trace.lowering.lower import Lowering
from holonomy.trace.lowering.statements import Plan, Unsupported, attempt
from holonomy.trace.native import draft, kept
from holonomy.trace.native.draft import Draft
from holonomy.trace.native.machine import Loaded, load, vector_width
from holonomy.trace.native.module import module
from holonomy.trace.repeat import one_by_one

__all__ = ["ARRAYS", "Compiled", "Limits", "Unsupported", "compilations", "compile", "forget"]


class Code:
    """Machine code of one form of function, for any numbers. While it has a `draft` it is not optimised."""

    def __init__(
        self, loaded: Loaded, scratch: int, inputs: Sequence[Any], outputs: Sequence[Any], better: Draft | None = None
    ) -> None:
        self.loaded = loaded
        self.draft = better
        self.scratch = scratch
        self.specs = (inputs, outputs)
        self.inputs = [(shape, DTYPES[dtype]) for shape, dtype in inputs]
        self.outputs = [(shape, DTYPES[dtype]) for shape, dtype in outputs]

    def run(self, leaves: Sequence[np.ndarray], steps: int = 0) -> list[np.ndarray]:
        """Results for one set of arguments, a call that takes so many steps."""
        better = self.draft
        if better is not None and better.is_due(steps):
            self.optimise()
        results = [np.empty(shape, dtype) for shape, dtype in self.outputs]
        table = _table([*leaves, *results])
        scratch = np.empty(self.scratch, np.uint8)
        loaded, begun = self.loaded, time.perf_counter()
        loaded.kernel(table, scratch.ctypes.data)
        if better is not None:
            better.ran(steps, time.perf_counter() - begun)
        return results

    def optimise(self) -> None:
        """Replace code that is not optimised; where LLVM fails, it stays."""
        better, self.draft = self.draft, None
        if better is not None:
            with contextlib.suppress(Unsupported), attempt("compiling with LLVM"):
                self.loaded = load(better.text)

    def run_many(
        self, leaves: Sequence[np.ndarray], mapped: Sequence[bool], count: int, steps: int | None = None
    ) -> list[np.ndarray]:
        """Results for `count` sets of arguments, spread over the cores; of a few `steps` in all one after another."""
        results = [np.empty((count, *shape), dtype) for shape, dtype in self.outputs]
        table = _table([*leaves, *results])
        strides = np.array(
            [a.strides[0] if m else 0 for a, m in zip(leaves, mapped, strict=True)] + [r.strides[0] for r in results],
            np.int64,
        )

        def part(begin: int, end: int) -> None:
            scratch = np.empty(self.scratch, np.uint8)
            self.loaded.many(table, strides.ctypes.data, begin, end, scratch.ctypes.data)

        if steps is None or (self.draft is not None and self.draft.is_due(steps)):
            self.optimise()
        parts = min(count, 4 * _cores()) if steps is None else 1
        if parts <= 1:
            part(0, count)
            return results
        cuts = np.linspace(0, count, parts + 1).astype(int).tolist()
        list(_pool().map(part, cuts[:-1], cuts[1:]))
        return results


class Compiled:
    """A function as machine code: call it as the original; it gives NumPy arrays. Other threads run meanwhile."""

    def __init__(self, code: Code, hidden: list[np.ndarray], inputs: Any, outputs: Any) -> None:
        self.code = code
        self.hidden = hidden
        self._inputs = inputs
        self.outputs = outputs

    def __call__(self, *args: Any, steps: int = 0) -> Any:
        leaves = self._leaves(args)
        checked = [_checked(k, x, *spec) for k, (x, spec) in enumerate(zip(leaves, self.code.inputs, strict=False))]
        return jax.tree.unflatten(self.outputs, self.code.run([*checked, *self.hidden], steps))

    def batch(self, *args: Any, axes: Any = 0, steps: int | None = None) -> Any:
        """The function on many members at once, one after another on each core.

        `axes` as in `jax.vmap`: a prefix of the arguments with 0 (members along the first axis) or None (the same for
        all). `steps` that all members take together, where that is known.
        """
        leaves = self._leaves(args)
        if isinstance(axes, (int, type(None))):
            axes = (axes,) * len(args)
        marks = jax.tree.leaves(
            jax.tree.map(
                lambda axis, part: jax.tree.map(lambda _: axis == 0, part),
                tuple(axes),
                args,
                is_leaf=lambda a: a is None,
            )
        )
        counts = {np.shape(x)[0] for x, m in zip(leaves, marks, strict=True) if m}
        if len(counts) != 1:
            raise ValueError(
                f"The batched arguments need one common length along their first axis; they have {sorted(counts)}."
            )
        (count,) = counts
        checked = []
        for k, (x, mark, (shape, dtype)) in enumerate(zip(leaves, marks, self.code.inputs, strict=False)):
            checked.append(_checked(k, x, (count, *shape) if mark else shape, dtype))
        mapped = [*marks, *[False] * len(self.hidden)]
        results = self.code.run_many([*checked, *self.hidden], mapped, count, steps)
        return jax.tree.unflatten(self.outputs, results)

    def _leaves(self, args: tuple[Any, ...]) -> list[Any]:
        leaves, structure = jax.tree.flatten(args)
        if structure != self._inputs:
            raise ValueError(
                f"The function was compiled for arguments of structure {self._inputs} but got {structure}."
            )
        return leaves


_codes = CompileCache()


def compilations() -> int:
    """How many forms of function were compiled (or read from disk) in this process so far."""
    return len(_codes)


def forget() -> None:
    """Drop all code and the forms it was made for; a form that comes again is read from disk."""
    _codes.clear()


def compile(
    fun: Callable[..., Any],
    example_args: Sequence[Any],
    *,
    limits: Limits | tuple[Limits, ...] | None = None,
    quick: bool = False,
    gradual: bool = False,
) -> Compiled:
    """Machine code for `fun`, traced at arguments shaped like `example_args`.

    A function of the same form as an earlier one, whatever its numbers, reuses that one's code. `limits` says what is
    taken apart into scalars and what stays in memory; by default as much as is worth it. Several are tried in turn
    until one allows the function. `quick` is for what runs a few times: LLVM does not optimise it (`machine.assemble`).
    `gradual` is for what is told at each call how many steps it takes: long code is optimised when that is worth it.
    Raises `Unsupported` for what has no native form, and for nothing else that happens after tracing.
    """
    leaves, structure = jax.tree.flatten(tuple(example_args))
    attempts = TAKEN_APART if limits is None else (limits,) if isinstance(limits, Limits) else limits
    entry = kept.name(fun, structure, [_type(x) for x in leaves], (attempts, quick))
    known = _from_disk(entry, structure, gradual)
    if known is not None:
        return known
    with _uncollected():
        with derivatives_of_roots(False), one_by_one():
            jaxpr, shape = traced(fun, example_args)
        with attempt("reading the traced function"):
            form = Form(jaxpr)
        code = _codes.get((form.key, limits, quick), lambda: _build(jaxpr, form, attempts, quick, gradual))
    if not gradual:
        code.optimise()
    made = Compiled(code, _hidden(form), structure, jax.tree.structure(shape))
    _to_disk(entry, made)
    return made


@contextlib.contextmanager
def _uncollected() -> Generator[None]:
    """Without the search for cycles of dead objects: almost all that is made while tracing and lowering stays."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _type(leaf: Any) -> tuple[Any, ...]:
    """What tracing looks at of an argument."""
    aval = leaf if isinstance(leaf, jax.ShapeDtypeStruct) else jax.typeof(leaf)
    return tuple(aval.shape), np.dtype(aval.dtype), bool(aval.weak_type)


class _NotKept(Exception):
    """The object file of a function that is kept has been removed."""


def _from_disk(entry: str | None, structure: Any, gradual: bool) -> Compiled | None:
    """The function of this name, where an earlier process has kept it; neither traced nor lowered."""
    told = kept.read(entry)
    if told is None:
        return None

    def build() -> Code:
        found = draft.kept(told.object_file)
        if found is None:
            raise _NotKept
        loaded, better = found
        return Code(loaded, told.scratch, told.inputs, told.outputs, better)

    try:
        code = _codes.get(("kept", told.object_file), build)
    except _NotKept:
        return None
    if not gradual:
        code.optimise()
    return Compiled(code, told.hidden, structure, told.results)


def _to_disk(entry: str | None, made: Compiled) -> None:
    code = made.code
    object_file = code.loaded.kept_as if code.draft is None else code.draft.object_file
    if object_file:
        kept.write(entry, kept.Kept(object_file, code.scratch, *code.specs, made.hidden, made.outputs))


def described(fun: Callable[..., Any], example_args: Sequence[Any]) -> tuple[str, int, Plan, list[np.ndarray]]:
    """What `compile` would build: LLVM code, its scratch bytes, its plan, and its hidden arguments."""
    with derivatives_of_roots(False), one_by_one():
        jaxpr, _ = traced(fun, example_args)
    with attempt("reading the traced function"):
        form = Form(jaxpr)
    ir, scratch, plan = _written(jaxpr, form, TAKEN_APART)
    return ir, scratch, plan, _hidden(form)


def _hidden(form: Form) -> list[np.ndarray]:
    return [np.array(form.numbers, np.float64), *[np.ascontiguousarray(a) for a in form.arrays]]


def _build(jaxpr: Jaxpr, form: Form, attempts: Sequence[Limits], quick: bool, gradual: bool) -> Code:
    ir, scratch, plan = _written(jaxpr, form, attempts)
    with attempt("compiling with LLVM"):
        loaded, better = draft.begin(ir) if gradual else (load(ir, quick=quick), None)
        return Code(loaded, scratch, plan.inputs, plan.outputs, better)


def _written(jaxpr: Jaxpr, form: Form, attempts: Sequence[Limits]) -> tuple[str, int, Plan]:
    """LLVM's text of a jaxpr, the bytes of scratch memory it needs, and the plan it was written from."""
    with attempt("lowering to scalar operations"):
        plan = _lowered(jaxpr, form, attempts)
    with attempt("writing LLVM code"):
        ir, scratch = module(plan, vector_width())
    return ir, scratch, plan


def _lowered(jaxpr: Jaxpr, form: Form, attempts: Sequence[Limits]) -> Plan:
    for limits in attempts[:-1]:
        with contextlib.suppress(TooLarge):
            return lower(jaxpr, form, limits)
    return lower(jaxpr, form, attempts[-1])


def lower(jaxpr: Jaxpr, form: Form, limits: Limits) -> Plan:
    """The plan of a jaxpr whose numbers are hidden arguments after its own."""
    inputs = [(tuple(v.aval.shape), dtype_name(v.aval.dtype)) for v in jaxpr.invars]
    kind = ArrayLowering if limits.arrays else Lowering
    lowering = kind(limits, form=form, leaf=len(inputs))
    lowering.evaluations = evaluations(jaxpr)
    args = [lowering.argument(k, shape, dtype) for k, (shape, dtype) in enumerate(inputs)]
    results = lowering.evaluate(jaxpr, args)
    inputs.append(((len(form.numbers),), "f8"))
    inputs += [(a.shape, dtype_name(a.dtype)) for a in form.arrays]
    return lowering.plan(inputs, results)


def _checked(position: int, x: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    array = np.asarray(x)
    if array.shape != shape:
        raise ValueError(f"Argument array {position} has shape {array.shape}, but the code was compiled for {shape}.")
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise ValueError(f"Argument array {position} is of type {array.dtype}, but the code was compiled for {dtype}.")
    return np.ascontiguousarray(array, dtype).reshape(shape)


def _table(arrays: Sequence[np.ndarray]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])


def _cores() -> int:
    """The cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pool() -> ThreadPoolExecutor:
    return _pool_of(os.getpid())


@cache
def _pool_of(process: int) -> ThreadPoolExecutor:
    """Threads do not survive a fork, so each process has its own."""
    return ThreadPoolExecutor(_cores(), thread_name_prefix=f"holonomy-{process}")

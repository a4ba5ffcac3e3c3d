"""From a lab's system to machine code for its motion and its drawing. Runs in a worker process: it traces with JAX."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion import AbstractMethod, Code
from holonomy.motion.loops import plain
from holonomy.studio.compile.assembling import assembled_program
from holonomy.studio.compile.kernel import GHOST, CompiledProgram, Layout
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.native.object_file import XLA, ObjectFile, describe, export

_log = logging.getLogger(__name__)

Observed = tuple[Any, Any, Any]
"""Channels, positions of the moving points, strains of the rods."""

Example = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function with example arguments."""


@dataclass(frozen=True)
class Program:
    """What a lab computes in one structure, as functions to be traced.

    `system` makes the system of a row of `numbers` numbers (the parameters), or what else the lab's own method moves;
    `observe` tells what is plotted and drawn of a state. `routines` are further functions, with example arguments, that
    the lab calls as `kernel.routines`; the same function object in several structures is compiled once.
    """

    system: Callable[[Any], Any]
    numbers: int
    dimension: int
    method: AbstractMethod
    observe: Callable[[Any, Any, Any, Any], Observed]
    routines: Mapping[str, Example] = field(default_factory=dict)
    ghost_method: AbstractMethod | None = None
    """The method of a ghost that has one of its own."""


def compile_program(program: Program) -> CompiledProgram:
    """All that a process without JAX needs to run the program."""
    try:
        return assembled_program(describe_program(program))
    except Unsupported as error:
        _log.warning("no native code: %s", error)
        return describe_program(program, native=False)


def describe_program(program: Program, *, native: bool = True) -> CompiledProgram:
    """The same before it is compiled for a machine: traced and lowered, as LLVM's text.

    Without `native`, as XLA runs it: for a program that LLVM refuses.
    """
    functions = _motion(program, program.method, "")
    if program.ghost_method is not None:
        functions |= _motion(program, program.ghost_method, GHOST)
    files = {name: _compiled(function, args, native) for name, (function, args) in functions.items()}
    files |= {name: _packed(function, args, native) for name, (function, args) in program.routines.items()}
    lowered = all(file.identity != XLA for file in files.values())
    engine = "native (one machine function)" if lowered else "xla on cpu (no native code for this structure)"
    method = program.method
    return CompiledProgram(files, _layout(program), engine, method.label, _traits(method))


def _motion(
    program: Program, method: AbstractMethod, prefix: str
) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """The functions `start` and `advance` of a motion by this method, with example arguments."""
    n = program.dimension
    numbers, zeros = np.ones(program.numbers), np.zeros(n)
    shape = jax.eval_shape(lambda p, t, q, v: method.start(program.system(p), t, q, v), numbers, 0.0, zeros, zeros)
    leaves, tree = jax.tree.flatten(shape)

    def flat(state: Any) -> Any:
        return jnp.concatenate([jnp.ravel(leaf).astype(float) for leaf in jax.tree.leaves(state)])

    def deep(row: Any) -> Any:
        cuts = np.cumsum([0, *(leaf.size for leaf in leaves)])
        parts = [row[a : a + leaf.size].reshape(leaf.shape) for a, leaf in zip(cuts, leaves, strict=False)]
        return jax.tree.unflatten(tree, [x.astype(leaf.dtype) for x, leaf in zip(parts, leaves, strict=True)])

    def seen(system: Any, t: Any, state: Any) -> Any:
        q, v = method.read(system, t, state)
        return jnp.concatenate([t[None], q, v, *(jnp.ravel(x) for x in program.observe(system, t, q, v))])

    def start(p: Any, t: Any, q: Any, v: Any) -> Any:
        return flat(method.start(program.system(p), t, q, v))

    def advance(p: Any, row: Any, clock: Any, count: Any) -> Any:
        system = program.system(p)
        zero = jnp.int64(0)
        begin = plain.Progress(deep(row), count[0], jnp.int32(Code.ok), zero, jnp.int32(0))
        end = jax.lax.while_loop(
            lambda now: (now.code == Code.ok) & (now.index < count[0] + count[1]),
            lambda now: plain.advance(system, method, clock[0], clock[1], now),
            begin,
        )
        t = clock[0] + end.index * clock[1]
        return flat(end.state), jnp.stack([end.index, end.code.astype(jnp.int64)]), seen(system, t, end.state)

    width = sum(leaf.size for leaf in leaves)
    time = np.float64(0.0)
    return {
        f"{prefix}start": (start, (numbers, time, zeros, zeros)),
        f"{prefix}advance": (advance, (numbers, np.zeros(width), np.zeros(2), np.zeros(2, np.int64))),
    }


def _compiled(function: Callable[..., Any], args: tuple[Any, ...], native: bool) -> ObjectFile:
    """LLVM's text, or where there is none the function as XLA runs it."""
    if not native:
        return export(function, args)
    try:
        return describe(function, args)
    except Unsupported as error:
        _log.warning("no native code: %s", error)
        return export(function, args)


_kept: dict[Any, ObjectFile] = {}


def _packed(function: Callable[..., Any], args: tuple[Any, ...], native: bool) -> ObjectFile:
    """A lab's own routine: several structures may share one, so that each function is compiled once."""
    key = (function, native, tuple((np.shape(a), np.asarray(a).dtype.str) for a in args))
    if key not in _kept:
        _kept[key] = _compiled(function, args, native)
    return _kept[key]


def _layout(program: Program) -> Layout:
    zeros = np.zeros(program.dimension)
    channels, positions, strain = jax.eval_shape(
        lambda p, t, q, v: program.observe(program.system(p), t, q, v), np.ones(program.numbers), 0.0, zeros, zeros
    )
    return Layout(program.dimension, channels.size, positions.shape[0], positions.shape[1], strain.size)


def _traits(method: AbstractMethod) -> tuple[str, ...]:
    return (f"order {method.order}", *(word for word in method.properties.words.split(", ") if word))

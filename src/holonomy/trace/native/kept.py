"""Compiled functions kept on disk by what they are made from, so that a new process need not trace them.

An entry has no code of its own but says which object file (`machine.load` keeps it) runs the function, and what a call
needs besides: the shapes of arguments and results, the numbers that belong to the code, and the tree of the results. It
is text (JSON) followed by the bytes of these numbers. Classes that it names are only looked up, in this package.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import jax
import numpy as np

from holonomy.trace import identity
from holonomy.trace.identity import NoName
from holonomy.trace.native import cache as disk
from holonomy.trace.native import machine

Spec: TypeAlias = tuple[tuple[int, ...], str]

_FORMAT: Final = "function 1"  # part of the name of every entry


@dataclass(frozen=True)
class Kept:
    """A function as an entry tells it: its object file, scratch bytes, types in and out, hidden numbers, results."""

    object_file: str
    scratch: int
    inputs: Sequence[Spec]
    outputs: Sequence[Spec]
    hidden: list[np.ndarray]
    results: Any


def name(function: Callable[..., Any], structure: Any, types: Any, limits: Any) -> str | None:
    """The name of the entry of a function at arguments of this structure and types; None where it cannot be kept."""
    if disk.directory() is None:
        return None
    try:
        said = identity.described((function, structure, types, limits))
        return disk.key(_FORMAT, said, identity.surroundings(), identity.settings(), machine.identity())
    except (NoName, OSError):
        return None


def read(entry: str | None) -> Kept | None:
    """The function of this name, or None."""
    data = None if entry is None else disk.read(entry)
    if entry is None or data is None:
        return None
    try:
        return _parsed(data)
    except (ValueError, KeyError, TypeError, NoName):
        disk.forget(entry)
        return None


def write(entry: str | None, kept: Kept) -> None:
    """Keep a function under a name. One whose results have no plain description is not kept."""
    if entry is None:
        return
    try:
        results = _told(jax.tree.unflatten(kept.results, range(kept.results.num_leaves)))
        if jax.tree.structure(_made(results)) != kept.results:
            return
    except NoName:
        return
    head = {
        "object": kept.object_file,
        "scratch": kept.scratch,
        "inputs": list(kept.inputs),
        "outputs": list(kept.outputs),
        "hidden": [(a.shape, a.dtype.str) for a in kept.hidden],
        "results": results,
    }
    text = json.dumps(head).encode()
    disk.write(entry, b"".join([len(text).to_bytes(8, "little"), text, *[a.tobytes() for a in kept.hidden]]))


def _parsed(data: bytes) -> Kept:
    length = int.from_bytes(data[:8], "little")
    head, rest = json.loads(data[8 : 8 + length]), data[8 + length :]
    hidden = []
    for shape, kind in head["hidden"]:
        count = int(np.prod(shape, dtype=int))
        dtype = np.dtype(kind)
        hidden.append(np.frombuffer(rest, dtype, count).reshape(shape).copy())
        rest = rest[count * dtype.itemsize :]
    inputs, outputs = [[(tuple(shape), kind) for shape, kind in head[key]] for key in ("inputs", "outputs")]
    results = jax.tree.structure(_made(head["results"]))
    return Kept(head["object"], int(head["scratch"]), inputs, outputs, hidden, results)


def _told(tree: Any) -> Any:
    """A tree of tuples, with names or without, whose leaves are whole numbers, for JSON."""
    if tree is None or type(tree) is int:
        return tree
    if not isinstance(tree, tuple):
        raise NoName
    where = "" if type(tree) is tuple else identity.place(type(tree))
    return [where, *map(_told, tree)]


def _made(told: Any) -> Any:
    """The tree that `_told` has described."""
    if not isinstance(told, list):
        return told
    parts = tuple(map(_made, told[1:]))
    if not told[0]:
        return parts
    kind = identity.found(told[0])
    if not (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")):
        raise NoName
    return kind(*parts)

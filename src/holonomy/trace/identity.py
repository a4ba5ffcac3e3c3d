"""What something is, in words that are the same in every process: the name under which code for it is kept on disk.

Described are the structures of arguments of compiled functions: trees of classes of this package with programs, numbers
and names as their fixed parts. Functions and classes are described by where they are defined, so they must be found
there, in this package or in one whose version is part of the name. For anything else (a user's own class or function,
a rule of differentiation inside a program) there are no such words, and what depends on it is not kept.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

import equinox as eqx
import jax
import numpy as np
from jax.tree_util import PyTreeDef

import holonomy
from holonomy.trace import LOADED
from holonomy.trace.by_value import ByValue
from holonomy.trace.function import Fixed, Program
from holonomy.trace.pickling import known_primitives

_PACKAGES: Final = frozenset(["builtins", "holonomy", "jax", "jaxlib", "numpy", "equinox"])
# Settings of JAX that change what is traced.
_SETTINGS: Final = ("jax_enable_x64", "jax_default_matmul_precision", "jax_numpy_dtype_promotion")


class NoName(Exception):
    """There are no words for this that mean the same in another process."""


def described(value: Any) -> str:
    """The words. Raises `NoName`."""
    words: list[str] = []
    _say(value, words.append)
    return "".join(words)


def surroundings() -> str:
    """What traced functions depend on besides their arguments: this package's own text and the versions of others.

    Raises `NoName` where the text on disk is younger than this process, which may run an older one: what it compiles
    would be found under the name of the new text by every later process.
    """
    said = _surroundings(Path(holonomy.__file__).parent, LOADED)
    if said is None:
        raise NoName
    return said


@cache
def _surroundings(root: Path, loaded: float) -> str | None:
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        status = file.stat()
        if max(status.st_mtime, status.st_ctime) > loaded:
            return None
        digest.update(f"{file.relative_to(root)}\0".encode())
        digest.update(file.read_bytes())
    versions = [platform.python_version(), jax.__version__, np.__version__, eqx.__version__]
    return " ".join([digest.hexdigest(), *versions])


def settings() -> str:
    """The settings of JAX under which a function is traced now."""
    return repr([getattr(jax.config, name) for name in _SETTINGS] + [jax.default_backend()])


def place(thing: Any) -> str:
    """Where a class or function is defined, such as ``holonomy.motion.loops.plain:chunk``. Raises `NoName`."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        raise NoName
    if found(f"{module}:{name}") is not thing:
        raise NoName
    return f"{module}:{name}"


def found(where: str) -> Any:
    """The class or function of this package, or of those it is made with, that is defined at a place. Raises `NoName`.

    Nothing is imported for it.
    """
    module, _, name = where.partition(":")
    here: Any = sys.modules.get(module) if module.partition(".")[0] in _PACKAGES else None
    for part in name.split("."):
        here = getattr(here, part, None)
    if here is None:
        raise NoName
    return here


def _say(value: Any, say: Callable[[str], None]) -> None:
    rule = _RULES.get(type(value))
    if rule is not None:
        rule(value, say)
    elif isinstance(value, tuple):  # with names, or of many parts with a digest
        say(place(type(value)))
        digest = getattr(value, "digest", None)
        if isinstance(digest, str):
            _words(digest, say)
        else:
            _several(value, say)
    elif isinstance(value, enum.Enum):
        say(f"{place(type(value))}.{value.name} ")
    elif isinstance(value, np.dtype):
        say(f"{value.str} ")
    elif isinstance(value, np.generic):
        say(f"{value.dtype.str} {value.tobytes().hex()} ")
    elif isinstance(value, type):
        say(f"class {place(value)} ")
    elif dataclasses.is_dataclass(value):
        say(place(type(value)))
        _several([getattr(value, field.name) for field in dataclasses.fields(value)], say)
    elif getattr(value, "__dict__", None) == {}:  # it has nothing but its class
        say(f"a {place(type(value))} ")
    elif _is_its_attributes(value):
        say(f"one of {place(type(value))} ")
        _mapping(vars(value), say)
    else:
        raise NoName


def _is_its_attributes(value: Any) -> bool:
    """Whether an object of JAX, such as a tree among the parameters of a primitive, has no state but its attributes."""
    classes = type(value).__mro__[:-1]
    ours = all(c.__module__.partition(".")[0] == "jax" for c in classes)
    return ours and hasattr(value, "__dict__") and not any(c.__dict__.get("__slots__") for c in classes)


def _several(values: Any, say: Callable[[str], None]) -> None:
    say(f"{len(values)}(")
    for value in values:
        _say(value, say)
    say(")")


def _plain(value: Any, say: Callable[[str], None]) -> None:
    say(f"{value!r} ")


def _function(value: Any, say: Callable[[str], None]) -> None:
    say(f"function {place(value)} ")


def _bytes(value: bytes, say: Callable[[str], None]) -> None:
    say(f"{len(value)} bytes {hashlib.sha256(value).hexdigest()} ")


def _array(value: np.ndarray, say: Callable[[str], None]) -> None:
    say(f"array {value.shape} {value.dtype.str} ")
    _bytes(value.tobytes(), say)


def _list(value: list[Any], say: Callable[[str], None]) -> None:
    say("list")
    _several(value, say)


def _mapping(value: dict[Any, Any], say: Callable[[str], None]) -> None:
    say("map")
    _several([part for item in value.items() for part in item], say)


def _program(value: Program, say: Callable[[str], None]) -> None:
    known = known_primitives()
    if any(known.get(primitive.name) is not primitive for primitive, *_ in value.instructions):
        raise NoName
    say("program")
    _say(value.key, say)


def _tree(value: Any, say: Callable[[str], None]) -> None:
    node = value.node_data()
    if node is None:
        say("* ")
        return
    if node[0] is type(None):
        say("- ")
        return
    say(f"tree {place(node[0])} ")
    _say(node[1], say)
    _several(value.children(), say)


def _by_key(value: Any, say: Callable[[str], None]) -> None:
    _say(value.key, say)


def _words(value: str, say: Callable[[str], None]) -> None:
    say(f"{len(value)}'{value}")


_RULES: Final[dict[type, Callable[[Any, Callable[[str], None]], None]]] = {
    type(None): _plain, bool: _plain, int: _plain, float: _plain, complex: _plain, str: _words, bytes: _bytes,
    tuple: _several, list: _list, dict: _mapping, np.ndarray: _array, PyTreeDef: _tree, Program: _program,
    Fixed: _by_key, ByValue: _by_key, FunctionType: _function, BuiltinFunctionType: _function,
}  # fmt: skip

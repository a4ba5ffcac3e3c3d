"""Where compiled loops run: as one machine function, or in XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from holonomy.motion.method import AbstractMethod, AbstractRungeKutta
from holonomy.systems import System
from holonomy.trace.plan import Unsupported, attempt

# Above this a machine function of single numbers grows faster than what it saves; XLA works on whole arrays.
LARGEST = 12
# The same for explicit steps of systems that bring an acceleration of their own, whose work grows like their size.
LARGEST_DIRECT = 128

ENGINES = (None, "native", "xla")


class Engine:
    """Runs traced functions, compiled once per structure of their arguments; numbers are data.

    `name` is what the certificate says; `refusal` says at length why something has no native code.
    """

    def __init__(self, system: System, method: AbstractMethod, wanted: str | None):
        self.strict = wanted == "native"
        self.native = wanted == "native" or (wanted is None and _suits(system, method))
        self.refusal = ""
        self._brief = ""

    @property
    def name(self) -> str:
        """The engine's name, with the reason when it is not the one that was tried."""
        if self.native:
            return "native (one machine function)"
        reason = f" (no native code: {self._brief})" if self._brief else ""
        return f"xla on {jax.default_backend()}{reason}"

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """The value of a function of PyTrees of arrays."""
        compiled = self._native(function, args) if self.native else None
        if compiled is not None:
            return compiled(*args)
        return _jitted(function)(*args)

    def batch(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any] | None:
        """The function, compiled for arguments like `args`, of many members at once, spread over the cores.

        None where it has no native form.
        """
        compiled = self._native(function, args)
        return None if compiled is None else compiled.batch

    def _native(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        try:
            return _machine(function, args)
        except Unsupported as error:
            if self.strict:
                raise ValueError(f"engine='native' cannot run this system: {error} Use engine='xla'.") from error
            self.native = False
            self.refusal, self._brief = str(error), error.brief
            return None


def _suits(system: System, method: AbstractMethod) -> bool:
    direct = system.direct is not None and system.constraints is None and isinstance(method, AbstractRungeKutta)
    largest = LARGEST_DIRECT if direct else LARGEST
    return jax.default_backend() == "cpu" and method.scalar and system.space.point_dim <= largest


_machines: dict[Any, Any] = {}
_jits: dict[Any, Any] = {}


def _machine(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    leaves, structure = jax.tree.flatten(args)
    key = (function, structure, tuple((np.shape(x), _dtype(x)) for x in leaves))
    found = _machines.get(key)
    if found is None:
        try:
            found = _compiler()(function, args)
        except Unsupported as error:
            found = error
        _machines[key] = found
    if isinstance(found, Exception):
        raise found
    return found


def _compiler() -> Callable[..., Any]:
    """The compiler, loaded here so that work that never compiles natively does not load LLVM."""
    with attempt("loading LLVM"):
        from holonomy.trace import native
    return native.compile


def _dtype(x: Any) -> str:
    return x.dtype.char if isinstance(x, (jax.Array, np.ndarray, np.generic)) else np.result_type(x).char


def _jitted(function: Callable[..., Any]) -> Any:
    if function not in _jits:
        _jits[function] = jax.jit(function)
    return _jits[function]

"""Where compiled loops run: as one machine function, or in XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import numpy as np

from holonomy.root_finding import derivatives_of_roots
from holonomy.trace.compile_cache import CompileCache
from holonomy.trace.lowering.limits import Limits
from holonomy.trace.lowering.statements import Unsupported, attempt

ENGINES = (None, "native", "xla")


class Engine:
    """Runs traced functions, compiled once per structure of their arguments; numbers are data.

    `wanted` is the name of an engine, or None to use native code on a CPU where the functions are `small`. `name` is
    what the certificate says; `refusal` says at length why something has no native code. `limits` say what native code
    takes apart into scalars and what it keeps in memory; by default as much as is worth it.
    """

    def __init__(self, wanted: str | None, *, small: bool = True, limits: Limits | tuple[Limits, ...] | None = None):
        self.limits = limits
        self.strict = wanted == "native"
        self.native = wanted == "native" or (wanted is None and small and jax.default_backend() == "cpu")
        self.refusal = ""
        self._brief = ""

    @property
    def name(self) -> str:
        """The engine's name, with the reason when it is not the one that was tried."""
        if self.native:
            return "native (one machine function)"
        reason = f" (no native code: {self._brief})" if self._brief else ""
        return f"xla on {jax.default_backend()}{reason}"

    def call(self, function: Callable[..., Any], *args: Any, seldom: bool = False, steps: int | None = None) -> Any:
        """The value of a function of PyTrees of arrays.

        One that is called `seldom`, of arrays that are not large, is compiled in less time, for code that is slower.
        Where it is known how many `steps` a call takes, long code is not optimised before that is worth its time.
        """
        compiled = self._native(function, args, seldom, steps is not None) if self.native else None
        if compiled is not None:
            return compiled(*args, steps=steps or 0)
        return _jitted(function)(*args)

    def batch(
        self, function: Callable[..., Any], args: tuple[Any, ...], *, seldom: bool = False, gradual: bool = False
    ) -> Callable[..., Any] | None:
        """The function, compiled for arguments like `args`, of many members at once, spread over the cores.

        `seldom` and `gradual` (how many steps a call takes is known) choose the code that `call` uses for such calls,
        so that nothing is compiled again. None where the function has no native form, or the engine is another one.
        """
        compiled = self._native(function, args, seldom, gradual) if self.native else None
        return None if compiled is None else compiled.batch

    def _native(
        self, function: Callable[..., Any], args: tuple[Any, ...], seldom: bool = False, gradual: bool = False
    ) -> Any:
        try:
            return _machine(function, args, self.limits, seldom, gradual)
        except Unsupported as error:
            if self.strict:
                raise ValueError(f"engine='native' cannot run this system: {error} Use engine='xla'.") from error
            self.native = False
            self.refusal, self._brief = str(error), error.brief
            return None


_FEW: Final = 256  # elements of the arrays in work that takes longer to optimise than to do a few times without
_machines = CompileCache(remembered=Unsupported)
_jits = CompileCache()


def forget() -> None:
    """Drop all compiled loops; each is compiled again when it is next called."""
    _machines.clear()
    _jits.clear()


def _machine(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    limits: Limits | tuple[Limits, ...] | None,
    seldom: bool,
    gradual: bool,
) -> Any:
    leaves, structure = jax.tree.flatten(args)
    quick = seldom and all(np.size(x) <= _FEW for x in leaves)
    key = (function, structure, limits, quick, gradual, tuple((np.shape(x), _dtype(x)) for x in leaves))
    return _machines.get(key, lambda: _compiler()(function, args, limits=limits, quick=quick, gradual=gradual))


def _compiler() -> Callable[..., Any]:
    """The compiler, loaded here so that work that never compiles natively does not load LLVM."""
    with attempt("loading LLVM"):
        from holonomy.trace.native import compiler
    return compiler.compile


def _dtype(x: Any) -> str:
    return x.dtype.char if isinstance(x, (jax.Array, np.ndarray, np.generic)) else np.result_type(x).char


def _jitted(function: Callable[..., Any]) -> Any:
    def undifferentiated(*args: Any) -> Any:
        with derivatives_of_roots(False):
            return function(*args)

    return _jits.get(function, lambda: jax.jit(undifferentiated))

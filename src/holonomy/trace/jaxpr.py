"""Read a jaxpr of any supported version of JAX into one fixed form.

Everything that differs between versions of JAX is in this file: names and parameters of primitives that call other
jaxprs, how a loop says what it carries, whether a jaxpr and its constants are one object or two. The rest of `trace`
sees only `Jaxpr` and `Equation` below, in which

- every kind of call (`jit`, functions with derivatives of their own, checkpoints, solvers that carry their solution) is
  an equation `call` with the one parameter `jaxpr`;
- `scan` has the parameters `jaxpr`, `num_consts`, `num_carry`, `length`, `reverse` and `unroll`, `while` has
  `cond_jaxpr`, `body_jaxpr`, `cond_nconsts` and `body_nconsts`, `cond` has `branches`;
- all other primitives keep their names and parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import jax.extend.core as jex

from holonomy.trace.lowering.statements import Unsupported, attempt

# JAX 0.11 made the closed jaxpr (a jaxpr with its constants) and the open one a single class.
JAXPRS: Final = (jex.Jaxpr, getattr(jex, "ClosedJaxpr", jex.Jaxpr))

# Primitives that do nothing but call a jaxpr, and the parameters under which versions of JAX keep it.
CALLS: Final = frozenset(
    (
        "jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
        "remat", "remat2", "checkpoint", "eval_jaxpr",
    )
)  # fmt: skip
_CALLED: Final = ("jaxpr", "call_jaxpr", "fun_jaxpr")


@dataclass(frozen=True, eq=False, slots=True)
class Equation:
    """One application of a primitive: `outvars = name[params](*invars)`."""

    name: str
    params: dict[str, Any]
    invars: Sequence[Any]
    outvars: Sequence[Any]


@dataclass(frozen=True, eq=False, slots=True)
class Jaxpr:
    """A list of equations with the values of its constants."""

    constvars: Sequence[Any]
    consts: Sequence[Any]
    invars: Sequence[Any]
    eqns: Sequence[Equation]
    outvars: Sequence[Any]


def traced(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Jaxpr, Any]:
    """The jaxpr of `function` at arguments shaped like `args`, and its results as a tree of shapes and types."""

    # A new object on each call: JAX keeps jaxprs by the identity of the function, and would give back an old one.
    def now(*inputs: Any) -> Any:
        return function(*inputs)

    closed, shape = jax.make_jaxpr(now, return_shape=True)(*args)
    with attempt("reading the traced function"):
        return read(closed), shape


def read(closed: Any) -> Jaxpr:
    """A jaxpr of JAX in the fixed form; a jaxpr that occurs several times inside it is read once."""
    return _Reader().jaxpr(closed)


def parts(closed: Any) -> tuple[Any, Sequence[Any]]:
    """A jaxpr of JAX as its list of equations and its constants, which are two objects before JAX 0.11."""
    inner = getattr(closed, "jaxpr", closed)
    return inner, getattr(closed, "consts", ())


def called(name: str, params: dict[str, Any]) -> Any:
    """The jaxpr of JAX that a primitive of `CALLS` calls."""
    for key in _CALLED:
        if isinstance(params.get(key), JAXPRS):
            return params[key]
    raise Unsupported(f"The JAX primitive '{name}' of JAX {jax.__version__} does not say what it calls.")


def inner_jaxprs(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """The jaxprs among the parameters of an `Equation`."""
    for value in params.values():
        if isinstance(value, Jaxpr):
            yield value
        elif isinstance(value, tuple):
            yield from (part for part in value if isinstance(part, Jaxpr))


@dataclass
class _Reader:
    """Reads jaxprs, each once."""

    seen: dict[int, tuple[Any, Jaxpr]] = field(default_factory=dict)

    def jaxpr(self, closed: Any) -> Jaxpr:
        found = self.seen.get(id(closed))
        if found is None:
            inner, consts = parts(closed)
            if len(inner.constvars) != len(consts):
                raise Unsupported("A jaxpr inside the function lacks the values of its constants.")
            result = Jaxpr(inner.constvars, consts, inner.invars, [self.equation(e) for e in inner.eqns], inner.outvars)
            found = self.seen[id(closed)] = (closed, result)
        return found[1]

    def equation(self, eqn: Any) -> Equation:
        name, params = eqn.primitive.name, eqn.params
        if name in CALLS:
            return Equation("call", {"jaxpr": self.jaxpr(called(name, params))}, eqn.invars, eqn.outvars)
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, eqn)
        return Equation(name, {key: self.param(value) for key, value in params.items()}, eqn.invars, eqn.outvars)

    def param(self, value: Any) -> Any:
        if isinstance(value, JAXPRS):
            return self.jaxpr(value)
        if type(value) in (tuple, list) and any(isinstance(part, JAXPRS) for part in value):
            return tuple(map(self.param, value))
        return value

    def scan(self, eqn: Any) -> Equation:
        old = eqn.params
        if "num_consts" in old:
            consts, carry = old["num_consts"], old["num_carry"]
        else:  # since JAX 0.11: three trees, for constants, loop variables and rows
            consts, carry, _ = map(len, old["ft_in"].unpack())
        params = {"jaxpr": self.jaxpr(old["jaxpr"]), "num_consts": consts, "num_carry": carry}
        return Equation("scan", params | {k: old[k] for k in ("length", "reverse", "unroll")}, eqn.invars, eqn.outvars)

    def linear_solve(self, eqn: Any) -> Equation:
        """A solve with derivatives of its own, as a call of its solver."""
        lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
        first = lengths.matvec + lengths.vecmat
        last = first + lengths.solve
        operands = [*eqn.invars[first:last], *eqn.invars[last + lengths.transpose_solve :]]
        return Equation("call", {"jaxpr": self.jaxpr(jaxprs.solve)}, operands, eqn.outvars)

    def high_level(self, eqn: Any) -> Equation:
        """An operation that says itself what it stands for (since JAX 0.11.1, for example `custom_root`)."""
        operation = eqn.params["_prim"]
        found = self.seen.get(id(operation))
        if found is None:
            shapes = jax.tree.map(lambda aval: jax.ShapeDtypeStruct(aval.shape, aval.dtype), operation.in_avals)
            found = self.seen[id(operation)] = (operation, read(jax.make_jaxpr(operation.expand)(*shapes)))
        return Equation("call", {"jaxpr": found[1]}, eqn.invars, eqn.outvars)


_SPECIAL: Final[dict[str, Callable[[_Reader, Any], Equation]]] = {
    "scan": _Reader.scan,
    "custom_linear_solve": _Reader.linear_solve,
    "call_hi_primitive": _Reader.high_level,
}

# The primitives of JAX that become `call` here, for the table in the documentation.
READ_AS_CALLS: Final = CALLS | {"custom_linear_solve", "call_hi_primitive"}

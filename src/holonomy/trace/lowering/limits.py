"""What native code is made for: which arrays are taken apart, how much work is written out, and what is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

from holonomy.trace.graph.dag import dtype_name
from holonomy.trace.jaxpr import Jaxpr, inner_jaxprs
from holonomy.trace.lowering.statements import Unsupported


@dataclass(frozen=True, slots=True)
class Limits:
    """What is taken apart and what is kept whole.

    An array is taken apart into scalars up to `scalars` elements; an argument, result or loop variable up to `carried`.
    `nodes` bounds the whole graph, `unrolled` the work of a scan that is written out and `rows` that of one over
    independent rows (`trace.repeat`), `solve` the size of a matrix factorised in scalars (`pivoted` with pivoting).
    With `arrays`, operations on whole arrays are joined into few loops (`lowering.arrays`); an array that is used
    several times is then kept in memory if computing it again would take more than `dear` operations an element.
    """

    scalars: int = 4096
    carried: int = 256
    nodes: int = 250_000
    unrolled: int = 600
    rows: int = 20_000
    solve: int = 16
    pivoted: int = 6
    arrays: bool = False
    dear: float = 12.0


TAKEN_APART: Final = (
    Limits(),
    Limits(scalars=64, carried=32, unrolled=64, solve=4),
    Limits(scalars=8, carried=8, unrolled=0, solve=2, pivoted=2),
)
"""Tried in turn: fewer arrays taken apart, more kept in memory, until the function is small enough."""

ARRAYS: Final = Limits(scalars=16, carried=16, unrolled=64, solve=4, pivoted=2, arrays=True)
"""For functions of large arrays."""

COUPLED_ARRAYS: Final = replace(ARRAYS, dear=4.0)
"""For functions of large arrays that go through most of them many times, as iterations for multipliers do."""

FEW_ARRAYS: Final = replace(ARRAYS, nodes=20_000)
"""For functions of arrays of some ten numbers, as long as they are not mostly about single numbers."""


@dataclass(frozen=True, slots=True)
class Site:
    """One equation of a jaxpr as its rule sees it: parameters, result types, and which operands nobody needs
    afterwards.
    """

    name: str
    params: dict[str, Any]
    results: tuple[tuple[tuple[int, ...], str], ...]
    dead: tuple[bool, ...]


class TooLarge(Unsupported):
    """The function has more scalar operations than native code is made for."""


def unsupported_primitive(name: str) -> Unsupported:
    """The error for a primitive without a rule."""
    return Unsupported(
        f"The JAX primitive '{name}' has no native form (docs/trace.md lists those that have). Pass engine=\"xla\" to "
        f"run this function as it is, or write it without the call that traces to '{name}'."
    )


def checked_dtype(dtype: Any) -> str:
    """The name of a scalar type, or the error that says which ones there are."""
    try:
        name = dtype_name(dtype)
    except TypeError:
        name = str(dtype)
    if name[0] not in "fiub" or name == "f2":
        raise Unsupported(
            f"Arrays of type {dtype} have no native form; native code knows float64, float32, integers and booleans. "
            'Pass engine="xla", or write complex numbers as pairs of real ones.'
        )
    return name


def evaluations(jaxpr: Jaxpr) -> dict[int, int]:
    """How often each jaxpr inside is evaluated where everything is written out, by `id`; a scan counts twice."""
    order: dict[int, Jaxpr] = {}

    def visit(one: Jaxpr) -> None:
        if id(one) not in order:
            for eqn in one.eqns:
                for inner in inner_jaxprs(eqn.params):
                    visit(inner)
            order[id(one)] = one

    visit(jaxpr)
    times = dict.fromkeys(order, 0) | {id(jaxpr): 1}
    for one in reversed(order.values()):
        for eqn in one.eqns:
            for inner in inner_jaxprs(eqn.params):
                times[id(inner)] += times[id(one)] * (2 if eqn.name == "scan" else 1)
    return times


def cost(jaxpr: Jaxpr, known: dict[int, int] | None = None) -> int:
    """A rough count of the scalar operations a jaxpr writes out; `known` are those of jaxprs that live on, by `id`."""
    known = {} if known is None else known
    found = known.get(id(jaxpr))
    if found is None:
        found = known[id(jaxpr)] = _cost(jaxpr, known)
    return found


def _cost(jaxpr: Jaxpr, known: dict[int, int]) -> int:
    total = 0
    for eqn in jaxpr.eqns:
        inner = sum(cost(j, known) for j in inner_jaxprs(eqn.params))
        if eqn.name == "scan":
            inner *= eqn.params["length"]
        results = sum(math.prod(v.aval.shape) for v in eqn.outvars)
        if eqn.name == "dot_general":
            (contracted, _), _ = eqn.params["dimension_numbers"]
            results *= math.prod([eqn.invars[0].aval.shape[d] for d in contracted])
        total += inner or results
    return total

"""Whether a traced function may change much on a short stretch of its arguments: jump, have a corner, or a narrow bump.

Sums, products and powers, roots, and sines of the arguments do not, on stretches that are short beside the motion.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from holonomy.trace.function import Function, Program
from holonomy.trace.jaxpr import JAXPRS

_STEEP = frozenset(
    (
        "lt", "le", "gt", "ge", "eq", "ne", "sign", "floor", "ceil", "round", "argmax", "argmin", "max", "min", "abs",
        "clamp", "rem", "reduce_max", "reduce_min", "sort", "while", "cond",
        "exp", "exp2", "expm1", "tanh", "logistic", "erf", "erfc",
    )
)  # fmt: skip


def may_be_steep(function: Function) -> bool:
    """Whether a function has a comparison, a corner, a rounding, a loop, or a function that rises fast in it."""
    return _may_be_steep(function.program)


@functools.lru_cache(maxsize=256)
def _may_be_steep(program: Program) -> bool:
    return any(_steep(primitive.name, params) for primitive, params, *_ in program.instructions)


def _steep(name: str, params: Any) -> bool:
    return name in _STEEP or any(_steep(one.primitive.name, one.params) for inner in _inner(params) for one in inner)


def _inner(params: Any) -> Iterator[Sequence[Any]]:
    """The equations of the loops and branches in the parameters of a primitive."""
    for value in dict(params).values():
        for one in value if isinstance(value, tuple | list) else (value,):
            if isinstance(one, JAXPRS):
                yield getattr(one, "jaxpr", one).eqns

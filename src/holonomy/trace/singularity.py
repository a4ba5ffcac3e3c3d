"""Whether a traced function can become infinite at some values of an argument, judged by signs alone.

A quotient is infinite where its denominator vanishes. That cannot happen where the denominator is a sum of squares and
a positive number, as in a softened potential; elsewhere it may. Signs are followed through the program: nothing is
evaluated, and what is not understood has an unknown sign, never a wrong one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from holonomy.trace.data_movement import moved_operands
from holonomy.trace.function import Function, Program, slot_types


class Sign(IntEnum):
    """What is known of all components of a value."""

    any = 0
    not_negative = 1
    positive = 2
    zero = 3


def may_be_infinite(function: Function, arguments: Sequence[Any], variable: int, zeros: Sequence[int] = ()) -> bool:
    """Whether some quotient, logarithm or negative power that enters the value of `function` has a denominator that
    depends on the input with number `variable` and is not positive by its form.

    `arguments` are the inputs, one leaf each: those that are numbers count with their present signs. The inputs `zeros`
    are taken as zero, so that quotients multiplied by them do not count.
    """
    inputs = (*arguments, *function.constants)
    signs = [_sign_of(value) for value in inputs]
    signs[variable] = Sign.any
    for index in zeros:
        signs[index] = Sign.zero
    shapes = tuple((x.shape, str(x.dtype)) for x in map(jax.typeof, inputs))
    return _may_be_infinite(function.program, tuple(signs), shapes, variable)


@functools.lru_cache(maxsize=256)
def _may_be_infinite(
    program: Program, inputs: tuple[Sign, ...], types: tuple[tuple[tuple[int, ...], str], ...], variable: int
) -> bool:
    """The same of a program by the signs and types of its inputs; kept, for it is asked before every run."""
    known, moving = list(inputs), [index == variable for index in range(len(inputs))]
    infinite = [False] * len(inputs)
    shapes = [shape for shape, _ in slot_types(program, types)]
    for primitive, params, slots, results in program.instructions:
        signs = [known[s] if isinstance(s, int) else _sign_of(s.value) for s in slots]
        depends = [moving[s] if isinstance(s, int) else False for s in slots]
        below = _denominator(primitive.name, params, signs)
        vanishing = below is not None and depends[below] and signs[below] != Sign.positive and signs[0] != Sign.zero
        square = len(slots) == 2 and slots[0] == slots[1] and not shapes[len(known)]
        sign = _result(primitive.name, params, signs, square)
        known += [sign] * results
        moving += [any(depends)] * results
        above = any(infinite[s] for s in slots if isinstance(s, int))
        infinite += [(vanishing or above) and sign != Sign.zero] * results
    return any(infinite[s] for s in program.outputs if isinstance(s, int))


def _sign_of(value: Any) -> Sign:
    if isinstance(value, Tracer):
        return Sign.any
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or array.size == 0:
        return Sign.any
    if np.all(array == 0):
        return Sign.zero
    if np.all(array > 0):
        return Sign.positive
    return Sign.not_negative if np.all(array >= 0) else Sign.any


def _denominator(name: str, params: dict[str, Any], signs: Sequence[Sign]) -> int | None:
    """Which argument of a primitive must not vanish."""
    if name == "div":
        return 1
    if name in ("rsqrt", "log") or (name == "integer_pow" and params["y"] < 0):
        return 0
    if name == "pow" and signs[1] == Sign.any:
        return 0
    return None


# The value has the sign of the argument.
_FIRST = frozenset([
    "sqrt", "cbrt", "rsqrt", "convert_element_type", "copy", "reduce_sum", "cumsum", "sinh", "tanh", "asinh", "atan",
    "erf", "reduce_max", "reduce_min", "stop_gradient",
])  # fmt: skip
_POSITIVE = frozenset(["exp", "exp2", "cosh", "logistic"])


def _result(name: str, params: dict[str, Any], signs: Sequence[Sign], square: bool) -> Sign:
    """The sign of a primitive's value; `square` says that it is a number, of two arguments that are the same."""
    if name in _FIRST:
        return signs[0]
    moved = moved_operands(name, len(signs))
    if moved:
        return _least(signs[:moved])
    if name in ("select_n", "min"):
        return _least(signs[1:] if name == "select_n" else signs)
    if name in _POSITIVE:
        return Sign.positive
    if name in ("add", "add_any", "max"):
        return _sum(*signs)
    if name in ("mul", "dot_general", "div"):
        return max(_product(*signs), Sign.not_negative) if square else _product(*signs)
    if name in ("square", "abs") or (name == "integer_pow" and params["y"] % 2 == 0):
        return max(signs[0], Sign.not_negative)
    if name == "pow" and signs[0] == Sign.zero and signs[1] != Sign.positive:
        return Sign.any
    if name in ("integer_pow", "pow"):
        return signs[0]
    if name == "sub" and signs[1] == Sign.zero:
        return signs[0]
    if name in ("neg", "sin"):
        return Sign.zero if signs[0] == Sign.zero else Sign.any
    return Sign.any


def _least(signs: Sequence[Sign]) -> Sign:
    if all(s == Sign.zero for s in signs):
        return Sign.zero
    return min(Sign.not_negative if s == Sign.zero else s for s in signs)


def _sum(a: Sign, b: Sign) -> Sign:
    if Sign.zero in (a, b):
        return b if a == Sign.zero else a
    if Sign.any in (a, b):
        return Sign.any
    return max(a, b)


def _product(a: Sign, b: Sign) -> Sign:
    if Sign.zero in (a, b):
        return Sign.zero
    return min(a, b)

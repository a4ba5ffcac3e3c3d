"""The value of a formula on JAX values: the only way a typed formula is ever carried out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.scene.expression import OPERATORS, Call, Chain, Compare, Name, Negate, Node, Number, Power
from holonomy.scene.functions import FUNCTIONS

Value = Float[Array, ""] | float

_LARGEST_WHOLE_POWER = 64  # larger powers go through exp and log, as those that are not whole
_ARRAYS = {name: getattr(jnp, function.array) for name, function in FUNCTIONS.items()}


def evaluate(node: Node, scope: Mapping[str, Value]) -> Value:
    """The value of a tree, its names taken from `scope`.

    Whole exponents become repeated products, which are exact and have derivatives everywhere; others are `jnp.power`.
    The names have been checked when the scene was read, so that a missing one here is a fault of ours (`KeyError`).
    """
    match node:
        case Number(value):
            return value
        case Name(name):
            return scope[name]
        case Negate(part):
            return -evaluate(part, scope)
        case Chain(first, rest):
            value = evaluate(first, scope)
            for sign, part in rest:
                value = OPERATORS[sign](value, evaluate(part, scope))
            return value
        case Power(base, exponent):
            return _power(evaluate(base, scope), exponent, scope)
        case Call(function, arguments):
            values = [evaluate(argument, scope) for argument in arguments]
            if function in ("min", "max"):
                return reduce(_ARRAYS[function], values)
            return _ARRAYS[function](*values)
        case Compare(sign, left, right):
            return OPERATORS[sign](evaluate(left, scope), evaluate(right, scope))


def _power(base: Value, exponent: Node, scope: Mapping[str, Value]) -> Value:
    if isinstance(exponent, Number) and exponent.value.is_integer() and abs(exponent.value) <= _LARGEST_WHOLE_POWER:
        return base ** int(exponent.value)
    return jnp.power(base, evaluate(exponent, scope))

"""What went wrong in a user's function, and what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.systems.parameters import Parameters
from holonomy.types import AnyArray, ArrayFunction

_ADVICE: tuple[tuple[type[Exception], str, str], ...] = (
    (
        jax.errors.TracerArrayConversionError,
        "",
        "it gives an argument to a NumPy function; use jax.numpy instead, such as jnp.cos for np.cos.",
    ),
    (
        jax.errors.TracerBoolConversionError,
        "",
        "it decides by the value of an argument (if, and, or, min, max); write jnp.where(condition, a, b) instead.",
    ),
    (
        jax.errors.TracerIntegerConversionError,
        "",
        "it uses an argument as an index or a count; these must be plain whole numbers.",
    ),
    (
        jax.errors.NonConcreteBooleanIndexError,
        "",
        "it selects elements by a condition; write jnp.where(condition, a, b), whose shape does not depend on values.",
    ),
    (
        jax.errors.ConcretizationTypeError,
        "",
        "it needs the value of an argument as a Python number (math.cos, float); use jax.numpy, such as jnp.cos.",
    ),
    (
        IndexError,
        "0-dimensional",
        "it takes an element of a single number; the arguments come in the order t, q, v, p.",
    ),
    (
        TypeError,
        "immutable",
        "it changes an array in place; write x = x.at[0].set(value) instead of x[0] = value.",
    ),
)


def advice(error: Exception) -> str:
    """A clause about an exception in a user's function: what the function does, and what to write instead."""
    for kind, word, clause in _ADVICE:
        if isinstance(error, kind) and word in str(error):
            return clause
    first = str(error).splitlines()[0] if str(error) else "no message"
    return f"{type(error).__name__}: {first}"


def refuse_index(name: str, function: ArrayFunction, arguments: Sequence[AnyArray | Parameters]) -> None:
    """Raise `ValueError` for a function that takes an element which its arguments do not have.

    JAX takes the last element instead of one past the end. NumPy refuses, so the function is traced once more with
    NumPy arrays as its arguments; what else goes wrong with these is no mistake of the function.
    """
    try:
        with np.errstate(all="ignore"):
            jax.eval_shape(lambda: jnp.asarray(function(*arguments)))
    except IndexError as error:
        raise ValueError(
            f"The {name} takes an element that is not there: {error}. Elements are counted from 0, and q and v have "
            "one for each coordinate."
        ) from None
    except Exception:  # noqa: BLE001  a NumPy array is not a JAX array in all respects
        return


def refuse_signature(name: str, function: ArrayFunction, arguments: Sequence[str], parametric: bool) -> None:
    """Raise `ValueError` for a function that cannot be called with arguments of these names."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        pass
    except ValueError:  # it has no signature to look at, as some built-in functions have none
        return
    else:
        return
    wanted = ", ".join(arguments)
    why = (
        "since the system has parameters, p is its last argument"
        if parametric
        else "p would come last if the system had parameters"
    )
    raise ValueError(
        f"The {name} is called as f({wanted}), but takes ({', '.join(inspect.signature(function).parameters)}): {why}. "
        f"Write lambda {wanted}: ..."
    )

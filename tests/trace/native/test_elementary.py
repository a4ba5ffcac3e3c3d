"""Exponential functions and logarithms in loops over arrays: against mpmath over their whole range, and at its ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from holonomy.trace.lowering.limits import ARRAYS
from holonomy.trace.native import compiler
from holonomy.trace.native.elementary import VECTORISED

R = np.random.default_rng(11)
N = 1000


def powers_of_ten(low: float, high: float) -> np.ndarray:
    return 10.0 ** R.uniform(low, high, N)


BOTH: Final = np.repeat([1.0, -1.0], N // 2)
POINTS: dict[str, list[np.ndarray]] = {
    "exp": [R.uniform(-1, 1, N), R.uniform(-708, 709.78, N), R.uniform(-745.2, -708, N), BOTH * powers_of_ten(-20, 0)],
    "expm1": [R.uniform(-2, 2, 3 * N), R.uniform(-50, 709.78, N), BOTH * powers_of_ten(-20, 0)],
    "log": [R.uniform(0.5, 2, 2 * N), 1 + BOTH * powers_of_ten(-15, -2), powers_of_ten(-323, 308)],
    "log1p": [
        R.uniform(-0.9, 4, 3 * N),
        BOTH * powers_of_ten(-20, -1),
        powers_of_ten(0, 308),
        powers_of_ten(-16, 0) - 1,
    ],
    "sinh": [R.uniform(-3, 3, 2 * N), R.uniform(-710.4, 710.4, N), BOTH * powers_of_ten(-20, 0)],
    "cosh": [R.uniform(-3, 3, 2 * N), R.uniform(-710.4, 710.4, N), BOTH * powers_of_ten(-20, 0)],
    "tanh": [R.uniform(-3, 3, 2 * N), R.uniform(-25, 25, N), BOTH * powers_of_ten(-20, 0)],
}
# Hyperbolic functions contain quotients of rounded numbers.
UNITS = {"exp": 1.0, "expm1": 1.0, "log": 1.0, "log1p": 1.0, "sinh": 3.0, "cosh": 3.0, "tanh": 3.0}

FUNCTIONS: dict[str, Callable[[Any], Any]] = {name: getattr(jnp, name) for name in VECTORISED}

INF, NAN, LEAST = math.inf, math.nan, 5e-324
ZEROS = [(0.0, 0.0), (-0.0, -0.0), (LEAST, LEAST), (NAN, NAN)]
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (LEAST, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (NAN, NAN),
        (1e300, INF),
        (-1e300, 0.0),
        (709.782712893384, math.exp(709.782712893384)),
        (709.7827128933841, INF),
        (-745.1332191019411, LEAST),
        (-745.1332191019412, 0.0),
    ],
    "expm1": [*ZEROS, (INF, INF), (-INF, -1.0), (709.7827128933841, INF), (-60.0, -1.0), (-1e300, -1.0)],
    "log": [
        (1.0, 0.0),
        (0.0, -INF),
        (-0.0, -INF),
        (INF, INF),
        (-INF, NAN),
        (-LEAST, NAN),
        (NAN, NAN),
        (LEAST, math.log(LEAST)),
        (2.0**-1022, math.log(2.0**-1022)),
    ],
    "log1p": [*ZEROS, (-1.0, -INF), (INF, INF), (-1.5, NAN), (-INF, NAN)],
    "sinh": [*ZEROS, (INF, INF), (-INF, -INF), (-711.0, -INF), (1e300, INF)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (LEAST, 1.0), (NAN, NAN), (INF, INF), (-INF, INF), (-711.0, INF), (1e300, INF)],
    "tanh": [*ZEROS, (INF, 1.0), (-INF, -1.0), (-30.0, -1.0), (1e300, 1.0)],
}


def in_loops(name: str, x: np.ndarray, *, quick: bool = False) -> np.ndarray:
    return np.asarray(compiler.compile(FUNCTIONS[name], (x,), limits=ARRAYS, quick=quick)(x))


@pytest.mark.parametrize("name", VECTORISED)
def test_digits(name: str) -> None:
    x = np.concatenate(POINTS[name])
    worst = 0.0
    with mpmath.workprec(120):
        for at, value in zip(x.tolist(), in_loops(name, x).tolist(), strict=True):
            exact = getattr(mpmath, name)(mpmath.mpf(at))
            unit = np.spacing(abs(float(exact)))
            worst = max(worst, float(abs(value - exact) / float(unit)))
    assert worst <= UNITS[name]


@pytest.mark.parametrize("name", VECTORISED)
def test_ends_of_the_range(name: str) -> None:
    """Alone among ordinary numbers, in every lane of a vector, and in the turns that are left over."""
    for x, expected in SPECIAL[name]:
        for place in (0, 3, 6, 16, 18):
            array = np.full(19, 0.5)
            array[place] = x
            value = in_loops(name, array)[place]
            np.testing.assert_array_equal(value, expected)
            assert np.signbit(value) == np.signbit(expected) or np.isnan(expected)


@pytest.mark.parametrize("name", VECTORISED)
def test_bits_do_not_depend_on_optimising_or_the_lane(name: str) -> None:
    x = np.concatenate(POINTS[name])[:999]
    first = in_loops(name, x)
    np.testing.assert_array_equal(in_loops(name, x, quick=True), first)
    np.testing.assert_array_equal(in_loops(name, x[3:]), first[3:])

"""Native code against XLA, and divisions against NumPy, in units of the last place of each component.

At points chosen so that terms cancel, and quotients next to whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jax import lax

import holonomy as hl
from holonomy.trace.native import compiler

# Sines and cosines are within one unit of the last place in native code and in XLA, and products of two of them are
# rounded once more on each side.
UNITS = 4.0


def units(ours: Any, theirs: Any) -> float:
    """The largest difference in units of the last place of the component it stands in; zeros must be zeros."""
    a, b = np.atleast_1d(np.asarray(ours, float)), np.atleast_1d(np.asarray(theirs, float))
    assert a.shape == b.shape
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return float(np.max(np.where(same, 0.0, np.abs(a - b) / np.spacing(np.abs(b)))))


def native(function: Callable[..., Any], *args: Any) -> np.ndarray:
    return np.asarray(compiler.compile(function, args)(*args))


def near(count: int, seed: int) -> list[np.ndarray]:
    """Pairs of angles that differ by 1e-1 down to the last digit, and by nothing."""
    first = np.random.default_rng(seed).uniform(-3.0, 3.0, count)
    pairs = [np.stack([a, a + gap]) for a in first for gap in (1e-1, 1e-4, 1e-8, 1e-12, 1e-15, 0.0)]
    return [*pairs, *[np.stack([a, np.nextafter(a, 9.0)]) for a in first]]


DIFFERENCES: dict[str, Callable[[Any], Any]] = {
    "sine": lambda q: jnp.stack([jnp.sin(q[0] - q[1]), jnp.cos(q[0] - q[1]), jnp.sin(q[0]), jnp.cos(q[1])]),
    "pairs": lambda q: jnp.stack([jnp.sin(q[0] - q[1]), jnp.sin(q[1] - q[0]), jnp.sin(q[0] + q[1]), jnp.cos(q[0])]),
    "tangent": lambda q: jnp.stack([jnp.sin(q[0] - q[1]) / jnp.cos(q[0] - q[1]), jnp.sin(q[0]), jnp.sin(q[1])]),
    "versine": lambda q: jnp.stack([jnp.sin(0.5 * (q[0] - q[1])) ** 2, jnp.sin(q[0]) * jnp.sin(q[1])]),
    "right angle": lambda q: jnp.stack([jnp.cos(q[0] - (q[1] - 1.5707963)), jnp.sin(q[0]), jnp.cos(q[1])]),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_angles_that_are_nearly_equal(name: str) -> None:
    function = DIFFERENCES[name]
    compiled, xla = compiler.compile(function, (np.zeros(2),)), jax.jit(function)
    worst = max(units(compiled(q), xla(q)) for q in near(20, 5))
    assert worst <= UNITS


def test_sines_of_differences_against_exact_ones() -> None:
    """sin(a - b) to one unit in the last place of the sine of the difference, where a - b is exact."""
    compiled = compiler.compile(
        lambda q: jnp.stack([jnp.sin(q[0] - q[1]), jnp.sin(q[0]), jnp.sin(q[1])]), (np.zeros(2),)
    )
    for q in near(20, 6):
        exact = float(mpmath.sin(mpmath.mpf(q[0] - q[1])))
        assert units(compiled(q)[0], exact) <= 1.0


def test_the_force_between_links_that_are_nearly_parallel() -> None:
    """The generalised acceleration of a double pendulum, whose coupling is a sine of the difference of its angles."""

    def lagrangian(t: Any, q: Any, v: Any) -> Any:
        return v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * jnp.cos(q[0] - q[1])

    def force(q: Any, v: Any) -> Any:
        return jax.grad(lambda q: lagrangian(0.0, q, v))(q)

    v = np.array([1.3, -0.7])
    compiled, xla = compiler.compile(force, (np.zeros(2), v)), jax.jit(force)
    assert max(units(compiled(q, v), xla(q, v)) for q in near(20, 7)) <= UNITS


QUOTIENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "floor": lambda xp, x, n: xp.floor(x / n),
    "ceil": lambda xp, x, n: xp.ceil(x / n),
    "round": lambda xp, x, n: xp.round(x / n + 0.5),
    "whole": lambda xp, x, n: (x / n).astype(int),
    "equal": lambda xp, x, n: (x / n == xp.round(x / n)).astype(int),
    "less": lambda xp, x, n: (x / n < xp.round(x / n)).astype(int),
    "floor_divide": lambda xp, x, n: x // n,
    "remainder": lambda xp, x, n: xp.mod(x, n),
    "tripled": lambda xp, x, n: xp.floor((3.0 * x) / n) + xp.floor((5.0 * x) / n),
    "plain": lambda xp, x, n: x / n,
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_near_whole_numbers(name: str) -> None:
    """Several dividends with one divisor, multiples of it and their neighbours: rounded quotients, bit by bit.

    Against NumPy, which rounds as IEEE 754 says: XLA multiplies by a reciprocal where one number divides an array.
    """
    function = QUOTIENTS[name]
    compiled = compiler.compile(lambda x, n: function(jnp, x, n), (np.zeros(3), 1.0))
    for n in (3.0, 7.0, 10.0, 49.0, 98.0, 103.0, 0.1, 0.3):
        for k in (1.0, 2.0, 3.0, 6.0, 29.0):
            for x in (np.array([n, 2 * n, k * n]), np.nextafter(k * np.array([n, 2 * n, 3 * n]), 0.0)):
                np.testing.assert_array_equal(compiled(x, n), function(np, x, n), err_msg=f"{x} / {n}")


@pytest.mark.parametrize("divisor", [3.0, 5.0, 7.0, 10.0, 13.0, 49.0, 98.0])
def test_quotients_by_a_number_in_the_code(divisor: float) -> None:
    x = divisor * np.arange(1.0, 200.0)
    np.testing.assert_array_equal(native(lambda x: jnp.floor(x / divisor), x), np.arange(1.0, 200.0))
    np.testing.assert_array_equal(native(lambda x: x / divisor, np.arange(200.0)), np.arange(200.0) / divisor)


CANCELLING: dict[str, Callable[[Any], Any]] = {
    "common factor": lambda x: 3.0 * x[0] - 3.0 * x[1],
    "common divisor": lambda x: x[0] / 7.0 - x[1] / 7.0,
    "half": lambda x: 0.5 * x[0] - 0.5 * x[1],
    "multiples": lambda x: jnp.stack([16.0 * x[0] - 15.0 * x[0], 3.0 * x[1] - 5.0 * x[1], 2.0 * x[0] - x[0]]),
    "scaled quotient": lambda x: (3.0 * x[0]) / x[1] - 3.0,
}


def fused_either_way(x: Any) -> list[Any]:
    """3 x0 - 3 x1 with one product kept exact, the first or the second: a compiler may choose."""
    a, b = (Fraction(float(value)) for value in x)
    return [float(3 * a - Fraction(3.0 * float(x[1]))), float(Fraction(3.0 * float(x[0])) - 3 * b)]


@pytest.mark.parametrize("name", CANCELLING)
def test_sums_that_cancel(name: str) -> None:
    """A factor is not taken out where products round: the difference of two rounded products is mostly rounding."""
    function = CANCELLING[name]
    xs = [np.array([a, a * (1.0 + gap)]) for a in (0.7, 1.9, 123.4) for gap in (1e-3, 1e-9, 1e-14, 2.3e-16)]
    compiled = compiler.compile(function, (np.zeros(2),))
    for x in xs:
        with jax.disable_jit():
            plain = np.asarray(function(jnp.asarray(x)))
        fused = np.asarray(jax.jit(function)(x))
        # multiplications may be fused with additions by either compiler, which keeps more digits
        allowed = [plain, fused, *(fused_either_way(x) if name == "common factor" else [])]
        assert min(units(compiled(x), value) for value in allowed) <= UNITS


BRANCHES: dict[str, Callable[[Any], Any]] = {
    "cond": lambda x: lax.cond(x[0] > 0, jnp.sin, lambda y: y**2, x),
    "nested cond": lambda x: lax.cond(
        x[0] > 0, lambda y: lax.cond(y[1] > 1, jnp.cos, lambda z: 3.0 * z, y), lambda y: y**2, x
    ),
    "switch": lambda x: lax.switch(jnp.floor(x[0]).astype(int), [lambda y: y, lambda y: y * y, jnp.exp], x),
    "piecewise": lambda x: jnp.piecewise(x, [x < 0, x > 1], [lambda y: -y, jnp.sqrt, lambda y: y * y]),
    "piecewise of a number": lambda x: jnp.piecewise(x[0], [x[0] < 0, x[0] > 1], [jnp.exp, jnp.sqrt, jnp.cos]),
    "select": lambda x: jnp.select([x < 0, x > 1], [x**3, -x], 2 * x),
}
POINTS = [
    np.array(x) for x in ([0.5, -0.2, 1.7], [-0.5, 2.2, 0.7], [1.5, 1.1, 0.2], [2.5, -7.0, 1.0], [0.0, 1.0, -0.0])
]


@pytest.mark.parametrize("name", BRANCHES)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_branches_and_their_derivatives(name: str, order: int) -> None:
    function = BRANCHES[name]
    if order:
        inner = function
        scalar = lambda x: jnp.sum(inner(x))  # noqa: E731
        function = jax.grad(scalar) if order == 1 else jax.hessian(scalar)
    compiled, xla = compiler.compile(function, (POINTS[0],)), jax.jit(function)
    for x in POINTS:
        assert units(compiled(x), xla(x)) <= UNITS


POTENTIALS: dict[str, Callable[[Any, Any], Any]] = {
    "cond": lambda t, q: lax.cond(q[0] > 0, lambda y: y[0] ** 2, lambda y: 2 * y[0] ** 2, q),
    "switch": lambda t, q: lax.switch(
        jnp.clip(jnp.floor(q[0]), 0, 2).astype(int),
        [lambda y: y[0] ** 2, lambda y: 2.0 * y[0] ** 2 - 1.0, lambda y: 6.0 * y[0] - 5.0],
        q,
    ),
    "piecewise": lambda t, q: jnp.sum(
        jnp.piecewise(q, [q < 0, q > 1], [lambda y: 2 * y * y, lambda y: 2 * y * y - y, lambda y: y * y])
    ),
}


@pytest.mark.parametrize("name", POTENTIALS)
def test_systems_with_branches_run_natively(name: str) -> None:
    potential = POTENTIALS[name]
    system = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v @ v - potential(t, q), coordinates=("x", "y"))
    runs = [
        hl.simulate(system, [1.3, 0.2], [-1.0, 0.4], 0.5, dt=0.01, method=hl.RK4(), engine=engine)
        for engine in ("native", "xla")
    ]
    assert runs[0].certificate.engine.startswith("native")
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-14

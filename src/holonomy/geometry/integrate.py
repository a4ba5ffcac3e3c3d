r"""Ordinary differential equations to round-off, for geodesics and transport.

Gauss-Legendre collocation with 8 stages (order 16), its stages found by fixed-point iteration. The step adapts to the
decay of the Legendre coefficients of the derivative over a step. If these decay geometrically from V, the largest after
the constant, to T, the highest, the end of the step has an error of about \(V (T/V)^{16/7}\), since it converges
twice as fast; the step is accepted where that is below \((10^{-5})^{16/7} = 4\cdot 10^{-12}\) of the solution.

The collocation polynomial is also compared with the equation at equally spaced times within the step, so that a step
does not pass over a narrow feature that lies between its stages: where the polynomial's defect is larger than expected
from its highest coefficients, the step is repeated with a shorter one.

Derivatives of a solution by its data come from the variational equation, solved by the same method, so that forward and
reverse mode work to any order.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from holonomy.root_finding import Iterate, iterate
from holonomy.types import Count, Flag, Number, Scalar, Vector

_STAGES = 8
_MAX_STEPS = 20_000  # a solution that needs more is taken not to exist so far
_MAX_ITERATIONS = 60  # of the stages; it stops earlier where the iteration no longer improves
_COEFFICIENT = 1e-5  # allowed share of the highest Legendre coefficient over a step: an error of 4e-12, see above
_SHORTEST = 1e-13  # of the interval: a shorter step means a singularity
# Evaluated as one batch, which costs little more than a few evaluations.
_WATCHED = 128
# The defect of a resolved solution is a small multiple of its highest coefficients; below the second number, which is
# five times the change at which the stages count as not converged, it may be rounding.
_DEFECT = 30.0
_DEFECT_FLOOR = 1e-11


def _tableau() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.legendre.leggauss(_STAGES)
    c, b = (nodes + 1) / 2, weights / 2
    # integrals of the Lagrange polynomials through Legendre coefficients: well conditioned, unlike powers
    values = np.polynomial.legendre.legvander(nodes, _STAGES - 1)
    coefficients = (2 * np.arange(_STAGES) + 1)[:, None] * values.T * b
    antiderivative = np.stack(
        [np.polynomial.legendre.legval(nodes, np.polynomial.legendre.legint(e, lbnd=-1)) / 2 for e in np.eye(_STAGES)],
        axis=1,
    )
    return c, b, antiderivative @ coefficients, coefficients[1:]


_C, _B, _A, _COEFFICIENTS = _tableau()


def _between(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times within a step, and what takes the stages' derivatives to the derivative and to the integral there."""
    times = (np.arange(count) + 0.5) / count
    x = 2 * times - 1
    nodes = np.polynomial.legendre.leggauss(_STAGES)[0]
    to_coefficients = np.linalg.inv(np.polynomial.legendre.legvander(nodes, _STAGES - 1))
    integrals = [
        np.polynomial.legendre.legval(x, np.polynomial.legendre.legint(e, lbnd=-1)) / 2 for e in np.eye(_STAGES)
    ]
    values = np.polynomial.legendre.legvander(x, _STAGES - 1)
    return times, values @ to_coefficients, np.stack(integrals, axis=1) @ to_coefficients


# What jax.custom_jvp passes: t0, t1, y0 and the arrays that f closes over. A tangent that is zero is not an array.
Primals = tuple[Array, Array, Array, tuple[Array, ...]]
Tangents = tuple[object, object, object, tuple[object, ...]]


class _How(NamedTuple):
    loop: bool
    tail: float
    watched: int


class _State(NamedTuple):
    t: Scalar
    y: Vector
    h: Scalar
    steps: Count
    failed: Flag


def integrate(
    f: Callable[..., Array],
    y0: Vector,
    t0: Number = 0.0,
    t1: Number = 1.0,
    *,
    loop: bool = False,
    tail: float = _COEFFICIENT,
    watched: int = _WATCHED,
    derivatives: bool = True,
) -> Vector:
    r"""\(y(t_1)\) of \(\dot y = f(t, y)\), \(y(t_0) = y_0\); NaN where the solution does not exist so far.

    The stages of a step are one batch, or with `loop` one after the other: shorter code for a long f. `tail` is what
    the highest coefficient over a step may be; solutions with singularities near the real line want a smaller one.
    `watched` is the number of times within a step at which the equation is checked; the first step is half of the
    interval, so features of f wider than 1/256 of the interval are not passed over. Without `derivatives` the solution
    is not differentiated by the variational equation: for callers that know its derivatives.
    """
    t0, t1 = jnp.asarray(t0, y0.dtype), jnp.asarray(t1, y0.dtype)
    # a function of its own, since a module that holds traced numbers has no hash
    pure, closed = jax.closure_convert(lambda t, y: f(t, y), t0, y0)
    return (_solve if derivatives else _solution)(pure, _How(loop, tail, watched), t0, t1, y0, tuple(closed))


def _solution(f: Callable[..., Array], how: _How, t0: Array, t1: Array, y0: Array, args: tuple[Array, ...]) -> Array:
    span = t1 - t0

    def rate(s: Array, y: Array) -> Array:
        return span * f(t0 + s * span, y, *args)

    def going(state: _State) -> Array:
        return (state.t < 1.0) & ~state.failed

    def advance(state: _State) -> _State:
        h = jnp.minimum(state.h, 1.0 - state.t)
        y, error = _step(rate, how, state.t, state.y, h)
        good = error <= 1.0
        last = h >= 1.0 - state.t
        # a NaN counts as an error too large
        factor = jnp.where(jnp.isfinite(error), 0.8 * jnp.maximum(error, 1e-12) ** (-1.0 / _STAGES), 0.0)
        return _State(
            jnp.where(good, jnp.where(last, 1.0, state.t + h), state.t),
            jnp.where(good, y, state.y),
            h * jnp.clip(factor, 0.2, 4.0),
            state.steps + 1,
            (~good & (h < _SHORTEST)) | (state.steps >= _MAX_STEPS),
        )

    zero = jnp.zeros((), y0.dtype)
    start = _State(zero, y0, zero + 0.5, jnp.zeros((), int), jnp.zeros((), bool))
    end = jax.lax.while_loop(going, advance, start)
    return jnp.where(end.failed, jnp.nan, end.y)


_solve = jax.custom_jvp(_solution, nondiff_argnums=(0, 1))


def _step(rate: Callable[[Array, Array], Array], how: _How, t: Array, y: Array, h: Array) -> tuple[Array, Array]:
    """One step and its error, as a fraction of what is allowed."""

    def stages(times: Array, values: Array) -> Array:
        return jax.lax.map(lambda at: rate(*at), (times, values)) if how.loop else jax.vmap(rate)(times, values)

    a, times = jnp.asarray(_A, y.dtype), t + h * jnp.asarray(_C, y.dtype)
    eps = jnp.finfo(y.dtype).eps

    def scale(k: Array) -> Array:
        size = jnp.abs(y) + h * jnp.max(jnp.abs(k), axis=0)
        return size + 1e-3 * jnp.max(size) + jnp.finfo(y.dtype).tiny

    def judge(it: Iterate, new: Array) -> tuple[Array, None, Array]:
        change = jnp.max(h * jnp.abs(new - it.z) / scale(new)[None, :])
        # an iteration that no longer improves is at round-off, or does not converge
        improves = (change < 0.7 * it.change) | (it.made < 3)
        return change, None, ~((change > 0.5 * eps) & improves)

    begin = jnp.tile(rate(t, y), (_STAGES, 1))
    found = iterate(
        lambda k: stages(times, y[None, :] + h * (a @ k)), judge, lambda _, new: new, begin, _MAX_ITERATIONS
    )
    k, change = found.z, found.change
    sizes = jnp.max(h * jnp.abs(jnp.asarray(_COEFFICIENTS, y.dtype) @ k) / scale(k)[None, :], axis=1)
    variation, tail = jnp.max(sizes), jnp.max(sizes[-2:])
    # V (T/V)^(16/7) below its value for V = 1 and T = how.tail; a variation of rounding errors is no variation
    allowed = how.tail * jnp.clip(variation, eps, 1.0) ** (9 / 16)
    # written so that NaN is passed on
    error = jnp.where(change > 1e4 * eps, jnp.maximum(change / (1e4 * eps), 10.0), tail / allowed)
    if how.watched:
        between, derivative, integral = (jnp.asarray(m, y.dtype) for m in _between(how.watched))
        found = stages(t + h * between, y[None, :] + h * (integral @ k))
        defect = jnp.max(h * jnp.abs(found - derivative @ k) / scale(k)[None, :])
        # also where the defect is not a number: the metric ends there
        seen = ~(defect <= jnp.maximum(_DEFECT * tail, _DEFECT_FLOOR))
        error = jnp.where(seen, jnp.maximum(error, 10.0), error)
    error = jnp.where(jnp.all(jnp.isfinite(k)), error, jnp.nan)
    return y + h * (jnp.asarray(_B, y.dtype) @ k), error


@partial(_solve.defjvp, symbolic_zeros=True)
def _solve_jvp(f: Callable[..., Array], how: _How, primals: Primals, tangents: Tangents) -> tuple[Array, Array]:
    t0, t1, y0, args = primals
    dt0, dt1, dy0, dargs = tangents
    # only arguments that vary: each number among them adds n equations
    varying = [isinstance(d, jax.Array) for d in dargs]
    fixed = tuple(a for a, yes in zip(args, varying, strict=True) if not yes)
    moved = tuple(a for a, yes in zip(args, varying, strict=True) if yes)
    flat, unravel = ravel_pytree(moved)
    dflat = ravel_pytree(tuple(d for d in dargs if isinstance(d, jax.Array)))[0]
    flat, dflat = flat.astype(y0.dtype), dflat.astype(y0.dtype)  # an empty tuple ravels to another type
    n, p = y0.shape[0], flat.shape[0]
    # numpy: `both` must not close over values of the trace that is under way
    seeds = np.concatenate([np.zeros((n, p)), np.eye(p)])

    def both(t: Array, z: Array, flat: Array, *fixed: Array) -> Array:
        y, s = z[:n], z[n:].reshape(n + p, n)

        def value(y: Array, flat: Array) -> Array:
            rest, new = iter(fixed), iter(unravel(flat))
            return f(t, y, *[next(new) if yes else next(rest) for yes in varying])

        def along(direction: Array, seed: Array) -> tuple[Array, Array]:
            return jax.jvp(value, (y, flat), (direction, seed))

        values, slopes = jax.vmap(along)(s, jnp.asarray(seeds, y.dtype))
        return jnp.concatenate([values[0], slopes.reshape(-1)])

    start = jnp.concatenate([y0, jnp.eye(n + p, n, dtype=y0.dtype).reshape(-1)])
    end = _solve(both, how, t0, t1, start, (flat, *fixed))
    y1, s = end[:n], end[n:].reshape(n + p, n)
    change = dflat @ s[n:]
    if isinstance(dy0, jax.Array):
        change = change + dy0 @ s[:n]
    if isinstance(dt0, jax.Array):
        change = change - dt0 * f(t0, y0, *args) @ s[:n]
    if isinstance(dt1, jax.Array):
        change = change + dt1 * f(t1, y1, *args)
    return y1, change

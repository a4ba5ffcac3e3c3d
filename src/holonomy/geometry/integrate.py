r"""Ordinary differential equations to round-off, for geodesics and transport.

Gauss-Legendre collocation with 8 stages (order 16), its stages found by fixed-point iteration. The step adapts to the
decay of the Legendre coefficients of the derivative over a step: where the highest is below 1e-5 of the solution, the
end of the step, which converges twice as fast, is exact to round-off. Derivatives of a solution by its data come from
the variational equation, solved by the same method, so that forward and reverse mode work to any order.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

_STAGES = 8
_MAX_STEPS = 20_000
_MAX_ITERATIONS = 60
_COEFFICIENT = 1e-5
_SHORTEST = 1e-13


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
    return c, b, antiderivative @ coefficients, coefficients[-2:]


_C, _B, _A, _TAIL = _tableau()


class _How(NamedTuple):
    loop: bool
    tail: float


class _State(NamedTuple):
    t: Float[Array, ""]
    y: Float[Array, " n"]
    h: Float[Array, ""]
    steps: Int[Array, ""]
    failed: Bool[Array, ""]


def integrate(
    f: Callable[..., Array],
    y0: Float[Array, " n"],
    t0: Any = 0.0,
    t1: Any = 1.0,
    *,
    loop: bool = False,
    tail: float = _COEFFICIENT,
) -> Float[Array, " n"]:
    r"""$y(t_1)$ of $\dot y = f(t, y)$, $y(t_0) = y_0$; NaN where the solution does not exist so far.

    The stages of a step are one batch, or with `loop` one after the other: shorter code for a long f. `tail` is what
    the highest coefficient over a step may be; solutions with singularities near the real line want a smaller one.
    """
    t0, t1 = jnp.asarray(t0, y0.dtype), jnp.asarray(t1, y0.dtype)
    pure, closed = jax.closure_convert(f, t0, y0)
    return _solve(pure, _How(loop, tail), t0, t1, y0, tuple(closed))


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _solve(f: Callable[..., Array], how: _How, t0: Array, t1: Array, y0: Array, args: tuple[Array, ...]) -> Array:
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


def _step(rate: Callable[[Array, Array], Array], how: _How, t: Array, y: Array, h: Array) -> tuple[Array, Array]:
    """One step and its error, as a fraction of what is allowed."""

    def stages(times: Array, values: Array) -> Array:
        return jax.lax.map(lambda at: rate(*at), (times, values)) if how.loop else jax.vmap(rate)(times, values)

    a, times = jnp.asarray(_A, y.dtype), t + h * jnp.asarray(_C, y.dtype)
    eps = jnp.finfo(y.dtype).eps

    def scale(k: Array) -> Array:
        size = jnp.abs(y) + h * jnp.max(jnp.abs(k), axis=0)
        return size + 1e-3 * jnp.max(size) + jnp.finfo(y.dtype).tiny

    def going(state: tuple[Array, Array, Array, Array]) -> Array:
        _, change, before, count = state
        # an iteration that no longer improves is at round-off, or does not converge
        return (change > 0.5 * eps) & ((change < 0.7 * before) | (count < 4)) & (count < _MAX_ITERATIONS)

    def iterate(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, change, _, count = state
        new = stages(times, y[None, :] + h * (a @ k))
        return new, jnp.max(h * jnp.abs(new - k) / scale(new)[None, :]), change, count + 1

    k = jnp.tile(rate(t, y), (_STAGES, 1))
    big = jnp.asarray(jnp.inf, y.dtype)
    k, change, *_ = jax.lax.while_loop(going, iterate, (k, big, big, jnp.zeros((), int)))
    tail = jnp.max(h * jnp.abs(jnp.asarray(_TAIL, y.dtype) @ k) / scale(k)[None, :])
    # written so that NaN is passed on
    error = jnp.where(change > 1e4 * eps, jnp.maximum(change / (1e4 * eps), 10.0), tail / how.tail)
    error = jnp.where(jnp.all(jnp.isfinite(k)), error, jnp.nan)
    return y + h * (jnp.asarray(_B, y.dtype) @ k), error


@_solve.defjvp
def _solve_jvp(f: Callable[..., Array], how: _How, primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    t0, t1, y0, args = primals
    dt0, dt1, dy0, dargs = tangents
    n = y0.shape[0]
    flat, unravel = ravel_pytree(args)
    dflat = ravel_pytree(dargs)[0] if args else jnp.zeros(0, y0.dtype)
    flat = flat if args else jnp.zeros(0, y0.dtype)
    p = flat.shape[0]
    # numpy: `both` must not close over values of the trace that is under way
    seeds = np.concatenate([np.zeros((n, p)), np.eye(p)])

    def both(t: Array, z: Array, flat: Array) -> Array:
        y, s = z[:n], z[n:].reshape(n + p, n)

        def along(direction: Array, seed: Array) -> tuple[Array, Array]:
            return jax.jvp(lambda y, a: f(t, y, *(unravel(a) if args else ())), (y, flat), (direction, seed))

        values, slopes = jax.vmap(along)(s, jnp.asarray(seeds, y.dtype))
        return jnp.concatenate([values[0], slopes.reshape(-1)])

    start = jnp.concatenate([y0, jnp.eye(n + p, n, dtype=y0.dtype).reshape(-1)])
    end = _solve(both, how, t0, t1, start, (flat,))
    y1, s = end[:n], end[n:].reshape(n + p, n)
    first = dy0 - dt0 * f(t0, y0, *args)
    return y1, first @ s[:n] + dflat @ s[n:] + dt1 * f(t1, y1, *args)

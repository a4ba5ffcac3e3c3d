"""Functions that between them use every primitive native code knows, with arguments at which they are well
conditioned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.extend.core as jex
import jax.numpy as jnp
import numpy as np
from jax import lax


@dataclass(frozen=True)
class Case:
    """A function, its arguments, and whether its Jacobian in the first one is compared too."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    smooth: bool = True


CASES: dict[str, Case] = {}

X = np.linspace(0.3, 1.9, 6).reshape(2, 3)
Y = np.linspace(-1.4, 2.1, 6).reshape(2, 3) + 0.037
Z = np.linspace(0.1, 0.8, 6).reshape(2, 3)
V = np.array([0.7, -1.2, 0.4, 2.2, -0.3])
W = np.array([1.1, 0.2, -0.9, 0.5, 1.7])
N = np.array([7, -3, 5, -8, 2])
SPD = np.array([[4.0, 1.0, 0.3], [1.0, 3.0, -0.5], [0.3, -0.5, 2.0]])
GENERAL = np.array([[0.1, 2.0, -1.0], [1.5, 0.3, 0.7], [-0.4, 1.1, 2.5]])


def case(*args: Any, smooth: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = Case(function, args, smooth)
        return function

    return add


def spd(n: int) -> np.ndarray:
    """A symmetric positive definite matrix of size n, not special in any way."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    return np.cos(i - j) * np.exp(-0.3 * np.abs(i - j)) + np.diag(2.0 + np.sin(np.arange(n)))


# ── elementwise ───────────────────────────────────────────────────────────────────────────────────
@case(X, Y)
def arithmetic(x, y):
    return x + y, x - y, x * y, x / y, -x, abs(y), x**3, y**-2, lax.square(y), x**2.5, x**-1.5, lax.rem(x, y)


@case(X, Y)
def powers_and_roots(x, y):
    return jnp.sqrt(x), lax.rsqrt(x), jnp.cbrt(y), x**y, x ** (2 * y), lax.pow(x, 3), jnp.float_power(x, 1.7)


@case(X, Y)
def exponentials(x, y):
    return jnp.exp(y), jnp.exp2(y), jnp.expm1(y), jnp.log(x), jnp.log1p(x), lax.logistic(y), jax.nn.softplus(y)


@case(X, Y)
def trigonometry(x, y):
    return jnp.sin(y), jnp.cos(y), jnp.tan(x * 0.5), jnp.arctan(y), jnp.arctan2(x, y), jnp.sin(x - y) * jnp.cos(y - x)


@case(Z, Y)
def inverse_and_hyperbolic(z, y):
    return (
        jnp.arcsin(z),
        jnp.arccos(z),
        jnp.arctanh(z),
        jnp.arcsinh(y),
        jnp.arccosh(z + 1.5),
        jnp.sinh(y),
        jnp.cosh(y),
        jnp.tanh(y),
    )


@case(X)
def error_functions(x):
    return lax.erf(x), lax.erfc(x), jax.grad(lambda u: jnp.sum(jnp.exp(u) * jnp.tanh(u) * u))(x)


@case(X, smooth=False)
def gamma_function(x):
    return lax.lgamma(x + 2.0)


@case(Y, smooth=False)
def rounding(y):
    half = jnp.array([0.5, 1.5, -2.5, 3.49999])
    return (
        jnp.floor(y),
        jnp.ceil(y),
        jnp.sign(y),
        lax.round(half),
        lax.round(half, lax.RoundingMethod.TO_NEAREST_EVEN),
        lax.nextafter(y, y + 1.0),
        jnp.sign(jnp.array([0.0, -0.0, 3.0])),
    )


@case(X, Y)
def choices(x, y):
    return (
        jnp.where(x > y, x * 2, y),
        jnp.maximum(x, y),
        jnp.minimum(x, y),
        jnp.clip(y, -0.5, 0.5),
        lax.clamp(-0.2, y, 1.1),
        lax.select_n(jnp.array([[0, 1, 2], [2, 1, 0]]), x, y, x * y),
    )


@case(X, Y, smooth=False)
def comparisons(x, y):
    bad = jnp.array([1.0, jnp.nan, jnp.inf])
    return (
        x < y,
        x <= y,
        x > y,
        x >= y,
        x == y,
        x != y,
        jnp.isfinite(bad),
        jnp.isnan(bad),
        (x < y) & (y < 1),
        (x < y) | (y < 1),
        ~(x < y),
        (x < y) ^ (y > 0),
        jnp.maximum(bad, 2.0),
        jnp.minimum(bad, 0.5),
    )


@case(V, smooth=False)
def total_order(v):
    names = jex.primitives
    return [p.bind(v, jnp.sort(v)) for p in (names.lt_to_p, names.le_to_p, names.eq_to_p)] + [
        jnp.searchsorted(jnp.sort(v), 0.45)
    ]


@case(N, W, smooth=False)
def integers(n, w):
    m = n + 3
    return (
        n * 3 - 7,
        -n,
        abs(n),
        jnp.sign(n),
        lax.div(n, m),
        lax.rem(n, m),
        n // 3,
        n % 4,
        jnp.maximum(n, 1),
        jnp.minimum(n, 1),
        n & 5,
        n | 8,
        n ^ 3,
        ~n,
        n << 2,
        lax.shift_right_logical(n, 60),
        n >> 1,
        n**3,
        jnp.power(w, n),
        lax.div(n, 0 * n),
        n.astype(jnp.int32).astype(jnp.uint8),
        n.astype(bool),
        n.astype(float) + w,
        (w * 3).astype(int),
        w > n,
        lax.bitcast_convert_type(w, jnp.int64),
        n.astype(jnp.uint32) // 3,
        (n > 0).astype(float),
    )


@case(np.float32(0.7) * np.arange(1, 4, dtype=np.float32), V[:3], smooth=False)
def single_precision(s, v):
    return jnp.sqrt(s) * 2 + 1, s.astype(float) + v, (v * 1.1).astype(jnp.float32), s < 1.0


@case(X)
def wrappers(x):
    @jax.custom_jvp
    def f(u):
        return jnp.sin(u) * u

    f.defjvp(lambda p, t: (f(*p), jnp.cos(p[0]) * t[0]))
    inner = jax.jit(lambda u: jnp.tanh(u) + 1)
    again = jax.checkpoint(lambda u: jnp.exp(-u * u))
    return (
        f(x),
        inner(x),
        again(x),
        lax.stop_gradient(x) * x,
        jnp.copy(x),
        jax.device_put(x),
        lax.optimization_barrier(x),
    )


@case(X, smooth=False)
def calls(x):
    @jax.custom_vjp
    def f(u):
        return u * u

    f.defvjp(lambda u: (u * u, u), lambda u, g: (2 * u * g,))
    return f(x), jax.grad(lambda u: f(u).sum())(x), jex.primitives.name_p.bind(x, name="kept")


# ── shapes ────────────────────────────────────────────────────────────────────────────────────────
@case(X, Y)
def shapes(x, y):
    return (
        x.reshape(3, 2) @ y,
        x.T,
        jnp.concatenate([x, y], 0),
        jnp.concatenate([x, y[:, :1]], 1),
        jnp.stack([x, y], 1),
        jnp.split(x, 3, axis=1),
        x[:, ::-1],
        x[:, ::2],
        jnp.tile(x, (2, 3)),
        jnp.roll(y, 1, 1),
        jnp.pad(x, ((1, 0), (0, 2))),
        jnp.squeeze(x[:, :1], 1),
        jnp.expand_dims(x, 0),
        jnp.broadcast_to(x[0], (4, 3)),
        x.ravel(),
        jnp.unstack(x),
        lax.pad(x, 7.0, ((1, -1, 1), (0, 0, 2))),
    )


@case(V)
def grids(v):
    i = jnp.arange(5)
    return (
        jnp.eye(5) * v[:, None],
        v * i,
        jnp.diag(v),
        jnp.outer(v, v),
        jnp.triu(jnp.outer(v, v)),
        jnp.trace(jnp.outer(v, v)),
    )


# ── reductions ────────────────────────────────────────────────────────────────────────────────────
@case(X, Y)
def empty_products(x, y):
    return x[:, :0] @ y[:0] + y, x[:0] @ y.T, jnp.einsum("ij,kj->ik", x[:, :0], y[:, :0])


@case(X, Y)
def reductions(x, y):
    return (
        x.sum(),
        x.sum(0),
        y.prod(1),
        x.max(),
        y.min(1),
        jnp.mean(x),
        jnp.var(y),
        jnp.linalg.norm(y),
        jnp.cumsum(y, 1),
    )


@case(X, Y, smooth=False)
def logical_reductions(x, y):
    n = (10 * y).astype(int)
    return (
        (x > y).all(),
        (x > y).any(0),
        jnp.argmax(y, 1),
        jnp.argmin(y, 0),
        lax.cummax(y, 1),
        lax.cummin(y, 1, reverse=True),
        jnp.cumprod(x, 0),
        jnp.sort(y, 1),
        jnp.argsort(y.ravel()),
        jnp.median(y),
        jnp.argmax(jnp.array([1.0, jnp.nan, 2.0])),
        jnp.count_nonzero(n),
        n.max(),
        (x > y).max(),
    )


@case(N, smooth=False)
def exclusive_or(n):
    return jex.primitives.reduce_xor_p.bind(n, axes=(0,))


@case(X, Y)
def contractions(x, y):
    a = jnp.stack([x, y, x * y])
    return (
        x @ y.T,
        jnp.einsum("bij,bkj->bik", a, a),
        jnp.einsum("ij,ij", x, y),
        jnp.tensordot(a, y, ((1, 2), (0, 1))),
        jnp.cross(x[0], y[0]),
        jnp.vdot(x, y),
        jnp.kron(x, y[:, :1]),
        np.arange(x.shape[0]) @ x,  # whole numbers times floats
    )


# ── indexing ──────────────────────────────────────────────────────────────────────────────────────
@case(V, W, np.int64(2), np.array([3, 0, 3, 9, -1]))
def moving_positions(v, w, i, many):
    a = jnp.outer(v, w)
    return (
        v[i],
        a[i],
        a[i, i - 1],
        lax.dynamic_slice(a, (i, 9), (2, 3)),
        a[many],
        v[many],
        a[:, many],
        jnp.take(v, many, mode="clip"),
        jnp.take(v, many, mode="fill"),
        a[jnp.array([0, 2]), jnp.array([1, 3])],
        v[jnp.array([4, 0])],
        jnp.take_along_axis(a, many[None, :] % 5, 1),
    )


@case(V, W, np.int64(2), np.array([3, 0, 3, 9, -1]))
def moving_writes(v, w, i, many):
    a = jnp.outer(v, w)
    return (
        v.at[i].set(3.0),
        a.at[i].add(v),
        v.at[many].add(w),
        v.at[1].multiply(w[0]),
        a.at[:, i].set(w),
        a.at[i, i + 1].set(0.0),
        lax.dynamic_update_slice(a, a[:2, :2] * 2, (i, i + 2)),
        v.at[many].set(5.0, mode="drop"),
        a.at[1:3, 2:].set(1.5),
    )


@case(V, W, np.array([3, 0, 3, 9, -1]), smooth=False)
def extreme_writes(v, w, many):
    return v.at[many].min(w), v.at[many].max(w), v.at[many].multiply(w), jnp.interp(0.3, jnp.sort(v), w)


# ── linear algebra ────────────────────────────────────────────────────────────────────────────────
@case(SPD, np.array([0.3, -1.0, 2.0]))
def small_solves(a, b):
    factor = jnp.linalg.cholesky(a)
    return (
        factor,
        jax.scipy.linalg.cho_solve((factor, True), b),
        jnp.linalg.solve(a, b),
        jnp.linalg.inv(a),
        jnp.linalg.det(a),
        jax.scipy.linalg.solve_triangular(factor, b, lower=True, trans=1),
        jnp.linalg.solve(a, jnp.stack([b, 2 * b], 1)),
    )


@case(GENERAL, np.array([0.3, -1.0, 2.0]))
def pivoting(a, b):
    return jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.slogdet(a), lax.linalg.lu(a)[0]


@case(GENERAL, np.array([0.3, -1.0, 2.0]), smooth=False)
def pivots(a, b):
    factors, order, permutation = lax.linalg.lu(jnp.stack([a, a.T]))
    singular = lax.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 4.0]]))
    return (
        factors,
        order,
        permutation,
        singular,
        jax.scipy.linalg.lu_solve((factors[0], order[0]), b),
        lax.linalg.lu_pivots_to_permutation(order, 3),
    )


@case(spd(4)[None] * np.array([1.0, 2.0])[:, None, None], np.ones((2, 4)))
def stacked_solves(a, b):
    right = lax.linalg.triangular_solve(a, b[:, None, :], left_side=False, lower=True)
    unit = lax.linalg.triangular_solve(a, b[:, :, None], left_side=True, lower=False, unit_diagonal=True)
    return jnp.linalg.solve(a, b[..., None]), jnp.linalg.cholesky(a), right, unit


@case(spd(12), np.sin(np.arange(12.0)))
def larger_solves(a, b):
    factor = jnp.linalg.cholesky(a)
    skew = a + 0.4 * jnp.triu(a, 1) - jnp.diag(b)
    return jax.scipy.linalg.cho_solve((factor, True), b), jnp.linalg.solve(skew, b), factor


@case(spd(20), np.sin(np.arange(20.0)), smooth=False)
def large_solves(a, b):
    skew = a + 0.4 * jnp.triu(a, 1) - 3 * jnp.roll(jnp.diag(b), 1, 0)
    factor = jnp.linalg.cholesky(a)
    right = lax.linalg.triangular_solve(factor, jnp.stack([b, b + 1]), left_side=False, lower=True, transpose_a=True)
    return jnp.linalg.solve(skew, b), jnp.linalg.inv(a), right, jnp.linalg.slogdet(skew), lax.linalg.lu(skew)[1:]


@case(np.array([0.0, 0.5, -3.0, 0.7]), smooth=False)
def tridiagonal(d):
    main = jnp.array([2.0, 0.1, 1.5, 2.5])
    return lax.linalg.tridiagonal_solve(d, main, jnp.array([1.0, 0.3, 0.2, 0.0]), jnp.stack([d + 1, d * d], 1))


# ── control flow ──────────────────────────────────────────────────────────────────────────────────
@case(V, W)
def short_scan(v, w):
    def body(c, x):
        return jnp.sin(c) + x * w, c @ w

    return lax.scan(body, v, v[:3]), lax.scan(body, v, w, reverse=True)


@case(V, smooth=True)
def long_scan(v):
    a = jnp.outer(v, v) * 0.1

    def body(c, x):
        c = jnp.tanh(a @ c + x)
        return c, (c.sum(), c * 2)

    return lax.scan(body, v, jnp.linspace(0.0, 1.0, 70)), lax.scan(body, v, jnp.linspace(0.0, 1.0, 70), reverse=True)[1]


@case(V, np.int64(13))
def counted_loops(v, n):
    return lax.fori_loop(0, n, lambda i, c: jnp.cos(c) + 0.1 * i, v), lax.fori_loop(0, 40, lambda i, c: c * 0.9 + i, v)


@case(V)
def square_root_by_newton(v):
    def one(x):
        return lax.while_loop(
            lambda s: jnp.abs(s[0] ** 2 - x) > 1e-13 * x, lambda s: (0.5 * (s[0] + x / s[0]), s[1] + 1), (x, 0)
        )

    return [one(abs(x)) for x in v[:2]]


@case(V, W)
def branches(v, w):
    def pick(x):
        return lax.cond(x[0] > 0, lambda y: (jnp.sin(y), y @ w), lambda y: (y * 2, jnp.exp(y[1])), x)

    three = [lambda x: x, lambda x: x * x, lambda x: jnp.cos(x)]
    return pick(v), pick(-v), [lax.switch((v[0] * k).astype(int), three, w) for k in (-9.0, 0.0, 1.6, 3.0, 99.0)]


@case(V)
def slopes_of_branches(v):
    three = [lambda x: x @ x, lambda x: jnp.sum(x * x * x), lambda x: jnp.sum(jnp.cos(x))]
    return [jax.grad(lambda x, k=k: lax.switch((v[0] * k).astype(int), three, x))(v) for k in (0.0, 1.6, 99.0)]


@case(V)
def implicit_function(v):
    def residual(x):
        return x + 0.3 * jnp.sin(x) - v

    def newton(f, x):
        return lax.while_loop(lambda s: jnp.max(jnp.abs(f(s))) > 1e-14, lambda s: s - f(s) / (1 + 0.3 * jnp.cos(s)), x)

    def tangent(g, y):
        return jnp.linalg.solve(jax.jacobian(g)(y), y)

    return lax.custom_root(residual, v, newton, tangent)


@case(V, W)
def diagonal_by_platform(v, w):
    return jnp.diagonal(jnp.outer(v, w)), jnp.trace(jnp.outer(v, w))


polynomial: Any = getattr(lax, "polynomial", None)  # a primitive since JAX 0.12
if polynomial is not None:

    @case(X, Y)
    def polynomials(x, y):
        few = [0.3, -1.2, 0.7]
        many = [0.5 / (n + 1) for n in range(12)]
        return polynomial(x, few), polynomial(y, many), polynomial(x, [y, x, jnp.ones((1, 3)), y])

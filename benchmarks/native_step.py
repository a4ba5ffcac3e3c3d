"""One step of the N-link pendulum, from its Lagrangian: native code, a hand-written numba kernel, and XLA, in one run.

    python benchmarks/native_step.py [--no-peers] [--links 2,3,4,8]

Prints a table: microseconds per step on one core, and seconds from the Python function to the first result.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("HOLONOMY_CACHE", "off")

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.trace.native import compiler

GRAVITY = 9.81
STEPS = 20_000
TIMESTEP = 1e-3


# ── the system, from its Lagrangian ───────────────────────────────────────────────────────────────
def lagrangian(q: jax.Array, v: jax.Array, lengths: jax.Array, masses: jax.Array) -> jax.Array:
    """T - V of a chain of point masses on massless rods, as the dense double sum of a textbook."""
    n = q.shape[0]
    below = jnp.cumsum(masses[::-1])[::-1]
    larger = jnp.maximum(jnp.arange(n)[:, None], jnp.arange(n)[None, :])
    metric = below[larger] * lengths[:, None] * lengths[None, :] * jnp.cos(q[:, None] - q[None, :])
    return 0.5 * v @ metric @ v + GRAVITY * jnp.sum(below * lengths * jnp.cos(q))


def acceleration(q: jax.Array, v: jax.Array, lengths: jax.Array, masses: jax.Array) -> jax.Array:
    """M⁻¹(∂L/∂q - ∂²L/∂v∂q v) by automatic differentiation."""
    momentum = jax.grad(lagrangian, 1)
    mass = jax.jacfwd(momentum, 1)(q, v, lengths, masses)
    _, turning = jax.jvp(lambda x: momentum(x, v, lengths, masses), (q,), (v,))
    force = jax.grad(lagrangian, 0)(q, v, lengths, masses) - turning
    factor = jax.lax.linalg.cholesky(mass)
    half = jax.lax.linalg.triangular_solve(factor, force[:, None], left_side=True, lower=True)
    return jax.lax.linalg.triangular_solve(factor, half, left_side=True, lower=True, transpose_a=True)[:, 0]


def rk4(y: jax.Array, h: Any, field: Callable[[jax.Array], jax.Array]) -> jax.Array:
    """One classical Runge-Kutta step."""
    k1 = field(y)
    k2 = field(y + h / 2 * k1)
    k3 = field(y + h / 2 * k2)
    k4 = field(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def field(y: jax.Array, lengths: jax.Array, masses: jax.Array) -> jax.Array:
    """(q, v) ↦ (v, a)"""
    q, v = jnp.split(y, 2)
    return jnp.concatenate([v, acceleration(q, v, lengths, masses)])


def rk4_run(y: jax.Array, h: Any, steps: Any, lengths: jax.Array, masses: jax.Array) -> jax.Array:
    """Many steps."""
    f = jax.jit(partial(field, lengths=lengths, masses=masses))
    return jax.lax.fori_loop(0, steps, lambda _, x: rk4(x, h, f), y)


# ── Gauss collocation, three stages, fixed-point iteration to round-off ───────────────────────────
_R = np.sqrt(15.0)
GAUSS_A = np.array([
    [5 / 36, 2 / 9 - _R / 15, 5 / 36 - _R / 30],
    [5 / 36 + _R / 24, 2 / 9, 5 / 36 - _R / 24],
    [5 / 36 + _R / 30, 2 / 9 + _R / 15, 5 / 36],
])  # fmt: skip
GAUSS_B = np.array([5 / 18, 4 / 9, 5 / 18])


def gauss_run(y: jax.Array, h: Any, steps: Any, lengths: jax.Array, masses: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Many steps of Gauss(3); also the number of iterations."""
    f = jax.vmap(partial(field, lengths=lengths, masses=masses))

    def step(_: Any, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        x, total = state
        slopes = jnp.broadcast_to(field(x, lengths, masses), (3, x.shape[0]))

        def improve(s: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
            k, _, turns = s
            new = f(x[None, :] + h * (jnp.asarray(GAUSS_A) @ k))
            return new, jnp.max(jnp.abs(new - k)), turns + 1

        def unsettled(s: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
            k, change, turns = s
            return (change > 1e-14 * (1 + jnp.max(jnp.abs(k)))) & (turns < 30)

        slopes, _, turns = jax.lax.while_loop(unsettled, improve, (slopes, jnp.asarray(jnp.inf), jnp.asarray(0)))
        return x + h * (jnp.asarray(GAUSS_B) @ slopes), total + turns

    return jax.lax.fori_loop(0, steps, step, (y, jnp.asarray(0)))


# ── a hand-written kernel ─────────────────────────────────────────────────────────────────────────
def numba_kernel() -> Callable[..., Any]:
    """RK4 for the same chain, written by hand: sines and cosines once per angle, Cholesky in place."""
    import numba

    @numba.njit(fastmath={"contract"}, error_model="numpy")
    def slope(y, out, l, below, s, c, m, b):  # noqa: E741
        n = l.shape[0]
        for i in range(n):
            s[i] = np.sin(y[i])
            c[i] = np.cos(y[i])
        for i in range(n):
            b[i] = -GRAVITY * below[i] * l[i] * s[i]
            m[i, i] = below[i] * l[i] * l[i]
            for j in range(i):
                m[i, j] = below[i] * l[i] * l[j] * (c[i] * c[j] + s[i] * s[j])
        for i in range(n):
            for j in range(n):
                w = below[max(i, j)] * l[i] * l[j]
                b[i] -= w * (s[i] * c[j] - c[i] * s[j]) * y[n + j] * y[n + j]
        for j in range(n):
            d = m[j, j]
            for k in range(j):
                d -= m[j, k] * m[j, k]
            r = 1.0 / np.sqrt(d)
            m[j, j] = r
            for i in range(j + 1, n):
                t = m[i, j]
                for k in range(j):
                    t -= m[i, k] * m[j, k]
                m[i, j] = t * r
        for i in range(n):
            t = b[i]
            for k in range(i):
                t -= m[i, k] * b[k]
            b[i] = t * m[i, i]
        for i in range(n - 1, -1, -1):
            t = b[i]
            for k in range(i + 1, n):
                t -= m[k, i] * b[k]
            b[i] = t * m[i, i]
        for i in range(n):
            out[i] = y[n + i]
            out[n + i] = b[i]

    @numba.njit(fastmath={"contract"}, error_model="numpy")
    def run(y0, h, steps, l, masses):  # noqa: E741
        n = l.shape[0]
        below = np.cumsum(masses[::-1])[::-1].copy()
        y, z = y0.copy(), np.empty(2 * n)
        k1, k2, k3, k4 = np.empty(2 * n), np.empty(2 * n), np.empty(2 * n), np.empty(2 * n)
        s, c, b, m = np.empty(n), np.empty(n), np.empty(n), np.empty((n, n))
        for _ in range(steps):
            slope(y, k1, l, below, s, c, m, b)
            for i in range(2 * n):
                z[i] = y[i] + 0.5 * h * k1[i]
            slope(z, k2, l, below, s, c, m, b)
            for i in range(2 * n):
                z[i] = y[i] + 0.5 * h * k2[i]
            slope(z, k3, l, below, s, c, m, b)
            for i in range(2 * n):
                z[i] = y[i] + h * k3[i]
            slope(z, k4, l, below, s, c, m, b)
            for i in range(2 * n):
                y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i])
        return y

    return run


# ── measuring ─────────────────────────────────────────────────────────────────────────────────────
def data(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A lively start, and lengths and masses that are not all alike."""
    y = np.concatenate([np.linspace(0.5, 1.2, n), np.linspace(0.3, -0.2, n)])
    return y, np.linspace(1.0, 0.8, n), np.linspace(1.0, 1.3, n)


def best(call: Callable[[], Any], repeat: int = 7) -> float:
    """The least time of several calls, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(run: Callable[..., Any], n: int, steps: int) -> dict[str, Any]:
    """Seconds to compile and microseconds per step of a JAX function in native code."""
    y, lengths, masses = data(n)
    args = (y, TIMESTEP, steps, lengths, masses)
    start = time.perf_counter()
    compiled = compiler.compile(run, args)
    seconds = time.perf_counter() - start
    return {"compile": seconds, "step": best(lambda: compiled(*args)) / steps * 1e6, "result": compiled(*args)}


def measure_xla(run: Callable[..., Any], n: int, steps: int) -> dict[str, Any]:
    """The same in XLA."""
    y, lengths, masses = data(n)
    args = (y, TIMESTEP, steps, lengths, masses)
    start = time.perf_counter()
    compiled = jax.jit(run)
    jax.block_until_ready(compiled(*args))
    seconds = time.perf_counter() - start
    taken = best(lambda: jax.block_until_ready(compiled(*args)), 3) / steps * 1e6
    return {"compile": seconds, "step": taken, "result": compiled(*args)}


def compare(kernel: Callable[..., Any], n: int) -> str:
    """The peers' columns: numba and native interleaved, so that both see the same machine; XLA; and the numbers."""
    y, lengths, masses = data(n)
    long, short = ((y, TIMESTEP, steps, lengths, masses) for steps in (STEPS, 100))
    compiled = compiler.compile(rk4_run, long)
    theirs = kernel(*short)
    taken = [(best(lambda: kernel(*long), 1), best(lambda: compiled(*long), 1)) for _ in range(7)]
    peer = min(t for t, _ in taken) / STEPS * 1e6
    ratio = statistics.median(ours / t for t, ours in taken)
    xla = measure_xla(rk4_run, n, 1000)
    difference = np.max(np.abs(compiled(*short) - theirs))
    return f" {peer:9.3f} {ratio:6.2f} {xla['step']:7.2f}  {difference:.1e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", default="2,3,4,8")
    parser.add_argument("--no-peers", action="store_true", help="without numba and XLA")
    options = parser.parse_args()
    links = [int(n) for n in options.links.split(",")]
    kernel = None if options.no_peers else numba_kernel()
    print("RK4            links  compile s  step µs" + ("  numba µs  ratio  XLA µs  max difference" if kernel else ""))
    for n in links:
        ours = measure(rk4_run, n, STEPS)
        row = f"{'native':14s} {n:5d} {ours['compile']:10.2f} {ours['step']:8.3f}"
        print(row + (compare(kernel, n) if kernel is not None else ""), flush=True)
    print("Gauss(3)       links  compile s  step µs  iterations")
    for n in [n for n in links if n != 3]:
        ours = measure(gauss_run, n, STEPS // 10)
        turns = int(ours["result"][1]) / (STEPS // 10)
        print(f"{'native':14s} {n:5d} {ours['compile']:10.2f} {ours['step']:8.3f} {turns:8.2f}", flush=True)


if __name__ == "__main__":
    main()

"""Taylor motion of the pendulum with N links from its Lagrangian, beside heyoka with equations written by hand.

    python benchmarks/taylor.py [--links 2,3,4] [--no-peers]

Microseconds per unit of time up to t = 10, least of several interleaved runs; the ratio is the median over pairs.
"ours" is the integrator that `hl.Taylor()` makes of the Lagrangian in Cartesian form; "simulate" the whole call with
its checks and energies. Errors are against the hand-written equations in extended precision. diffrax and scipy run at
the loosest tolerance that brings them below 1e-10. Compilation is short where heyoka finds the code on disk.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import heyoka as hy
import numpy as np

import holonomy as hl
from holonomy.models.classics import multi_pendulum
from holonomy.motion.methods.taylor_form import motion_of

END = 10.0
GRAVITY = 9.81


def data(links: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A lively start, masses and lengths that are not all alike."""
    start = np.concatenate([np.linspace(1.5, 1.0, links), np.linspace(0.3, -0.2, links)])
    return start, np.linspace(1.0, 1.3, links), np.linspace(1.0, 0.8, links)


# ── equations written by hand ─────────────────────────────────────────────────────────────────────
def by_hand(links: int, number: Callable[[float], Any] = float) -> list[tuple[Any, Any]]:
    """M_ij = μ l_i l_j cos(θi - θj), f_i = -Σ μ l_i l_j sin(θi - θj) ωj² - μ_i g l_i sin θi, solved by LDLᵀ."""
    _, masses, lengths = data(links)
    below = np.cumsum(masses[::-1])[::-1]
    q = [hy.expression(f"q{i}") for i in range(links)]
    v = [hy.expression(f"v{i}") for i in range(links)]
    low: dict[tuple[int, int], Any] = {}
    x: list[Any] = []
    for i in range(links):
        right = -number(below[i] * GRAVITY * lengths[i]) * hy.sin(q[i])
        for j in range(links):
            weight = number(below[max(i, j)] * lengths[i] * lengths[j])
            if j <= i:
                low[i, j] = weight if i == j else weight * hy.cos(q[j] - q[i])
            if j < i:
                right += weight * hy.sin(q[j] - q[i]) * v[j] ** 2.0
            if j > i:
                right -= weight * hy.sin(q[i] - q[j]) * v[j] ** 2.0
        x.append(right)
    inverse = []
    for j in range(links):
        inverse.append(1.0 / low[j, j])
        column = {i: low[i, j] for i in range(j + 1, links)}
        for i, value in column.items():
            low[i, j] = value * inverse[j]
            for k in range(j + 1, i + 1):
                low[i, k] = low[i, k] - low[i, j] * column[k]
    for i in range(links):
        for j in range(i):
            x[i] = x[i] - low[i, j] * x[j]
    for i in reversed(range(links)):
        x[i] = x[i] * inverse[i]
        for j in range(i + 1, links):
            x[i] = x[i] - low[j, i] * x[j]
    return list(zip([*q, *v], [*v, *x], strict=True))


def reference(links: int) -> np.ndarray:
    """The state at the end in extended precision."""
    start, _, _ = data(links)
    kind = np.longdouble
    ta = hy.taylor_adaptive(by_hand(links), start.astype(kind), fp_type=kind, compact_mode=True)
    ta.propagate_until(kind(END))
    return ta.state.astype(float)


# ── measuring ─────────────────────────────────────────────────────────────────────────────────────
def run(ta: Any, start: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds, and the state at the end."""
    ta.time, ta.state[:] = 0.0, start
    begin = time.perf_counter()
    ta.propagate_until(END)
    return time.perf_counter() - begin, ta.state.copy()


def best(call: Callable[[], Any], repeat: int) -> float:
    """The least time of several calls, in seconds."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def diffrax_run(system: hl.System, start: np.ndarray, exact: np.ndarray) -> tuple[float, float]:
    """Seconds and error of Dopri8 on our acceleration, compiled by XLA."""
    import diffrax
    import jax

    from holonomy.systems.quantities import ambient_acceleration

    n = len(start) // 2

    @jax.jit
    def solve(tolerance: Any) -> Any:
        def slope(t: Any, y: Any, _: Any) -> Any:
            return y[1], ambient_acceleration(system, t, *y)

        control = diffrax.PIDController(rtol=tolerance, atol=tolerance)
        term = diffrax.ODETerm(slope)
        state = (start[:n], start[n:])
        return diffrax.diffeqsolve(
            term, diffrax.Dopri8(), 0.0, END, 0.01, state, stepsize_controller=control, max_steps=100_000
        ).ys

    for tolerance in 10.0 ** np.arange(-11, -15.0, -0.5):
        q, v = (np.asarray(y[-1]) for y in solve(tolerance))
        error = float(np.max(np.abs(np.concatenate([q, v]) - exact)))
        if error < 1e-10:
            break
    return best(lambda: jax.block_until_ready(solve(tolerance)), 3), error


def scipy_run(links: int, start: np.ndarray, exact: np.ndarray) -> tuple[float, float]:
    """Seconds and error of DOP853 on hand-written NumPy equations."""
    from scipy.integrate import solve_ivp

    _, masses, lengths = data(links)
    below = np.cumsum(masses[::-1])[::-1]
    weight = below[np.maximum.outer(range(links), range(links))] * np.outer(lengths, lengths)

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        angle = y[:links, None] - y[None, :links]
        right = -(weight * np.sin(angle)) @ y[links:] ** 2 - below * GRAVITY * lengths * np.sin(y[:links])
        return np.concatenate([y[links:], np.linalg.solve(weight * np.cos(angle), right)])

    for tolerance in (1e-11, 1e-12, 1e-13):
        result = solve_ivp(slope, (0, END), start, method="DOP853", rtol=tolerance, atol=tolerance)
        error = float(np.max(np.abs(result.y[:, -1] - exact)))
        if error < 1e-10:
            break
    return best(lambda: solve_ivp(slope, (0, END), start, method="DOP853", rtol=tolerance, atol=tolerance), 1), error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", default="2,3,4")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    head = "links  derive s  compile s  hand compile s  ours µs  hand µs  ratio  error ours  error hand  simulate µs"
    print(head + ("" if options.no_peers else "  Dopri8 µs  error  DOP853 µs  error"))
    for links in [int(n) for n in options.links.split(",")]:
        start, masses, lengths = data(links)
        system = replace(multi_pendulum(tuple(masses), tuple(lengths), GRAVITY), definite=True)
        begin = time.perf_counter()
        motion, constants = motion_of(system)
        derived = time.perf_counter()
        mine = motion.integrator(None, constants)
        compiled = time.perf_counter()
        hand = hy.taylor_adaptive(by_hand(links), start)
        written = time.perf_counter()
        exact = reference(links)
        pairs = [(run(mine, start), run(hand, start)) for _ in range(41)]
        ratio = statistics.median(a[0] / b[0] for a, b in pairs)
        errors = [float(np.max(np.abs(state - exact))) for _, state in pairs[0]]
        least = [min(pair[k][0] for pair in pairs) / END * 1e6 for k in (0, 1)]

        def whole(system: hl.System = system, start: np.ndarray = start, links: int = links) -> Any:
            return hl.simulate(system, start[:links], start[links:], END, dt=END, method=hl.Taylor())

        whole()
        row = f"{links:5d} {derived - begin:9.2f} {compiled - derived:10.2f} {written - compiled:15.2f}"
        row += f" {least[0]:8.1f} {least[1]:8.1f} {ratio:6.2f} {errors[0]:11.1e} {errors[1]:11.1e}"
        row += f" {best(whole, 7) / END * 1e6:12.0f}"
        if not options.no_peers:
            for seconds, error in (diffrax_run(system, start, exact), scipy_run(links, start, exact)):
                row += f" {seconds / END * 1e6:10.0f} {error:6.0e}"
        print(row, flush=True)


if __name__ == "__main__":
    main()

"""Work against precision on chains of N pendulums, side by side with peers in one run.

Ours start from the Lagrangian; the peers get hand-written equations. Times are of the run alone, after a first one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import holonomy as hl
from holonomy.show.style import OKABE_ITO, style

END = 20.0
TARGET = 1e-9
Row = tuple[float, float]  # seconds, error


def chain(n: int) -> hl.System:
    """N pendulums from their Lagrangian, unit lengths and masses."""
    i = np.arange(n)
    mu = (n - np.maximum.outer(i, i)).astype(float)

    def lagrangian(t: Any, q: Any, v: Any, p: Any) -> Any:
        mass = mu * jnp.cos(q[:, None] - q[None, :])
        return 0.5 * v @ (mass @ v) + p.g * jnp.dot(n - i, jnp.cos(q))

    names = {f"theta{k + 1}": "angle" for k in range(n)}
    return hl.System.from_lagrangian(lagrangian, coordinates=names, parameters={"g": 9.81})


def by_hand(n: int, xp: Any) -> Callable[[Any, Any], Any]:
    """The same equations written by hand, for NumPy or JAX."""
    i = np.arange(n)
    mu = (n - np.maximum.outer(i, i)).astype(float)
    weight = 9.81 * (n - i)

    def slope(_: Any, z: Any) -> Any:
        q, v = z[:n], z[n:]
        d = q[:, None] - q[None, :]
        right = -(mu * xp.sin(d)) @ (v * v) - weight * xp.sin(q)
        return xp.concatenate([v, xp.linalg.solve(mu * xp.cos(d), right)])

    return slope


def timed(run: Callable[[], np.ndarray], exact: np.ndarray) -> Row:
    run()
    best = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        end = run()
        best = min(best, time.perf_counter() - begin)
    return best, float(np.max(np.abs(end - exact)))


def ours(system: hl.System, method: Any, start: np.ndarray, steps: int, exact: np.ndarray) -> Row:
    n = len(start) // 2

    def run() -> np.ndarray:
        motion = hl.simulate(system, start[:n], start[n:], END, dt=END / steps, method=method, save_at=[END])
        return np.r_[motion.q[-1], motion.v[-1]]

    return timed(run, exact)


def scipy_run(n: int, name: str, start: np.ndarray, tol: float, exact: np.ndarray) -> Row:
    slope = by_hand(n, np)
    return timed(lambda: solve_ivp(slope, (0, END), start, method=name, rtol=tol, atol=tol).y[:, -1], exact)


def diffrax_run(n: int, solver: Any, start: np.ndarray, tols: list[float], exact: np.ndarray) -> list[Row]:
    slope = by_hand(n, jnp)

    @jax.jit
    def solve(z: Any, tol: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, _: slope(t, y)),
            solver,
            0.0,
            END,
            0.01,
            z,
            stepsize_controller=diffrax.PIDController(rtol=tol, atol=tol),
            max_steps=100_000,
        ).ys

    return [timed(lambda tol=tol: np.asarray(solve(start, tol))[-1], exact) for tol in tols]


def at_target(rows: list[Row]) -> float:
    """Seconds at the target error, between the measured points on logarithmic axes."""
    seconds, errors = (np.log(np.array(c)) for c in zip(*rows, strict=True))
    order = np.argsort(errors)
    if not errors[order][0] <= np.log(TARGET) <= errors[order][-1]:
        return float("nan")
    return float(np.exp(np.interp(np.log(TARGET), errors[order], seconds[order])))


def measure(n: int) -> dict[str, list[Row]]:
    system = chain(n)
    start = np.r_[np.linspace(0.3, 0.6, n), np.zeros(n)]
    motion = hl.simulate(system, start[:n], start[n:], END, dt=END / 20_000, method=hl.Gauss(4), save_at=[END])
    exact = np.r_[motion.q[-1], motion.v[-1]]
    grow = max(1, n // 2)
    curves: dict[str, list[Row]] = {}
    for method, counts in (
        (hl.RK4(), (4000, 16000, 64000, 128000)),
        (hl.Gauss(2), (1000, 4000, 16000)),
        (hl.Gauss(3), (200, 400, 800, 1600, 3200)),
        (hl.Gauss(4), (100, 150, 250, 400, 800)),
    ):
        curves[f"holonomy {method.label}"] = [ours(system, method, start, grow * k, exact) for k in counts]
    tols = [1e-6, 1e-8, 1e-10, 1e-12]
    curves["scipy DOP853"] = [scipy_run(n, "DOP853", start, tol, exact) for tol in tols]
    if n == 2:
        curves["scipy Radau"] = [scipy_run(n, "Radau", start, tol, exact) for tol in tols[:3]]
    curves["diffrax Dopri8"] = diffrax_run(n, diffrax.Dopri8(), start, tols, exact)
    curves["diffrax Tsit5"] = diffrax_run(n, diffrax.Tsit5(), start, tols, exact)
    return curves


def picture(curves: dict[str, list[Row]], path: Path) -> None:
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(7.2, 5))
        axes = figure.add_subplot()
        for k, (name, rows) in enumerate(curves.items()):
            seconds, errors = zip(*rows, strict=True)
            mark = "o-" if name.startswith("holonomy") else "s--"
            axes.loglog(errors, np.array(seconds) * 1e3, mark, color=OKABE_ITO[k % 8], label=name, markersize=5)
        axes.invert_xaxis()
        axes.set_xlabel(f"error at t = {END:g} s (rad, rad/s)")
        axes.set_ylabel("time of the run (ms)")
        axes.set_title("Double pendulum: work against precision", loc="left")
        axes.legend(fontsize=9)
        figure.savefig(path)


def main() -> None:
    print("## Work and precision\n")
    print(f"Chains of N pendulums for {END:g} s; milliseconds to reach an error of {TARGET:g} at the end, one core.\n")
    table = {n: measure(n) for n in (2, 4, 8)}
    names = list(table[2])
    print("| method | " + " | ".join(f"N = {n}, ms" for n in table) + " | ratio of Gauss(3) to it |")
    print("| --- |" + " --- |" * (len(table) + 1))
    for name in names:
        cells, ratios = [], []
        for curves in table.values():
            if name not in curves:
                cells.append("–")
                continue
            seconds = at_target(curves[name])
            cells.append(f"{1e3 * seconds:.2f}" if np.isfinite(seconds) else "not reached")
            ratios.append(f"{seconds / at_target(curves['holonomy Gauss(3)']):.1f}" if np.isfinite(seconds) else "–")
        print(f"| {name} | " + " | ".join(cells) + f" | {', '.join(ratios)} |")
    picture(table[2], Path(__file__).parent.parent / "docs" / "images" / "work_precision.png")


if __name__ == "__main__":
    main()

"""Impacts: microseconds a bounce, beside SciPy's events with restarts, and the cost of several contacts at once.

A particle that bounces in a circle under gravity. SciPy stops at each bounce, the velocity is reflected by hand, and it
starts again; both find the bounce to round-off, so that energy errors can be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import holonomy as hl
from holonomy.systems.contact.impact import delassus, impact
from holonomy.trace.native import compiler

END = 200.0
START = (np.array([0.3, 0.1]), np.array([0.6, 0.8]))


def best(function: Callable[[], Any], repeat: int = 5) -> tuple[float, Any]:
    times, value = [], None
    for _ in range(repeat):
        begin = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - begin)
    return min(times), value


bowl = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - q[1], coordinates=("x", "y")).constrained(
    unilateral=lambda t, q: 0.5 * (1.0 - jnp.dot(q, q))
)


def ours(method: Any, dt: float) -> Any:
    return hl.simulate(bowl, *START, END, dt=dt, method=method, save_every=round(END / dt))


def scipys(method: str, rtol: float) -> tuple[int, float]:
    """Bounces and the energy at the end."""

    def gap(_: float, y: np.ndarray) -> float:
        return 0.5 * (1.0 - y[0] ** 2 - y[1] ** 2)

    gap.terminal, gap.direction = True, -1
    t, y, bounces = 0.0, np.concatenate(START), 0
    while t < END:
        found = solve_ivp(
            lambda _, y: [y[2], y[3], 0.0, -1.0], (t, END), y, method=method, rtol=rtol, atol=rtol, events=gap
        )
        t, y = found.t[-1], found.y[:, -1]
        if found.status == 1:
            normal = -y[:2] / np.hypot(*y[:2])
            y[2:] -= 2.0 * (y[2:] @ normal) * normal
            y[:2] *= (1.0 - 1e-14) / np.hypot(*y[:2])
            bounces += 1
    return bounces, 0.5 * (y[2] ** 2 + y[3] ** 2) + y[1]


def several(count: int) -> tuple[float, int]:
    """Microseconds of one impact of a row of balls in machine code, and its rounds."""
    size = count + 1
    normals, velocity = np.diff(np.eye(size), axis=0), np.eye(size)[0]

    def blow(mass: Any, v: Any) -> Any:
        how = delassus(mass, None, jnp.asarray(normals))
        return impact(how, jnp.asarray(normals) @ v, jnp.ones(count, bool), jnp.ones(count))

    many = np.tile(velocity, (10_000, 1))
    machine = compiler.compile(blow, (np.eye(size), velocity))
    machine.batch(np.eye(size), many, axes=(None, 0))
    seconds, out = best(lambda: machine.batch(np.eye(size), many, axes=(None, 0)))
    return seconds / len(many) * 1e6, int(out.rounds[0])


def main() -> None:
    print("A particle that bounces in a circle under gravity, 200 s.\n")
    print("| method | bounces | ms | µs a bounce | energy error | SciPy's time over ours |")
    print("| --- | --- | --- | --- | --- | --- |")
    energy = 0.5 + 0.1
    rows = []
    for name, rtol in (("DOP853", 1e-12), ("RK45", 1e-9)):
        seconds, (bounces, end) = best(lambda name=name, rtol=rtol: scipys(name, rtol), repeat=1)
        rows.append(
            (
                seconds,
                f"| SciPy `{name}`, rtol {rtol:g} | {bounces} | {{ms}} | {{us}} | {abs(end - energy):.1e} | 1 |",
                bounces,
            )
        )
    for method, dt in ((hl.RK4(), 0.05), (hl.Gauss(2), 0.05), (hl.Adaptive(order=8), 0.5)):
        ours(method, dt)
        seconds, run = best(lambda method=method, dt=dt: ours(method, dt))
        ratio = rows[0][0] / seconds
        error = abs(float(run.energy[-1]) - energy)
        print(
            f"| `{method.label}`, dt {dt:g} | {len(run.events)} | {seconds * 1e3:.2f} "
            f"| {seconds / len(run.events) * 1e6:.1f} | {error:.1e} | {ratio:.0f} |"
        )
    for seconds, text, bounces in rows:
        print(text.format(ms=f"{seconds * 1e3:.1f}", us=f"{seconds / bounces * 1e6:.0f}"))
    print("\nOne impact at the end of a row of touching balls, generalised reflections in machine code.\n")
    print("| contacts | rounds | µs |\n| --- | --- | --- |")
    for count in (1, 2, 4, 8):
        micro, rounds = several(count)
        print(f"| {count} | {rounds} | {micro:.2f} |")


if __name__ == "__main__":
    main()

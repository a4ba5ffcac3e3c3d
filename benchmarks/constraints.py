"""Constrained motion: microseconds a step, and Radau beside SciPy's on the index-reduced problem at equal error.

SciPy's solvers know no constraints, so they get the accelerations with the multipliers eliminated, written in NumPy,
and drift off; ours holds the constraints to round-off. SciPy's tolerance is loosened until its error passes that of
ours, and its time at equal error is read between the last two tolerances.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.systems.constraints import andrews
from tests.systems.constraints.examples import FOUR_BAR_START, G, double_rods, four_bar, from_angles, rod_pendulum

import holonomy as hl


def best(function: Callable[[], Any], repeat: int = 5) -> tuple[float, Any]:
    times, value = [], None
    for _ in range(repeat):
        begin = time.perf_counter()
        value = function()
        times.append(time.perf_counter() - begin)
    return min(times), value


def microseconds(system: hl.System, start: Any, method: Any, steps: int = 100_000, dt: float = 1e-3) -> float:
    def run() -> Any:
        return hl.simulate(system, start[0], start[1], steps * dt, dt=dt, method=method, save_every=steps)

    run()
    return best(run)[0] / steps * 1e6


def rod_slope(_: float, y: np.ndarray) -> np.ndarray:
    """Acceleration of a bob on a rod."""
    tension = (G * y[1] - y[2] * y[2] - y[3] * y[3]) / (y[0] * y[0] + y[1] * y[1])
    return np.array([y[2], y[3], tension * y[0], tension * y[1] - G])


def double_rods_slope(_: float, y: np.ndarray) -> np.ndarray:
    """Accelerations of two bobs on rods by the tensions' 2×2 system."""
    q, v = y[:4].reshape(2, 2), y[4:].reshape(2, 2)
    rods = np.array([q[0], q[1] - q[0]])
    speeds = np.array([v[0], v[1] - v[0]])
    normals = np.array([[*rods[0], 0.0, 0.0], [*-rods[1], *rods[1]]])
    weight = np.array([0.0, -G, 0.0, -G])
    right = -np.sum(speeds * speeds, axis=1) - normals @ weight
    a = weight + normals.T @ np.linalg.solve(normals @ normals.T, right)
    return np.concatenate([y[4:], a])


def andrews_slope(_: float, y: np.ndarray) -> np.ndarray:
    """Accelerations of Andrews' mechanism by the 13×13 system of mass and constraints."""
    q, v = y[:7], y[7:]
    b, bt = q[0], q[0] + q[1]
    pd, oe = q[3] + q[4], q[5] + q[6]
    slope, bend = np.zeros((6, 7)), np.zeros(6)
    x1, x2 = -andrews.R * np.sin(b) + andrews.D * np.sin(bt), andrews.D * np.sin(bt)
    y1, y2 = andrews.R * np.cos(b) - andrews.D * np.cos(bt), -andrews.D * np.cos(bt)
    slope[::2, 0], slope[::2, 1], slope[1::2, 0], slope[1::2, 1] = x1, x2, y1, y2
    w = v[0] + v[1]
    bend[::2] = -andrews.R * np.cos(b) * v[0] ** 2 + andrews.D * np.cos(bt) * w**2
    bend[1::2] = -andrews.R * np.sin(b) * v[0] ** 2 + andrews.D * np.sin(bt) * w**2
    slope[0, 2], slope[1, 2] = -andrews.S * np.cos(q[2]), -andrews.S * np.sin(q[2])
    bend[0] += andrews.S * np.sin(q[2]) * v[2] ** 2
    bend[1] -= andrews.S * np.cos(q[2]) * v[2] ** 2
    slope[2, 3] = slope[2, 4] = -andrews.E * np.cos(pd)
    slope[3, 3] = slope[3, 4] = -andrews.E * np.sin(pd)
    slope[2, 4] += andrews.ZT * np.sin(q[4])
    slope[3, 4] -= andrews.ZT * np.cos(q[4])
    w = v[3] + v[4]
    bend[2] += andrews.E * np.sin(pd) * w**2 + andrews.ZT * np.cos(q[4]) * v[4] ** 2
    bend[3] += -andrews.E * np.cos(pd) * w**2 + andrews.ZT * np.sin(q[4]) * v[4] ** 2
    slope[4, 5] = slope[4, 6] = andrews.ZF * np.sin(oe)
    slope[5, 5] = slope[5, 6] = -andrews.ZF * np.cos(oe)
    slope[4, 6] -= andrews.U * np.cos(q[6])
    slope[5, 6] -= andrews.U * np.sin(q[6])
    w = v[5] + v[6]
    bend[4] += andrews.ZF * np.cos(oe) * w**2 + andrews.U * np.sin(q[6]) * v[6] ** 2
    bend[5] += andrews.ZF * np.sin(oe) * w**2 - andrews.U * np.cos(q[6]) * v[6] ** 2
    whole = np.zeros((13, 13))
    whole[:7, :7], whole[:7, 7:], whole[7:, :7] = _mass(q), -slope.T, slope
    a = np.linalg.solve(whole, np.concatenate([andrews.forces_by_hand(q, v), -bend]))[:7]
    return np.concatenate([v, a])


def _mass(q: np.ndarray) -> np.ndarray:
    m = andrews
    out = np.zeros((7, 7))
    cos2, sin4, sin6 = np.cos(q[1]), np.sin(q[3]), np.sin(q[5])
    ee, ff = m.E - m.EA, m.ZF - m.FA
    out[0, 0] = m.M1 * m.RA**2 + m.M2 * (m.R**2 - 2 * m.DA * m.R * cos2 + m.DA**2) + m.I1 + m.I2
    out[0, 1] = out[1, 0] = m.M2 * (m.DA**2 - m.DA * m.R * cos2) + m.I2
    out[1, 1] = m.M2 * m.DA**2 + m.I2
    out[2, 2] = m.M3 * (m.SA**2 + m.SB**2) + m.I3
    out[3, 3] = m.M4 * ee**2 + m.I4
    out[3, 4] = out[4, 3] = m.M4 * (ee**2 + m.ZT * ee * sin4) + m.I4
    out[4, 4] = m.M4 * (m.ZT**2 + 2 * m.ZT * ee * sin4 + ee**2) + m.M5 * (m.TA**2 + m.TB**2) + m.I4 + m.I5
    out[5, 5] = m.M6 * ff**2 + m.I6
    out[5, 6] = out[6, 5] = m.M6 * (ff**2 - m.U * ff * sin6) + m.I6
    out[6, 6] = m.M6 * (ff**2 - 2 * m.U * ff * sin6 + m.U**2) + m.M7 * (m.UA**2 + m.UB**2) + m.I6 + m.I7
    return out


def beside_scipy(
    name: str, system: hl.System, start: Any, end: float, steps: int, slope: Any, exact: np.ndarray
) -> str:
    def ours() -> Any:
        return hl.simulate(system, start[0], start[1], end, dt=end / steps, method=hl.Radau(3), save_every=steps)

    ours()
    seconds, run = best(ours)
    error = np.max(np.abs(run.q[-1] - exact))
    n, points = len(exact), []
    for tolerance in 10.0 ** -np.arange(12.0, 2.9, -0.5):
        peer_seconds, peer = best(
            lambda tol=tolerance: solve_ivp(
                slope, (0, end), np.concatenate(start), method="Radau", rtol=max(tol, 3e-14), atol=tol * 1e-2
            ),
            repeat=2,
        )
        peer_error = np.max(np.abs(peer.y[:n, -1] - exact))
        points.append((np.log(peer_error), np.log(peer_seconds)))
        if peer_error >= error:
            break
    late = np.array(points[-2:])
    peer_seconds = float(np.exp(np.interp(np.log(error), late[:, 0], late[:, 1])))
    return (
        f"| {name} | {seconds * 1e3:.2f} ms | {peer_seconds * 1e3:.0f} ms | {error:.1e} "
        f"| {peer_seconds / seconds:.0f} × |"
    )


def main() -> None:
    print("| system | method | µs a step |\n| --- | --- | --- |")
    loop = tuple(np.asarray(x) for x in FOUR_BAR_START)
    for name, system, start in (
        ("rod pendulum", rod_pendulum, from_angles([1.2], [0.5])),
        ("double rod pendulum", double_rods, from_angles([1.2, 0.4], [0.5, 1.0])),
        ("four-bar loop", four_bar, loop),
    ):
        for method in (hl.Rattle(2), hl.Rattle(4), hl.Radau(3), hl.RK4()):
            print(f"| {name} | `{method.label}` | {microseconds(system, start, method):.2f} |")
    print("\n| problem | `Radau(3)` | SciPy's `Radau`, index reduced | error of q | ratio |")
    print("| --- | --- | --- | --- | --- |")
    start = from_angles([1.2], [0.5])
    exact = hl.simulate(rod_pendulum, *start, 5.0, dt=5e-4, method=hl.Rattle(6), save_at=[5.0]).q[-1]
    print(beside_scipy("rod pendulum, t = 5", rod_pendulum, start, 5.0, 500, rod_slope, exact))
    start = from_angles([1.2, 0.4], [0.5, 1.0])
    exact = hl.simulate(double_rods, *start, 5.0, dt=5e-4, method=hl.Rattle(6), save_at=[5.0]).q[-1]
    print(beside_scipy("double rod pendulum, t = 5", double_rods, start, 5.0, 1000, double_rods_slope, exact))
    begin = (andrews.Q0, np.zeros(7))
    print(
        beside_scipy("Andrews' mechanism, t = 0.03", andrews.mechanism, begin, 0.03, 400, andrews_slope, andrews.Q_END)
    )


if __name__ == "__main__":
    main()

"""Locomotion: the displacement of a gait, warm, against SciPy on the same force balance written in NumPy."""

import time

import numpy as np
from scipy.integrate import solve_ivp

import holonomy as hl

REPEATS = 200
LENGTH, RATIO = 1 / 3, 2.0


def milliseconds(function) -> float:
    """The median of many calls, after one that compiles."""
    function()
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return 1000 * float(np.median(times))


def by_hand() -> np.ndarray:
    """Purcell's swimmer on a circle of shapes: the balance of forces link by link, and DOP853 at 1e-10."""

    def velocity(t: float, pose: np.ndarray) -> np.ndarray:
        a, b = np.cos(t), np.sin(t)
        rate = np.array([-b, a])
        u = np.exp(1j * np.array([-a, 0.0, b]))
        centres = 0.5 * LENGTH * np.array([-1 - u[0], 0.0, 1 + u[2]])
        moves = 0.5j * LENGTH * np.array([u[0] * rate[0], 0.0, u[2] * rate[1]])
        spins = np.array([-rate[0], 0.0, rate[1]])

        def loads(v: complex, spin: float, on: float) -> np.ndarray:
            local = (v + 1j * spin * centres + on * moves) * np.conj(u)
            force = -LENGTH * (local.real + 1j * RATIO * local.imag) * u
            torque = np.sum((np.conj(centres) * force).imag - RATIO * LENGTH**3 / 12 * (spin + on * spins))
            total = np.sum(force)
            return np.array([total.real, total.imag, torque])

        matrix = np.stack([loads(1.0, 0.0, 0.0), loads(1j, 0.0, 0.0), loads(0.0, 1.0, 0.0)], axis=1)
        xi = -np.linalg.solve(matrix, loads(0.0, 0.0, 1.0))
        moved = (xi[0] + 1j * xi[1]) * np.exp(1j * pose[2])
        return np.array([moved.real, moved.imag, xi[2]])

    return solve_ivp(velocity, (0.0, 2 * np.pi), np.zeros(3), method="DOP853", rtol=1e-10, atol=1e-10).y[:, -1]


def main() -> None:
    swimmer, gait = hl.Purcell(LENGTH, 1.0, RATIO), hl.Gait.ellipse(0.0, 1.0)
    found = np.asarray(hl.perform(swimmer, gait).displacement)
    ours = milliseconds(lambda: hl.perform(swimmer, gait).displacement)
    begin = time.perf_counter()
    other = by_hand()
    theirs = 1000 * (time.perf_counter() - begin)
    print("## Locomotion\n")
    print("Displacement of Purcell's swimmer on a circle of shapes, warm, one core; asked: 1e-8 under 1 ms.\n")
    print("| route | ms | difference | ratio |")
    print("| --- | --- | --- | --- |")
    print(f"| `hl.perform` | {ours:.2f} | – | 1 |")
    gap, ratio = np.abs(found - other).max(), theirs / ours
    print(f"| force balance in NumPy, SciPy DOP853 | {theirs:.1f} | {gap:.0e} | {ratio:.0f} |")


if __name__ == "__main__":
    main()

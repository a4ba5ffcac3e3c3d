"""Exact states of chaotic and unstable motions, in 28-digit arithmetic, from starts that are floating-point numbers.

The equations are written out here, by hand, and integrated by extrapolated midpoint steps (Gragg, Bulirsch, Stoer) of
order 16 with a local error of 1e-22. `python -m tests.reference.long_motions` writes `long_motions.csv`, a row for each
time, and `python -m tests.reference.long_motions twins` prints `TWINS`, the times at which two such motions that differ
by 2**-53 in each number are a thousandth of their size apart; each takes a minute.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from mpmath import mp, mpf

ROWS = 80
FILE = Path(__file__).with_suffix(".csv")


class Motion(NamedTuple):
    """Where a motion starts, when it ends, and the derivative of its state; the first `shown` numbers of a state are
    written."""

    start: tuple[float, ...]
    t_end: float
    slope: Callable[[Any, list[Any]], list[Any]]
    shown: int
    on_spheres: tuple[tuple[int, int, int], ...] = ()
    """Where points of a unit sphere begin and end in the state, and where their velocities begin; none: −1."""


def _double(t: Any, y: list[Any]) -> list[Any]:
    a, b, u, w = y
    g = mpf(9.81)
    s, c = mp.sin(a - b), mp.cos(a - b)
    f1, f2 = -s * w * w - 2 * g * mp.sin(a), s * u * u - g * mp.sin(b)
    d = 2 - c * c
    return [u, w, (f1 - c * f2) / d, (2 * f2 - c * f1) / d]


def _henon(t: Any, y: list[Any]) -> list[Any]:
    a, b, u, w = y
    return [u, w, -a - 2 * a * b, -b - a * a + b * b]


def _bodies(t: Any, y: list[Any]) -> list[Any]:
    x, v, force = y[:6], y[6:], [mpf(0)] * 6
    for i, j in ((0, 1), (0, 2), (1, 2)):
        dx, dy = x[2 * j] - x[2 * i], x[2 * j + 1] - x[2 * i + 1]
        r2 = dx * dx + dy * dy + mpf(0.0625)
        k = 1 / (r2 * mp.sqrt(r2))
        for n, d in ((0, dx), (1, dy)):
            force[2 * i + n] += k * d
            force[2 * j + n] -= k * d
    return [*v, *force]


def _driven(t: Any, y: list[Any]) -> list[Any]:
    return [y[1], -mp.sin(y[0]) - mpf(0.5) * y[1] + mpf(1.2) * mp.cos(mpf(0.6875) * t)]


def _pendulum(t: Any, y: list[Any]) -> list[Any]:
    return [y[1], -mpf(9.81) * mp.sin(y[0])]


def _elastic(t: Any, y: list[Any]) -> list[Any]:
    x, z, u, w = y
    r = mp.sqrt(x * x + z * z)
    k = 40 * (r - 1) / r
    return [u, w, -k * x, -k * z - mpf(9.81)]


MAGNETS = ((1.0, 0.0), (-0.5, 0.875), (-0.5, -0.875))


def _magnets(t: Any, y: list[Any]) -> list[Any]:
    x, z, u, w = y
    fx, fz = -x / 2, -z / 2
    for mx, mz in MAGNETS:
        dx, dz = mpf(mx) - x, mpf(mz) - z
        r2 = dx * dx + dz * dz + mpf(0.0625)
        k = 1 / (r2 * mp.sqrt(r2))
        fx, fz = fx + k * dx, fz + k * dz
    return [u, w, fx, fz]


def _body(t: Any, y: list[Any]) -> list[Any]:
    """A free rigid body: a quaternion and the angular velocity in the body, moments 1, 2, 3."""
    a, b, c, d, x, z, w = y
    turned = [(-b * x - c * z - d * w) / 2, (a * x + c * w - d * z) / 2, (a * z + d * x - b * w) / 2,
              (a * w + b * z - c * x) / 2]  # fmt: skip
    return [*turned, -z * w, w * x, -x * z / 3]


def _rod(t: Any, y: list[Any]) -> list[Any]:
    """Two unit masses in the unit sphere of R⁴ joined by a spring of stiffness and rest length 1."""
    x, z, u, w = y[:4], y[4:8], y[8:12], y[12:]

    def dot(a: list[Any], b: list[Any]) -> Any:
        return sum((p * q for p, q in zip(a, b, strict=True)), mpf(0))

    c = dot(x, z)
    s = mp.sqrt(dot([p - c * q for p, q in zip(z, x, strict=True)], [p - c * q for p, q in zip(z, x, strict=True)]))
    length = mp.atan2(s, c)
    pull = (length - 1) / s
    ax = [pull * (q - c * p) - dot(u, u) * p for p, q in zip(x, z, strict=True)]
    az = [pull * (p - c * q) - dot(w, w) * q for p, q in zip(x, z, strict=True)]
    return [*u, *w, *ax, *az]


HALF = (0.8775825618903728, 0.479425538604203)  # cos and sin of a half

MOTIONS = {
    "double pendulum": Motion((2.0, 2.5, 0.0, 0.0), 20.0, _double, 2),
    "double pendulum, thrown": Motion((0.5, -1.0, 3.0, 6.0), 25.0, _double, 2),
    "Hénon-Heiles": Motion((0.0, 0.125, 0.53125, 0.125), 480.0, _henon, 2),
    "three bodies": Motion((1.0, 0.0, -0.5, 0.75, -0.25, -1.0, 0.0, 0.25, -0.5, 0.0, 0.5, -0.25), 80.0, _bodies, 6),
    "driven pendulum": Motion((1.0, 0.0), 320.0, _driven, 1),
    "inverted pendulum": Motion((3.14159265358979, 0.0), 20.0, _pendulum, 1),
    "elastic pendulum": Motion((1.0, 1.0, 0.0, 0.0), 60.0, _elastic, 2),
    "magnetic pendulum": Motion((1.5, 0.75, 0.0, 0.0), 50.0, _magnets, 2),
    "rigid body": Motion((1.0, 0.0, 0.0, 0.0, 1e-14, 2.0, 1e-14), 80.0, _body, 4, ((0, 4, -1),)),
    "rod": Motion(
        (HALF[0], HALF[1], 0.0, 0.0, HALF[0], -HALF[1], 0.0, 0.0, 0.0, 0.0, HALF[0], 0.0, 0.0, 0.0, HALF[0], 0.0),
        80.0, _rod, 8, ((0, 4, 8), (4, 8, 12)),
    ),
}  # fmt: skip
TWINS = {"rigid body": 27.53645411375837, "rod": 36.50124928048385}


def states(motion: Motion, beside: float = 0.0, rows: int = ROWS) -> list[list[Any]]:
    """The states at equal times; `beside` changes each number of the start by so much of itself, up or down."""
    signs = [1, -1, -1, 1, 1, 1, -1, 1, -1, -1, 1, -1, 1, -1, -1, 1]
    y = [mpf(x) + s * mpf(beside) * (1 + abs(mpf(x))) for x, s in zip(motion.start, signs, strict=False)]
    for first, last, rates in motion.on_spheres:
        x = _normalised(y[first:last])
        y[first:last] = x
        if rates >= 0:
            v = y[rates : rates + last - first]
            along = sum((p * q for p, q in zip(x, v, strict=True)), mpf(0))
            y[rates : rates + last - first] = [q - along * p for p, q in zip(x, v, strict=True)]
    found, t, h = [y], mpf(0), mpf(motion.t_end) / rows / 8
    for k in range(1, rows + 1):
        goal = mpf(motion.t_end) * k / rows
        while t < goal:
            step = min(h, goal - t)
            new, error = _step(motion.slope, t, y, step)
            h = step * min(
                mpf(3), max(mpf("0.2"), mpf("0.8") * (mpf(10) ** -22 / (error + mpf(10) ** -40)) ** (mpf(1) / 15))
            )
            if error < mpf(10) ** -21:
                t, y = (goal if step == goal - t else t + step), new
        found.append(y)
    return found


def _normalised(x: list[Any]) -> list[Any]:
    length = mp.sqrt(sum((p * p for p in x), mpf(0)))
    return [p / length for p in x]


def twin(name: str) -> float:
    """When a motion and another, whose start differs by 2**-53, are a thousandth of the size of the motion apart."""
    motion = MOTIONS[name]
    one, other = (states(motion, beside) for beside in (0.0, 2.0**-53))
    size = max(max(y[i] for y in one) - min(y[i] for y in one) for i in range(motion.shown))
    gaps = [
        max(abs(p - q) for p, q in zip(a[: motion.shown], b[: motion.shown], strict=True)) / size
        for a, b in zip(one, other, strict=True)
    ]
    k = next(k for k, gap in enumerate(gaps) if gap > mpf("1e-3"))
    way = mp.log(mpf("1e-3") / gaps[k - 1]) / mp.log(gaps[k] / gaps[k - 1])
    return float((k - 1 + way) * motion.t_end / ROWS)


def _step(slope: Any, t: Any, y: list[Any], step: Any) -> tuple[list[Any], Any]:
    """A step by midpoint rules with 2, 4, … 16 parts, extrapolated, and the size of the last correction."""
    first = slope(t, y)
    table: list[list[Any]] = []
    error = mpf(0)
    for j in range(8):
        n = 2 * (j + 1)
        h = step / n
        a, b = y, [p + h * d for p, d in zip(y, first, strict=True)]
        for k in range(1, n):
            d = slope(t + k * h, b)
            a, b = b, [p + 2 * h * e for p, e in zip(a, d, strict=True)]
        d = slope(t + step, b)
        row = [[(p + q + h * e) / 2 for p, q, e in zip(a, b, d, strict=True)]]
        for i in range(j):
            ratio = mpf(n * n) / mpf(4 * (j - i) ** 2) - 1
            row.append([p + (p - q) / ratio for p, q in zip(row[i], table[-1][i], strict=True)])
        if j == 7:
            error = max(abs(p - q) / (1 + abs(p)) for p, q in zip(row[-1], row[-2], strict=True))
        table.append(row)
    return table[-1][-1], error


def exact() -> dict[str, list[list[float]]]:
    """The states in the file: time and coordinates in each row, by motion."""
    found: dict[str, list[list[float]]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for name, *numbers in csv.reader(file):
            found.setdefault(name, []).append([float(x) for x in numbers])
    return found


def main(names: list[str]) -> None:
    """Write the file; of some motions, replace their rows."""
    kept = {} if not FILE.exists() else {k: [[repr(x) for x in r] for r in rows] for k, rows in exact().items()}
    for name in names or list(MOTIONS):
        motion = MOTIONS[name]
        rows = states(motion)
        kept[name] = [
            [repr(motion.t_end * k / ROWS), *(str(mp.nstr(x, 12)) for x in row[: motion.shown])]
            for k, row in enumerate(rows)
        ]
    with FILE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([name, *row] for name, rows in kept.items() for row in rows)


if __name__ == "__main__":
    import sys

    mp.dps = 28
    if sys.argv[1:] == ["twins"]:
        print({name: twin(name) for name in TWINS})
    else:
        main(sys.argv[1:])

"""Bodies in curved space: time for a unit of simulated time, and vertex-steps a second of a cloth in H³.

    python benchmarks/bodies.py [--rows 32,316]

The published research code needs 500 ms (rod in S³, error 5e-14), 390 ms (rod in H³, 2e-10) and 0.9 to 1.1 s (triangle)
for a unit of time with its Gauss method of order 6 at dt = 0.01. A cloth has springs along both directions of its grid,
two for each vertex; the step is Splitting(2).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import holonomy as hl
from holonomy.models import bodies
from holonomy.show.figures import body_examples

SHORT, LONG = 10.0, 400.0  # of simulated time: the difference leaves out what a call costs once


def seconds(call: Callable[[], Any]) -> float:
    """The least of three."""
    found = []
    for _ in range(3):
        begin = time.perf_counter()
        jax.block_until_ready(call())
        found.append(time.perf_counter() - begin)
    return min(found)


def elastic(where: str, shape: str, dt: float) -> str:
    """A row of the first table."""
    world, begin = body_examples.world(where, shape), body_examples.start(where, shape)

    def run(end: float) -> Any:
        return hl.simulate(world, *begin, end, dt=dt, method=hl.Splitting(8), save_at=[0.0, end])

    first = seconds(lambda: run(SHORT).q)
    each = (seconds(lambda: run(LONG).q) - first) / (LONG - SHORT)
    times = np.array([0.0, SHORT])
    side, ends = list(body_examples.SIDES[shape].items())[-1]
    error = abs(float(run(SHORT).distance(*ends)[-1]) - float(body_examples.exact(where, shape, times)[side][-1]))
    return f"| {shape} in {where}³ | {dt:g} | {1e3 * each:.4f} | {error:.1e} |"


def cloth(rows: int) -> str:
    """A row of the second table."""
    space = hl.Hyperbolic(3)
    sheet = bodies.cloth(space, rows, rows, 1.0 / rows, shear=False, stiffness=100.0)
    world = hl.World(space, sheet.body)
    velocities = world.killing_velocities(sheet.points, boost_x=1.0)
    steps = max(64, 20_000_000 // rows**2 // 32 * 32)

    def run(count: int) -> Any:
        return hl.simulate(
            world, sheet.points, velocities, count * 1e-3, dt=1e-3, method=hl.Splitting(2), save_at=[0.0, count * 1e-3]
        )

    begin = time.perf_counter()
    run(32)
    first = time.perf_counter() - begin
    few, many = seconds(lambda: run(32).q), seconds(lambda: run(32 + steps).q)
    each = (many - few) / steps
    drift = run(32 + steps).certificate.energy_drift_relative
    count = rows * rows
    return f"| {count} | {count / each:.2e} | {1e9 * each / count:.1f} | {first:.1f} | {drift:.1e} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="32,100,316")
    options = parser.parse_args()
    print("## Bodies in curved space\n\nSplitting(8) on one core, one machine function; error of a side at t = 10.\n")
    print("| body | dt | ms per unit of time | error |\n| --- | --- | --- | --- |")
    for where in "SH":
        for shape in ("rod", "triangle"):
            for dt in (0.1, 0.05):
                print(elastic(where, shape, dt), flush=True)
    print(f"\nA cloth in H³, {jax.default_backend()}, Splitting(2), springs along both directions of the grid.\n")
    print("| vertices | vertex-steps a second | ns a vertex-step | first run s | energy drift |")
    print("| --- | --- | --- | --- | --- |")
    for rows in options.rows.split(","):
        print(cloth(int(rows)), flush=True)


if __name__ == "__main__":
    main()

"""What the verdict of a certificate costs, in parts of the run that it judges.

    python benchmarks/verdict.py [--steps 10000]

Least of five in processor time, after one run and one certificate that compile what they need.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

import holonomy as hl

REPEAT = 5


def measured(motion: Callable[[], hl.Run]) -> tuple[float, float, hl.Run]:
    """The least processor times of a run and of the first look at its certificate."""
    run = motion()
    run.certificate  # noqa: B018  (compiles)
    runs, looks = [], []
    for _ in range(REPEAT):
        begin = time.process_time()
        run = motion()
        done = time.process_time()
        run.certificate  # noqa: B018  (what is measured)
        runs.append(done - begin)
        looks.append(time.process_time() - done)
    return min(runs), min(looks), run


pendulum = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * v[0] ** 2 + 9.81 * jnp.cos(q[0]), coordinates={"theta": "angle"}
)
damped = pendulum.forced(lambda t, q, v: -0.1 * v + jnp.cos(t))
ball = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) - 0.5 * q[0] ** 2 - q[1], coordinates=("x", "y")
).constrained(unilateral=lambda t, q: q[1:], restitution=0.9)
held = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - 9.81 * q[1], coordinates=("x", "y")).constrained(
    holonomic=lambda t, q: jnp.dot(q, q) - 1.0
)
edge = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) + q[0], coordinates={"x": "length", "y": "length", "a": "angle"}
).constrained(velocity=lambda t, q, v: v[0] * jnp.sin(q[2]) - v[1] * jnp.cos(q[2]))
sphere = hl.Sphere(3)
triangle = hl.models.bodies.triangle(sphere)
world = hl.World(sphere, triangle.body)
turning = np.array([sphere.tangent(x, 0.1 * np.roll(x, 1)) for x in triangle.points])

Start = tuple[Any, Any]
CASES: dict[str, tuple[hl.System, Start, float, Any]] = {
    "pendulum": (pendulum, ([1.0], [0.0]), 0.01, hl.Gauss(3)),
    "pendulum, RK4": (pendulum, ([1.0], [0.0]), 0.01, hl.RK4()),
    "damped, driven pendulum": (damped, ([1.0], [0.0]), 0.01, None),
    "double pendulum": (hl.Pendulum([1.0, 1.0], [1.0, 1.0]), ([1.0, 0.5], [0.0, 0.0]), 0.001, None),
    "6 links": (hl.Pendulum([1.0] * 6, [1.0] * 6), ([0.5] * 6, [0.0] * 6), 0.001, None),
    "bouncing ball, e = 0.9": (ball, ([1.0, 1.0], [0.0, 0.0]), 0.001, None),
    "pendulum, by constraint": (held, ([1.0, 0.0], [0.0, 0.0]), 0.005, None),
    "knife edge": (edge, ([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]), 0.005, None),
    "triangle in S³": (world, (triangle.points, turning), 0.01, None),
}


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10_000)
    steps = parser.parse_args().steps
    print(f"## The cost of a verdict\n\nRuns of {steps} steps, every one saved; processor time.\n")
    print("| system | method | run ms | verdict ms | part of the run | verdict | error stated |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (system, (q, v), dt, method) in CASES.items():

        def motion(system: Any = system, q: Any = q, v: Any = v, dt: float = dt, method: Any = method) -> hl.Run:
            return hl.simulate(system, q, v, steps * dt, dt=dt, method=method, throw=False)

        took, asked, run = measured(motion)
        found = run.certificate
        stated = getattr(found, "error", None)
        said = "–" if stated is None else f"{stated:.1e}"
        print(
            f"| {name} | {found.method.split(' (')[0]} | {1e3 * took:.1f} | {1e3 * asked:.1f} | {asked / took:.2f} "
            f"| {found.verdict} | {said} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Seconds from a description to the first step, for systems whose equations are long; cold, and with code kept on disk.

    python benchmarks/first_step.py [--cases bodies,rattleback,bicycle]

Each measurement is a process of its own, without the import. `made` is the description and its projection onto the
constraints, `first` the first run of ten steps with the default method, `step` the time of a step afterwards.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl

Start = tuple[hl.System, np.ndarray, np.ndarray]
STEP = 1e-3
GRAVITY = 9.81


def rotation(axis: str, angle: Any) -> Any:
    """The matrix of a rotation about a coordinate axis."""
    c, s, o, z = jnp.cos(angle), jnp.sin(angle), jnp.ones(()), jnp.zeros(())
    rows = {"x": [[o, z, z], [z, c, -s], [z, s, c]], "y": [[c, z, s], [z, o, z], [-s, z, c]]}
    return jnp.array(rows.get(axis, [[c, -s, z], [s, c, z], [z, z, o]]))


def spin(turn: Callable[[Any], Any], q: Any, v: Any) -> Any:
    """The angular velocity, in space, of a body whose orientation is turn(q)."""
    r, rate = jax.jvp(turn, (q,), (v,))
    w = rate @ r.T
    return jnp.array([w[2, 1], w[0, 2], w[1, 0]])


def turning_energy(turn: Callable[[Any], Any], inertia: np.ndarray, q: Any, v: Any) -> Any:
    """The kinetic energy of rotation, for an inertia in the body's frame."""
    w = turn(q).T @ spin(turn, q, v)
    return 0.5 * w @ jnp.asarray(inertia) @ w


def bodies() -> Start:
    """Twenty bodies that attract each other, the potential written as a Python loop over pairs."""
    n, masses = 20, np.linspace(1.0, 2.0, 20)

    def lagrangian(t: Any, q: Any, v: Any) -> Any:
        x, u = q.reshape(n, 3), v.reshape(n, 3)
        total = 0.5 * sum(masses[i] * jnp.dot(u[i], u[i]) for i in range(n))
        for i in range(n):
            for j in range(i):
                d = x[i] - x[j]
                total = total + masses[i] * masses[j] / jnp.sqrt(jnp.dot(d, d) + 0.01)
        return total

    random = np.random.default_rng(0)
    system = hl.System.from_lagrangian(lagrangian, coordinates=[f"x{i}" for i in range(3 * n)])
    return system, random.normal(size=3 * n), 0.1 * random.normal(size=3 * n)


def rattleback() -> Start:
    """A half ellipsoid with skew principal axes, rolling on a plane: 6 coordinates, 3 constraints."""
    squares, below = np.diag([0.2, 0.03, 0.02]) ** 2, np.array([0.0, 0.0, -0.01])
    inertia = np.array([[2e-4, -2e-5, 0], [-2e-5, 1.6e-3, 0], [0, 0, 1.7e-3]])

    def turn(q: Any) -> Any:
        return rotation("z", q[3]) @ rotation("x", q[4]) @ rotation("y", q[5])

    def contact(q: Any) -> Any:
        up = turn(q).T @ jnp.array([0.0, 0.0, 1.0])
        return turn(q) @ (below - squares @ up / jnp.sqrt(up @ squares @ up))

    def lagrangian(t: Any, q: Any, v: Any) -> Any:
        return 0.5 * jnp.dot(v[:3], v[:3]) + turning_energy(turn, inertia, q, v) - GRAVITY * q[2]

    free = hl.System.from_lagrangian(lagrangian, coordinates=("x", "y", "z", "psi", "theta", "phi"))
    system = free.constrained(
        holonomic=lambda t, q: jnp.array([q[2] + contact(q)[2]]),
        velocity=lambda t, q, v: (v[:3] + jnp.cross(spin(turn, q, v), contact(q)))[:2],
    )
    q, v = system.project(0.0, np.array([0, 0, 0.03, 0, 0, 0.01]), np.array([0, 0, 0, 5.0, 0, 0]))
    return system, np.asarray(q), np.asarray(v)


def bicycle() -> Start:
    """The Whipple bicycle of the published benchmark: 8 coordinates, 5 constraints. The z axis points down."""
    base, trail, tilt = 1.02, 0.08, np.pi / 10
    radii, masses = (0.3, 0.35), (2.0, 85.0, 4.0, 3.0)
    rear, front = np.array([0, 0, -0.3]), np.array([base, 0, -0.35])
    rider, fork, pivot = np.array([0.3, 0, -0.9]), np.array([0.9, 0, -0.7]), np.array([base + trail, 0, 0])
    inertias = (
        np.diag([0.0603, 0.12, 0.0603]),
        np.array([[9.2, 0, 2.4], [0, 11, 0], [2.4, 0, 2.8]]),
        np.array([[0.05892, 0, -0.00756], [0, 0.06, 0], [-0.00756, 0, 0.00708]]),
        np.diag([0.1405, 0.28, 0.1405]),
    )
    down, across = np.array([0, 0, 1.0]), np.array([0, 1.0, 0])

    def heading(q: Any) -> Any:
        return rotation("z", q[2]) @ rotation("x", q[3])

    def frame(q: Any) -> Any:
        return heading(q) @ rotation("y", q[4])

    def handlebar(q: Any) -> Any:
        axis = rotation("y", tilt)
        return frame(q) @ axis @ rotation("z", q[6]) @ axis.T

    wheels = (lambda q: heading(q) @ rotation("y", q[5]), lambda q: handlebar(q) @ rotation("y", q[7]))

    def centres(q: Any) -> tuple[Any, ...]:
        hub = jnp.array([q[0], q[1], 0.0]) + heading(q) @ rear
        head = hub + frame(q) @ (pivot - rear)
        return (
            hub,
            hub + frame(q) @ (rider - rear),
            head + handlebar(q) @ (fork - pivot),
            head + handlebar(q) @ (front - pivot),
        )

    def lagrangian(t: Any, q: Any, v: Any) -> Any:
        places, speeds = jax.jvp(centres, (q,), (v,))
        total = sum(
            0.5 * m * jnp.dot(u, u) + m * GRAVITY * x[2] for m, x, u in zip(masses, places, speeds, strict=True)
        )
        turns = (wheels[0], frame, handlebar, wheels[1])
        return total + sum(turning_energy(turn, one, q, v) for turn, one in zip(turns, inertias, strict=True))

    def to_ground(q: Any) -> Any:
        axle = handlebar(q) @ across
        way = down - axle * jnp.dot(axle, down)
        return radii[1] * way / jnp.sqrt(jnp.dot(way, way))

    def rolling(t: Any, q: Any, v: Any) -> Any:
        _, speeds = jax.jvp(centres, (q,), (v,))
        behind = speeds[0] + jnp.cross(spin(wheels[0], q, v), heading(q) @ (radii[0] * down))
        ahead = speeds[3] + jnp.cross(spin(wheels[1], q, v), to_ground(q))
        return jnp.concatenate([behind[:2], ahead[:2]])

    names = ("x", "y", "yaw", "roll", "pitch", "rear", "steer", "front")
    system = hl.System.from_lagrangian(lagrangian, coordinates=names).constrained(
        holonomic=lambda t, q: jnp.array([(centres(q)[3] + to_ground(q))[2]]), velocity=rolling
    )
    speed = 4.6
    start = np.array([speed, 0, 0, 0.1, 0, -speed / radii[0], 0, -speed / radii[1]])
    q, v = system.project(0.0, np.zeros(8), start)
    return system, np.asarray(q), np.asarray(v)


CASES: dict[str, Callable[[], Start]] = {"bodies": bodies, "rattleback": rattleback, "bicycle": bicycle}


def measure(name: str) -> None:
    """Print one process's figures."""
    begun = time.perf_counter()
    system, q, v = CASES[name]()
    made = time.perf_counter()
    run = hl.simulate(system, q, v, 10 * STEP, dt=STEP)
    first = time.perf_counter()
    steps = 200
    hl.simulate(system, q, v, steps * STEP, dt=STEP, save_every=steps)
    each = (time.perf_counter() - first) / steps
    method, engine = run.certificate.method.split(" (")[0], run.certificate.engine.split(" ")[0]
    print(f"{made - begun:.1f} | {first - made:.1f} | {1e6 * each:.0f} | {method}, {engine}")


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--one")
    given = parser.parse_args()
    if given.one:
        measure(given.one)
        return
    print("## Time to the first step\n\n| system | code kept | made, s | first, s | step, µs | method and engine |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in given.cases.split(","):
        with tempfile.TemporaryDirectory() as folder:
            for kept in ("no", "yes"):
                done = subprocess.run(
                    [sys.executable, __file__, "--one", name],
                    env={**os.environ, "HOLONOMY_CACHE": folder},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                print(f"| {name} | {kept} | {done.stdout.strip()} |", flush=True)


if __name__ == "__main__":
    main()

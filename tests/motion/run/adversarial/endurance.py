"""Long runs that are wrong in a thousandth of their length, tops, rods, far balls and gates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.motion.run.adversarial import catalogue, hidden, systems
from tests.motion.run.adversarial.case import Case, Units, random_units, said
from tests.motion.run.adversarial.hidden import simulated
from tests.motion.run.adversarial.oscillations import label, pick, spring_case

import holonomy as hl


def short_trouble(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Tens of thousands of steps, wrong in a hundredth to a thousandth of them; every one saved, or few."""
    for _ in range(count):
        method = pick(random, (hl.RK4(), hl.Gauss(1), hl.Gauss(2), hl.Splitting(4)))
        ratio = random.uniform(1.0, 1.35) if label(method) in ("RK4()", "Splitting(4)") else random.uniform(1.5, 9)
        steps, angle = int(10 ** random.uniform(4, 5)), {"Gauss(1)": 0.002}.get(label(method), 0.01)
        first = random.uniform(0.05, 0.95)
        last = first + max(10 ** random.uniform(-3, -2), 60 / steps)
        save = int(pick(random, (1, 1, 10, 1000)))
        yield hidden.late_case(
            "short trouble", method, angle, ratio / angle, steps, first, last, random_units(random, 5), save_every=save
        )


def short_cushion(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A long flight, and once, between two samples, a cushion that the steps do not resolve."""
    for _ in range(count):
        method, turn = pick(random, ((hl.RK4(), 1.2), (hl.Gauss(1), 2.5), (hl.Splitting(2), 1.3)))
        steps = int(10 ** random.uniform(3.7, 4.7))
        yield hidden.cushion_case("short trouble", method, steps, turn * steps, random.uniform(0.1, 0.9), Units())


def gates(random: np.random.Generator, count: int) -> Iterator[Case]:
    """An event with an action in a stretch of place that is shorter than a step."""
    event = hl.Event(lambda t, q, v, p: abs(q[0] - 1.0) - 1e-4, action=lambda t, q, v, p: (q, -v), name="gate")
    for _ in range(count):
        method, steps = pick(random, (hl.RK4(), hl.Gauss(2), hl.Gauss(3))), int(random.integers(20, 300))
        dt = 2.0 / steps
        start = 1 - dt * (int(random.integers(3, steps - 3)) + random.uniform(0.35, 0.65))

        def truth(t: np.ndarray, start: float = start) -> np.ndarray:
            x = start + t
            turned = np.where(x < 1 - 1e-4, t, 2 * (1 - 1e-4 - start) - t)
            return np.stack([start + turned, 0.5 * turned], axis=1)

        made = simulated(systems.free, [start, 0.0], [1.0, 0.5], 2.0, dt=dt, method=method, events=event)
        yield Case("gate", f"{label(method)} {steps} steps", made, truth, 0.0, 2.0, blocks=((0,), (1,)))


def tops(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Rigid bodies in steps that are too long: energy is kept, the orientation is lost."""
    for k in range(count):
        if k % 3 == 2:
            name, method, step = "heavy_top", hl.RK4(), 0.06
        else:
            name, (method, step) = "free_rigid_body", ((hl.Gauss(1), 0.2), (hl.RK4(), 0.3))[k % 3]
        end = 5.0 if name == "heavy_top" else 50.0
        moved = 0.3 * random.standard_normal(3)
        yield catalogue.turning(name, moved, method, step * random.uniform(0.9, 1.3), end)


def rods(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A rod that turns, held to round-off, at a rate that is not its own."""
    world = hl.World(hl.Euclidean(3), hl.Body([1.0, 1.0], rods=[(0, 1, 1.0)]))
    for _ in range(count):
        method, angle = pick(random, ((hl.Rattle(2), 0.4), (hl.Rattle(4), 1.2)))
        yield rod_case("rod", world, method, angle * random.uniform(0.9, 1.2), int(random.integers(100, 300)))


def rod_case(family: str, world: hl.World, method: Any, angle: float, steps: int) -> Case:
    points = np.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    speeds = np.array([[0.0, 0.5, 0.0], [0.0, -0.5, 0.0]])

    def truth(t: np.ndarray) -> np.ndarray:
        return np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)

    def run() -> Any:
        return said(hl.simulate(world, points, speeds, steps * angle, dt=angle, method=method, throw=False))

    def rows(found: hl.Run) -> np.ndarray:
        q = np.asarray(found.q).reshape(-1, 2, 3)
        return q[:, 0] - q[:, 1]

    return Case(family, f"{label(method)} {angle:.3g} x {steps}", run, truth, 0.0, steps * angle, ((0, 1, 2),), rows)


def far_balls(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Two balls that meet on a line of hyperbolic space, far from the origin."""
    world = hl.World(hl.Hyperbolic(2), [hl.Body([1.0], radii=0.1), hl.Body([1.0], radii=0.1)], collisions=True)
    for _ in range(count):
        yield balls_case("far balls", world, random.uniform(4, 14.5))


def balls_case(family: str, world: hl.World, away: float) -> Case:
    def line(s: float) -> np.ndarray:
        return np.array([np.sinh(s), 0.0, np.cosh(s)])

    def way(s: float) -> np.ndarray:
        return np.array([np.cosh(s), 0.0, np.sinh(s)])

    points = np.array([line(away), line(away + 1.0)])
    speeds = np.array([0.5 * way(away), -0.3 * way(away + 1.0)])

    def truth(t: np.ndarray) -> np.ndarray:
        return (0.2 + np.abs(0.8 - 0.8 * t))[:, None]

    def run() -> Any:
        return said(hl.simulate(world, points, speeds, 3.0, dt=0.05, throw=False))

    return Case(family, f"at {away:.2f}", run, truth, 0.0, 3.0, rows=lambda r: np.asarray(r.distance(0, 1))[:, None])


def restless(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Steps that are in time with a swing: every state that is saved is the same, and a fast swing looks at rest."""
    for _ in range(count):
        method = pick(random, (hl.Gauss(1), hl.Gauss(2), hl.Gauss(3), hl.Gauss(4)))
        angle = 2 * np.pi * int(2 ** random.integers(0, 9))
        yield spring_case(
            "restless", method, angle, int(random.integers(8, 200)), random_units(random), phase=random.uniform(0, 6)
        )

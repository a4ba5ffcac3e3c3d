"""Runs that are right and look suspicious: at rest up to rounding, momenta of zero, ends between two steps, events at
the end, batches, other engines, parts of files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from tests.motion.run.adversarial import hidden, shaped, systems, unseen
from tests.motion.run.adversarial.case import Case, Said, Units, member, random_units, said
from tests.motion.run.adversarial.hidden import simulated
from tests.motion.run.adversarial.oscillations import driven_case, label, pick, spring_case

import holonomy as hl

STABLE = ((hl.Gauss(2), 0.08), (hl.Gauss(3), 0.3), (hl.RK4(), 0.05), (hl.Splitting(4), 0.06))


def at_rest(random: np.random.Generator, count: int) -> Iterator[Case]:
    """All energy is rounding: a spring at rest at a place that is no binary number, a molecule that only vibrates, a
    spring that was damped until it rests where a constant force holds it."""
    for k in range(count):
        method, angle = pick(random, STABLE)
        units = random_units(random, 4)
        if k % 3 == 0:
            place = random.uniform(0.1, 3)
            yield unseen.rest_case("at rest", method, angle, int(random.integers(50, 400)), 1.0, place, units)
        elif k % 3 == 1:
            yield hidden.molecule_case("at rest", method, angle, int(20 / angle), units, 0.0)
        else:
            smooth, step = pick(random, STABLE[:3])
            yield driven_case("at rest", smooth, step, int(120 / step), units, 1.0, 0.7, 1e-12)


def ends(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Ends between two steps, states saved here and there, an event that ends the run."""
    for k in range(count):
        method, angle = pick(random, STABLE)
        units, steps = random_units(random), int(random.uniform(4, 20) / angle)
        if k % 3 == 0:
            yield spring_case("ends", method, angle, steps + random.uniform(0.1, 0.9), units)
        elif k % 3 == 1:
            at = np.sort(random.uniform(0, steps * angle, int(random.integers(2, 12)))) * units.time
            yield spring_case("ends", method, angle, steps, units, save_at=at, name=f"{label(method)} saved {len(at)}")
        else:
            yield terminal_case(pick(random, (hl.Gauss(2), hl.Gauss(3), hl.RK4())), 0.05, units)


middle = hl.Event(lambda t, q, v, p: q[0], direction=-1, terminal=True, name="middle")


def terminal_case(method: Any, angle: float, units: Units) -> Case:
    """A spring from rest that ends when it is in the middle."""
    system = systems.spring.with_parameters(m=units.mass, k=units.stiffness)

    def truth(t: np.ndarray) -> np.ndarray:
        return units.length * np.cos(t / units.time)[:, None]

    dt = angle * units.time
    made = simulated(system, [units.length], [0.0], 9 * units.time, dt=dt, method=method, events=middle)
    return Case("ends", f"{label(method)} by an event", made, truth, 0.0, np.pi / 2 * units.time)


def ways(random: np.random.Generator, count: int) -> Iterator[Case]:
    """XLA, jit, vmap, a batch with walls, and bodies that go far out in hyperbolic space."""
    few = max(count // 4, 1)
    for _ in range(few):
        method, angle = pick(random, ((hl.Gauss(3), 0.3), (hl.RK4(), 0.05)))
        yield spring_case("ways", method, angle, int(12 / angle), random_units(random), engine="xla")
    for k in range(6):
        yield unseen.walled_case("ways", k)
    for _ in range(few):
        method, angle = pick(random, ((hl.Splitting(2), 0.01), (hl.Splitting(4), 0.08)))
        yield shaped.body_case("ways", "H3", method, angle, int(16 / angle), random.uniform(2, 4))
    for k in range(few):
        yield transformed(bool(k % 2), random.uniform(0.02, 0.05))


def transformed(mapped: bool, angle: float) -> Case:
    def motion(x: Any) -> hl.Run:
        return hl.simulate(systems.spring, x, [0.0], 120 * angle, dt=angle, method=hl.RK4())

    def run() -> Said:
        if mapped:
            return member(jax.jit(jax.vmap(motion))(np.array([[1.0], [1.0]])), 1)
        return said(jax.jit(motion)(np.array([1.0])))

    return Case("ways", f"traced {angle:.3f}", run, lambda t: np.cos(t)[:, None], 0.0, 120 * angle)


def parts(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Parts of runs, of files, and of batches in files."""

    def loaded(run: hl.Run) -> hl.Run:
        with tempfile.TemporaryDirectory() as folder:
            return hl.load(run.save(Path(folder) / "run.nc"))

    options: tuple[Callable[[hl.Run], hl.Run], ...] = (
        lambda run: run[::3],
        lambda run: loaded(run[5:]),
        lambda run: loaded(run)[2:9],  # pyright: ignore[reportReturnType]
        lambda run: run.resample(np.linspace(run.t[0], run.t[-1], 50)),
    )  # pyright: ignore[reportAssignmentType]
    for k in range(count):
        method, angle = pick(random, STABLE)
        which = k % 5
        if which < 4:
            change = options[which]
            yield spring_case(
                "parts", method, angle, int(15 / angle), random_units(random), name=f"{label(method)} {which}",
                how=lambda run, change=change: said(change(run())),
            )  # fmt: skip
        else:
            yield batch_in_file(method, angle, loaded)


def batch_in_file(method: Any, angle: float, loaded: Callable[[hl.Run], hl.Run]) -> Case:
    def run() -> Said:
        x, v = [[1.0]] * 3, [[0.0]] * 3
        k = angle**2 * np.array([0.25, 1.0, 0.5])
        batch = hl.ensemble(systems.spring, x, v, 100.0, {"k": k}, dt=1.0, method=method)
        return member(loaded(batch), 1)

    return Case("parts", f"batch {label(method)}", run, lambda t: np.cos(angle * t)[:, None], 0.0, 100.0)

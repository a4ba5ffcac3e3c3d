"""Runs that are right: the same systems and more, with steps that anybody would take. To doubt one is a false alarm."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.motion.run.adversarial import hidden, oscillations, shaped, systems, unseen
from tests.motion.run.adversarial.case import Case, Said, Units, random_units, said
from tests.motion.run.adversarial.hidden import simulated
from tests.motion.run.adversarial.oscillations import driven_case, label, pick, spring_case

import holonomy as hl

FINE = (
    (hl.Gauss(1), 0.004),
    (hl.Gauss(2), 0.08),
    (hl.Gauss(3), 0.3),
    (hl.Gauss(4), 0.6),
    (hl.RK4(), 0.05),
    (hl.Radau(2), 0.02),
    (hl.Radau(3), 0.15),
    (hl.SymplecticEuler(), 0.0015),
    (hl.Splitting(2), 0.006),
    (hl.Splitting(4), 0.06),
    (hl.Splitting(8), 0.5),
    (None, 0.2),
)
"""Methods with a radian or two of a swing in so many steps that over a few periods the error is below 1e-4."""
ANY_FORCE = tuple(one for one in FINE if one[0] is None or not one[0].label.startswith(("Splitting", "Symp")))


def fine(random: np.random.Generator, options: Any = FINE) -> tuple[Any, float, int]:
    """A method, its step, and a number of steps of one to twenty radians."""
    method, angle = pick(random, options)
    angle *= 10 ** random.uniform(-0.7, 0)
    return method, angle, max(int(random.uniform(2, 25) / angle), 8)


def springs(random: np.random.Generator, count: int) -> Iterator[Case]:
    for k in range(count):
        method, angle, steps = fine(random)
        offset = 0.0 if k % 2 else 10 ** random.uniform(0, 8)
        origin = 0.0 if k % 3 else 10 ** random.uniform(0, 5)
        options: dict[str, Any] = ({}, {"backward": True}, {"save_every": 5}, {"t0": 1e3})[k % 4]
        yield spring_case("spring", method, angle, steps, random_units(random), offset=offset, origin=origin, **options)


def by_itself(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Steps that the package finds, and error control."""
    for k in range(count):
        span = random.uniform(3, 30)
        if k % 2:
            yield spring_case("adaptive", hl.Adaptive(), span / 40, 40, Units(mass=10 ** random.uniform(-9, 9)))
        else:
            yield spring_case("dt=None", None, span, 1, random_units(random), dt=None, name=f"over {span:.3g}")


def in_files(random: np.random.Generator, count: int) -> Iterator[Case]:
    def loaded(run: Callable[..., hl.Run]) -> Said:
        with tempfile.TemporaryDirectory() as folder:
            return said(hl.load(run().save(Path(folder) / "run.nc")))

    def part(run: Callable[..., hl.Run]) -> Said:
        return said(run()[2:-2])

    for k in range(count):
        method, angle, steps = fine(random)
        how = (loaded, part)[k % 2]
        yield spring_case(
            "file or part", method, angle, steps, random_units(random), how=how, name=f"{how.__name__} {k}"
        )


def batches(random: np.random.Generator, count: int) -> Iterator[Case]:
    for _ in range(max(count // 10, 1)):
        method, angle = pick(random, FINE[:-1])
        angles = angle * 10 ** random.uniform(-1, 0, 10)
        yield from oscillations.batch_of_springs("batch", method, random_units(random), angles, int(25 / angle))


def driven(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Driven, damped lightly or strongly, until nothing is left."""
    for k in range(count):
        method, angle, steps = fine(random, ANY_FORCE)
        friction = (0.0, 0.1, 1.0, 5.0)[k % 4] * random.uniform(0.5, 1)
        force = 0.0 if k % 3 == 0 else random.uniform(0.1, 2)
        angle, steps = (0.3 * angle, 3 * steps) if friction > 1 else (angle, steps)
        yield driven_case("driven", method, angle, steps, random_units(random), friction, force, random.uniform(0.3, 1))


def stiff(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A strong friction, and Radau's steps that are far longer than it: the place creeps to rest."""
    for _ in range(count):
        friction = 10 ** random.uniform(3, 6)
        yield driven_case("stiff", hl.Radau(3), 0.05 * friction, 100, random_units(random), friction, 0.0, 1.0)


def still(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Nothing moves, or all moves freely; a stiff spring rests beside a slow one."""
    for k in range(count):
        method, angle, steps = fine(random)
        units = random_units(random)
        if k % 2:
            yield hidden.spectator_case("still", method, angle, steps, units, 1e-3, 0.0, 0.0)
        else:
            yield resting_case(pick(random, (hl.Gauss(2), hl.Gauss(3), hl.Radau(3))), 100, units)


def resting_case(method: Any, steps: int, units: Units) -> Case:
    """A slow spring, and a stiff one of 1e4 times its rate at rest."""
    dt = 0.05 * units.time
    system = systems.pair.with_parameters(m=units.mass, k=units.stiffness, m2=units.mass, k2=1e8 * units.stiffness)

    def truth(t: np.ndarray) -> np.ndarray:
        return units.length * np.stack([np.cos(t / units.time), 0 * t], axis=1)

    made = simulated(system, [units.length, 0.0], [0.0, 0.0], steps * dt, dt=dt, method=method)
    return Case("still", f"{label(method)} stiff at rest", made, truth, 0.0, steps * dt, blocks=((0,),))


def together(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Spectators, other units, boosts."""
    for k in range(count):
        method, angle, steps = fine(random)
        units, big = random_units(random, 5), 10 ** random.uniform(-3, 5)
        free = method if method is None or not label(method).startswith(("Splitting", "Symp")) else hl.RK4()
        if k % 4 == 0:
            yield hidden.spectator_case("spectator", method, angle, steps, units, 10 ** random.uniform(-6, 6), big, 0.0)
        elif k % 4 == 1:
            yield hidden.coupled_case("units", method, angle, steps, units, 10 ** random.uniform(-9, 9))
        elif k % 4 == 2:
            yield hidden.molecule_case("boost", method, angle, steps, units, 10 ** random.uniform(-1, 4))
        else:
            angle, steps = (min(angle, 0.05), steps) if free != method else (angle, steps)
            yield hidden.magnet_case("boost", free, angle, steps, units, 10 ** random.uniform(-1, 2))


def sudden(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Stiffness that comes late, forces for a short time, cushions: all in steps that see them."""
    for k in range(count):
        method, angle, steps = fine(random, FINE[1:6])
        units, end = random_units(random, 5), random.uniform(3, 20)
        steps = int(20 * end / angle)
        if k % 3 == 0:
            factor = random.uniform(2, 10)
            small, steps = angle / factor / 2, int(2 * factor * end / angle)
            first = round(random.uniform(0.3, 0.9) * steps) / steps
            yield hidden.late_case("late", method, small, factor, steps, first, 2.0, units)
        elif k % 3 == 1:
            steps, width = 1000, random.integers(50, 300) / 1000
            yield hidden.kick_case(
                "kick", method, steps, random.integers(100, 600) / 1000, width, random.uniform(0.5, 20), units
            )
        else:
            yield hidden.cushion_case("cushion", method, 2000, random.uniform(10, 40), random.uniform(0.2, 0.7), units)


def bounces(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Balls that bounce or never come down, beside a spring, damped or not."""
    options = ((hl.Rattle(2), 0.006), (hl.Rattle(4), 0.06), (hl.RK4(), 0.05), (hl.Radau(3), 0.1), (None, 0.05))
    for k in range(count):
        method, angle = pick(random, options)
        friction = 0.0 if k % 3 == 0 else 10 ** random.uniform(-2, 0.3)
        steps = int(random.uniform(3, 20) / angle)
        rate = 1.0 if k % 5 else 0.0
        yield hidden.ball_case("bounces", method, angle, steps, random_units(random, 5), friction, k % 2 == 0, rate)


def swings(random: np.random.Generator, count: int) -> Iterator[Case]:
    for k in range(count):
        method, angle, steps = fine(random)
        units = random_units(random)
        if k % 2:
            yield shaped.swing_case("pendulum", method, angle, steps, units, random.uniform(0.1, 2.8))
        else:
            speed = random.uniform(2.2, 10)
            yield shaped.turning_case("windings", method, angle / speed, steps, units, speed)


def planets(random: np.random.Generator, count: int) -> Iterator[Case]:
    options = (
        (None, 60),
        (hl.Gauss(2), 400),
        (hl.Gauss(3), 150),
        (hl.RK4(), 600),
        (hl.Splitting(4), 600),
        (hl.Adaptive(), 20),
    )
    for _ in range(count):
        method, steps = pick(random, options)
        controlled = method is None or not method.fixed_step
        units = Units(mass=10 ** random.uniform(-9, 9)) if controlled else random_units(random, 6)
        eccentricity = random.uniform(0, 0.9) if controlled else random.uniform(0, 0.4)
        yield shaped.planet_case("planet", method, eccentricity, steps, random.uniform(1, 4), units)


def held(random: np.random.Generator, count: int) -> Iterator[Case]:
    circle = ((hl.Rattle(2), 0.01), (hl.Rattle(4), 0.08), (hl.RK4(), 0.03), (hl.Radau(3), 0.1), (None, 0.05))
    edge = ((hl.Gauss(2), 0.08), (hl.Gauss(3), 0.2), (hl.RK4(), 0.03), (hl.Radau(3), 0.1), (None, 0.1))
    for k in range(count):
        method, angle = pick(random, circle if k % 2 else edge)
        steps, units = int(random.uniform(3, 10) / angle), random_units(random, 5)
        if k % 2:
            yield shaped.circle_case("held", method, angle, steps, units, random.uniform(0.3, 2.5))
        else:
            yield shaped.skate_case("held", method, angle, steps, units)


def others(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Double pendulums for a few swings, bodies in curved spaces, events, many springs, single precision."""
    for k in range(count):
        if k % 5 == 0:
            start = random.uniform(-1.6, 1.6, 2)
            yield shaped.double_case("double", pick(random, (None, hl.Gauss(3), hl.RK4())), 0.005, 4.0, start)
        elif k % 5 == 1:
            method, angle = pick(random, ((None, 0.3), (hl.Splitting(2), 0.01), (hl.Splitting(4), 0.08)))
            where = pick(random, ("S3", "H3", "E3"))
            yield shaped.body_case("body", where, method, angle, int(8 / angle), random.uniform(0, 0.3))
        elif k % 5 == 2:
            method, angle = pick(random, ((hl.Gauss(2), 0.08), (hl.Gauss(3), 0.2), (hl.RK4(), 0.05)))
            yield shaped.event_case("event", method, angle, int(random.uniform(3, 12) / angle), random_units(random, 5))
        elif k % 5 == 3:
            method, angle = pick(random, ((hl.Splitting(4), 0.06), (hl.RK4(), 0.05), (None, 0.06)))
            yield shaped.row_case("many", method, angle, 200, int(random.integers(shaped.MANY)))
        else:
            yield shaped.single_case("single precision", int(random.integers(100, 3000)))


def contacts(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A ball on a table with cushions, and a block that falls, stays, and slides until friction stops it."""
    for k in range(count):
        if k % 2:
            method, dt = pick(random, (hl.Rattle(4), hl.RK4())), 10 ** random.uniform(-2, -0.7)
            yield unseen.table_case("table", method, dt, int(random.integers(20, 100)), random.uniform(0.2, 1, 2))
        else:
            yield block_case("block", 0.01, random.uniform(0.0, 1.0), random.uniform(0.5, 2), random_units(random, 3))


def block_case(family: str, dt: float, height: float, speed: float, units: Units) -> Case:
    """A block that falls from a height, does not bounce, loses 0.3 of its speed of fall along the floor, and slides."""
    fall = np.sqrt(2 * height)
    left = max(speed - 0.3 * fall, 0.0)
    system = systems.block.with_parameters(m=units.mass, g=units.length / units.time**2)

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        slide = np.clip(s - fall, 0.0, left / 0.3)
        x = speed * np.minimum(s, fall) + left * slide - 0.15 * slide**2
        return units.length * np.stack([x, np.maximum(height - 0.5 * s * s, 0.0)], axis=1)

    q, v, end = [0.0, height * units.length], [speed * units.speed, 0.0], 6 * units.time
    made = simulated(system, q, v, end, dt=dt * units.time)
    return Case(family, f"from {height:.3f} at {speed:.3f}", made, truth, 0.0, end, blocks=((0, 1),))


def long(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Tens of thousands of steps, of which only some can be looked at again."""
    for k in range(count):
        method, angle = pick(
            random, ((hl.Gauss(3), 0.1), (hl.Gauss(2), 0.02), (hl.Splitting(4), 0.02), (hl.RK4(), 0.01))
        )
        steps, units = int(10 ** random.uniform(4, 5)), random_units(random)
        save = int(pick(random, (1, 10, 1000)))
        if k % 3 == 0:
            yield driven_case("long", pick(random, (hl.Gauss(2), hl.RK4())), 0.01, steps, units, 0.01, 0.2, 0.4)
        elif k % 3 == 1:
            yield hidden.ball_case("long", hl.Rattle(4), 0.01, steps, units, 0.001, True)
        else:
            yield spring_case("long", method, angle, steps, units, save_every=save)


FAMILIES = {
    springs: 70, by_itself: 20, in_files: 20, batches: 40, driven: 40, stiff: 10, still: 20, together: 48,
    sudden: 24, bounces: 30, swings: 24, planets: 18, held: 16, others: 20, contacts: 10,
}  # fmt: skip

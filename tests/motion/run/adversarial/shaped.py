"""Pendulums, planets, constraints, bodies in curved spaces, events, chaos: runs that are wrong where more than a spring
moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.motion.run.adversarial import systems, truths
from tests.motion.run.adversarial.case import Case, Units, random_units, said
from tests.motion.run.adversarial.hidden import simulated
from tests.motion.run.adversarial.oscillations import label, pick

import holonomy as hl


def swings(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Pendulums with steps too long, close to the top where a small error is a large one, and turning 1e5 times."""
    for k in range(count):
        units = random_units(random)
        if k % 3 == 0:
            amplitude = np.pi - 10 ** random.uniform(-4, -1)
            method, angle = pick(random, (hl.Gauss(1), hl.RK4(), hl.Gauss(2))), random.uniform(0.3, 0.9)
            yield swing_case("pendulum", method, angle, int(random.integers(200, 1500)), units, amplitude)
        elif k % 3 == 1:
            method, angle = pick(random, (hl.Gauss(1), hl.Gauss(2), hl.Radau(2), hl.RK4())), random.uniform(0.6, 2)
            yield swing_case("pendulum", method, angle, int(random.integers(200, 2000)), units, random.uniform(1, 2.5))
        else:
            method, speed = pick(random, (hl.Gauss(1), hl.Gauss(3), hl.RK4())), 10 ** random.uniform(0.4, 3)
            angle = {"Gauss(3)": 30.0, "Gauss(1)": 0.3, "RK4()": 1.5}[label(method)] / speed
            yield turning_case("windings", method, angle, int(random.integers(500, 3000)), units, speed)


def swing_case(family: str, method: Any, angle: float, steps: int, units: Units, amplitude: float) -> Case:
    """A pendulum from rest at an amplitude; small swings turn by `angle` in a step."""
    dt = angle * units.time
    system = systems.pendulum.with_parameters(m=units.mass, k=units.stiffness)

    def truth(t: np.ndarray) -> np.ndarray:
        return truths.pendulum(t / units.time, 1.0, amplitude)[:, None]

    name = f"{label(method)} {angle:.3g} x {steps} from {amplitude:.4f}"
    made = simulated(system, [amplitude], [0.0], steps * dt, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, steps * dt)


def turning_case(family: str, method: Any, angle: float, steps: int, units: Units, speed: float) -> Case:
    """A pendulum that turns over and over; compared as a point of the circle."""
    dt = angle * units.time
    system = systems.pendulum.with_parameters(m=units.mass, k=units.stiffness)

    def truth(t: np.ndarray) -> np.ndarray:
        a = truths.rotating_pendulum(t / units.time, 1.0, speed)
        return np.stack([np.cos(a), np.sin(a)], axis=1)

    def rows(run: hl.Run) -> np.ndarray:
        return np.stack([np.cos(run.q[:, 0]), np.sin(run.q[:, 0])], axis=1)

    name = f"{label(method)} {angle:.3g} x {steps} speed {speed:.3g}"
    made = simulated(system, [0.0], [speed / units.time], steps * dt, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, steps * dt, blocks=((0, 1),), rows=rows)


def planets(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Orbits with few steps, with a pericentre between two steps, and in lengths below the absolute tolerance."""
    for k in range(count):
        if k % 3 == 0:
            eccentricity, steps = random.uniform(0.0, 0.4), int(random.integers(8, 25))
            method = pick(random, (hl.Gauss(1), hl.Gauss(2)))
            yield planet_case("planet", method, eccentricity, steps, random.uniform(3, 30), random_units(random, 6))
        elif k % 3 == 1:
            eccentricity, steps = 1 - 10 ** random.uniform(-4, -1), int(random.integers(60, 500))
            method = pick(random, (hl.Gauss(2), hl.Splitting(4), hl.RK4()))
            yield planet_case("planet", method, eccentricity, steps, random.uniform(1.4, 3), random_units(random, 6))
        else:
            units = Units(length=10 ** random.uniform(-14, -9))
            method = pick(random, (None, hl.Adaptive()))
            yield planet_case("planet", method, random.uniform(0.3, 0.9), 5, random.uniform(10, 60), units)


def planet_case(family: str, method: Any, eccentricity: float, steps: int, turns: float, units: Units) -> Case:
    """A planet from its apocentre, with so many steps in each of its turns."""
    dt = 2 * np.pi / steps * units.time
    mu = units.length**3 / units.time**2
    system = systems.kepler.with_parameters(m=units.mass, k=mu)
    speed = np.sqrt((1 - eccentricity) / (1 + eccentricity))

    def truth(t: np.ndarray) -> np.ndarray:
        return units.length * truths.kepler(t / units.time + np.pi, 1.0, 1.0, eccentricity)

    q, v = [-(1 + eccentricity) * units.length, 0.0], [0.0, -speed * units.speed]
    end = turns * 2 * np.pi * units.time
    name = f"{label(method)} e={eccentricity:.4f} {steps} a turn, {turns:.3g} turns, {units.length:.0e}"
    made = simulated(system, q, v, end, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, end, blocks=((0, 1),))


def held(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A pendulum held by a constraint, and a knife edge on a slope, in steps that are too long."""
    for k in range(count):
        units = random_units(random, 5)
        if k % 2:
            method = pick(random, (hl.Rattle(2), hl.Rattle(4), hl.RK4()))
            angle = {"Rattle(2)": 0.4, "Rattle(4)": 0.9}.get(label(method), 1.0) * random.uniform(0.9, 1.4)
            yield circle_case("held", method, angle, int(random.integers(200, 500)), units, random.uniform(0.5, 2.5))
        else:
            method = pick(random, (hl.Gauss(1), hl.Gauss(2), hl.RK4()))
            angle = {"Gauss(1)": 0.5, "Gauss(2)": 1.2, "Gauss(3)": 8.0}.get(label(method), 1.5) * random.uniform(
                0.9, 1.4
            )
            yield skate_case("held", method, angle, int(random.integers(100, 300)), units)


def circle_case(family: str, method: Any, angle: float, steps: int, units: Units, amplitude: float) -> Case:
    """A pendulum in Cartesian coordinates."""
    dt, length = angle * units.time, units.length
    system = systems.on_circle.with_parameters(m=units.mass, k=length / units.time**2, l=length)

    def truth(t: np.ndarray) -> np.ndarray:
        a = truths.pendulum(t / units.time, 1.0, amplitude)
        return length * np.stack([np.sin(a), -np.cos(a)], axis=1)

    q = [length * np.sin(amplitude), -length * np.cos(amplitude)]
    name = f"circle {label(method)} {angle:.3g} x {steps} from {amplitude:.3f}"
    made = simulated(system, q, [0.0, 0.0], steps * dt, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, steps * dt, blocks=((0, 1),))


def skate_case(family: str, method: Any, angle: float, steps: int, units: Units) -> Case:
    """A knife edge that turns by `angle` in a step, on a slope: x = sin²(a) / 2, y = (a − sin(a) cos(a)) / 2."""
    dt = angle * units.time
    system = systems.skate.with_parameters(m=units.mass, i=units.mass * units.length**2, k=units.length / units.time**2)

    def truth(t: np.ndarray) -> np.ndarray:
        a = t / units.time
        x, y = 0.5 * np.sin(a) ** 2, 0.5 * (a - np.sin(a) * np.cos(a))
        return np.stack([units.length * x, units.length * y, a], axis=1)

    name = f"skate {label(method)} {angle:.3g} x {steps}"
    made = simulated(system, [0.0, 0.0, 0.0], [0.0, 0.0, 1 / units.time], steps * dt, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, steps * dt, blocks=((0,), (1,), (2,)))


def chaos(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Double pendulums for longer than the state is known, and with steps too long."""
    for k in range(count):
        start = random.uniform(1.8, 3.0, 2)
        dt = 0.01 if k % 2 else random.uniform(0.1, 0.25)
        yield double_case(
            "chaos", pick(random, (hl.Gauss(3), hl.RK4(), hl.Gauss(2))), dt, 60.0 if k % 2 else 20.0, start
        )


def double_slope(t: float, y: np.ndarray) -> np.ndarray:
    """Two links of length and mass one, g = 9.81, solved for the accelerations by hand."""
    del t
    a, b, u, w = y
    c, s, g = np.cos(a - b), np.sin(a - b), 9.81
    first, second = -s * w * w - 2 * g * np.sin(a), s * u * u - g * np.sin(b)
    det = 2 - c * c
    return np.array([u, w, (first - c * second) / det, (2 * second - c * first) / det])


double = hl.Pendulum([1.0, 1.0], [1.0, 1.0])


def double_case(family: str, method: Any, dt: float, end: float, start: np.ndarray) -> Case:
    """A double pendulum from rest, against a reference that is itself right for a while only."""
    truth = truths.reference(double_slope, [*start, 0.0, 0.0], 0.0, end)
    name = f"double {label(method)} dt {dt:.3g} to {end:g} from {np.round(start, 3)}"
    made = simulated(double, start, [0.0, 0.0], end, dt=dt, method=method)
    return Case(family, name, made, lambda t: truth(t)[:, :2], 0.0, end, blocks=((0, 1),))


SPACES = {"S3": hl.Sphere(3), "H3": hl.Hyperbolic(3), "E3": hl.Euclidean(3)}


def bodies(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Two masses on a spring in curved spaces, also far out in hyperbolic space, in steps that are too long."""
    for k in range(count):
        where = ("S3", "H3", "E3")[k % 3]
        method, angle = pick(random, ((hl.Splitting(2), 0.6), (hl.Splitting(4), 1.3), (None, 4.0)))
        yield body_case("body", where, method, angle * random.uniform(0.9, 1.3), 200, random.uniform(0, 0.3))


def body_case(family: str, where: str, method: Any, angle: float, steps: int, drift: float) -> Case:
    """Two masses that swing along one geodesic, which is a line, and drift along it; their distance is compared."""
    space, rest, rate = SPACES[where], 0.8, 3.0
    world = hl.World(space, hl.Body([1.0, 1.0], springs=[(0, 1, 0.5 * rate**2, rest)]))
    dt = angle / rate
    line = {
        "S3": lambda s: np.array([np.cos(s), np.sin(s), 0, 0]),
        "H3": lambda s: np.array([np.sinh(s), 0, 0, np.cosh(s)]),
        "E3": lambda s: np.array([s, 0, 0]),
    }[where]
    way = {
        "S3": lambda s: np.array([-np.sin(s), np.cos(s), 0, 0]),
        "H3": lambda s: np.array([np.cosh(s), 0, 0, np.sinh(s)]),
        "E3": lambda s: np.array([1.0, 0, 0]),
    }[where]
    places = np.array([line(-0.5), line(0.5)])
    speeds = np.array([(drift - 0.1) * way(-0.5), (drift + 0.1) * way(0.5)])

    def truth(t: np.ndarray) -> np.ndarray:
        return truths.damped(t, rate, 0.0, 0.2, 0.2)[:, :1] + rest

    def run() -> Any:
        return said(hl.simulate(world, places, speeds, steps * dt, dt=dt, method=method, throw=False))

    name = f"{where} {label(method)} {angle:.3g} x {steps} drift {drift:.2f}"
    return Case(family, name, run, truth, 0.0, steps * dt, rows=lambda r: np.asarray(r.distance(0, 1))[:, None])


def single_precision(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Numbers of seven digits, over many steps."""
    for _ in range(count):
        yield single_case("single precision", int(10 ** random.uniform(3.5, 4.5)))


def single_case(family: str, steps: int) -> Case:
    def run() -> Any:
        q, v = np.array([1.0], np.float32), np.array([0.3], np.float32)
        return said(hl.simulate(systems.spring, q, v, 0.01 * steps, dt=0.01, method=hl.RK4(), throw=False))

    return Case(family, f"{steps} steps", run, lambda t: truths.damped(t, 1.0, 0.0, 1.0, 0.3)[:, :1], 0.0, 0.01 * steps)


def turned(t: Any, q: Any, v: Any, p: Any) -> Any:
    del t, p
    return q, -0.9 * v


events = (hl.Event(lambda t, q, v, p: q[0], direction=-1, action=turned),)
"""A mass on a spring is turned back where it falls through the middle: each arch lasts pi, 0.9 times as high."""


def watched(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Events with actions that the steps of a fast swing miss, or that come at the wrong time."""
    for _ in range(count):
        method = pick(random, (hl.Gauss(1), hl.Gauss(2), hl.Gauss(3), hl.RK4()))
        angle = {"Gauss(1)": 0.5, "Gauss(2)": 1.3, "Gauss(3)": 7.0, "RK4()": 1.3}[label(method)] * random.uniform(
            0.8, 1.3
        )
        yield event_case("event", method, angle, int(random.integers(20, 60)), random_units(random, 5))


def event_case(family: str, method: Any, angle: float, steps: int, units: Units) -> Case:
    dt = angle * units.time
    system = systems.spring.with_parameters(m=units.mass, k=units.stiffness)

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        arch = np.floor((s + 0.5 * np.pi) / np.pi)
        return (units.length * np.abs(np.cos(s)) * 0.9**arch)[:, None]

    name = f"{label(method)} {angle:.3g} x {steps}"
    made = simulated(system, [units.length], [0.0], steps * dt, dt=dt, method=method, events=events)
    return Case(family, name, made, truth, 0.0, steps * dt)


def other_engine(random: np.random.Generator, count: int) -> Iterator[Case]:
    """XLA in place of native code."""
    from tests.motion.run.adversarial.oscillations import spring_case

    for _ in range(count):
        method, angle = pick(random, ((hl.Gauss(3), 5.0), (hl.RK4(), 1.2)))
        yield spring_case("xla", method, angle * random.uniform(0.8, 1.2), 200, random_units(random), engine="xla")


MANY = 150
row = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * (v @ v) - 0.5 * (p.k * q) @ q, coordinates={"x": (MANY,)}, parameters={"k": np.ones(MANY)}
)


def many(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A row of springs, one of which is lost."""
    for _ in range(count):
        method, angle = pick(random, ((hl.Splitting(4), 1.3), (hl.RK4(), 1.3), (None, 1.4)))
        yield row_case(
            "many", method, angle * random.uniform(0.9, 1.1), int(random.integers(100, 400)), int(random.integers(MANY))
        )


def row_case(family: str, method: Any, angle: float, steps: int, which: int) -> Case:
    rates = np.full(MANY, 0.02)
    rates[which] = angle
    start = np.linspace(0.5, 1.0, MANY)
    start[which] *= 1e-4

    def run() -> Any:
        return said(
            hl.simulate(
                row.with_parameters(k=rates**2), start, 0 * start, float(steps), dt=1.0, method=method, throw=False
            )
        )

    def truth(t: np.ndarray) -> np.ndarray:
        return start * np.cos(np.multiply.outer(t, rates))

    name = f"{label(method)} {angle:.3g} x {steps}"
    return Case(family, name, run, truth, 0.0, float(steps), blocks=tuple((k,) for k in (which, (which + 1) % MANY)))

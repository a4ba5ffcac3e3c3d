"""Runs that a step and its halves agree about, and that are wrong: forces in time with the step, walls that are jumped
over, poles, rest that rounding ends, angles without digits, batches with walls, steps that the package finds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import jax
import numpy as np
from tests.motion.run.adversarial import hidden, systems, truths
from tests.motion.run.adversarial.case import Case, Said, Units, member, random_units, said
from tests.motion.run.adversarial.hidden import simulated
from tests.motion.run.adversarial.oscillations import label, pick

import holonomy as hl


def in_time(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A force with a whole number of periods in each eighth of a step: it looks constant, and does nothing."""
    for _ in range(count):
        method = pick(random, (hl.RK4(), hl.SymplecticEuler(), hl.Euler(), hl.Splitting(2), hl.Adaptive()))
        steps, units = int(random.integers(8, 400)), random_units(random, 5)
        omega = 2 * np.pi * 8 * int(random.integers(1, 9)) * steps
        yield wave_case("in time", method, steps, omega, units)


def wave_case(family: str, method: Any, steps: int | None, omega: float, units: Units) -> Case:
    """A mass of speed 1 until time 1; the force alone would move it by 50 if it were constant."""
    force = 100.0
    system = systems.wave.with_parameters(
        m=units.mass, f=force * units.mass * units.length / units.time**2, w=omega / units.time
    )

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        return units.length * (s + force * (1 - np.cos(omega * s)) / omega**2)[:, None]

    made = simulated(system, [0.0], [units.speed], units.time, dt=units.time / steps if steps else None, method=method)
    return Case(family, f"{label(method)} {steps} steps, omega {omega:.3g}", made, truth, 0.0, units.time)


def thin_walls(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A wall thinner than a step."""
    for _ in range(count):
        method, steps = pick(random, (hl.Rattle(2), hl.Rattle(4), hl.RK4())), int(random.integers(20, 300))
        dt = 2.0 / steps
        start = 1 - dt * (int(random.integers(3, steps - 3)) + random.uniform(0.35, 0.65))

        def truth(t: np.ndarray, start: float = start) -> np.ndarray:
            x = start + t
            return np.stack([np.where(x < 1 - 1e-4, x, 2 * (1 - 1e-4) - x), 0.5 * t], axis=1)

        made = simulated(systems.obstacle, [start, 0.0], [1.0, 0.5], 2.0, dt=dt, method=method)
        yield Case("thin wall", f"{label(method)} {steps} steps", made, truth, 0.0, 2.0, blocks=((0,), (1,)))


def tables(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A ball on a square table that crosses it several times in a step."""
    for _ in range(count):
        method, dt = pick(random, (hl.Rattle(4), hl.RK4())), 10 ** random.uniform(-2, 1)
        yield table_case("table", method, dt, int(random.integers(5, 30)), random.uniform(0.2, 1, 2))


def table_case(family: str, method: Any, dt: float, steps: int, speed: np.ndarray) -> Case:
    start = np.array([0.3, 0.6])

    def truth(t: np.ndarray) -> np.ndarray:
        return 1 - np.abs(1 - np.mod(start + np.multiply.outer(t, speed), 2.0))

    made = simulated(systems.box, start, speed, steps * dt, dt=dt, method=method)
    return Case(family, f"{label(method)} dt {dt:.3g} x {steps}", made, truth, 0.0, steps * dt, blocks=((0,), (1,)))


def past_poles(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A spherical pendulum in angles that passes closely by the lowest point."""
    for _ in range(count):
        yield pole_case(
            "pole", hl.RK4(), random.uniform(0.02, 0.1), random.uniform(5, 30), 10 ** random.uniform(-2.5, -0.7), 0.8
        )


def pole_case(family: str, method: Any, dt: float | None, end: float, spin: float, angle: float) -> Case:
    """Compared in space with the same pendulum in Cartesian coordinates."""
    spin = spin / np.sin(angle)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        del t
        x, v = y[:3], y[3:]
        g = np.array([0.0, 0.0, -1.0])
        return np.concatenate([v, g - (v @ v + g @ x) / (x @ x) * x])

    start = [np.sin(angle), 0.0, -np.cos(angle), 0.0, np.sin(angle) * spin, 0.0]
    reference = truths.reference(slope, start, 0.0, end)

    def rows(run: hl.Run) -> np.ndarray:
        a, b = np.asarray(run.q).T
        return np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), -np.cos(a)], axis=1)

    made = simulated(systems.poles, [angle, 0.0], [0.0, spin], end, dt=dt, method=method)
    name = f"{label(method)} dt {dt} to {end:.3g}, spin {spin:.1e}"
    return Case(family, name, made, lambda t: reference(t)[:, :3], 0.0, end, blocks=((0, 1, 2),), rows=rows)


def rests(random: np.random.Generator, count: int) -> Iterator[Case]:
    """At rest at a place that is no binary number, beside a swing; explicit steps make the rounding grow."""
    for _ in range(count):
        place, units = random.uniform(0.1, 3), random_units(random, 4)
        steps, rate = int(random.integers(100, 400)), random.uniform(3.2, 40)
        yield rest_case(
            "rest", pick(random, (hl.RK4(), hl.SymplecticEuler(), hl.Radau(3))), 0.05, steps, rate / 0.05, place, units
        )


def rest_case(family: str, method: Any, angle: float, steps: int, rate: float, place: float, units: Units) -> Case:
    """A stiff spring at rest at a place, in steps that are too long for it if the method is explicit."""
    dt = angle * units.time
    system = systems.spring.with_parameters(m=units.mass, k=rate**2 * units.stiffness, origin=place * units.length)
    at = np.nextafter(place * units.length, np.inf)

    def truth(t: np.ndarray) -> np.ndarray:
        return np.full((len(t), 1), place * units.length)

    made = simulated(system, [at], [0.0], steps * dt, dt=dt, method=method)
    return Case(family, f"{label(method)} rate {rate:.3g} x {steps}", made, truth, 0.0, steps * dt)


def far_angles(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A pendulum after 1e13 turns and more, where an angle has few digits behind the point."""
    for _ in range(count):
        turns = float(int(10 ** random.uniform(13, 14.8)))
        start = np.float64(2 * np.pi * turns + 0.4)
        # 2 pi to 33 digits in two parts, so that the angle of this very number is known
        high, low = 6.283185307179586, 2.4492935982947064e-16
        rest = float(np.longdouble(start) - np.longdouble(turns) * np.longdouble(high) - np.longdouble(turns * low))

        def truth(t: np.ndarray, rest: float = rest) -> np.ndarray:
            return truths.pendulum(t, 1.0, rest)[:, None]

        def rows(run: hl.Run, turns: float = turns) -> np.ndarray:
            q = np.asarray(run.q, np.longdouble) - np.longdouble(turns) * np.longdouble(6.283185307179586)
            return np.asarray(q - np.longdouble(turns * 2.4492935982947064e-16), float)

        made = simulated(systems.pendulum, [start], [0.0], 40.0, dt=0.05, method=pick(random, (hl.Gauss(3), hl.RK4())))
        yield Case("far angle", f"{turns:.1e} turns", made, truth, 0.0, 40.0, rows=rows)


def found_steps(random: np.random.Generator, count: int) -> Iterator[Case]:
    """dt=None for kicks, and for a force in time with every step that it tries."""
    for k in range(count):
        if k % 3 < 2:
            at, width = random.uniform(0.3, 0.9), 10 ** random.uniform(-6, -4)
            yield hidden.kick_case("found step", None, None, at, width, random.uniform(0.5, 5), Units())
        else:
            yield wave_case("found step", hl.RK4(), None, 2 * np.pi * 2**14, Units())


WALLED = np.array([0.02, 0.03, 0.035, 0.04, 0.05, 0.06, 1.0, 1.08, 1.15, 1.23, 1.3, 1.4])
"""Radians in which the springs of a batch with walls turn in a step; the first six are right."""


def batches_with_walls(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Bouncing balls beside a spring, as members of a batch in XLA; the springs are lost."""
    for k in random.permutation(np.arange(6, 12))[:count]:
        yield walled_case("batch with walls", int(k))


@cache
def walled() -> hl.Run:
    """Springs of these angles, each beside the same bouncing ball."""
    q, v = np.tile([1.0, 0.5], (len(WALLED), 1)), np.tile([0.0, 0.1], (len(WALLED), 1))
    parameters = {"k": WALLED**2, "g": np.full(len(WALLED), 0.01)}
    return hl.ensemble(systems.ball, q, v, 60.0, parameters, dt=1.0, method=hl.RK4(), max_events=8)


def walled_case(family: str, k: int) -> Case:
    angle = WALLED[k]

    def truth(t: np.ndarray) -> np.ndarray:
        return np.stack([np.cos(angle * t), truths.bounces(t, 0.01, 0.8, 0.5, 0.1)[:, 0]], axis=1)

    return Case(family, f"{angle:.3g} rad", lambda: member(walled(), k), truth, 0.0, 60.0, ((0,), (1,)))


def transformed(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Runs that were made under a user's jit, or vmap over the start."""
    for k in range(count):
        angle = random.uniform(1.1, 1.5)

        def motion(x: Any, angle: float = angle) -> hl.Run:
            return hl.simulate(systems.spring, x, [0.0], 120 * angle, dt=angle, method=hl.RK4())

        def traced(motion: Any = motion) -> Said:
            return said(jax.jit(motion)(np.array([1.0])))

        def mapped(motion: Any = motion) -> Said:
            return member(jax.jit(jax.vmap(motion))(np.array([[1.0], [1.0]])), 1)

        name = f"{('jit', 'vmap')[k % 2]} {angle:.3f}"
        yield Case("transformed", name, (traced, mapped)[k % 2], lambda t: np.cos(t)[:, None], 0.0, 120 * angle)


def passing(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Two masses that repel each other and meet within a step, late: they pass through each other or turn back."""
    for _ in range(count):
        method, steps = (
            pick(random, (hl.Gauss(2), hl.Gauss(3), hl.RK4(), hl.Splitting(4))),
            int(random.integers(100, 800)),
        )
        soft = 10 ** random.uniform(-5, -3.5)
        begin = random.uniform(0.6, 0.95)
        yield meeting_case("passing", method, steps, soft, begin)


def meeting_case(family: str, method: Any, steps: int, soft: float, begin: float) -> Case:
    """Masses of speeds ±1/2 that meet after about `begin`; their potential is 2 to 20 times their energy at the top."""
    k = 0.25 * 5 * soft
    system = systems.meeting.with_parameters(k=k, soft=soft)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        del t
        d = y[0]
        return np.array([y[1], 2 * k * d / (d * d + soft * soft) ** 1.5])

    def truth(t: np.ndarray) -> np.ndarray:
        return reference(t)[:, :1]

    reference = truths.reference(slope, [begin, -1.0], 0.0, 1.0)
    made = simulated(system, [0.0, begin], [0.5, -0.5], 1.0, dt=1.0 / steps, method=method)
    name = f"{label(method)} {steps} steps, soft {soft:.1e}, at {begin:.3f}"
    return Case(family, name, made, truth, 0.0, 1.0, rows=lambda run: np.diff(np.asarray(run.q), axis=1))

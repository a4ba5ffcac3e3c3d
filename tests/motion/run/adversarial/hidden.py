"""What a run hides: spectators, other units, boosts, stiffness that comes late, narrow forces, walls, instability."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tests.motion.run.adversarial import systems, truths
from tests.motion.run.adversarial.case import Case, Said, Units, random_units, said
from tests.motion.run.adversarial.oscillations import label, pick

import holonomy as hl


def simulated(system: hl.System, q: Any, v: Any, end: float, **options: Any) -> Callable[[], Said]:
    return lambda: said(hl.simulate(system, q, v, end, throw=False, **options))


def spectators(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A light swing that is lost beside a heavy mass that is fast, or swings slowly, and is right."""
    for k in range(count):
        units, method = (
            random_units(random),
            pick(random, (hl.RK4(), hl.Radau(2), hl.Euler(), hl.Gauss(1), hl.Gauss(3))),
        )
        angle = {"Euler()": 0.03, "Gauss(1)": 0.4}.get(label(method), random.uniform(0.9, 2.0))
        angle = random.uniform(2, 30) if label(method) == "Gauss(3)" else angle
        steps = int(random.integers(300, 1500))
        heavy, speed = 10 ** random.uniform(0, 6), 10 ** random.uniform(-1, 4)
        rate = 0.0 if k % 2 else 0.02 / steps / angle
        yield spectator_case("spectator", method, angle, steps, units, heavy, speed, rate)


def spectator_case(
    family: str, method: Any, angle: float, steps: int, units: Units, heavy: float, speed: float, rate: float
) -> Case:
    """A spring that turns by `angle` in a step, and a mass that is `heavy` with a speed, free or on a slow spring."""
    dt = angle * units.time
    system = systems.pair.with_parameters(
        m=units.mass, k=units.stiffness, m2=heavy * units.mass, k2=heavy * rate**2 * units.stiffness
    )

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        both = [truths.damped(s, 1.0, 0.0, 1.0, 0.2), truths.damped(s, rate, 0.0, 0.3, speed)]
        return units.length * np.stack([one[:, 0] for one in both], axis=1)

    q, v = [units.length, 0.3 * units.length], [0.2 * units.speed, speed * units.speed]
    name = f"{label(method)} {angle:.3g} rad x {steps} heavy {heavy:.0e} speed {speed:.0e} rate {rate:.0e}"
    made = simulated(system, q, v, steps * dt, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, steps * dt, blocks=((0,), (1,)))


def other_units(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A length and an angle in one block, the angle light and fast, the length 1e-9 to 1e9 times as large."""
    for _ in range(count):
        method = pick(random, (hl.RK4(), hl.Radau(3), hl.Gauss(1), hl.Gauss(3)))
        angle = random.uniform(2, 20) if label(method) == "Gauss(3)" else random.uniform(0.8, 1.9)
        scale = 10 ** random.uniform(-9, 9)
        yield coupled_case("other units", method, angle, int(random.integers(300, 900)), random_units(random, 4), scale)


def coupled_case(family: str, method: Any, angle: float, steps: int, units: Units, scale: float) -> Case:
    """A spring of a length in units of `scale` radians with a light torsion spring that turns by `angle` in a step."""
    slow, light, joint = 0.01, 1e-4, 1e-6
    matrix = np.zeros((4, 4))  # of x / scale, a, and their rates, with masses 1 and `light`
    matrix[0, 2] = matrix[1, 3] = 1.0
    matrix[2, :2] = -(slow**2), -joint
    matrix[3, :2] = -joint / light, -1.0
    start = np.array([1.0, 0.5, 0.0, 0.0])
    solution = truths.linear(matrix, start)
    dt, size = angle * units.time, scale * units.length
    m = units.mass / scale**2
    turning = units.mass * units.length**2 * light
    energy = units.energy
    system = systems.coupled.with_parameters(
        m=m, k=m * (slow / units.time) ** 2, i=turning, twist=turning / units.time**2, joint=joint * energy / size
    )

    def truth(t: np.ndarray) -> np.ndarray:
        return solution(t / units.time)[:, :2] * np.array([size, 1.0])

    name = f"{label(method)} {angle:.3g} rad x {steps} length {size:.0e}"
    made = simulated(system, [size, 0.5], [0.0, 0.0], steps * dt, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, steps * dt, blocks=((0,), (1,)))


def boosts(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A molecule, or a charge in fields, that is fast as a whole; its vibration is lost."""
    for k in range(count):
        method = pick(random, (hl.RK4(), hl.Gauss(1), hl.Gauss(3)))
        angle = random.uniform(2, 20) if label(method) == "Gauss(3)" else random.uniform(0.8, 1.8)
        speed = 10 ** random.uniform(1, 6)
        made = molecule_case if k % 2 else magnet_case
        yield made("boost", method, angle, int(random.integers(300, 900)), random_units(random, 4), speed)


def molecule_case(family: str, method: Any, angle: float, steps: int, units: Units, speed: float) -> Case:
    """The distance and the centre of two masses on a spring."""
    dt = angle * units.time
    system = systems.molecule.with_parameters(m=units.mass, k=0.5 * units.stiffness, rest=3.0 * units.length)
    q, v = [0.0, 3.5 * units.length], [(speed - 0.1) * units.speed, (speed + 0.1) * units.speed]

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        apart = truths.damped(s, 1.0, 0.0, 0.5, 0.2)[:, 0] + 3.0
        return units.length * np.stack([apart, 1.75 + speed * s], axis=1)

    def rows(run: hl.Run) -> np.ndarray:
        return np.stack([run.q[:, 1] - run.q[:, 0], 0.5 * (run.q[:, 0] + run.q[:, 1])], axis=1)

    name = f"molecule {label(method)} {angle:.3g} rad x {steps} speed {speed:.0e}"
    made = simulated(system, q, v, steps * dt, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, steps * dt, blocks=((0,), (1,)), rows=rows)


def magnet_case(family: str, method: Any, angle: float, steps: int, units: Units, speed: float) -> Case:
    """The velocities of a charge that circles once in 2 pi and drifts."""
    dt, drift = angle * units.time, speed * units.speed
    charge = units.mass / units.time
    system = systems.magnet.with_parameters(m=units.mass, k=charge, e=charge * drift)

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        return units.speed * np.stack([np.cos(s), -np.sin(s)], axis=1)

    def rows(run: hl.Run) -> np.ndarray:
        return np.asarray(run.v) + np.array([0.0, drift])

    name = f"charge {label(method)} {angle:.3g} rad x {steps} drift {speed:.0e}"
    made = simulated(system, [0.0, 0.0], [units.speed, -drift], steps * dt, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, steps * dt, blocks=((0, 1),), rows=rows)


def late_stiffness(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A spring that becomes stiff in the last third to the last fiftieth of a run, or for a short time on the way."""
    for k in range(count):
        method = pick(random, (hl.RK4(), hl.Gauss(1), hl.Gauss(3), hl.Radau(3), hl.Euler()))
        ratio = random.uniform(1.1, 1.7) if label(method) in ("RK4()", "SymplecticEuler()") else random.uniform(2, 40)
        steps, angle = int(random.integers(300, 3000)), random.uniform(0.002, 0.05)
        if label(method) == "Euler()":
            angle = 1e-5
        first = 1 - 10 ** random.uniform(-1.7, -0.4)
        last = 2.0 if k % 3 else first + 10 ** random.uniform(-2, -1)
        yield late_case("late stiffness", method, angle, ratio / angle, steps, first, last, random_units(random, 5))


def late_case(
    family: str,
    method: Any,
    angle: float,
    factor: float,
    steps: int,
    first: float,
    last: float,
    units: Units,
    **options: Any,
) -> Case:
    """A spring that turns by `angle` in a step, and `factor` times as much from a part of the run to another."""
    dt, end = angle * units.time, steps * angle
    first, last = first * end, last * end
    system = systems.late.with_parameters(
        m=units.mass,
        k=units.stiffness,
        late=factor**2 * units.stiffness,
        begin=first * units.time,
        end=last * units.time,
    )
    parts = [(0.0, 1.0, 0.0), (first, factor, 0.0), (last, 1.0, 0.0)]

    def truth(t: np.ndarray) -> np.ndarray:
        return units.length * truths.pieces(t / units.time, parts, 1.0, 0.3)[:, :1]

    name = f"{label(method)} {angle:.2g} x {steps}, x{factor:.3g} in {first / end:.3f}..{last / end:.3f}"
    made = simulated(system, [units.length], [0.3 * units.speed], end * units.time, dt=dt, method=method, **options)
    return Case(family, name, made, truth, 0.0, end * units.time)


def kicks(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A force that acts for less than a step, between the places where the method looks."""
    for _ in range(count):
        method = pick(random, (hl.RK4(), hl.Gauss(2), hl.Gauss(3), hl.Radau(3), hl.Splitting(2), hl.Splitting(4)))
        steps = int(random.integers(20, 2000))
        at = (random.integers(1, steps - 1) + random.uniform(0.53, 0.6)) / steps
        yield kick_case(
            "kick", method, steps, at, random.uniform(0.01, 0.1) / steps, random.uniform(0.5, 20), random_units(random)
        )


def kick_case(family: str, method: Any, steps: int | None, at: float, width: float, gain: float, units: Units) -> Case:
    """A free mass of speed 1 until time 1; a force gives it the speed `gain` more from `at` on for a time `width`."""
    system = systems.kicked.with_parameters(
        m=units.mass,
        f=units.mass * units.length / units.time**2 * gain / width,
        begin=at * units.time,
        end=(at + width) * units.time,
    )

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        inside, after = np.clip(s - at, 0.0, width), np.maximum(s - at - width, 0.0)
        return units.length * (s + gain / width * inside**2 / 2 + gain * after)[:, None]

    name = f"{label(method)} {steps} steps, kick at {at:.4f} for {width:.2g} of {gain:.2g}"
    made = simulated(system, [0.0], [units.speed], units.time, dt=units.time / steps if steps else None, method=method)
    return Case(family, name, made, truth, 0.0, units.time)


def cushions(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A mass that flies freely for long, and then meets a spring that turns it round within a few steps or less."""
    for _ in range(count):
        method = pick(random, (hl.RK4(), hl.Gauss(2), hl.Gauss(3), hl.Radau(3), hl.Splitting(4), hl.SymplecticEuler()))
        steps = int(random.integers(100, 2000))
        explicit = label(method) in ("RK4()", "Splitting(4)", "SymplecticEuler()")
        turn = random.uniform(0.8, 1.6) if explicit else random.uniform(1.5, 20)
        yield cushion_case("cushion", method, steps, turn * steps, random.uniform(0.3, 0.97), random_units(random, 5))


def cushion_case(family: str, method: Any, steps: int, rate: float, edge: float, units: Units) -> Case:
    """A mass of speed 1 until time 1, with an edge on its way behind which a spring turns by `rate` in that time."""
    system = systems.cushion.with_parameters(m=units.mass, k=rate**2 * units.stiffness, edge=edge * units.length)

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        inside = edge + np.sin(rate * np.clip(s - edge, 0, np.pi / rate)) / rate
        back = edge - (s - edge - np.pi / rate)
        return units.length * np.where(s < edge, s, np.where(s < edge + np.pi / rate, inside, back))[:, None]

    name = f"{label(method)} {steps} steps, {rate / steps:.3g} rad a step behind {edge:.3f}"
    made = simulated(system, [0.0], [units.speed], units.time, dt=units.time / steps, method=method)
    return Case(family, name, made, truth, 0.0, units.time)


def barriers(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A barrier that nothing passes, narrower than a step, which passes it without loss of energy."""
    for _ in range(count):
        method = pick(random, (hl.RK4(), hl.Gauss(1), hl.Gauss(2), hl.Gauss(3), hl.Radau(3), hl.Splitting(4)))
        steps = int(random.integers(30, 1000))
        edge = (random.integers(steps // 3, steps - 2) + random.uniform(0.55, 0.6)) / steps
        units, width, height = random_units(random, 5), 0.03 / steps, random.uniform(2, 50)
        system = systems.barrier.with_parameters(
            m=units.mass, h=height * units.energy, edge=edge * units.length, width=width * units.length
        )

        def truth(t: np.ndarray, edge: float = edge, width: float = width, units: Units = units) -> np.ndarray:
            turn, s = edge - width, t / units.time  # turned back at its foot, up to its width
            return units.length * np.where(s < turn, s, 2 * turn - s)[:, None]

        made = simulated(system, [0.0], [units.speed], units.time, dt=units.time / steps, method=method)
        yield Case("barrier", f"{label(method)} {steps} steps, barrier at {edge:.4f}", made, truth, 0.0, units.time)


def walls(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A spring along a floor, damped or not, that is wrong; the ball above bounces, or never comes down."""
    for k in range(count):
        reached, units = bool(k % 2), random_units(random, 5)
        method = pick(random, (hl.Rattle(2), hl.Rattle(4), hl.RK4(), hl.Radau(3)) if k % 3 else (hl.RK4(), hl.Euler()))
        angle = {"RK4()": 1.4, "Euler()": 0.05, "Radau(3, at='end')": 1.6, "Rattle(2)": 0.5, "Rattle(4)": 1.1}[
            label(method)
        ]
        angle *= random.uniform(0.9, 1.25)
        friction = 0.0 if label(method).startswith("Rattle") else 10 ** random.uniform(-5, -3)
        yield ball_case("wall", method, angle, int(random.integers(100, 400)), units, friction, reached)


def unstable_beside_a_wall(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Damping by explicit steps that are too long for it, beside a wall that is never reached."""
    for _ in range(count):
        method, units = pick(random, (hl.RK4(), hl.Euler())), random_units(random, 3)
        friction = random.uniform(1.3, 2.5) * (2.785 if label(method) == "RK4()" else 2.0)
        yield ball_case("wall, unstable", method, 1.0, int(random.integers(20, 300)), units, friction, False, rate=0.0)


def ball_case(
    family: str, method: Any, angle: float, steps: int, units: Units, friction: float, reached: bool, rate: float = 1.0
) -> Case:
    """A ball whose place along the floor is on a spring of this rate in steps of `angle`, and that bounces 2.5 times
    or not at all."""
    dt, end = angle * units.time, steps * angle
    flight = end / 2.7 if reached else 10 * end
    gravity, up = 8.0 / flight**2, 4.0 / flight  # up to 1 and back in `flight`
    system = systems.ball.with_parameters(
        m=units.mass,
        k=rate**2 * units.stiffness,
        g=gravity * units.length / units.time**2,
        c=friction * units.mass / units.time,
    )
    speed = 0.3 if rate else friction

    def truth(t: np.ndarray) -> np.ndarray:
        s = t / units.time
        x = truths.damped(s, rate, friction, 1.0, speed)[:, 0]
        return units.length * np.stack([x, truths.bounces(s, gravity, 0.8, 0.5, up)[:, 0]], axis=1)

    q, v = [units.length, 0.5 * units.length], [speed * units.speed, up * units.speed]
    name = f"{label(method)} {angle:.2g} x {steps} c={friction:.2g} {'reached' if reached else 'not reached'}"
    made = simulated(system, q, v, end * units.time, dt=dt, method=method)
    return Case(family, name, made, truth, 0.0, end * units.time, blocks=((0,), (1,)))


def saddles(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Down to an unstable rest, where rounding decides: the true motion stays, the computed one leaves."""
    for _ in range(count):
        units, steps = random_units(random), int(random.integers(300, 600))
        method = pick(random, (hl.Gauss(3), hl.RK4(), hl.Adaptive()))
        angle = random.uniform(40, 60) / steps
        system = systems.saddle.with_parameters(m=units.mass, k=units.stiffness)

        def truth(t: np.ndarray, units: Units = units) -> np.ndarray:
            return units.length * np.exp(-t / units.time)[:, None]

        end = steps * angle * units.time
        made = simulated(system, [units.length], [-units.speed], end, dt=angle * units.time, method=method)
        yield Case("saddle", f"{label(method)} to t = {steps * angle:.3g}", made, truth, 0.0, end)

"""Springs whose runs go wrong: steps too long, a wrong phase, a constant in the energy, a spectator, odd units."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.motion.run.adversarial import systems, truths
from tests.motion.run.adversarial.case import Case, Said, Units, member, random_units, said

import holonomy as hl

SYMPLECTIC = (hl.Gauss(1), hl.Gauss(2), hl.Gauss(3), hl.SymplecticEuler(), hl.Splitting(2), hl.Splitting(4))
EXPLICIT = (hl.RK4(), hl.Euler(), hl.SymplecticEuler())
ALL = (*SYMPLECTIC, hl.RK4(), hl.Euler(), hl.Radau(2), hl.Radau(3))


def label(method: Any) -> str:
    return "default" if method is None else str(method.label)


def pick(random: np.random.Generator, options: Any) -> Any:
    return options[int(random.integers(len(options)))]


def spring_case(
    family: str,
    method: Any,
    angle: float,
    steps: float,
    units: Units,
    *,
    phase: float = 0.7,
    name: str = "",
    how: Callable[[Callable[..., hl.Run]], Said] | None = None,
    offset: float = 0.0,
    origin: float = 0.0,
    t0: float = 0.0,
    backward: bool = False,
    **options: Any,
) -> Case:
    """A spring that turns by `angle` in a step; offset and origin in units of energy and length."""
    dt = angle * units.time
    system = systems.spring.with_parameters(
        m=units.mass, k=units.stiffness, origin=origin * units.length, offset=offset * units.energy
    )
    middle = origin * units.length
    q, v = middle + np.cos(phase) * units.length, np.sin(phase) * units.speed
    x = (q - middle) / units.length  # what is left of it after rounding
    begin = t0 * units.time
    end = begin + (-1 if backward else 1) * steps * dt

    def run(**more: Any) -> hl.Run:
        given = {"dt": dt, "method": method, "throw": False, "t0": begin, **options, **more}
        return hl.simulate(system, [q], [v], end, **given)

    def truth(t: np.ndarray) -> np.ndarray:
        return truths.damped((t - begin) / units.time, 1.0, 0.0, x, np.sin(phase))[:, :1] * units.length

    called = name or f"{label(method)} {angle:.3g} rad x {steps} {units.length:.0e} {units.mass:.0e} {units.time:.0e}"
    made = (lambda: said(run())) if how is None else (lambda: how(run))
    return Case(family, called, made, truth, begin, end, rows=lambda found: np.asarray(found.q) - middle)


def long_steps(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Steps of a radian to hundreds of periods; every third close to a multiple of the period, where it looks still."""
    for k in range(count):
        implicit = k % 3 == 0
        method = pick(
            random,
            (hl.Gauss(1), hl.Gauss(2), hl.Gauss(3), hl.Gauss(4), hl.Radau(2), hl.Radau(3)) if implicit else SYMPLECTIC,
        )
        explicit = not label(method).startswith(("Gauss", "Radau"))
        angle = random.uniform(1.0, 1.9) if explicit else 10 ** random.uniform(0.2, 3.0)
        if implicit:
            angle = 2 * np.pi * random.integers(1, 40) + 10 ** random.uniform(-4, -0.5)
        yield spring_case("long steps", method, angle, int(random.integers(20, 400)), random_units(random))


def wrong_phase(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Symplectic methods over many periods: the energy is kept, the phase is lost."""
    for _ in range(count):
        method = pick(random, (hl.Gauss(1), hl.SymplecticEuler(), hl.Splitting(2), hl.Gauss(2), hl.Splitting(4)))
        order = method.order if not label(method).startswith("Sym") else 2
        angle = 10 ** random.uniform(-1.3, -0.2)
        lost = {1: 1 / 24, 2: 1 / 24, 4: 1 / 720}[order] * angle**order
        turns = min(max(10 ** random.uniform(-1.2, 0.5) / lost, 40 * angle), 2e4 * angle)
        yield spring_case("wrong phase", method, angle, int(turns / angle), random_units(random))


def losses(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Methods that lose or win energy, beside a constant in the potential that is many times larger."""
    for _ in range(count):
        method = pick(random, (hl.RK4(), hl.Radau(2), hl.Radau(3), hl.Euler()))
        angle = random.uniform(0.002, 0.02) if label(method) == "Euler()" else random.uniform(0.9, 2.2)
        constant = random.choice([-1, 1]) * 10 ** random.uniform(2, 9)
        steps = int(random.integers(60, 2000))
        yield spring_case("energy offset", method, angle, steps, random_units(random), offset=constant)


def moved_origin(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A small swing far from zero, whose digits are lost to the place where it is."""
    for _ in range(count):
        method = pick(random, (hl.Gauss(3), hl.RK4(), hl.Splitting(4)))
        away = 10 ** random.uniform(13, 15.7)
        yield spring_case("moved origin", method, 0.05, int(random.integers(200, 3000)), Units(), origin=away)


def late_start(random: np.random.Generator, count: int) -> Iterator[Case]:
    """A step that is lost in the size of the time, and long steps at late times."""
    for k in range(count):
        if k % 2:
            yield spring_case(
                "late start", hl.Gauss(3), 4.0, 100, random_units(random, 3), t0=10 ** random.uniform(3, 6)
            )
        else:
            units, begin = Units(), 10 ** random.uniform(13.5, 15)
            yield driven_case("late start", hl.RK4(), 0.1, 300, units, 0.0, 1.0, 0.37, begin)


def few_steps(random: np.random.Generator, count: int) -> Iterator[Case]:
    """One to seven steps, far too long."""
    for _ in range(count):
        method = pick(random, ALL)
        angle = 10 ** random.uniform(0.1, 1.5)
        yield spring_case("few steps", method, angle, int(random.integers(1, 8)), random_units(random))


def backwards(random: np.random.Generator, count: int) -> Iterator[Case]:
    for _ in range(count):
        method = pick(random, (hl.Gauss(1), hl.Gauss(3), hl.RK4()))
        yield spring_case("backwards", method, random.uniform(1.2, 9), 200, random_units(random), backward=True)


def seldom_saved(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Wrong runs of which little is kept: every hundredth state, three, the ends, or values in place of states."""
    for k in range(count):
        method, angle, steps = pick(random, (hl.Gauss(2), hl.Gauss(3), hl.RK4())), random.uniform(1.3, 8), 400
        if label(method) == "RK4()":
            angle = random.uniform(0.8, 1.6)
        units = random_units(random)
        span = angle * steps * units.time
        options: dict[str, Any] = (
            {"save_every": int(random.integers(2, 390))},
            {"save_at": sorted(random.uniform(0, span, 3))},
            {"save": ("x",), "save_every": 7},
            {"save_every": 1000},
        )[k % 4]
        yield spring_case(
            "seldom saved", method, angle, steps, units, name=f"{label(method)} {angle:.2f} {options}", **options
        )


def kept_in_files(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Wrong runs that were saved and loaded, and parts of them."""

    def loaded(run: Callable[..., hl.Run]) -> Said:
        with tempfile.TemporaryDirectory() as folder:
            return said(hl.load(run().save(Path(folder) / "run.nc")))

    def part(run: Callable[..., hl.Run]) -> Said:
        return said(run()[10:20])

    def loaded_part(run: Callable[..., hl.Run]) -> Said:
        with tempfile.TemporaryDirectory() as folder:
            return said(hl.load(run()[-30:].save(Path(folder) / "run.nc")))

    def resampled(run: Callable[..., hl.Run]) -> Said:
        found = run()
        return said(found.resample(np.linspace(found.t[0], found.t[-1], 77)))

    def coarse(run: Callable[..., hl.Run]) -> Said:
        return said(run()[::7])

    def between(run: Callable[..., hl.Run]) -> Said:
        found = run()
        return said(found[0.4 * float(found.t[-1]) : 0.9 * float(found.t[-1])])

    def part_of_loaded(run: Callable[..., hl.Run]) -> Said:
        with tempfile.TemporaryDirectory() as folder:
            return said(hl.load(run().save(Path(folder) / "run.nc"))[40:60])

    options = (loaded, part, loaded_part, resampled, coarse, between, part_of_loaded)
    for k in range(count):
        method = pick(random, SYMPLECTIC)
        explicit = not label(method).startswith("Gauss")
        angle = random.uniform(0.6, 1.5) if explicit else random.uniform(1.2, 8)
        how = options[k % len(options)]
        name = f"{how.__name__} {label(method)} {angle:.2f}"
        yield spring_case("files and parts", method, angle, 150, random_units(random), name=name, how=how)


def driven_case(
    family: str,
    method: Any,
    angle: float,
    steps: int,
    units: Units,
    friction: float,
    force: float,
    omega: float,
    t0: float = 0.0,
    rate: float = 1.0,
    x: float = 0.4,
) -> Case:
    """A damped and driven spring; a step is `angle` in units of time."""
    dt, begin = angle * units.time, t0 * units.time
    system = systems.damped_spring.with_parameters(
        m=units.mass,
        k=rate**2 * units.stiffness,
        c=friction * units.mass / units.time,
        f=force * units.mass * units.length / units.time**2,
        w=omega / units.time,
    )
    start = truths.driven(np.array([0.0]), rate, friction, force, omega, x, 0.0)[0]
    shift = omega * t0  # the phase of the force at the start
    c = force * np.exp(1j * shift) / (rate**2 - omega**2 + 1j * omega * friction)

    def run() -> hl.Run:
        q, v = [start[0] * units.length], [0.0]
        return hl.simulate(system, q, v, begin + steps * dt, dt=dt, method=method, t0=begin, throw=False)

    def truth(t: np.ndarray) -> np.ndarray:
        s = (t - begin) / units.time
        free = truths.damped(s, rate, friction, start[0] - c.real, -(1j * omega * c).real)[:, :1]
        return (free + (c * np.exp(1j * omega * s)).real[:, None]) * units.length

    name = f"{label(method)} {angle:.3g} x {steps} c={friction:.2g} f={force:.2g} w={omega:.2g} t0={t0:.1g}"
    return Case(family, name, lambda: said(run()), truth, begin, begin + steps * dt)


def driven_and_damped(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Motions of which the energy says nothing: driven ones out of phase, damped ones that do not decay or too fast."""
    for k in range(count):
        units = random_units(random)
        if k % 3 == 0:  # close to resonance, with a wrong frequency
            method, omega = pick(random, (hl.Gauss(1), hl.SymplecticEuler())), random.uniform(0.98, 1.02)
            yield driven_case("driven", method, random.uniform(0.2, 0.6), 1500, units, 0.0, 0.1, omega)
        elif k % 3 == 1:  # unstable steps that grow slowly while the motion decays
            angle = 2.8284 + 10 ** random.uniform(-2.2, -1)
            yield driven_case("damped", hl.RK4(), angle, int(random.integers(60, 300)), units, 1e-3, 0.0, 1.0)
        else:  # light damping that the method makes strong, or turns into growth
            method = pick(random, (hl.Radau(2), hl.RK4(), hl.Euler()))
            angle = random.uniform(0.003, 0.05) if label(method) == "Euler()" else random.uniform(0.8, 2.4)
            yield driven_case("damped", method, angle, int(random.integers(100, 900)), units, 1e-4, 0.0, 1.0)


def loose_tolerance(random: np.random.Generator, count: int) -> Iterator[Case]:
    """Error control that lets everything pass: large tolerances, and lengths that are smaller than the absolute one."""
    for k in range(count):
        steps, phase = int(random.integers(50, 400)), random.uniform(0, 6)
        if k % 2:
            method, units = hl.Adaptive(5, 1e-9, 1e-9), Units(length=10 ** random.uniform(-12, -8))
        else:
            method, units = hl.Adaptive(5, 10 ** random.uniform(-4, -1), 10 ** random.uniform(-4, -1)), Units()
        yield spring_case("loose tolerance", method, 10 ** random.uniform(-0.5, 2), steps, units, phase=phase)


def batches(random: np.random.Generator, count: int, members: int = 10) -> Iterator[Case]:
    """Members of batches of springs with other stiffnesses: most are fine, some are lost."""
    for _ in range(max(count // members, 1)):
        method, units = pick(random, (hl.Gauss(1), hl.Gauss(3), hl.RK4(), hl.Splitting(4))), random_units(random)
        yield from batch_of_springs("batch", method, units, 10 ** random.uniform(-1.5, 0.6, members), 200)


def batch_of_springs(family: str, method: Any, units: Units, angles: np.ndarray, steps: int) -> Iterator[Case]:
    """Springs that turn by these angles in a step, as the members of one batch."""
    kept: list[hl.Run] = []

    def batch() -> hl.Run:
        if not kept:
            stiffness = angles**2 * units.stiffness
            x, v = [[0.6 * units.length]], [[0.0]]
            m = np.full(len(angles), units.mass)
            done = hl.ensemble(
                systems.spring, x * len(angles), v * len(angles), steps * units.time,
                {"k": stiffness, "m": m}, dt=units.time, method=method,
            )  # fmt: skip
            kept.append(done)
        return kept[0]

    for k, angle in enumerate(angles):

        def truth(t: np.ndarray, angle: float = angle) -> np.ndarray:
            return 0.6 * units.length * np.cos(angle * t / units.time)[:, None]

        name = f"{label(method)} member {k} {angle:.3g} rad {units.length:.0e}"
        yield Case(family, name, lambda k=k: member(batch(), k), truth, 0.0, steps * units.time)

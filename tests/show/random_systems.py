"""Families of random systems: the form of each is fixed, its numbers are drawn, and what is true of it is known.

A family has coordinates of one or more degrees of freedom, a function that makes the system from numbers, and one that
draws numbers, a start, and the truth. Numbers are parameters, so that the systems of a family compile once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

import holonomy as hl


@dataclass(frozen=True)
class Drawn:
    """A system with a start, and what is true of it.

    `conserved`: h is conserved; `sum`: h is T + V, None where that is no question; `momenta`: the coordinates whose
    momenta are conserved; `closed`: the others then move by themselves; `geodesics`: Jacobi's metric applies; `dof`,
    the degrees of freedom; `symmetries`, how many continuous symmetries positions have, None where that is not asked.
    """

    family: str
    system: hl.System
    q: np.ndarray
    v: np.ndarray
    conserved: bool
    sum: bool | None = None
    momenta: tuple[str, ...] = ()
    closed: bool = True
    geodesics: bool = False
    dof: int = 1
    symmetries: int | None = None
    surface: int | None = None
    walls: bool = False
    nonholonomic: bool | None = None
    steady: bool = True
    bounded: bool = True
    still: bool = False


Make = Callable[[np.random.Generator], Drawn]


def _maybe(rng: np.random.Generator, value: float) -> float:
    """The value, or zero in a third of the draws: degenerate systems belong to every family."""
    return 0.0 if rng.uniform() < 1 / 3 else value


def _potential(x: Any, p: Any) -> Any:
    """A polynomial with a part that begins at x = s."""
    return p.k1 * x + p.k2 * x**2 / 2 + p.k4 * x**4 / 4 + jnp.where(x > p.s, p.d * (x - p.s) ** 3, 0.0)


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    """Wells of one or two minima, with a branch in some."""
    return {
        "a": _maybe(rng, rng.uniform(0, 2)),
        "k1": rng.normal(),
        "k2": 2 * rng.normal(),
        "k4": rng.uniform(0.3, 2),
        "s": rng.normal(),
        "d": _maybe(rng, rng.uniform(0, 3)),
    }


def _start(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(-1.2, 1.2, n), rng.uniform(0.2, 1.2, n) * rng.choice([-1, 1], n)


def _one(extra: Callable[..., Any] = lambda t, q, v, p: 0.0, **numbers: float) -> hl.System:
    zero = dict.fromkeys(("a", "k1", "k2", "k4", "s", "d"), 0.0)

    def lagrangian(t: Any, q: Any, v: Any, p: Any) -> Any:
        return 0.5 * (1 + p.a * q[0] ** 2) * v[0] ** 2 - _potential(q[0], p) + extra(t, q, v, p)

    return hl.System.from_lagrangian(lagrangian, ("x",), {**zero, **numbers})


_WELL = _one(lambda t, q, v, p: p.e * q[0] * v[0], e=0.0)  # with a total derivative
_PULSE = _one(lambda t, q, v, p: jnp.where(t > p.begin, p.f, 0.0) * q[0], f=0.0, begin=0.0)
_QUARTIC = _one(lambda t, q, v, p: p.b * v[0] ** 4 / 4, b=0.0)
_DAMPED = _one(c=0.0, w=0.0).forced(lambda t, q, v, p: -p.c * v - p.w * v * jnp.abs(v))
_WALLED = {kept: _one().constrained(unilateral=lambda t, q, p: 2.0 - q, restitution=kept) for kept in (1.0, 0.7)}


def well(rng: np.random.Generator) -> Drawn:
    """One coordinate, a mass that depends on it, branches."""
    q, v = _start(rng, 1)
    numbers = _numbers(rng)
    still = rng.uniform() < 0.15
    if still:  # at the bottom
        numbers |= {"k1": 0.0, "k2": abs(numbers["k2"]), "s": 1.0}
        q, v = np.zeros(1), np.zeros(1)
    free = not still and rng.uniform() < 0.15
    if free:  # nothing holds it, and its momentum is conserved where its mass is constant
        numbers |= dict.fromkeys(("k1", "k2", "k4", "d"), 0.0)
    system = _WELL.with_parameters(**numbers, e=rng.normal())
    constant = ("x",) if free and numbers["a"] == 0 else ()
    return Drawn("well", system, q, v, True, momenta=constant, symmetries=int(free), bounded=not free, still=still)


def pulse(rng: np.random.Generator) -> Drawn:
    """A force that begins at a time which no sample sees."""
    q, v = _start(rng, 1)
    system = _PULSE.with_parameters(**_numbers(rng), f=rng.uniform(1, 3), begin=rng.uniform(2, 3))
    return Drawn("pulse", system, q, v, False, steady=False)


def quartic(rng: np.random.Generator) -> Drawn:
    """A kinetic energy that is not quadratic."""
    q, v = _start(rng, 1)
    system = _QUARTIC.with_parameters(**_numbers(rng), b=rng.uniform(0.1, 1))
    return Drawn("quartic", system, q, v, True)


def damped(rng: np.random.Generator) -> Drawn:
    """Linear and quadratic damping."""
    q, v = _start(rng, 1)
    system = _DAMPED.with_parameters(**_numbers(rng), c=rng.uniform(0.1, 0.5), w=_maybe(rng, rng.uniform(0, 0.5)))
    return Drawn("damped", system, q, v, False)


def walled(rng: np.random.Generator) -> Drawn:
    """A wall, elastic or not, which the motion meets."""
    kept = float(rng.choice([1.0, 0.7]))
    numbers = _numbers(rng) | {"k1": -4.0, "k2": 0.0, "k4": 0.01, "d": 0.0}
    system = _WALLED[kept].with_parameters(**numbers)
    return Drawn("walled", system, rng.uniform(0, 1, 1), rng.uniform(0.2, 1, 1), kept == 1.0, walls=True)


def _bead(t: Any, q: Any, p: Any) -> Any:
    s, c = jnp.sin(q[0]), jnp.cos(q[0])
    return p.r * jnp.stack([s * jnp.cos(p.w * t), s * jnp.sin(p.w * t), -c])[None]


_HOOP = hl.System.from_positions(
    _bead, 1.0, lambda t, q, p: p.g * _bead(t, q, p)[0, 2], {"theta": "angle"}, {"r": 1.0, "w": 0.0, "g": 9.81}
)


def hoop(rng: np.random.Generator) -> Drawn:
    """A bead on a hoop that turns."""
    w = _maybe(rng, rng.uniform(0.5, 6))
    system = _HOOP.with_parameters(r=rng.uniform(0.5, 2), w=w, g=rng.uniform(1, 10))
    return Drawn("hoop", system, rng.uniform(-3, 3, 1), _maybe(rng, 1.0) * rng.normal(size=1), True, w == 0)


def _central(extra: Callable[..., Any] = lambda q, p: 0.0, **more: float) -> hl.System:
    def lagrangian(t: Any, q: Any, v: Any, p: Any) -> Any:
        kinetic = 0.5 * p.m * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2) + p.b * q[0] ** 2 * v[1]
        return kinetic - 0.5 * p.k * q[0] ** 2 + p.mu / q[0] - extra(q, p)

    numbers = {"m": 1.0, "b": 0.0, "k": 1.0, "mu": 0.0, **more}
    return hl.System.from_lagrangian(lagrangian, {"r": "length", "phi": "angle"}, numbers)


_CENTRAL = _central()
_PUSHED = _central(c=0.0).forced(lambda t, q, v, p: p.c * jnp.stack([jnp.sin(q[1]), 0.0 * q[1]]))
_BRANCHED = _central(lambda q, p: jnp.where(jnp.sin(q[1]) > p.s, p.c * (jnp.sin(q[1]) - p.s) ** 3, 0.0), c=0.0, s=0.9)


def _orbit(rng: np.random.Generator) -> tuple[dict[str, float], np.ndarray, np.ndarray]:
    numbers = {"m": rng.uniform(0.5, 2), "b": _maybe(rng, abs(rng.normal())), "k": rng.uniform(0.3, 2)}
    numbers["mu"] = _maybe(rng, rng.uniform(0, 1))
    q = np.array([rng.uniform(0.7, 1.5), rng.uniform(-3, 3)])
    return numbers, q, np.array([0.3 * rng.normal(), rng.uniform(0.7, 1.5)])


def central(rng: np.random.Generator) -> Drawn:
    """A central force in polar coordinates, with and without a magnetic field."""
    numbers, q, v = _orbit(rng)
    system = _CENTRAL.with_parameters(**numbers)
    plain = numbers["b"] == 0
    return Drawn("central", system, q, v, True, momenta=("phi",), geodesics=plain, dof=2)


def pushed(rng: np.random.Generator) -> Drawn:
    """A force along r that depends on φ: the momentum of φ stays, and r does not move by itself."""
    numbers, q, v = _orbit(rng)
    system = _PUSHED.with_parameters(**numbers, c=rng.uniform(0.2, 0.5))
    return Drawn("pushed", system, q, v, False, momenta=("phi",), closed=False, dof=2)


def branched(rng: np.random.Generator) -> Drawn:
    """A potential that depends on φ in a sector alone."""
    numbers, q, v = _orbit(rng)
    numbers["mu"] = 0.0
    system = _BRANCHED.with_parameters(**numbers, c=rng.uniform(1, 3), s=rng.uniform(0.3, 0.9))
    return Drawn("branched", system, q, v, True, geodesics=numbers["b"] == 0, dof=2)


def _turning(t: Any, q: Any, p: Any) -> Any:
    c, s = jnp.cos(p.w * t), jnp.sin(p.w * t)
    return jnp.stack([c * q[0] - s * q[1] + p.u * t, s * q[0] + c * q[1]])[None]


def _bowl(t: Any, q: Any, p: Any) -> Any:
    return 0.5 * (p.kx * q[0] ** 2 + p.ky * q[1] ** 2) + 0.1 * q[0] ** 4


_TURNING = hl.System.from_positions(_turning, 1.0, _bowl, ("x", "y"), {"w": 1.0, "u": 0.0, "kx": 1.0, "ky": 1.0})
_MOVING = hl.System.from_positions(
    lambda t, q, p: jnp.stack([q[0] + p.u * t, q[1]])[None], 1.0, _bowl, ("x", "y"), {"u": 1.0, "kx": 1.0, "ky": 1.0}
)


def turning(rng: np.random.Generator) -> Drawn:
    """A bowl that turns: its centrifugal and Coriolis forces."""
    q, v = _start(rng, 2)
    system = _TURNING.with_parameters(w=rng.uniform(0.2, 2), kx=rng.uniform(0.5, 5), ky=rng.uniform(0.5, 5))
    return Drawn("turning", system, q, v, True, False, dof=2)


def moving(rng: np.random.Generator) -> Drawn:
    """A bowl that moves at constant speed."""
    q, v = _start(rng, 2)
    system = _MOVING.with_parameters(u=rng.uniform(0.2, 2), kx=rng.uniform(0.5, 5), ky=rng.uniform(0.5, 5))
    return Drawn("moving", system, q, v, True, False, geodesics=True, dof=2, symmetries=0)


def _edge(t: Any, q: Any, v: Any, p: Any) -> Any:
    return 0.5 * (v[0] ** 2 + v[1] ** 2 + p.i * v[2] ** 2) - p.g * q[0]


_EDGE = hl.System.from_lagrangian(_edge, {"x": "length", "y": "length", "a": "angle"}, {"i": 1.0, "g": 0.0})
_EDGE = _EDGE.constrained(velocity=lambda t, q, v, p: (jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1])[None])


def knife_edge(rng: np.random.Generator) -> Drawn:
    """A knife edge on a slope: the momentum of the angle stays, and what is left does not move by itself."""
    q = rng.uniform(-1, 1, 3)
    speed = rng.uniform(0.3, 1)
    v = np.array([speed * np.cos(q[2]), speed * np.sin(q[2]), rng.uniform(0.3, 1)])
    system = _EDGE.with_parameters(i=rng.uniform(0.5, 2), g=_maybe(rng, rng.uniform(0, 2)))
    return Drawn("knife_edge", system, q, v, True, momenta=("a",), closed=False, dof=2, nonholonomic=True)


def _ahead(t: Any, q: Any, v: Any, p: Any) -> Any:
    x, y = v[0] - p.b * jnp.sin(q[2]) * v[2], v[1] + p.b * jnp.cos(q[2]) * v[2]
    return 0.5 * (x**2 + y**2 + p.i * v[2] ** 2)


_SLEIGH = hl.System.from_lagrangian(
    _ahead, {"x": "length", "y": "length", "a": "angle"}, {"i": 1.0, "b": 0.0}
).constrained(velocity=lambda t, q, v, p: (jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1])[None])


def sleigh(rng: np.random.Generator) -> Drawn:
    """A knife edge in the plane under a body whose centre of mass is ahead of it: only its place can be left out."""
    q = rng.uniform(-1, 1, 3)
    speed = rng.uniform(0.3, 1)
    v = np.array([speed * np.cos(q[2]), speed * np.sin(q[2]), rng.uniform(0.3, 1)])
    system = _SLEIGH.with_parameters(i=rng.uniform(0.5, 2), b=rng.uniform(0.2, 0.6))
    return Drawn("sleigh", system, q, v, True, dof=2, nonholonomic=True)


_WIRE = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * (v @ v) - p.g * q[1] - 0.5 * p.k * q[0] ** 2, ("x", "y"), {"a": 1.0, "g": 9.81, "k": 0.0}
).constrained(holonomic=lambda t, q, p: (q[1] - p.a * q[0] ** 2)[None])


def wire(rng: np.random.Generator) -> Drawn:
    """A bead on a parabola, held there by a constraint."""
    a, x, speed = rng.uniform(0.3, 2), rng.uniform(-1, 1), rng.normal()
    system = _WIRE.with_parameters(a=a, g=rng.uniform(1, 10), k=_maybe(rng, rng.uniform(0, 3)))
    return Drawn("wire", system, np.array([x, a * x**2]), np.array([speed, 2 * a * x * speed]), True, dof=1, surface=1)


_MAKERS: tuple[Make, ...] = (well, pulse, quartic, damped, walled, hoop, central, pushed, branched, turning, moving)
FAMILIES: dict[str, Make] = {make.__name__: make for make in (*_MAKERS, knife_edge, sleigh, wire)}

r"""One degree of freedom by its energy integral.

With \(E = \frac12 m(q) v^2 + V(q)\) a motion of energy E has \(v = \pm\sqrt{2(E - V)/m}\), and
\(t = \int dq/v\). Between turning points a and b put \(q = \frac{a + b}2 + \frac{b - a}2\sin\theta\): then
\(E - V = (q - a)(b - q)\,G(q)\) and \(dt/d\theta = \sqrt{m/(2G)}\) is a smooth function with period \(2\pi\), whose
Fourier series gives the period and the motion to round-off. Where there is no second turning point the integral is
taken in pieces (`holonomy.symmetry.escape`). A free rigid body has its own integrals
(`holonomy.symmetry.free_rotation`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, overload

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from holonomy.symmetry.escape import Escape
from holonomy.symmetry.fourier import antiderivative
from holonomy.symmetry.free_rotation import FreeRotation, free_rotation
from holonomy.symmetry.natural import Natural, refuse_not_quadratic, refuse_others
from holonomy.symmetry.samples import states
from holonomy.systems import System
from holonomy.systems.parameters import number
from holonomy.types import Number, Numbers, Tree, VectorLike

_GRID = np.linspace(-10.0, 10.0, 4001)  # where a configuration with positive kinetic energy is looked for
_REACH = 1e7  # of the first step: a motion that gets so far is not bounded
_RATIO = 0.005  # by which steps grow: a barrier narrower than this part of its distance from the start is not seen
_TURN = np.linspace(0.0, 2 * np.pi, 20001)[1:]  # where a barrier in the way of an angle is looked for
_NEAR = 0.1  # of the half width: nearer to a turning point E - V is an integral of its slope, which cancels nothing
_LEGENDRE = np.polynomial.legendre.leggauss(24)


@dataclass(frozen=True)
class Quadrature:
    """A motion of one degree of freedom.

    `kind` is ``"oscillation"`` between two turning points, ``"rotation"`` of an angle that always turns on, or
    ``"unbounded"``; `turning` are the turning points, infinite where there is none; `period` of the motion, infinite
    where it is not bounded; `energy` its energy. `motion(t)` gives the position and velocity, from the lower turning
    point at t = 0 (or the only one), or without turning points from the start.
    """

    energy: float
    kind: str
    turning: tuple[float, float]
    period: float
    start: float
    clock: _Clock | Escape = field(repr=False)

    def motion(self, t: Numbers) -> tuple[Float[np.ndarray, "*times"], Float[np.ndarray, "*times"]]:
        """Position and velocity at times t."""
        q, v = self.clock.motion(np.asarray(t, float))
        return np.asarray(q), np.asarray(v)

    def time(self, q: Number) -> float:
        """The time at which a position is reached first after t = 0.

        An unbounded motion without turning points passes positions behind its start at negative times.
        """
        return self.clock.time(float(q))


@overload
def quadrature(system: System, energy: Number, start: Number | None = None) -> Quadrature: ...


@overload
def quadrature(system: System, energy: None = None, *, start: tuple[VectorLike, VectorLike]) -> FreeRotation: ...


def quadrature(
    system: System, energy: Number | None = None, start: Number | tuple[VectorLike, VectorLike] | None = None
) -> Quadrature | FreeRotation:
    """The motion of one degree of freedom with a given energy (Jacobi's integral), by the energy integral.

    **Arguments:** `start`, a position that the motion passes, needed where the potential has several wells; by default
    the place between -10 and 10 where the kinetic energy is largest. Other dimensions reduce to one by `hl.routh`.
    For a free rigid body, a system on SO3, `start` is a state (q, v), which has the energy; its rotations follow from
    elliptic functions and one integral.

    **Fails** with `ValueError` for more than one degree of freedom, for an energy below the potential, at a separatrix,
    where the period is infinite, and as `jacobi_metric` does.
    """
    if isinstance(start, tuple):
        if energy is not None:
            raise ValueError("A start that is a state (q, v) has its energy; leave energy out.")
        return free_rotation(system, *_state(start))
    if not system.flat or len(system.names) != 1:
        raise ValueError(
            f"hl.quadrature takes one degree of freedom, and this system has {len(system.names)}: "
            f"{', '.join(system.names)}. Leave out cyclic coordinates with hl.routh first."
        )
    refuse_others(system, "hl.quadrature")
    sample = states(system, 1)[0][1]
    refuse_not_quadratic(system.local(jnp.asarray(sample)), sample, "hl.quadrature")
    if energy is None:
        raise ValueError("Pass the energy of the motion, such as system.energy(0.0, q, v).")
    value = float(number("energy", energy))
    well = _Well(Natural(system.local(jnp.asarray(sample))), value)
    at = _started(well, start)
    angle = system.coordinates[0].kind == "angle"
    low, high = _turning(well, at, -1.0, angle), _turning(well, at, 1.0, angle)
    if np.isfinite(low) and np.isfinite(high):
        clock = _Clock.between(well, low, high)
        return Quadrature(value, "oscillation", (low, high), clock.period, at, clock)
    if angle and not np.isfinite(low) and not np.isfinite(high):
        clock = _Clock.turning(well, at)
        return Quadrature(value, "rotation", (low, high), clock.period, at, clock)
    escape = Escape.made(well.kinetic, well.slope, well.mass, low, high, at)
    return Quadrature(value, "unbounded", (low, high), float("inf"), at, escape)


def _state(start: Any) -> Any:
    if len(start) != 2:
        raise ValueError(f"start is a position, or for a free rigid body a state (q, v); got {len(start)} entries.")
    return start


class _Well(eqx.Module):
    """The kinetic energy E - V of a motion as a function of the position, and the mass."""

    natural: Natural
    energy: float

    def kinetic(self, q: Any) -> np.ndarray:
        """E - V at many positions."""
        return np.asarray(_looked_at(self.natural, jnp.asarray(q, float))[0]) + self.energy

    def slope(self, q: Any) -> np.ndarray:
        """The derivative of E - V."""
        return np.asarray(_looked_at(self.natural, jnp.asarray(q, float))[1])

    def mass(self, q: Any) -> np.ndarray:
        """The mass."""
        return np.asarray(_looked_at(self.natural, jnp.asarray(q, float))[2])


@jax.jit
def _one(natural: Natural, q: Tree) -> Tree:
    value, slope = jax.value_and_grad(lambda x: natural.rest(x[None]))(q)
    return value, slope, natural.metric(q[None])[0, 0]


@eqx.filter_jit
def _looked_at(natural: Natural, q: Tree) -> Tree:
    return jax.vmap(lambda x: _one(natural, x))(q)


def _started(well: _Well, start: Any) -> float:
    if start is not None:
        at = float(number("start", start))
        kinetic = float(well.kinetic([at])[0])
        if not kinetic > 0:
            raise ValueError(
                f"The energy {well.energy:g} is not above the potential {well.energy - kinetic:g} at start = {at:g}: "
                "no motion of this energy gets there."
            )
        return at
    kinetic = well.kinetic(_GRID)
    kinetic = np.where(np.isfinite(kinetic), kinetic, -np.inf)
    best = int(np.argmax(kinetic))
    if not kinetic[best] > 0:
        raise ValueError(
            f"The energy {well.energy:g} is below the potential, whose least value between -10 and 10 is "
            f"{well.energy - kinetic[best]:g}: there is no such motion there. Pass a larger energy, or start=."
        )
    return float(_GRID[best])


def _turning(well: _Well, at: float, side: float, angle: bool) -> float:
    """The first place on one side where the kinetic energy vanishes; infinite where there is none."""
    first = 1e-3 * max(abs(at), 1.0)
    count = int(np.ceil(np.log(_REACH) / _RATIO))
    # within a full turn for an angle, else steps that grow with the distance
    away = _TURN if angle else first * np.expm1(_RATIO * np.arange(1, count + 1)) / _RATIO
    places = at + side * away
    values = well.kinetic(places)
    out = ~(values > 0)
    if not np.any(out):
        return side * float("inf")
    k = int(np.argmax(out))
    inside = at if k == 0 else float(places[k - 1])
    outside = float(places[k])
    if not np.isfinite(values[k]):
        raise ValueError(
            f"The potential is not finite at q = {outside:g}, so that a motion from {at:g} may fall into a "
            "singularity; pass another start= or energy."
        )
    options: Any = {"xtol": 1e-15, "rtol": 1e-15}
    root: Any = brentq(lambda x: float(well.kinetic([x])[0]), inside, outside, **options)
    return float(root)


@dataclass(frozen=True)
class _Clock:
    """The time as a Fourier series of an angle: t = c₀θ + Σ (aₖ cos kθ + bₖ sin kθ) up to a constant."""

    well: _Well
    middle: float
    half: float  # zero for a rotation, whose angle is the coordinate
    mean: float
    cosines: np.ndarray
    sines: np.ndarray

    @property
    def period(self) -> float:
        """The time of a full turn of the angle."""
        return 2 * np.pi * self.mean

    @staticmethod
    def between(well: _Well, low: float, high: float) -> _Clock:
        """An oscillation."""
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        mean, waves = antiderivative(lambda theta: _rate(well, low, high, theta), f"the energy {well.energy:g}")
        return _Clock(well, middle, half, mean, *waves)

    @staticmethod
    def turning(well: _Well, start: float) -> _Clock:
        """A rotation."""

        def rate(theta: np.ndarray) -> np.ndarray:
            q = start + theta
            return np.sqrt(well.mass(q) / (2 * well.kinetic(q)))

        mean, waves = antiderivative(rate, f"the energy {well.energy:g}")
        return _Clock(well, start, 0.0, mean, *waves)

    def _time(self, theta: Any) -> Any:
        k = np.arange(1, len(self.cosines) + 1)
        waves = np.multiply.outer(theta, k)
        return self.mean * theta + np.cos(waves) @ self.cosines + np.sin(waves) @ self.sines

    def _speed(self, theta: Any) -> Any:
        """dt/dθ."""
        k = np.arange(1, len(self.cosines) + 1)
        waves = np.multiply.outer(theta, k)
        return self.mean - np.sin(waves) @ (k * self.cosines) + np.cos(waves) @ (k * self.sines)

    @property
    def _first(self) -> float:
        return -np.pi / 2 if self.half else 0.0

    def motion(self, t: np.ndarray) -> tuple[Any, Any]:
        """Position and velocity, by Newton's method on the increasing function t(θ)."""
        wanted = t + self._time(np.asarray(self._first))
        turns, rest = np.divmod(wanted, self.period)
        theta: Any = np.asarray(rest / self.mean)
        for _ in range(60):
            step = (self._time(theta) - rest) / self._speed(theta)
            theta = theta - np.clip(step, -0.5, 0.5)
            if np.max(np.abs(step), initial=0.0) < 1e-15 * 10:
                break
        if not self.half:
            return self.middle + theta + 2 * np.pi * turns, 1.0 / self._speed(theta)
        return self.middle + self.half * np.sin(theta), self.half * np.cos(theta) / self._speed(theta)

    def time(self, q: float) -> float:
        """The first time at q."""
        if self.half:
            share = (q - self.middle) / self.half
            if not abs(share) <= 1 + 1e-12:
                raise ValueError(f"The motion does not reach q = {q:g}.")
            theta = np.arcsin(np.clip(share, -1.0, 1.0))
        else:
            theta = (q - self.middle) % (2 * np.pi)
        return float(self._time(np.asarray(theta)) - self._time(np.asarray(self._first)))


def _rate(well: _Well, low: float, high: float, theta: np.ndarray) -> np.ndarray:
    """dt/dθ between turning points."""
    half = 0.5 * (high - low)
    # the distances to the turning points without cancellation
    left, right = half * 2 * np.sin(0.5 * (theta + np.pi / 2)) ** 2, half * 2 * np.sin(0.5 * (np.pi / 2 - theta)) ** 2
    q = low + left
    product = well.kinetic(q) / (left * right)
    nodes, weights = (_LEGENDRE[0] + 1) / 2, _LEGENDRE[1] / 2
    for end, side, away, other in ((low, 1.0, left, right), (high, -1.0, right, left)):
        near = away < _NEAR * half
        if np.any(near):
            places = end + side * np.multiply.outer(away[near], nodes)
            slopes = well.slope(places.ravel()).reshape(places.shape)
            product[near] = side * (slopes @ weights) / other[near]
    return np.sqrt(well.mass(q) / (2 * product))

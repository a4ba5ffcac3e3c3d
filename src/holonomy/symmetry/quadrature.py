r"""One degree of freedom by its energy integral.

The energy function is \(h = \frac12 m(q) v^2 + V'(q)\) with the effective potential \(V' = V - T_0\). Where it has the
value E a motion has \(v = \pm\sqrt{2(E - V')/m}\), and \(t = \int dq/v\). Between turning points a and b put
\(q = \frac{a + b}2 + \frac{b - a}2\sin\theta\): then \(E - V' = (q - a)(b - q)\,G(q)\) and
\(dt/d\theta = \sqrt{m/(2G)}\) is a smooth function with period \(2\pi\), whose Fourier series gives the period and the
motion to round-off. Where there is no second turning point the integral is taken in pieces
(`holonomy.symmetry.escape`). A free rigid body has its own integrals (`holonomy.symmetry.free_rotation`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.symmetry.escape import Escape
from holonomy.symmetry.fourier import antiderivative
from holonomy.symmetry.free_rotation import FreeRotation, free_rotation
from holonomy.symmetry.natural import Natural, refuse_others
from holonomy.symmetry.natural_form import refuse_unnatural
from holonomy.symmetry.turning_points import Well, started, turning_points
from holonomy.systems import System
from holonomy.systems.parameters import number
from holonomy.types import Number, Numbers, VectorLike

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
    """The motion of one degree of freedom with a given energy, by the energy integral.

    **Arguments:** `energy`, the value of the energy function h = v·∂L/∂v − L, `hl.energy_function(system)(t, q, v)`,
    which is `system.energy(t, q, v)` where positions do not depend on the time; `start`, a position that the motion
    passes or where it turns, needed where the potential has several wells; by default the place between -10 and 10
    where the kinetic energy is largest. Other dimensions reduce to one by `hl.routh`.
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
    refuse_unnatural(system, "hl.quadrature", turning=False)
    if energy is None:
        raise ValueError("Pass the energy of the motion, hl.energy_function(system)(0.0, q, v).")
    value = float(number("energy", energy))
    well = Well(Natural(system.local(jnp.zeros(1))), value)
    at = started(well, start)
    angle = system.coordinates[0].kind == "angle" and well.turns(at)
    low, high = turning_points(well, at, angle)
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


@dataclass(frozen=True)
class _Clock:
    """The time as a Fourier series of an angle: t = c₀θ + Σ (aₖ cos kθ + bₖ sin kθ) up to a constant."""

    well: Well
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
    def between(well: Well, low: float, high: float) -> _Clock:
        """An oscillation."""
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        mean, waves = antiderivative(lambda theta: _rate(well, low, high, theta), f"the energy {well.energy:g}")
        return _Clock(well, middle, half, mean, *waves)

    @staticmethod
    def turning(well: Well, start: float) -> _Clock:
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
            # the difference above is rounded, which near its ends the arcsine would enlarge to its square root
            theta = np.arcsin(np.sign(share) if abs(share) > 1 - 1e-15 else share)
        else:
            theta = (q - self.middle) % (2 * np.pi)
        return float(self._time(np.asarray(theta)) - self._time(np.asarray(self._first)))


def _rate(well: Well, low: float, high: float, theta: np.ndarray) -> np.ndarray:
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

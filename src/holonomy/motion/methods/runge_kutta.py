"""Explicit Runge–Kutta methods: a tableau of numbers, a step in the chart at the present point, and projection."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion.methods.base import AbstractMethod, PositionVelocity, Status, fine
from holonomy.motion.methods.projection import finish
from holonomy.systems import System
from holonomy.systems.in_chart import Local
from holonomy.types import Point, Tangent, Time, Vector

# Coordinates above which the stages are a loop. Written out, XLA joins them into one pass, in which it computes a stage
# anew wherever the next one needs it, once for each neighbour.
LARGE = 128
_LARGEST_DENOMINATOR = 1000  # rows whose common denominator is larger are taken as decimal numbers


Entry = int | float | Fraction
Slope = Callable[[Time, Vector, Vector], Vector]


@dataclass(frozen=True)
class Tableau:
    r"""Butcher's tableau of an explicit method of s stages.

    \[ Y_i = y + h\sum_{j<i} a_{ij}F_j, \quad F_i = f(t + c_i h, Y_i), \quad y \leftarrow y + h\sum_i b_i F_i,
       \quad c_i = \sum_j a_{ij}. \]

    **Arguments:** `a`, a row for each stage with as many entries as there are stages before it, the first one empty;
    `b`, a weight for each stage; `order`, the order of convergence that these numbers give. Entries are numbers or
    `fractions.Fraction`.
    """

    a: tuple[tuple[Entry, ...], ...]
    b: tuple[Entry, ...]
    order: int

    def __post_init__(self) -> None:
        lengths = [len(row) for row in self.a]
        if not lengths or lengths != list(range(len(lengths))):
            raise ValueError(
                f"a must have a row for each stage, with 0, 1, 2, … entries, as an explicit method has; got rows of "
                f"{lengths} entries."
            )
        if len(self.b) != len(self.a):
            raise ValueError(f"b must have a weight for each of the {len(self.a)} stages; got {len(self.b)}.")
        if abs(float(sum(self.b)) - 1.0) > 1e-12:
            raise ValueError(f"The weights b must add up to 1; these add up to {float(sum(self.b))!r}.")

    def advance(self, slope: Slope, t: Time, h: Time, y: Vector, w: Vector) -> tuple[Vector, Vector]:
        """One step of y' = w, w' = slope(t, y, w)."""
        if y.size > LARGE and not any(any(row[:-1]) for row in self.a):
            return self._advance_by_scan(slope, t, h, y, w)
        speeds, slopes = [], []
        for row in self.a:
            now = w + _sum(row, h, slopes) if any(row) else w
            place = y + _sum(row, h, speeds) if any(row) else y
            node = float(sum(row))
            slopes.append(slope(t + node * h if node else t, place, now))
            speeds.append(now)
        return y + _sum(self.b, h, speeds), w + _sum(self.b, h, slopes)

    def _advance_by_scan(self, slope: Slope, t: Time, h: Time, y: Vector, w: Vector) -> tuple[Vector, Vector]:
        """The same where each stage needs only the one before it, as a loop over the stages."""
        weights, below = _whole_weights(self.b)
        nodes = np.array([float(sum(row)) for row in self.a])
        ahead = np.append([float(row[-1]) for row in self.a[1:]], 0.0)  # what the next stage takes of this one

        def stage(now: Any, given: Any) -> tuple[Any, None]:
            place, speed, moved, turned = now
            node, part, weight = given
            a = slope(t + node * h, place, speed)
            far = part * h
            return (y + far * speed, w + far * a, moved + weight * speed, turned + weight * a), None

        none = jnp.zeros_like(y)
        numbers = tuple(jnp.asarray(x, y.dtype) for x in (nodes, ahead, weights))
        (_, _, moved, turned), _ = jax.lax.scan(stage, (y, w, none, none), numbers)
        return y + (h / below) * moved, w + (h / below) * turned


def _sum(row: tuple[Entry, ...], h: Any, values: list[Any]) -> Any:
    """h times the sum of the values with these weights; over their common denominator, so that 1/6 costs no digit."""
    weights, below = _whole_weights(row)
    step = h if below == 1 else h / below
    terms = [w * value if w != 1.0 else value for w, value in zip(weights, values, strict=True) if w]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return step * total


def _whole_weights(row: tuple[Entry, ...]) -> tuple[list[float], float]:
    """The entries times their common denominator, and that; themselves and 1 where they are decimal numbers."""
    exact = [Fraction(x).limit_denominator(_LARGEST_DENOMINATOR) for x in row]
    below = lcm(*(x.denominator for x in exact))
    if below > _LARGEST_DENOMINATOR or any(float(x) != float(given) for x, given in zip(exact, row, strict=True)):
        return [float(x) for x in row], 1.0
    return [float(x * below) for x in exact], float(below)


class AbstractRungeKutta(AbstractMethod):
    """An explicit method on (q, v), which steps in the local chart of the present point.

    Constraints are held by projection after each step.
    """

    @abc.abstractmethod
    def advance(self, slope: Slope, t: Time, h: Time, y: Vector, w: Vector) -> tuple[Vector, Vector]:
        """One step of y' = w, w' = slope(t, y, w)."""

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> PositionVelocity:
        return PositionVelocity(q, v)

    def step(self, system: System, t: Time, h: Time, state: PositionVelocity) -> tuple[PositionVelocity, Status]:
        local = system.local(state.q)
        y, w = local.enter(state.v)
        held = local.hold(t, y, w)
        # jitted so that the stages share one traced and simplified body
        slope = jax.jit(lambda *state: local.acceleration(*state))
        end, w = self.advance(slope, t, h, y, w)
        if held is None:
            return _left(local, end, w), fine()
        end, w, status = finish(local, held, t, h, end, w, y)
        return _left(local, end, w), status

    @property
    def holds(self) -> tuple[str, ...]:
        return ("holonomic", "velocity")

    @property
    def rubs(self) -> bool:
        return True

    def read(self, system: System, t: Time, state: PositionVelocity) -> tuple[Point, Tangent]:
        return state.q, state.v


def _left(local: Local, y: Any, w: Any) -> PositionVelocity:
    """The state with coordinates y and w, as the space writes it."""
    q, v = local.leave(y, w)
    return PositionVelocity(*local.system.space.recentred(q, v))


class AbstractTableauMethod(AbstractRungeKutta):
    """An explicit Runge–Kutta method that is its tableau: a subclass sets `tableau`, and nothing else."""

    tableau: ClassVar[Tableau]

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if not isinstance(getattr(cls, "tableau", None), Tableau):
            raise TypeError(f"{cls.__name__} needs its numbers: write tableau = Tableau(a, b, order) in the class.")

    @property
    def order(self) -> int:
        return self.tableau.order

    def advance(self, slope: Slope, t: Time, h: Time, y: Vector, w: Vector) -> tuple[Vector, Vector]:
        return self.tableau.advance(slope, t, h, y, w)

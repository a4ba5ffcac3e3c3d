"""Whether a typed system can start to move in a state: the checks of `hl.simulate` in the words of the lab. No JAX.

The compiled code says what the system has at a state (`system.program`, its routine "state"); `holonomy.start_checks`
and `holonomy.nearest_state`, which the library uses too, judge it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy import start_checks
from holonomy.nearest_state import nearest_state
from holonomy.start_checks import Conditions, State
from holonomy.studio.compile.kernel import Kernel
from holonomy.studio.labs.settings import Refusal

Coordinates = Float[np.ndarray, " n"]
NO_ENERGY: Final = "The energy has no finite value there: start elsewhere, or give other numbers."
NO_MASS: Final = "The kinetic energy has no finite value there: start elsewhere, or give other numbers."
SINGULAR: Final = (
    "The kinetic energy does not depend on some velocities there, so that their accelerations are not determined: a "
    "mass is zero, or the coordinates break down, as angles do at a pole."
)
NEGATIVE: Final = (
    "Some velocities have negative kinetic energy: a mass is negative, or a sign is wrong (a Lagrangian is kinetic "
    "minus potential energy)."
)
NO_VALUE: Final = "The constraints or their derivatives have no value there."
NO_RANK: Final = "The constraints restrict no motion there: their derivatives all vanish. Write f = 0, not f² = 0."
CONTRADICTION: Final = "The constraints contradict each other: no acceleration keeps all of them."
NOTHING_NEAR: Final = (
    "No state near this one satisfies the constraints: they contradict each other, or it is too far away from them."
)


class Judge:
    """Judges states of one system under one row of numbers; the first constraints, `holonomic` of them, are on
    positions."""

    def __init__(self, kernel: Kernel, numbers: Float[np.ndarray, " numbers"], holonomic: int):
        self._routine = kernel.routines["state"]
        self._numbers = numbers
        self._holonomic = holonomic

    def check(self, t: float, q: Coordinates, v: Coordinates, told: Callable[[Coordinates, Coordinates], str]) -> None:
        """Raise `Refusal` where the library would not start a motion; `told` writes a state for the user."""
        mass, energy, *rest = self._look(t, q, v)
        if not np.isfinite(energy):
            raise Refusal(NO_ENERGY)
        if not np.all(np.isfinite(mass)):
            raise Refusal(NO_MASS)
        seen = Conditions(*rest) if rest else None
        scaled = start_checks.eigenvalues(mass)[1]
        if start_checks.is_singular(scaled):
            if seen is None or start_checks.singular_along(mass, seen.normals):
                raise Refusal(SINGULAR)
        elif scaled[0] < 0:
            raise Refusal(NEGATIVE)
        wrong = None if seen is None else start_checks.inconsistent(q, v, seen, self._holonomic)
        match wrong.kind if wrong is not None else "":
            case "not finite":
                raise Refusal(NO_VALUE, "constraints")
            case "no rank":
                raise Refusal(NO_RANK, "constraints")
            case "contradiction":
                raise Refusal(CONTRADICTION, "constraints")
            case "position" | "velocity":
                near = self.nearest(t, q, v)
                if near is None:
                    raise Refusal(NOTHING_NEAR)
                raise Refusal(f"The start violates the constraints; the nearest: {told(*near)}.", "start")
            case _:
                pass

    def nearest(self, t: float, q: Coordinates, v: Coordinates) -> tuple[Coordinates, Coordinates] | None:
        """The nearest state on the constraints, itself where it lies there to round-off; None where there is none."""
        mass, _, *rest = self._look(t, q, v)
        if not rest or not np.all(np.isfinite(mass)):
            return q, v
        off = start_checks.misses(Conditions(*rest), self._holonomic) if all(map(_finite, rest)) else (np.inf, np.inf)
        enough = start_checks.round_off(q.dtype)
        if off[0] <= enough * start_checks.size(q) and off[1] <= enough * start_checks.size(v):
            return q, v

        def look(y: np.ndarray, w: np.ndarray) -> State:
            mass, energy, *seen = self._look(t, y, w)
            return State(mass, energy, Conditions(*seen))

        near_q, near_v, gap = nearest_state(look, self._holonomic, q, v)
        return (near_q, near_v) if np.all(gap < start_checks.close(q.dtype)) else None

    def _look(self, t: float, q: Coordinates, v: Coordinates) -> list[np.ndarray]:
        """Mass matrix and energy; of a system with constraints the fields of `Conditions` too."""
        return [np.asarray(x) for x in self._routine(self._numbers, np.float64(t), q, v)]


def _finite(values: np.ndarray) -> bool:
    return bool(np.all(np.isfinite(values)))

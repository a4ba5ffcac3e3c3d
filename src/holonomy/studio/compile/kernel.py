"""The motion of one structure as loaded machine code: states in, states and what is seen of them out. Without JAX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.trace.native.object_file import Parcel, Routine

_NOT_FINITE: Final = 1
_SENTENCES: Final = {
    _NOT_FINITE: "the numbers grew beyond all bounds",
    2: "the equations of an implicit step could not be solved",
}


class Stopped(Exception):
    """The motion cannot go on: the sentence says when and why. The state before is still good."""


@dataclass(frozen=True)
class Layout:
    """How many numbers there are of each kind in what a kernel sees of a state."""

    coordinates: int
    channels: int
    points: int
    dimension: int
    strains: int


@dataclass(frozen=True)
class Blueprint:
    """A kernel before it is loaded: bytes and numbers, to be sent between processes or kept on disk."""

    parcels: Mapping[str, Parcel]
    layout: Layout
    engine: str
    method: str
    traits: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """One exact state of a motion: keeping the object keeps every bit.

    `index` counts steps of length `dt` from time `t0`; `state` is the method's own; `seen` is a row of time,
    coordinates, velocities, channels, positions and strains.
    """

    numbers: np.ndarray
    t0: float
    dt: float
    index: int
    state: np.ndarray
    seen: np.ndarray


class Kernel:
    """Machine code for one structure, shared by all who have it. States are values; nothing here changes."""

    def __init__(self, blueprint: Blueprint):
        self.layout = blueprint.layout
        self.engine = blueprint.engine
        self.method = blueprint.method
        self.traits = blueprint.traits
        self.routines = {name: Routine(parcel) for name, parcel in blueprint.parcels.items()}
        self._start, self._advance = self.routines["start"], self.routines["advance"]
        n, layout = self.layout.coordinates, self.layout
        sizes = (1, n, n, layout.channels, layout.points * layout.dimension, layout.strains)
        self._cuts = [int(c) for c in np.cumsum(sizes)]

    def start(self, numbers: np.ndarray, t: float, dt: float, q: np.ndarray, v: np.ndarray) -> Spot:
        """The state at time t with coordinates q and velocities v under these parameters, to go on in steps of dt."""
        (state,) = self._start(numbers, t, q, v)
        _, _, seen = self._advance(numbers, state, np.array([t, dt]), np.array([0, 0]))  # no step: only look
        if not np.isfinite(seen).all():
            raise Stopped("A motion cannot start there: some of its numbers are not finite.")
        return Spot(numbers, float(t), dt, 0, state, seen)

    def advance(self, spot: Spot, steps: int) -> Spot:
        """The state `steps` steps later; `advance(advance(s, a), b)` and `advance(s, a + b)` have the same bits."""
        clock = np.array([spot.t0, spot.dt])
        state, count, seen = self._advance(spot.numbers, spot.state, clock, np.array([spot.index, steps]))
        index, code = count.tolist()
        if code or not np.isfinite(seen[1 : self._cuts[2]]).all():
            t = spot.t0 + index * spot.dt
            why = _SENTENCES.get(code or _NOT_FINITE, f"its step failed with code {code}")
            raise Stopped(f"The motion stopped at t = {t:.4g} s: {why}.")
        return Spot(spot.numbers, spot.t0, spot.dt, index, state, seen)

    def time(self, spot: Spot) -> float:
        """The time of a state."""
        return float(spot.seen[0])

    def q(self, spot: Spot) -> Float[np.ndarray, " coordinates"]:
        """The coordinates of a state."""
        return spot.seen[1 : self._cuts[1]]

    def v(self, spot: Spot) -> Float[np.ndarray, " coordinates"]:
        """The velocities of a state."""
        return spot.seen[self._cuts[1] : self._cuts[2]]

    def channels(self, spot: Spot) -> Float[np.ndarray, " channels"]:
        """What is plotted of a state."""
        return spot.seen[self._cuts[2] : self._cuts[3]]

    def positions(self, spot: Spot) -> Float[np.ndarray, "points d"]:
        """Where the moving points of a state are."""
        shape = (self.layout.points, self.layout.dimension)
        return spot.seen[self._cuts[3] : self._cuts[4]].reshape(shape)

    def strain(self, spot: Spot) -> Float[np.ndarray, " strains"]:
        """How far rods are stretched, relative to their length."""
        return spot.seen[self._cuts[4] :]

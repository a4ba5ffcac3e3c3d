"""The motion of one structure as loaded machine code: from states to later ones and to what is shown. No JAX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from holonomy.trace.native.object_file import ObjectFile, Routine

GHOST: Final = "ghost_"
"""What the names of a ghost's own functions begin with."""
_NOT_FINITE: Final = 1
_SENTENCES: Final = {
    _NOT_FINITE: "the numbers overflowed",
    2: "the equations of an implicit step could not be solved",
}


class Stopped(Exception):
    """The motion cannot go on: the sentence says when and why. The state before is still good."""


@dataclass(frozen=True)
class Layout:
    """How many numbers of each kind the compiled code returns for a state."""

    coordinates: int
    channels: int
    points: int
    dimension: int
    strains: int


@dataclass(frozen=True)
class CompiledProgram:
    """A kernel before it is loaded: bytes and numbers, to be sent between processes or kept on disk."""

    object_files: Mapping[str, ObjectFile]
    layout: Layout
    engine: str
    method: str
    traits: tuple[str, ...]
    quick: bool = False
    """Whether the code is not optimised yet."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelState:
    """One exact state of a motion: keeping the object keeps every bit.

    `index` counts steps of length `dt` from time `t0`; `row` is the method's own state, flattened; `seen`
    has time, coordinates, velocities, channels, positions and strains.
    """

    numbers: np.ndarray
    t0: float
    dt: float
    index: int
    row: np.ndarray
    seen: np.ndarray


class Kernel:
    """Machine code for one structure, shared by all sessions. States are values; nothing here changes."""

    quick: bool = False

    def __init__(self, compile_program: CompiledProgram, prefix: str = ""):
        self.layout = compile_program.layout
        self.quick = compile_program.quick
        self.engine = compile_program.engine
        self.method = compile_program.method
        self.traits = compile_program.traits
        self.routines = {name: Routine(file) for name, file in compile_program.object_files.items()}
        self._start, self._advance = self.routines[f"{prefix}start"], self.routines[f"{prefix}advance"]
        own = not prefix and f"{GHOST}advance" in self.routines
        self.ghost: Kernel = Kernel(compile_program, GHOST) if own else self
        """The code that moves a ghost: another where it has a method of its own. States of both are read alike."""
        n, layout = self.layout.coordinates, self.layout
        sizes = (1, n, n, layout.channels, layout.points * layout.dimension, layout.strains)
        self._cuts = [int(c) for c in np.cumsum(sizes)]

    def start(self, numbers: np.ndarray, t: float, dt: float, q: np.ndarray, v: np.ndarray) -> KernelState:
        """The state at time t with coordinates q and velocities v under these parameters, to go on in steps of dt."""
        (row,) = self._start(numbers, t, q, v)
        _, _, seen = self._advance(numbers, row, np.array([t, dt]), np.array([0, 0]))  # no step: only look
        if not np.isfinite(seen).all():
            raise Stopped("A motion cannot start there: some of its numbers are not finite.")
        return KernelState(numbers, float(t), dt, 0, row, seen)

    def advance(self, state: KernelState, steps: int) -> KernelState:
        """The state `steps` steps later; `advance(advance(s, a), b)` and `advance(s, a + b)` have the same bits."""
        clock = np.array([state.t0, state.dt])
        row, count, seen = self._advance(state.numbers, state.row, clock, np.array([state.index, steps]))
        index, code = count.tolist()
        if code or not np.isfinite(seen[1 : self._cuts[2]]).all():
            t = state.t0 + index * state.dt
            why = _SENTENCES.get(code or _NOT_FINITE, f"its step failed with code {code}")
            raise Stopped(f"The motion stopped at t = {t:.4g} s: {why}.")
        return KernelState(state.numbers, state.t0, state.dt, index, row, seen)

    def time(self, state: KernelState) -> float:
        """The time of a state."""
        return float(state.seen[0])

    def q(self, state: KernelState) -> Float[np.ndarray, " coordinates"]:
        """The coordinates of a state."""
        return state.seen[1 : self._cuts[1]]

    def v(self, state: KernelState) -> Float[np.ndarray, " coordinates"]:
        """The velocities of a state."""
        return state.seen[self._cuts[1] : self._cuts[2]]

    def channels(self, state: KernelState) -> Float[np.ndarray, " channels"]:
        """What is plotted of a state."""
        return state.seen[self._cuts[2] : self._cuts[3]]

    def positions(self, state: KernelState) -> Float[np.ndarray, "points d"]:
        """Where the moving points of a state are."""
        shape = (self.layout.points, self.layout.dimension)
        return state.seen[self._cuts[3] : self._cuts[4]].reshape(shape)

    def strain(self, state: KernelState) -> Float[np.ndarray, " strains"]:
        """How far rods are stretched, relative to their length."""
        return state.seen[self._cuts[4] :]

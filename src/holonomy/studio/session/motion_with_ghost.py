"""A motion, its ghost, and the rate at which nearby motions diverge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from holonomy.studio.compile.kernel import Kernel, KernelState, Stopped
from holonomy.studio.labs.base import AbstractLab, Drawing, GhostReading
from holonomy.studio.labs.settings import Settings

NEAR: Final = 1e-7
"""Distance in phase space at which the neighbour that measures growth is kept."""


@dataclass(frozen=True, slots=True, eq=False)
class MotionState:
    r"""The motion, its ghost and its neighbour at one time.

    The ghost moves independently. The neighbour is brought back to distance `NEAR` along the line to it after every
    frame, and `grown` adds up the logarithms of the growth in between: over time it tends to \(\lambda_1 t\)
    (Benettin, Galgani, Giorgilli and Strelcyn, Meccanica 15 (1980) 9).
    """

    main: KernelState
    ghost: KernelState | None = None
    near: KernelState | None = None
    grown: float = 0.0
    growing: float = 0.0
    """Seconds over which it has grown."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A state in numbers: what a frame says of it."""

    t: float
    q: np.ndarray
    v: np.ndarray
    energy: np.ndarray
    channel: np.ndarray
    position: np.ndarray
    strain: np.ndarray
    total: float


class MotionWithGhost:
    """Moves a lab's system under fixed settings, with its ghost where there is one."""

    def __init__(self, lab: AbstractLab, settings: Settings, kernel: Kernel):
        self.lab = lab
        self.settings = settings
        self.kernel = kernel
        self._numbers = lab.numbers(settings)
        self.dt = lab.step(settings)
        self.stride = round(lab.frame_seconds / self.dt)
        self._anchors = lab.anchors(settings)
        self._measured = lab.measured(settings, kernel)
        self._energies = _energy_places(lab.drawn(settings), kernel.layout.channels)

    def start(
        self, t: float, q: np.ndarray, v: np.ndarray, ghost: tuple[np.ndarray, np.ndarray] | None = None
    ) -> MotionState:
        """The state at time t; the ghost in the given state, or where the lab starts it."""
        main = self._begun(t, q, v)
        beside = self.lab.ghost(self.settings, q, v)
        if beside is None:
            return MotionState(main)
        second = self.kernel.ghost.start(self._numbers, t, self.dt, *(beside if ghost is None else ghost))
        apart = NEAR / math.sqrt(len(q))
        return MotionState(main, second, self._begun(t, q + apart, v))

    def _begun(self, t: float, q: np.ndarray, v: np.ndarray) -> KernelState:
        return self.kernel.start(self._numbers, t, self.dt, q, v)

    def advance(self, state: MotionState, steps: int) -> MotionState:
        """The state `steps` steps later; see `AbstractStepper`."""
        if state.ghost is None:
            return MotionState(self.kernel.advance(state.main, steps))
        while steps > 0:
            # The neighbour is brought back at fixed numbers of steps, however the steps are cut into calls.
            stride = min(steps, self.stride - state.main.index % self.stride)
            state = self._together(state, stride)
            steps -= stride
        return state

    def _together(self, state: MotionState, steps: int) -> MotionState:
        main = self.kernel.advance(state.main, steps)
        assert state.ghost is not None
        ghost = self.kernel.ghost.advance(state.ghost, steps)
        near, grown, growing = state.near, state.grown, state.growing
        if near is not None:
            try:
                near = self.kernel.advance(near, steps)
            except Stopped:
                near = None
        if near is not None and main.index % self.stride == 0:
            q, v = self.kernel.q(main), self.kernel.v(main)
            dq, dv = self.kernel.q(near) - q, self.kernel.v(near) - v
            apart = math.sqrt(float(dq @ dq + dv @ dv))
            if apart > 0.0:
                grown += math.log(apart / NEAR)
                growing += self.stride * self.dt
                back = NEAR / apart
                near = self._begun(self.kernel.time(main), q + back * dq, v + back * dv)
        return MotionState(main, ghost, near, grown, growing)

    def read(self, state: MotionState) -> Reading:
        """What is seen of a state."""
        kernel, lab, settings = self.kernel, self.lab, self.settings
        main, ghost = state.main, state.ghost
        seen = kernel.channels(main)
        own = seen[self._energies]
        total = float(own[-1])
        points = [self._anchors, self._points(main)]
        if ghost is None:
            channel = lab.channels(settings, seen, None, GhostReading(math.nan, math.nan))
            strain, energy = kernel.strain(main), own
        else:
            other = kernel.channels(ghost)
            points.append(self._points(ghost))
            strain = np.concatenate([kernel.strain(main), kernel.strain(ghost)])
            energy = np.concatenate([own, other[self._energies]])
            channel = lab.channels(settings, seen, other, GhostReading(self._divergence(state), _exponent(state)))
        channel = np.concatenate([channel, self._measured])
        return Reading(
            kernel.time(main), kernel.q(main), kernel.v(main), energy, channel, np.concatenate(points), strain, total
        )

    def _points(self, state: KernelState) -> np.ndarray:
        """The moving points: those of the compiled code, or where it returns none, those that the lab computes."""
        if self.kernel.layout.points:
            return self.kernel.positions(state)
        placed = self.lab.placed(self.settings, self.kernel.q(state))
        return self.kernel.positions(state) if placed is None else placed

    def _divergence(self, state: MotionState) -> float:
        kernel, ghost = self.kernel, state.ghost
        assert ghost is not None
        apart = self.lab.distance(self.settings, kernel.q(ghost), kernel.q(state.main))
        return math.hypot(apart, float(np.linalg.norm(kernel.v(ghost) - kernel.v(state.main))))


def _energy_places(drawing: Drawing, count: int) -> list[int]:
    """Where the energies of one motion are among the `count` channels that the compiled code returns for it."""
    names = [channel.name for channel in drawing.channels[:count]]
    return [names.index(energy.name) for energy in drawing.energies if energy.name in names]


def _exponent(state: MotionState) -> float:
    return state.grown / state.growing if state.growing > 0 else math.nan

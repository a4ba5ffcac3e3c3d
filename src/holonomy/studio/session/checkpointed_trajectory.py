"""One unbroken motion, any moment of which can be had again bit for bit."""

from __future__ import annotations

from typing import Any, Final, Protocol

SPACING: Final = 960
MOST_KEPT: Final = 2048

State = Any
"""A motion's own state: immutable, opaque, exact. Keeping the object keeps every bit of the motion."""


class AbstractStepper(Protocol):
    """What an trajectory needs to go on."""

    def advance(self, state: State, steps: int) -> State:
        """The state `steps` steps later; `advance(advance(s, a), b)` and `advance(s, a + b)` have the same bits."""
        ...


class CheckpointedTrajectory:
    r"""The sequence \(s_0, s_1 = \Phi(s_0), s_2 = \Phi(s_1), \dots\) of one motion from one start.

    \(\Phi\) is deterministic, so it is enough to keep some of the states: \(s_k\) is computed again from the last kept
    one before it, with the same bits. When `MOST_KEPT` are kept, every second one goes and the spacing doubles: memory
    is bounded and the whole trajectory, back to its start, stays within reach.
    """

    def __init__(self, motion: AbstractStepper, start: State, *, spacing: int = SPACING, most_kept: int = MOST_KEPT):
        self.motion = motion
        self.start = start
        self._spacing = spacing
        self._most_kept = most_kept
        self._kept: dict[int, State] = {0: start}

    @property
    def kept(self) -> int:
        """How many states are held in memory."""
        return len(self._kept)

    def advance(self, index: int, state: State, steps: int) -> State:
        """The state with number index + steps, given the one with number index; remembers some on the way."""
        while steps > 0:
            stride = min(steps, self._spacing - index % self._spacing)
            state = self.motion.advance(state, stride)
            index += stride
            steps -= stride
            if index % self._spacing == 0:
                self._keep(index, state)
        return state

    def at(self, index: int) -> State:
        """The state with number `index`, exactly as it was or will be."""
        if index < 0:
            raise ValueError(f"An trajectory starts at 0, but state {index} was asked for.")
        nearest = index - index % self._spacing
        while nearest not in self._kept:  # not reached yet: start from the last one that was
            nearest -= self._spacing
        return self.advance(nearest, self._kept[nearest], index - nearest)

    def thin(self, most_kept: int) -> None:
        """Keep at most this many states, at the price of computing longer in `at`."""
        while len(self._kept) > most_kept:
            self._spacing *= 2
            self._kept = {index: state for index, state in self._kept.items() if index % self._spacing == 0}

    def _keep(self, index: int, state: State) -> None:
        self._kept[index] = state
        self.thin(self._most_kept)

"""What a lab is: one system, the numbers a user may turn, and how to draw and grasp it.

A new lab is one file in `studio/labs` with one final class, and one line in `studio/labs/__init__.py`. Everything else
(time, history, undo, frames, the page) is shared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from holonomy.studio import wire

Parameters = Mapping[str, float]
State = Any
"""A stepper's own state: immutable, opaque, exact. Keeping the object keeps every bit of the motion."""


class AbstractStepper(Protocol):
    """The part of `holonomy.motion.Stepper` that the studio uses."""

    def start(self, t: float, q: Float[np.ndarray, " n"], v: Float[np.ndarray, " n"]) -> State:
        """The state at time t with coordinates q and velocities v."""
        ...

    def advance(self, state: State, steps: int) -> State:
        """The state `steps` steps later; `advance(advance(s, a), b)` and `advance(s, a + b)` have the same bits."""
        ...

    def read(self, state: State) -> tuple[float, np.ndarray, np.ndarray, float]:
        """Time, coordinates, velocities and energy."""
        ...


class AbstractLab(ABC):
    """A system with its parameters, picture and energies.

    All methods but `stepper` are called at every picture and must be cheap; `stepper` may compile, the first time it is
    called.
    """

    @property
    @abstractmethod
    def view(self) -> wire.LabView:
        """What the page is told about the lab."""

    @abstractmethod
    def stepper(self, parameters: Parameters) -> AbstractStepper:
        """The motion under these parameters, in steps of `view.dt`. Must not compile again for other parameters."""

    @abstractmethod
    def start(self) -> tuple[float, Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Time, coordinates and velocities with which the lab opens."""

    @abstractmethod
    def position(self, q: Float[np.ndarray, " n"], parameters: Parameters) -> Float[np.ndarray, "points d"]:
        """The points to draw: the anchors, then the bodies."""

    @abstractmethod
    def energy(
        self, q: Float[np.ndarray, " n"], v: Float[np.ndarray, " n"], total: float, parameters: Parameters
    ) -> Float[np.ndarray, " kinds"]:
        """The energies of `view.energies`, in joules, given the total that the stepper computed."""

    @abstractmethod
    def dragged(
        self, q: Float[np.ndarray, " n"], body: int, target: Float[np.ndarray, " d"], parameters: Parameters
    ) -> Float[np.ndarray, " n"]:
        """Coordinates near q that bring the body to the target, or as near as it can go."""

    @abstractmethod
    def extent(self, parameters: Parameters) -> float:
        """Half the width of a square about the origin that holds every position."""

    @abstractmethod
    def radii(self, parameters: Parameters) -> tuple[float, ...]:
        """Radius of each body in the picture, as a fraction of the extent."""

    @property
    def defaults(self) -> dict[str, float]:
        """The parameters with which the lab opens."""
        return {parameter.name: parameter.default for parameter in self.view.parameters}

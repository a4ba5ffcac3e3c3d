"""How many steps the clock asks for, and how many there is time for."""

from __future__ import annotations

from typing import Final

TICK: Final = 1 / 60
"""Seconds between two pictures."""

_SHARE: Final = 0.7
"""Part of a tick that physics may take; the rest is for commands, frames and other users' threads."""
_LONGEST: Final = 4 * TICK
_MEMORY: Final = 0.1
_BEHIND: Final = 0.97
"""Part of the asked speed below which the user is warned; a single late tick is no news."""


class Clock:
    """Turns seconds of the clock into steps of the motion.

    When the steps that are due take longer than their share of a tick, only as many as fit are given, the rest is
    dropped rather than owed, and `behind` says so: the motion runs slower than asked, but the picture never freezes.
    """

    def __init__(self, dt: float):
        self.rate = 0.0
        self._dt = dt
        self._owed = 0.0
        self._cost = 0.0
        self._served = 1.0

    @property
    def behind(self) -> bool:
        """Whether the motion runs noticeably slower than asked."""
        return self._served < _BEHIND

    def follow(self, dt: float) -> None:
        """Steps have this length from now on."""
        if dt != self._dt:
            self._dt, self._owed, self._cost = dt, 0.0, 0.0

    def rest(self) -> None:
        """Time was held: nothing is owed."""
        self.rate = 0.0
        self._owed = 0.0
        self._served = 1.0

    def steps(self, elapsed: float, speed: float) -> int:
        """Steps to take now, `elapsed` seconds of the clock after the last call."""
        counted = min(elapsed, _LONGEST)
        self._owed += counted * speed / self._dt
        due = int(self._owed)
        fits = max(1, int(_SHARE * TICK / self._cost)) if self._cost > 0 else due
        steps = min(due, fits)
        asked = due + (elapsed - counted) * speed / self._dt
        self._owed = self._owed - steps if steps == due else 0.0
        self._served += _MEMORY * ((steps / asked if asked > 0 else 1.0) - self._served)
        self.rate = self._served * speed
        return steps

    def spent(self, steps: int, seconds: float) -> None:
        """Tell how long that many steps took."""
        if steps > 0:
            cost = seconds / steps
            self._cost += _MEMORY * (cost - self._cost) if self._cost else cost

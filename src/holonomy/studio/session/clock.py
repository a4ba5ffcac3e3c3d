"""How many steps are due by the wall clock, and how many can be computed in time."""

from __future__ import annotations

from typing import Final

TICK: Final = 1 / 60
"""Seconds between two frames."""

_SHARE: Final = 0.7
"""Part of a tick that the steps may take; the rest is for commands, frames and other users' threads."""
_LONGEST: Final = 4 * TICK
_MEMORY: Final = 0.1
_BEHIND: Final = 0.97
"""Part of the chosen speed below which the user is warned; a single late tick does not matter."""


class Clock:
    """Turns seconds of the clock into steps of the motion.

    When the steps that are due take longer than their share of a tick, only as many as fit are given, the rest is
    dropped, and `behind` says so: the motion runs slower than chosen, but frames keep coming.
    """

    def __init__(self, dt: float):
        self.rate = 0.0
        self._dt = dt
        self._owed = 0.0
        self._cost = 0.0
        self._served = 1.0

    @property
    def behind(self) -> bool:
        """Whether the motion runs noticeably slower than chosen."""
        return self._served < _BEHIND

    def follow(self, dt: float) -> None:
        """Steps have this length from now on."""
        if dt != self._dt:
            self._dt, self._owed, self._cost = dt, 0.0, 0.0

    def rest(self) -> None:
        """Time was paused: no steps are due."""
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

"""Walls: unilateral constraints as a motion meets them."""

from __future__ import annotations

from typing import Any

from holonomy.systems import System

SLACK = 4e-14  # of the size of positions: a gap this much below zero is zero


def count(system: System) -> int:
    """How many walls there are."""
    del system
    return 0


def touching(system: System, active: Any) -> System:
    """The system with these walls in contact."""
    del active
    return system


def gaps(system: System, t: Any, q: Any, v: Any) -> Any:
    """How far each wall is."""
    raise NotImplementedError


def pushes(system: System, t: Any, q: Any, v: Any) -> Any:
    """How each wall pushes."""
    raise NotImplementedError


def settle(*args: Any) -> Any:
    """What an impact does."""
    raise NotImplementedError

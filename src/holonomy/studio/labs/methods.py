"""The methods that labs offer, by the values of their choices, and what exported programs and scenes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from holonomy import method_table
from holonomy.method_table import MethodRow

if TYPE_CHECKING:
    from holonomy.studio.labs.base import AbstractLab
    from holonomy.studio.labs.settings import Settings

_ROWS: Final = {row.name: row for row in method_table.TABLE}
LIBRARY: Final[dict[str, tuple[MethodRow, dict[str, Any]]]] = {
    "rk4": (_ROWS["rk4"], {}),
    "gauss2": (_ROWS["gauss"], {"stages": 2}),
    "gauss3": (_ROWS["gauss"], {"stages": 3}),
    "rattle": (_ROWS["rattle"], {"order": 2}),
    "symplectic": (_ROWS["symplectic_euler"], {}),
    "euler": (_ROWS["euler"], {}),
}
"""Each method as a row of the library's table, with its options."""
AHEAD: Final = 10.0
"""Seconds that an exported motion goes on."""


def steps(lab: AbstractLab, settings: Settings) -> tuple[int, int]:
    """Steps per second, and steps per frame."""
    dt = lab.step(settings)
    return round(1 / dt), round(lab.frame_seconds / dt)

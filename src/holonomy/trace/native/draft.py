"""Long machine code runs at first without being optimised, and is optimised once that is worth its time.

LLVM takes seconds to optimise what a system of many terms needs, for code two or three times as fast, with the same
bits. A motion of a few steps is over before.
"""

from __future__ import annotations

import zlib
from typing import Final

from holonomy.trace.native import cache as disk
from holonomy.trace.native import machine

LONG: Final = 25_000
"""Lines of LLVM's text that take more than a second to optimise."""
_OPTIMISING: Final = 5e-5  # seconds a line, about
_STEP: Final = 2.5e-9  # seconds a line and step of code that is not optimised, about, until a step was timed
_SAVED: Final = 0.5  # of the time of a step, by optimising


class Draft:
    """What optimised code can be made from, and what running without it has cost.

    Running costs at most about twice what it would have, had the number of steps been known.
    """

    def __init__(self, text: str) -> None:
        self.object_file = machine.name(text)
        self.packed = zlib.compress(text.encode(), 1)
        self._lines = text.count("\n")
        self._seconds = 0.0
        self._steps = 0

    @property
    def text(self) -> str:
        """The text of LLVM."""
        return zlib.decompress(self.packed).decode()

    def ran(self, steps: int, seconds: float) -> None:
        """Count a call that took so many steps and seconds."""
        self._steps += steps
        self._seconds += seconds

    def is_due(self, steps: int) -> bool:
        """Whether so many steps more are worth optimising for."""
        each = self._seconds / self._steps if self._steps else _STEP * self._lines
        return _SAVED * (self._seconds + steps * each) > _OPTIMISING * self._lines


def begin(text: str) -> tuple[machine.Loaded, Draft | None]:
    """Code for LLVM's text and, where it is not optimised yet, the draft to make better code from.

    Long code that is not on disk is not optimised; loops over arrays always are.
    """
    if text.count("\n") < LONG or machine.has_loops_over_arrays(text):
        return machine.load(text), None
    draft = Draft(text)
    loaded = machine.load_kept(draft.object_file)
    if loaded is not None:
        return loaded, None
    loaded = machine.load(text, quick=True)
    disk.write(_text_of(draft.object_file), draft.packed)
    return loaded, draft


def kept(object_file: str) -> tuple[machine.Loaded, Draft | None] | None:
    """The same for code that an earlier process kept under this name, optimised or not; None where there is none."""
    loaded = machine.load_kept(object_file)
    if loaded is not None:
        return loaded, None
    packed = disk.read(_text_of(object_file))
    if packed is None:
        return None
    try:
        text = zlib.decompress(packed).decode()
    except (zlib.error, UnicodeDecodeError):
        return None
    return machine.load(text, quick=True), Draft(text)


def _text_of(object_file: str) -> str:
    """The name under which the text is kept from which this object file can be made."""
    return disk.key("text", object_file)

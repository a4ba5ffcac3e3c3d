"""One result of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Item:
    """A result under a title: formulas as pairs of sides in LaTeX, and sentences in plain text.

    `reduced` is a system in words of a scene that continues the result: its coordinates and their kinds, its
    Lagrangian, its parameters and its start; None where there is none that can be written so.
    """

    title: str
    text: str = ""
    formulas: tuple[tuple[str, str], ...] = ()
    reduced: dict[str, Any] | None = field(default=None, compare=False)

    @property
    def latex(self) -> str:
        """The formulas as one aligned display; empty without formulas."""
        if not self.formulas:
            return ""
        rows = " \\\\\n".join(f"{left} &= {right}" for left, right in self.formulas)
        return "\\begin{aligned}\n" + rows + "\n\\end{aligned}"

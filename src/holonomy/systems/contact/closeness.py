r"""When a gap counts as zero: one place for walls, free balls, bodies that collide and the curved lab.

There are two questions, each with one answer for all engines, in units of the size of what touches: of two balls the
sum of their radii, of other walls the size of positions.

- *Was this zero found?* A zero is located until the gap is its own rounding, `FOUND`.
- *Is this contact met together with another one?* Impacts at one instant act on each other, so that it matters which
  ones count as simultaneous: all whose gaps are at most `TOGETHER`. It stands far above what rounding leaves of gaps
  that are equal by symmetry, at starts that were typed with all digits and moved a while, and far below what a
  person would call apart.

Whether a start is inside a wall is a third question, about what a person typed: `constraints.tolerance.close`.
"""

from __future__ import annotations

from typing import Final

FOUND: Final = 4e-15
TOGETHER: Final = 1e-10


def of_squares(part: float) -> float:
    r"""The same limit for gaps of squares, \(d^2 - \rho^2\) in units of \(\rho^2\)."""
    return 2.0 * part

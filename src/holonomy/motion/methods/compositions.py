r"""Symmetric compositions of a symmetric method of order 2: steps \(\gamma_1 h, \dots, \gamma_s h\) in a row.

Order 4: Suzuki, 1990, five steps. Orders 6 and 8: Kahan and Li, *Composition constants for raising the orders of
unconventional schemes for ordinary differential equations*, 1997, nine and seventeen steps; the numbers are in Hairer,
Lubich and Wanner, *Geometric Numerical Integration*, V.3.2.
"""

from __future__ import annotations

_SUZUKI = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
_HALF_SIX = (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.082213596293550800230)
_HALF_EIGHT = (
    0.13020248308889008087881763,
    0.56116298177510838456196441,
    -0.38947496264484728640807860,
    0.15884190655515560089621075,
    -0.39590389413323757733623154,
    0.18453964097831570709183254,
    0.25837438768632204729397911,
    0.29501172360931029887096624,
)


def _symmetric(half: tuple[float, ...]) -> tuple[float, ...]:
    """The steps of which these are the first half; together they are one step."""
    return (*half, 1.0 - 2.0 * sum(half), *reversed(half))


COMPOSITIONS = {
    2: (1.0,),
    4: _symmetric((_SUZUKI, _SUZUKI)),
    6: _symmetric(_HALF_SIX),
    8: _symmetric(_HALF_EIGHT),
}

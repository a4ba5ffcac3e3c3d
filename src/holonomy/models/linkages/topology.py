r"""What is known of the shape of all configurations of a chain of n unit rods with its ends pinned at distance L.

The chain and its base are a polygon with sides 1, ..., 1, L. Its configurations form a smooth closed manifold of
dimension n - 2 unless some are straight, which needs \(L \in \{n, n-2, n-4, ...\}\). The Betti numbers follow from
counting short sets of sides (M. Farber and D. Schütz, *Homology of planar polygon spaces*, 2007): with \(a_k\) the
number of sets of k + 1 sides that contain a longest side and are shorter than the rest, and \(c_k\) those equally long
as the rest, \(b_k = a_k + c_k + a_{n-2-k}\).
"""

from __future__ import annotations

from math import comb

import numpy as np

_SAME = 1e-12  # lengths are compared up to rounding


def betti(rods: int, base: float) -> tuple[int, ...]:
    """The Betti numbers of the space of configurations, from dimension 0 to n - 2; all zero where it is empty."""
    short, median = np.zeros(rods - 1, int), np.zeros(rods - 1, int)
    for k in range(rods - 1):
        for count, length in _sets(rods, base, k):
            gap = rods + base - 2.0 * length
            short[k] += count if gap > _SAME else 0
            median[k] += count if abs(gap) <= _SAME else 0
    return tuple(int(b) for b in short + median + short[::-1])


def _sets(rods: int, base: float, k: int) -> list[tuple[int, float]]:
    """How many sets of k + 1 sides contain one chosen longest side, and how long they are."""
    if base >= 1.0:
        return [(comb(rods, k), base + k)]
    with_base = [(comb(rods - 1, k - 1), k + base)] if k else []
    return [(comb(rods - 1, k), 1.0 + k), *with_base]


def straight(rods: int, base: float) -> int:
    """How many configurations lie on one line: the singular points."""
    back = (rods - base) / 2.0
    whole = round(back)
    return comb(rods, whole) if abs(back - whole) <= _SAME and 0 <= whole <= rods else 0


def describe(rods: int, base: float) -> str:
    """The space of configurations in a sentence."""
    if base > rods:
        return f"empty: {rods} unit rods do not reach from 0 to {base:g}"
    if abs(base - rods) <= _SAME:
        return "a single point: the rods lie stretched on the base and nothing can move"
    numbers = betti(rods, base)
    said = f"Betti numbers {', '.join(map(str, numbers))}"
    corners = straight(rods, base)
    if corners:
        return f"not a manifold: at {corners} straight configurations it crosses itself ({said})"
    if rods - 2 < base:
        return f"a sphere of dimension {rods - 2}"
    if rods == 3:
        return "two separate circles"
    if rods == 4:
        return f"a closed orientable surface of genus {numbers[1] // 2} ({said})"
    return f"a smooth closed manifold of dimension {rods - 2}, not a sphere ({said})"

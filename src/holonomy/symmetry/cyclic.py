"""Cyclic coordinates, read from the trace of the system's functions."""

from __future__ import annotations

from holonomy.symmetry.dependence import depends_on
from holonomy.systems import System


def cyclic(system: System) -> tuple[str, ...]:
    r"""The names of the cyclic coordinates: \(\partial L/\partial q_i = 0\) everywhere, so that \(p_i\) is conserved.

    Exact, without a sample of numbers: a coordinate is cyclic if the traced Lagrangian does not contain it, or if its
    derivative by it vanishes as a polynomial in the coordinates and their functions, sums of squares of sine and cosine
    replaced, and no comparison, rounding, table or loop is decided by it. No force and no constraint may act along it
    either; they may depend on it (`holonomy.symmetry.dependence.depends_on` tells). A Lagrangian that has no form as
    one expression (a loop whose length depends on data) counts as containing all coordinates that are connected to its
    value, and a point of a curved space has none.
    """
    if not system.flat:
        return ()
    lagrangian, *others = depends_on(system)
    blocked = lagrangian.positions.union(*[one.acts for one in others])
    return tuple(name for i, name in enumerate(system.names) if i not in blocked)

"""Explicit Runge–Kutta methods, each a tableau: for interactive use, teaching and comparison."""

from __future__ import annotations

from holonomy.motion.methods.runge_kutta import AbstractTableauMethod, Tableau


class RK4(AbstractTableauMethod):
    """The classical Runge–Kutta method on (q, v). Order 4, not symplectic, not reversible."""

    tableau = Tableau(a=((), (1 / 2,), (0, 1 / 2), (0, 0, 1)), b=(1 / 6, 1 / 3, 1 / 3, 1 / 6), order=4)


class Euler(AbstractTableauMethod):
    """Euler's explicit method on (q, v). Order 1; the energy grows without bound, so it is for comparison only."""

    tableau = Tableau(a=((),), b=(1,), order=1)

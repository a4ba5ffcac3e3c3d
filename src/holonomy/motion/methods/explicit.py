"""Explicit Runge–Kutta methods: for interactive use, teaching and comparison."""

from __future__ import annotations

from typing import Any

from holonomy.motion.methods.runge_kutta import AbstractRungeKutta


class RK4(AbstractRungeKutta):
    """The classical Runge–Kutta method on (q, v). Order 4, not symplectic, not reversible."""

    @property
    def order(self) -> int:
        return 4

    def advance(self, slope: Any, t: Any, h: Any, y: Any, w: Any) -> tuple[Any, Any]:
        a1 = slope(t, y, w)
        w2 = w + 0.5 * h * a1
        a2 = slope(t + 0.5 * h, y + 0.5 * h * w, w2)
        w3 = w + 0.5 * h * a2
        a3 = slope(t + 0.5 * h, y + 0.5 * h * w2, w3)
        w4 = w + h * a3
        a4 = slope(t + h, y + h * w3, w4)
        return y + h / 6.0 * (w + 2.0 * w2 + 2.0 * w3 + w4), w + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)


class Euler(AbstractRungeKutta):
    """Euler's explicit method on (q, v). Order 1; its energy explodes, which is what it is here to show."""

    @property
    def order(self) -> int:
        return 1

    def advance(self, slope: Any, t: Any, h: Any, y: Any, w: Any) -> tuple[Any, Any]:
        return y + h * w, w + h * slope(t, y, w)

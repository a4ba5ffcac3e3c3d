r"""Lagrange's equations of a traced Lagrangian as polynomials (see `polynomial`).

For \(L(t,q,v)\): momenta \(p = \partial L/\partial v\), masses \(M = \partial p/\partial v\), and
\(f = \partial L/\partial q - \partial_t p - (\partial p/\partial q)\,v\), so that \(M a = f + Q\).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .polynomial import Poly, Ring
from .scalar import Flat, scalarise


class Variables:
    """A ring with leaves for the time, coordinates and velocities of a system with n degrees of freedom."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.ring = Ring()
        self.t = self.ring.leaf(("t", 0))
        self.q = [self.ring.leaf(("q", i)) for i in range(n)]
        self.v = [self.ring.leaf(("v", i)) for i in range(n)]

    def example(self, *, velocity: bool) -> tuple[Any, ...]:
        """Arguments (t, q, v) or (t, q) of the right shapes."""
        return (np.float64(0.0), *[np.zeros(self.n)] * (2 if velocity else 1))

    def read(self, flat: Flat, names: Sequence[str], *, velocity: bool, number: Callable[[int], Poly]) -> list[list[Poly]]:
        """The results of a function of (t, q[, v], parameters), argument by argument; `number(e)` is a hoisted number."""
        leaves = ["t", "q", *(["v"] if velocity else []), *[("parameter", name) for name in names]]

        def leaf(k: int, e: int) -> Poly:
            return number(e) if k == len(leaves) else self.ring.leaf((leaves[k], e))

        return [self.ring.read(out.nodes, leaf) for out in flat.outputs]

    def trace(self, function: Callable[..., Any], parameters: Sequence[Any], *, velocity: bool) -> Flat:
        """A function of (t, q[, v], *parameters) as scalar operations."""
        return scalarise(function, (*self.example(velocity=velocity), *parameters))


class Lagrange:
    """The derivatives of one Lagrangian."""

    def __init__(self, variables: Variables, lagrangian: Poly) -> None:
        self.variables = variables
        self.lagrangian = lagrangian
        ring = variables.ring
        self.momenta = [ring.slope(lagrangian, v) for v in variables.v]
        self.mass = [[ring.contract(ring.slope(p, v)) for v in variables.v] for p in self.momenta]
        self.inertial = [ring.contract(self._inertial(i)) for i in range(variables.n)]

    def _inertial(self, i: int) -> Poly:
        ring, at = self.variables.ring, self.variables
        total = ring.slope(self.lagrangian, at.q[i]) - ring.slope(self.momenta[i], at.t)
        for q, v in zip(at.q, at.v, strict=True):
            total = total - ring.slope(self.momenta[i], q) * v
        return total

r"""Lagrange's equations of a traced Lagrangian as polynomials (see `polynomial`).

For \(L(t,q,v)\): momenta \(p = \partial L/\partial v\), masses \(M = \partial p/\partial v\), and
\(f = \partial L/\partial q - \partial_t p - (\partial p/\partial q)\,v\), so that \(M a = f + Q\).
"""

from __future__ import annotations

from holonomy.trace.symbolic.angles import contract
from holonomy.trace.symbolic.polynomial import Poly, Ring


class Variables:
    """A ring with leaves for the time, coordinates and velocities of a system with n degrees of freedom.

    With `keep`, sums of functions of time and coordinates stay whole as factors (see `Ring`); sums with velocities are
    multiplied out all the same, since that is where terms cancel.
    """

    def __init__(self, n: int, *, keep: bool = False) -> None:
        self.n = n
        self.ring = Ring(self._closed) if keep else Ring()
        self.t = self.ring.leaf(("t", 0))
        self.q = [self.ring.leaf(("q", i)) for i in range(n)]
        self.v = [self.ring.leaf(("v", i)) for i in range(n)]

    def _closed(self, p: Poly) -> bool:
        kinds = {self.ring.atoms[i].data[0] for i in p.leaves if self.ring.atoms[i].op == "leaf"}
        return bool(kinds & {"t", "q"}) and "v" not in kinds


class Lagrange:
    """The derivatives of one Lagrangian."""

    def __init__(self, variables: Variables, lagrangian: Poly) -> None:
        self.variables = variables
        self.lagrangian = lagrangian
        ring = variables.ring
        self.momenta = [ring.slope(lagrangian, v) for v in variables.v]
        self.mass = [[contract(ring.slope(p, v)) for v in variables.v] for p in self.momenta]
        self.inertial = [contract(self._inertial(i)) for i in range(variables.n)]

    def _inertial(self, i: int) -> Poly:
        ring, at = self.variables.ring, self.variables
        total = ring.slope(self.lagrangian, at.q[i]) - ring.slope(self.momenta[i], at.t)
        for q, v in zip(at.q, at.v, strict=True):
            total = total - ring.slope(self.momenta[i], q) * v
        return total

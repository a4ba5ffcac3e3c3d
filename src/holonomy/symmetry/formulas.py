r"""What the functions of a system say of a symmetry as formulas: decided, or not seen, never looked at in numbers.

All functions are polynomials in the same variables (`trace.symbolic`), parameters at their present values. Along a
generator \(\xi(t, q)\) positions move at the rate \(\xi\) and velocities at
\(\dot\xi = \partial_t\xi + (\partial_q\xi)v\).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from holonomy.symmetry.dependence import TracedFunction, functions
from holonomy.systems import System
from holonomy.trace.function import Function
from holonomy.trace.graph.dag import reachable
from holonomy.trace.lowering.scalarise import Flat, scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.lagrange import Variables
from holonomy.trace.symbolic.polynomial import Poly
from holonomy.trace.symbolic.unchanged import Reading, vanishes

_LONGEST: Final = 1500  # operations of a function that is taken as polynomials
_JUMPS: Final = frozenset(["sign", "select"])  # what a continuous function need not contain
_KINKS: Final = frozenset(["abs", "max", "min"])  # and what a smooth one does not contain besides

Rates = dict[int, Poly]


class Formulas:
    """The functions of a system as polynomials.

    Each question has the answer True where the formulas show it, and False where they do not, which says nothing.
    """

    def __init__(self, system: System) -> None:
        self.at = Variables(system.space.point_dim)
        self.of: dict[str, list[TracedFunction]] = {}
        for kind, _, function in functions(system):
            read = TracedFunction(system, function, kind not in ("holonomic", "wall"), self.at, values=True)
            self.of.setdefault(kind, []).append(read)

    @property
    def flats(self) -> list[tuple[Flat, int]]:
        """Those functions that are single expressions, each with the number of its arguments t, q, v."""
        every = [one for each in self.of.values() for one in each]
        return [(one.flat, len(one.sizes)) for one in every if one.flat is not None]

    @cached_property
    def expressions(self) -> bool:
        """Whether all functions are single expressions, without loops whose length depends on data."""
        return all(one.flat is not None for each in self.of.values() for one in each)

    @cached_property
    def readable(self) -> bool:
        """Whether all functions are expressions that are short enough."""
        every = [one for each in self.of.values() for one in each]
        return all(
            one.flat is not None and len(reachable(one.flat.outputs[0].nodes)) <= _LONGEST and one.reading is not None
            for one in every
        )

    # ── along a generator ─────────────────────────────────────────────────────────────────────────
    def rates(self, field: Function) -> Rates | None:
        """The rates of positions and velocities along a generator; None where it is no smooth expression."""
        flat = flat_field(field, self.at.n)
        if flat is None or len(reachable(flat.outputs[0].nodes)) > _LONGEST:
            return None
        arguments = [[self.at.t], self.at.q]

        def leaf(k: int, e: int) -> Poly:
            return arguments[k][e] if k < 2 else self.at.ring.number(flat.numbers[e])

        try:
            reading = Reading(self.at.ring, flat.outputs[0].nodes, leaf)
        except Unsupported:
            return None
        if any(not self._smooth(p, reading.behind) for p in reading.outputs):
            return None
        ring, found = self.at.ring, dict[int, Poly]()
        for i, xi in enumerate(reading.outputs):
            rate = ring.slope(xi, self.at.t)
            for q, v in zip(self.at.q, self.at.v, strict=True):
                rate = rate + ring.slope(xi, q) * v
            for variable, of in ((self.at.q[i], xi), (self.at.v[i], rate)):
                if of:
                    found[_number(variable)] = of
        return found

    def invariant(self, rates: Rates) -> bool:
        """Whether the Lagrangian does not change along the rates."""
        return self._unchanged("lagrangian", rates)

    def changes_by_total(self, rates: Rates) -> bool:
        """Whether the Lagrangian changes along the rates by dF/dt for a function F(t, q): by b + a·v with b dt + a dq
        closed.
        """
        (one,) = self.of["lagrangian"]
        reading, ring, at = one.reading, self.at.ring, self.at
        assert reading is not None
        p = reading.outputs[0]
        steps = reading.leaves(p) & reading.behind.keys()
        if not all(vanishes(reading.rate(a, rates)) for i in steps for a in reading.behind[i]):
            return False
        change = reading.rate(p, rates)
        if not self._smooth(change, reading.behind):
            return False
        a = [ring.slope(change, v) for v in at.v]
        if not all(vanishes(ring.slope(one, v)) for one in a for v in at.v):
            return False
        b = change
        for one, v in zip(a, at.v, strict=True):
            b = b - one * v
        closed = [ring.slope(a[i], at.q[j]) - ring.slope(a[j], at.q[i]) for i in range(at.n) for j in range(i)]
        closed += [ring.slope(one, at.t) - ring.slope(b, q) for one, q in zip(a, at.q, strict=True)]
        return all(map(vanishes, closed))

    def free_along(self, rates: Rates) -> bool:
        """Whether no force does work along a generator and no condition restricts it, walls and friction included."""
        ring = self.at.ring
        xi = [rates.get(_number(q), ring.zero) for q in self.at.q]
        forces = all(vanishes(_dot(self._outputs(one), xi)) for one in self.of.get("force", []))
        places = {_number(q): x for q, x in zip(self.at.q, xi, strict=True) if x}
        held = all(self._unchanged(kind, places) for kind in ("holonomic", "wall"))
        shifts = {_number(v): x for v, x in zip(self.at.v, xi, strict=True) if x}
        return forces and held and all(self._unchanged(kind, shifts) for kind in ("velocity", "ratchet", "slip"))

    def steady_momenta(self) -> bool:
        """Whether no momentum can jump: none contains a step that a motion can cross."""
        (one,) = self.of["lagrangian"]
        assert one.reading is not None
        slopes = [self.at.ring.slope(self._outputs(one)[0], v) for v in self.at.v]
        return all(self._smooth(p, one.reading.behind, _JUMPS) for p in slopes)

    # ── in time ───────────────────────────────────────────────────────────────────────────────────
    def timeless(self) -> bool:
        """Whether the Lagrangian does not depend on the time, and contains no step that a motion can cross."""
        (one,) = self.of["lagrangian"]
        assert one.reading is not None
        steady = self._smooth(self._outputs(one)[0], one.reading.behind, _JUMPS) and self.steady_momenta()
        return steady and self._unchanged("lagrangian", {_number(self.at.t): self.at.ring.one})

    def powerless(self) -> bool:
        """Whether forces have no power, and constraints and walls do not move."""
        forces = all(vanishes(_dot(self._outputs(one), self.at.v)) for one in self.of.get("force", []))
        time = {_number(self.at.t): self.at.ring.one}
        held = all(self._unchanged(kind, time) for kind in ("holonomic", "wall"))
        # affine in v: without a part of degree zero it is linear, and what is allowed does no work
        return (
            forces and held and all(self._linear(one) for k in ("velocity", "ratchet", "slip") for one in self._all(k))
        )

    def constant_masses(self) -> bool:
        """Whether the mass matrix is the same everywhere."""
        (one,) = self.of["lagrangian"]
        reading, moving = one.reading, {_number(x) for x in (self.at.t, *self.at.q, *self.at.v)}
        assert reading is not None
        slopes = [self.at.ring.slope(reading.outputs[0], v) for v in self.at.v]
        masses = [self.at.ring.slope(p, v) for p in slopes for v in self.at.v]
        return not any(reading.leaves(m) & moving for m in masses)

    def degrees(self, kinetic: bool = False) -> frozenset[int]:
        """The degrees in v of the terms of the Lagrangian, or of the kinetic energy; -1 for what is no power of v."""
        (one,) = self.of["lagrangian"]
        if kinetic:
            system = one.system
            assert system.kinetic is not None
            one = TracedFunction(system, system.kinetic, True, self.at, values=True)
            if one.reading is None:
                return frozenset([-1])
        velocities, found = {_number(v) for v in self.at.v}, set[int]()
        reading = one.reading
        assert reading is not None
        for monomial in self._outputs(one)[0].terms:
            degree = 0
            for i, e in monomial:
                if i in velocities and isinstance(e, int) and e > 0:
                    degree += e
                elif reading.leaves(Poly(self.at.ring, {((i, 1),): Fraction(1)})) & velocities:
                    degree = -1
                    break
            found.add(degree)
        return frozenset(found)

    # ── ───────────────────────────────────────────────────────────────────────────────────────────
    def _all(self, kind: str) -> list[TracedFunction]:
        return self.of.get(kind, [])

    def _outputs(self, one: TracedFunction) -> list[Poly]:
        assert one.reading is not None
        return one.reading.outputs

    def _unchanged(self, kind: str, rates: Mapping[int, Poly]) -> bool:
        return all(
            one.reading is not None and one.reading.unchanged(p, rates)
            for one in self._all(kind)
            for p in self._outputs(one)
        )

    def _linear(self, one: TracedFunction) -> bool:
        """Whether a function that is affine in v vanishes where v does."""
        assert one.flat is not None
        reading = one.reading
        assert reading is not None
        for p in reading.outputs:
            rest = p
            for v in self.at.v:
                rest = rest - self.at.ring.slope(p, v) * v
            if not vanishes(rest):
                return False
        return True

    def _smooth(
        self, p: Poly, behind: Mapping[int, tuple[Poly, ...]], without: frozenset[str] = _JUMPS | _KINKS
    ) -> bool:
        """Whether p contains no step that depends on anything, and none of these operations."""
        atoms, pending, seen = self.at.ring.atoms, [i for m in p.terms for i, _ in m], set[int]()
        while pending:
            i = pending.pop()
            if i in seen:
                continue
            seen.add(i)
            if atoms[i].op in without or any(a.leaves for a in behind.get(i, ())):
                return False
            pending += [j for a in atoms[i].args for m in a.terms for j, _ in m]
        return True


def flat_field(field: Function, n: int) -> Flat | None:
    """A generator as one expression, or None where it is none."""
    try:
        return scalarise(lambda t, q: field(t, q), (np.float64(0.0), np.zeros(n)))
    except Unsupported:
        return None


def _number(variable: Poly) -> int:
    (i,) = variable.leaves
    return i


def _dot(a: list[Poly], b: list[Poly]) -> Poly:
    total = a[0].ring.zero
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total

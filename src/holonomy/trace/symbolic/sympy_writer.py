"""Polynomials over a traced function's atoms as SymPy expressions, arranged as a textbook prints them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import sympy as sp

from holonomy.trace.graph.operations import named
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.polynomial import ONE, Atom, Monomial, Poly, Ring

_LARGEST_FACTORED: Final = 8  # terms; longer sums are not factored

_SYMPY: Final[dict[str, Callable[..., Any]]] = {
    **{op: getattr(sp, name) for op, name in named("sympy").items()},
    "cbrt": lambda a: sp.real_root(a, 3),
    "select": lambda c, a, b: sp.Piecewise((a, c), (b, True)),
    "true": lambda: sp.true,
    "false": lambda: sp.false,
}


class Writer:
    """Writes polynomials of one ring.

    `leaf(data)` is the SymPy expression of a leaf; `moving` are the numbers of leaves that change along a motion (time,
    coordinates, velocities), so that the rest are parameters; `rates` ranks those among them that are printed as heads
    of terms (velocities, accelerations), highest first.
    """

    def __init__(self, ring: Ring, leaf: Callable[[Any], Any], moving: frozenset[int], rates: dict[int, int]):
        self.ring = ring
        self._leaf = leaf
        self._moving = moving
        self._rates = rates
        self._atoms: dict[int, Any] = {}

    # ── plain ─────────────────────────────────────────────────────────────────────────────────────
    def atom(self, index: int) -> Any:
        """An atom."""
        found = self._atoms.get(index)
        if found is None:
            found = self._atoms[index] = self._new(self.ring.atoms[index])
        return found

    def _new(self, atom: Atom) -> Any:
        if atom.op == "leaf":
            return self._leaf(atom.data)
        if atom.op == "number":
            return sp.Float(atom.data)
        if atom.op == "base":
            return self.expression(atom.args[0])
        if atom.op not in _SYMPY:
            raise Unsupported(f"The operation '{atom.op}' has no form in SymPy.")
        return _SYMPY[atom.op](*[self.expression(a) for a in atom.args])

    def factors(self, c: Fraction, m: Monomial) -> list[Any]:
        """The factors of c·m."""
        number = [] if c == 1 else [sp.Rational(c.numerator, c.denominator)]
        return number + [sp.Pow(self.atom(i), sp.Rational(e)) if e != 1 else self.atom(i) for i, e in m]

    def expression(self, p: Poly) -> Any:
        """A polynomial, arranged."""
        if len(p) == 1:
            ((m, c),) = p.terms.items()
            if c == 1 and len(m) == 1 and m[0][1] == 1:
                return self.atom(m[0][0])  # alone, because a condition is no number that could be summed
        return sp.Add(*self.terms(p))

    # ── arranged ──────────────────────────────────────────────────────────────────────────────────
    def terms(self, p: Poly) -> list[Any]:
        """The terms of a polynomial in the order to print them.

        Accelerations first, then velocities, each with one coefficient; then what has neither, by functions of the
        coordinates.
        """
        parts = p.split(lambda a: a.index in self._rates)
        rest = parts.pop(ONE, None)
        ordered = sorted(parts.items(), key=self._order)
        written = [sp.Mul(*self._coefficient(q), *self.factors(Fraction(1), m)) for m, q in ordered]
        return written + (self._spread(rest) if rest is not None else [])

    def _order(self, item: tuple[Monomial, Poly]) -> Any:
        monomial = item[0]
        ranks = sorted((self._rates[i] for i, _ in monomial), reverse=True)
        return [-max(ranks), -sum(e for _, e in monomial), [i for i, _ in monomial]]

    def _coefficient(self, p: Poly) -> list[Any]:
        """The factors of a coefficient: what all terms share in front of the sum of what they do not."""
        c, m = p.common()
        rest = self.ring.divided(p, c, m)
        if rest.constant == 1:
            return self.factors(c, m)
        if self._moving.isdisjoint(rest.leaves):
            return [*self.factors(c, m), sp.Add(*[sp.Mul(*self.factors(d, n)) for n, d in rest.terms.items()])]
        return [*self.factors(c, m), sp.Add(*self._spread(rest))]

    def _spread(self, p: Poly) -> list[Any]:
        """Terms by their part that moves, the parameters collected in front of it."""
        parts = p.split(lambda a: not self._moving.isdisjoint(a.leaves))
        plain = {m: q for m, q in parts.items() if all(self.ring.atoms[i].op == "leaf" for i, _ in m)}
        together = self._factored(plain)
        if together is not None:
            parts = {m: q for m, q in parts.items() if m not in plain}
        written = [sp.Mul(*self._coefficient(q), *self.factors(Fraction(1), m)) for m, q in sorted(parts.items())]
        return written + (together or [])

    def _factored(self, parts: dict[Monomial, Poly]) -> list[Any] | None:
        """Polynomial terms as products, such as k(r - l)²/2, where that is shorter."""
        whole = self.ring.zero
        for m, q in parts.items():
            whole = whole + q * Poly(self.ring, {m: Fraction(1)})
        numbers = any(self.ring.atoms[i].op == "number" for i in whole.leaves)
        if not 2 <= len(whole) <= _LARGEST_FACTORED or numbers or not parts.keys() - {ONE}:
            return None
        written: list[Any] = []
        for cluster in _clusters(whole):
            terms = [sp.Mul(*self.factors(c, m)) for m, c in sorted(cluster.items())]
            product = sp.factor(sp.Add(*terms)) if len(terms) > 1 else terms[0]
            written += (
                [product] if not product.is_Add and sp.count_ops(product) <= sp.count_ops(sp.Add(*terms)) else terms
            )
        return written


def _clusters(p: Poly) -> list[dict[Monomial, Fraction]]:
    """The terms of a polynomial, those together that share an atom, directly or through others."""
    groups: list[tuple[set[int], dict[Monomial, Fraction]]] = []
    for m, c in sorted(p.terms.items()):
        names, terms = {i for i, _ in m}, {m: c}
        apart = []
        for other, held in groups:
            if names.isdisjoint(other):
                apart.append((other, held))
            else:
                names, terms = names | other, {**held, **terms}
        groups = [*apart, (names, terms)]
    return [terms for _, terms in groups]

"""The addition theorems of sine and cosine on polynomials."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from holonomy.trace.symbolic.polynomial import Monomial, Poly, Ring


def contract(p: Poly) -> Poly:
    """p with sin² + cos² = 1 and the addition theorems applied wherever two terms become one."""
    ring = p.ring
    while True:
        terms = dict(p.terms)
        added = ring.zero
        for (rest, a, b), found in _pairs(ring, terms).items():
            for one, other, make in _THEOREMS:
                if one in found and other in found:
                    m, n = found[one], found[other]
                    if m not in terms or n not in terms or abs(terms[m]) != abs(terms[n]):
                        continue
                    made = make(ring, ring.atoms[a].args[0], ring.atoms[b].args[0], terms[m] == terms[n], a == b)
                    if made is not None:
                        added = added + Poly(ring, {rest: terms.pop(m)}) * made
                        del terms[n]
        if not added:
            return p
        p = Poly(ring, terms) + added


def sines(p: Poly) -> Poly:
    """p with 1 - cos² written as sin²."""
    ring = p.ring
    terms = dict(p.terms)
    added = ring.zero
    for m in list(terms):
        for i, e in m:
            if ring.atoms[i].op == "cos" and e == 2:
                rest = tuple([f for f in m if f[0] != i])
                if m in terms and rest in terms and terms[rest] == -terms[m]:
                    square = ring.power(ring.apply("sin", *ring.atoms[i].args), 2)
                    added = added + Poly(ring, {rest: terms.pop(rest)}) * square
                    del terms[m]
    return Poly(ring, terms) + added


def _pairs(ring: Ring, terms: dict[Monomial, Fraction]) -> dict[tuple[Monomial, int, int], dict[str, Monomial]]:
    """Terms by what remains without two sines or cosines: (rest, angle, angle) -> {"cs": monomial, …}."""
    found: dict[tuple[Monomial, int, int], dict[str, Monomial]] = {}
    for m in terms:
        factors = [(i, e) for i, e in m if ring.atoms[i].op in ("sin", "cos") and isinstance(e, int) and e > 0]
        for x, (i, e) in enumerate(factors):
            for j, _ in factors[x:] if e > 1 else factors[x + 1 :]:
                rest = ring.merge(ring.merge(m, ((i, -1),))[0], ((j, -1),))[0]
                a, b = sorted([(_angle(ring, i), ring.atoms[i].op[0]), (_angle(ring, j), ring.atoms[j].op[0])])
                if a[0] != b[0] or a[1] == b[1]:
                    found.setdefault((rest, a[0], b[0]), {})[a[1] + b[1]] = m
    return found


def _angle(ring: Ring, i: int) -> int:
    """A number that sin P and cos P share."""
    return next(iter(ring.atom("sin", ring.atoms[i].args).terms))[0][0]


def _cosine(ring: Ring, a: Poly, b: Poly, equal: bool, same: bool) -> Poly | None:
    """cos a cos b ± sin a sin b."""
    if same:
        return ring.one if equal else None
    return ring.apply("cos", a - b if equal else a + b)


def _sine(ring: Ring, a: Poly, b: Poly, equal: bool, same: bool) -> Poly | None:
    """sin a cos b ± cos a sin b."""
    return None if same else ring.apply("sin", a + b if equal else a - b)


_THEOREMS: Final = (("cc", "ss", _cosine), ("sc", "cs", _sine))

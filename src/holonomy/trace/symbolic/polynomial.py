r"""Expressions as sums of monomials: the form in which equal terms meet and cancel.

A *polynomial* here is a finite sum \(\sum_k c_k \prod_j a_j^{e_j}\) with rational coefficients, rational exponents and
*atoms* \(a_j\): arguments of a traced function, numbers, and functions such as \(\sin P\) of other polynomials.  A sum
under a root or in a denominator is an atom too (`base`).  Two expressions that agree after multiplying out have one
form; `angles.contract` adds the addition theorems of sine and cosine.  Derivatives are exact and stay in the form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from holonomy.trace.graph.dag import Node, reachable
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.functions import BUILD, FUNCTIONS, SLOPES

Exponent = int | Fraction
Monomial = tuple[tuple[int, Exponent], ...]

ONE: Final[Monomial] = ()
_LARGEST_PRODUCT: Final = 20_000  # terms of a product beyond which its factors are kept as they are
_LARGEST_POWER: Final = 400  # the same for a power
_DENOMINATORS: Final = frozenset({1, 2, 3, 4, 6, 8, 12, 16})


class Atom:
    """A factor that is not taken apart: `op` of polynomials `args`, or a leaf with `data`."""

    __slots__ = ("args", "data", "index", "leaves", "op")

    def __init__(self, op: str, args: tuple[Poly, ...], data: Any, index: int):
        self.op = op
        self.args = args
        self.data = data
        self.index = index
        self.leaves: frozenset[int] = frozenset([index]) if not args else frozenset().union(*[a.leaves for a in args])


class Poly:
    """A sum of monomials in the atoms of one ring; a value, never changed."""

    __slots__ = ("_key", "_leaves", "ring", "terms")

    def __init__(self, ring: Ring, terms: dict[Monomial, Fraction]):
        self.ring = ring
        self.terms = terms
        self._key: Any = None
        self._leaves: Any = None

    @property
    def key(self) -> Any:
        """Equal for equal polynomials."""
        if self._key is None:
            self._key = frozenset(self.terms.items())
        return self._key

    @property
    def leaves(self) -> frozenset[int]:
        """Numbers of the leaf atoms that occur in it, at any depth."""
        if self._leaves is None:
            atoms = self.ring.atoms
            self._leaves = frozenset().union(*[atoms[i].leaves for m in self.terms for i, _ in m])
        return self._leaves

    @property
    def constant(self) -> Fraction | None:
        """Its value where it is a rational number."""
        if not self.terms:
            return Fraction(0)
        return self.terms.get(ONE) if len(self.terms) == 1 else None

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __len__(self) -> int:
        return len(self.terms)

    def __add__(self, other: Poly) -> Poly:
        small, large = sorted((self.terms, other.terms), key=len)
        total = dict(large)
        for m, c in small.items():
            new = total.get(m, 0) + c
            if new:
                total[m] = new
            else:
                del total[m]
        return Poly(self.ring, total)

    def __neg__(self) -> Poly:
        return Poly(self.ring, {m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + (-other)

    def __mul__(self, other: Poly) -> Poly:
        return self.ring.product(self, other)

    def scaled(self, factor: Fraction | int) -> Poly:
        """`factor` times the polynomial."""
        return Poly(self.ring, {m: c * factor for m, c in self.terms.items()} if factor else {})

    def split(self, chosen: Callable[[Atom], bool]) -> dict[Monomial, Poly]:
        """The polynomial as a sum of (monomial in chosen atoms) × (polynomial without them)."""
        atoms = self.ring.atoms
        parts: dict[Monomial, dict[Monomial, Fraction]] = {}
        for m, c in self.terms.items():
            head = tuple([f for f in m if chosen(atoms[f[0]])])
            rest = tuple([f for f in m if not chosen(atoms[f[0]])])
            parts.setdefault(head, {})[rest] = c
        return {head: Poly(self.ring, terms) for head, terms in parts.items()}

    def common(self) -> tuple[Fraction, Monomial]:
        """The largest rational number (with the sign of most terms) and monomial that divide every term."""
        if not self.terms:
            return Fraction(1), ONE
        monomials = iter(self.terms)
        least = dict(next(monomials))
        for m in monomials:
            here = dict(m)
            least = {i: min(e, here[i]) for i, e in least.items() if i in here and (e > 0) == (here[i] > 0)}
        coefficients = list(self.terms.values())
        content = abs(coefficients[0])
        for c in coefficients[1:]:
            content = Fraction(math.gcd(content.numerator, c.numerator), math.lcm(content.denominator, c.denominator))
        positive = sum(1 if c > 0 else -1 for c in coefficients) or self.terms[min(self.terms)]
        return (content if positive > 0 else -content), tuple(sorted(least.items()))


class Ring:
    """The atoms that polynomials share, and how to build with them.

    Sums that are `closed` are not multiplied out: where q is near a, (q - a)⁶ is exact to round-off and its six terms
    together are not.
    """

    def __init__(self, closed: Callable[[Poly], bool] = lambda _: False) -> None:
        self._closed = closed
        self.atoms: list[Atom] = []
        self._table: dict[Any, int] = {}
        self._slopes: dict[tuple[int, int], Poly] = {}
        self.zero = Poly(self, {})
        self.one = Poly(self, {ONE: Fraction(1)})

    # ── building ──────────────────────────────────────────────────────────────────────────────────
    def atom(self, op: str, args: tuple[Poly, ...] = (), data: Any = None) -> Poly:
        """The atom as a polynomial; the same one for the same operation, arguments and data."""
        key = (op, data, *[a.key for a in args])
        index = self._table.get(key)
        if index is None:
            index = self._table[key] = len(self.atoms)
            self.atoms.append(Atom(op, args, data, index))
        return Poly(self, {((index, 1),): Fraction(1)})

    def leaf(self, data: Any) -> Poly:
        """A variable named by `data`."""
        return self.atom("leaf", (), data)

    def number(self, value: float | int | Fraction) -> Poly:
        """A number: exact where it is a fraction with a small denominator, else a leaf that carries it."""
        if isinstance(value, float):
            near = Fraction(value).limit_denominator(max(_DENOMINATORS)) if math.isfinite(value) else Fraction(0)
            if float(near) != value or near.denominator not in _DENOMINATORS:
                return self.atom("number", (), value)
            value = near
        return Poly(self, {ONE: Fraction(value)} if value else {})

    def product(self, a: Poly, b: Poly) -> Poly:
        """a·b, multiplied out unless that is very long."""
        if a.constant is not None:
            return b.scaled(a.constant)
        if b.constant is not None:
            return a.scaled(b.constant)
        long = len(a) * len(b) > _LARGEST_PRODUCT
        a, b = (self._whole(x) if len(x) > 1 and (long or self._closed(x)) else x for x in (a, b))
        total: dict[Monomial, Fraction] = {}
        left: list[tuple[Monomial, Fraction]] = []
        for m, c in a.terms.items():
            for n, d in b.terms.items():
                monomial, plain = self.merge(m, n)
                if plain:
                    new = total.get(monomial, 0) + c * d
                    if new:
                        total[monomial] = new
                    else:
                        del total[monomial]
                else:
                    left.append((monomial, c * d))
        result = Poly(self, total)
        for monomial, c in left:
            result = result + self._settle(monomial, c)
        return result

    def merge(self, m: Monomial, n: Monomial) -> tuple[Monomial, bool]:
        """m·n, and whether it needs no further work."""
        if not m or not n:
            return m or n, True
        exponents = dict(m)
        plain = True
        for i, e in n:
            new = exponents.get(i, 0) + e
            if new == 0:
                del exponents[i]
                continue
            exponents[i] = int(new) if new == int(new) else new
            plain = plain and not self._unfolds(i, exponents[i])
        return tuple(sorted(exponents.items())), plain

    def _unfolds(self, i: int, e: Exponent) -> bool:
        atom = self.atoms[i]
        if atom.op != "base" or not isinstance(e, int):
            return False
        inside = atom.args[0]
        return len(inside) == 1 or (e > 0 and len(inside) ** e <= _LARGEST_POWER and not self._closed(inside))

    def _settle(self, monomial: Monomial, c: Fraction) -> Poly:
        """Replace √P·√P by P: a monomial with a whole power of a root, as the sum that it equals."""
        result = Poly(self, {tuple([f for f in monomial if not self._unfolds(*f)]): c})
        for i, e in monomial:
            if self._unfolds(i, e):
                result = result * self.power(self.atoms[i].args[0], e)
        return result

    def _whole(self, p: Poly) -> Poly:
        return self.atom("base", (p,))

    def power(self, p: Poly, e: Exponent) -> Poly:
        """pᵉ."""
        if e == int(e):
            return self._integer_power(p, int(e))
        value = p.constant
        if value is not None and value > 0:
            return self.number(float(value) ** float(e))
        i = next(iter(self._whole(p).terms))[0][0]
        return Poly(self, {((i, Fraction(e)),): Fraction(1)})

    def _integer_power(self, p: Poly, n: int) -> Poly:
        if n == 0:
            return self.one
        if len(p) == 1:
            ((m, c),) = p.terms.items()
            whole = tuple([(i, _short(e * n)) for i, e in m])
            if any(self._unfolds(*f) for f in whole):
                return self._settle(whole, c**n)
            return Poly(self, {whole: c**n})
        if n == 1 or (n > 0 and len(p) ** n <= _LARGEST_POWER and not self._closed(p)):
            result = p
            for _ in range(n - 1):
                result = result * p
            return result
        if not p:
            return self.zero if n > 0 else self.number(float("inf"))
        content, shared = p.common()
        rest = self.divided(p, content, shared)
        i = next(iter(self._whole(rest).terms))[0][0]
        outside = self._integer_power(Poly(self, {shared: content}), n)
        return outside * Poly(self, {((i, n),): Fraction(1)})

    def divided(self, p: Poly, c: Fraction, m: Monomial) -> Poly:
        """p/(c·m) for a monomial that divides every term."""
        if not m and c == 1:
            return p
        inverse = tuple([(i, -e) for i, e in m])
        return Poly(self, {self.merge(n, inverse)[0]: d / c for n, d in p.terms.items()})

    def apply(self, op: str, *args: Poly) -> Poly:
        """The operation `op` of a graph on polynomials."""
        rule = BUILD.get(op)
        if rule is not None:
            return rule(self, *args)
        if op in FUNCTIONS:
            return self.atom(op, args)
        raise Unsupported(
            f"The operation '{op}' has no symbolic form. Write the function with arithmetic, powers, roots and "
            "elementary functions."
        )

    def read(self, outputs: Sequence[Node], leaves: Callable[[int, int], Poly]) -> list[Poly]:
        """Nodes of a graph as polynomials; `leaves(k, e)` is element e of argument array k."""
        done: dict[int, Poly] = {}
        for node in reachable(outputs):
            if node.op == "const":
                truth = node.dtype == "b1"
                done[node.index] = self.atom(str(bool(node.data)).lower()) if truth else self.number(node.data)
            elif node.op == "input":
                done[node.index] = leaves(*node.data)
            elif node.op == "convert" and node.dtype[0] != "f" and node.args[0].dtype[0] == "f":
                raise Unsupported("A real number made whole (astype(int)) has no symbolic form.")
            else:
                done[node.index] = self.apply(node.op, *[done[a.index] for a in node.args])
        return [done[n.index] for n in outputs]

    # ── differentiating ───────────────────────────────────────────────────────────────────────────
    def slope(self, p: Poly, x: Poly) -> Poly:
        """∂p/∂x for a leaf x."""
        (((i, _),),) = x.terms
        if i not in p.leaves:
            return self.zero
        total = self.zero
        parts: dict[int, dict[Monomial, Fraction]] = {}
        for m, c in p.terms.items():
            for place, (j, e) in enumerate(m):
                if i in self.atoms[j].leaves:
                    lower = () if e == 1 else ((j, _short(e - 1)),)
                    rest = (*m[:place], *lower, *m[place + 1 :])
                    into = parts.setdefault(j, {})
                    into[rest] = into.get(rest, Fraction(0)) + c * e
        for j, terms in parts.items():
            total = total + Poly(self, {m: c for m, c in terms.items() if c}) * self._atom_slope(j, i, x)
        return total

    def _atom_slope(self, j: int, i: int, x: Poly) -> Poly:
        if j == i:
            return self.one
        found = self._slopes.get((j, i))
        if found is None:
            atom = self.atoms[j]
            if atom.op == "base":
                found = self.slope(atom.args[0], x)
            elif atom.op == "select":
                found = self.apply("select", atom.args[0], self.slope(atom.args[1], x), self.slope(atom.args[2], x))
            else:
                found = self.zero
                for part, arg in zip(SLOPES[atom.op](self, *atom.args), atom.args, strict=True):
                    change = self.slope(arg, x)
                    if change:
                        found = found + part * change
            self._slopes[j, i] = found
        return found


def _short(e: Exponent) -> Exponent:
    return int(e) if e == int(e) else e

r"""Expressions as sums of monomials: the form in which equal terms meet and cancel.

A *polynomial* here is a finite sum \(\sum_k c_k \prod_j a_j^{e_j}\) with rational coefficients, rational exponents and *atoms*
\(a_j\): arguments of a traced function, numbers, and functions such as \(\sin P\) of other polynomials.  A sum under a root or in a
denominator is an atom too (`base`).  Two expressions that agree after multiplying out have one form; the addition theorems
of sine and cosine are applied by `contract`.  Derivatives are exact and stay in the form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from .dag import Node, reachable
from .plan import Unsupported

Exponent = int | Fraction
Monomial = tuple[tuple[int, Exponent], ...]

ONE: Final[Monomial] = ()
_LARGEST_PRODUCT: Final = 20_000
_LARGEST_POWER: Final = 400
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
    """The atoms that polynomials share, and how to build with them."""

    def __init__(self) -> None:
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
        if len(a) * len(b) > _LARGEST_PRODUCT:
            a, b = (self._whole(x) if len(x) > 1 else x for x in (a, b))
        total: dict[Monomial, Fraction] = {}
        left: list[tuple[Monomial, Fraction]] = []
        for m, c in a.terms.items():
            for n, d in b.terms.items():
                monomial, plain = self._merge(m, n)
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

    def _merge(self, m: Monomial, n: Monomial) -> tuple[Monomial, bool]:
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
        return len(atom.args[0]) == 1 or (e > 0 and len(atom.args[0]) ** e <= _LARGEST_POWER)

    def _settle(self, monomial: Monomial, c: Fraction) -> Poly:
        """A monomial in which a root has met itself, as the sum it stands for."""
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
        if n > 0 and len(p) ** n <= _LARGEST_POWER:
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
        return Poly(self, {self._merge(n, inverse)[0]: d / c for n, d in p.terms.items()})

    def apply(self, op: str, *args: Poly) -> Poly:
        """The operation `op` of a graph on polynomials."""
        rule = _BUILD.get(op)
        if rule is not None:
            return rule(self, *args)
        if op in _FUNCTIONS:
            return self.atom(op, args)
        raise Unsupported(
            f"The operation '{op}' has no symbolic form. Write the function with arithmetic, powers, roots and elementary functions."
        )

    def read(self, outputs: Sequence[Node], leaves: Callable[[int, int], Poly]) -> list[Poly]:
        """Nodes of a graph as polynomials; `leaves(k, e)` is element e of argument array k."""
        done: dict[int, Poly] = {}
        for node in reachable(outputs):
            if node.op == "const":
                done[node.index] = self.number(node.data) if node.dtype != "b1" else self.atom(str(bool(node.data)).lower())
            elif node.op == "input":
                done[node.index] = leaves(*node.data)
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
                for part, arg in zip(_SLOPES[atom.op](self, *atom.args), atom.args, strict=True):
                    change = self.slope(arg, x)
                    if change:
                        found = found + part * change
            self._slopes[j, i] = found
        return found

    # ── addition theorems ─────────────────────────────────────────────────────────────────────────
    def contract(self, p: Poly) -> Poly:
        """p with sin² + cos² = 1 and the addition theorems applied wherever two terms become one."""
        while True:
            terms = dict(p.terms)
            added = self.zero
            for (rest, a, b), found in self._pairs(terms).items():
                for one, other, make in _THEOREMS:
                    if one in found and other in found:
                        m, n = found[one], found[other]
                        if m not in terms or n not in terms or abs(terms[m]) != abs(terms[n]):
                            continue
                        made = make(self, self.atoms[a].args[0], self.atoms[b].args[0], terms[m] == terms[n], a == b)
                        if made is not None:
                            added = added + Poly(self, {rest: terms.pop(m)}) * made
                            del terms[n]
            if not added:
                return p
            p = Poly(self, terms) + added

    def sines(self, p: Poly) -> Poly:
        """p with 1 - cos² written as sin²."""
        terms = dict(p.terms)
        added = self.zero
        for m in list(terms):
            for i, e in m:
                if self.atoms[i].op == "cos" and e == 2:
                    rest = tuple([f for f in m if f[0] != i])
                    if m in terms and rest in terms and terms[rest] == -terms[m]:
                        square = self.power(self.apply("sin", *self.atoms[i].args), 2)
                        added = added + Poly(self, {rest: terms.pop(rest)}) * square
                        del terms[m]
        return Poly(self, terms) + added

    def _pairs(self, terms: dict[Monomial, Fraction]) -> dict[tuple[Monomial, int, int], dict[str, Monomial]]:
        """Terms by what remains without two sines or cosines: (rest, angle, angle) -> {"cs": monomial, …}."""
        found: dict[tuple[Monomial, int, int], dict[str, Monomial]] = {}
        for m in terms:
            factors = [(i, e) for i, e in m if self.atoms[i].op in ("sin", "cos") and isinstance(e, int) and e > 0]
            for x, (i, e) in enumerate(factors):
                for j, _ in factors[x:] if e > 1 else factors[x + 1 :]:
                    rest = self._merge(self._merge(m, ((i, -1),))[0], ((j, -1),))[0]
                    a, b = sorted([(self._angle(i), self.atoms[i].op[0]), (self._angle(j), self.atoms[j].op[0])])
                    if a[0] != b[0] or a[1] == b[1]:
                        found.setdefault((rest, a[0], b[0]), {})[a[1] + b[1]] = m
        return found

    def _angle(self, i: int) -> int:
        """A number that sin P and cos P share."""
        return next(iter(self.atom("sin", self.atoms[i].args).terms))[0][0]


# ── the operations of a graph ─────────────────────────────────────────────────────────────────────
def _short(e: Exponent) -> Exponent:
    return int(e) if e == int(e) else e


def _signed(p: Poly) -> tuple[int, Poly]:
    """p = sign·q with one choice of q for each pair ±p."""
    if p and p.terms[min(p.terms)] < 0:
        return -1, -p
    return 1, p


def _odd(op: str) -> Callable[[Ring, Poly], Poly]:
    def rule(ring: Ring, p: Poly) -> Poly:
        if not p:
            return ring.zero
        sign, q = _signed(p)
        return ring.atom(op, (q,)).scaled(sign)

    return rule


def _even(op: str) -> Callable[[Ring, Poly], Poly]:
    def rule(ring: Ring, p: Poly) -> Poly:
        return ring.one if not p else ring.atom(op, (_signed(p)[1],))

    return rule


def _abs(ring: Ring, p: Poly) -> Poly:
    value = p.constant
    return ring.number(abs(value)) if value is not None else ring.atom("abs", (_signed(p)[1],))


def _pow(ring: Ring, a: Poly, b: Poly) -> Poly:
    value = b.constant
    return ring.power(a, value) if value is not None else ring.atom("pow", (a, b))


def _sqrt(ring: Ring, p: Poly) -> Poly:
    return ring.power(p, Fraction(1, 2))


def _select(ring: Ring, c: Poly, a: Poly, b: Poly) -> Poly:
    return a if a.key == b.key else ring.atom("select", (c, a, b))


_BUILD: Final[dict[str, Callable[..., Poly]]] = {
    "add": lambda ring, a, b: a + b,
    "sub": lambda ring, a, b: a - b,
    "mul": lambda ring, a, b: a * b,
    "div": lambda ring, a, b: a * ring.power(b, -1),
    "neg": lambda ring, a: -a,
    "pow": _pow,
    "sqrt": _sqrt,
    "abs": _abs,
    "select": _select,
    "convert": lambda ring, a: a,
    "expm1": lambda ring, a: ring.apply("exp", a) - ring.one,
    "log1p": lambda ring, a: ring.apply("log", a + ring.one),
    "exp2": lambda ring, a: ring.atom("pow", (ring.number(2), a)),
    "erfc": lambda ring, a: ring.one - ring.apply("erf", a),
    "exp": lambda ring, a: ring.atom("exp", (a,)) if a else ring.one,
    "log": lambda ring, a: ring.zero if a.constant == 1 else ring.atom("log", (a,)),
    **{op: _odd(op) for op in ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "cbrt", "sign")},
    **{op: _even(op) for op in ("cos", "cosh")},
}
_FUNCTIONS: Final = frozenset({"acos", "atan2", "acosh", "max", "min", "lt", "le", "eq", "ne", "and", "or", "not"})


def _root(ring: Ring, p: Poly, e: Exponent) -> tuple[Poly]:
    return (ring.power(p, e),)


_HALF: Final = Fraction(-1, 2)
_SLOPES: Final[dict[str, Callable[..., tuple[Poly, ...]]]] = {
    "sin": lambda r, a: (r.apply("cos", a),),
    "cos": lambda r, a: (-r.apply("sin", a),),
    "tan": lambda r, a: (r.one + r.power(r.apply("tan", a), 2),),
    "asin": lambda r, a: _root(r, r.one - a * a, _HALF),
    "acos": lambda r, a: (-_root(r, r.one - a * a, _HALF)[0],),
    "atan": lambda r, a: _root(r, r.one + a * a, -1),
    "atan2": lambda r, a, b: (b * r.power(a * a + b * b, -1), -(a * r.power(a * a + b * b, -1))),
    "sinh": lambda r, a: (r.apply("cosh", a),),
    "cosh": lambda r, a: (r.apply("sinh", a),),
    "tanh": lambda r, a: (r.one - r.power(r.apply("tanh", a), 2),),
    "asinh": lambda r, a: _root(r, r.one + a * a, _HALF),
    "acosh": lambda r, a: _root(r, a * a - r.one, _HALF),
    "atanh": lambda r, a: _root(r, r.one - a * a, -1),
    "exp": lambda r, a: (r.apply("exp", a),),
    "log": lambda r, a: _root(r, a, -1),
    "erf": lambda r, a: (r.number(1.1283791670955126) * r.apply("exp", -(a * a)),),
    "cbrt": lambda r, a: (r.power(r.apply("cbrt", a), -2).scaled(Fraction(1, 3)),),
    "abs": lambda r, a: (r.apply("sign", a),),
    "sign": lambda r, a: (r.zero,),
    "pow": lambda r, a, b: (b * r.atom("pow", (a, b)) * r.power(a, -1), r.apply("log", a) * r.atom("pow", (a, b))),
    "max": lambda r, a, b: (r.apply("select", r.atom("lt", (a, b)), r.zero, r.one), r.apply("select", r.atom("lt", (a, b)), r.one, r.zero)),
    "min": lambda r, a, b: (r.apply("select", r.atom("lt", (a, b)), r.one, r.zero), r.apply("select", r.atom("lt", (a, b)), r.zero, r.one)),
}  # fmt: skip


def _cosine(ring: Ring, a: Poly, b: Poly, equal: bool, same: bool) -> Poly | None:
    """cos a cos b ± sin a sin b."""
    if same:
        return ring.one if equal else None
    return ring.apply("cos", a - b if equal else a + b)


def _sine(ring: Ring, a: Poly, b: Poly, equal: bool, same: bool) -> Poly | None:
    """sin a cos b ± cos a sin b."""
    return None if same else ring.apply("sin", a + b if equal else a - b)


_THEOREMS: Final = (("cc", "ss", _cosine), ("sc", "cs", _sine))

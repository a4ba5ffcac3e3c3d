"""Polynomials back to a graph of scalar operations, with as few products as can be had cheaply.

What depends on parameters alone is kept apart from what moves, so that whoever evaluates the graph many times for one
set of parameters computes it once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from holonomy.trace.graph.dag import Graph, Node, reachable
from holonomy.trace.graph.simplify import Algebra
from holonomy.trace.symbolic.polynomial import Exponent, Monomial, Poly


class Assembler:
    """Writes polynomials of one ring into a graph; `leaf(data)` is a leaf's node, `moving` the leaves that change."""

    def __init__(self, graph: Graph, leaf: Callable[[Any], Node], moving: frozenset[int]) -> None:
        self.k = Algebra(graph)
        self._leaf = leaf
        self._moving = moving
        self._atoms: dict[int, Node] = {}

    def number(self, value: float | Fraction) -> Node:
        """A constant."""
        return self.k.constant(float(value), "f8")

    def node(self, p: Poly) -> Node:
        """The node of a polynomial."""
        parts = p.split(lambda a: not self._moving.isdisjoint(a.leaves))
        return self._nested({m: self._fixed(q) for m, q in parts.items()}, p)

    def _fixed(self, p: Poly) -> Node:
        """A polynomial in parameters alone: the sum of its terms."""
        terms = [self.k("mul", self.number(c), self._product(m, p)) for m, c in p.terms.items()]
        return self.k.sum(terms, "f8")

    def _nested(self, parts: dict[Monomial, Node], p: Poly) -> Node:
        """Σ coefficient·monomial, the factor that most terms share taken out first, as in Horner's scheme."""
        if not parts:
            return self.number(0)
        shared = Counter(i for m in parts for i, e in m if e > 0)
        best = max(shared, key=lambda i: (shared[i], -i), default=None)
        if best is None or shared[best] < 2:
            return self.k.sum([self.k("mul", c, self._product(m, p)) for m, c in sorted(parts.items())], "f8")
        least: Exponent = min(e for m in parts for i, e in m if i == best and e > 0)
        inside, outside = {}, {}
        for m, c in parts.items():
            exponents = dict(m)
            if exponents.get(best, 0) > 0:
                exponents[best] -= least
                inside[tuple(sorted((i, e) for i, e in exponents.items() if e))] = c
            else:
                outside[m] = c
        factor = self._power(best, least, p)
        return self.k("add", self.k("mul", factor, self._nested(inside, p)), self._nested(outside, p))

    def _product(self, m: Monomial, p: Poly) -> Node:
        top = self._times([self._power(i, e, p) for i, e in m if e != -1])
        below = [self._power(i, 1, p) for i, e in m if e == -1]
        return self.k("div", top, self._times(below)) if below else top

    def _times(self, nodes: Sequence[Node]) -> Node:
        result = self.number(1)
        for node in nodes:
            result = self.k("mul", result, node)
        return result

    def _power(self, i: int, e: Exponent, p: Poly) -> Node:
        """Whole positive powers as products, which have derivatives at zero too; others as one power."""
        base = self._atom(i, p)
        if isinstance(e, int) and e > 0:
            return self.k.power(base, e)
        return self.k("sqrt", base) if e == Fraction(1, 2) else self.k.raw("pow", base, self.number(e))

    def _atom(self, i: int, p: Poly) -> Node:
        found = self._atoms.get(i)
        if found is None:
            atom = p.ring.atoms[i]
            if atom.op == "leaf":
                found = self._leaf(atom.data)
            elif atom.op == "number":
                found = self.number(atom.data)
            elif atom.op == "base":
                found = self.node(atom.args[0])
            else:
                found = self.k(atom.op, *[self.node(a) for a in atom.args])
            self._atoms[i] = found
        return found


def solve(k: Algebra, a: list[list[Node]], b: list[Node], fixed: Callable[[Node], bool]) -> list[Node]:
    r"""The solution of a symmetric positive definite system by \(L D L^\top\).

    Unknowns with a fixed diagonal and few neighbours are eliminated first.
    """
    n = len(b)
    order = sorted(range(n), key=lambda i: (not fixed(a[i][i]), sum(x.op != "const" for x in a[i]), i))
    low = {(i, j): a[order[i]][order[j]] for i in range(n) for j in range(i + 1)}
    x = [b[i] for i in order]
    one = k.constant(1, "f8")
    inverse = []
    for j in range(n):
        inverse.append(k("div", one, low[j, j]))
        column = {i: low[i, j] for i in range(j + 1, n)}
        for i, below in column.items():
            low[i, j] = k("mul", below, inverse[j])
            for m in range(j + 1, i + 1):
                low[i, m] = k("sub", low[i, m], k("mul", low[i, j], column[m]))
    for i in range(n):
        for j in range(i):
            x[i] = k("sub", x[i], k("mul", low[i, j], x[j]))
    for i in reversed(range(n)):
        x[i] = k("mul", x[i], inverse[i])
        for j in range(i + 1, n):
            x[i] = k("sub", x[i], k("mul", low[j, i], x[j]))
    result = [one] * n
    for place, i in enumerate(order):
        result[i] = x[place]
    return result


class Separation:
    """A graph rewritten so that factors that depend on fixed leaves alone stand together in front.

    `fixed` collects the nodes of such factors; in the results they are inputs of argument array `leaf`.
    """

    def __init__(self, k: Algebra, moving: Callable[[Node], bool], leaf: int) -> None:
        self.k = k
        self._moving = moving
        self._leaf = leaf
        self._split: dict[int, tuple[Node, Node | None]] = {}
        self._places: dict[int, int] = {}
        self.fixed: list[Node] = []

    def rewrite(self, nodes: Sequence[Node]) -> list[Node]:
        """The counterparts of `nodes`."""
        for node in reachable(nodes):
            self._split[node.index] = self._apart(node)
        return [self._whole(*self._split[n.index]) for n in nodes]

    def _apart(self, node: Node) -> tuple[Node, Node | None]:
        """(c, r) with node = c·r, c fixed and r moving (None for 1)."""
        one = self.k.constant(1, "f8")
        if not node.args:
            return (one, node) if self._moving(node) else (node, None)
        parts = [self._split[a.index] for a in node.args]
        if all(r is None for _, r in parts):
            return self.k(node.op, *[c for c, _ in parts], dtype=node.dtype, data=node.data), None
        if node.op in ("mul", "div"):
            (a, x), (b, y) = parts
            if node.op == "mul":
                return self.k("mul", a, b), x if y is None else y if x is None else self.k("mul", x, y)
            return self.k("div", a, b), x if y is None else self.k("div", x or one, y)
        if node.op == "neg":
            return self.k("neg", parts[0][0]), parts[0][1]
        if node.op in ("add", "sub"):
            (a, x), (b, y) = parts
            if a is b and x is not None and y is not None:
                return a, self.k(node.op, x, y)
        return one, self.k(node.op, *[self._whole(*p) for p in parts], dtype=node.dtype, data=node.data)

    def _whole(self, c: Node, r: Node | None) -> Node:
        if c.op == "const":
            return c if r is None else self.k("mul", c, r)
        if c.index not in self._places:
            self._places[c.index] = len(self.fixed)
            self.fixed.append(c)
        held = self.k.graph.input(self._leaf, self._places[c.index], "f8")
        return held if r is None else self.k("mul", held, r)

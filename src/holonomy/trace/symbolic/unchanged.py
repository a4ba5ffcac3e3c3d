r"""Whether a traced function keeps its value while its arguments move, decided from its form.

Along rates \(\dot x_j = \xi_j\) of the arguments a smooth function f keeps its value where
\(\sum_j \partial_j f\,\xi_j\) vanishes as a polynomial. A comparison, a rounding, or a reading from a table has the
derivative zero at almost every point and changes all the same; it keeps its value where those of its own arguments do
not change, and that is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from holonomy.trace.graph.dag import Node, reachable
from holonomy.trace.symbolic.angles import contract
from holonomy.trace.symbolic.functions import BUILD, FUNCTIONS, SLOPES
from holonomy.trace.symbolic.polynomial import Monomial, Poly, Ring

_STEPS: Final = frozenset(["sign"])  # differentiable almost everywhere, and no continuous function
_SMOOTH: Final = (frozenset(BUILD) | (FUNCTIONS & frozenset(SLOPES))) - _STEPS
_CASES: Final = 50  # terms of two cases that are multiplied with what is 1 in one of them and 0 in the other
_ROUNDING: Final = 1e-13  # of the numbers of which a coefficient is the sum: 0.1 + 0.2 - 0.3 is zero


class Reading:
    """Nodes of a graph as polynomials, where what has no derivative of its own is a variable.

    `behind` has the arguments of each such variable, by its number in the ring.
    """

    def __init__(self, ring: Ring, outputs: Sequence[Node], leaf: Callable[[int, int], Poly]) -> None:
        self.ring = ring
        self.behind: dict[int, tuple[Poly, ...]] = {}
        done: dict[int, Poly] = {}
        for node in reachable(outputs):
            done[node.index] = self._read(node, [done[a.index] for a in node.args], leaf)
        self.outputs = [contract(done[node.index]) for node in outputs]

    def _read(self, node: Node, args: list[Poly], leaf: Callable[[int, int], Poly]) -> Poly:
        if node.op == "input":
            return leaf(*node.data)
        if node.op == "const" and node.dtype != "b1":
            return self.ring.number(node.data)
        # integers wrap and divide to integers, and a conversion to them cuts off
        of_floats = node.dtype[0] == "f" and (node.op == "convert" or all(a.dtype[0] != "i" for a in node.args))
        if of_floats and node.op == "select" and len(args[1]) + len(args[2]) <= _CASES:
            # the condition is 1 or 0, so that both cases stay polynomials
            return args[2] + args[0] * (args[1] - args[2])
        if of_floats and node.op in _SMOOTH:
            return self.ring.apply(node.op, *args)
        variable = self.ring.leaf(("step", len(self.ring.atoms)))  # of this reading alone
        self.behind[next(iter(variable.leaves))] = tuple(args)
        return variable

    def unchanged(self, p: Poly, rates: Mapping[int, Poly]) -> bool:
        """Whether p keeps its value along rates of the leaves with these numbers; False where that is not seen."""
        steps = self.leaves(p) & self.behind.keys()
        return all(vanishes(self.rate(a, rates)) for a in (p, *[a for i in steps for a in self.behind[i]]))

    def leaves(self, p: Poly) -> set[int]:
        """The leaves on which p depends, also through steps, and these steps themselves."""
        found, pending = set(p.leaves), list(p.leaves & self.behind.keys())
        while pending:
            more = set().union(*[a.leaves for a in self.behind[pending.pop()]]) - found
            found |= more
            pending += more & self.behind.keys()
        return found

    def rate(self, p: Poly, rates: Mapping[int, Poly]) -> Poly:
        """The derivative of p along the rates, of which steps have none."""
        total = self.ring.zero
        for i in sorted(p.leaves & rates.keys()):
            total = total + self.ring.slope(p, Poly(self.ring, {((i, 1),): Fraction(1)})) * rates[i]
        return contract(total)


def vanishes(p: Poly) -> bool:
    """Whether p is zero, where numbers that cancel up to their rounding count as zero."""
    if not p:
        return True
    atoms = p.ring.atoms
    sums: dict[Monomial, tuple[float, float]] = {}
    for monomial, c in p.terms.items():
        value, rest = float(c), []
        for i, e in monomial:
            if atoms[i].op == "number":
                value *= atoms[i].data ** float(e)
            else:
                rest.append((i, e))
        total, size = sums.get(tuple(rest), (0.0, 0.0))
        sums[tuple(rest)] = total + value, size + abs(value)
    return all(abs(total) <= _ROUNDING * size for total, size in sums.values())

"""What holds for all values of the arguments of a function, shown by its form: a proof where it says yes.

A function may have a property whose form does not show it; the answer is then no.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from holonomy.trace.graph.dag import Graph, Node, reachable
from holonomy.trace.graph.series import evaluate, ring
from holonomy.trace.graph.simplify import Algebra
from holonomy.trace.lowering.scalarise import scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.angles import contract
from holonomy.trace.symbolic.polynomial import Poly, Ring
from holonomy.trace.symbolic.unchanged import Reading
from holonomy.trace.symbolic.unchanged import vanishes as is_none

_LARGEST: Final = 4000  # operations of functions that are multiplied out
_NEVER_NEGATIVE: Final = frozenset(["abs", "exp", "cosh"])


class Forms:
    """The values of a function of arrays as polynomials in their elements, named (array, element).

    With a point `at`, an array for each argument, they are those of the cases (branches, signs of absolute values)
    that hold around it. Raises `Unsupported` where the function has no such form, or a very long one, or the point lies
    between two cases.
    """

    def __init__(
        self, function: Callable[..., Any], sizes: Sequence[int], at: Sequence[np.ndarray] | None = None
    ) -> None:
        flat = scalarise(function, [np.zeros(size) for size in sizes], hoist=False)
        nodes = [node for out in flat.outputs for node in out.nodes]
        if at is not None:
            nodes = around(nodes, at)
        if len(list(reachable(nodes))) > _LARGEST:
            raise Unsupported("The function is too long to be multiplied out.")
        self.ring = Ring()
        reading = Reading(self.ring, nodes, lambda k, e: self.ring.leaf((k, e)))
        self.values, self.steps = reading.outputs, bool(reading.behind)

    def leaf(self, array: int, element: int) -> Poly:
        """An element of an argument."""
        return self.ring.leaf((array, element))

    def slope(self, value: Poly, array: int, element: int) -> Poly:
        """The derivative of a value."""
        return self.ring.slope(value, self.leaf(array, element))


def around(nodes: Sequence[Node], at: Sequence[np.ndarray]) -> list[Node]:
    """The nodes without their cases but those that hold around a point."""
    of = ring(sum(len(x) for x in at), 1)
    leaves, first = [of.constant(np.asarray(x, float)) for x in at], 1
    for leaf in leaves:
        leaf[:, first : first + len(leaf)] = np.eye(len(leaf))
        first += len(leaf)
    kept = list(reachable(nodes))
    corners: set[str] = set()
    values = dict(zip([n.index for n in kept], evaluate(kept, leaves, of, corners=corners), strict=True))
    if corners:
        raise Unsupported("The point lies between two cases of the function.")
    algebra = Algebra(Graph())
    made: dict[int, Node] = {}
    for node in kept:
        args = [made[a.index] for a in node.args]
        if node.op == "input":
            made[node.index] = algebra.graph.input(node.data[0], node.data[1], node.dtype)
        elif node.op == "select":
            made[node.index] = args[1] if bool(values[node.args[0].index]) else args[2]
        elif node.op in ("max", "min"):
            one, other = (values[a.index][0] for a in node.args)
            made[node.index] = args[0] if (one > other) == (node.op == "max") else args[1]
        elif node.op == "abs" and node.dtype[0] == "f":
            made[node.index] = args[0] if values[node.args[0].index][0] >= 0 else algebra("neg", args[0])
        elif node.dtype[0] != "f" or node.op in ("sign", "floor", "ceil", "round", "roundeven"):
            made[node.index] = algebra.constant(float(np.ravel(values[node.index])[0]), node.dtype)
        else:
            const = node.op == "const"
            made[node.index] = algebra.constant(node.data, node.dtype) if const else algebra.rebuild(node, tuple(args))
    return [made[n.index] for n in nodes]


def is_zero(p: Poly) -> bool:
    """Whether a polynomial is seen to be zero."""
    return is_none(contract(p))


def vanishes(function: Callable[..., Any], sizes: Sequence[int]) -> bool:
    """Whether all values are zero, whatever the arguments, arrays of these sizes."""
    try:
        return all(is_zero(value) for value in Forms(function, sizes).values)
    except Unsupported:
        return False


def closed(function: Callable[[Any], Any], size: int) -> bool:
    r"""Whether \(\partial_i f_j = \partial_j f_i\) everywhere, for a function with as many values as arguments.

    Not of a function with cases, which may jump from one to the next.
    """
    try:
        forms = Forms(function, [size])
        return not forms.steps and all(
            is_zero(forms.slope(forms.values[j], 0, i) - forms.slope(forms.values[i], 0, j))
            for i in range(size)
            for j in range(i)
        )
    except (Unsupported, KeyError):
        return False


def never_positive(function: Callable[..., Any], sizes: Sequence[int], squares: int) -> bool:
    """Whether the one value is nowhere positive: all terms are even powers with a minus sign, or it is a quadratic form
    of the elements of argument `squares`, with constant coefficients."""
    try:
        forms = Forms(function, sizes)
    except Unsupported:
        return False
    (value,) = forms.values
    if all(_sign(forms.ring, m) * c <= 0 and _sign(forms.ring, m) for m, c in value.terms.items()):
        return True
    matrix = _quadratic(forms, value, squares, sizes[squares])
    if matrix is None:
        return False
    return bool(np.max(np.linalg.eigvalsh(matrix)) <= 1e-14 * np.max(np.abs(matrix)))


def _sign(ring: Ring, monomial: Any) -> int:
    """The sign of a monomial where it has one for all arguments, else 0."""
    sign = 1
    for i, exponent in monomial:
        atom = ring.atoms[i]
        if atom.op == "number":
            sign *= int(np.sign(atom.data)) if exponent % 2 else 1
        elif exponent % 2 and not (atom.op in _NEVER_NEGATIVE or (atom.op == "base" and exponent % 1)):
            return 0
    return sign


def _quadratic(forms: Forms, value: Poly, array: int, size: int) -> np.ndarray | None:
    matrix = np.zeros((size, size))
    for m, c in value.terms.items():
        moving: list[int] = []
        number = float(c)
        for i, exponent in m:
            atom = forms.ring.atoms[i]
            if atom.op == "number":
                number *= float(atom.data) ** float(exponent)
            elif atom.op == "leaf" and atom.data[0] == array and exponent in (1, 2):
                moving += [atom.data[1]] * int(exponent)
            else:
                return None
        if len(moving) != 2:
            return None
        matrix[moving[0], moving[1]] += 0.5 * number
        matrix[moving[1], moving[0]] += 0.5 * number
    return matrix

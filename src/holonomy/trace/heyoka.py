"""Second-order systems for heyoka, which integrates them by Taylor series.

A traced Lagrangian becomes accelerations as a graph of scalar operations in one of two ways, whichever needs fewer
products of moving quantities (each costs a convolution of Taylor coefficients): by its polynomial form, where terms
cancel and addition theorems apply, or by automatic differentiation as it stands.  What depends on parameters alone is
computed beforehand and handed over as heyoka's parameters, so other numbers need no new compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Final

import numpy as np

from holonomy.trace.compile_cache import CompileCache
from holonomy.trace.form import Form
from holonomy.trace.graph.dag import Graph, Node, reachable
from holonomy.trace.graph.numeric import evaluate
from holonomy.trace.graph.operations import named
from holonomy.trace.jaxpr import traced
from holonomy.trace.lowering.scalarise import Flat, scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.angles import contract
from holonomy.trace.symbolic.assemble import Assembler, Separation, solve
from holonomy.trace.symbolic.lagrange import Lagrange, Variables
from holonomy.trace.symbolic.polynomial import Poly

_STATE: Final = 3  # argument arrays t, q, v come first
_LONGEST: Final = 4000  # terms of a polynomial Lagrangian: a longer one is left as it was traced
_COMPACT: Final = 300  # nodes beyond which heyoka compiles its compact form, whose compilation does not grow with them
_CHEAP: Final = 8  # products per entry of the mass matrix below which the other way is not tried


class Motion:
    """Accelerations of one form, for any numbers: the graph, and heyoka's compiled integrators."""

    def __init__(self, n: int, accelerations: list[Node], fixed: list[Node], leaf: int) -> None:
        self.n = n
        self.accelerations = accelerations
        self.fixed = fixed
        self.leaf = leaf
        self._made: dict[float | None, Any] = {}
        self._idle: dict[float | None, list[Any]] = {}

    def constants(self, leaves: Sequence[np.ndarray]) -> np.ndarray:
        """The numbers that heyoka takes as parameters, from the parameters and hoisted numbers of the function."""
        state = [np.zeros(()), np.zeros(self.n), np.zeros(self.n)]
        return np.array(evaluate(self.fixed, [*state, *leaves]), float)

    def integrator(self, tol: float | None, constants: np.ndarray) -> Any:
        """A `heyoka.taylor_adaptive` with these constants, one compilation per tolerance; yours until `give_back`."""
        idle = self._idle.setdefault(tol, [])
        own = idle.pop() if idle else deepcopy(self._template(tol))
        own.pars[:] = constants
        return own

    def give_back(self, tol: float | None, integrator: Any) -> None:
        """Take an integrator back for the next who asks: a copy costs as much as a short motion."""
        self._idle[tol].append(integrator)

    def _template(self, tol: float | None) -> Any:
        if tol not in self._made:
            import heyoka as hy

            self._made[tol] = hy.taylor_adaptive(
                equations(self.n, self.accelerations, self.leaf),
                np.zeros(2 * self.n),
                pars=np.zeros(len(self.fixed)),
                compact_mode=len(reachable(self.accelerations)) > _COMPACT,
                **({} if tol is None else {"tol": tol}),
            )
        return self._made[tol]


_motions = CompileCache()


def motion(
    energies: Callable[..., Any], direct: Callable[..., Any], n: int, parameters: Sequence[np.ndarray], definite: bool
) -> tuple[Motion, np.ndarray]:
    """The motion of a system, and the numbers that its functions were traced with, for `Motion.constants`.

    **Arguments:** `energies(t, q, v, *parameters)` gives the Lagrangian and the forces; `direct` of the same the mass
    matrix and the right-hand side by automatic differentiation; `definite`, whether the mass matrix is positive
    definite.
    """
    example = (np.float64(0.0), np.zeros(n), np.zeros(n), *parameters)
    form = Form(traced(energies, example)[0], whole_arrays=False)
    key = (form.key, n, definite)
    numbers = np.array(form.numbers, float)
    if not definite:
        raise Unsupported(
            "The kinetic energy is not positive for every velocity, and Taylor needs it to be. Use Gauss instead."
        )

    def cheapest() -> Motion:
        return min(_candidates(energies, direct, example, n), key=lambda m: cost(m.accelerations))

    return _motions.get(key, cheapest), numbers


def _candidates(energies: Any, direct: Any, example: tuple[Any, ...], n: int) -> list[Motion]:
    flat = scalarise(energies, example)
    expanded = _expanded(flat, n, len(example))
    if expanded is not None and cost(expanded.accelerations) <= _CHEAP * n**2:
        return [expanded]
    other = _differentiated(scalarise(direct, example), n, len(example))
    return [other] if expanded is None else [expanded, other]


def _expanded(flat: Flat, n: int, leaf: int) -> Motion | None:
    """By way of polynomials; None where they grow too long or an operation has no polynomial form."""
    at = Variables(n, keep=True)
    ring = at.ring
    leaves: dict[tuple[int, int], Poly] = {(0, 0): at.t}
    leaves |= {(1, i): q for i, q in enumerate(at.q)} | {(2, i): v for i, v in enumerate(at.v)}
    try:
        (energy,), forces = (
            ring.read(out.nodes, lambda k, e: leaves.get((k, e)) or ring.leaf((k, e))) for out in flat.outputs
        )
        if len(energy) > _LONGEST:
            return None
        found = Lagrange(at, contract(energy))
        right = [contract(a + b) for a, b in zip(found.inertial, forces, strict=True)]
    except Unsupported:
        return None
    names: dict[Any, Any] = {"t": 0, "q": 1, "v": 2}
    graph = Graph()

    def node(data: Any) -> Node:
        kind, element = data
        return graph.input(names.get(kind, kind), element, "f8")

    moving = frozenset(next(iter(x.terms))[0][0] for x in (at.t, *at.q, *at.v))
    write = Assembler(graph, node, moving)
    mass = [[write.node(m) for m in row] for row in found.mass]
    return _motion(write.k, mass, [write.node(f) for f in right], n, leaf)


def _differentiated(flat: Flat, n: int, leaf: int) -> Motion:
    mass, right = flat.outputs
    rows = [list(mass.nodes[i * n : (i + 1) * n]) for i in range(n)]
    return _motion(flat.algebra, rows, list(right.nodes), n, leaf)


def _motion(k: Any, mass: list[list[Node]], right: list[Node], n: int, leaf: int) -> Motion:
    reach: dict[int, bool] = {}

    def moves(node: Node) -> bool:
        return node.op == "input" and node.data[0] < _STATE

    def fixed(node: Node) -> bool:
        if node.index not in reach:
            reach[node.index] = any(moves(x) for x in reachable([node]))
        return not reach[node.index]

    solved = solve(k, mass, right, fixed)
    apart = Separation(k, moves, leaf + 1)
    accelerations = apart.rewrite(solved)
    return Motion(n, accelerations, apart.fixed, leaf + 1)


def cost(nodes: Sequence[Node]) -> float:
    """Products of series, roughly: what one step costs beyond sums and multiples."""
    total = 0.0
    angles = set()
    for node in reachable(nodes):
        if node.op in ("mul", "div"):
            if all(not _is_number(a) for a in node.args):
                total += 0.5 if node.args[0] is node.args[1] else 1.0
            elif node.op == "div" and not _is_number(node.args[1]):
                total += 1.0
        elif node.op in ("sin", "cos", "sinh", "cosh"):
            angles.add((node.op[-1:] == "h", node.args[0].index))
        elif node.args and node.op not in ("add", "sub", "neg"):
            total += 2.0
    return total + 2.0 * len(angles)


def _is_number(node: Node) -> bool:
    return node.op == "const" or (node.op == "input" and node.data[0] >= _STATE)


# ── heyoka's expressions ──────────────────────────────────────────────────────────────────────────
def equations(n: int, accelerations: Sequence[Node], leaf: int) -> list[tuple[Any, Any]]:
    """q' = v, v' = accelerations as heyoka wants them; inputs of argument array `leaf` are its parameters."""
    import heyoka as hy

    q = [hy.expression(f"q{i}") for i in range(n)]
    v = [hy.expression(f"v{i}") for i in range(n)]

    def source(node: Node) -> Any:
        array, element = node.data
        if array == leaf:
            return hy.par[element]
        return (hy.time, q[element] if array == 1 else None, v[element] if array == 2 else None)[array]

    return list(zip([*q, *v], [*v, *_Emitter(hy, accelerations, source).written], strict=True))


class _Emitter:
    """Nodes as heyoka expressions; a sum whose parts nobody else needs is one sum."""

    def __init__(self, hy: Any, outputs: Sequence[Node], source: Callable[[Node], Any]) -> None:
        self._hy = hy
        nodes = reachable(outputs)
        uses: dict[int, int] = {}
        for node in nodes:
            for a in node.args:
                uses[a.index] = uses.get(a.index, 0) + 1
        self._once = {n.index for n in nodes if uses.get(n.index, 0) == 1 and n.op in ("add", "sub", "neg")}
        self._once -= {n.index for n in outputs}
        self._done: dict[int, Any] = {}
        for node in nodes:
            if node.op == "const":
                self._done[node.index] = hy.expression(float(node.data))
            elif node.op == "input":
                self._done[node.index] = source(node)
            elif node.index not in self._once:
                self._done[node.index] = self._write(node)
        self.written = [self._done[n.index] for n in outputs]

    def _value(self, node: Node) -> Any:
        found = self._done.get(node.index)
        if found is None:
            found = self._done[node.index] = self._write(node)
        return found

    def _write(self, node: Node) -> Any:
        if node.op in ("add", "sub", "neg"):
            return self._sum(node)
        args = [self._value(a) for a in node.args]
        if node.op == "mul":
            return args[0] ** 2.0 if node.args[0] is node.args[1] else args[0] * args[1]
        rule = _RULES.get(node.op)
        if rule is None:
            raise Unsupported(f"The operation '{node.op}' has no Taylor series here. Use Gauss for this system.")
        return rule(self._hy, *args)

    def _sum(self, node: Node) -> Any:
        plus: list[Any] = []
        minus: list[Any] = []
        waiting = [(node, 1, True)]
        while waiting:
            x, sign, top = waiting.pop()
            if x.op in ("add", "sub", "neg") and (top or x.index in self._once):
                signs = (sign, sign) if x.op == "add" else (sign, -sign) if x.op == "sub" else (-sign,)
                waiting += [(a, s, False) for a, s in zip(x.args, signs, strict=True)]
            else:
                (plus if sign > 0 else minus).append(self._value(x))
        positive = self._hy.sum(plus) if len(plus) > 1 else plus[0] if plus else None
        if not minus:
            return positive
        negative = self._hy.sum(minus) if len(minus) > 1 else minus[0]
        return -negative if positive is None else positive - negative


def _named(name: str) -> Callable[..., Any]:
    return lambda hy, *args: getattr(hy, name)(*args)


_RULES: Final[dict[str, Callable[..., Any]]] = {
    **{op: _named(name) for op, name in named("heyoka").items()},
    "div": lambda hy, a, b: a / b,
    "pow": lambda hy, a, b: a**b,
    "abs": lambda hy, a: hy.select(hy.lt(a, 0.0), -a, a),
    "sign": lambda hy, a: hy.select(hy.lt(a, 0.0), -1.0, hy.select(hy.gt(a, 0.0), 1.0, 0.0)),
    "max": lambda hy, a, b: hy.select(hy.lt(a, b), b, a),
    "min": lambda hy, a, b: hy.select(hy.lt(a, b), a, b),
    "cbrt": lambda hy, a: hy.select(hy.lt(a, 0.0), -((-a) ** (1.0 / 3.0)), a ** (1.0 / 3.0)),
    "exp2": lambda hy, a: hy.exp(float(np.log(2.0)) * a),
    "not": lambda hy, a: 1.0 - a,
    "convert": lambda hy, a: a,
    "and": lambda hy, a, b: hy.logical_and([a, b]),
    "or": lambda hy, a, b: hy.logical_or([a, b]),
}

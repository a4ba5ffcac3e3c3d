"""What the functions of a system contain: the time, which coordinates and velocities; read from their traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import jax
import numpy as np

from holonomy.systems import System
from holonomy.trace.function import Function
from holonomy.trace.graph.dag import Node, reachable
from holonomy.trace.graph.series import evaluate, ring
from holonomy.trace.hessian_pattern import value_pattern
from holonomy.trace.jaxpr import JAXPRS, parts
from holonomy.trace.lowering.scalarise import Flat, scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.lagrange import Variables
from holonomy.trace.symbolic.polynomial import Poly
from holonomy.trace.symbolic.unchanged import Reading, vanishes

TIME, POSITION, VELOCITY = 0, 1, 2  # the arguments of a system's functions
_TAKEN_APART = 256  # coordinates up to which functions are read as one expression
_ENTRIES = 4_000_000  # of a pattern, beyond which a function counts as containing everything
_OWN_RULES = ("custom_jvp_call", "custom_vjp_call", "stop_gradient")  # derivatives that no formula tells
_TRIED = 3  # random states at which derivatives are looked at before polynomials are made
_CHANGED = 1e-9  # of the largest derivative: not rounding


@dataclass(frozen=True)
class Dependence:
    """What one function of a system contains.

    `kind` is ``"lagrangian"``, ``"force"``, ``"holonomic"``, ``"velocity"``, ``"wall"``, ``"ratchet"`` or ``"slip"``,
    and `number` counts those of one kind. `time`, `positions` and `velocities` (by their numbers) are those on which
    the value may depend, in a formula, a comparison, the length of a loop, a place in a table: what is not listed has
    no influence. `acts` are the coordinates along which it may act: the components of a force that are not zero, the
    columns of a constraint's normals.
    """

    kind: str
    number: int
    time: bool
    positions: frozenset[int]
    velocities: frozenset[int]
    acts: frozenset[int]


def depends_on(system: System) -> tuple[Dependence, ...]:
    """What each function of a system contains and along which coordinates it acts, the Lagrangian first.

    Decided from the traces, whatever the values of parameters are. An argument that cancels is not listed: sums of
    squares of sine and cosine are replaced, and a derivative that vanishes as a polynomial counts, unless the argument
    occurs in a comparison or a rounding. Where a function is no single expression (a loop whose length depends on
    data), all arguments are listed that are connected to its value.
    """
    return tuple(_of(system, *named) for named in functions(system))


def functions(system: System) -> Iterator[tuple[str, int, Function]]:
    """The functions of a system by kind and number."""
    held, walls = system.constraints.equations, system.constraints.walls
    kinds = {
        "lagrangian": (system.lagrangian,),
        "force": system.forces,
        "holonomic": held.holonomic,
        "velocity": held.velocity,
        "wall": walls.unilateral,
        "ratchet": walls.ratchets,
        "slip": walls.friction.slips,
    }
    for kind, each in kinds.items():
        for number, function in enumerate(each):
            yield kind, number, function


def _of(system: System, kind: str, number: int, function: Function) -> Dependence:
    traced = TracedFunction(system, function, velocity=kind not in ("holonomic", "wall"))
    positions = frozenset(i for a, i in traced.contained if a == POSITION)
    velocities = frozenset(i for a, i in traced.contained if a == VELOCITY)
    acts = {"lagrangian": frozenset[int](), "force": traced.components, "holonomic": positions, "wall": positions}
    return Dependence(kind, number, (TIME, 0) in traced.contained, positions, velocities, acts.get(kind, velocities))


class TracedFunction:
    """One function of (t, q[, v]) of a system: as one expression where it is one (`flat`), and what it contains.

    `read` says whether the expression tells everything: not where a part has derivatives that do not follow from it.
    `at` are the variables of its polynomials, which several functions may share. With `values`, parameters have the
    values of the system there.
    """

    def __init__(
        self, system: System, function: Function, velocity: bool, at: Variables | None = None, values: bool = False
    ) -> None:
        self.system, self.function, self.values = system, function, values
        n = system.space.point_dim
        self.sizes = (1, n, n) if velocity else (1, n)
        self.flat = None if n > _TAKEN_APART else flat(system, function, velocity)
        self.read = self.flat is not None and not _has_own_rules(function)
        self.at = Variables(n) if at is None else at

    @cached_property
    def contained(self) -> frozenset[tuple[int, int]]:
        """The arguments that it contains, by the number of the argument and of the element."""
        return self._read(self.flat) if self.flat is not None and self.read else self._wired()

    @cached_property
    def components(self) -> frozenset[int]:
        """The elements of the value that are not zero."""
        if self.flat is None or not self.read:
            return frozenset(range(self.sizes[1]))
        return frozenset(k for k, node in enumerate(self.flat.outputs[0].nodes) if not self._is_zero(k, node))

    def _read(self, flat: Flat) -> frozenset[tuple[int, int]]:
        nodes = reachable(flat.outputs[0].nodes)
        named = {node.data for node in nodes if node.op == "input" and node.data[0] < len(self.sizes)}
        return frozenset(one for one in named if not self._cancels(*one))

    def _is_zero(self, k: int, node: Node) -> bool:
        """Whether element k of the value is zero, as a number or as a polynomial."""
        if node.op == "const":
            return node.data == 0
        if any(np.abs(s[k, 0]) > _CHANGED * np.max(np.abs(s[:, 0])) for s in self._series) or self.reading is None:
            return False
        return vanishes(self.reading.outputs[k])

    def _cancels(self, argument: int, element: int) -> bool:
        """Whether the derivative by an argument vanishes, and that of all that steps are decided by.

        It is looked at in numbers first, which spares long polynomials.
        """
        if self._changes(argument, element):
            return False
        reading = self.reading
        if reading is None:
            return False
        every = (self.at.t, *self.at.q, *self.at.v)
        (i,) = every[sum(self.sizes[:argument]) + element].leaves
        return all(reading.unchanged(p, {i: reading.ring.one}) for p in reading.outputs)

    def _changes(self, argument: int, element: int) -> bool:
        """Whether a derivative by an argument is not zero at a random state; False where there is none in numbers."""
        column = 1 + sum(self.sizes[:argument]) + element
        return any(np.any(np.abs(s[:, column]) > _CHANGED * np.max(np.abs(s[:, 1:]))) for s in self._series)

    @cached_property
    def _series(self) -> list[np.ndarray]:
        """The values and their derivatives by all arguments at a few random states at which they are finite.

        A row for each value.
        """
        assert self.flat is not None
        generator, of = np.random.default_rng(0), ring(sum(self.sizes), 1)
        nodes, found = self.flat.outputs[0].nodes, []
        parameters = [np.ravel(np.asarray(x, float)) for x in jax.tree.leaves(self.system.last)]
        for _ in range(_TRIED):
            state = [generator.uniform(0.1, 1.4, n) for n in self.sizes]
            leaves = [of.constant(x) for x in (*state, *parameters, np.array(self.flat.numbers, float))]
            first = 1
            for leaf, n in zip(leaves, self.sizes):
                leaf[:, first : first + n] = np.eye(n)
                first += n
            try:
                values = np.array(evaluate(nodes, leaves, of), float)
            except Unsupported:
                return []
            if np.all(np.isfinite(values)):
                found.append(values)
        return found

    @cached_property
    def reading(self) -> Reading | None:
        """The values as polynomials; None where no expression tells everything."""
        if self.flat is None or not self.read:
            return None
        at, numbers = self.at, self.flat.numbers
        arguments = [[at.t], at.q, at.v][: len(self.sizes)]
        parameters = [np.ravel(np.asarray(x, float)) for x in jax.tree.leaves(self.system.last)]

        def leaf(k: int, e: int) -> Poly:
            if k < len(arguments):
                return arguments[k][e]
            k -= len(arguments)
            if k == len(parameters):
                return at.ring.number(numbers[e])
            return at.ring.number(float(parameters[k][e])) if self.values else at.ring.leaf(("parameter", k, e))

        try:
            return Reading(at.ring, self.flat.outputs[0].nodes, leaf)
        except Unsupported:
            return None

    def _wired(self) -> frozenset[tuple[int, int]]:
        shapes = [jax.ShapeDtypeStruct((), np.float64)]
        shapes += [jax.ShapeDtypeStruct((n,), np.float64) for n in self.sizes[1:]]
        leaves = [*shapes, *jax.tree.leaves(self.system.last)]
        found: set[tuple[int, int]] = set()
        for argument, n in enumerate(self.sizes):
            pattern = value_pattern(self.function, leaves, argument, _ENTRIES)
            found |= {(argument, int(i)) for i in (range(n) if pattern is None else pattern.matrix.indices)}
        return frozenset(found)


def flat(system: System, function: Function, velocity: bool) -> Flat | None:
    """A function of a system as one expression, or None where it is none."""
    state = [np.zeros(system.space.point_dim)] * (2 if velocity else 1)
    try:
        return scalarise(lambda *args: function(*args), (np.float64(0.0), *state, *system.last))
    except Unsupported:
        return None


def _has_own_rules(function: Function) -> bool:
    """Whether a part of it has a derivative that does not follow from its value: a rule of its own, or none."""
    pending = [(primitive.name, params) for primitive, params, _, _ in function.program.instructions]
    while pending:
        name, params = pending.pop()
        if name.startswith(_OWN_RULES):
            return True
        for inner in jax.tree.leaves(list(params.values())):
            if isinstance(inner, JAXPRS):
                pending += [(e.primitive.name, e.params) for e in parts(inner)[0].eqns]
    return False

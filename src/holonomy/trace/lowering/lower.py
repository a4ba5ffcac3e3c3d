"""From a jaxpr to a plan: small arrays become scalar nodes, large ones stay in memory, control flow stays control
flow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, Final

import jax.extend.core as jex
import numpy as np

from holonomy.trace.form import Form
from holonomy.trace.graph.dag import Graph, Node
from holonomy.trace.graph.simplify import Algebra
from holonomy.trace.jaxpr import Equation, Jaxpr
from holonomy.trace.lowering.limits import Limits, Site, TooLarge, checked_dtype, unsupported_primitive
from holonomy.trace.lowering.statements import (
    Block,
    Buffer,
    Carry,
    Copy,
    Load,
    Loop,
    Plan,
    Statement,
    Store,
    Unsupported,
    vectorises,
)
from holonomy.trace.lowering.values import Memory, Scalars, Value, strides

INDEX: Final = "i8"

Rule = Callable[..., Any]


class Lowering:
    """State of one lowering: the graph, the statement list being written, and helpers that rules use."""

    def __init__(self, limits: Limits, *, flat: bool = False, form: Form | None = None, leaf: int = 0) -> None:
        self.limits = limits
        self._form = form
        self._leaf = leaf
        self.flat = flat
        self.graph = Graph()
        self.k = Algebra(self.graph)
        self.root = Block(None)
        self.block = self.root
        self.statements = self.root.statements
        self.homes: dict[Node, Block] = {}
        self.aliases: dict[Node, Node] = {}
        self.templates: dict[Any, Any] = {}
        self.costs: dict[int, int] = {}
        self.evaluations: dict[int, int] = {}
        self._plans: dict[int, tuple[Any, list[int], dict[Any, int]]] = {}

    # ── leaves ────────────────────────────────────────────────────────────────────────────────────
    def index(self, n: int) -> Node:
        """The integer n as an index."""
        return self.graph.constant(n, INDEX)

    def variable(self, dtype: str, home: Block | None = None) -> Node:
        """A fresh variable that gets its value in block `home` (default: the present one)."""
        node = self.graph.variable(dtype)
        self.homes[node] = home or self.block
        return node

    def fixed(self, constant: Any) -> Value:
        """A literal or constant of the jaxpr: structure as constants, other numbers as those of a hidden argument."""
        aval: Any = constant.aval if isinstance(constant, jex.Literal) else None
        array = np.asarray(constant) if aval is None else np.asarray(constant.val, aval.dtype)
        if self._form is None or array.dtype.kind != "f":
            return self.constant(array)
        place, dtype = self._form.place(constant), checked_dtype(array.dtype)
        if isinstance(place, tuple):
            return self.argument(self._leaf + 1 + place[1], array.shape, dtype)
        nodes = []
        for x in place:
            if isinstance(x, tuple):
                nodes.append(self.k("convert", self.graph.input(self._leaf, x[1], "f8"), dtype=dtype))
            else:
                nodes.append(self.graph.constant(x, dtype))
        return Scalars(array.shape, dtype, tuple(nodes))

    def constant(self, array: Any) -> Value:
        """Fixed numbers as a value."""
        array = np.asarray(array)
        dtype = checked_dtype(array.dtype)
        if array.size > self.limits.scalars:
            if array.size and _uniform(array):
                return self.generate(array.shape, dtype, lambda _: self.graph.constant(array.ravel()[0].item(), dtype))
            return Memory(array.shape, dtype, Buffer("constant", dtype, array.size, values=np.ascontiguousarray(array)))
        return Scalars(array.shape, dtype, tuple([self.graph.constant(x, dtype) for x in array.ravel().tolist()]))

    def argument(self, leaf: int, shape: tuple[int, ...], dtype: str) -> Value:
        """Argument array number `leaf`."""
        size = math.prod(shape)
        if size > self.limits.carried and not self.flat:
            return Memory(shape, dtype, Buffer("input", dtype, size, leaf=leaf))
        return Scalars(shape, dtype, tuple([self.graph.input(leaf, e, dtype) for e in range(size)]))

    # ── statements ────────────────────────────────────────────────────────────────────────────────
    def emit(self, statement: Statement) -> None:
        """Append a statement to the list being written."""
        if self.flat:
            raise Unsupported(
                "This function needs a loop that depends on data, or an array too large to take apart, so it has no "
                "form as one expression. Write it without jax.lax.while_loop, or with fewer elements."
            )
        self.statements.append(statement)

    @contextmanager
    def inside(self, block: Block, *, header: bool = False) -> Any:
        """Write into `block` for a while."""
        saved = self.block, self.statements
        self.block, self.statements = block, block.header if header else block.statements
        try:
            yield block
        finally:
            self.block, self.statements = saved

    def work(self, dtype: str, size: int) -> Buffer:
        """Fresh memory."""
        return Buffer("work", dtype, size, home=self.block)

    def copy(self, value: Value) -> Memory:
        """`value` in fresh memory of its own."""
        target = self.work(value.dtype, value.size)
        self.store_all(target, value)
        return Memory(value.shape, value.dtype, target)

    def store_all(self, target: Buffer, value: Value) -> None:
        """target[:] = value"""
        if isinstance(value, Memory):
            self.emit(Copy(target, value.buffer))
        elif value.size > 4 and all(n is value.nodes[0] for n in value.nodes):
            self.for_range(value.size, lambda i: self.emit(Store(target, i, value.nodes[0])))
        else:
            for i, node in enumerate(value.nodes):
                self.emit(Store(target, self.index(i), node))

    def memory(self, value: Value) -> Memory:
        """`value` somewhere in memory, to be read only."""
        if isinstance(value, Memory):
            return value
        if value.size and all(n.op == "const" for n in value.nodes):
            numbers = np.array(
                [n.data for n in value.nodes], dtype=np.dtype("?" if value.dtype == "b1" else value.dtype)
            )
            return Memory(value.shape, value.dtype, Buffer("constant", value.dtype, value.size, values=numbers))
        return self.copy(value)

    def scalars(self, value: Value) -> Scalars:
        """`value` element by element."""
        if isinstance(value, Scalars):
            return value
        nodes = [self.element(value, self.index(i)) for i in range(value.size)]
        return Scalars(value.shape, value.dtype, tuple(nodes))

    def move(self, moves: Sequence[tuple[Buffer, Value]]) -> None:
        """Put each value in its buffer, all at once: values may be in buffers that others of them are put in."""
        targets = {target for target, _ in moves}
        ready = []
        for target, value in moves:
            crossing = isinstance(value, Memory) and value.buffer in targets
            ready.append((target, self.copy(value) if crossing else value))
        for target, value in ready:
            self.store_all(target, value)

    # ── elements ──────────────────────────────────────────────────────────────────────────────────
    def element(self, value: Value, i: Node) -> Node:
        """Element i (row-major); i must be in range."""
        if isinstance(value, Scalars):
            if i.op == "const":
                return value.nodes[i.data]
            if value.size <= (_TABLE if self.flat else _SELECTED):
                return self._select_element(value.nodes, i)
            value = self.memory(value)
        buffer = value.buffer
        if buffer.kind == "input" and i.op == "const":
            return self.graph.input(buffer.leaf, i.data, value.dtype)
        if buffer.readonly:
            return self.k("load", i, dtype=value.dtype, data=buffer)
        result = self.variable(value.dtype)
        self.emit(Load(buffer, i, result))
        return result

    def _select_element(self, nodes: Sequence[Node], i: Node) -> Node:
        result = nodes[-1]
        for n in range(len(nodes) - 2, -1, -1):
            result = self.k("select", self.k("eq", i, self.index(n)), nodes[n], result)
        return result

    def at(self, value: Value, position: Sequence[Node]) -> Node:
        """The element at a multi-index."""
        return self.element(value, self.flatten(position, value.shape))

    def flatten(self, position: Sequence[Node], shape: tuple[int, ...]) -> Node:
        """The row-major number of a multi-index."""
        total = self.index(0)
        for i, step in zip(position, strides(shape), strict=True):
            total = self.k("add", total, self.k("mul", i, self.index(step)))
        return total

    def clamp(self, i: Node, low: int, high: int) -> Node:
        """An integer node as an index within [low, high]."""
        i = self.k("convert", i, dtype=INDEX)
        return self.k("max", self.k("min", i, self.index(high)), self.index(low))

    # ── loops that rules write ────────────────────────────────────────────────────────────────────
    def for_range(self, count: int | Node, body: Callable[[Node], None], first: Node | None = None) -> None:
        """for i in range(first or 0, count): body(i)"""

        def step(i: Node, _: Sequence[Node]) -> Sequence[Node]:
            body(i)
            return ()

        self.fold_range(count, (), step, first)

    def fold_range(
        self,
        count: int | Node,
        initial: Sequence[Node],
        body: Callable[[Node, Sequence[Node]], Sequence[Node]],
        first: Node | None = None,
        *,
        vector: bool = False,
    ) -> list[Node]:
        """The last accumulators of: for i in range(first or 0, count): accumulators = body(i, accumulators).

        `vector` as in `Loop`.
        """
        if count == 1 and first is None:
            return list(body(self.index(0), initial))
        start = first or self.index(0)
        bound = self.index(count) if isinstance(count, int) else count
        block = Block(self.block)
        variables = [self.variable(n.dtype, block) for n in (start, *initial)]
        with self.inside(block):
            nexts = [self.k("add", variables[0], self.index(1)), *body(variables[0], variables[1:])]
        condition = self.k("lt", variables[0], bound)
        return self.close_loop(block, variables, [start, *initial], nexts, condition, vector=vector)[1:]

    def close_loop(
        self,
        block: Block,
        variables: Sequence[Node],
        initial: Sequence[Node],
        nexts: Sequence[Node],
        condition: Node,
        *,
        vector: bool = False,
    ) -> list[Node]:
        """Emit the loop and give the values that its variables have afterwards."""
        results = [self.variable(v.dtype) for v in variables]
        carries = []
        for variable, first, following, result in zip(variables, initial, nexts, results, strict=True):
            if following is variable or following is first:
                del self.homes[variable], self.homes[result]
                self.aliases[variable] = first
                self.aliases[result] = first
            else:
                carries.append(Carry(variable, first, following, result))
        self.emit(Loop(block, condition, tuple(carries), vector and vectorises(block, carries, self.homes)))
        return results

    def generate(
        self, shape: tuple[int, ...], dtype: str, function: Callable[[list[Node]], Node], *, large: bool = False
    ) -> Value:
        """The array whose element at each multi-index is `function(multi-index)`.

        Taken apart if it is small (`large`: small enough to be carried), else filled by nested loops.
        """
        size = math.prod(shape)
        if size <= (self.limits.carried if large and not self.flat else self.limits.scalars):
            nodes = [function([self.index(i) for i in position]) for position in np.ndindex(*shape)]
            return Scalars(shape, dtype, tuple(nodes))
        target = self.work(dtype, size)

        def nest(position: list[Node]) -> None:
            if len(position) == len(shape):
                self.emit(Store(target, self.flatten(position, shape), function(position)))
            else:
                self.for_range(shape[len(position)], lambda i: nest([*position, i]))

        nest([])
        return Memory(shape, dtype, target)

    def mapped(self, site: Site, function: Callable[..., Node], values: Sequence[Value]) -> Value:
        """`function` on corresponding elements of values not all of which are taken apart."""
        shape, dtype = site.results[0]
        values = [self.memory(v) if v.size > _SELECTED else v for v in values]

        def element(position: list[Node]) -> Node:
            return function(*[self.at(v, self._shared(position, v.shape)) for v in values])

        return self.generate(shape, dtype, element, large=True)

    def _shared(self, position: list[Node], shape: tuple[int, ...]) -> list[Node]:
        """The multi-index into an operand of shape `shape` that is repeated along dimensions of length 1."""
        trailing = position[len(position) - len(shape) :]
        return [self.index(0) if n == 1 else p for p, n in zip(trailing, shape, strict=True)]

    # ── jaxprs ────────────────────────────────────────────────────────────────────────────────────
    def evaluate(self, jaxpr: Jaxpr, args: Sequence[Value], owned: Sequence[bool] | None = None) -> list[Value]:
        """The results of a jaxpr on `args`; `owned` tells which arguments' memory it may overwrite."""
        from holonomy.trace.lowering.primitives import RULES

        order, last = self._needed(jaxpr)
        env: dict[Any, Value] = {v: self.fixed(c) for v, c in zip(jaxpr.constvars, jaxpr.consts, strict=True)}
        env.update(zip(jaxpr.invars, args, strict=True))
        mine = {v for v, yes in zip(jaxpr.invars, owned or (), strict=False) if yes}

        def read(atom: Any) -> Value:
            return self.fixed(atom) if isinstance(atom, jex.Literal) else env[atom]

        for k in order:
            eqn = jaxpr.eqns[k]
            rule = RULES.get(eqn.name)
            if rule is None:
                raise unsupported_primitive(eqn.name)
            values = [read(a) for a in eqn.invars]
            dead = tuple(_dies(a, k, eqn, last, mine) for a in eqn.invars)
            results = tuple([(tuple(v.aval.shape), checked_dtype(v.aval.dtype)) for v in eqn.outvars])
            out = rule(self, Site(eqn.name, eqn.params, results, dead), *values)
            out = out if isinstance(out, list) else [out]
            env.update(zip(eqn.outvars, out, strict=True))
            self._pass_ownership(eqn, values, dead, out, mine)
            if len(self.graph) > self.limits.nodes:
                raise TooLarge(
                    f"The function needs more than {self.limits.nodes} scalar operations when written out. Use the XLA "
                    "engine for systems of this size, or write repeated work as jax.lax.fori_loop or jax.lax.scan."
                )
        return [read(a) for a in jaxpr.outvars]

    def evaluate_lazily(self, jaxpr: Jaxpr, args: Sequence[Value], owned: Sequence[bool] | None = None) -> list[Value]:
        """The same, for a caller that hands the results to `move`, to `memory` or to another jaxpr."""
        return self.evaluate(jaxpr, args, owned)

    def _pass_ownership(
        self, eqn: Equation, values: list[Value], dead: tuple[bool, ...], out: list[Value], mine: set[Any]
    ) -> None:
        held = {}
        for atom, value, gone in zip(eqn.invars, values, dead, strict=True):
            if isinstance(value, Memory) and not gone:
                held[value.buffer] = atom
        for var, value in zip(eqn.outvars, out, strict=True):
            if isinstance(value, Memory) and not value.buffer.readonly:
                if value.buffer in held:
                    mine.discard(held[value.buffer])
                else:
                    mine.add(var)
                    held[value.buffer] = var

    def _needed(self, jaxpr: Jaxpr) -> tuple[list[int], dict[Any, int]]:
        """Numbers of the equations that the results depend on, and the last use of each variable."""
        found = self._plans.get(id(jaxpr))
        if found is None:
            needed = {v for v in jaxpr.outvars if not isinstance(v, jex.Literal)}
            last = dict.fromkeys(needed, len(jaxpr.eqns))
            order = []
            for k in range(len(jaxpr.eqns) - 1, -1, -1):
                eqn = jaxpr.eqns[k]
                if needed.isdisjoint(eqn.outvars):
                    continue
                order.append(k)
                for atom in eqn.invars:
                    if not isinstance(atom, jex.Literal):
                        needed.add(atom)
                        last.setdefault(atom, k)
            found = self._plans[id(jaxpr)] = (jaxpr, order[::-1], last)
        return found[1], found[2]

    def plan(self, inputs: Sequence[tuple[tuple[int, ...], str]], results: Sequence[Value]) -> Plan:
        """Close the lowering: write the results out."""
        for leaf, value in enumerate(results):
            if isinstance(value, Memory) and value.buffer.kind == "work" and value.buffer.size == value.size:
                value.buffer.kind, value.buffer.leaf = "output", leaf  # computed in its place from the beginning
            else:
                self.store_all(Buffer("output", value.dtype, value.size, leaf=leaf), value)
        outputs = tuple([(v.shape, v.dtype) for v in results])
        return Plan(self.root, self.homes, self.aliases, tuple(inputs), outputs)


_SELECTED: Final = 4  # elements up to which a variable index becomes a chain of selections instead of memory
_TABLE: Final = 1024  # the same in one expression, which has no memory


def _uniform(array: np.ndarray) -> bool:
    """Whether all entries are the same number, bit by bit: 0.0 and -0.0 are two."""
    return array.tobytes() == array.ravel()[:1].tobytes() * array.size


def _dies(atom: Any, k: int, eqn: Equation, last: dict[Any, int], mine: set[Any]) -> bool:
    if isinstance(atom, jex.Literal) or atom not in mine or last.get(atom) != k:
        return False
    return sum(1 for other in eqn.invars if other is atom) == 1

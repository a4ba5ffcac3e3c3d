"""The lowering of functions of large arrays: elementwise work is deferred, joined, and written as few loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import jax.extend.core as jex
import numpy as np

from holonomy.trace.form import Form
from holonomy.trace.graph.dag import Node
from holonomy.trace.jaxpr import Jaxpr
from holonomy.trace.lowering.arrays.deferred import Array, Deferred, all_reads, buffers
from holonomy.trace.lowering.arrays.flatten import Flattened, flattened
from holonomy.trace.lowering.arrays.index import Counter, Index, Position, below, divided, flat
from holonomy.trace.lowering.arrays.reshape import reshaped
from holonomy.trace.lowering.arrays.sweep import sweep
from holonomy.trace.lowering.limits import Limits, Site, TooLarge, checked_dtype, unsupported_primitive
from holonomy.trace.lowering.lower import Lowering
from holonomy.trace.lowering.statements import Begin, Buffer, Load, Store
from holonomy.trace.lowering.values import Memory, Scalars, Value, strides

_SPREAD: Final = 4  # how much larger an array must be than what it is computed from not to be kept
_CACHED: Final = 32_768  # elements of an array that is read from a cache close to the processor
_VERY_DEAR: Final = 24.0  # operations an element that are worth such an array
_COSTS: Final = {"div": 4.0, "sqrt": 5.0, "rsqrt": 8.0, "rem": 10.0, "select_n": 1.0, "convert_element_type": 0.5}
_CHEAP: Final = frozenset(
    (
        "add", "sub", "mul", "neg", "add_any", "max", "min", "abs", "square", "lt", "le", "gt", "ge", "eq", "ne",
        "and", "or", "not", "xor", "is_finite", "integer_pow", "sign", "clamp", "copy", "floor", "ceil", "round",
    )
)  # fmt: skip
_FUNCTION: Final = 30.0  # the cost of a function of the C library


class ArrayLowering(Lowering):
    """A lowering whose values may be deferred."""

    def __init__(self, limits: Limits, *, form: Form | None = None, leaf: int = 0) -> None:
        super().__init__(limits, form=form, leaf=leaf)
        self._loads: list[dict[tuple[Buffer, Node], Node]] = []
        self._decides = True
        self._flattened: dict[int, tuple[Jaxpr, Flattened]] = {}
        self._alive: list[dict[Any, Array]] = []

    # ── elements ──────────────────────────────────────────────────────────────────────────────────
    @contextmanager
    def reading(self) -> Generator[None]:
        """Inside, nothing is written, so what is read is remembered."""
        self._loads.append({})
        try:
            yield
        finally:
            self._loads.pop()

    @contextmanager
    def deciding(self, decides: bool) -> Generator[None]:
        """Inside, boxes are divided where that decides something, or else not."""
        saved, self._decides = self._decides, self._decides and decides
        try:
            yield
        finally:
            self._decides = saved

    def read(self, memory: Memory, index: Index) -> Node:
        """An element of an array in memory, by its row-major number."""
        node = index.node(self.k)
        if memory.buffer.readonly or not self._loads:
            return self.element(memory, node)
        for known in self._loads:
            if (memory.buffer, node) in known:
                return known[memory.buffer, node]
        result = self.variable(memory.dtype)
        self.emit(Load(memory.buffer, node, result))
        self._loads[-1][memory.buffer, node] = result
        return result

    def below(self, index: Index, bound: int) -> bool | Node:
        """Whether index < bound: decided for all positions at once, or as a node."""
        if self._decides or index.high < bound or index.low >= bound:
            known = below(index, bound)
            if known is not None:
                return known
        return self.k("lt", index.node(self.k), self.index(bound))

    def divided(self, index: Index, by: int) -> tuple[Index, Index]:
        """Quotient and remainder."""

        def opaque(op: str, index: Index, by: int) -> Index:
            bounds = (index.low // by, index.high // by) if op == "div" else (0, by - 1)
            return self.computed(self.k(op, index.node(self.k), self.index(by)), *bounds)

        if not self._decides and (index.low // by != index.high // by):
            return opaque("div", index, by), opaque("rem", index, by)
        return divided(index, by, opaque)

    def computed(self, node: Node, low: int, high: int) -> Index:
        """An index that is known only when the code runs, and its bounds."""
        if node.op == "const":
            return Index(node.data)
        return Index(0, ((Counter(node, low, high, cut=False), 1),))

    def value_at(self, value: Array, position: Position) -> Node:
        """The element at a position."""
        if isinstance(value, Deferred):
            return value.element(position)
        number = flat(position, strides(value.shape))
        if isinstance(value, Memory):
            return self.read(value, number)
        return value.nodes[number.constant] if not number.terms else self.element(value, number.node(self.k))

    def operand(self, value: Array) -> Array:
        """`value` in a form in which elements at moving positions can be read."""
        if isinstance(value, Scalars) and value.size > 1:
            same = all(n is value.nodes[0] for n in value.nodes)
            if same:
                return Deferred(value.shape, value.dtype, lambda _: value.nodes[0])
            return self.memory(value)
        return value

    # ── arrays ────────────────────────────────────────────────────────────────────────────────────
    def small(self, shape: Sequence[int]) -> bool:
        """Whether an array of this shape is taken apart."""
        return math.prod(shape) <= self.limits.scalars

    def deferred(
        self, shape: tuple[int, ...], dtype: str, element: Callable[[Position], Node], cost: float, reads: Any
    ) -> Any:
        """The array with these elements, at once in scalars where it is small."""
        if self.small(shape):
            with self.reading():
                nodes = [element(tuple([Index(i) for i in p])) for p in np.ndindex(*shape)]
            return Scalars(shape, dtype, tuple(nodes))
        return Deferred(shape, dtype, element, cost, reads)

    def mapped(self, site: Site, function: Callable[..., Node], values: Sequence[Any]) -> Any:
        shape, dtype = site.results[0]
        operands = [self.operand(v) for v in values]

        def shared(position: Position, inner: tuple[int, ...]) -> Position:
            trailing = position[len(position) - len(inner) :]
            return tuple([Index(0) if n == 1 else p for p, n in zip(trailing, inner, strict=True)])

        def element(position: Position) -> Node:
            return function(*[self.value_at(v, shared(position, v.shape)) for v in operands])

        own = 1.0 if site.name in _CHEAP else _COSTS.get(site.name, _FUNCTION)
        cost = own + sum(v.cost for v in operands if isinstance(v, Deferred))
        whole = all(v.shape == shape or v.size == 1 for v in operands)
        return self.deferred(shape, dtype, element, cost, all_reads(operands, in_place=whole))

    def constant(self, array: Any) -> Value:
        array = np.asarray(array)
        if array.size > self.limits.scalars and array.tobytes() == array.ravel()[:1].tobytes() * array.size:
            node = self.graph.constant(array.ravel()[0].item(), checked_dtype(array.dtype))
            value: Any = Deferred(array.shape, node.dtype, lambda _: node)
            return value
        return super().constant(array)

    def fill(self, targets: Sequence[tuple[Buffer, Array]]) -> None:
        """Write arrays of one size into their buffers, in the same loops."""
        shapes = {value.shape for _, value in targets}
        shape = shapes.pop() if len(shapes) == 1 else (targets[0][1].size,)
        rows = [(target, self.operand(reshaped(self, value, shape))) for target, value in targets]
        read = {buffer for _, value in rows for buffer in buffers(value)}
        new = tuple([target for target, _ in targets if target not in read and target.size == math.prod(shape)])
        if new:
            self.emit(Begin(new))

        def body(positions: list[Position], _: Sequence[Node]) -> Sequence[Node]:
            found = [
                (target, flat(p, strides(shape)).node(self.k), self.value_at(value, p))
                for p in positions
                for target, value in rows
            ]
            for target, index, node in found:
                self.emit(Store(target, index, node))
            return ()

        sweep(self, shape, (), body)

    def kept(self, value: Array) -> Any:
        """A value that is computed now if it was not."""
        return self.memory(value) if isinstance(value, Deferred) else value

    def memory(self, value: Any) -> Memory:
        if not isinstance(value, Deferred):
            return super().memory(value)
        buffer = self.work(value.dtype, value.size)
        self.fill([(buffer, value)])
        return Memory(value.shape, value.dtype, buffer)

    def copy(self, value: Any) -> Memory:
        if not isinstance(value, Deferred):
            return super().copy(value)
        target = self.work(value.dtype, value.size)
        self.fill([(target, value)])
        return Memory(value.shape, value.dtype, target)

    def store_all(self, target: Buffer, value: Any) -> None:
        if isinstance(value, Deferred):
            self.fill([(target, value)])
        else:
            super().store_all(target, value)

    def scalars(self, value: Any) -> Scalars:
        return super().scalars(self.kept(value))

    def move(self, moves: Sequence[tuple[Buffer, Any]]) -> None:
        """As in the base class; arrays of one size are written in one loop, in place where that is possible."""
        targets = {target for target, _ in moves}
        ready: dict[int, list[tuple[Buffer, Array]]] = {}
        for target, value in moves:
            if any(b in targets and not same for b, same in buffers(value).items()):
                value = self.memory(value)
            ready.setdefault(value.size, []).append((target, value))
        sizes = {target: target.size for target in targets}
        for size, group in ready.items():
            others = {b for b, n in sizes.items() if n != size}
            group = [(t, self.copy(v) if others & set(buffers(v)) else v) for t, v in group]
            ready[size] = group
        for group in ready.values():
            self.fill(group)

    # ── jaxprs ────────────────────────────────────────────────────────────────────────────────────
    def evaluate(self, jaxpr: Jaxpr, args: Sequence[Any], owned: Sequence[bool] | None = None) -> list[Any]:
        return [self.kept(v) for v in self.evaluate_lazily(jaxpr, args, owned)]

    def evaluate_lazily(self, jaxpr: Jaxpr, args: Sequence[Any], owned: Sequence[bool] | None = None) -> list[Any]:
        from holonomy.trace.lowering.primitives.elementwise import RULES as ELEMENTWISE

        if id(jaxpr) not in self._flattened:
            self._flattened[id(jaxpr)] = (jaxpr, flattened(jaxpr, self.limits.scalars, ELEMENTWISE))
        program = self._flattened[id(jaxpr)][1]
        env: dict[Any, Array] = {v: self.fixed(c) for v, c in program.constants}
        env.update(zip(program.invars, args, strict=True))
        mine = {v for v, yes in zip(program.invars, owned or (), strict=False) if yes}
        self._alive.append(env)
        try:
            for k, eqn in enumerate(program.eqns):
                self._equation(program, k, eqn, env, mine)
                self._release(program, k, env)
            return [self.fixed(a) if isinstance(a, jex.Literal) else env[a] for a in program.outvars]
        finally:
            self._alive.pop()

    def _equation(self, program: Flattened, k: int, eqn: Any, env: dict[Any, Array], mine: set[Any]) -> None:
        values: list[Any] = [self.fixed(a) if isinstance(a, jex.Literal) else env[a] for a in eqn.invars]
        dead = tuple([self._dies(program, k, n, eqn, env, mine) for n in range(len(eqn.invars))])
        results = tuple([(tuple(v.aval.shape), checked_dtype(v.aval.dtype)) for v in eqn.outvars])
        out = self._applied(Site(eqn.name, eqn.params, results, dead), values)
        for n, (var, value) in enumerate(zip(eqn.outvars, out, strict=True)):
            out[n] = self._bound(value, program.times.get(id(var), 0))
        env.update(zip(eqn.outvars, out, strict=True))
        self._pass_ownership(eqn, values, dead, out, mine)
        if len(self.graph) > self.limits.nodes:
            raise TooLarge(
                f"The function needs more than {self.limits.nodes} operations on arrays when written out. Use the XLA "
                "engine for systems of this size, or write repeated work as jax.lax.fori_loop or jax.lax.scan."
            )

    def _applied(self, site: Site, values: list[Any]) -> list[Any]:
        from holonomy.trace.lowering.arrays.rules import ARRAY_RULES, LEFT_TO_XLA
        from holonomy.trace.lowering.primitives.elementwise import RULES as ELEMENTWISE

        taken_apart = all(isinstance(v, Scalars) for v in values) and all(self.small(s) for s, _ in site.results)
        if not taken_apart:
            if site.name in ARRAY_RULES:
                return _listed(ARRAY_RULES[site.name](self, site, *values))
            if site.name in LEFT_TO_XLA:
                raise TooLarge(f"The JAX primitive '{site.name}' on large arrays is left to XLA, which is faster.")
            if site.name not in ELEMENTWISE:
                return self._applied_to_kept(site, values)
        return _listed(_rule(site)(self, site, *values))

    def _applied_to_kept(self, site: Site, values: list[Any]) -> list[Any]:
        """A rule on values in memory, but for those from which the variables of a loop begin."""
        from holonomy.trace.lowering.primitives.control import loop_variables

        return self.applied(_rule(site), site, values, loop_variables(site))

    def applied(self, rule: Any, site: Site, values: Sequence[Any], left: Container[int]) -> list[Any]:
        """A rule on values in memory, those with the numbers in `left` as they are."""
        kept = [v if n in left else self.kept(v) for n, v in enumerate(values)]
        return _listed(rule(self, site, *kept))

    def _bound(self, value: Array, times: int) -> Array:
        """A value as it is remembered: computed now if it is dear and would be computed several times."""
        if not isinstance(value, Deferred) or times < 2 or value.cost * (times - 1) <= self.limits.dear:
            return value
        largest = max([b.size for b in value.reads], default=0)
        fits = value.size <= _CACHED and value.cost * (times - 1) > _VERY_DEAR
        if value.size > _SPREAD * largest and not fits:  # more memory than what it is computed from
            return value
        return self.memory(value)

    def _dies(self, program: Flattened, k: int, n: int, eqn: Any, env: dict[Any, Array], mine: set[Any]) -> bool:
        """Whether the memory of an operand may be overwritten."""
        atom = eqn.invars[n]
        if isinstance(atom, jex.Literal) or atom not in mine or program.last.get(atom) != k:
            return False
        value = env[atom]
        if not isinstance(value, Memory) or not _only(eqn, n):
            return False
        return not any(
            other is not atom and value.buffer in buffers(held)
            for frame in self._alive
            for other, held in frame.items()
        )

    @staticmethod
    def _release(program: Flattened, k: int, env: dict[Any, Array]) -> None:
        """Forget what nobody needs after equation k, so that its memory may be overwritten."""
        for var in program.dying.get(k, ()):
            env.pop(var, None)


def _rule(site: Site) -> Callable[..., Any]:
    from holonomy.trace.lowering.primitives import RULES

    rule = RULES.get(site.name)
    if rule is None:
        raise unsupported_primitive(site.name)
    return rule


def _listed(out: Any) -> list[Any]:
    return list(out) if isinstance(out, list | tuple) else [out]


def _only(eqn: Any, n: int) -> bool:
    """Whether operand n is no other one too; a loop copies variables that begin as an earlier one does."""
    where = [i for i, other in enumerate(eqn.invars) if other is eqn.invars[n]]
    if eqn.name == "while":
        return where[0] == n and n >= eqn.params["cond_nconsts"] + eqn.params["body_nconsts"]
    return len(where) == 1

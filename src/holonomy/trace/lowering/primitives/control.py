"""Loops, branches and calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import jax.extend.core as jex
import numpy as np

from holonomy.trace.graph.dag import Node, reachable, substitute
from holonomy.trace.jaxpr import Jaxpr, inner_jaxprs
from holonomy.trace.lowering.limits import cost
from holonomy.trace.lowering.primitives.shapes import numbering, pick
from holonomy.trace.lowering.statements import Block, Branch, Store, Unsupported
from holonomy.trace.lowering.values import Memory, Scalars, Value

if TYPE_CHECKING:
    from holonomy.trace.lowering.limits import Site
    from holonomy.trace.lowering.lower import Lowering

Row: TypeAlias = "Callable[[Node], Value]"  # the row with a number
Rows: TypeAlias = "Callable[[Lowering, Value], Row]"

_TOUCHING: Final = frozenset({"dynamic_slice", "dynamic_update_slice", "gather", "scatter", "scatter-add"})


# ── calls ─────────────────────────────────────────────────────────────────────────────────────────
def _call(low: Lowering, site: Site, *args: Value) -> list[Value]:
    inner = site.params["jaxpr"]
    return _templated(low, inner, args) or low.evaluate(inner, args, site.dead)


def _templated(low: Lowering, inner: Jaxpr, args: Sequence[Value]) -> list[Value] | None:
    """The results by substitution into the simplified body, which is kept for the next call of the same function."""
    if low.flat or not all(isinstance(a, Scalars) for a in args):
        return None
    nodes = [n for a in args for n in low.scalars(a).nodes]
    key = (id(inner), tuple([n.index if n.op == "const" else None for n in nodes]))
    if key not in low.templates:
        again = low.evaluations.get(id(inner), 2) > 1
        worth = again and cost(inner, low.costs) > _TEMPLATE_COST
        low.templates[key] = (inner, *_template(low, inner, args)) if worth else (inner, None, None, ())
    _, parameters, results, below = low.templates[key]
    if parameters is None:
        return None
    actual = dict(zip(parameters, [n for n in nodes if n.op != "const"], strict=True))
    flat = iter(substitute([n for r in results for n in r.nodes], actual, low.k.rebuild, below))
    return [Scalars(r.shape, r.dtype, tuple([next(flat) for _ in r.nodes])) for r in results]


def _template(low: Lowering, inner: Jaxpr, args: Sequence[Value]) -> tuple[Any, Any, list[Node]]:
    """Variables for the arguments, the results in them, and all nodes of the results; None where it has statements."""
    block = Block(low.block)
    parameters: list[Node] = []

    def parameter(node: Node) -> Node:
        if node.op == "const":
            return node
        parameters.append(low.variable(node.dtype, block))
        return parameters[-1]

    formal = [Scalars(a.shape, a.dtype, tuple([parameter(n) for n in low.scalars(a).nodes])) for a in args]
    with low.inside(block):
        evaluated = low.evaluate(inner, formal)
    results = [r for r in evaluated if isinstance(r, Scalars)]
    if block.statements or len(results) < len(evaluated):
        return None, None, []
    return parameters, results, reachable([n for r in results for n in low.scalars(r).nodes])


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────
class _Carried:
    """The loop variables of one loop: scalars as variables of the block, arrays in memory of their own."""

    def __init__(self, low: Lowering, initial: Sequence[Value], inplace: Sequence[bool], large: Sequence[bool]) -> None:
        self.low = low
        self.block = Block(low.block)
        self.initial = initial
        self.values: list[Value] = []
        self.variables: list[Node] = []
        for value, mine, big in zip(initial, inplace, large, strict=True):
            if big:
                reuse = mine and isinstance(value, Memory) and not value.buffer.readonly
                self.values.append(value if reuse else low.copy(value))
            else:
                nodes = tuple([low.variable(n.dtype, self.block) for n in low.scalars(value).nodes])
                self.variables += nodes
                self.values.append(Scalars(value.shape, value.dtype, nodes))

    @property
    def firsts(self) -> list[Node]:
        pairs = zip(self.initial, self.values, strict=True)
        return [n for first, value in pairs if isinstance(value, Scalars) for n in self.low.scalars(first).nodes]

    def settle(self, results: Sequence[Value]) -> list[Node]:
        """Put array results in their places; give the next values of the variables."""
        low = self.low
        nexts = [
            n for r, v in zip(results, self.values, strict=True) if isinstance(v, Scalars) for n in low.scalars(r).nodes
        ]
        moves = [
            (value.buffer, result)
            for result, value in zip(results, self.values, strict=True)
            if isinstance(value, Memory) and not (isinstance(result, Memory) and result.buffer is value.buffer)
        ]
        low.move(moves)
        return nexts

    def after(self, nodes: Sequence[Node]) -> list[Value]:
        """The loop variables' values after the loop."""
        left = iter(nodes)
        return [
            v if isinstance(v, Memory) else Scalars(v.shape, v.dtype, tuple([next(left) for _ in v.nodes]))
            for v in self.values
        ]


def _kept_whole(low: Lowering, value: Value, touched: bool) -> bool:
    return isinstance(value, Memory) or value.size > low.limits.carried or (touched and value.size > _FEW)


def loop_variables(site: Site) -> list[int]:
    """The operands of a `while` that are not the same in every turn; of other primitives none."""
    if site.name != "while":
        return []
    before, body = site.params["cond_nconsts"] + site.params["body_nconsts"], site.params["body_jaxpr"]
    first = body.invars[site.params["body_nconsts"] :]
    return [before + k for k, (v, old) in enumerate(zip(body.outvars, first, strict=True)) if v is not old]


def _while(low: Lowering, site: Site, *values: Value) -> list[Value]:
    params = site.params
    nc, nb = params["cond_nconsts"], params["body_nconsts"]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    initial, dead = values[nc + nb :], site.dead[nc + nb :]
    moving = [n - nc - nb for n in loop_variables(site)]
    touched = _touched(body)[nb:]
    if low.flat:
        raise Unsupported("A loop whose length depends on data (jax.lax.while_loop) has no form as one expression.")
    carried = _Carried(
        low, [initial[k] for k in moving], [dead[k] for k in moving],
        [_kept_whole(low, initial[k], touched[k]) for k in moving],
    )  # fmt: skip

    def full(parts: Sequence[Value]) -> list[Value]:
        whole = list(initial)
        for k, part in zip(moving, parts, strict=True):
            whole[k] = part
        return whole

    with low.inside(carried.block, header=True):
        (condition,) = low.evaluate(cond, [*values[:nc], *full(carried.values)])
    owned = [False] * nb + [k in moving for k in range(len(initial))]
    with low.inside(carried.block):
        results = low.evaluate_lazily(body, [*values[nc : nc + nb], *full(carried.values)], owned)
        nexts = carried.settle([results[k] for k in moving])
    test = low.element(condition, low.index(0))
    nodes = low.close_loop(carried.block, carried.variables, carried.firsts, nexts, test)
    return full(carried.after(nodes))


def scan(low: Lowering, site: Site, *values: Value, rows: Rows | None = None) -> list[Value]:
    """The rule for a scan; `rows` gives the rows of an array by their number, by default those that are in memory."""
    params = site.params
    nk, nc, length = params["num_consts"], params["num_carry"], params["length"]
    consts, carry, xs = values[:nk], values[nk : nk + nc], values[nk + nc :]
    small = all(isinstance(v, Scalars) for v in (*carry, *xs))
    ys_size = sum(math.prod(shape) for shape, _ in site.results[nc:])
    work = length * cost(params["jaxpr"], low.costs)
    most = low.limits.rows if params["unroll"] >= length else low.limits.unrolled
    whole = ys_size <= low.limits.scalars and small and work <= most
    once = length == 0 or (length == 1 and ys_size <= low.limits.scalars)
    if low.flat or once or whole:
        return _scan_unrolled(low, site, consts, carry, xs)
    return _scan_looped(low, site, consts, carry, [(rows or rows_in_memory)(low, x) for x in xs])


def _scan_unrolled(low: Lowering, site: Site, consts: Any, carry: Any, xs: Any) -> list[Value]:
    params = site.params
    nc, length = params["num_carry"], params["length"]
    rows: list[list[Value]] = [[] for _ in range(length)]
    columns = [x if isinstance(x, Scalars) else low.memory(x) for x in xs]
    turns = range(length - 1, -1, -1) if params["reverse"] else range(length)
    for i in turns:
        slices = [pick(low, x, numbering(x)[i]) for x in columns]
        results = low.evaluate_lazily(params["jaxpr"], [*consts, *carry, *slices])
        carry, rows[i] = results[:nc], results[nc:]
    stacked: list[Value] = []
    for column, (shape, dtype) in enumerate(site.results[nc:]):
        nodes = [n for row in rows for n in low.scalars(row[column]).nodes]
        stacked.append(Scalars(shape, dtype, tuple(nodes)))
    return [*carry, *stacked]


def _scan_looped(low: Lowering, site: Site, consts: Any, carry: Any, columns: Sequence[Row]) -> list[Value]:
    params = site.params
    nk, nc, length = params["num_consts"], params["num_carry"], params["length"]
    body = params["jaxpr"]
    touched = _touched(body)[nk:]
    large = [_kept_whole(low, v, touched[k]) for k, v in enumerate(carry)]
    carried = _Carried(low, carry, site.dead[nk : nk + nc], large)
    targets = [low.work(dtype, math.prod(shape)) for shape, dtype in site.results[nc:]]
    counter = low.variable("i8", carried.block)
    with low.inside(carried.block):
        i = low.k("sub", low.index(length - 1), counter) if params["reverse"] else counter
        rows = [row(i) for row in columns]
        owned = [False] * nk + [True] * nc + [False] * len(columns)
        results = low.evaluate_lazily(body, [*consts, *carried.values, *rows], owned)
        for target, y in zip(targets, results[nc:], strict=True):
            _store_row(low, target, y, i)
        nexts = carried.settle(results[:nc])
    following = low.k("add", counter, low.index(1))
    test = low.k("lt", counter, low.index(length))
    variables, firsts = [counter, *carried.variables], [low.index(0), *carried.firsts]
    nodes = low.close_loop(carried.block, variables, firsts, [following, *nexts], test)
    stacked = [Memory(shape, dtype, t) for t, (shape, dtype) in zip(targets, site.results[nc:], strict=True)]
    out = [low.scalars(s) if s.size <= low.limits.carried else s for s in stacked]
    return [*carried.after(nodes[1:]), *out]


def rows_in_memory(low: Lowering, x: Value) -> Row:
    """The rows of an array in memory."""
    kept, shape = low.memory(x), x.shape[1:]
    size = math.prod(shape)

    def row(i: Node) -> Value:
        start = low.k("mul", i, low.index(size))
        return low.generate(
            shape, x.dtype, lambda p: low.element(kept, low.k("add", start, low.flatten(p, shape))), large=True
        )

    return row


def _store_row(low: Lowering, target: Any, y: Value, i: Node) -> None:
    start = low.k("mul", i, low.index(y.size))
    if isinstance(y, Scalars):
        for n, node in enumerate(y.nodes):
            low.emit(Store(target, low.k("add", start, low.index(n)), node))
    else:
        row = low.memory(y)
        low.for_range(y.size, lambda n: low.emit(Store(target, low.k("add", start, n), low.element(row, n))))


def _touched(jaxpr: Jaxpr) -> list[bool]:
    """Which arguments of a jaxpr are read or written at moving positions inside it."""
    found: set[Any] = set()
    for eqn in jaxpr.eqns:
        if eqn.name in _TOUCHING:
            if any(not isinstance(a, jex.Literal) for a in eqn.invars[1:]):
                found.add(eqn.invars[0])
            continue
        for inner in inner_jaxprs(eqn.params):
            marks = _touched(inner)
            outer = eqn.invars[len(eqn.invars) - len(marks) :] if len(marks) <= len(eqn.invars) else []
            found.update(a for a, mark in zip(outer, marks, strict=False) if mark and not isinstance(a, jex.Literal))
    return [v in found for v in jaxpr.invars]


# ── branches ──────────────────────────────────────────────────────────────────────────────────────
def _cond(low: Lowering, site: Site, which: Value, *operands: Value) -> list[Value]:
    branches = site.params["branches"]
    selector = low.element(which, low.index(0))
    selector = low.k("convert", selector, dtype="i8")
    if selector.op == "const":
        return low.evaluate(branches[min(max(selector.data, 0), len(branches) - 1)], operands, site.dead[1:])
    if low.flat:
        return _selected(low, [low.evaluate(b, operands) for b in branches], selector)
    return _branched(low, site, branches, selector, operands)


def _selected(low: Lowering, results: list[list[Value]], selector: Node) -> list[Value]:
    out = results[-1]
    for n in range(len(results) - 2, -1, -1):
        here = low.k("le", selector, low.index(n))
        out = [_chosen(low, here, a, b) for a, b in zip(results[n], out, strict=True)]
    return out


def _chosen(low: Lowering, here: Node, a: Value, b: Value) -> Value:
    pairs = zip(low.scalars(a).nodes, low.scalars(b).nodes, strict=True)
    return Scalars(a.shape, a.dtype, tuple([low.k("select", here, x, y) for x, y in pairs]))


def _branched(low: Lowering, site: Site, branches: Any, selector: Node, operands: Sequence[Value]) -> list[Value]:
    blocks, results = [], []
    for branch in branches:
        block = Block(low.block)
        with low.inside(block):
            inner = [_renamed(low, v, block) for v in operands]
            results.append(low.evaluate(branch, inner, site.dead[1:]))
        blocks.append(block)
    out: list[Value] = []
    yields: list[list[Node]] = [[] for _ in branches]
    flat: list[Node] = []
    for column, (shape, dtype) in enumerate(site.results):
        cases = [r[column] for r in results]
        if all(isinstance(c, Scalars) for c in cases) or math.prod(shape) <= _FEW:
            for block, case, row in zip(blocks, cases, yields, strict=True):
                with low.inside(block):
                    row += low.scalars(case).nodes
            nodes = tuple([low.variable(dtype) for _ in range(math.prod(shape))])
            flat += nodes
            out.append(Scalars(shape, dtype, nodes))
        else:
            out.append(_joined(low, blocks, cases, shape, dtype))
    low.emit(Branch(selector, tuple(blocks), tuple(map(tuple, yields)), tuple(flat)))
    return out


def _joined(low: Lowering, blocks: list[Block], cases: list[Value], shape: tuple[int, ...], dtype: str) -> Value:
    """One place in memory for an array that either branch gives; no copy where they wrote to the same place."""
    places = {c.buffer if isinstance(c, Memory) else None for c in cases}
    (only,) = places if len(places) == 1 else (None,)
    if only is not None:
        return Memory(shape, dtype, only)
    target = low.work(dtype, math.prod(shape))
    for block, case in zip(blocks, cases, strict=True):
        with low.inside(block):
            low.store_all(target, case)
    return Memory(shape, dtype, target)


def _renamed(low: Lowering, value: Value, block: Block) -> Value:
    """An operand under a name of the branch, so that work on it stays in the branch."""
    if isinstance(value, Memory):
        return value
    nodes = []
    for node in value.nodes:
        if node.op != "const":
            alias = low.variable(node.dtype, block)
            low.aliases[alias] = node
            node = alias
        nodes.append(node)
    return Scalars(value.shape, value.dtype, tuple(nodes))


def _platform_index(low: Lowering, site: Site) -> Value:
    """Which branch is written for this kind of machine."""
    platforms = site.params["platforms"]
    chosen = next(n for n, names in enumerate(platforms) if names is None or "cpu" in names)
    return low.constant(np.int32(chosen))


_FEW: Final = 4  # elements up to which a changing loop variable stays in scalars
_TEMPLATE_COST: Final = 200  # operations above which a body that is called again is lowered once and copied

RULES: Final[dict[str, Any]] = {
    "call": _call,
    "while": _while,
    "scan": scan,
    "cond": _cond,
    "platform_index": _platform_index,
}  # fmt: skip

"""Where each node is computed: the innermost block among those of the variables it depends on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.statements import Angles, Begin, Block, Branch, Copy, Load, Loop, Plan, Statement, Store


class Schedule:
    """Homes of nodes, and the nodes that a statement needs before it can run."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._homes: dict[int, Block] = {}
        self._roots: dict[int, list[Node]] = {}
        self._uses: Counter[int] | None = None

    def children(self, node: Node) -> tuple[Node, ...]:
        """What must be known before `node`: its arguments, or the node it is another name for."""
        alias = self._plan.aliases.get(node)
        return node.args if alias is None else (alias,)

    def home(self, node: Node) -> Block:
        """The block in which `node` is computed."""
        found = self._homes.get(node.index)
        if found is None:
            for n in self._below(node):
                self._homes[n.index] = found = self._own_home(n)
        assert found is not None
        return found

    def _own_home(self, node: Node) -> Block:
        declared = self._plan.homes.get(node)
        if declared is not None:
            return declared
        deepest = self._plan.root
        for child in self.children(node):
            home = self._homes[child.index]
            if home.depth > deepest.depth:
                deepest = home
        return deepest

    def _below(self, node: Node) -> list[Node]:
        seen: dict[int, Node] = {}
        stack = [node]
        while stack:
            n = stack.pop()
            if n.index not in seen and n.index not in self._homes:
                seen[n.index] = n
                stack.extend(self.children(n))
        return [seen[i] for i in sorted(seen)]

    def roots(self, statement: Statement) -> list[Node]:
        """The nodes that a statement and everything inside it mention."""
        found = self._roots.get(id(statement))
        if found is None:
            found = self._roots[id(statement)] = list(dict.fromkeys(self._mentioned(statement)))
        return found

    def _mentioned(self, statement: Statement) -> Iterable[Node]:
        match statement:
            case Store(_, index, value):
                yield from (index, value)
            case Load(_, index, _):
                yield index
            case Begin() | Copy() | Angles():
                pass
            case Loop(block, condition, carries, _):
                for carry in carries:
                    yield from (carry.initial, carry.next)
                yield condition
                for inner in (*block.header, *block.statements):
                    yield from self.roots(inner)
            case Branch(selector, blocks, yields, _):
                yield selector
                for block, row in zip(blocks, yields, strict=True):
                    for inner in block.statements:
                        yield from self.roots(inner)
                    yield from row

    def uses(self, node: Node) -> int:
        """How many nodes and statements take `node`."""
        if self._uses is None:
            mentioned = [n for s in self._plan.root.statements for n in self.roots(s)]
            self._uses = Counter(n.index for n in mentioned)
            seen: set[int] = set()
            stack = mentioned
            while stack:
                n = stack.pop()
                if n.index not in seen:
                    seen.add(n.index)
                    children = self.children(n)
                    self._uses.update([a.index for a in children])
                    stack.extend(children)
        return self._uses[node.index]

    def pending(self, roots: Sequence[Node], block: Block, done: dict[int, str]) -> list[Node]:
        """The nodes to compute in `block` now so that `roots` can be had, arguments first."""
        wanted: dict[int, Node] = {}
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node.index in seen or node.index in done:
                continue
            seen.add(node.index)
            if self.home(node) is block:
                wanted[node.index] = node
            stack.extend(self.children(node))
        return [wanted[i] for i in sorted(wanted)]

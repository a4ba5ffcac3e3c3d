"""From a plan to LLVM IR text: the lines of one function on argument and result pointers."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from holonomy.trace.graph.dag import DTYPES, Node, reachable
from holonomy.trace.lowering.schedule import Schedule
from holonomy.trace.lowering.statements import (
    Angles,
    Begin,
    Block,
    Branch,
    Buffer,
    Copy,
    Load,
    Loop,
    Plan,
    Statement,
    Store,
)
from holonomy.trace.native.instructions import fused, scalar, type_of
from holonomy.trace.native.scratch import ALIGN, bytes_of, scratch
from holonomy.trace.native.vector_math import hexadecimal


class Emitter:
    """Writes the body of one plan."""

    def __init__(self, plan: Plan, width: int) -> None:
        self.plan = plan
        self.schedule = Schedule(plan)
        self.width = width
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.globals: list[str] = []
        self.values: dict[int, str] = {}
        self.places: dict[Buffer, str] = {}
        self.declared: set[str] = set()
        self.widths: set[int] = set()
        self.angles: dict[Node, tuple[str, str]] = {}
        self.metadata: list[str] = []
        self.elementary: set[str] = set()
        self.many_angles = False
        self.reordered: set[int] = set()
        self.summed: set[int] = set()
        self.used: set[int] = set()
        self._group = ""
        self.label = "entry"
        self.scratch = scratch(plan)
        self._names = 0

    # ── text ──────────────────────────────────────────────────────────────────────────────────────
    def fresh(self, stem: str = "t") -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def put(self, text: str) -> str:
        """A line that defines a fresh name."""
        name = f"%{self.fresh()}"
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def start(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def call(self, name: str, result: str, arguments: Sequence[tuple[str, str]]) -> str:
        """A call of a C function without side effects."""
        types = ", ".join(t for t, _ in arguments)
        attributes = "" if name.startswith("llvm.") else " #0"
        self.declared.add(f"declare {result} @{name}({types}){attributes}")
        return self.put(f"call {result} @{name}({', '.join(f'{t} {v}' for t, v in arguments)})")

    # ── nodes ─────────────────────────────────────────────────────────────────────────────────────
    def value(self, node: Node) -> str:
        """The operand text of a node that is already computed."""
        if node.op == "const":
            return literal(node.data, node.dtype)
        return self.values[node.index]

    def need(self, roots: Sequence[Node], block: Block) -> None:
        """Compute what `roots` need in this block."""
        nodes = self.schedule.pending(roots, block, self.values)
        products = self._products(nodes)
        inside = {product.index for product in products.values()}
        levels: dict[int, int] = {}
        rows: dict[int, tuple[list[Node], list[Node]]] = {}
        for node in nodes:
            angle = node.op in ("sin", "cos") and node.dtype == "f8"
            level = max([levels.get(c.index, 0) for c in self.schedule.children(node)], default=0) + angle
            levels[node.index] = level
            rows.setdefault(level, ([], []))[0 if angle else 1].append(node)
        for level in sorted(rows):
            angles, others = rows[level]
            self._angles(angles, block)
            for node in others:
                if node.index not in inside:
                    self._node(node, products.get(node.index))

    def _products(self, nodes: Sequence[Node]) -> dict[int, Node]:
        """Products that one sum or difference takes and nothing else, by the index of that."""
        here = {n.index for n in nodes if n.op == "mul" and n.dtype[0] == "f"}
        found: dict[int, Node] = {}
        for node in nodes:
            if node.op in ("add", "sub") and node.dtype[0] == "f" and node.index not in self.reordered:
                once = [a for a in node.args if a.index in here and self.schedule.uses(a) == 1]
                if once:
                    found[node.index] = once[0]
        return found

    def _node(self, node: Node, product: Node | None) -> None:
        alias = self.plan.aliases.get(node)
        if alias is not None:
            self.values[node.index] = self.value(alias)
        elif node.op == "variable" or node.op == "const":
            return
        elif node.op == "input":
            leaf, element = node.data
            self.used.add(leaf)
            self.values[node.index] = self._read(f"%in{leaf}", literal(element, "i8"), node.dtype)
        elif node.op == "load":
            self.values[node.index] = self._read(self.place(node.data), self.value(node.args[0]), node.dtype)
        elif product is not None:
            self.values[node.index] = fused(self, node, product)
        else:
            self.values[node.index] = scalar(self, node)

    def _angles(self, nodes: list[Node], block: Block) -> None:
        """Sines and cosines, those of one angle together and several angles at a time.

        Each from its own angle: by the addition theorems sin(a - b) would lose its digits where a is near b.
        """
        angles = [a for a in dict.fromkeys([n.args[0] for n in nodes]) if a not in self.angles]
        pairs = self.angles | self._sines_and_cosines(angles)
        for node in nodes:
            self.values[node.index] = pairs[node.args[0]][0 if node.op == "sin" else 1]
        # An angle that is known outside this block may be asked for where the block was not run.
        self.angles |= {angle: pairs[angle] for angle in angles if self.schedule.home(angle) is block}

    def _taken(self, left: int) -> int:
        """How many of the angles that are left to take at once."""
        return next(w for w in (8, 4, 2, 1) if w == 1 or (w <= self.width and left > w // 2))

    def _sines_and_cosines(self, angles: list[Node]) -> dict[Node, tuple[str, str]]:
        pairs: dict[Node, tuple[str, str]] = {}
        start = 0
        while start < len(angles):
            width = self._taken(len(angles) - start)
            group = angles[start : start + width]
            start += width
            self.widths.add(width)
            kind = f"<{width} x double>"
            vector = "poison"
            for i in range(width):
                angle = self.value(group[i] if i < len(group) else group[0])
                vector = self.put(f"insertelement {kind} {vector}, double {angle}, i32 {i}")
            both = self.put(f"call fastcc {{{kind}, {kind}}} @sincos{width}({kind} {vector})")
            parts = [self.put(f"extractvalue {{{kind}, {kind}}} {both}, {n}") for n in (0, 1)]
            for lane, angle in enumerate(group):
                sine, cosine = (self.put(f"extractelement {kind} {part}, i32 {lane}") for part in parts)
                pairs[angle] = sine, cosine
        return pairs

    # ── memory ────────────────────────────────────────────────────────────────────────────────────
    def place(self, buffer: Buffer) -> str:
        """The pointer to a buffer."""
        if buffer.kind == "input":
            self.used.add(buffer.leaf)
            return f"%in{buffer.leaf}"
        if buffer.kind == "output":
            return f"%out{buffer.leaf}"
        if buffer not in self.places:
            self.places[buffer] = self._constant(buffer) if buffer.kind == "constant" else self._room(buffer)
        return self.places[buffer]

    def _constant(self, buffer: Buffer) -> str:
        assert buffer.values is not None
        name = f"@{self.fresh('c')}"
        data = buffer.values.astype(np.uint8 if buffer.dtype == "b1" else DTYPES[buffer.dtype]).tobytes()
        text = "".join(f"\\{byte:02X}" for byte in data)
        self.globals.append(f'{name} = private constant [{len(data)} x i8] c"{text}", align {ALIGN}')
        return name

    def _room(self, buffer: Buffer) -> str:
        name, offset = f"%{self.fresh('m')}", self.scratch.offsets.get(buffer)
        where = f"getelementptr i8, ptr %scratch, i64 {offset}"
        on_stack = f"alloca [{bytes_of(buffer)} x i8], align {ALIGN}"
        self.entry.append(f"  {name} = {on_stack if offset is None else where}")
        return name

    def _address(self, place: str, index: str, dtype: str) -> str:
        return self.put(f"getelementptr inbounds {_stored(dtype)}, ptr {place}, i64 {index}")

    def _read(self, place: str, index: str, dtype: str) -> str:
        raw = self.put(f"load {_stored(dtype)}, ptr {self._address(place, index, dtype)}{self._access}")
        return self.put(f"trunc i8 {raw} to i1") if dtype == "b1" else raw

    # ── statements ────────────────────────────────────────────────────────────────────────────────
    def run(self, statements: Sequence[Statement], block: Block) -> None:
        ready = 0
        for k, statement in enumerate(statements):
            if k >= ready:
                # What stores that follow each other need is computed at once, so that they share sines and cosines.
                ready = k + max(1, _stores(statements[k:]))
                self.need([n for s in statements[k:ready] for n in self.schedule.roots(s)], block)
            match statement:
                case Store():
                    self._store(statement)
                case Load(buffer, index, result):
                    self.values[result.index] = self._read(self.place(buffer), self.value(index), result.dtype)
                case Copy(target, source):
                    self._copy(target, source)
                case Angles():
                    self._many_angles(statement)
                case Loop():
                    self._loop(statement)
                case Branch():
                    self._branch(statement)
                case Begin():
                    pass

    def _store(self, store: Store) -> None:
        dtype = store.buffer.dtype
        value = self.value(store.value)
        if dtype == "b1":
            value = self.put(f"zext i1 {value} to i8")
        address = self._address(self.place(store.buffer), self.value(store.index), dtype)
        self.line(f"store {_stored(dtype)} {value}, ptr {address}{self._access}")

    def _copy(self, target: Buffer, source: Buffer) -> None:
        size = target.size * DTYPES[target.dtype].itemsize
        self.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        places = f"ptr {self.place(target)}, ptr {self.place(source)}"
        self.line(f"call void @llvm.memcpy.p0.p0.i64({places}, i64 {size}, i1 false)")

    def _many_angles(self, given: Angles) -> None:
        self.many_angles = True
        self.widths |= {self.width, 1}
        places = ", ".join(f"ptr {self.place(b)}" for b in (given.angles, given.sines, given.cosines))
        self.line(f"call void @sincos_many({places}, i64 {given.angles.size})")

    @property
    def in_vector_loop(self) -> bool:
        """Whether what is written now is in a loop whose turns are taken several at a time."""
        return bool(self._group)

    @property
    def _access(self) -> str:
        return f", !llvm.access.group {self._group}" if self._group else ""

    def _hint(self, group: str) -> str:
        """Names the loop as one whose turns may be taken several at a time, whatever they read and write."""
        n = len(self.metadata)
        self.metadata += [
            f'!{n} = !{{!"llvm.loop.parallel_accesses", {group}}}',
            f"!{n + 1} = distinct !{{!{n + 1}, !{n}}}",
        ]
        return f", !llvm.loop !{n + 1}"

    def _loop(self, loop: Loop) -> None:
        if loop.vector:
            self._group = f"!{len(self.metadata)}"
            self.metadata.append(f"{self._group} = distinct !{{}}")
            for carry in loop.carries:
                self._reorder(carry.next, carry.variable)
        self._written_loop(loop, self._hint(self._group) if loop.vector else "")
        self._group = "" if loop.vector else self._group

    def _reorder(self, total: Node, variable: Node) -> None:
        """Let the terms of a sum or product be added up in any order, those that are taken away too."""
        while total is not variable and total.op in ("add", "sub", "mul"):
            if total.op == "sub" and variable in reachable([total.args[1]]):
                return
            self.reordered.add(total.index)
            self.summed |= {a.index for a in total.args if a.op == "mul"}
            total = next((a for a in total.args if variable in reachable([a])), variable)

    def _written_loop(self, loop: Loop, hint: str) -> None:
        before, head, body, after = self.label, *[self.fresh(s) for s in ("head", "body", "after")]
        self.line(f"br label %{head}")
        self.start(head)
        slots = []
        for carry in loop.carries:
            name = self.values[carry.variable.index] = f"%{self.fresh('v')}"
            slots.append((len(self.lines), name, carry))
            self.lines.append("")
        self.run(loop.block.header, loop.block)
        self.need([loop.condition], loop.block)
        self.line(f"br i1 {self.value(loop.condition)}, label %{body}, label %{after}")
        self.start(body)
        self.run(loop.block.statements, loop.block)
        self.need([c.next for c in loop.carries], loop.block)
        for where, name, carry in slots:
            first, following = self.value(carry.initial), self.value(carry.next)
            self.lines[where] = (
                f"  {name} = phi {type_of(carry.variable.dtype)} [{first}, %{before}], [{following}, %{self.label}]"
            )
        self.line(f"br label %{head}{hint}")
        self.start(after)
        for carry in loop.carries:
            self.values[carry.result.index] = self.values[carry.variable.index]

    def _branch(self, branch: Branch) -> None:
        labels = [self.fresh("case") for _ in branch.blocks]
        after = self.fresh("after")
        selector = self.value(branch.selector)
        if len(labels) == 2:
            test = self.put(f"icmp sle i64 {selector}, 0")
            self.line(f"br i1 {test}, label %{labels[0]}, label %{labels[1]}")
        else:
            low = self.put(f"icmp slt i64 {selector}, 0")
            clamped = self.put(f"select i1 {low}, i64 0, i64 {selector}")
            cases = " ".join(f"i64 {n}, label %{label}" for n, label in enumerate(labels[:-1]))
            self.line(f"switch i64 {clamped}, label %{labels[-1]} [{cases}]")
        rows = []
        for label, block, row in zip(labels, branch.blocks, branch.yields, strict=True):
            self.start(label)
            self.run(block.statements, block)
            self.need(row, block)
            rows.append((self.label, [self.value(n) for n in row]))
            self.line(f"br label %{after}")
        self.start(after)
        for column, result in enumerate(branch.results):
            pairs = ", ".join(f"[{values[column]}, %{label}]" for label, values in rows)
            self.values[result.index] = self.put(f"phi {type_of(result.dtype)} {pairs}")


def _stores(statements: Sequence[Statement]) -> int:
    """How many of the first statements are stores."""
    return next((k for k, s in enumerate(statements) if not isinstance(s, Store)), len(statements))


def _stored(dtype: str) -> str:
    return "i8" if dtype == "b1" else type_of(dtype)


def literal(value: float | int | bool, dtype: str) -> str:
    """A number as LLVM writes it."""
    if dtype == "f8":
        return hexadecimal(value)
    if dtype == "f4":
        return hexadecimal(struct.unpack("<f", struct.pack("<f", value))[0])
    if dtype == "b1":
        return "true" if value else "false"
    return str(int(value))

"""Where arrays that a function works in stand in its scratch memory: those that are not used at the same time share it.

Statements are numbered in the order in which they are written. An array is in use from the first statement that touches
it to the last. In a loop the next turn may need what the last one left there, so an array that a loop touches is in use
from its beginning to its end, but for one that came into being in the loop, which holds nothing from turn to turn, and
for one that every turn writes anew before it reads it, which is free until then.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from holonomy.trace.graph.dag import DTYPES
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

ALIGN = 64
"""Bytes: a cache line, and the widest vector register."""
_STACK_BYTES = 4096  # largest array on the stack
_STACK_IN_ALL = 65536  # of all of them: a small part of the stack that a thread has

Uses: TypeAlias = list[tuple[int, int]]
"""The numbers of the first and the last statement of each time in which an array is in use."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """The offsets of arrays in scratch memory, and how many bytes that needs; other arrays stand on the stack."""

    offsets: dict[Buffer, int]
    size: int


def scratch(plan: Plan) -> Scratch:
    """The places of the arrays that a plan works in."""
    touches = _Touches()
    touches.read(plan.root.statements, ())
    uses: dict[Buffer, Uses] = {}
    stack = 0
    for buffer, found in touches.found.items():
        if buffer.kind != "work":
            continue
        size = bytes_of(buffer)
        if size <= _STACK_BYTES and stack + size <= _STACK_IN_ALL:
            stack += size
        else:
            uses[buffer] = _uses(buffer, found)
    return _placed(uses)


def bytes_of(buffer: Buffer) -> int:
    """The size of an array."""
    return max(1, buffer.size) * DTYPES[buffer.dtype].itemsize


# ── when arrays are touched ───────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Inner:
    """A loop or a branch: its block, and the numbers of its first statement, of the last of its header and of its
    last."""

    block: Block
    loop: bool
    begin: int
    tested: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class _Touch:
    """A statement that touches an array, by its number, with the loops and branches around it, the outermost first;
    `anew` says that what the array held is not needed any more."""

    at: int
    around: tuple[_Inner, ...]
    anew: bool


@dataclass(slots=True)
class _Touches:
    """What touches each array."""

    count: int = 0
    found: dict[Buffer, list[_Touch]] = field(default_factory=dict[Buffer, list[_Touch]])

    def read(self, statements: Iterable[Statement], around: tuple[_Inner, ...]) -> None:
        """Number the statements of a block and of those in it."""
        for statement in statements:
            if not isinstance(statement, Load | Store):  # those that follow each other count as one
                self.count += 1
            anew, touched = _touched(statement)
            for buffer in (*anew, *touched):
                self.found.setdefault(buffer, []).append(_Touch(self.count, around, buffer in anew))
            match statement:
                case Loop(block, _, _, _):
                    inner = _Inner(block, True, self.count)
                    self.read(block.header, (*around, inner))
                    inner.tested = self.count
                    self.read(block.statements, (*around, inner))
                    self.count += 1
                    inner.end = self.count
                case Branch(_, blocks, _, _):
                    for block in blocks:
                        self.read(block.statements, (*around, _Inner(block, False, self.count)))
                        self.count += 1
                case _:
                    pass


def _touched(statement: Statement) -> tuple[tuple[Buffer, ...], tuple[Buffer, ...]]:
    """The arrays that a statement touches: those that it writes anew or says to be, and others."""
    match statement:
        case Store(buffer, _, _) | Load(buffer, _, _):
            return (), (buffer,)
        case Begin(buffers):
            return buffers, ()
        case Copy(target, source):
            return (target,), (source,)
        case Angles(sines, cosines, angles):
            return (sines, cosines), (angles,)
        case _:
            return (), ()


def _uses(buffer: Buffer, touches: Sequence[_Touch]) -> Uses:
    """When an array is in use."""
    own = set.intersection(*({id(inner) for inner in touch.around} for touch in touches))
    own = {id(i) for i in touches[0].around if id(i) in own and _within(buffer.home, i.block)}
    seen: set[int] = set()  # loops in which the array has been touched
    found: Uses = []
    for touch in touches:
        around = [inner for inner in touch.around if id(inner) not in own]
        loop = next((inner for inner in around if inner.loop), None)
        if loop is None:
            if not found or (touch.anew and not around):
                found.append((touch.at, touch.at))
            else:
                found[-1] = (found[-1][0], touch.at)
        elif id(loop) not in seen:
            seen.add(id(loop))
            begin = found.pop()[0] if found else loop.begin
            free = touch.anew and around[-1] is loop and touch.at > loop.tested
            found += [(begin, loop.tested), (touch.at, loop.end)] if free else [(begin, loop.end)]
    return found


def _within(block: Block | None, outer: Block) -> bool:
    while block is not None and block is not outer:
        block = block.parent
    return block is outer


# ── where they stand ──────────────────────────────────────────────────────────────────────────────────


def _placed(uses: dict[Buffer, Uses]) -> Scratch:
    """The largest array first, each at the lowest place that is free whenever it is in use."""
    offsets: dict[Buffer, int] = {}
    placed: list[tuple[int, int, Uses]] = []  # the ends of a place and when it is in use, in the order of places
    whole = 0
    for buffer, mine in sorted(uses.items(), key=lambda item: -bytes_of(item[0])):
        size = -(-bytes_of(buffer) // ALIGN) * ALIGN
        at = 0
        for low, high, others in placed:
            if low - at >= size:
                break
            if high > at and _meet(mine, others):
                at = high
        offsets[buffer] = at
        insort(placed, (at, at + size, mine))
        whole = max(whole, at + size)
    return Scratch(offsets, whole)


def _meet(mine: Uses, others: Uses) -> bool:
    return any(first <= end and begin <= last for first, last in mine for begin, end in others)

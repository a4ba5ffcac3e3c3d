"""A lowered function: scalar nodes, and around them the statements that order what a graph cannot (loops, branches,
memory).

A *block* is a list of statements.  Nodes belong to no block by themselves: a node is computed in the innermost block
among those of the variables it depends on, so what does not change in a loop is computed before it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from holonomy.trace.graph.dag import Node, reachable


class Unsupported(Exception):
    """A function has no form as machine code or as one expression; the message names the reason and what to do."""

    @property
    def brief(self) -> str:
        """The reason in one short line."""
        return str(self).partition(". ")[0].partition("; ")[0].rstrip(".")


@contextmanager
def attempt(stage: str) -> Generator[None]:
    """Report any failure of a stage between a function and its machine code as `Unsupported`.

    A function that cannot be lowered still runs in XLA, so no failure here may reach the user as a traceback, be it a
    primitive or parameter of a version of JAX that is not known here, a mistake in a rule, or a refusal by LLVM.
    """
    try:
        yield
    except Unsupported:
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise Unsupported(f"{stage} failed with {type(error).__name__}: {reason}") from error


@dataclass(eq=False, slots=True)
class Block:
    """Statements that run in order; `depth` counts the blocks around it."""

    parent: Block | None
    statements: list[Statement] = field(default_factory=list)
    header: list[Statement] = field(default_factory=list)
    depth: int = 0

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1


@dataclass(eq=False, slots=True)
class Buffer:
    """`size` scalars in a row: an argument array, a result array, fixed numbers, or room to work in."""

    kind: Literal["input", "output", "constant", "work"]
    dtype: str
    size: int
    leaf: int = -1
    values: np.ndarray | None = None
    home: Block | None = None

    @property
    def readonly(self) -> bool:
        return self.kind in ("input", "constant")


@dataclass(frozen=True, slots=True)
class Store:
    """buffer[index] = value"""

    buffer: Buffer
    index: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Load:
    """result = buffer[index], read at this place in the order of statements"""

    buffer: Buffer
    index: Node
    result: Node


@dataclass(frozen=True, slots=True)
class Begin:
    """What the buffers hold is not needed any more: all of it is written anew before it is read."""

    buffers: tuple[Buffer, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """target[:] = source[:]"""

    target: Buffer
    source: Buffer


@dataclass(frozen=True, slots=True)
class Angles:
    """sines[:] = sin(angles[:]), cosines[:] = cos(angles[:])"""

    sines: Buffer
    cosines: Buffer
    angles: Buffer


@dataclass(frozen=True, slots=True)
class Carry:
    """A value that a loop hands from one turn to the next: `variable` inside, `result` after the loop."""

    variable: Node
    initial: Node
    next: Node
    result: Node


@dataclass(frozen=True, slots=True)
class Loop:
    """while header; condition: statements; variables = nexts

    In a `vector` loop the turns do not depend on each other but for sums and the like, whose order does not matter.
    """

    block: Block
    condition: Node
    carries: tuple[Carry, ...]
    vector: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """results = yields[selector], after running blocks[selector]; a selector out of range is clamped.

    `aliases` names, inside a branch, values computed outside: work that depends on them alone stays in its branch.
    """

    selector: Node
    blocks: tuple[Block, ...]
    yields: tuple[tuple[Node, ...], ...]
    results: tuple[Node, ...]


Statement = Store | Load | Begin | Copy | Angles | Loop | Branch


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole function: its root block and what surrounds it.

    `homes` gives the block of each variable, `aliases` the node that a variable stands for, where it is only another
    name.
    `inputs` and `outputs` are (shape, dtype name) of the argument and result arrays.
    """

    root: Block
    homes: dict[Node, Block]
    aliases: dict[Node, Node]
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]
    results: tuple[Any, ...] = ()


def vectorises(block: Block, carries: Sequence[Carry], homes: Mapping[Node, Block]) -> bool:
    """Whether a loop that counts its turns in its first carry is an innermost one, and changes its totals in every turn
    by something else.
    """
    if not all(isinstance(s, Load | Store) for s in block.statements):
        return False
    own = {carry.variable for carry in carries[1:]}
    return all(
        any(n.op == "variable" and n not in own and homes.get(n) is block for n in reachable(carry.next.args))
        for carry in carries[1:]
    )

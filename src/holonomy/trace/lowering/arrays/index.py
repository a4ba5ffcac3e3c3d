"""Positions in arrays as integer combinations of loop variables, whose ranges are known.

What depends on a position (whether it lies in the middle of a padded array, which part of a concatenation it belongs
to) is decided once for a whole box of positions. Where a box is too large for that, `Cut` or `Fold` says how to divide
it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holonomy.trace.graph.dag import Node

if TYPE_CHECKING:
    from holonomy.trace.graph.simplify import Algebra


@dataclass(eq=False, slots=True)
class Counter:
    """An integer between `low` and `high`, both included; only those of loops (`cut`) can be given smaller ranges."""

    node: Node
    low: int
    high: int
    cut: bool = True


class Cut(Exception):
    """The counter should run below `at` in one box and from there on in another."""

    def __init__(self, counter: Counter, at: int) -> None:
        super().__init__("a box of positions must be divided")
        self.counter = counter
        self.at = at


class Fold(Exception):
    """The counter should be two: one that counts groups of `by`, and one within a group."""

    def __init__(self, counter: Counter, by: int) -> None:
        super().__init__("a row of positions must be folded")
        self.counter = counter
        self.by = by


@dataclass(frozen=True, slots=True)
class Index:
    """constant + Σ factor · counter"""

    constant: int
    terms: tuple[tuple[Counter, int], ...] = ()

    @property
    def low(self) -> int:
        """The least value."""
        return self.constant + sum(f * (c.low if f > 0 else c.high) for c, f in self.terms)

    @property
    def high(self) -> int:
        """The greatest value."""
        return self.constant + sum(f * (c.high if f > 0 else c.low) for c, f in self.terms)

    def plus(self, n: int) -> Index:
        """The index moved by n."""
        return Index(self.constant + n, self.terms) if n else self

    def times(self, n: int) -> Index:
        """The index n-fold."""
        if n == 0:
            return Index(0)
        return self if n == 1 else Index(self.constant * n, tuple([(c, f * n) for c, f in self.terms]))

    def joined(self, other: Index) -> Index:
        """The sum of two indices."""
        if not other.terms:
            return self.plus(other.constant)
        factors = dict(self.terms)
        for c, f in other.terms:
            factors[c] = factors.get(c, 0) + f
        return Index(self.constant + other.constant, tuple([(c, f) for c, f in factors.items() if f]))

    def node(self, k: Algebra) -> Node:
        """The index as a node of the graph."""
        total = k.constant(self.constant, "i8")
        for c, f in self.terms:
            total = k("add", total, k("mul", c.node, k.constant(f, "i8")))
        return total


Position = tuple[Index, ...]


def flat(position: Position, steps: tuple[int, ...]) -> Index:
    """The number of a multi-index in an array with these strides."""
    total = Index(0)
    for i, step in zip(position, steps, strict=True):
        total = total.joined(i.times(step))
    return total


def below(index: Index, bound: int) -> bool | None:
    """Whether index < bound in the whole box; None if that cannot be decided by dividing the box, else raises `Cut`."""
    if index.high < bound:
        return True
    if index.low >= bound:
        return False
    counters = sorted([(c, f) for c, f in index.terms if c.cut], key=lambda t: -abs(t[1]))
    for counter, factor in counters:
        rest = Index(index.constant, tuple([(c, f) for c, f in index.terms if c is not counter]))
        at = _turning(counter, factor, rest, bound)
        if at is not None:
            raise Cut(counter, at)
    return None


def _turning(counter: Counter, factor: int, rest: Index, bound: int) -> int | None:
    """Where to divide a counter so that at least one side is decided."""
    if factor > 0:
        # below for sure while factor · c + rest.high < bound; not below once factor · c + rest.low >= bound
        sure = (bound - 1 - rest.high) // factor + 1
        never = -((rest.low - bound) // factor)
    else:
        # not below for sure while factor · c + rest.low >= bound; below once factor · c + rest.high < bound
        sure = (rest.low - bound) // -factor + 1
        never = (rest.high - bound) // -factor + 1
    for at in (sure, never):
        if counter.low < at <= counter.high:
            return at
    return None


def divided(index: Index, by: int, opaque: Callable[[str, Index, int], Index]) -> tuple[Index, Index]:
    """Quotient and remainder of an index that is not negative; `opaque` writes what cannot be had otherwise."""
    if by == 1:
        return index, Index(0)
    whole = Index(index.constant // by * by, tuple([(c, f) for c, f in index.terms if f % by == 0]))
    part = Index(index.constant % by, tuple([(c, f) for c, f in index.terms if f % by]))
    shift = part.low // by
    if shift == part.high // by:
        quotient = Index(whole.constant // by + shift, tuple([(c, f // by) for c, f in whole.terms]))
        return quotient, part.plus(-shift * by)
    for counter, factor in part.terms:
        if not counter.cut or factor < 0 or by % factor:
            continue
        group, count = by // factor, counter.high - counter.low + 1
        if count > group and len(part.terms) == 1 and part.low % by == 0:
            raise Fold(counter, group)
        if len(part.terms) == 1:
            # up to the next multiple of `by`
            at = counter.low + -(-(by - part.low % by) // factor)
            if counter.low < at <= counter.high:
                raise Cut(counter, at)
    return opaque("div", index, by), opaque("rem", index, by)

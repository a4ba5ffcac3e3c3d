"""Loops over all positions of a box, divided where an element is computed otherwise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.arrays.index import Counter, Cut, Fold, Index, Position

if TYPE_CHECKING:
    from holonomy.trace.lowering.arrays.lowering import ArrayLowering

WRITTEN_OUT: Final = 4  # positions along the last axes that are written out instead of being a loop
BOXES: Final = 48  # into which a sweep is divided at most

Body = Callable[[list[Position], Sequence[Node]], Sequence[Node]]


@dataclass(frozen=True, slots=True)
class _Axis:
    """`count` values: factor · (start + i)"""

    start: int
    count: int
    factor: int = 1


@dataclass(frozen=True, slots=True)
class _Box:
    """For each dimension the axes whose sum is the index."""

    dimensions: tuple[tuple[_Axis, ...], ...]

    def changed(self, where: tuple[int, int], *axes: _Axis) -> _Box:
        d, a = where
        row = self.dimensions[d]
        return _Box((*self.dimensions[:d], (*row[:a], *axes, *row[a + 1 :]), *self.dimensions[d + 1 :]))

    def axis(self, where: tuple[int, int]) -> _Axis:
        return self.dimensions[where[0]][where[1]]

    def cut(self, where: tuple[int, int], at: int) -> list[_Box]:
        axis = self.axis(where)
        parts = (replace(axis, count=at), replace(axis, start=axis.start + at, count=axis.count - at))
        return [self.changed(where, part) for part in parts]

    def folded(self, where: tuple[int, int], by: int) -> list[_Box]:
        axis = self.axis(where)
        rest = axis.count % by
        if rest:
            return self.cut(where, axis.count - rest)
        outer = _Axis(0, axis.count // by, axis.factor * by)
        return [self.changed(where, outer, _Axis(axis.start, by, axis.factor))]


def sweep(low: ArrayLowering, shape: tuple[int, ...], initial: Sequence[Node], body: Body) -> Sequence[Node]:
    """The last accumulators of: for positions in the box: accumulators = body(positions, accumulators).

    `body` is given a few neighbouring positions at once, and must not write anything before it has read all it needs.
    """
    if not math.prod(shape):
        return initial
    boxes, done = [_Box(tuple([(_Axis(0, n),) for n in shape]))], 0
    totals = initial
    while boxes:
        box = boxes.pop(0)
        nest = _Nest(low, box, body)
        mark = len(low.statements)
        try:
            with low.reading(), low.deciding(done + len(boxes) < BOXES):
                totals = nest.run(totals)
            done += 1
        except (Cut, Fold) as division:
            if division.counter not in nest.where:
                raise
            del low.statements[mark:]
            place = nest.where[division.counter]
            parts = box.cut(place, division.at) if isinstance(division, Cut) else box.folded(place, division.by)
            boxes[:0] = parts
    return totals


class _Nest:
    """The loops over one box."""

    def __init__(self, low: ArrayLowering, box: _Box, body: Body) -> None:
        self.low, self.box, self.body = low, box, body
        self.where: dict[Counter, tuple[int, int]] = {}
        places = [(d, a) for d, row in enumerate(box.dimensions) for a in range(len(row))]
        written = 1
        keep = len(places)
        while keep and written * box.axis(places[keep - 1]).count <= WRITTEN_OUT:
            keep -= 1
            written *= box.axis(places[keep]).count
        self.loops, self.written = places[:keep], places[keep:]

    def run(self, totals: Sequence[Node]) -> Sequence[Node]:
        return self._loop(0, {}, totals)

    def _loop(self, level: int, at: dict[tuple[int, int], Index], totals: Sequence[Node]) -> Sequence[Node]:
        if level == len(self.loops):
            return self.body(self._positions(at), totals)
        place = self.loops[level]
        count = self.box.axis(place).count
        if count == 1:
            return self._loop(level + 1, {**at, place: Index(0)}, totals)

        def turn(i: Node, inner: Sequence[Node]) -> Sequence[Node]:
            counter = Counter(i, 0, count - 1)
            self.where[counter] = place
            with self.low.reading():
                return self._loop(level + 1, {**at, place: Index(0, ((counter, 1),))}, inner)

        innermost = all(self.box.axis(p).count == 1 for p in self.loops[level + 1 :])
        return self.low.fold_range(count, totals, turn, vector=innermost)

    def _positions(self, at: dict[tuple[int, int], Index]) -> list[Position]:
        found = []
        for offsets in itertools.product(*[range(self.box.axis(p).count) for p in self.written]):
            here = {**at, **{p: Index(n) for p, n in zip(self.written, offsets, strict=True)}}
            position = []
            for d, row in enumerate(self.box.dimensions):
                total = Index(0)
                for a, axis in enumerate(row):
                    total = total.joined(here[d, a].plus(axis.start).times(axis.factor))
                position.append(total)
            found.append(tuple(position))
        return found

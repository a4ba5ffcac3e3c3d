"""The order of equations in which reductions of arrays of one shape come together, and how often arrays are computed.

What is about single numbers, and reductions to them, waits until something needs it, and so do sums over an axis of an
array. A reduction that is needed takes all others along that wait and go through arrays of the same shape, so that one
loop serves them all.
"""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Sequence
from typing import Any, Final

from holonomy.trace.jaxpr import Equation
from holonomy.trace.lowering.arrays.axis_sums import axis_sum, joined, totals

TOGETHER: Final = "reductions"
"""The name of an equation that combines each of its operands to one number; its parameter `names` says how."""

_REDUCTIONS: Final = frozenset(("reduce_sum", "reduce_max", "reduce_min", "reduce_and", "reduce_or"))
_MOST: Final = 8  # numbers that a loop adds up at once; more do not fit into registers


def grouped(eqns: Sequence[Equation], small: int) -> list[Equation]:
    """The same equations in another order, reductions of arrays of more than `small` elements joined."""
    return _Order(eqns, small).written()


class _Order:
    """Writes equations once what they need is written."""

    def __init__(self, eqns: Sequence[Equation], small: int) -> None:
        self.eqns, self.small = eqns, small
        self.source = {id(v): k for k, eqn in enumerate(eqns) for v in eqn.outvars}
        self.done = [False] * len(eqns)
        self.kinds = [_kind(eqn, small) for eqn in eqns]
        self.waiting: dict[Hashable, list[int]] = {}
        self.order: list[Equation] = []

    def written(self) -> list[Equation]:
        while self._up_to_sums():
            pass
        for k in range(len(self.eqns)):
            self._write(k)
        return self.order

    def _up_to_sums(self) -> bool:
        """Write what needs no sum over an axis that is not written, then those sums that need no other; whether there
        were any.
        """
        blocked: set[int] = set()
        sums: list[int] = []
        for k, eqn in enumerate(self.eqns):
            if self.done[k]:
                continue
            waits = any(self.source.get(id(a)) in blocked for a in eqn.invars)
            if waits or axis_sum(eqn) is not None:
                blocked.add(k)
                sums += [] if waits else [k]
            else:
                self._pass(k)
        for k in sums:
            for n in self._missing(k):
                self._write(n)
            self.waiting.setdefault(self.kinds[k], []).append(k)
        for k in sums:
            self._write(k)
        return bool(sums)

    def _pass(self, k: int) -> None:
        """Write an equation, or let it wait."""
        kind = self.kinds[k]
        if kind is not None:
            self.waiting.setdefault(kind, []).append(k)
            ready = self._ready_beside(k)
            if len(ready) == _MOST:  # a loop is full: what it reads need not be remembered any longer
                self._write(ready[0])
        elif not self._single(self.eqns[k]):
            self._write(k)

    def _single(self, eqn: Equation) -> bool:
        return all(math.prod(v.aval.shape) <= self.small for v in (*eqn.invars, *eqn.outvars))

    def _write(self, last: int) -> None:
        """Write an equation, before it what it needs: without recursion, since chains of equations are long."""
        stack = [last]
        while stack:
            k = stack[-1]
            missing = [] if self.done[k] else self._missing(k)
            stack += missing
            if not missing:
                stack.pop()
                if not self.done[k]:
                    self._ready(k)

    def _missing(self, k: int) -> list[int]:
        needed = [self.source.get(id(a)) for a in self.eqns[k].invars]
        return [n for n in needed if n is not None and not self.done[n]]

    def _ready_beside(self, k: int) -> list[int]:
        """Reductions that wait, go through arrays of the same shape as equation k and lack nothing."""
        kind = self.kinds[k]
        left = self.waiting[kind] = [n for n in self.waiting.get(kind, []) if not self.done[n]]
        return [n for n in left if not self._missing(n)]

    def _numbers(self, group: Sequence[int]) -> int:
        """How many totals a loop has that does these reductions."""
        return sum(totals(self.eqns[k]) for k in group)

    def _ready(self, k: int) -> None:
        eqn = self.eqns[k]
        if self.kinds[k] is None:
            self.order.append(eqn)
            self.done[k] = True
            return
        group = [k]
        for n in self._ready_beside(k):
            if n != k and self._numbers([*group, n]) <= _MOST:
                group.append(n)
        group.sort()
        members = [self.eqns[n] for n in group]
        if axis_sum(eqn) is not None:
            self.order.append(joined(members))
        else:
            self.order.append(eqn if len(group) == 1 else _joined(members))
        for n in group:
            self.done[n] = True


def _kind(eqn: Equation, small: int) -> Hashable:
    """What reductions have in common that are done in one loop; None for other equations."""
    if _whole(eqn, small):
        return eqn.invars[0].aval.shape
    along = axis_sum(eqn)
    return None if along is None else ("along an axis", along[0])


def _whole(eqn: Equation, small: int) -> bool:
    """Whether an equation combines all elements of a large array."""
    if eqn.name not in _REDUCTIONS:
        return False
    shape = eqn.invars[0].aval.shape
    return len(eqn.params["axes"]) == len(shape) and math.prod(shape) > small


def _joined(eqns: list[Equation]) -> Equation:
    names = tuple([eqn.name for eqn in eqns])
    return Equation(TOGETHER, {"names": names}, [eqn.invars[0] for eqn in eqns], [eqn.outvars[0] for eqn in eqns])


def times_computed(eqns: Sequence[Equation], outvars: Sequence[Any], elementwise: Container[str]) -> dict[Any, int]:
    """In how many loops the elements of each variable are needed, if none is kept: elementwise work is done in the
    loops of what it is for, all results are written in one.
    """
    loops: dict[int, frozenset[int]] = {id(a): frozenset((-1,)) for a in outvars}
    for k in range(len(eqns) - 1, -1, -1):
        eqn = eqns[k]
        through: frozenset[int] = frozenset((k,))
        if eqn.name in elementwise:
            through = loops.get(id(eqn.outvars[0]), frozenset())
        for atom in eqn.invars:
            same = getattr(atom.aval, "shape", None) == eqn.outvars[0].aval.shape
            own = through if eqn.name in elementwise and same else frozenset((k,))
            loops[id(atom)] = loops.get(id(atom), frozenset()) | own
    return {key: len(found) for key, found in loops.items()}

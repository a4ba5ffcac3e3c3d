"""Scans over arrays that are not computed yet: each turn computes the row that it takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from holonomy.trace.graph.dag import Node
from holonomy.trace.lowering.arrays.deferred import Deferred
from holonomy.trace.lowering.arrays.index import Counter, Cut, Fold, Index
from holonomy.trace.lowering.limits import Site
from holonomy.trace.lowering.primitives import control
from holonomy.trace.lowering.statements import Block
from holonomy.trace.lowering.values import Scalars, Value

if TYPE_CHECKING:
    from holonomy.trace.lowering.arrays.lowering import ArrayLowering

_BESIDE: Final = 64.0  # operations an element up to which they cost nothing beside a turn that waits for the last one


def _scan(low: ArrayLowering, site: Site, *values: Any) -> list[Value]:
    first, length = site.params["num_consts"] + site.params["num_carry"], site.params["length"]
    rule = partial(control.scan, rows=lambda _, x: _rows(low, x, length))
    return low.applied(rule, site, values, range(first, len(values)))


def _rows(low: ArrayLowering, x: Any, length: int) -> Callable[[Node], Value]:
    """The rows of an array by their number."""
    shape = x.shape[1:]

    def row(i: Node) -> Value:
        number = Index(0, ((Counter(i, 0, length - 1), 1),))
        nodes = [x.element((number, *[Index(k) for k in p])) for p in np.ndindex(*shape)]
        return Scalars(shape, x.dtype, tuple(nodes))

    if isinstance(x, Deferred) and x.cost <= _BESIDE and low.small(shape) and _alike(low, row):
        return row
    return control.rows_in_memory(low, low.memory(x))


def _alike(low: ArrayLowering, row: Callable[[Node], Value]) -> bool:
    """Whether all rows are computed in the same way."""
    with low.inside(Block(low.block)) as aside, low.reading():
        try:
            row(low.variable("i8", aside))
        except (Cut, Fold):
            return False
    return True


def _barrier(low: ArrayLowering, site: Site, *values: Any) -> list[Any]:
    return [low.kept(v) for v in values]


SCANS: Final[dict[str, Any]] = {"scan": _scan, "optimization_barrier": _barrier}
"""Rules `rule(lowering, site, *values)` for values that may be deferred."""

"""A function as scalar expressions and nothing else, for what is printed, expanded in Taylor series, or written
flat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from holonomy.trace.form import Form
from holonomy.trace.graph.dag import Node, dtype_name
from holonomy.trace.graph.simplify import Algebra
from holonomy.trace.jaxpr import Jaxpr, traced
from holonomy.trace.lowering.limits import Limits
from holonomy.trace.lowering.lower import Lowering
from holonomy.trace.lowering.statements import attempt
from holonomy.trace.lowering.values import Scalars


@dataclass(frozen=True)
class Flat:
    """A function taken apart.

    `inputs[k][e]` is the node of element e (row-major) of argument array k; `outputs[k]` has the shape and nodes of
    result array k, in the order of `jax.tree.leaves`; `numbers` are the values of the hidden last argument array, one
    for each float literal that is not structural, and empty with `hoist=False`.  `algebra` builds further nodes on the
    same graph.
    """

    inputs: tuple[tuple[Node, ...], ...]
    outputs: tuple[Scalars, ...]
    numbers: tuple[float, ...]
    algebra: Algebra
    tree: Any


def scalarise(fun: Callable[..., Any], example_args: Sequence[Any], *, hoist: bool = True) -> Flat:
    """`fun` as a graph of scalar operations, loops written out and branches made selections.

    Raises `Unsupported` for loops whose length depends on data, and for primitives without a rule.
    With `hoist=False` all numbers stay constants of the graph.
    """
    jaxpr, shape = traced(fun, example_args)
    with attempt("taking the function apart"):
        return _flat(jaxpr, shape, hoist)


def _flat(jaxpr: Jaxpr, shape: Any, hoist: bool) -> Flat:
    form = Form(jaxpr, whole_arrays=False) if hoist else None
    leaves = [(tuple(v.aval.shape), dtype_name(v.aval.dtype)) for v in jaxpr.invars]
    lowering = Lowering(Limits(scalars=1 << 20), flat=True, form=form, leaf=len(leaves))
    args = [lowering.scalars(lowering.argument(k, s, d)) for k, (s, d) in enumerate(leaves)]
    outputs = tuple([lowering.scalars(v) for v in lowering.evaluate(jaxpr, args)])
    numbers = tuple(form.numbers) if form is not None else ()
    hidden = tuple([lowering.graph.input(len(leaves), e, "f8") for e in range(len(numbers))])
    inputs = (*[a.nodes for a in args], *([hidden] if form is not None else []))
    return Flat(inputs, outputs, numbers, lowering.k, jax.tree.structure(shape))


def arrays(flat: Flat) -> Any:
    """The results as NumPy arrays of nodes, in the structure that the function returns."""
    shaped = []
    for out in flat.outputs:
        array = np.empty(len(out.nodes), object)
        array[:] = out.nodes
        shaped.append(array.reshape(out.shape))
    return jax.tree.unflatten(flat.tree, shaped)

"""Every supported primitive, values and Jacobians, against XLA."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import pytest
from tests.trace.compare import assert_same, check
from tests.trace.lowering.zoo import CASES

from holonomy.trace.jaxpr import Jaxpr, inner_jaxprs, traced
from holonomy.trace.lowering.arrays.rules import LEFT_TO_XLA
from holonomy.trace.lowering.limits import ARRAYS, Limits
from holonomy.trace.lowering.primitives import RULES
from holonomy.trace.native import compiler

# Nothing is taken apart: every primitive by loops over memory.
IN_MEMORY = Limits(scalars=4, carried=4, unrolled=0, solve=1, pivoted=1)
# Everything of more than one number is an array whose elements are computed in loops.
AS_ARRAYS = replace(ARRAYS, scalars=1, carried=1)


@pytest.mark.parametrize("name", sorted(CASES))
def test_values_agree_with_xla(name: str) -> None:
    """In scalars, in memory and in loops over arrays; one test, because XLA's compilation is what takes the time."""
    case = CASES[name]
    expected = jax.jit(case.function)(*case.args)
    assert_same(compiler.compile(case.function, case.args)(*case.args), expected)
    assert_same(compiler.compile(case.function, case.args, limits=IN_MEMORY)(*case.args), expected)
    if primitives(traced(case.function, case.args)[0]) & LEFT_TO_XLA:
        return
    assert_same(compiler.compile(case.function, case.args, limits=AS_ARRAYS)(*case.args), expected)


@pytest.mark.parametrize("name", sorted(n for n, c in CASES.items() if c.smooth))
def test_derivatives_agree_with_xla(name: str) -> None:
    case = CASES[name]

    def derivative(*args: Any) -> Any:
        leaves = jax.tree.leaves(jax.jvp(lambda x: case.function(x, *args[2:]), (args[0],), (args[1],))[1])
        return [x for x in leaves if x.dtype != jax.dtypes.float0]

    check(derivative, (case.args[0], 0.5 - case.args[0] ** 2, *case.args[1:]))


def primitives(jaxpr: Jaxpr) -> set[str]:
    found = {e.name for e in jaxpr.eqns}
    return found.union(*[primitives(j) for e in jaxpr.eqns for j in inner_jaxprs(e.params)])


def test_every_primitive_in_the_table_is_used_by_some_case() -> None:
    used: set[str] = set()
    for case in CASES.values():
        used |= primitives(traced(case.function, case.args)[0])
        if case.smooth:
            used |= primitives(traced(jax.jacfwd(case.function), case.args)[0])
    # Some are primitives in newer versions of JAX alone.
    newer = {"one_minus_square", "polynomial", "stack", "unstack"}
    # What a branch does not save for a derivative: one name, the other, or neither, by the version of JAX.
    unread = {"empty", "empty2"}
    assert set(RULES) - used - unread <= {name for name in newer if not hasattr(jax.lax, f"{name}_p")}

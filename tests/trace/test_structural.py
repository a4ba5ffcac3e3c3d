"""Which numbers are part of a form: one definition, for traced functions, forms of jaxprs and graphs of operations."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from holonomy.trace.form import Form
from holonomy.trace.function import trace
from holonomy.trace.graph.dag import structural
from holonomy.trace.jaxpr import traced

STRUCTURAL = [0.0, -0.0, 0.5, -1.0, 1.5, 7.0, -16.0, 15.5, math.inf, -math.inf, math.nan]
DATA = [0.1, 1.25, 16.5, 17.0, -1e-300, math.pi]


@pytest.mark.parametrize("value", [*STRUCTURAL, *DATA])
def test_the_same_numbers_are_structural_everywhere(value: float) -> None:
    assert structural(value) == (value in STRUCTURAL or math.isnan(value))

    def scaled(x):
        return jnp.sin(x) * value

    function = trace(scaled, (np.float64(0.3),))
    assert (len(function.constants) == 0) == structural(value)
    assert (len(Form(traced(scaled, (np.float64(0.3),))[0]).numbers) == 0) == structural(value)


def test_other_data_are_the_same_form_and_other_structural_numbers_are_not() -> None:
    def program(value: float):
        return trace(lambda x: jnp.sin(x) * value, (np.float64(0.3),)).program

    assert program(0.1) is program(0.7)
    assert program(1.5) is program(1.5)
    assert program(math.nan) is program(math.nan)
    forms = [program(value) for value in STRUCTURAL]
    assert len({id(one) for one in forms}) == len(STRUCTURAL)


def test_the_sign_of_zero_is_kept() -> None:
    def side(zero: float) -> float:
        return float(trace(lambda x: jnp.arctan2(zero, -jnp.abs(x)), (np.float64(0.3),))(np.float64(1.0)))

    assert (side(0.0), side(-0.0)) == (math.pi, -math.pi)

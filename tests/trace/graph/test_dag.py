"""The graph: one node for one expression, never altered, arguments before users."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from holonomy.trace.graph import numeric
from holonomy.trace.graph.dag import Graph, Node, expression, hoist, reachable, structural, substitute
from holonomy.trace.graph.operations import OPERATIONS
from holonomy.trace.graph.simplify import Algebra
from holonomy.trace.lowering.scalarise import arrays, scalarise
from holonomy.trace.lowering.statements import Unsupported


@pytest.fixture
def k() -> Algebra:
    return Algebra(Graph())


def leaves(k: Algebra) -> tuple[Node, Node, Node]:
    x, y, z = (k.graph.input(0, e, "f8") for e in range(3))
    return x, y, z


def test_equal_expressions_are_one_node(k: Algebra) -> None:
    x, y, _ = leaves(k)
    assert k("mul", k("sin", x), y) is k("mul", y, k("sin", x))
    assert k.graph.input(0, 0, "f8") is x
    assert k.graph.constant(2.0, "f8") is k.graph.constant(2, "f8")
    assert k.graph.constant(1, "f8") is not k.graph.constant(1, "i8")
    assert k.graph.variable("f8") is not k.graph.variable("f8")


def test_nodes_cannot_change(k: Algebra) -> None:
    with pytest.raises(AttributeError, match="A node never changes"):
        leaves(k)[0].op = "sin"


def test_arguments_come_before_users(k: Algebra) -> None:
    x, y, z = leaves(k)
    top = k("add", k("mul", k("cos", x), y), k("div", z, k("add", x, y)))
    order = reachable([top])
    assert order[-1] is top
    assert all(a.index < n.index for n in order for a in n.args)
    assert len(order) == len(set(order)) == 8


def test_every_operation_has_a_meaning() -> None:
    assert set(OPERATIONS) == set(numeric.NUMPY) | {"convert", "bitcast", "load"}


SIMPLIFICATIONS = {
    "x + 0": lambda x, y, z: (x + 0.0, x),
    "x * 1": lambda x, y, z: (x * 1.0, x),
    "x * 0": lambda x, y, z: (x * 0.0, 0.0 * y),
    "x - x": lambda x, y, z: (x - x, 0.0 * x),
    "x + x": lambda x, y, z: (x + x, 2 * x),
    "x / 2": lambda x, y, z: (x / 2, 0.5 * x),
    "--x": lambda x, y, z: (jnp.negative(-x), x),
    "differences": lambda x, y, z: (jnp.cos(x - y), jnp.cos(y - x)),
    "odd": lambda x, y, z: (jnp.sin(-x), -jnp.sin(x)),
    "odd differences": lambda x, y, z: (jnp.sin(x - y) + jnp.sin(y - x), 0.0 * x),
    "even": lambda x, y, z: (jnp.cosh(-3 * x), jnp.cosh(3 * x)),
    "signs": lambda x, y, z: ((-x) * (-y), x * y),
    "constants": lambda x, y, z: (2 * (3 * x) * (0.5 * y), 3 * (x * y)),
    "collect": lambda x, y, z: (3 * x + 0.5 * x, 3.5 * x),
    "common": lambda x, y, z: (0.5 * x + 0.5 * y, 0.5 * (x + y)),
    "squares": lambda x, y, z: (jnp.sin(x) ** 2 + jnp.cos(x) ** 2, 1.0 + 0.0 * x),
    "root of square": lambda x, y, z: (jnp.sqrt(x * x), abs(x)),
    "powers": lambda x, y, z: (x**2.0, x * x),
    "half powers": lambda x, y, z: (x**-1.5, 1 / (x * jnp.sqrt(x))),
    "choice": lambda x, y, z: (jnp.where(x > y, z, z), z),
    "idempotent": lambda x, y, z: (jnp.maximum(x, x), x),
}


@pytest.mark.parametrize("name", SIMPLIFICATIONS)
def test_simplification(name: str) -> None:
    left, right = scalarise(lambda v: SIMPLIFICATIONS[name](*v), (np.ones(3),)).outputs
    assert left.nodes[0] is right.nodes[0], (expression(left.nodes[0]), expression(right.nodes[0]))


def test_sums_that_compensate_rounding_are_left_alone() -> None:
    def f(x: Any, y: Any) -> Any:
        total = x + y
        return y - (total - x), (x + 1.0) - 1.0

    lost, rounded = scalarise(f, (1.0, 1e-17)).outputs
    values = numeric.evaluate([lost.nodes[0], rounded.nodes[0]], [np.array(1e-17), np.array(1.0)])
    assert values[1] == 0.0
    assert numeric.evaluate([lost.nodes[0]], [np.array(1.0), np.array(1e-17)])[0] == 1e-17


def test_numbers_become_an_argument() -> None:
    flat = scalarise(lambda x: 2.0 * x + 9.81 * jnp.sin(x) + 9.81 - 0.3, (1.0,))
    assert flat.numbers == (9.81, 0.3)
    assert [n.data for n in flat.inputs[1]] == [(1, 0), (1, 1)]
    value = numeric.evaluate(flat.outputs[0].nodes, [np.array(0.4), np.array([1.62, 7.0])])[0]
    assert value == pytest.approx(0.8 + 1.62 * np.sin(0.4) + 1.62 - 7.0, rel=1e-15)


def test_numbers_can_be_taken_out_afterwards() -> None:
    flat = scalarise(lambda x: 2.0 * x + 9.81 * jnp.sin(x) * 0.5, (1.0,), hoist=False)
    out, numbers = hoist(flat.algebra.graph, flat.outputs[0].nodes, 5, flat.algebra.rebuild)
    assert numbers == [9.81 * 0.5]
    assert not any(n.op == "const" and not structural(n.data) for n in reachable(out))


def test_substitution_simplifies(k: Algebra) -> None:
    x, y, z = leaves(k)
    (out,) = substitute([k("add", k("mul", x, y), z)], {x: k.constant(0.0, "f8")}, k.rebuild)
    assert out is z


def test_loops_are_written_out_and_branches_become_choices() -> None:
    def f(x: Any) -> Any:
        y = lax.fori_loop(0, 30, lambda i, c: jnp.sin(c) * x + i, x)
        return lax.cond(y > 0, lambda: y * 2, lambda: y - 1), lax.scan(lambda c, a: (c * a, c), x, jnp.arange(9.0))

    flat = scalarise(f, (np.float64(0.3),))
    values = [numeric.evaluate(o.nodes, [np.array(0.3), np.array(flat.numbers)]) for o in flat.outputs]
    for ours, theirs in zip(values, jax.tree.leaves(f(0.3)), strict=True):
        np.testing.assert_allclose(ours, np.ravel(theirs), rtol=1e-14)


def test_loops_of_unknown_length_have_no_expression() -> None:
    with pytest.raises(Unsupported, match="while_loop"):
        scalarise(lambda x: lax.while_loop(lambda y: y < 9, lambda y: y * 2, x), (1.0,))


def test_results_keep_their_shape() -> None:
    result = arrays(scalarise(lambda x: {"a": jnp.outer(x, x), "b": x.sum()}, (np.ones(3),)))
    assert result["a"].shape == (3, 3)
    assert result["b"].shape == ()
    assert result["a"][0, 1] is result["a"][1, 0]


def test_a_pendulum_is_as_small_as_by_hand() -> None:
    """The acceleration of the double pendulum from its Lagrangian needs few operations."""

    def lagrangian(q: Any, v: Any) -> Any:
        return (
            v[0] ** 2
            + 0.5 * v[1] ** 2
            + v[0] * v[1] * jnp.cos(q[0] - q[1])
            + 9.81 * (2 * jnp.cos(q[0]) + jnp.cos(q[1]))
        )

    def acceleration(q: Any, v: Any) -> Any:
        momentum = jax.grad(lagrangian, 1)
        m = jax.jacfwd(momentum, 1)(q, v)
        f = jax.grad(lagrangian)(q, v) - jax.jvp(lambda x: momentum(x, v), (q,), (v,))[1]
        d = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
        return jnp.stack([m[1, 1] * f[0] - m[0, 1] * f[1], m[0, 0] * f[1] - m[1, 0] * f[0]]) / d

    (out,) = scalarise(acceleration, (np.ones(2), np.ones(2))).outputs
    work = [n for n in reachable(out.nodes) if n.args]
    assert len(work) <= 40
    assert sum(n.op in ("sin", "cos") for n in work) == 4

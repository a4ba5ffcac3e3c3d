"""Random expressions: native code, XLA and the plain evaluation of the graph agree, gradients included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holonomy.trace.graph import numeric
from holonomy.trace.graph.dag import Graph, Node, expression, reachable
from holonomy.trace.graph.simplify import Algebra
from holonomy.trace.lowering.scalarise import scalarise
from holonomy.trace.native import compiler

# Every operation maps values of moderate size to values of moderate size, so that "1e-13" means the same everywhere.
UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tanh": jnp.tanh,
    "atan": jnp.arctan,
    "neg": lambda x: -x,
    "bell": lambda x: jnp.exp(-x * x),
    "root": lambda x: jnp.sqrt(1 + x * x),
    "log": lambda x: jnp.log1p(x * x),
    "half": lambda x: 0.5 * x,
    "shift": lambda x: x - 1.25,
    "third": lambda x: x / 3,
    "asinh": jnp.arcsinh,
    "cube": lambda x: x**3 / (1 + x * x),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y / (1 + 0.01 * (x * x + y * y)),
    "div": lambda x, y: x / (1 + y * y),
    "atan2": lambda x, y: jnp.arctan2(x, 1 + y * y),
    "pow": lambda x, y: (1 + x * x) ** jnp.tanh(y),
    "differ": lambda x, y: jnp.sin(x - y) + jnp.cos(y - x),
}
KINKED: dict[str, Callable[[Any, Any], Any]] = {
    "max": jnp.maximum,
    "min": jnp.minimum,
    "where": lambda x, y: jnp.where(x < y, x, y),
    "gap": lambda x, y: abs(x - y),
}


def trees(binary: dict[str, Any]) -> st.SearchStrategy[Any]:
    leaves = st.integers(0, 2) | st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.37])
    return st.recursive(
        leaves,
        lambda t: st.tuples(st.sampled_from(sorted(UNARY)), t) | st.tuples(st.sampled_from(sorted(binary)), t, t),
        max_leaves=24,
    )


def build(tree: Any, x: Any) -> Any:
    match tree:
        case int():
            return x[tree]
        case float():
            return jnp.asarray(tree)
        case (name, a):
            return UNARY[name](build(a, x))
        case (name, a, b):
            return {**BINARY, **KINKED}[name](build(a, x), build(b, x))


POINT = np.array([0.83, -0.61, 1.27])


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-13 * (1 + float(np.max(np.abs(b)))))


@settings(max_examples=40)
@given(trees({**BINARY, **KINKED}))
def test_values(tree: Any) -> None:
    def f(x: Any) -> Any:
        return build(tree, x)

    close(compiler.compile(f, (POINT,))(POINT), f(POINT))


@settings(max_examples=25)
@given(trees(BINARY))
def test_value_and_gradient(tree: Any) -> None:
    def f(x: Any) -> Any:
        return build(tree, x) + 0.0 * x[0]

    value, gradient = compiler.compile(jax.value_and_grad(f), (POINT,))(POINT)
    expected = jax.value_and_grad(f)(POINT)
    close(value, expected[0])
    close(gradient, expected[1])


@settings(max_examples=25)
@given(trees({**BINARY, **KINKED}))
def test_the_graph_evaluates_to_the_same(tree: Any) -> None:
    flat = scalarise(lambda x: build(tree, x), (POINT,))
    close(numeric.evaluate(flat.outputs[0].nodes, [POINT, np.array(flat.numbers)])[0], build(tree, POINT))


ARITHMETIC = ["add", "sub", "mul", "neg", "sin", "cos", "abs", "div", "sqrt", "max", "min"]


@given(
    st.lists(st.tuples(st.sampled_from(ARITHMETIC), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=40)
)
def test_simplified_nodes_keep_their_values(program: list[tuple[str, int, int]]) -> None:
    """The same program with the simplifying and the plain constructors."""
    graph = Graph()
    simple = Algebra(graph)
    leaves = [graph.input(0, e, "f8") for e in range(3)] + [graph.constant(c, "f8") for c in (0.0, 1.0, -1.0, 2.0, 0.5)]
    rows: list[tuple[Node, Node]] = [(n, n) for n in leaves]
    for op, i, j in program:
        (a, x), (b, y) = rows[i % len(rows)], rows[j % len(rows)]
        if op in ("neg", "sin", "cos", "abs", "sqrt"):
            a, x = (simple("abs", a), simple.raw("abs", x)) if op == "sqrt" else (a, x)
            rows.append((simple(op, a), simple.raw(op, x)))
        elif op == "div":
            one, plain = simple.constant(1.0, "f8"), simple.constant(1.0, "f8")
            below = simple("add", one, simple("mul", b, b)), simple.raw("add", plain, simple.raw("mul", y, y))
            rows.append((simple("div", a, below[0]), simple.raw("div", x, below[1])))
        else:
            rows.append((simple(op, a, b), simple.raw(op, x, y)))
    values = numeric.evaluate([n for row in rows for n in row], [POINT])
    for (short, long), ours, theirs in zip(rows, values[::2], values[1::2], strict=True):
        scale = max([1.0, *[abs(v) for v in numeric.evaluate(reachable([long]), [POINT]) if np.isfinite(v)]])
        if np.isfinite(theirs) and scale < 1e100:
            assert abs(ours - theirs) <= 1e-12 * scale, (expression(short), expression(long))

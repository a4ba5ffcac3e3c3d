"""Polynomials over a trace: same values, same derivatives, and the identities that make them short."""

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings

from holonomy.trace import as_jax as flat
from holonomy.trace.graph.dag import Graph
from holonomy.trace.graph.numeric import evaluate
from holonomy.trace.lowering.scalarise import scalarise
from holonomy.trace.lowering.statements import Unsupported
from holonomy.trace.symbolic.angles import contract, sines
from holonomy.trace.symbolic.assemble import Assembler, Separation, solve
from holonomy.trace.symbolic.polynomial import Poly, Ring
from holonomy.trace.symbolic.sympy_writer import Writer

POINT = np.array([0.37, 0.62])


def zoo(z):
    """One value for every operation that has a symbolic form."""
    x, y = z
    return jnp.stack([
        (x + y) * (x - 2 * y) / (1 + x * y), x**5 - y**-3, jnp.sqrt(x + y**2), (x + 2 * y) ** 1.7, x ** (2 * y), -x / y,
        jnp.exp(x * y), jnp.expm1(x), jnp.exp2(y), jnp.log(x + y), jnp.log1p(x * y), jnp.sin(x - y), jnp.cos(3 * x),
        jnp.tan(x), jnp.arcsin(x), jnp.arccos(x), jnp.arctan(x * y), jnp.arctan2(x, y), jnp.sinh(x), jnp.cosh(y - x),
        jnp.tanh(x), jnp.arcsinh(x), jnp.arccosh(1 + y), jnp.arctanh(x), jax.scipy.special.erf(x), jnp.cbrt(x + y),
        jax.scipy.special.erfc(x), jnp.abs(x - y), jnp.maximum(x, y) * jnp.minimum(x, y**2), jnp.sign(x - y) * y,
        jnp.where(x < y, x * y, x / y), jnp.where((x <= y) & (x != 2 * y), jnp.sin(y), 0.0), 1 / jnp.sqrt(x**2 + y**2),
        jnp.sqrt(x) * jnp.sqrt(x) * jnp.sqrt(x), (jnp.sin(x) + jnp.cos(y)) ** 3, 0.1 + 9.81 * x, x * 0.0 + 2.0,
    ])  # fmt: skip


def read(function, size=2):
    """A ring, the leaves of the argument, and the values of a function of one array as polynomials."""
    ring = Ring()
    flat = scalarise(function, (np.zeros(size),), hoist=False)
    leaves = [ring.leaf((0, e)) for e in range(size)]
    return ring, leaves, ring.read(flat.outputs[0].nodes, lambda k, e: leaves[e])


def values(polys, point=POINT):
    """Numbers, by way of a graph."""
    graph = Graph()
    write = Assembler(graph, lambda data: graph.input(data[0], data[1], "f8"), frozenset(range(len(point))))
    return np.array(evaluate([write.node(p) for p in polys], [point]), float)


def test_values_and_derivatives_of_every_operation() -> None:
    ring, leaves, polys = read(zoo)
    np.testing.assert_allclose(values(polys), jax.jit(zoo)(POINT), rtol=1e-13)
    slopes = [ring.slope(p, x) for p in polys for x in leaves]
    np.testing.assert_allclose(
        values(slopes).reshape(len(polys), 2), jax.jit(jax.jacfwd(zoo))(POINT), rtol=1e-12, atol=1e-14
    )


def test_sympy_says_the_same() -> None:
    ring, _, polys = read(zoo)
    names = sp.symbols("x y")
    write = Writer(ring, lambda data: names[data[1]], frozenset((0, 1)), {})
    function = sp.lambdify(names, [write.expression(p) for p in polys], ["scipy", "numpy"])
    np.testing.assert_allclose(function(*POINT), jax.jit(zoo)(POINT), rtol=1e-13)


IDENTITIES = {
    "cos(x - y)": lambda x, y: jnp.cos(x) * jnp.cos(y) + jnp.sin(x) * jnp.sin(y),
    "cos(x + y)": lambda x, y: jnp.cos(x) * jnp.cos(y) - jnp.sin(x) * jnp.sin(y),
    "-sin(x - y)": lambda x, y: jnp.sin(y) * jnp.cos(x) - jnp.sin(x) * jnp.cos(y),
    "sin(x + y)": lambda x, y: jnp.sin(y) * jnp.cos(x) + jnp.sin(x) * jnp.cos(y),
    "x": lambda x, y: x * jnp.sin(y) ** 2 + x * jnp.cos(y) ** 2,
    "cos(y)": lambda x, y: jnp.cos(x) * jnp.cos(x + y) + jnp.sin(x) * jnp.sin(x + y),
    "0": lambda x, y: (x + y) ** 3 - x**3 - y**3 - 3 * x * y * (x + y),
    "3*x**2*cos(2*x - y)": lambda x, y: 3 * x**2 * (jnp.cos(y) * jnp.cos(2 * x) + jnp.sin(2 * x) * jnp.sin(y)),
    "1": lambda x, y: (jnp.sin(x) * jnp.cos(y)) ** 2 + (jnp.sin(x) * jnp.sin(y)) ** 2 + jnp.cos(x) ** 2,
}


@pytest.mark.parametrize("short", IDENTITIES)
def test_identities_make_one_term_of_many(short: str) -> None:
    ring, _, (poly,) = read(lambda z: IDENTITIES[short](*z)[None])
    names = sp.symbols("x y")
    write = Writer(ring, lambda data: names[data[1]], frozenset((0, 1)), {})
    assert write.expression(contract(poly)) == sp.sympify(short)


def test_one_minus_cos_squared_is_shown_as_sin_squared() -> None:
    ring, (x, y), _ = read(lambda z: z)
    cosine = ring.apply("cos", x)
    poly = y + ring.one - ring.power(cosine, 2)
    assert sines(poly).key == (y + ring.power(ring.apply("sin", x), 2)).key


ANGLE = st.sampled_from(["x", "y", "x+y", "x-2*y"])
FACTOR = st.tuples(st.sampled_from(["sin", "cos"]), ANGLE)
TERM = st.tuples(st.integers(-2, 2), st.lists(FACTOR, min_size=1, max_size=4))


@given(st.lists(TERM, min_size=1, max_size=8))
@settings(max_examples=60)
def test_contraction_never_changes_a_value_nor_adds_terms(terms) -> None:
    ring, (x, y), _ = read(lambda z: z)
    angles = {"x": x, "y": y, "x+y": x + y, "x-2*y": x - y.scaled(2)}
    poly = ring.zero
    for number, factors in terms:
        product = ring.number(number)
        for op, angle in factors:
            product = product * ring.apply(op, angles[angle])
        poly = poly + product
    short = contract(poly)
    assert len(short) <= len(poly)
    np.testing.assert_allclose(values([short]), values([poly]), rtol=0, atol=1e-13)


def test_closed_sums_stay_exact() -> None:
    """Near q = 10 the sum of seven terms of (q - 10)⁶ has lost ten digits; kept whole it has lost none."""
    point = np.array([10.1])
    exact = (point[0] - 10) ** 6
    found = []
    for closed in (lambda p: False, lambda p: bool(p.leaves)):
        ring = Ring(closed)
        q = ring.leaf((0, 0))
        poly = ring.power(q - ring.number(10), 6)
        found.append(values([poly, ring.slope(poly, q)], point))
    np.testing.assert_allclose(found[1], [exact, 6 * exact / (point[0] - 10)], rtol=1e-14)
    assert abs(found[0][0] - exact) > 1e-5 * exact


def test_separation_computes_parameters_once() -> None:
    """k·(sin q)·m/l: one factor for the parameters, one product for what moves; the values are the same."""
    graph = Graph()
    q, k, m = (graph.input(leaf, 0, "f8") for leaf in range(3))
    write = Assembler(graph, lambda data: q, frozenset())
    a = write.k
    value = a("add", a("div", a("mul", k, a("mul", a("sin", q), m)), a("mul", m, a("cos", q))), a("mul", k, m))
    apart = Separation(a, lambda node: node is q, 7)
    (new,) = apart.rewrite([value])
    leaves = [np.array([0.3]), np.array([2.0]), np.array([5.0])]
    fixed = np.array(evaluate(apart.fixed, leaves))
    held = [leaves[0], *[np.zeros(1)] * 6, fixed]
    np.testing.assert_allclose(evaluate([new], held), evaluate([value], leaves), rtol=1e-15)
    assert len(apart.fixed) == 2


def test_solving_in_expressions() -> None:
    graph = Graph()
    n = 4
    random = np.random.default_rng(3)
    a = random.normal(size=(n, n))
    a = a @ a.T + np.eye(n)
    b = random.normal(size=n)
    nodes = [[graph.input(0, n * i + j, "f8") for j in range(n)] for i in range(n)]
    right = [graph.input(1, i, "f8") for i in range(n)]
    write = Assembler(graph, lambda data: right[0], frozenset())
    for fixed in (lambda node: False, lambda node: node in (nodes[2][2], nodes[3][3])):
        found = evaluate(solve(write.k, nodes, right, fixed), [a, b])
        np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-12)


def test_what_has_no_symbolic_form_is_named() -> None:
    ring = Ring()
    with pytest.raises(Unsupported, match="'rem' has no symbolic form"):
        ring.apply("rem", ring.one, ring.one)
    assert isinstance(ring.apply("abs", ring.number(-3)), Poly)


def test_flat_jax_gives_the_same_values_and_derivatives() -> None:
    graph = scalarise(zoo, (np.zeros(2),), hoist=False)

    def again(z):
        return jnp.stack(flat.evaluate(graph.outputs[0].nodes, {0: z}))

    np.testing.assert_allclose(jax.jit(again)(POINT), jax.jit(zoo)(POINT), rtol=1e-14)
    np.testing.assert_allclose(
        jax.jit(jax.jacfwd(again))(POINT), jax.jit(jax.jacfwd(zoo))(POINT), rtol=1e-12, atol=1e-14
    )

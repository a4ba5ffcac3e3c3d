"""The structure of the mass matrix from the trace, and solves that use it against those of the whole matrix."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.systems import mass_checks, quantities
from holonomy.trace.hessian_pattern import hessian_pattern

N = 24
NAMES = [f"x{i}" for i in range(N)]
BLOCK = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])
METRIC = np.eye(N) + 0.01 * np.random.default_rng(5).normal(size=(N, N))
SHUFFLED = np.random.default_rng(6).permutation(N)

# the Lagrangian, and what is said of its mass matrix
KINDS = {
    "flat": (lambda t, q, v: 0.5 * jnp.sum(v * v) - jnp.sum(jnp.cos(q)), "diagonal, constant", True),
    "polar": (
        lambda t, q, v: 0.5 * jnp.sum(v[::2] ** 2 + (1 + q[::2] ** 2) * v[1::2] ** 2) - jnp.sum(q**2),
        "diagonal, depends on positions",
        False,
    ),
    "growing": (
        lambda t, q, v: 0.5 * (1 + t**2) * jnp.sum(v * v) - jnp.sum(q**2),
        "diagonal, depends on the time",
        False,
    ),
    "magnetic": (lambda t, q, v: 0.5 * jnp.sum(v * v) + jnp.dot(jnp.roll(q, 1) ** 2, v), "diagonal, constant", False),
    "blocks": (
        lambda t, q, v: 0.5 * jnp.einsum("ij,kj,ki", BLOCK, v.reshape(-1, 3), v.reshape(-1, 3)) - jnp.sum(q**4),
        "block-diagonal (8 blocks of at most 3), constant",
        True,
    ),
    "interleaved blocks": (
        lambda t, q, v: 0.5 * jnp.einsum("ij,jk,ik,k", BLOCK, v.reshape(3, -1), v.reshape(3, -1), 1 + q[:8] ** 2),
        "block-diagonal (8 blocks of at most 3), depends on positions",
        False,
    ),
    "uneven blocks": (
        lambda t, q, v: 0.5 * jnp.sum(v * v) + 0.2 * v[1] * v[9] + 0.1 * v[9] * v[5] * jnp.cos(q[0]),
        "block-diagonal (22 blocks of at most 3), depends on positions",
        False,
    ),
    "fast": (
        lambda t, q, v: -jnp.sum(jnp.sqrt(1 - 1e-2 * jnp.sum(v.reshape(-1, 3) ** 2, axis=1))) - jnp.sum(q**2),
        "block-diagonal (8 blocks of at most 3), depends on velocities",
        False,
    ),
    "string": (
        lambda t, q, v: 0.5 * jnp.sum(v * v) + 0.2 * jnp.sum(v[1:] * v[:-1] * jnp.cos(q[1:])) - jnp.sum(q**2),
        "banded (1 beside the diagonal on each side), depends on positions",
        False,
    ),
    "beam": (
        lambda t, q, v: 0.5 * jnp.sum(v * v) + 0.2 * jnp.sum(v[1:] * v[:-1]) + 0.1 * jnp.sum(v[2:] * v[:-2] * q[2:]),
        "banded (2 beside the diagonal on each side), depends on positions",
        False,
    ),
    "shuffled string": (
        lambda t, q, v: 0.5 * jnp.sum(v * v) + 0.2 * jnp.sum(v[SHUFFLED][1:] * v[SHUFFLED][:-1]) - jnp.sum(q**2),
        "banded (1 beside the diagonal on each side, in another order of the coordinates), constant",
        True,
    ),
    "arrow": (
        lambda t, q, v: 0.5 * jnp.sum(v * v) + 0.1 * v[0] * jnp.sum(v[1:]) - jnp.sum(q**2),
        "arrow (diagonal but for 1 of the coordinates), constant",
        True,
    ),
    "two hubs": (
        lambda t, q, v: (
            0.5 * jnp.sum((2 + jnp.cos(q)) * v * v) + 0.1 * v[5] * jnp.sum(v[1::2] * q[1::2]) + 0.1 * v[9] * jnp.sum(v)
        ),
        "arrow (diagonal but for 2 of the coordinates), depends on positions",
        False,
    ),
    "web": (
        lambda t, q, v: 0.5 * jnp.sum(v * v) + 0.01 * jnp.sum(v.reshape(4, 6)[:, :, None] * v.reshape(4, 6)[:, None]),
        "block-diagonal (4 blocks of at most 6), constant",
        True,
    ),
    "hidden": (lambda t, q, v: 0.5 * jnp.sum(v * v) + 1e-9 * jnp.sum(v) ** 2 - jnp.sum(q**2), "dense, constant", True),
    "metric": (lambda t, q, v: 0.5 * v @ (METRIC @ METRIC.T) @ v - jnp.sum(q**2), "dense, constant", True),
}


@pytest.mark.parametrize("name", KINDS)
def test_solves_with_the_structure_equal_those_of_the_whole_matrix(name):
    lagrangian, words, separable = KINDS[name]
    system = hl.System.from_lagrangian(lagrangian, coordinates=NAMES)
    found = system.structure
    assert str(found) == f"{words}, {N} coordinates"
    assert found.separable == separable
    q, v = jnp.asarray(np.random.default_rng(2).uniform(-0.5, 0.5, (2, N)))
    # the whole matrix, and the structure also where a system of this size would not use it
    ways = [system, replace(system, mass=None if found.kind == "dense" else found)]
    moved = [jax.jit(jax.value_and_grad(lambda x, s=s: _number(s, x, v), has_aux=True))(q) for s in ways]
    for whole, structured in zip(*map(jax.tree.leaves, moved), strict=True):
        np.testing.assert_allclose(structured, whole, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(system.velocity(0.3, q, system.momentum(0.3, q, v)), v, rtol=1e-12, atol=1e-13)


def _number(system, q, v):
    a = quantities.ambient_acceleration(system, np.float64(0.3), q, v)
    return jnp.sum(jnp.sin(a)), a


LEAVES = 421
PARENT = np.arange(1, LEAVES) // 4
SCATTERED = np.random.default_rng(7).permutation(LEAVES)
CHILD, ABOVE = SCATTERED[1:], SCATTERED[PARENT]


def _tree(own):
    """A Lagrangian whose mass matrix is that of a tree with branches of four, in an order that is no band."""
    return lambda t, q, v: (
        0.5 * jnp.sum(own * v * v) + 0.5 * jnp.sum((1 + 0.3 * jnp.cos(q[CHILD])) * (v[CHILD] + v[ABOVE]) ** 2)
    )


def test_a_tree_is_eliminated_sparsely():
    system = hl.System.from_lagrangian(_tree(0.05), space=hl.Euclidean(LEAVES))
    entries = LEAVES + 2 * (LEAVES - 1)
    wanted = f"sparse ({entries} entries, eliminated sparsely), depends on positions, {LEAVES} coordinates"
    assert str(system.structure) == wanted
    q, v = np.random.default_rng(2).uniform(-0.5, 0.5, (2, LEAVES))
    structured = mass_checks.regular(system, 0.3, q, v)
    assert structured.mass is not None
    assert structured.mass.pairs is not None
    found = jax.jit(quantities.ambient_acceleration)(structured, np.float64(0.3), jnp.asarray(q), jnp.asarray(v))
    np.testing.assert_allclose(found, _acceleration_of_tree(q, v), rtol=1e-12, atol=1e-12)


def _acceleration_of_tree(q, v):
    """The same by hand, with the whole matrix."""
    factor, speed, rate = 1 + 0.3 * np.cos(q[CHILD]), v[CHILD] + v[ABOVE], -0.3 * np.sin(q[CHILD])
    whole, force = 0.05 * np.eye(LEAVES), np.zeros(LEAVES)
    for a in (CHILD, ABOVE):
        np.add.at(force, a, -rate * v[CHILD] * speed)
        for b in (CHILD, ABOVE):
            np.add.at(whole, (a, b), factor)
    np.add.at(force, CHILD, 0.5 * rate * speed**2)
    return np.linalg.solve(whole, force)


def test_a_tree_without_mass_somewhere_is_refused_and_one_that_is_indefinite_is_dense():
    q = jnp.zeros(LEAVES)
    singular = hl.System.from_lagrangian(_tree(0.0), space=hl.Euclidean(LEAVES))
    with pytest.raises(ValueError, match=r"singular at q in the coordinates x\d+"):
        mass_checks.regular(singular, 0.0, q, q)
    indefinite = hl.System.from_lagrangian(_tree(-0.5), space=hl.Euclidean(LEAVES))
    assert mass_checks.regular(indefinite, 0.0, q, q).mass is None


TURNS = (
    lambda x, a: x[::-1],
    lambda x, a: jnp.roll(x, a),
    lambda x, a: jnp.cumsum(x) if a % 2 else jnp.sin(x),
    lambda x, a: x.reshape(3, 4).T.reshape(-1),
    lambda x, a: jnp.concatenate([x[a:], x[:a]]) * x,
    lambda x, a: jnp.where(x > 0.1, x, x**2),
    lambda x, a: x[np.arange(12) // (1 + a % 3)],
    lambda x, a: jnp.sort(x) if a % 2 else jnp.sqrt(2 + x),
    lambda x, a: jax.lax.scan(lambda c, y: (c + 0 * y, y * y), 0.0, x)[1],
    lambda x, a: jnp.pad(x[a:], (0, a)),
    lambda x, a: (x.reshape(4, 3) @ np.eye(3)[:, ::-1]).reshape(-1),
    lambda x, a: x / (2 + jnp.roll(x, a) ** 2),
)
ENDS = (
    lambda x, y: jnp.dot(x, y),
    lambda x, y: jnp.sum(x[:4, None] * y[None, 8:]),
    lambda x, y: jnp.sum(x.reshape(3, 4)[:, :, None] * y.reshape(3, 4)[:, None]),
    lambda x, y: jnp.einsum("ij,ij->", x.reshape(6, 2), y.reshape(6, 2)),
    lambda x, y: jnp.linalg.norm(x[:5] + y[:5]),
    lambda x, y: jnp.sum(jnp.stack([x, y]) ** 2),
    lambda x, y: jnp.max(x) * y[0] + jnp.prod(y[6:8]),
)


@pytest.mark.parametrize("seed", range(18))
def test_no_entry_of_a_random_program_is_missed(seed):
    """Programs of a few operations, of all kinds: every second derivative that differs from zero is in the pattern."""
    random = np.random.default_rng(seed)
    first, second = ([int(k) for k in random.integers(len(TURNS), size=random.integers(1, 4))] for _ in range(2))
    shifts, end = [int(a) for a in random.integers(1, 6, size=8)], ENDS[seed % len(ENDS)]

    def lagrangian(t, q, v):
        x = y = v
        for k, a in zip(first, shifts, strict=False):
            x = TURNS[k](x, a)
        for k, a in zip(second, reversed(shifts), strict=False):
            y = TURNS[k](y, a)
        return 0.5 * jnp.dot(v, v) + end(x, y)

    system = hl.System.from_lagrangian(lagrangian, space=hl.Euclidean(12))
    example = [jax.ShapeDtypeStruct(shape, float) for shape in ((), (12,), (12,))]
    pattern = hessian_pattern(system.lagrangian, example, 2, 10**6)
    assert pattern is not None
    hessian = jax.jit(jax.hessian(lambda v: lagrangian(0.0, v, v)))
    actual = sum(np.abs(hessian(v)) for v in random.uniform(-1, 1, (2, 12)))
    assert not np.any((actual > 0) & ~pattern.matrix.toarray())


def test_parameters_are_named_where_the_matrix_depends_on_them():
    system = hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * jnp.sum(p.mass * v * v) - p.k * jnp.sum(q**2),
        coordinates=NAMES,
        parameters={"mass": np.ones(N), "k": 1.0},
    )
    assert str(system.structure) == f"diagonal, depends on parameters, {N} coordinates"
    assert system.structure.separable


def test_a_hundred_thousand_coordinates_need_no_matrix():
    n = 10**5
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.sum(v * v) - 0.5 * jnp.sum((q[1:] - q[:-1]) ** 2), space=hl.Euclidean(n)
    )
    q, v = np.random.default_rng(0).normal(size=(2, n))
    force = np.diff(q, prepend=q[0], append=q[-1])
    np.testing.assert_allclose(system.acceleration(0.0, q, v), np.diff(force), atol=1e-12)
    np.testing.assert_allclose(system.velocity(0.0, q, v), v)
    np.testing.assert_allclose(system.hamiltonian(0.0, q, v), system.energy(0.0, q, v), rtol=1e-12)
    run = hl.simulate(system, q, v, 0.02, dt=0.01)
    assert run.certificate.method.startswith("Splitting(4)")
    assert "diagonal, constant, 100000 coordinates" in str(run.certificate)


def test_a_singular_part_is_named():
    def system(kinetic):
        return hl.System.from_lagrangian(lambda t, q, v: kinetic(v) - jnp.sum(q**2), coordinates=NAMES)

    rest, masses = np.zeros(N), np.ones(N)
    masses[[3, 7]] = 0.0
    with pytest.raises(ValueError, match="singular at the initial state q0 in the coordinates x3, x7"):
        hl.simulate(system(lambda v: jnp.sum(masses * v * v)), rest, rest, 1.0, dt=0.1)
    with pytest.raises(ValueError, match="in the coordinates x4, x5"):
        system(lambda v: jnp.sum(v[:4] ** 2) + (v[4] - v[5]) ** 2 + jnp.sum(v[6:] ** 2)).acceleration(0.0, rest, rest)
    with pytest.raises(ValueError, match=r"singular at q in the coordinates x.* and 19 more"):
        system(lambda v: jnp.sum((v[1:] - v[:-1]) ** 2)).acceleration(0.0, rest, rest)
    loose = np.ones(N)
    loose[10:] = 0.0
    with pytest.raises(ValueError, match=r"in the coordinates x1[0-4].* and 9 more"):
        system(lambda v: jnp.sum((v[1:] - v[:-1]) ** 2) + jnp.sum(loose * v * v) - (v[10] - v[9]) ** 2).acceleration(
            0.0, rest, rest
        )
    with pytest.raises(ValueError, match="in the coordinates x0,"):  # a cart that its loads carry away
        system(lambda v: jnp.sum((v[1:] + v[0]) ** 2)).acceleration(0.0, rest, rest)


def test_an_indefinite_block_is_not_taken_as_positive():
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.sum(v[2:] ** 2) + v[0] * v[1] - jnp.sum(q**2), coordinates=NAMES
    )
    structured = system._regular(0.0, np.zeros(N), np.zeros(N))[0]
    assert structured.mass is not None
    assert not structured.definite
    q = np.linspace(0.1, 1.0, N)
    np.testing.assert_allclose(system.acceleration(0.0, q, q), [-2 * q[1], -2 * q[0], *-2 * q[2:]], rtol=1e-14)


def test_entries_that_miss_a_product_are_not_used():
    system = mass_checks.with_structure(hl.System.from_lagrangian(KINDS["flat"][0], coordinates=NAMES))
    entries = np.ones(N)
    assert mass_checks.judged(system, entries, 1e-15, "q").mass is not None
    assert mass_checks.judged(system, entries, 1e-3, "q").mass is None


@pytest.mark.parametrize("kind", ["diagonal", "block-diagonal", "banded", "arrow"])
def test_an_indefinite_part_is_named(kind: str) -> None:
    """A sign that is wrong in one place of 40 coordinates."""
    n, place = 40, 7
    sign = np.ones(n)
    sign[place] = -1.0

    def kinetic(v: Any) -> Any:
        own = 0.5 * jnp.sum(sign * v * v)
        if kind == "block-diagonal":
            return 0.5 * jnp.sum(v * v) + 3.0 * v[place] * v[place + 1]
        if kind == "banded":
            return own + 0.1 * jnp.sum(v[1:] * v[:-1])
        return own + 0.01 * v[0] * jnp.sum(v[1:]) if kind == "arrow" else own

    system = hl.System.from_lagrangian(lambda t, q, v: kinetic(v) - 0.5 * jnp.sum(q * q), space=hl.Euclidean(n))
    structure = mass_checks.with_structure(system).mass
    assert structure is not None
    assert structure.kind == kind
    named = "x8, x9" if kind == "block-diagonal" else "x8"
    with pytest.warns(UserWarning, match=rf"negative kinetic energy at the initial state in the coordinates {named}\."):
        hl.simulate(system, np.zeros(n), np.ones(n), 0.02, dt=0.01, method=hl.RK4())


def test_an_arrow_of_many_coordinates_takes_no_whole_matrix():
    """A cart that carries masses on springs: the cart's row is eliminated by hand."""
    n = 50_000

    def lagrangian(t, q, v):
        return n * v[0] ** 2 + jnp.sum(v[1:] ** 2 + v[0] * v[1:] * jnp.cos(q[1:])) - 0.5 * jnp.sum(q[1:] ** 2)

    system = hl.System.from_lagrangian(lagrangian, coordinates={"x": (n,)})
    assert system.structure.kind == "arrow"
    q, v = np.linspace(-1.0, 2.0, n), np.cos(np.arange(n))
    found = system.acceleration(0.0, q, v)
    cosines = np.cos(q[1:])
    # 2n a0 + sum(cos(q) a) = sum(sin(q) v^2) and 2 a + cos(q) a0 = -q, as v0 sin(q) v cancels in the equations of q
    first = np.sum(np.sin(q[1:]) * v[1:] ** 2) + 0.5 * np.sum(cosines * q[1:])
    cart = first / (2.0 * n - 0.5 * np.sum(cosines**2))
    np.testing.assert_allclose(found[0], cart, rtol=1e-12)
    np.testing.assert_allclose(found[1:], -0.5 * (q[1:] + cosines * cart), rtol=0, atol=1e-12)

"""The structure of the mass matrix from the trace, and solves that use it against those of the whole matrix."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl
from holonomy.systems import mass_checks, quantities

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
        f"sparse ({3 * N - 2} entries), constant",
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
    with pytest.raises(ValueError, match="singular at q, so"):
        system(lambda v: jnp.sum((v[1:] - v[:-1]) ** 2)).acceleration(0.0, rest, rest)


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

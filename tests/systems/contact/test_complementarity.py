"""The complementarity problem of contact, against trying every set of contacts, on random and degenerate normals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.systems.contact import brute

from holonomy.systems.contact.complementarity import CONTRADICTORY, SOLVED, complementarity
from holonomy.trace.native import compiler

SOLVE = jax.jit(complementarity)
FOUR = np.ones(4, bool)


def random_normals(seed, kind):
    """Four normals in three dimensions: dependent always, in pairs parallel, opposite or of very different size."""
    random = np.random.default_rng(seed)
    normals = random.normal(size=(4, 3))
    if kind == "integer":
        normals = random.integers(-1, 2, size=(4, 3)).astype(float)
        normals[np.all(normals == 0, axis=1)] = [1.0, 0.0, 0.0]
    if kind == "parallel":
        normals[2] = random.uniform(0.1, 10) * normals[0]
    if kind == "opposite":
        normals[3] = -normals[1]
    if kind == "sizes":
        normals *= 10.0 ** random.uniform(-5, 5, size=(4, 1))
    return random, normals


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["general", "integer", "parallel", "opposite", "sizes"]),
    st.booleans(),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_solution_equals_the_one_found_by_trying_all_sets(seed, kind, consistent, among):
    random, normals = random_normals(seed, kind)
    offset = normals @ random.normal(size=3) if consistent else random.normal(size=4)
    size = np.linalg.norm(normals, axis=1)
    found = SOLVE(normals @ normals.T, offset, np.array(among))
    unit = normals / size[:, None]
    expected = brute.complementarity(unit @ unit.T, offset / size, among)
    if expected is None:
        assert found.code == CONTRADICTORY
        return
    assert found.code == SOLVED
    values, slack = np.asarray(found.values), np.asarray(found.slack) / size
    largest = 1.0 + np.abs(offset / size).max() + np.abs(values * size).max()
    assert values.min() >= 0
    assert np.all(values[~np.array(among)] == 0)
    assert slack[among].min(initial=0.0) > -1e-11 * largest
    assert np.abs(values * size * slack).max() < 1e-11 * largest**2
    np.testing.assert_allclose(slack, expected, rtol=0, atol=1e-9 * largest)


def test_equal_supports_carry_equal_loads():
    """A table on four legs: three would do, and none is better than another."""
    legs = np.array([[1.0, 1, 1], [1, -1, 1], [1, 1, -1], [1, -1, -1]])
    found = SOLVE(legs @ legs.T, -legs @ np.array([1.0, 0, 0]), FOUR)
    np.testing.assert_allclose(found.values, 0.25, rtol=1e-14)
    shifted = SOLVE(legs @ legs.T, -legs @ np.array([1.0, 0.3, 0.1]), FOUR)
    # least norm: the load's three components spread over the legs' four
    np.testing.assert_allclose(shifted.values, np.linalg.lstsq(legs.T, [1.0, 0.3, 0.1])[0], rtol=1e-13)


def test_walls_that_close_on_what_is_between_them_have_no_answer():
    normals = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert SOLVE(normals @ normals.T, np.array([-1.0, -1, 0, 0]), FOUR).code == CONTRADICTORY
    assert SOLVE(normals @ normals.T, np.array([-1.0, 1, 0, 0]), FOUR).code == SOLVED


@pytest.mark.parametrize("count", [1, 2, 12])
def test_many_contacts_and_both_engines(count):
    random = np.random.default_rng(count)
    normals = random.normal(size=(count, 6))
    matrix, among = normals @ normals.T, np.ones(count, bool)
    machine = compiler.compile(complementarity, (matrix, np.zeros(count), among))
    for _ in range(20):
        offset = normals @ random.normal(size=6)
        here, there = SOLVE(matrix, offset, among), machine(matrix, offset, among)
        assert here.code == SOLVED == there.code
        largest = 1.0 + np.max(here.values)
        assert np.min(here.slack) > -1e-12 * largest
        assert np.max(np.abs(here.values * here.slack)) < 1e-12 * largest**2
        np.testing.assert_allclose(there.values, here.values, rtol=0, atol=1e-10 * largest)


def test_batches_and_derivatives_on_the_set_that_pushes():
    random = np.random.default_rng(3)
    normals = random.normal(size=(4, 4))
    matrix, offsets = normals @ normals.T, random.normal(size=(5, 4))
    change, way, weights = random.normal(size=(4, 4)), random.normal(size=4), random.normal(size=4)
    change = change + change.T

    @jax.jit
    def everything(b):
        def values(m, b):
            return complementarity(m, b, jnp.asarray(FOUR)).values

        here = (jnp.asarray(matrix), b)
        out, forward = jax.jvp(values, here, (jnp.asarray(change), jnp.asarray(way)))
        return out, forward, jax.vjp(values, *here)[1](jnp.asarray(weights))

    found, forward, reverse = jax.vmap(everything)(offsets)
    for k, offset in enumerate(offsets):
        np.testing.assert_allclose(found[k], SOLVE(matrix, offset, FOUR).values, rtol=0, atol=1e-13)
        on = np.flatnonzero(found[k] > 0)
        expected = np.zeros(4)
        expected[on] = np.linalg.solve(
            matrix[np.ix_(on, on)], -way[on] - change[np.ix_(on, on)] @ np.asarray(found[k])[on]
        )
        np.testing.assert_allclose(forward[k], expected, rtol=0, atol=1e-11)
        np.testing.assert_allclose(
            np.sum(reverse[0][k] * change) + reverse[1][k] @ way, weights @ expected, rtol=0, atol=1e-11
        )
    assert 0 < np.sum(found > 0) < found.size

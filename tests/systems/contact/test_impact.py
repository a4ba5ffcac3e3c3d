"""The laws of impact as functions of velocities: against the definition, and by what they must keep."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.systems.contact import brute
from tests.systems.contact.test_complementarity import random_normals

from holonomy.systems.constraints.conditions import LAWS
from holonomy.systems.contact.complementarity import CONTRADICTORY, EXHAUSTED, SOLVED
from holonomy.systems.contact.impact import delassus, impact, push
from holonomy.trace.native import compiler

SIZE = 5
ROW = np.diff(np.eye(SIZE), axis=0)  # the distances of five balls in a row


def outcome(mass, normals, velocity, restitution, law):
    velocity, normals = jnp.asarray(velocity), jnp.asarray(normals)
    found = delassus(jnp.asarray(mass), None, normals)
    speed = jnp.sqrt(velocity @ mass @ velocity)
    closed = jnp.ones(normals.shape[0], bool)
    return impact(found, normals @ velocity, closed, jnp.asarray(restitution), speed, law)


DELASSUS, IMPACT, PUSH = jax.jit(delassus), jax.jit(impact), jax.jit(push)
BY_LAW = {law: jax.jit(partial(outcome, law=law)) for law in LAWS}
GENERALISED = BY_LAW["generalised"]


def random_case(seed, kind):
    random, normals = random_normals(seed, kind)
    root = random.normal(size=(3, 3))
    return random, normals, root @ root.T + 0.1 * np.eye(3), random.normal(size=3)


# ── Generalised reflections ───────────────────────────────────────────────────────────────────────────


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["general", "integer", "parallel", "sizes"]),
    st.sampled_from([0, 0.3, 1]),
)
def test_equals_the_definition_and_keeps_what_it_must(seed, kind, e):
    random, normals, mass, before = random_case(seed, kind)
    # normals of a cone with inside: all make an acute angle with some direction
    inside = random.normal(size=3)
    normals *= np.where(normals @ inside < 0, -1.0, 1.0)[:, None]
    found = GENERALISED(mass, normals, before, np.full(4, float(e)))
    assert found.code == SOLVED
    after = before + np.asarray(found.change)
    energy = before @ mass @ before
    unit = np.sqrt(energy * np.einsum("ij,ij->i", normals, np.linalg.solve(mass, normals.T).T))
    assert np.min(normals @ after / unit) > -1e-12
    assert np.min(found.impulses) >= 0
    np.testing.assert_allclose(
        mass @ np.asarray(found.change), normals.T @ np.asarray(found.impulses), rtol=0, atol=1e-10
    )
    if e == 1:
        assert abs(after @ mass @ after - energy) < 1e-12 * energy
    else:
        assert after @ mass @ after <= energy * (1 + 1e-14)
    even = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    np.testing.assert_allclose(
        after, brute.reflect(mass, even, before, e), rtol=0, atol=1e-9 * (1 + np.abs(before).max())
    )


@given(st.integers(0, 2**32 - 1), st.permutations(range(4)))
def test_the_order_of_contacts_does_not_matter(seed, order):
    random, normals, mass, before = random_case(seed, "general")
    normals *= np.where(normals @ random.normal(size=3) < 0, -1.0, 1.0)[:, None]
    e = random.uniform(size=4)
    one, other = GENERALISED(mass, normals, before, e), GENERALISED(mass, normals[order], before, e[order])
    np.testing.assert_allclose(other.change, one.change, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(np.asarray(other.struck), np.asarray(one.struck)[order])


@pytest.mark.parametrize(
    "before, after",
    [
        ([1, 0, 0, 0, 0], [0, 0, 0, 0, 1]),
        ([1, 1, 0, 0, 0], [0, 0, 0, 1, 1]),
        ([1, 1, 1, 0, 0], [0, 0, 1, 1, 1]),
        ([2, 0, 0, 0, -2], [-2, 0, 0, 0, 2]),
        ([0, 0, 1, 0, 0], [0, 0, 0, 0, 1]),
    ],
)
def test_row_of_balls(before, after):
    found = GENERALISED(np.eye(SIZE), ROW, np.array(before, float), np.ones(4))
    np.testing.assert_allclose(np.array(before) + found.change, after, rtol=0, atol=1e-14)
    assert not found.smooth


def test_other_laws_differ_where_they_are_known_to():
    start, one = np.array([1.0, 0, 0, 0, 0]), np.ones(4)
    together = start + BY_LAW["joint"](np.eye(SIZE), ROW, start, one).change
    np.testing.assert_allclose(together, [-0.6, 0.4, 0.4, 0.4, 0.4], rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        BY_LAW["pairwise"](np.eye(SIZE), ROW, start, one).change, [-1, 0, 0, 0, 1], rtol=0, atol=1e-14
    )

    # a ball driven between two at rest, from above: the pair it leaves must be alike
    normals = np.array([[1.0, 0.0, -1, 0, 0.5], [-1.0, 0, 0, 1, 0.5], [0, 1.0, 0, 0, -1], [0, 0, 1.0, -1, 0.2]])
    mirrored = normals[[1, 0, 2, 3]]
    velocity = np.array([0.1, -1.0, 0.4, -0.3, 0.2])
    two = [BY_LAW["pairwise"](np.eye(SIZE), n, velocity, one).change for n in (normals, mirrored)]
    assert np.max(np.abs(two[0] - two[1])) > 1e-2
    two = [GENERALISED(np.eye(SIZE), n, velocity, one).change for n in (normals, mirrored)]
    np.testing.assert_allclose(two[0], two[1], rtol=0, atol=1e-13)


def test_inelastic_rows_end_together_where_pairwise_blows_go_on():
    start = np.array([1.0, 0, 0, 0, 0])
    found = GENERALISED(np.eye(SIZE), ROW, start, np.zeros(4))
    np.testing.assert_allclose(start + found.change, 0.2, rtol=0, atol=1e-15)
    slow = BY_LAW["pairwise"](np.eye(SIZE), ROW, start, np.full(4, 0.05))
    assert slow.rounds > 50


def test_unrelated_contacts_keep_their_own_restitution():
    normals = np.eye(SIZE)[:4]
    found = GENERALISED(np.eye(SIZE), normals, np.array([-1.0, -2, 3, -4, 5]), np.array([1, 0.5, 0.3, 0]))
    np.testing.assert_allclose(found.impulses, [2, 3, 0, 4], rtol=0, atol=1e-15)


def test_single_contact_is_newtons_law_inside_the_held_constraints():
    """A rod of two unit masses that falls flat, one end on the floor: the velocities of a rigid rod."""
    mass, along = np.eye(4), np.array([[-1.0, 0, 1, 0]])
    normal = np.array([[0.0, 1, 0, 0], [1.0, 0, -1, 0]])  # the floor at one end, and a wall the rod itself forbids
    how = DELASSUS(jnp.asarray(mass), jnp.asarray(along), jnp.asarray(normal))
    assert np.all(how.gram[1] == 0)
    assert np.all(how.across[:, 1] == 0)
    before = np.array([0.5, -1.0, 0.5, -1.0])
    found = IMPACT(how, jnp.asarray(normal @ before), jnp.ones(2, bool), jnp.array([0.25, 1.0]))
    np.testing.assert_allclose(before + found.change, [0.5, 0.25, 0.5, -1], rtol=0, atol=1e-15)
    tilted = np.array([[-0.8, -0.6, 0.8, 0.6]])
    how = DELASSUS(jnp.asarray(mass), jnp.asarray(tilted), jnp.asarray(normal[:1]))
    # W of a point of a rigid rod: (cos² for the turning, 1/2 for the whole) at 0.8 along the floor
    np.testing.assert_allclose(how.gram[0, 0], 0.5 + 0.5 * 0.8**2, rtol=0, atol=1e-15)
    found = IMPACT(how, jnp.asarray(normal[:1] @ before), jnp.ones(1, bool), jnp.array([0.25]))
    np.testing.assert_allclose(found.change[1], 1.25, rtol=0, atol=1e-15)
    np.testing.assert_allclose(tilted @ found.change, 0, rtol=0, atol=1e-15)
    assert found.smooth


def test_moving_and_open_contacts():
    how = DELASSUS(jnp.eye(2), None, jnp.array([[1.0, 0], [0, 1]]))
    # normal velocities include the wall's own: a resting particle met by a wall at speed 1 leaves at twice that
    found = IMPACT(how, jnp.array([-1.0, -5.0]), jnp.array([True, False]), jnp.ones(2))
    np.testing.assert_allclose(found.change, [2.0, 0.0], rtol=0, atol=1e-15)
    assert found.smooth


def test_what_cannot_end_says_so():
    wedge = 1e-4  # needs about π/α rounds
    normals = jnp.array([[0.0, 1.0], [np.sin(wedge), -np.cos(wedge)]])
    how = DELASSUS(jnp.eye(2), None, normals)
    found = IMPACT(how, normals @ jnp.array([-1.0, -1e-3]), jnp.ones(2, bool), jnp.ones(2))
    assert found.code == EXHAUSTED
    walls = jnp.array([[1.0, 0.0], [-1.0, 0.0]])
    how = DELASSUS(jnp.eye(2), None, walls)
    assert IMPACT(how, jnp.array([-1.0, -1.0]), jnp.ones(2, bool), jnp.ones(2)).code == CONTRADICTORY
    held = IMPACT(how, jnp.array([-1.0, 1.0]), jnp.ones(2, bool), jnp.zeros(2))
    np.testing.assert_allclose(held.change, [1.0, 0.0], rtol=0, atol=1e-15)


# ── Forces, engines, derivatives ──────────────────────────────────────────────────────────────────────


def test_which_contacts_push():
    """A block in a corner pressed by a force: where the force leaves the cone of the walls, one lets go."""
    normals = jnp.array([[0.0, 1.0], [1.0, 0.2]])
    how = DELASSUS(jnp.diag(jnp.array([2.0, 3.0])), None, normals)
    for force in ([-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]):
        free = normals @ (jnp.array(force) / jnp.array([2.0, 3.0]))
        found = PUSH(how, free, jnp.ones(2, bool))
        expected = brute.complementarity(np.asarray(how.gram), np.asarray(free), np.ones(2, bool))
        assert expected is not None
        np.testing.assert_allclose(found.accelerations, expected, rtol=0, atol=1e-14)
        assert found.code == SOLVED


def test_engines_agree_and_batches_equal_single_ones():
    random = np.random.default_rng(5)
    start, e = random.normal(size=(6, SIZE)), np.full(4, 0.7)
    machine = compiler.compile(lambda v, e: outcome(jnp.eye(SIZE), ROW, v, e, "generalised"), (start[0], e))
    batch = jax.jit(jax.vmap(lambda v: outcome(jnp.eye(SIZE), ROW, v, e, "generalised").change))(start)
    for velocity, together in zip(start, batch, strict=True):
        alone = GENERALISED(np.eye(SIZE), ROW, velocity, e)
        np.testing.assert_allclose(together, alone.change, rtol=0, atol=1e-13)
        np.testing.assert_allclose(machine(velocity, e).change, alone.change, rtol=0, atol=1e-13)


def test_derivatives_of_several_rounds_forward_and_reverse():
    velocity, e = jnp.array([3.0, 1.0, 0.4, 0.1, 0.0]), jnp.full(4, 0.6)

    def after(v, e, m):
        return outcome(jnp.diag(jnp.array([1.0, m, 2.0, 1.0, 0.5])), ROW, v, e, "generalised").change

    given_mass, step = jnp.asarray(1.7), 1e-6
    apart = jax.jit(jax.vmap(lambda dv, dm: after(velocity + dv, e, given_mass + dm)))
    ways = np.eye(SIZE + 1)
    ahead, behind = (apart(s * step * ways[:, :SIZE], s * step * ways[:, SIZE]) for s in (1, -1))
    slopes = np.asarray(ahead - behind).T / (2 * step)
    way, weights = (np.random.default_rng(k).normal(size=SIZE) for k in (1, 2))
    forward = jax.jit(lambda dv, dm: jax.jvp(lambda v, m: after(v, e, m), (velocity, given_mass), (dv, dm))[1])
    np.testing.assert_allclose(forward(way, 0.3), slopes @ np.append(way, 0.3), rtol=0, atol=1e-8)
    reverse = jax.jit(jax.grad(lambda v, m: weights @ after(v, e, m), argnums=(0, 1)))(velocity, given_mass)
    np.testing.assert_allclose(np.append(*reverse), weights @ slopes, rtol=0, atol=1e-8)

"""Sums over pairs within a cutoff against those over all pairs."""

from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

CUTOFF = 1.5
CHARGES = np.random.default_rng(9).uniform(0.5, 1.5, 200)

# box, and the size of the region of the particles
PLACES = {
    "plane, open": (None, [9.0, 7.0]),
    "plane, box": (7.0, [7.0, 7.0]),
    "box of two cells": ((3.1, 8.0), [3.1, 8.0]),
    "box of one cell": ((3.0, 9.0), [3.0, 9.0]),
    "channel": ((6.0, None), [6.0, 30.0]),
    "line, sparse": (None, [1e4]),
    "space, box": ((5.0, 6.0, 4.0), [5.0, 6.0, 4.0]),
    "space, open": (None, [6.0, 5.0, 4.0]),
}


def _all_pairs(x, box, potential):
    """The same sum with all pairs, in JAX, for arrays of any kind."""
    lengths = [np.inf if b is None else b for b in (box if np.ndim(box) else [box] * x.shape[1])]
    i, j = np.triu_indices(x.shape[0], 1)
    apart = x[i] - x[j]
    parts = [a if np.isinf(b) else a - b * jax.lax.stop_gradient(jnp.round(a / b)) for a, b in zip(apart.T, lengths)]
    squares = sum(a * a for a in parts)
    near = squares < CUTOFF**2
    far = jnp.sqrt(jnp.where(near, squares, CUTOFF**2))
    return jnp.sum(jnp.where(near, potential(far, i, j), 0.0))


def _charged(r, i, j):
    return jnp.asarray(CHARGES)[i] * jnp.asarray(CHARGES)[j] * jnp.exp(-r) / r


# few are summed over all pairs
@pytest.mark.parametrize(("name", "count"), [*((name, 150) for name in PLACES), ("channel", 40), ("space, box", 40)])
def test_sums_and_derivatives_equal_those_of_all_pairs(name, count):
    box, region = PLACES[name]
    random = np.random.default_rng(len(name))
    x = random.uniform(0, 1, (count, len(region))) * region
    near = hl.Neighbours(x, CUTOFF, box=box)
    periodic = [b is not None for b in (box if np.ndim(box) else [box] * len(region))]
    moved = x + np.where(periodic, np.array(region) * random.integers(-3, 4, x.shape), 0.0)  # images are the same

    def both(at):
        found = [jax.value_and_grad(f)(at) for f in (_by_cells(near), lambda y: _all_pairs(y, box, _charged))]
        turned = [
            jax.jvp(jax.grad(f), (at,), (jnp.sin(at),))[1]
            for f in (_by_cells(near), lambda y: _all_pairs(y, box, _charged))
        ]
        return found, turned

    for at in (x, moved):
        (ours, theirs), (turned, wanted) = jax.jit(both)(at)
        for a, b in ((ours, theirs), (turned, wanted)):
            for one, other in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
                scale = np.max(np.abs(other))
                assert scale > 0 or name == "line, sparse"
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * scale)


def _by_cells(near):
    return lambda x: near.sum(x, _charged)


@pytest.mark.parametrize("spacing", [0.5, 0.75, 1 - 1e-15, 1.0, 1 + 1e-12])
def test_no_pair_is_missed_at_the_boundaries_of_cells(spacing):
    x = spacing * CUTOFF * np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0) - 4), -1).reshape(-1, 2)
    near = hl.Neighbours(x, CUTOFF)
    pairs = jax.jit(lambda at: near.sum(at, lambda r, i, j: jnp.ones_like(r)))
    for shift in (0.0, 1e3, -12345.678):
        at = x + shift * CUTOFF
        i, j = np.triu_indices(100, 1)
        squares = np.sum((at[i] - at[j]) ** 2, axis=1)
        assert pairs(at) == np.count_nonzero(squares < CUTOFF**2)


def test_too_many_in_a_cell_and_places_that_are_no_numbers_give_nan():
    x = np.random.default_rng(0).uniform(0, 9, (80, 2))
    near = hl.Neighbours(x, CUTOFF)
    assert near.fullest(x) <= near.capacity
    value_and_slope = jax.jit(jax.value_and_grad(_by_cells(near)))
    for bad in (0.01 * x, np.where(x > 8, np.nan, x), x + 1e18):
        value, slope = value_and_slope(jnp.asarray(bad))
        assert np.isnan(value)
        assert np.all(np.isnan(slope))
    assert near.fullest(0.01 * x) == 80
    assert np.isfinite(hl.Neighbours(x, CUTOFF, capacity=80).sum(0.01 * x, _charged))


@pytest.mark.parametrize("count", [20, 80])
def test_particles_at_one_place_do_not_push_each_other(count):
    """Against a potential of the square of the distance, which is smooth there; by all pairs and by cells."""
    x = np.random.default_rng(3).uniform(0, 6, (count, 2))
    x[1] = x[0]
    near = hl.Neighbours(x, CUTOFF)
    found = jax.grad(lambda y: near.sum(y, lambda r, i, j: jnp.exp(-(r**2))))(jnp.asarray(x))
    i, j = np.triu_indices(count, 1)
    apart = x[i] - x[j]
    squares = np.sum(apart**2, axis=1, keepdims=True)
    pushes = np.where(squares < CUTOFF**2, -2 * apart * np.exp(-squares), 0.0)
    wanted = np.zeros_like(x)
    np.add.at(wanted, i, pushes)
    np.add.at(wanted, j, -pushes)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


def _shifted(r, i, j):
    """Lennard-Jones's potential of diameter 0.6, shifted so that it and its slope vanish at the cutoff."""
    s, c = (0.6 / r) ** 6, (0.6 / CUTOFF) ** 6
    slope = -24 * (2 * c * c - c) / CUTOFF
    return 4 * (s * s - s) - 4 * (c * c - c) - slope * (r - CUTOFF)


def _springs(r, i, j):
    return 5.0 * (CUTOFF - r) ** 2


@pytest.mark.parametrize(
    ("dimension", "potential"), [(2, _shifted), pytest.param(3, _shifted, marks=pytest.mark.compat), (2, _springs)]
)
def test_a_gas_keeps_its_energy_and_moves_as_with_all_pairs(dimension, potential):
    side = 9 if dimension == 2 else 4
    box = 0.8 * side
    grid = np.stack(np.meshgrid(*[0.8 * np.arange(side)] * dimension), -1).reshape(-1, dimension)
    random = np.random.default_rng(1)
    x = grid + random.uniform(-0.05, 0.05, grid.shape)
    v = random.normal(size=x.shape)
    v -= v.mean(axis=0)
    near = hl.Neighbours(x, CUTOFF, box=box)
    runs = []
    for energy in (near.sum, lambda y, u: _all_pairs(y, box, u)):
        system = hl.System.from_lagrangian(
            lambda t, x, v, energy=energy: 0.5 * jnp.sum(v * v) - energy(x, potential), coordinates={"x": x.shape}
        )
        runs.append(hl.simulate(system, x, v, 0.5, dt=0.002, method=hl.Verlet(), save_every=50))
    assert runs[0].certificate.energy_drift_relative < 1e-3
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(runs[0].momentum.reshape(-1, *x.shape).sum(axis=1), 0.0, atol=1e-12)


def test_a_run_in_which_a_cell_overflows_ends_in_its_code():
    x = np.random.default_rng(0).uniform(0, 9, (70, 2))
    near = hl.Neighbours(x, CUTOFF)
    system = hl.System.from_lagrangian(
        lambda t, x, v: 0.5 * jnp.sum(v * v) - 1e-6 * near.sum(x, _springs), coordinates={"x": x.shape}
    )
    run = hl.simulate(system, x, 4.5 - x, 2.0, dt=0.01, method=hl.Verlet(), throw=False)
    assert run.result.name == "not_finite"
    assert near.fullest(run.q[-1].reshape(x.shape)) <= near.capacity  # the last state before


def test_bad_input_is_refused():
    x = np.zeros((5, 2))
    for given, words in (
        ({"example": np.zeros(5)}, r"positions \(particles, d\)"),
        ({"example": np.full((5, 2), np.nan)}, "finite positions"),
        ({"cutoff": 0.0}, "cutoff must be a positive"),
        ({"box": 1.9}, "at least twice as long as the cutoff 1, .* got the length 1.9"),
        ({"box": (4.0, 4.0, 4.0)}, "or 2 of them"),
        ({"capacity": 0}, "capacity of a cell"),
    ):
        with pytest.raises(ValueError, match=words):
            hl.Neighbours(**cast("Any", {"example": x, "cutoff": 1.0} | given))
    with pytest.raises(ValueError, match=r"got shape \(4, 2\)"):
        hl.Neighbours(x, 1.0).sum(np.zeros((4, 2)), _springs)

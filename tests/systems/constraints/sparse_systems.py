"""Systems with many conditions of known structure, beside the same with matrices that are treated as full ones."""

from functools import cache

import jax.numpy as jnp
import numpy as np

import holonomy as hl


@cache
def rope(n, coupled=False):
    """A chain of n masses in the plane on rods of length 1 / n under gravity, its first end fixed; where it is
    `coupled`, with the mass matrix of linear finite elements."""
    weights = jnp.linspace(1.0, 2.0, n)[:, None]

    def lagrangian(t, x, v):
        kinetic = 0.5 * jnp.sum(weights * v * v) + (jnp.sum(v[1:] * v[:-1]) / 6.0 if coupled else 0.0)
        return kinetic - 9.81 * jnp.sum(weights[:, 0] * x[:, 1])

    def lengths(t, x):
        rods = jnp.concatenate([x[:1], x[1:] - x[:-1]])
        return 0.5 * n * (jnp.sum(rods**2, axis=1) - 1.0 / n**2)

    return hl.System.from_lagrangian(lagrangian, coordinates={"x": (n, 2)}).constrained(holonomic=lengths)


def hanging(n):
    """A start of the rope at rest, and somewhat bent."""
    angle = 0.3 * np.cos(np.linspace(0.0, 3.0, n))
    return np.cumsum(np.stack([np.cos(angle), np.sin(angle)], 1) / n, axis=0), np.zeros((n, 2))


@cache
def net(rows, columns, sorted_rods=True, skates=False):
    """Masses in space on a grid with rods to their neighbours along both sides, so that rods form loops; with `skates`,
    some masses that cannot move along x besides."""
    grid = np.arange(rows * columns).reshape(rows, columns)
    ends = np.concatenate(
        [np.stack([grid[:, :-1].ravel(), grid[:, 1:].ravel()], 1), np.stack([grid[:-1].ravel(), grid[1:].ravel()], 1)]
    )
    if not sorted_rods:
        ends = np.random.default_rng(3).permutation(ends)
    first, second = ends.T

    def lagrangian(t, x, v):
        return 0.5 * jnp.sum((1.0 + x[:, :1] ** 2) * v * v) - 9.81 * jnp.sum(x[:, 2])

    def lengths(t, x):
        return 0.5 * (jnp.sum((x[first] - x[second]) ** 2, axis=1) - 1.0)

    free = hl.System.from_lagrangian(lagrangian, coordinates={"x": (rows * columns, 3)})
    on = free.constrained(holonomic=lengths)
    return on.constrained(velocity=lambda t, x, v: v[:: columns + 1, 0]) if skates else on


def flat_net(rows, columns):
    """The net in the plane z = 0, its masses moving across it and along it as a whole."""
    x = np.stack([*np.meshgrid(np.arange(columns), np.arange(rows)), np.zeros((rows, columns))], -1).reshape(-1, 3)
    speeds = np.random.default_rng(4).normal(size=x.shape) * [0.0, 0.0, 0.3]
    return x.astype(float) * [1.0, 1.0, 0.0], speeds


@cache
def ring(n):
    """Masses in the plane on a closed ring of n rods."""
    return _rods(n, np.arange(n), (np.arange(n) + 1) % n, turning(n)[0])


@cache
def triangles(n):
    """Rigid triangles of three masses each, apart from each other."""
    k = np.arange(0, 3 * n, 3)
    ends = np.concatenate([k, k, k + 1]), np.concatenate([k + 1, k + 2, k + 2])
    return _rods(3 * n, *ends, turning(3 * n)[0])


def _rods(n, first, second, x):
    squares = np.sum((x[first] - x[second]) ** 2, axis=1)
    free = hl.System.from_lagrangian(
        lambda t, x, v: 0.5 * jnp.sum(v * v) - 9.81 * jnp.sum(x[:, 1]), coordinates={"x": (n, 2)}
    )
    return free.constrained(holonomic=lambda t, x: 0.5 * (jnp.sum((x[first] - x[second]) ** 2, axis=1) - squares))


def turning(n):
    """Masses on a circle that turn about its middle."""
    angle = 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angle), np.sin(angle)], 1), 0.3 * np.stack([-np.sin(angle), np.cos(angle)], 1)

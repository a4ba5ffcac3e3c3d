"""Linkages that pass positions where their constraints are dependent, beside the same motions in one angle."""

from functools import cache

import jax.numpy as jnp
import numpy as np

import holonomy as hl

G = 9.81


@cache
def parallelogram(masses=(1.0, 2.0), base=2.0):
    """Two cranks of length 1 about (0, 0) and (base, 0) with a coupler of that length between masses at their ends."""
    feet = jnp.array([[0.0, 0.0], [base, 0.0]])

    def lengths(t, q):
        ends = q.reshape(2, 2)
        cranks, coupler = ends - feet, ends[1] - ends[0]
        return 0.5 * jnp.array([cranks[0] @ cranks[0] - 1.0, cranks[1] @ cranks[1] - 1.0, coupler @ coupler - base**2])

    weights = jnp.array(masses)
    free = hl.System.from_positions(
        lambda t, q: q.reshape(2, 2), np.array(masses), lambda t, q: G * (weights @ q[1::2]), ("x0", "y0", "x1", "y1")
    )
    return free.constrained(holonomic=lengths)


def turned_to(angle, rate, ends=2, base=2.0):
    """All cranks of a row at one angle, turning at one rate."""
    points = np.array([[base * i + np.cos(angle), np.sin(angle)] for i in range(ends)])
    return points.ravel(), np.tile([-rate * np.sin(angle), rate * np.cos(angle)], ends)


@cache
def four_bars(loops):
    """The N-four-bar mechanism of the IFToMM library of benchmarks (problem A02).

    2N + 1 uniform bars have mass and length 1. Coordinates are the ends of the N + 1 cranks. A uniform bar between
    points with velocities u and w has the kinetic energy (u·u + u·w + w·w)/6.
    """
    count = loops + 1
    feet = jnp.stack([jnp.arange(count, dtype=float), jnp.zeros(count)], axis=1)

    def lagrangian(t, q, v):
        speeds = v.reshape(count, 2)
        first, second = speeds[:-1], speeds[1:]
        kinetic = jnp.sum(speeds**2) + jnp.sum(first**2 + first * second + second**2)
        heights = q[1::2]
        return kinetic / 6.0 - G * (0.5 * jnp.sum(heights) + 0.5 * jnp.sum(heights[:-1] + heights[1:]))

    def lengths(t, q):
        ends = q.reshape(count, 2)
        cranks, couplers = ends - feet, ends[1:] - ends[:-1]
        return 0.5 * jnp.concatenate([jnp.sum(cranks**2, axis=1) - 1.0, jnp.sum(couplers**2, axis=1) - 1.0])

    names = tuple(f"{axis}{i}" for i in range(count) for axis in "xy")
    return hl.System.from_lagrangian(lagrangian, names).constrained(holonomic=lengths)


def upright(loops):
    """The benchmark's start: cranks upright, their ends at speed 1 along x."""
    return turned_to(0.5 * np.pi, -1.0, loops + 1, 1.0)


@cache
def in_one_angle(inertia, weight):
    """A crank's angle where all cranks stay parallel: inertia θ'' = -weight cos θ."""
    return hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * inertia * v[0] ** 2 - weight * jnp.sin(q[0]), {"theta": "angle"}
    )


def four_bars_in_one_angle(loops):
    """The same mechanism, all cranks parallel."""
    return in_one_angle((loops + 1) / 3.0 + loops, G * ((loops + 1) / 2.0 + loops))

"""Constrained systems that several tests move; made once, so that their compiled code is shared."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl

G = 9.81


def chain_lengths(t, q, p):
    """Squared lengths of rods from the pivot from bob to bob, halved, less what they should be."""
    bobs = jnp.concatenate([jnp.zeros((1, 2)), q.reshape(-1, 2)])
    steps = bobs[1:] - bobs[:-1]
    return 0.5 * (jnp.sum(steps * steps, axis=1) - p.l * p.l)


def chain(bobs):
    """Bobs of mass m on rods of length l, in Cartesian coordinates."""
    names = [f"{x}{i + 1}" for i in range(bobs) for x in "xy"]
    free = hl.System.from_positions(
        lambda t, q, p: q.reshape(bobs, 2),
        lambda p: jnp.full(bobs, p.m),
        potential=lambda t, q, p: p.m * p.g * jnp.sum(q.reshape(bobs, 2)[:, 1]),
        coordinates=dict.fromkeys(names, "length"),
        parameters={"m": 1.0, "l": 1.0, "g": G},
    )
    return free.constrained(holonomic=chain_lengths)


rod_pendulum = chain(1)
double_rods = chain(2)


def from_angles(angles, rates):
    """Bobs and their velocities for rods of length 1 at these angles from the downward vertical."""
    a, w = np.asarray(angles), np.asarray(rates)
    steps = np.stack([np.sin(a), -np.cos(a)], axis=1)
    speeds = np.stack([np.cos(a) * w, np.sin(a) * w], axis=1)
    return np.cumsum(steps, axis=0).ravel(), np.cumsum(speeds, axis=0).ravel()


# ── A closed loop: crank, coupler, rocker on a base ──────────────────────────────────────────────────

BASE, CRANK, COUPLER, ROCKER = 2.0, 0.8, 1.9, 1.5


def loop_lengths(t, q):
    first, second = q[:2], q[2:]
    base = jnp.array([BASE, 0.0])

    def half_square(x):
        return 0.5 * jnp.dot(x, x)

    return jnp.stack(
        [
            half_square(first) - 0.5 * CRANK**2,
            half_square(second - first) - 0.5 * COUPLER**2,
            half_square(second - base) - 0.5 * ROCKER**2,
        ]
    )


four_bar = hl.System.from_positions(
    lambda t, q: q.reshape(2, 2),
    [1.0, 1.5],
    potential=lambda t, q: G * (1.0 * q[1] + 1.5 * q[3]),
    coordinates=dict.fromkeys(("x1", "y1", "x2", "y2"), "length"),
).constrained(holonomic=loop_lengths)
FOUR_BAR_START = four_bar.project(0.0, [0.8, 0.0, 1.6, 1.4], [0.0, 2.0, 0.0, 0.0])

# ── Velocity constraints ─────────────────────────────────────────────────────────────────────────────


def edge(t, q, v):
    """No motion across a blade that points along the angle q[2]."""
    return jnp.stack([jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1]])


skate = hl.System.from_metric(
    lambda q, p: jnp.diag(jnp.stack([p.m, p.m, p.i])),
    potential=lambda t, q, p: -p.m * p.slope * q[0],
    coordinates={"x": "length", "y": "length", "phi": "angle"},
    parameters={"m": 2.0, "i": 0.4, "slope": G * np.sin(0.3)},
).constrained(velocity=lambda t, q, v, p: edge(t, q, v))


def skate_on_slope(t, slope, omega):
    """Down the slope, across it, and the angle, from rest but turning."""
    size = slope / (2 * omega**2)
    return np.array([size * np.sin(omega * t) ** 2, size * (omega * t - 0.5 * np.sin(2 * omega * t)), omega * t])

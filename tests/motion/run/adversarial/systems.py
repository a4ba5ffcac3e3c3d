"""The systems of the families. Their numbers are parameters, so that hundreds of runs share their compiled code."""

from __future__ import annotations

import jax.numpy as jnp

import holonomy as hl

_ONES = {"m": 1.0, "k": 1.0}

spring = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 - 0.5 * p.k * (q[0] - p.origin) ** 2 - p.offset,
    coordinates=("x",),
    parameters={**_ONES, "origin": 0.0, "offset": 0.0},
)
"""A spring about an origin, with a constant in its potential."""

damped_spring = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 - 0.5 * p.k * q[0] ** 2 + p.f * jnp.cos(p.w * t) * q[0],
    coordinates=("x",),
    parameters={**_ONES, "f": 0.0, "w": 1.0, "c": 0.0},
).forced(lambda t, q, v, p: -p.c * v)

pair = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 + 0.5 * p.m2 * v[1] ** 2 - 0.5 * p.k * q[0] ** 2 - 0.5 * p.k2 * q[1] ** 2,
    coordinates=("x", "y"),
    parameters={**_ONES, "m2": 1.0, "k2": 0.0},
)
"""Two springs, or a spring and a free mass, that know nothing of each other."""

late = hl.System.from_lagrangian(
    lambda t, q, v, p: (
        0.5 * p.m * v[0] ** 2
        - 0.5 * jnp.where(jnp.logical_and(t >= p.begin, t < p.end), p.late, p.k) * (q[0] - p.centre) ** 2
    ),
    coordinates=("x",),
    parameters={**_ONES, "late": 1.0, "begin": 0.0, "end": 1.0, "centre": 0.0},
)
"""A spring of another stiffness from one time to another."""

kicked = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 + jnp.where(jnp.logical_and(t >= p.begin, t < p.end), p.f, 0.0) * q[0],
    coordinates=("x",),
    parameters={"m": 1.0, "f": 1.0, "begin": 0.0, "end": 1.0},
)
"""A free mass with a force during a short time."""

cushion = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 - 0.5 * p.k * jnp.maximum(q[0] - p.edge, 0.0) ** 2,
    coordinates=("x",),
    parameters={**_ONES, "edge": 0.0},
)
"""Free up to an edge, behind it a spring."""

barrier = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 - p.h * jnp.maximum(1.0 - ((q[0] - p.edge) / p.width) ** 2, 0.0) ** 3,
    coordinates=("x",),
    parameters={"m": 1.0, "h": 1.0, "edge": 0.0, "width": 1.0},
)
"""Free but for a narrow smooth barrier."""

ball = (
    hl.System.from_lagrangian(
        lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v) - 0.5 * p.k * q[0] ** 2 - p.m * p.g * q[1],
        coordinates=("x", "y"),
        parameters={**_ONES, "g": 1.0, "c": 0.0},
    )
    .forced(lambda t, q, v, p: jnp.stack([-p.c * v[0], jnp.zeros_like(v[0])]))
    .constrained(unilateral=lambda t, q, p: q[1:], restitution=0.8)
)
"""A ball above a floor with restitution 0.8; a damped spring acts along the floor."""

pendulum = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 + p.k * jnp.cos(q[0]), coordinates={"a": "angle"}, parameters=_ONES
)

kepler = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v) + p.m * p.k / jnp.sqrt(jnp.dot(q, q)),
    coordinates=("x", "y"),
    parameters=_ONES,
)

molecule = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v) - 0.5 * p.k * (q[1] - q[0] - p.rest) ** 2,
    coordinates=("x", "y"),
    parameters={**_ONES, "rest": 1.0},
)
"""Two masses on a line, joined by a spring."""

coupled = hl.System.from_lagrangian(
    lambda t, q, v, p: (
        0.5 * p.m * v[0] ** 2
        + 0.5 * p.i * v[1] ** 2
        - 0.5 * p.k * q[0] ** 2
        - 0.5 * p.twist * q[1] ** 2
        - p.joint * q[0] * q[1]
    ),
    coordinates={"x": "length", "a": "angle"},
    parameters={**_ONES, "i": 1.0, "twist": 1.0, "joint": 0.0},
)
"""A spring and a torsion spring, coupled."""

on_circle = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v) - p.m * p.k * q[1],
    coordinates=("x", "y"),
    parameters={**_ONES, "l": 1.0},
).constrained(holonomic=lambda t, q, p: jnp.stack([(jnp.dot(q, q) - p.l**2) / p.l]))
"""A pendulum in Cartesian coordinates, held by a constraint."""

skate = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * (v[0] ** 2 + v[1] ** 2) + 0.5 * p.i * v[2] ** 2 + p.m * p.k * q[0],
    coordinates={"x": "length", "y": "length", "a": "angle"},
    parameters={**_ONES, "i": 1.0},
).constrained(velocity=lambda t, q, v, p: jnp.stack([v[0] * jnp.sin(q[2]) - v[1] * jnp.cos(q[2])]))
"""A knife edge on a slope that falls along x."""

magnet = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v) + 0.5 * p.k * (q[0] * v[1] - q[1] * v[0]) + p.e * q[0],
    coordinates=("x", "y"),
    parameters={**_ONES, "e": 0.0},
)
"""A charge in a magnetic field across the plane, and an electric field along x."""

saddle = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 + 0.5 * p.k * q[0] ** 2, coordinates=("x",), parameters=_ONES
)


wave = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * v[0] ** 2 + p.f * jnp.cos(p.w * t) * q[0],
    coordinates=("x",),
    parameters={"m": 1.0, "f": 1.0, "w": 1.0},
)
"""A free mass under a force that comes and goes."""

free = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v), coordinates=("x", "y"), parameters={"m": 1.0}
)

obstacle = free.constrained(unilateral=lambda t, q, p: jnp.stack([jnp.abs(q[0] - 1.0) - 1e-4]), restitution=1.0)
"""A wall at x = 1 that is 2e-4 thick, with free space on both sides."""

box = free.constrained(unilateral=lambda t, q, p: jnp.stack([q[0], 1.0 - q[0], q[1], 1.0 - q[1]]), restitution=1.0)
"""A square table with four cushions."""

block = hl.System.from_positions(
    lambda t, q, p: q[None],
    lambda p: p.m,
    lambda t, q, p: p.m * p.g * q[1],
    ("x", "y"),
    parameters={"m": 1.0, "g": 1.0},
).constrained(unilateral=lambda t, q, p: q[1:], restitution=0.0, friction=0.3)
"""A block on a floor, with friction 0.3 and no bounce."""

poles = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * (v[0] ** 2 + jnp.sin(q[0]) ** 2 * v[1] ** 2) + p.m * p.k * jnp.cos(q[0]),
    coordinates={"theta": "angle", "phi": "angle"},
    parameters=_ONES,
)
"""A spherical pendulum in angles, which have poles."""

meeting = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * jnp.dot(v, v) - p.k / ((q[1] - q[0]) ** 2 + p.soft**2) ** 0.5,
    coordinates=("x", "y"),
    parameters={**_ONES, "soft": 0.1},
)
"""Two masses on a line that repel each other."""

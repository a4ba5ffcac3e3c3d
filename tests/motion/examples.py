"""Systems that several tests move; made once, so that their compiled code is shared."""

import jax.numpy as jnp

import holonomy as hl


def double_pendulum_lagrangian(t, q, v, p):
    a, b = q
    x, y = v
    kinetic = 0.5 * (p.m1 + p.m2) * p.l1**2 * x**2 + 0.5 * p.m2 * p.l2**2 * y**2
    kinetic = kinetic + p.m2 * p.l1 * p.l2 * x * y * jnp.cos(a - b)
    return kinetic + (p.m1 + p.m2) * p.g * p.l1 * jnp.cos(a) + p.m2 * p.g * p.l2 * jnp.cos(b)


def double_pendulum_positions(t, q, p):
    a, b = q
    first = jnp.stack([p.l1 * jnp.sin(a), -p.l1 * jnp.cos(a)])
    return jnp.stack([first, first + jnp.stack([p.l2 * jnp.sin(b), -p.l2 * jnp.cos(b)])])


DOUBLE_PARAMETERS = {"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0, "g": 9.81}

double_pendulum = hl.System.from_lagrangian(
    double_pendulum_lagrangian,
    coordinates={"theta1": "angle", "theta2": "angle"},
    parameters=DOUBLE_PARAMETERS,
    positions=double_pendulum_positions,
)

pendulum = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.l**2 * v[0] ** 2 + p.g * p.l * jnp.cos(q[0]),
    coordinates={"theta": "angle"},
    parameters={"l": 1.0, "g": 9.81},
)

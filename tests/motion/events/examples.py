"""Systems that several tests move; made once, so that their compiled code is shared."""

import jax.numpy as jnp

import holonomy as hl

G = 9.81

ball = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * jnp.dot(v, v) - p.g * q[1], coordinates=("x", "y"), parameters={"g": G}
)

oscillator = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2, coordinates=("x",))


def bounce(t, q, v):
    """A floor that gives back the whole speed."""
    return q, jnp.stack([v[0], -v[1]])


METHODS = [
    hl.Euler(),
    hl.SymplecticEuler(),
    hl.RK4(),
    hl.Gauss(1),
    hl.Gauss(3),
    hl.Radau(2),
    hl.Radau(3),
    hl.Adaptive(5),
    hl.Adaptive(8),
    hl.Taylor(),
]


def label(method):
    return method.label

"""A double pendulum from its Lagrangian, in ten lines: describe it, move it, see how good the motion is, draw it."""

import jax.numpy as jnp

import holonomy as hl


def lagrangian(t, q, v, p):
    kinetic = v[0] ** 2 + v[1] ** 2 / 2 + v[0] * v[1] * jnp.cos(q[0] - q[1])
    return kinetic + p.g * (2 * jnp.cos(q[0]) + jnp.cos(q[1]))


system = hl.System.from_lagrangian(lagrangian, {"theta1": "angle", "theta2": "angle"}, parameters={"g": 9.81})
run = hl.simulate(system, [jnp.pi / 2, jnp.pi / 2], [0.0, 0.0], 5.0, dt=0.01)
print(run.certificate)
run.plot().savefig("double_pendulum.png")

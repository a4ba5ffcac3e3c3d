"""A four-bar linkage: three rods between two fixed hinges, released under gravity; the forces in the rods."""

import jax.numpy as jnp

import holonomy as hl

BASE = jnp.array([2.0, 0.0])


def rods(t, q):
    a, b = q[:2], q[2:]
    return jnp.stack([a @ a - 1.0, (b - a) @ (b - a) - 4.0, (b - BASE) @ (b - BASE) - 2.25])


free = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * v @ v - 9.81 * (q[1] + q[3]),
    coordinates=dict.fromkeys(("x1", "y1", "x2", "y2"), "length"),
    positions=lambda t, q: jnp.concatenate([q.reshape(2, 2), BASE[None]]),
)
linkage = free.constrained(holonomic=rods)
q0, v0 = linkage.project(0.0, [0.2, 1.0, 2.0, 1.6], [0.0] * 4)  # the nearest state with rods of these lengths
run = hl.simulate(linkage, q0, v0, 2.0, dt=0.01)
print(f"{linkage.dof(0.0, q0)} degree of freedom; rods hold to {run['constraint_error'].max():.1e}")
run.plot(["lambda1", "lambda2", "lambda3"]).savefig("four_bar.png")

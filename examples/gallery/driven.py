"""A damped, driven pendulum at multiples of the period of its drive: a strange attractor."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl

OMEGA = 2 / 3
free = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 + jnp.cos(q[0]), coordinates={"theta": "angle"})
driven = free.forced(lambda t, q, v: -v / 2 + 1.15 * jnp.cos(OMEGA * t))
period = 2 * np.pi / OMEGA
run = hl.simulate(driven, [0.2], [0.0], 3000 * period, dt=period / 100, save_every=100, method=hl.RK4())
run[50:].plot("theta", "omega", points=True).savefig("driven.png")

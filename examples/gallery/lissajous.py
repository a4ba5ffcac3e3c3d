"""A mass on springs of stiffness 4 and 9 in space: a Lissajous figure."""

import jax.numpy as jnp

import holonomy as hl

springs = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * (v @ v) - 0.5 * jnp.array([4.0, 9.0, 16.0]) @ q**2, coordinates=dict.fromkeys("xyz", "length")
)
run = hl.simulate(springs, [1.0, 0.0, 1.0], [0.0, 3.0, 2.0], 6.3, dt=0.01, method=hl.RK4())
run.plot("x", "y", "z").savefig("lissajous.png")

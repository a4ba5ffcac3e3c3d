"""An upright disc that rolls without slipping: its point of contact runs on a circle."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl


def rolling(t, q, v, p):
    """The point of contact moves with the rim: x' = r cos(psi) phi', y' = r sin(psi) phi'."""
    heading, rate = q[2], p.r * v[3]
    return jnp.stack([v[0] - rate * jnp.cos(heading), v[1] - rate * jnp.sin(heading)])


disc = hl.System.from_lagrangian(
    lambda t, q, v, p: 0.5 * p.m * (v[0] ** 2 + v[1] ** 2) + p.m * p.r**2 * (v[2] ** 2 / 8 + v[3] ** 2 / 4),
    coordinates={"x": "length", "y": "length", "psi": "angle", "phi": "angle"},
    parameters={"m": 1.0, "r": 0.5},
).constrained(velocity=rolling)
run = hl.simulate(disc, [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.5, 2.0], 4 * np.pi, dt=0.02)
radius = np.linalg.norm(run.q[:, :2] - [0.0, 2.0], axis=1)  # speed 1 over turning rate 0.5
print(run.certificate, f"the radius stays within {np.ptp(radius):.1e} of 2", sep="\n")
run.plot("x", "y").savefig("rolling_disc.png")

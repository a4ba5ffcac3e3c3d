"""Straight lines of the hyperbolic plane in Poincaré's half-plane: half circles."""

import jax.numpy as jnp
import numpy as np

import holonomy as hl

plane = hl.System.from_metric(lambda q: jnp.eye(2) / q[1] ** 2, coordinates={"x": "length", "y": "length"})
angles = np.linspace(0.0, 2 * np.pi, 25)
starts = np.stack([np.cos(angles), np.sin(angles)], axis=1)
many = hl.ensemble(plane, [0.0, 1.0], starts, 1.5, dt=0.01, method=hl.RK4())
many.plot("x", "y").savefig("hyperbolic.png")

"""Geodesics on a torus: free motion from one point in ten directions."""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import holonomy as hl


def torus(q):
    ring = 2.0 + jnp.cos(q[1])
    return jnp.stack([ring * jnp.cos(q[0]), ring * jnp.sin(q[0]), jnp.sin(q[1])])


free = hl.System.from_positions(lambda t, q: torus(q)[None], [1.0], coordinates=("u", "v"))
angles = np.linspace(0.0, np.pi, 10, endpoint=False)
directions = np.stack([np.cos(angles) / 3.0, np.sin(angles)], axis=1)  # of length 1 on the outer equator
many = hl.ensemble(free, [0.0, 0.0], directions, 8.0, dt=0.02, method=hl.Gauss(2))
print(many.certificate)
axes = Figure(figsize=(6, 5)).add_subplot(projection="3d", aspect="equal", zlim=(-3, 3), elev=50)
u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 60), np.linspace(0, 2 * np.pi, 30))
axes.plot_surface(*np.asarray(torus([u, v])), color="0.8", alpha=0.25)
for path in many.x[:, :, 0]:
    axes.plot(*path.T, linewidth=1.4)
axes.figure.savefig("torus_geodesics.png")

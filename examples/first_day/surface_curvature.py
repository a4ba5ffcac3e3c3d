"""The Gaussian curvature of a surface, as a picture, and its total (Gauss and Bonnet)."""

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import holonomy as hl

bump = hl.geometry.Embedding(lambda q: jnp.stack([q[0], q[1], jnp.exp(-(q @ q))]))
line = np.linspace(-2.5, 2.5, 81)
points = jnp.stack(jnp.meshgrid(line, line), axis=-1).reshape(-1, 2)
curvature = jax.vmap(bump.curvature.gaussian)(points)
area = jax.vmap(lambda q: jnp.sqrt(jnp.linalg.det(bump.metric(q))))(points)
total = float(jnp.sum(curvature * area) * (line[1] - line[0]) ** 2)
print(f"total curvature {total:.6f}; a surface that is flat far out has 0 of it")

figure = Figure(figsize=(6, 5))
axes = figure.add_subplot(xlabel="x", ylabel="y", aspect="equal")
shown = axes.pcolormesh(line, line, curvature.reshape(81, 81), cmap="RdBu_r", vmin=-4, vmax=4)
figure.colorbar(shown, label="Gaussian curvature")
figure.savefig("surface_curvature.png")

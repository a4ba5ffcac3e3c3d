"""A dumbbell on knife edges, across the rod or along it, goes to the place beside it: paths of least cost."""

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import holonomy as hl

free = hl.System.from_positions(
    lambda t, q: q[:2] + 0.5 * jnp.stack([jnp.array([s * jnp.cos(q[2]), s * jnp.sin(q[2])]) for s in (1, -1)]),
    masses=[1.0, 1.0],
    coordinates=("q1", "q2", "q3"),
)
edges = {
    "edges across the rod": (lambda t, q, v: (jnp.cos(q[2]) * v[0] + jnp.sin(q[2]) * v[1])[None], [2.0, 0.0, 0.0]),
    "an edge along the rod": (lambda t, q, v: (jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1])[None], [0.0, 2.0, 0.0]),
}
figure, panels = plt.subplots(1, 2, figsize=(8, 4.2), constrained_layout=True)
for axes, (title, (edge, goal)) in zip(panels, edges.items(), strict=True):
    path = hl.steer(free.constrained(velocity=edge), np.zeros(3), goal)
    for k in np.linspace(0, len(path.q) - 1, 13).astype(int):
        rod = np.asarray(free.place(0.0, path.q[k]))
        axes.plot(rod[:, 0], rod[:, 1], "o-", color=plt.colormaps["viridis"](path.t[k]), markersize=4)
    axes.plot(path.q[:, 0], path.q[:, 1], "k:", linewidth=1)
    axes.set(title=title, xlabel="$q_1$", ylabel="$q_2$", aspect="equal")
figure.savefig("knife_edges.png")

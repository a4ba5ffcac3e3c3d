"""Newton's cradle: five balls on threads, of which one is lifted and let go; what the last ball does, and a picture."""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import holonomy as hl

BALLS, RADIUS = 5, 0.1


def balls(q):
    hung = 2 * RADIUS * jnp.arange(BALLS)
    return jnp.stack([hung + jnp.sin(q), -jnp.cos(q)], axis=1)


def gaps(t, q):
    x = balls(q)
    return jnp.sqrt(jnp.sum((x[1:] - x[:-1]) ** 2, axis=1)) - 2 * RADIUS


system = hl.System.from_lagrangian(
    lambda t, q, v: 0.5 * jnp.dot(v, v) + 9.81 * jnp.sum(jnp.cos(q)),
    coordinates={f"ball{k + 1}": "angle" for k in range(BALLS)},
).constrained(unilateral=gaps)

run = hl.simulate(system, np.r_[-0.6, np.zeros(BALLS - 1)], np.zeros(BALLS), 6.0, dt=0.01)
print(run.certificate)
print(f"the last ball rises to {run.q[:, -1].max():.12f}; the first one was let go at 0.6")

figure = Figure(figsize=(8, 4))
axes = figure.subplots()
axes.plot(run.t, run.q)
axes.set(xlabel="t (s)", ylabel="angle (rad)")
figure.savefig("cradle.png")

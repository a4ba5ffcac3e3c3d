"""The length of a pendulum from a noisy film of it, by gradients through the motion."""

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl

pendulum = hl.models.simple_pendulum()
times = np.linspace(0.1, 3.0, 30)
film = hl.simulate(pendulum.with_parameters(l=1.3), [1.2], [0.0], 3.0, dt=0.02, method="RK4", save_at=times)["theta"]
film = film + np.random.default_rng(0).normal(0.0, 0.02, film.shape)


@jax.jit
@jax.value_and_grad
def misfit(length):
    run = hl.simulate(pendulum.with_parameters(l=length), [1.2], [0.0], 3.0, dt=0.02, method="RK4", save_at=times)
    return jnp.mean((run["theta"] - film) ** 2)


length = 1.0
for _ in range(30):
    length = length - 0.1 * misfit(length)[1]
print(f"length {length:.4f} m (1.3 m was filmed), misfit {misfit(length)[0]:.2e}, of the noise 4e-04")

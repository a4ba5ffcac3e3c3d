"""Many motions at once on whatever device JAX has: steps of all members per second, by the size of the ensemble."""

from __future__ import annotations

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl

STEPS = 1000


def double() -> hl.System:
    def lagrangian(t, q, v, p):
        (a, b), (u, w) = q, v
        return u**2 + w**2 / 2 + u * w * jnp.cos(a - b) + p.g * (2 * jnp.cos(a) + jnp.cos(b))

    return hl.System.from_lagrangian(lagrangian, coordinates={"a": "angle", "b": "angle"}, parameters={"g": 9.81})


def measure(method, count: int) -> tuple[float, float]:
    """Seconds, and the largest relative energy error of any member."""
    system = double()

    @jax.jit
    @jax.vmap
    def go(q, g):
        run = hl.simulate(
            system.with_parameters(g=g), q, jnp.zeros(2), 1.0, dt=1.0 / STEPS, method=method, save_every=STEPS
        )
        return run.q[-1], jnp.abs(run.energy[-1] - run.energy[0]) / (1.0 + jnp.abs(run.energy[0]))

    starts = jnp.asarray(np.random.default_rng(0).uniform(-2, 2, (count, 2)))
    gravities = jnp.linspace(1.0, 20.0, count)
    jax.block_until_ready(go(starts, gravities))
    begin = time.perf_counter()
    _, drift = jax.block_until_ready(go(starts, gravities))
    return time.perf_counter() - begin, float(jnp.max(drift))


def main(sizes: list[int]) -> None:
    device = jax.devices()[0]
    print("## Ensembles on one device\n")
    print(f"Double pendulums with different starts and gravities, {STEPS} steps of dt = 0.001; {device.device_kind}.\n")
    print("| method | members | seconds | member-steps per second | largest energy error |")
    print("| --- | --- | --- | --- | --- |")
    for method in (hl.RK4(), hl.Gauss(2)):
        for count in sizes:
            seconds, drift = measure(method, count)
            print(
                f"| {method.label} | {count} | {seconds:.3f} | {count * STEPS / seconds:.3g} | {drift:.1e} |",
                flush=True,
            )


if __name__ == "__main__":
    main([int(a) for a in sys.argv[1:]] or [100, 1000])

"""Balls in S^3 that start with equal speeds: conservation through their collisions, and Maxwell's law of speeds."""

from __future__ import annotations

import numpy as np

from holonomy.show.figures.registry import Reproduction
from holonomy.show.style import style

BALLS, RADIUS, END = 256, 0.09, 8.0


def start() -> tuple[np.ndarray, np.ndarray]:
    """Points of S^3 that are farther apart than two radii, and velocities of length 1 in random directions."""
    rng = np.random.default_rng(7)
    found: list[np.ndarray] = []
    while len(found) < BALLS:
        x = rng.standard_normal(4)
        x /= np.linalg.norm(x)
        if all(np.dot(x, y) < np.cos(2.05 * RADIUS) for y in found):
            found.append(x)
    x = np.array(found)
    v = rng.standard_normal(x.shape)
    v -= np.sum(x * v, axis=1, keepdims=True) * x
    return x, v / np.linalg.norm(v, axis=1, keepdims=True)


def make() -> Reproduction:
    """The drift of energy and momenta as collisions go on, and the speeds at the start and in the second half."""
    from matplotlib import pyplot as plt

    from holonomy.motion import simulate
    from holonomy.spaces import Sphere
    from holonomy.systems import Body, World

    world = World(Sphere(3), Body(np.ones(BALLS), radii=RADIUS), collisions=True)
    run = simulate(world, *start(), END, dt=END / 100, max_events=100_000)
    momenta = np.array([list(world.momentum_maps(q, v).values()) for q, v in zip(run.q, run.v, strict=True)])
    drifts = {
        "energy, relative": np.abs(run.energy / run.energy[0] - 1.0),
        "momenta": np.max(np.abs(momenta - momenta[0]), axis=1),
    }
    happened = np.searchsorted(run.events.t, run.t)
    speeds = np.linalg.norm(world.points(run.v), axis=2)[len(run.t) // 2 :].ravel()
    # the components of one velocity have variance 1/3: the mean square speed stays 1
    at = np.linspace(0.0, 2.6, 200)
    law = np.sqrt(2.0 / np.pi) * 3.0**1.5 * at**2 * np.exp(-1.5 * at**2)
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0))
        for name, values in drifts.items():
            left.semilogy(happened, np.maximum(values, 1e-17), label=name)
        left.set_xlabel("collisions")
        left.set_ylabel("drift")
        left.legend()
        right.hist(speeds, bins=50, density=True, alpha=0.6, label=f"after {happened[len(run.t) // 2]} collisions")
        right.plot(at, law, color="0.15", label="Maxwell's law")
        right.axvline(1.0, color="0.5", linestyle="--", label="all speeds at the start")
        right.set_xlabel("speed")
        right.set_ylabel("density")
        right.legend()
        figure.suptitle(f"{BALLS} balls in $S^3$", fontsize=12)
    data = {"collisions": len(run.events), "mean speed": float(speeds.mean()), **drifts}
    return Reproduction(figure, data)

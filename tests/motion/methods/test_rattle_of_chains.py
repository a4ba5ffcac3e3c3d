"""Rattle of many conditions along chains runs natively: the motion of XLA's code, which eliminates in another order."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl


def world(n: int) -> tuple[hl.System, np.ndarray, np.ndarray]:
    """A chain of n vertices on rods, swinging sideways."""
    built = hl.models.bodies.chain(hl.Euclidean(3), n, 1.0 / n, rigid=True, mass=1.0)
    made = hl.World(hl.Euclidean(3), built.body, potential=lambda x: 9.81 * x[1])
    s = np.linspace(-1.0, 1.0, n)
    sideways = np.stack([0 * s, np.sin(3 * s), np.cos(2 * s)], 1)
    q, v = (np.asarray(made.points(z)) for z in made.project(0.0, built.points, sideways))
    return made, q, v


def rope(n: int, order: np.ndarray, damped: bool) -> tuple[hl.System, np.ndarray, np.ndarray]:
    """A hanging rope of n masses, its rods as one condition in any order."""
    free = hl.System.from_lagrangian(
        lambda t, x, v: 0.5 * jnp.sum(v * v) - 9.81 * jnp.sum(x[:, 1]), coordinates={"x": (n, 2)}
    )
    free = free.forced(lambda t, x, v: -0.3 * v * (1.0 + x**2)) if damped else free

    def rods(t: Any, x: Any) -> Any:
        ends = jnp.concatenate([jnp.zeros((1, 2)), x])
        return 0.5 * (jnp.sum((ends[1:] - ends[:-1]) ** 2, axis=1) - 1.0 / n**2)[order]

    angle = np.linspace(0.3, 1.2, n)
    start = np.cumsum(np.stack([np.sin(angle), -np.cos(angle)], 1) / n, axis=0)
    return free.constrained(holonomic=rods), start, np.zeros((n, 2))


N = 90
CASES: dict[str, Any] = {
    "world": lambda: world(300),
    "rope": lambda: rope(N, np.arange(N), False),
    "permuted and damped": lambda: rope(N, np.random.default_rng(0).permutation(N), True),
}


@pytest.mark.parametrize(
    ("case", "order"),
    [
        ("permuted and damped", 2),
        pytest.param("rope", 4, marks=pytest.mark.proof),
        pytest.param("world", 2, marks=pytest.mark.proof),
    ],
)
def test_chains_move_natively_as_in_xla(case: str, order: int) -> None:
    system, q, v = CASES[case]()
    method, dt = hl.Rattle(order), 1e-3
    ours, theirs = (
        hl.simulate(system, q, v, 60 * dt, dt=dt, method=method, save_every=20, engine=engine)
        for engine in (None, "xla")
    )
    assert ours.certificate.engine.startswith("native")
    assert theirs.certificate.engine.startswith("xla")
    assert ours.certificate.violation < 1e-14
    size = float(np.max(np.abs(theirs.v)))
    np.testing.assert_allclose(ours.q, theirs.q, atol=1e-13)
    np.testing.assert_allclose(ours.v, theirs.v, atol=1e-10 * size)
    np.testing.assert_allclose(ours.multipliers, theirs.multipliers, atol=1e-9 * np.max(np.abs(theirs.multipliers)))

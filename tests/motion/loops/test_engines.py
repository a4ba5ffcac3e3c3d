"""Where each method runs: the table in docs/dependencies.md, on every supported Python and JAX."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

PAGE = Path(__file__).resolve().parents[3] / "docs" / "dependencies.md"


def pendulum() -> tuple[hl.System, Any, Any]:
    system = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * v[0] ** 2 + 9.81 * jnp.cos(q[0]), coordinates={"theta": "angle"}
    )
    return system, [1.0], [0.0]


def rod() -> tuple[hl.System, Any, Any]:
    plane = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - 9.81 * q[1], coordinates=("x", "y"))
    return plane.constrained(holonomic=lambda t, q: jnp.stack([jnp.dot(q, q) - 1.0])), [1.0, 0.0], [0.0, 0.0]


def skate() -> tuple[hl.System, Any, Any]:
    free = hl.System.from_lagrangian(
        lambda t, q, v: 0.5 * jnp.dot(v, v) - q[0], coordinates={"x": "length", "y": "length", "turn": "angle"}
    )
    edge = free.constrained(velocity=lambda t, q, v: jnp.stack([jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1]]))
    return edge, [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]


def on_sphere() -> tuple[hl.System, Any, Any]:
    system = hl.System.from_lagrangian(lambda t, q, v: 0.5 * jnp.dot(v, v) - 9.81 * q[2], space=hl.Sphere(2))
    return system, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


def with_floor() -> tuple[hl.System, Any, Any]:
    ball = hl.System.from_lagrangian(lambda t, q, v: 0.5 * v[0] ** 2 - 9.81 * q[0], coordinates=("height",))
    return ball.constrained(unilateral=lambda t, q: q), [0.01], [0.0]


NATIVE = "native"
CASES = {
    "Euler": (pendulum, hl.Euler(), NATIVE),
    "SymplecticEuler": (pendulum, hl.SymplecticEuler(), NATIVE),
    "RK4": (pendulum, hl.RK4(), NATIVE),
    "RK4, with impacts": (with_floor, hl.RK4(), NATIVE),
    "Gauss(3)": (pendulum, hl.Gauss(3), NATIVE),
    "Gauss(2), on a sphere": (on_sphere, hl.Gauss(2), NATIVE),
    "Gauss(2), velocity constraints": (skate, hl.Gauss(2), NATIVE),
    "Rattle(4)": (rod, hl.Rattle(4), NATIVE),
    "Radau(3)": (rod, hl.Radau(3), NATIVE),
    "Adaptive": (pendulum, hl.Adaptive(), "xla"),
    "Taylor": (pendulum, hl.Taylor(), "heyoka"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_method_runs_where_the_table_says(name: str) -> None:
    make, method, engine = CASES[name]
    if engine == "heyoka":
        pytest.importorskip("heyoka")
    system, q, v = make()
    run = hl.simulate(system, q, v, 0.05, dt=0.01, method=method)
    assert run.certificate.engine.startswith(engine)
    assert run.certificate.why_not_native == ""
    row = re.search(rf"^\| {re.escape(name)} \| (\w+)", PAGE.read_text(), re.MULTILINE)
    assert row is not None, f"docs/dependencies.md has no row for {name}"
    assert row.group(1) == engine

"""Random systems with a cyclic coordinate, random forces and constraints: refused, or reduced to the same motion."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import holonomy as hl

sin, cos = jnp.sin, jnp.cos
NAMES = ("a", "b", "c")
HOW = {"dt": 0.02, "method": hl.Gauss(4), "save_every": 5}
SEEDS = range(3)


def lagrangian(own: Any, clock: float = 0.0) -> Any:
    """A metric, a potential and a magnetic term of a and b, with the inertia `own(q, p)` of c."""

    def value(t: Any, q: Any, v: Any, p: Any) -> Any:
        shape = jnp.stack([sin(q[0]) + p.k[0] * cos(q[1]), cos(q[0]) * sin(q[1]), 0.0 * t])
        turn = 1.0 + clock * 0.3 * sin(t)
        kinetic = v[0] ** 2 + (1.5 + 0.3 * cos(q[0])) * v[1] ** 2 + own(q, p) * turn * v[2] ** 2
        coupled = (jnp.dot(shape, v) + p.k[1] * own(q, p) * v[2]) ** 2
        return 0.5 * (kinetic + coupled) + p.k[2] * sin(q[0]) * v[1] - 0.5 * q[0] ** 2 - p.k[3] * cos(q[1])

    return value


def system(own: Any, force: Any = None, edge: Any = None, clock: float = 0.0) -> hl.System:
    made = hl.System.from_lagrangian(lagrangian(own, clock), NAMES, {"k": np.ones(8)})
    made = made if force is None else made.forced(force)
    return made if edge is None else made.constrained(velocity=edge)


def varying(q: Any, p: Any) -> Any:
    return 1.2 + 0.4 * sin(q[0] + p.k[4])


def constant(q: Any, p: Any) -> Any:
    return 1.0


def alone(t: Any, q: Any, v: Any, p: Any) -> Any:
    """c by itself, so that its velocity is constant."""
    return 0.5 * (v[0] ** 2 + (1.5 + 0.3 * cos(q[0])) * v[1] ** 2 + (2 + p.k[4]) * v[2] ** 2) - 0.5 * q[0] ** 2


def push(t: Any, q: Any, v: Any, p: Any) -> Any:
    """Along a and b, of c, of velocities and of the time."""
    first = p.k[5] * sin(q[2]) - 0.2 * v[0] + p.k[6] * v[2]
    return jnp.stack([first, p.k[7] * cos(2 * q[2] + t) * q[0], 0.0 * t])


def across(t: Any, q: Any, v: Any, p: Any) -> Any:
    return (sin(q[2]) * v[0] - cos(q[2]) * v[1] + p.k[5] * sin(t))[None]


def rolling(t: Any, q: Any, v: Any, p: Any) -> Any:
    return (v[2] - p.k[5] * cos(q[1]) * v[0] - (1 + q[0] ** 2) * v[1] - p.k[6])[None]


FAMILIES = {
    # of each: the system, whether c can be left out by its momentum, the names of what is left
    "nothing depends on it": (lambda: system(varying), NAMES[:2]),
    "a force and its own velocity": (
        lambda: system(varying, lambda t, q, v, p: jnp.stack([p.k[5] * v[2] * v[1], -0.3 * v[1] + sin(t), 0.0 * t])),
        NAMES[:2],
    ),
    "a force, a rate that positions set": (lambda: system(varying, push), NAMES),
    "a force and the time": (lambda: system(constant, push, clock=1.0), NAMES),
    "a force, a constant rate": (
        lambda: hl.System.from_lagrangian(alone, NAMES, {"k": np.ones(8)}).forced(push),
        NAMES[:2],
    ),
    "a constraint, a constant rate": (
        lambda: hl.System.from_lagrangian(alone, NAMES, {"k": np.ones(8)}).constrained(velocity=across),
        NAMES[:2],
    ),
    "a constraint, a rate that positions set": (lambda: system(varying, edge=across), NAMES),
    "a force along it": (
        lambda: system(varying, lambda t, q, v, p: jnp.stack([0.0 * t, 0.0 * t, -0.1 * v[2]])),
        "the force may act along c",
    ),
    "a constraint along it": (lambda: system(varying, edge=rolling), "the velocity constraint may act along c"),
}


def motions(made: hl.System, reduced: Any, q0: Any, v0: Any) -> float:
    z, w, start = reduced.adapted(q0, v0)
    back = reduced.reconstruct(hl.simulate(reduced, z, w, 1.5, **HOW), start)
    full = hl.simulate(made, q0, v0, 1.5, **HOW)
    assert np.ptp(full.q[:, 2]) > 0.01, "it must have moved"
    return max(float(np.max(np.abs(a - b))) for a, b in ((back.q, full.q), (back.v, full.v)))


@pytest.mark.proof
@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_refused_or_the_same_motion(family) -> None:
    make, left = FAMILIES[family]
    form = make()
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        made = form.with_parameters(k=rng.uniform(0.2, 0.8, 8))
        q0, v0 = made.project(0.0, rng.uniform(-3, 3, 3), rng.normal(size=3))
        momentum, start = float(made.momentum(0.0, q0, v0)[2]), {"c": float(q0[2])}
        if isinstance(left, str):
            with pytest.raises(ValueError, match=left):
                hl.routh(made, {"c": momentum}, start=start)
            if not made.constraints:
                continue
            reduced = hl.chaplygin(made, ["c"])
            assert reduced.names == NAMES[:2]
        else:
            reduced = hl.routh(made, {"c": momentum}, start=start)
            assert reduced.names == left
        assert motions(made, reduced, q0, v0) < 1e-8
        assert reduced.compared is not None
        assert float(reduced.compared.difference) < 1e-10

"""Does a method do what it says? For a user's own `AbstractMethod`, and for all of ours."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.method_table import Properties
from holonomy.motion import AbstractMethod, simulate
from holonomy.systems import System
from holonomy.testing.failure import judge

CHECKS = {
    "order": "errors fall with the step as the method's order says",
    "reversible": "stepping back leads to the start",
    "symplectic": "the derivative of a step keeps the symplectic form",
    "constraints": "positions and velocities stay on the constraints",
    "batch": "members of a batch move as they do alone",
    "gradient": "reverse and forward derivatives of a run are equal",
}
_ROUND_OFF = 1e-10


def check_method(method: AbstractMethod, *, dt: float = 0.02, t_end: float = 1.0) -> dict[str, float]:
    """Check a method against every claim in `CHECKS` that it makes; raise `CheckFailed` for the first that fails.

    It moves a pendulum, written in an angle, or as a rod in Cartesian coordinates for a method that is for holonomic
    constraints alone, and a skate on a slope for one that holds velocity constraints. `dt` is the largest step; the
    order is observed with halves and quarters of it. Returns the residual of each check made: for the order the
    difference to the named one, elsewhere relative sizes.
    """
    if not isinstance(method, AbstractMethod):
        raise ValueError(f"check_method takes a method such as hl.Gauss(3); got {method!r}.")
    found: dict[str, tuple[float, float]] = {}
    system, q, v = _rod() if method.holds == ("holonomic",) else _pendulum()
    run = simulate(system, q, v, t_end, dt=dt, method=method)
    if method.fixed_step:
        found["order"] = abs(run.observed_order() - method.order), 0.3
    claimed = Properties.from_words(
        method.traits
    )  # what the certificate will say, also of a method with words of its own
    if claimed.reversible:
        back = simulate(system, run.q[-1], run.v[-1], 0.0, t0=t_end, dt=dt, method=method)
        found["reversible"] = _gap((back.q[-1], back.v[-1]), (q, v)), _ROUND_OFF
    if claimed.symplectic and not system.constraints:
        found["symplectic"] = _form_defect(system, method, q, v, dt), _ROUND_OFF
    if method.holds:
        found["constraints"] = _violation(method, dt, t_end), _ROUND_OFF
    found["batch"] = _batch_gap(system, method, q, v, dt), _ROUND_OFF
    if method.fixed_step:
        found["gradient"] = _gradient_gap(system, method, q, v, dt), _ROUND_OFF
    return judge(method.label, CHECKS, found)


@cache
def _pendulum() -> tuple[System, np.ndarray, np.ndarray]:
    system = System.from_lagrangian(
        lambda t, q, v, p: 0.5 * v[0] ** 2 + p.g * jnp.cos(q[0]), {"theta": "angle"}, parameters={"g": 9.81}
    )
    return system, np.array([1.2]), np.array([0.4])


@cache
def _rod() -> tuple[System, np.ndarray, np.ndarray]:
    free = System.from_positions(
        lambda t, q, p: q[None], 1.0, lambda t, q, p: p.g * q[1], ("x", "y"), parameters={"g": 9.81}
    )
    rod = free.constrained(holonomic=lambda t, q, p: jnp.stack([0.5 * (jnp.dot(q, q) - 1.0)]))
    return rod, np.array([0.8, -0.6]), np.array([0.3, 0.4])


@cache
def _skate() -> tuple[System, np.ndarray, np.ndarray]:
    free = System.from_metric(
        lambda q: jnp.diag(jnp.array([1.0, 1.0, 0.5])),
        lambda t, q: -q[0],
        {"x": "length", "y": "length", "phi": "angle"},
    )
    skate = free.constrained(velocity=lambda t, q, v: jnp.stack([jnp.sin(q[2]) * v[0] - jnp.cos(q[2]) * v[1]]))
    return skate, np.zeros(3), np.array([0.5, 0.0, 1.0])


def _gap(a: Any, b: Any) -> float:
    return max(float(np.max(np.abs(np.asarray(x) - np.asarray(y)))) for x, y in zip(a, b, strict=True))


def _violation(method: AbstractMethod, dt: float, t_end: float) -> float:
    worst = 0.0
    for kind, (system, q, v) in (("holonomic", _rod()), ("velocity", _skate())):
        if kind in method.holds:
            run = simulate(system, q, v, t_end, dt=dt, method=method)
            # a method may leave the rates of holonomic constraints alone, but not the constraints it says it holds
            worst = max(worst, float(np.max(run.violation[:, 0 if kind == "holonomic" else 1])))
    return worst


def _form_defect(system: System, method: AbstractMethod, q: Any, v: Any, dt: float) -> float:
    n = len(q)

    @jax.jit
    def step(z: Any) -> Any:
        run = simulate(system, z[:n], system.velocity(0.0, z[:n], z[n:]), dt, dt=dt, method=method)
        return jnp.concatenate([run.q[-1], system.momentum(dt, run.q[-1], run.v[-1])])

    at = jnp.concatenate([jnp.asarray(q), system.momentum(0.0, q, v)])
    slope = np.asarray(jax.jacfwd(step)(at))
    form = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return float(np.max(np.abs(slope.T @ form @ slope - form)))


def _end(system: System, method: AbstractMethod, g: Any, q: Any, v: Any, dt: float) -> Any:
    return simulate(system.with_parameters(g=g), q, v, 5 * dt, dt=dt, method=method).q[-1]


def _batch_gap(system: System, method: AbstractMethod, q: Any, v: Any, dt: float) -> float:
    gravities = jnp.array([1.6, 9.81])
    together = jax.jit(jax.vmap(lambda g: _end(system, method, g, q, v, dt)))(gravities)
    return _gap(together, [_end(system, method, float(g), q, v, dt) for g in gravities])


def _gradient_gap(system: System, method: AbstractMethod, q: Any, v: Any, dt: float) -> float:
    def last(g: Any) -> Any:
        return _end(system, method, g, q, v, dt)[0]

    back, forth = jax.jit(jax.grad(last))(9.81), jax.jit(jax.jacfwd(last))(9.81)
    return float(abs(back - forth) / (abs(forth) + np.finfo(float).tiny)) if forth != 0 else float("inf")

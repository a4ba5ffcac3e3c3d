"""Systems in hyperbolic space with points that an isometry carries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.spaces import Carried
from holonomy.spaces import axes as axis
from holonomy.systems.constraints.conditions import Constraints
from holonomy.systems.coordinates import Coordinate
from holonomy.systems.parameters import Parameters
from holonomy.systems.system import System
from holonomy.systems.tracing import Frame
from holonomy.trace.function import Function
from holonomy.types import PointLike, ScalarFunction

_FRAME = "frame_"  # how the names of the coordinates of the isometry begin
_TRIALS = 3
_SAME = 1e-8  # relative change of a value under an isometry that counts as rounding


def carry(system: System, at: PointLike | None = None, potential: ScalarFunction | None = None) -> System:
    r"""The system with its points kept near the origin of hyperbolic space, and the isometry that carries them out.

    The configuration space becomes `Carried(system.space, at)`: a configuration is \((x_1, \dots, x_k; \rho)\),
    points near the origin and the boost that carries them all, and every step moves the centre of the points back to
    the origin. Distances, energies and momenta then keep all digits wherever the bodies are: at an
    `at` far out, or after a long way. Make initial states with `carried.space.state(points, velocities)`, as seen from
    `at`, a point of the hyperbolic space (its origin unless given); `run.local` and `run.frame` are the points and
    \(\rho\) at the saved times, `carried.space.points(q)` the points in the space.

    The Lagrangian, forces and constraints must not change when an isometry moves all points of hyperbolic space at
    once, as functions of `space.inner` and `space.distance` do not: they are evaluated near the origin. What is not
    invariant goes into `potential`, \(V(t, q[, p])\), which is evaluated at the points carried out, arrays
    of `system.space`: functions such as the distance from the origin keep their digits there, the
    distance of two of the points does not.

    **Fails** with `ValueError` for a space without hyperbolic points, and for functions that are not invariant at
    random states and parameters.
    """
    if not isinstance(system, System):
        raise ValueError(f"carry takes a hl.System first; got {type(system).__name__}.")
    if any(isinstance(x, Tracer) for x in jax.tree.leaves(system)):
        raise ValueError("carry compares values of the system's functions: call it outside of jit, vmap and grad.")
    if system.constraints.walls.friction.dim:
        raise ValueError("Friction in a carried system is not supported; carry a system without it.")
    space = Carried(system.space, at)
    _refuse_changing(system, space)
    names = [_FRAME + name for name in axis.names(space.hyperbolic.n)]
    coordinates = (*system.coordinates, *(Coordinate(name, "length") for name in names))
    frame = Frame(coordinates, system.parameters, space, system.parametric)
    outside = None
    if potential is not None:
        whole = Frame(system.coordinates, system.parameters, system.space, system.parametric)
        outside = whole.scalar("potential", potential)
    return _assemble(system, frame, space, outside)


def _assemble(system: System, frame: Frame, space: Carried, outside: Function | None) -> System:
    size = system.space.point_dim

    def near(function: Function) -> Callable[..., Any]:
        return lambda t, *rest: function(t, *(x if isinstance(x, Parameters) else x[:size] for x in rest))

    def external(t: Any, q: Any, *p: Any) -> Any:
        return 0.0 if outside is None else outside(t, space.points(q), *p)

    def lagrangian(t: Any, q: Any, v: Any, *p: Any) -> Any:
        return near(system.lagrangian)(t, q, v, *p) - external(t, q, *p)

    def spread(function: Function) -> Callable[..., Any]:
        return lambda t, q, v, *p: jnp.zeros_like(q).at[:size].set(near(function)(t, q, v, *p))

    known: dict[str, Any] = {"kinetic": None, "potential": None}
    if system.kinetic is not None and system.potential is not None:
        inside = near(system.potential)
        known["kinetic"] = frame.scalar("kinetic energy", near(system.kinetic), velocity=True)
        known["potential"] = frame.scalar("potential", lambda t, q, *p: inside(t, q, *p) + external(t, q, *p))
    positions = system.positions
    drawn = None if positions is None else lambda t, q, *p: positions(t, space.points(q), *p)
    return System(
        lagrangian=frame.scalar("lagrangian", lagrangian, velocity=True),
        positions=frame.positions(drawn),
        forces=tuple(frame.covector("force", spread(f)) for f in system.forces),
        constraints=_constraints(system.constraints, frame, near),
        direct=None,
        inverse=None,
        parameters=system.parameters,
        space=space,
        coordinates=frame.coordinates,
        parametric=system.parametric,
        definite=system.definite,
        **known,
    )


def _constraints(given: Constraints, frame: Frame, near: Any) -> Constraints:
    def traced(functions: tuple[Function, ...], velocity: bool) -> tuple[Function, ...]:
        return tuple(frame.trace("constraint", near(f), frame.example(velocity=velocity))[0] for f in functions)

    equations, walls = given.equations, given.walls
    return replace(
        given,
        equations=replace(
            equations, holonomic=traced(equations.holonomic, False), velocity=traced(equations.velocity, True)
        ),
        walls=replace(walls, unilateral=traced(walls.unilateral, False), ratchets=traced(walls.ratchets, True)),
    )


# ── invariance, by values at random states ────────────────────────────────────────────────────────────────────────


def _refuse_changing(system: System, space: Carried) -> None:
    """Raise where a function of the system changes under isometries of its hyperbolic points."""
    equations, walls = system.constraints.equations, system.constraints.walls
    conditions = (*equations.holonomic, *walls.unilateral)
    rates = (*equations.velocity, *walls.ratchets)
    checks: list[tuple[str, Callable[..., Any]]] = [
        ("Lagrangian", lambda t, x, v, u, *p: system.lagrangian(t, x, v, *p))
    ]
    checks += [("force", lambda t, x, v, u, *p, f=f: jnp.dot(f(t, x, v, *p), u)) for f in system.forces]
    checks += [("constraint", lambda t, x, v, u, *p, f=f: f(t, x, *p)) for f in conditions]
    checks += [("velocity constraint", lambda t, x, v, u, *p, f=f: f(t, x, v, *p)) for f in rates]
    matrix = _isometry(space)

    def isometry(point: Any) -> Any:
        return space.hyperbolic.project(matrix @ point)

    @jax.jit
    def values(normal: Any, p: Any) -> tuple[list[Any], list[Any]]:
        t, x, v, u = _state(system, normal)
        there, push = jax.linearize(lambda z: space.moved(isometry, z), x)
        return [f(t, x, v, u, *p) for _, f in checks], [f(t, there, push(v), push(u), *p) for _, f in checks]

    compared = np.zeros(len(checks), bool)
    for trial in range(_TRIALS):
        normal = np.random.default_rng(trial).normal(size=(3, system.space.point_dim))
        both = jax.tree.map(np.asarray, values(normal, _parameters(system, trial)))
        for k, (before, after) in enumerate(zip(*both, strict=True)):
            if not (np.all(np.isfinite(before)) and np.all(np.isfinite(after))):
                continue
            compared[k] = True
            change = float(np.max(np.abs(after - before), initial=0.0))
            if change > _SAME * (1.0 + float(np.max(np.abs(before), initial=0.0))):
                raise ValueError(
                    f"The {checks[k][0]} is not invariant: moving all points of hyperbolic space by one isometry "
                    f"changes it by {change:.3g} at a random state, so that it cannot be evaluated near the origin. "
                    f"Write it by space.inner and space.distance of the points alone, and pass what depends on their "
                    f"place as potential=V."
                )
    if not np.all(compared):
        what = checks[int(np.argmin(compared))][0]
        raise ValueError(f"The {what} is not finite at random states, so that its invariance cannot be checked.")


def _isometry(space: Carried) -> np.ndarray:
    """A rotation and a boost, neither along an axis, as a matrix on points of hyperbolic space."""
    n = space.hyperbolic.n
    rng = np.random.default_rng(7)
    turn = np.eye(n + 1)
    turn[:n, :n] = np.linalg.qr(rng.normal(size=(n, n)))[0]
    turn[:n, 0] *= np.linalg.det(turn)  # no reflection
    s = space.hyperbolic.radius * rng.uniform(0.3, 0.7, n)
    return np.asarray(space.hyperbolic.isometry_to(space.hyperbolic.project(np.append(s, 0.0)))) @ turn


def _state(system: System, normal: Any) -> tuple[Any, Any, Any, Any]:
    """A time, point, velocity and further tangent vector from random numbers."""
    x = system.space.project(system.space.origin + normal[0])
    return normal[0, 0], x, system.space.tangent(x, normal[1]), system.space.tangent(x, normal[2])


def _parameters(system: System, trial: int) -> tuple[Any, ...]:
    """The system's parameters at the first trial, others near them later: values of 0 may hide what depends on them."""
    if not trial or not system.parametric:
        return system.last
    factor, shift = 1.0 + 0.1 * np.random.default_rng(trial).random(2)
    return (Parameters({name: np.asarray(one) * factor + (shift - 1.0) for name, one in system.parameters.items()}),)

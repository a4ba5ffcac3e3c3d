"""The Workbench lab's system: what is compiled of the texts, and the same as objects of the library. Needs JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import holonomy as hl
from holonomy.scene import conditions
from holonomy.scene.build_system import Formulas, typed_system
from holonomy.studio.compile.program import Observed, Program
from holonomy.studio.labs.methods import LIBRARY
from holonomy.studio.labs.settings import Settings, Structure
from holonomy.studio.labs.workbench import layout
from holonomy.studio.labs.workbench.typed import Typed, read, read_structure
from holonomy.systems import lagrangian
from holonomy.systems.constraints import at_state
from holonomy.systems.constraints.conditions import all_equations
from holonomy.systems.dense_solve import solve

_PULLS: Final = 24  # steps of the search for coordinates that bring a point to the pointer
_STIFF: Final = 30.0  # weight of the constraints in that search
_DAMPED: Final = 1e-4  # of the squares of the step
_FARTHEST: Final = 0.2  # change of a coordinate in one of these steps
_NEAR: Final = 0.3  # of the distance from the origin: how far a point is drawn in one of these steps
_RELATIVE: Final = 1e-13  # added to the diagonal, so that redundant constraints have a solution
_NAN: Final = float("nan")


def program(structure: Structure) -> Program:
    """The motion of a typed system. **Raises** `ValueError` where the formulas do not make a mechanical system."""
    parts: dict[str, Any] = dict(structure)
    typed = read_structure(parts["texts"])
    base, names = assembled(typed), list(typed.values)
    _require_regular(base)

    def system(row: Any) -> hl.System:
        return base.with_parameters(**{name: row[i] for i, name in enumerate(names)}) if names else base

    n = len(base.names)
    shown = layout.points(typed, maps=parts["map"] != "none")
    routines = {"drag": _drag(system, shown), "state": _state(system)}
    if parts["map"] != "none":
        routines["map"] = _potential(system) if parts["map"] == "potential" else _jacobi(system)
    zeros, numbers = np.zeros(n), np.ones(len(names))
    examples = {
        "drag": (numbers, zeros, np.int64(0), np.zeros(3)),
        "state": (numbers, np.float64(0.0), zeros, zeros),
        "map": (numbers, zeros, zeros, np.zeros((layout.GRID, 2))),
    }
    method = LIBRARY[parts["method"]]
    return Program(
        system=system,
        numbers=len(names),
        dimension=n,
        method=method[0].make(**method[1]),
        observe=_observed(shown),
        routines={name: (function, examples[name]) for name, function in routines.items()},
    )


def assembled(typed: Typed) -> hl.System:
    """The system that the texts describe, with the values of the parameters in the text."""
    free = typed_system(typed.setup)
    return conditions.put_on(free, Formulas(typed.setup))


def library(settings: Settings) -> tuple[hl.System, Any]:
    """The system and the method that a user would make."""
    typed = read(settings.texts)
    row, options = LIBRARY[settings.choices["method"]]
    found = assembled(typed)
    values = {name: settings.parameters[name] for name in typed.values}
    return (found.with_parameters(**values) if values else found), row.make(**options)


def _require_regular(system: hl.System) -> None:
    """Refuse a kinetic energy that says nothing about some velocities, whatever the numbers."""
    n = len(system.names)
    generator = np.random.default_rng(0)
    best = None
    for _ in range(3):
        q, v = generator.uniform(0.3, 1.2, n), generator.uniform(0.3, 1.2, n)
        numbers = {name: generator.uniform(0.3, 1.2) for name in system.parameters or ()}
        mass = np.asarray((system.with_parameters(**numbers) if numbers else system).mass_matrix(0.1, q, v))
        if np.all(np.isfinite(mass)) and (best is None or _smallest(mass) > _smallest(best)):
            best = mass
    if best is None or _smallest(best) > 1e-10:
        return
    values, vectors = np.linalg.eigh(best)
    slack = vectors[:, np.abs(values) <= 1e-10 * max(np.max(np.abs(values)), 1e-300)]
    moved = [name for name, row in zip(system.names, slack, strict=True) if np.max(np.abs(row), initial=0.0) > 1e-6]
    named = ", ".join(moved) or ", ".join(system.names)
    raise ValueError(
        f"The kinetic energy does not depend on some velocities (of {named}), so that their accelerations are not "
        "determined. Add their kinetic energy, or leave the coordinate out."
    )


def _smallest(mass: np.ndarray) -> float:
    values = np.abs(np.linalg.eigvalsh(mass))
    return float(values.min() / max(values.max(), 1e-300))


def _observed(shown: Callable[..., Any]) -> Callable[..., Observed]:
    """Energies, coordinates, velocities, momenta and the constraints' multipliers; the points of the picture."""

    def observe(system: hl.System, t: Any, q: Any, v: Any) -> Observed:
        total = lagrangian.energy_function(system.raw_lagrangian, t, q, v)
        momentum = jax.grad(lambda w: system.raw_lagrangian(t, q, w))(v)
        kinetic = 0.5 * v @ lagrangian.mass_matrix(system.raw_lagrangian, t, q, v) @ v
        energies = jnp.stack([kinetic, total - kinetic, total])
        channels = [energies, q, v, momentum, _multipliers(system, t, q, v)]
        return jnp.concatenate(channels), shown(system, t, q), jnp.zeros(0)

    return observe


def _multipliers(system: hl.System, t: Any, q: Any, v: Any) -> Any:
    r"""\(\lambda\) of \(M a = f + N^\top\lambda\), \(N a + b = 0\)."""
    if not system.constraints:
        return jnp.zeros(0)
    local = system.local(q)
    held = all_equations(local)
    force = lagrangian.inertial_force(local.lagrangian, t, q, v)
    force = force if local.applied is None else force + local.applied(t, q, v)
    mass, normals = lagrangian.mass_matrix(local.lagrangian, t, q, v), held.normals(t, q)
    across = _each(mass, normals.T)
    square = normals @ across
    square = square + _RELATIVE * jnp.trace(square) * jnp.eye(len(square))  # redundant constraints share their force
    return -solve(square, held.bias(t, q, v) + across.T @ force, True)


def _state(system: Callable[[Any], hl.System]) -> Callable[..., Any]:
    """What `judge` judges: mass matrix and energy, then what the constraints say where there are some."""

    def state(p: Any, t: Any, q: Any, v: Any) -> Any:
        found = system(p)
        if not found.constraints:
            return lagrangian.mass_matrix(found.raw_lagrangian, t, q, v), found.raw_energy(t, q, v)
        seen = at_state.state(found, t, q, v)
        return seen.mass, seen.energy, *seen.conditions

    return state


def _each(matrix: Any, columns: Any) -> Any:
    """The solution for each column."""
    return jnp.stack([solve(matrix, column, False) for column in columns.T], axis=1)


def _drag(system: Callable[[Any], hl.System], shown: Callable[..., Any]) -> Callable[..., Any]:
    """Coordinates that bring one point of the picture to a target, nearly on the constraints."""

    def drag(p: Any, q: Any, body: Any, target: Any) -> Any:
        found, time = system(p), jnp.zeros(())
        held = all_equations(found.local(q))
        wide = shown(found, time, q).shape[1]

        def off(x: Any) -> Any:
            places = shown(found, time, x)
            gap = places[body] - target[:wide]
            return jnp.concatenate([gap, _STIFF * held.position(time, x)]) if held.counts[0] else gap

        def step(_: Any, x: Any) -> Any:
            slope, gap = jax.jacfwd(off)(x), off(x)
            # a target far off would turn the point past the nearest place, so it is drawn there in short steps
            size = jnp.sqrt(jnp.sum((gap[:wide] + target[:wide]) ** 2))
            far = jnp.sqrt(jnp.sum(gap[:wide] ** 2)) / (_NEAR * (size + _NEAR))
            gap = jnp.concatenate([gap[:wide] / jnp.maximum(1.0, far), gap[wide:]])
            own = slope[:wide]
            damping = _DAMPED * jnp.sum(own * own) + 1e-12
            move = solve(slope.T @ slope + damping * jnp.eye(len(x)), slope.T @ gap, True)
            return x - move / jnp.maximum(1.0, jnp.max(jnp.abs(move)) / _FARTHEST)

        return jax.lax.fori_loop(0, _PULLS, step, q)

    return drag


def _potential(system: Callable[[Any], hl.System]) -> Callable[..., Any]:
    def values(p: Any, q: Any, v: Any, points: Any) -> Any:
        found = system(p)
        return jax.lax.map(lambda x: -found.raw_lagrangian(jnp.zeros(()), x, jnp.zeros_like(x)), points)

    return values


def _jacobi(system: Callable[[Any], hl.System]) -> Callable[..., Any]:
    r"""The Gaussian curvature of \(2(E - V)g\) at the energy E of the state (q, v); NaN where E is below V."""

    def values(p: Any, q: Any, v: Any, points: Any) -> Any:
        found, time = system(p), jnp.zeros(())
        energy = lagrangian.energy_function(found.raw_lagrangian, time, q, v)

        def rest(x: Any) -> Any:
            return -found.raw_lagrangian(time, x, jnp.zeros_like(x))

        def metric(x: Any) -> Any:
            mass = jax.hessian(lambda w: found.raw_lagrangian(time, x, w))(jnp.zeros_like(x))
            return 2.0 * (energy - rest(x)) * mass

        gaussian = hl.geometry.curvature(metric).gaussian
        return jax.lax.map(lambda x: jnp.where(rest(x) < energy, gaussian(x), _NAN), points)

    return values

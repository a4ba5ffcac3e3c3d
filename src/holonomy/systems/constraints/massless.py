r"""Mass matrices that are singular, but not along the motions that the constraints allow.

Massless coordinates and natural coordinates give such matrices. Along a motion the rates r of the constraints vanish,
so that \(L + \tfrac12 r^\top D\,r\) has the same motions, multipliers and energy as L, for any constant D. Its mass
matrix \(M + N^\top D N\) is regular where M is so on the kernel of \(N = \partial r/\partial v\).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from holonomy.start_checks import LEAST, free_ways, scale, singular_along
from holonomy.start_checks import eigenvalues as eigenvalues
from holonomy.start_checks import is_singular as is_singular
from holonomy.systems import lagrangian, tracing
from holonomy.systems.constraints import at_state
from holonomy.systems.constraints.conditions import all_equations
from holonomy.systems.replace import replace
from holonomy.types import AnyPoint, AnyTangent, Number

if TYPE_CHECKING:
    from holonomy.systems.system import System

_SMALL = 16  # coordinates up to which eigenvalues cost nothing
_SURE = 1e-11  # a reciprocal condition above this leaves no eigenvalue near that part, however it was estimated
_NAMED = 3  # directions without kinetic energy that an error names
_SAID = 1e-6  # of the largest: components of a direction below are not named


def surely_positive(mass: np.ndarray) -> bool:
    """Whether a mass matrix is positive definite and far from singular, in any units of single coordinates.

    By a factorisation and an estimate of its condition, for a small part of what the eigenvalues of a large one cost.
    """
    if len(mass) <= _SMALL or not np.all(np.isfinite(mass)):
        return False
    from scipy.linalg import get_lapack_funcs

    units = scale(mass)
    even = np.asarray((0.5 * (mass + mass.T)) / np.outer(units, units), float)
    factor, condition = get_lapack_funcs(("potrf", "pocon"), (even,))
    factors, failed = factor(even, lower=True)
    return not failed and bool(condition(factors, np.linalg.norm(even, 1), uplo="L")[0] > _SURE)


def regular(system: System, t: Number, q: AnyPoint, v: AnyTangent, called: str = "q") -> System:
    """The same system where its mass matrix is regular at a state, else one of the same motions with a regular one.

    Raises a ValueError, which names the state as it is `called`, where no acceleration is determined there. Systems
    that are being traced are left as they are.
    """
    if any(isinstance(x, Tracer) for x in jax.tree.leaves((system, t, q, v))):
        return system
    seen = at_state.evaluated(system, t, q, v)
    found = _matrices(system, t, q, v) if seen is None else (seen.mass, seen.conditions.normals)
    mass, normals = (np.asarray(x) for x in found)
    if surely_positive(mass):
        return system
    values, scaled = eigenvalues(mass)
    if not np.all(np.isfinite(mass)) or not is_singular(scaled):
        return system
    if not len(normals) or singular_along(mass, normals):
        among = ", also along the motions that the constraints allow" if len(normals) else ""
        raise ValueError(
            f"The mass matrix is singular at {called} = {np.asarray(q).tolist()} (eigenvalues "
            f"{', '.join(f'{x:.3g}' for x in values)}){among}{_costless(system, mass, normals)}, so the acceleration "
            f"is not determined. Either "
            f"a coordinate carries no mass, or the coordinates break down there, as angles do at a pole: start "
            f"elsewhere, or give the system a space without poles, such as space=hl.Sphere(2)."
        )
    sizes = np.sum(normals**2, axis=1)
    return _with_rates(system, np.max(np.abs(np.diagonal(mass))) / np.where(sizes > 0, sizes, 1.0))


def _costless(system: System, mass: np.ndarray, normals: np.ndarray) -> str:
    """The velocities that cost no kinetic energy, as the part of a sentence; empty where points have no coordinates."""
    if not system.flat:
        return ""
    free = free_ways(normals) if len(normals) else np.eye(len(mass))
    inner = free @ mass @ free.T
    units = scale(inner)
    values, vectors = np.linalg.eigh(0.5 * (inner + inner.T) / np.outer(units, units))
    none = np.abs(values) <= max(LEAST * np.max(np.abs(values)), np.min(np.abs(values)))
    directions = (vectors[:, none] / units[:, None]).T @ free
    said = [_combination(system.names, direction) for direction in directions[:_NAMED]]
    more = f" and {len(directions) - _NAMED} more" if len(directions) > _NAMED else ""
    return f": velocities along {', '.join(said)}{more} cost no kinetic energy"


def _combination(names: tuple[str, ...], weights: np.ndarray) -> str:
    largest = weights / weights[int(np.argmax(np.abs(weights)))]
    parts = [(w, name) for w, name in zip(largest, names, strict=True) if abs(w) > _SAID]
    terms = [("- " if w < 0 else "+ ") + ("" if abs(abs(w) - 1) < _SAID else f"{abs(w):.3g} ") + n for w, n in parts]
    return " ".join(terms).removeprefix("+ ")


def _with_rates(system: System, weights: np.ndarray) -> System:
    r"""The system of \(L + \tfrac12\sum_i d_i r_i^2\)."""
    given = system.constraints.equations
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)

    def extended(t: Any, q: Any, v: Any, *last: Any) -> Any:
        rates = [jax.jvp(lambda s, x, f=f: f(s, x, *last), (t, q), (jnp.ones_like(t), v))[1] for f in given.holonomic]
        rates += [f(t, q, v, *last) for f in given.velocity]
        return system.lagrangian(t, q, v, *last) + 0.5 * jnp.sum(weights * jnp.concatenate(rates) ** 2)

    traced = frame.scalar("lagrangian", extended, velocity=True)
    return replace(system, lagrangian=traced, direct=None, inverse=None, definite=True)


@eqx.filter_jit
def _matrices(system: System, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    local = system.local(q)
    y, w = local.enter(v)
    normals = jnp.zeros((0, y.size), y.dtype)
    if system.constraints.equations.total:
        normals = all_equations(local).normals(t, y)
    return lagrangian.mass_matrix(local.lagrangian, t, y, w), normals

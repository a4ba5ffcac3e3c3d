r"""Statics: equilibria, their stability, and small vibrations about them.

A configuration is an equilibrium if the forces do no virtual work, \(f(q) + N^\top\lambda = 0\), where f are all forces
at rest (those of the potential, of moving frames, and applied ones) and N are the normals of the constraints. Along the
displacements \(\delta q = Z\eta\) that the constraints allow, motions near it obey
\(M\ddot\eta + C\dot\eta + K\eta = 0\) with the stiffness \(K = -Z^\top\partial_q(f + N^\top\lambda)Z\).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Complex, Float
from scipy.linalg import eigh

from holonomy.systems import System, lagrangian
from holonomy.systems.state_vector import vector
from holonomy.types import StateLike, Tree

_STEPS = 100  # of Newton's method
_HALVINGS = 30  # of one step
_FOUND = 1e-11  # largest force that is left, as a part of the unit of force, and largest violation of constraints
_AT_REST = 1e-7  # the same for a configuration that a user calls an equilibrium
_VIOLATED = 1e-6  # violation of constraints at the end of a search that says that they contradict each other
_LESS = 1e-4  # part of the residual by which a whole step must make it smaller at least
_GROWS = 1e-6  # of the fastest rate: rounding splits a multiple eigenvalue zero into pairs of the size of its root
_SAID = 1e-6  # of the largest: components of a direction below are not named
_SAME = 1e-6  # distance below which two equilibria are one
_SIGN = 1e-9  # of the largest: eigenvalues below are taken for zero
_RANK = 1e-9


@dataclass(frozen=True)
class Equilibrium:
    """A configuration of rest.

    `q` and the `multipliers` of the constraints there; `stability`, ``"stable"`` (the stiffness is positive definite
    and nothing feeds energy in, or all small motions die out), ``"unstable"`` (a small motion grows) or ``"undecided"``
    (the linear part does not decide); `eigenvalues` of the linear motion, growth rates as real and frequencies as
    imaginary parts; `residual`, the largest force that is left.
    """

    q: np.ndarray
    multipliers: np.ndarray
    stability: str
    eigenvalues: Complex[np.ndarray, " rates"] | Float[np.ndarray, " rates"]
    residual: float

    def __repr__(self) -> str:
        return f"{self.stability} at q = {np.array2string(self.q, precision=6, separator=', ')}"


@dataclass(frozen=True)
class NormalModes:
    r"""Small vibrations \(\delta q = u\cos\omega t\) about an equilibrium q.

    `frequencies` are angular frequencies in rising order of their `squares`; imaginary where a displacement grows
    instead. The columns of `shapes` are the displacements u, orthonormal in the kinetic metric.
    """

    q: np.ndarray
    frequencies: Complex[np.ndarray, " modes"] | Float[np.ndarray, " modes"]
    squares: np.ndarray
    shapes: np.ndarray

    def __repr__(self) -> str:
        return f"<normal modes of angular frequencies {np.array2string(self.frequencies, precision=6, separator=', ')}>"


def equilibria(system: System, guesses: StateLike | Sequence[StateLike]) -> tuple[Equilibrium, ...]:
    """The equilibria that Newton's method finds from the guesses, each once, with their stability.

    **Arguments:** `guesses`, one configuration or several, in numbers or by the names of coordinates. **Fails** with
    `ValueError` where no guess leads to an equilibrium, or the mass matrix is singular there (it says in which
    directions).
    """
    found: list[Equilibrium] = []
    tried: list[str] = []
    for guess in _several(system, guesses):
        at = _newton(system, guess)
        if isinstance(at, str):
            tried.append(at)
        elif not any(_distance(system, at[0], other.q) < _SAME for other in found):
            found.append(_judged(system, *at))
    if not found:
        raise ValueError(f"No equilibrium was found: {tried[0]} Pass guesses nearer to one.")
    return tuple(found)


def normal_modes(system: System, q: StateLike) -> NormalModes:
    """The normal modes of small vibrations about the equilibrium q.

    **Fails** with `ValueError` where q is no equilibrium (it says which force is left), and where forces depend on
    velocities, since there are then no modes in phase.
    """
    at = np.asarray(vector("q", q, (system.space.point_dim,), system), float)
    f, normals, gap, stiffness = _rest_forces(system, at)
    multipliers = np.linalg.lstsq(normals.T, -f, rcond=None)[0] if len(normals) else np.zeros(0)
    left = f + normals.T @ multipliers
    unit = max(stiffness, float(np.max(np.abs(f), initial=0.0)))
    if np.max(np.abs(left), initial=0.0) > _AT_REST * unit or np.max(np.abs(gap), initial=0.0) > _AT_REST:
        raise ValueError(
            f"q = {_shown(at)} is no equilibrium: the force {_shown(left)} is left there. Find one near it with "
            "hl.equilibria."
        )
    mass, damping, spring, basis = _linear(system, at, multipliers)
    critical = np.sqrt(np.max(np.abs(mass), initial=0.0) * np.max(np.abs(spring), initial=0.0))
    if np.max(np.abs(damping), initial=0.0) > _SIGN * critical:
        raise ValueError(
            "Forces depend on velocities here (damping or a turning frame), so there are no normal modes; "
            "hl.equilibria gives the eigenvalues of the motion."
        )
    values, vectors = eigh(0.5 * (spring + spring.T), mass)
    return NormalModes(at, np.emath.sqrt(values), values, basis @ vectors)


# ── finding ───────────────────────────────────────────────────────────────────────────────────────────────────────
@eqx.filter_jit
def _statics(system: System, q: Tree) -> Tree:
    """Force at rest, normals, violation; and how the first two change with the coordinates of the chart at q."""
    local = system.local(q)
    y = local.origin
    normals = _normals(local)
    parts = _force(local, y), normals(y), local.holonomic(jnp.zeros(()), y)
    return parts, (jax.jacfwd(lambda x: _force(local, x))(y), jax.jacfwd(normals)(y))


def _force(local: Any, y: Tree) -> Tree:
    zero, time = jnp.zeros_like(y), jnp.zeros(())
    force = lagrangian.inertial_force(local.lagrangian, time, y, zero)
    return force if local.applied is None else force + local.applied(time, y, zero)


def _normals(local: Any) -> Any:
    count = local.system.constraints.equations.total

    def normals(y: Tree) -> Tree:
        if not count:
            return jnp.zeros((0, y.size))
        return jax.jacfwd(lambda w: local.rates(jnp.zeros(()), y, w))(jnp.zeros_like(y))

    return normals


def _rest_forces(system: System, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    (f, normals, gap), (slope, _) = jax.tree.map(np.asarray, _statics(system, jnp.asarray(q)))
    return f, normals, gap, float(np.max(np.abs(slope), initial=0.0))


@eqx.filter_jit
def _moved(system: System, q: Tree, step: Tree) -> Tree:
    local = system.local(q)
    return local.point(local.origin + step)


def _newton(system: System, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray, float] | str:
    """An equilibrium with its multipliers and the force that is left, or a sentence that says why there is none."""
    q, multipliers, unit, size = guess, None, 0.0, np.inf
    for _ in range(_STEPS):
        (f, normals, gap), (slope, turn) = jax.tree.map(np.asarray, _statics(system, jnp.asarray(q)))
        # forces in a unit of their own, so that neither their size nor that of the constraints decides
        unit = unit or float(max(np.max(np.abs(f), initial=0.0), np.max(np.abs(slope), initial=0.0))) or 1.0
        f, slope = f / unit, slope / unit
        if not np.all(np.isfinite(f)) or not np.all(np.isfinite(slope)):
            return f"from {_shown(guess)} the search came to {_shown(q)}, where the forces are not finite."
        if multipliers is None:
            multipliers = np.linalg.lstsq(normals.T, -f, rcond=None)[0] if len(normals) else np.zeros(0)
        residual = np.concatenate([f + normals.T @ multipliers, gap])
        stiffness = slope + np.einsum("k,kij->ij", multipliers, turn)
        scale = 1.0 + float(np.max(np.abs(stiffness), initial=0.0))
        size = float(np.max(np.abs(residual), initial=0.0))
        if size <= _FOUND * scale:
            return q, unit * multipliers, unit * float(np.max(np.abs(residual[: len(f)]), initial=0.0))
        held = len(gap)
        matrix = np.zeros((len(residual), len(f) + len(multipliers)))
        matrix[: len(f), : len(f)], matrix[: len(f), len(f) :] = stiffness, normals.T
        matrix[len(f) :, : len(f)] = normals[:held]
        step = np.linalg.lstsq(matrix, -residual, rcond=1e-12)[0]
        q, multipliers = _shorter(system, q, multipliers, step, unit, float(np.linalg.norm(residual)))
    broken = float(np.max(np.abs(_rest_forces(system, q)[2]), initial=0.0))
    if broken > _VIOLATED:
        return (
            f"from {_shown(guess)} the search ended at {_shown(q)}, where a constraint is violated by {broken:.2g}; "
            "the constraints may contradict each other."
        )
    return f"from {_shown(guess)} the search ended at {_shown(q)}, where the force {unit * size:.2g} is left."


def _shorter(
    system: System, q: np.ndarray, multipliers: np.ndarray, step: np.ndarray, unit: float, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """The step, halved until it makes the residual smaller; `unit` is that of forces."""
    share, n = 1.0, len(step) - len(multipliers)
    for _ in range(_HALVINGS):
        at = np.asarray(_moved(system, jnp.asarray(q), jnp.asarray(share * step[:n])))
        of = multipliers + share * step[n:]
        f, normals, gap, _ = _rest_forces(system, at)
        if np.linalg.norm(np.concatenate([f / unit + normals.T @ of, gap])) < (1 - _LESS * share) * size:
            return at, of
        share *= 0.5
    return np.asarray(_moved(system, jnp.asarray(q), jnp.asarray(step[:n]))), multipliers + step[n:]


# ── judging ───────────────────────────────────────────────────────────────────────────────────────────────────────
@eqx.filter_jit
def _linear_parts(system: System, q: Tree, multipliers: Tree) -> Tree:
    local = system.local(q)
    y, time = local.origin, jnp.zeros(())
    zero = jnp.zeros_like(y)
    normals = _normals(local)

    def at_speed(w: Tree) -> Tree:
        force = lagrangian.inertial_force(local.lagrangian, time, y, w)
        return force if local.applied is None else force + local.applied(time, y, w)

    stiffness = -jax.jacfwd(lambda x: _force(local, x) + normals(x).T @ multipliers)(y)
    mass = lagrangian.mass_matrix(local.lagrangian, time, y, zero)
    return mass, -jax.jacfwd(at_speed)(zero), stiffness, normals(y), jax.jacfwd(local.point)(y)


def _linear(system: System, q: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Mass, damping and stiffness along allowed displacements, and these displacements as columns."""
    parts = _linear_parts(system, jnp.asarray(q), jnp.asarray(multipliers))
    mass, damping, spring, normals, frame = jax.tree.map(np.asarray, parts)
    free = np.eye(len(mass))
    if len(normals):
        _, sizes, right = np.linalg.svd(normals)
        free = right[int(np.sum(sizes > _RANK * np.max(sizes))) :].T
    mass = free.T @ mass @ free
    values, vectors = np.linalg.eigh(mass)
    if len(values) and np.min(np.abs(values)) <= _RANK * np.max(np.abs(values)):
        weights = free @ vectors[:, int(np.argmin(np.abs(values)))]
        raise ValueError(
            f"The mass matrix is singular at q = {_shown(q)}: the velocity {_combination(system, frame @ weights)} "
            "costs no kinetic energy, so motions near this configuration are not determined."
        )
    return mass, free.T @ damping @ free, free.T @ spring @ free, frame @ free


def _judged(system: System, q: np.ndarray, multipliers: np.ndarray, residual: float) -> Equilibrium:
    mass, damping, spring, _ = _linear(system, q, multipliers)
    n = len(mass)
    first = np.linalg.solve(mass, np.concatenate([-spring, -damping], axis=1))
    values: Any = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [first]])) if n else np.zeros(0, complex)
    values = values[np.lexsort((values.imag, values.real))]
    size = float(np.max(np.abs(values), initial=0.0))
    even = np.max(np.abs(spring - spring.T), initial=0.0) <= _SIGN * np.max(np.abs(spring), initial=0.0)
    definite = n == 0 or np.min(np.linalg.eigvalsh(0.5 * (spring + spring.T))) > _SIGN * np.max(np.abs(spring))
    lossy = n == 0 or np.min(np.linalg.eigvalsh(damping + damping.T)) >= -_SIGN * np.max(np.abs(damping), initial=0.0)
    if np.max(values.real, initial=-np.inf) > _GROWS * size:
        stability = "unstable"
    elif (even and definite and lossy) or np.max(values.real, initial=-np.inf) < -_GROWS * size:
        stability = "stable"
    else:
        stability = "undecided"
    return Equilibrium(q, multipliers, stability, values, residual)


# ── what a person may pass ────────────────────────────────────────────────────────────────────────────────────────
def _several(system: System, guesses: Any) -> list[np.ndarray]:
    shape = (system.space.point_dim,)
    one = isinstance(guesses, Mapping)
    if not one and len(guesses):
        one = not isinstance(guesses[0], Mapping) and np.ndim(guesses[0]) == 0
    return [np.asarray(vector("guess", guess, shape, system), float) for guess in ([guesses] if one else guesses)]


def _distance(system: System, a: np.ndarray, b: np.ndarray) -> float:
    away = a - b
    if system.flat:
        turns = np.array([c.kind == "angle" for c in system.coordinates])
        away = np.where(turns, (away + np.pi) % (2 * np.pi) - np.pi, away)
    return float(np.max(np.abs(away)))


def _combination(system: System, weights: np.ndarray) -> str:
    largest = weights / weights[int(np.argmax(np.abs(weights)))]
    terms = [f"{w:.3g} {name}" for w, name in zip(largest, system.names, strict=True) if abs(w) > _SAID]
    return "along " + " + ".join(terms)


def _shown(x: Any) -> str:
    return np.array2string(np.asarray(x), precision=4, separator=", ")

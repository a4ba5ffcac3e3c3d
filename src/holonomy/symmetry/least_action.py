r"""Hamilton's principle: motions between two configurations in a given time.

A motion makes the action \(S = \int_0^T L\,dt\) stationary among paths from \(q_a\) to \(q_b\). The acceleration of
the path is a polynomial given by its values at Chebyshev points, of which velocity and position are integrals. Newton's
method solves Lagrange's equations at these points; their residual between the points says how good the path is. The
second variation of S is positive as long as no Jacobi field that vanishes at the start vanishes again. Such times are
conjugate points; past k of them S is a saddle of index k (Morse).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.interpolate import BarycentricInterpolator
from scipy.linalg import lu_factor, lu_solve
from scipy.optimize import brentq

from holonomy.symmetry.natural import refuse_others
from holonomy.systems import System, lagrangian
from holonomy.systems.parameters import number
from holonomy.systems.state_vector import vector
from holonomy.types import ArrayFunction, Number, Numbers, StateLike, Tree

_DEGREES = (15, 19, 23, 31, 47, 63, 95, 127)  # degrees of the polynomial
_NEWTON = 80
_SHORTEST = 1e-4  # share of a step of Newton's method
_ROWS = 32  # states per compiled call
_GOOD = 1e-12  # the residual at which the degree is high enough, as a part of the forces
_FINE = 1e-9  # the residual that is accepted


@dataclass(frozen=True)
class StationaryPath:
    """A path that makes the action stationary.

    `t`, `q` and `v` are the path at its nodes; called with times, it gives position and velocity; `action` its action;
    `residual` how far it is from satisfying Lagrange's equations, the largest of \\(M a - f\\) between the nodes;
    `conjugate` the times of conjugate points of the start; `index` how many directions there are in which the action
    falls; `kind`, ``"minimum"`` or ``"saddle"``, or ``"degenerate"`` where the end itself is conjugate to the start.
    """

    t: Float[np.ndarray, " nodes"]
    q: Float[np.ndarray, "nodes n"]
    v: Float[np.ndarray, "nodes n"]
    action: float
    residual: float
    conjugate: tuple[float, ...]
    index: int
    kind: str
    path: _Path = field(repr=False)

    def __repr__(self) -> str:
        conjugate = ", ".join(f"{t:g}" for t in self.conjugate) or "none"
        return (
            f"<{self.kind} of the action, {self.action:g}, from t = {self.t[0]:g} to {self.t[-1]:g}; "
            f"conjugate points: {conjugate}>"
        )

    def __call__(self, t: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity at times t."""
        times = np.asarray(t, float)
        q, v, _ = self.path.at(times.reshape(-1))
        return q.reshape(*times.shape, -1), v.reshape(*times.shape, -1)


def least_action(
    system: System,
    q_a: StateLike,
    q_b: StateLike,
    T: Number,
    guess: ArrayFunction | None = None,
) -> StationaryPath:
    """A motion from q_a at time 0 to q_b at time T, by Hamilton's principle, and what the action is there.

    **Arguments:** `guess`, a path t -> q to start from, by default the straight line. There may be several motions;
    another guess may lead to another. **Fails** with `ValueError` where none is found, for systems with forces or
    constraints, and where points are not their own coordinates.
    """
    if not system.flat:
        raise ValueError(f"hl.least_action works in coordinates, which points of {system.space} do not have.")
    refuse_others(system, "hl.least_action")
    n = len(system.names)
    first = np.asarray(vector("q_a", q_a, (n,), system), float)
    last = np.asarray(vector("q_b", q_b, (n,), system), float)
    span = float(number("time T", T))
    if not span > 0:
        raise ValueError(f"The time T must be positive; got {span:g}.")
    start = _started(guess, first, last, span)
    found: _Path | None = None
    reason, residual, scale = "", np.inf, 1.0
    for degree in _DEGREES:
        nodes = _nodes(degree, span)
        bend = start(nodes) if found is None else found.at(nodes.t)[2]
        better = _newton(system, _Path(nodes, first, last, bend))
        if isinstance(better, str):
            reason = better
            continue
        missed, scale = _residual(system, better)
        if missed < residual:
            found, residual = better, missed
        if missed <= _GOOD * scale or missed > residual:  # from some degree on rounding grows
            break
    if found is None:
        raise ValueError(f"No motion from q_a to q_b in the time {span:g} was found: {reason} Pass another guess=.")
    if not residual <= _FINE * max(scale, 1.0):
        raise ValueError(
            f"The path that was found misses Lagrange's equations by {residual:.1e}: it is not resolved by a "
            f"polynomial of degree {len(found.nodes.t) - 1}. Pass a shorter time T or another guess=."
        )
    return _described(system, found, residual)


@dataclass(frozen=True)
class _Nodes:
    """Chebyshev points on [0, T]: weights of the integral over all of it, matrices of derivative and of the integral
    from 0, and of the two integrals that vanish at both ends and their derivatives."""

    t: np.ndarray
    weights: np.ndarray
    slope: np.ndarray
    once: np.ndarray
    twice: np.ndarray
    place: np.ndarray
    speed: np.ndarray


@lru_cache(maxsize=16)
def _nodes(degree: int, span: float) -> _Nodes:
    angle = np.pi * np.arange(degree + 1) / degree
    sign = (-1.0) ** np.arange(degree + 1)
    sign[[0, -1]] *= 2.0
    # differences of cosines as products of sines, so that nodes close together keep their digits
    away = 2 * np.sin(0.5 * (angle[:, None] + angle[None, :])) * np.sin(0.5 * (angle[:, None] - angle[None, :]))
    slope = (sign[:, None] / sign[None, :]) / (away + np.eye(degree + 1))
    slope -= np.diag(slope.sum(axis=1))
    t = 0.5 * span * (1 - np.cos(angle))
    _, once, twice = _integrals(degree, span, t)
    place = twice - np.outer(t / span, twice[-1])
    speed = once - np.outer(np.ones(degree + 1) / span, twice[-1])
    return _Nodes(t, once[-1], slope * 2 / span, once, twice, place, speed)


def _integrals(degree: int, span: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What takes values at the nodes to the polynomial, its integral from 0 and the integral of that, at times t."""
    angle = np.pi * np.arange(degree + 1) / degree
    share = np.ones(degree + 1)
    share[[0, -1]] = 0.5
    # Chebyshev coefficients of the values: T_k at the node with this angle is cos k(π - angle)
    waves = np.cos(np.outer(np.arange(degree + 1), np.pi - angle))
    coefficients = 2.0 / degree * share[:, None] * waves * share[None, :]
    x, found = 2 * np.asarray(t) / span - 1, []
    for _ in range(3):
        found.append(np.polynomial.chebyshev.chebvander(x, len(coefficients) - 1) @ coefficients)
        coefficients = np.polynomial.chebyshev.chebint(coefficients, lbnd=-1, scl=span / 2, axis=0)
    return found[0], found[1], found[2]


@dataclass(frozen=True)
class _Path:
    """A path from `first` to `last` with the acceleration `bend` at the nodes."""

    nodes: _Nodes
    first: np.ndarray
    last: np.ndarray
    bend: np.ndarray

    @property
    def q(self) -> np.ndarray:
        """Positions at the nodes."""
        t = self.nodes.t
        return self.first + np.outer(t / t[-1], self.last - self.first) + self.nodes.place @ self.bend

    @property
    def v(self) -> np.ndarray:
        """Velocities at the nodes."""
        return (self.last - self.first) / self.nodes.t[-1] + self.nodes.speed @ self.bend

    def at(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration at any times, exact integrals of one another."""
        span = float(self.nodes.t[-1])
        value, once, twice = _integrals(len(self.nodes.t) - 1, span, t)
        speed = (self.last - self.first) / span - self.nodes.twice[-1] @ self.bend / span
        return self.first + np.outer(t, speed) + twice @ self.bend, speed + once @ self.bend, value @ self.bend


@eqx.filter_jit
def _equations(system: System, t: Tree, q: Tree, v: Tree, a: Tree) -> Tree:
    """Lagrange's equations M a - f at many states, the size of their terms, and their derivatives by q, v and a."""

    def one(s: Tree, x: Tree, w: Tree, u: Tree) -> Tree:
        mass = lagrangian.mass_matrix(system.raw_lagrangian, s, x, w)
        return mass @ u - lagrangian.inertial_force(system.raw_lagrangian, s, x, w)

    def whole(s: Tree, x: Tree, w: Tree, u: Tree) -> Tree:
        size = jnp.max(jnp.abs(lagrangian.inertial_force(system.raw_lagrangian, s, x, w)))
        return one(s, x, w, u), size, jax.jacfwd(one, argnums=(1, 2, 3))(s, x, w, u)

    return jax.vmap(whole)(t, q, v, a)


@eqx.filter_jit
def _action_parts(system: System, t: Tree, q: Tree, v: Tree) -> Tree:
    """L and its second derivatives at many states."""

    def second(s: Tree, x: Tree, w: Tree) -> Tree:
        return jax.hessian(lambda z: system.raw_lagrangian(s, z[: x.size], z[x.size :]))(jnp.concatenate([x, w]))

    return jax.vmap(system.raw_lagrangian)(t, q, v), jax.vmap(second)(t, q, v)


def _in_batches(function: Any, system: System, *columns: np.ndarray) -> Any:
    """A function of rows of states on many of them, in pieces of one compiled size."""
    parts = []
    for at in range(0, len(columns[0]), _ROWS):
        rows = [column[at : at + _ROWS] for column in columns]
        short = _ROWS - len(rows[0])
        full = [np.pad(row, ((0, short), *[(0, 0)] * (row.ndim - 1)), mode="edge") for row in rows]
        out = function(system, *(jnp.asarray(x) for x in full))
        parts.append(jax.tree.map(lambda x, s=short: np.asarray(x)[: _ROWS - s], out))
    return jax.tree.map(lambda *p: np.concatenate(p), *parts)


def _looked_at(system: System, path: _Path) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    value, size, slopes = _in_batches(_equations, system, path.nodes.t, path.q, path.v, path.bend)
    return value, size, slopes


def _operator(slopes: tuple[np.ndarray, ...], place: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """The linear part of Lagrange's equations on accelerations at all nodes, as a matrix."""
    by_q, by_v, by_a = slopes
    count, n = by_q.shape[:2]
    whole = (
        np.einsum("kij,kl->kilj", by_q, place)
        + np.einsum("kij,kl->kilj", by_v, speed)
        + np.einsum("kij,kl->kilj", by_a, np.eye(count))
    )
    return whole.reshape(count * n, count * n)


def _newton(system: System, path: _Path) -> _Path | str:
    """The path with Lagrange's equations at all nodes, or why there is none."""
    value, _, slopes = _looked_at(system, path)
    share, change, noise = 1.0, np.inf, 0.0
    for _ in range(_NEWTON):
        if not np.all(np.isfinite(value)):
            return "a path on the way leaves the domain of the Lagrangian."
        factors = lu_factor(_operator(slopes, path.nodes.place, path.nodes.speed))
        step = lu_solve(factors, -value.ravel())
        if not np.all(np.isfinite(step)):
            return "the end is conjugate to the start."
        before, change = change, float(np.max(np.abs(step)))
        noise = 1e-8 * (1.0 + float(np.max(np.abs(path.bend))))
        share = min(1.0, 2.0 * share)
        # a step is shortened until a second one with the same matrix is smaller
        while True:
            trial = replace(path, bend=path.bend + share * step.reshape(path.bend.shape))
            value, _, slopes = _looked_at(system, trial)
            again = lu_solve(factors, -value.ravel()) if np.all(np.isfinite(value)) else np.array([np.inf])
            if np.max(np.abs(again)) <= (1 - 0.25 * share) * change or change <= noise:
                break
            share *= 0.5
            if share < _SHORTEST:
                return f"Newton's method did not converge (its last correction was {change:.1e})."
        path = trial
        if change <= noise and change >= 0.1 * before:
            return path
    if change <= noise:
        return path
    return f"Newton's method did not converge (its last correction was {change:.1e})."


def _residual(system: System, path: _Path) -> tuple[float, float]:
    """How far the path misses Lagrange's equations between its nodes, and the size of the forces."""
    t = 0.5 * (path.nodes.t[1:] + path.nodes.t[:-1])
    value, size, _ = _in_batches(_equations, system, t, *path.at(t))
    return float(np.max(np.abs(value))), float(np.max(size))


def _described(system: System, path: _Path, residual: float) -> StationaryPath:
    nodes, q, v = path.nodes, path.q, path.v
    span = float(nodes.t[-1])
    x, weights = np.polynomial.legendre.leggauss(3 * len(nodes.t))  # the Lagrangian varies faster than the path
    times = 0.5 * span * (x + 1)
    values = _in_batches(_action_parts, system, times, *path.at(times)[:2])[0]
    second = _in_batches(_action_parts, system, nodes.t, q, v)[1]
    conjugate, at_end = _conjugate(nodes, _looked_at(system, path)[2])
    index = _index(nodes, second)
    kind = "degenerate" if at_end else "minimum" if index == 0 else "saddle"
    action = 0.5 * span * float(weights @ values)
    return StationaryPath(nodes.t, q, v, action, residual, conjugate, index, kind, path)


def _index(nodes: _Nodes, second: np.ndarray) -> int:
    """The number of negative directions of the second variation, on the lower half of the polynomials.

    The integral of the second variation over all polynomials of the degree of the nodes would not be exact.
    """
    n = second.shape[1] // 2
    degree = len(nodes.t) // 2
    legendre = np.polynomial.legendre.legvander(2 * nodes.t / nodes.t[-1] - 1, degree)
    bump = legendre[:, 2:] - legendre[:, :-2]  # vanish at both ends
    moved = np.stack([bump, nodes.slope @ bump], axis=1)  # (node, place or speed, function)
    whole = second.reshape(len(nodes.t), 2, n, 2, n)
    size = bump.shape[1] * n
    matrix = np.einsum("k,kaf,kaibj,kbg->figj", nodes.weights, moved, whole, moved).reshape(size, size)
    diagonal = np.sqrt(np.abs(np.diag(matrix))) + 1e-300
    values = np.linalg.eigvalsh(0.5 * (matrix + matrix.T) / diagonal[:, None] / diagonal[None, :])
    return int(np.sum(values < -1e-9 * np.max(np.abs(values))))


def _conjugate(nodes: _Nodes, slopes: tuple[np.ndarray, ...]) -> tuple[tuple[float, ...], bool]:
    """Times in (0, T) at which a Jacobi field that vanishes at the start vanishes, and whether the end is one."""
    by_q, by_v, _ = slopes
    count, n = by_q.shape[:2]
    # fields t·1 + (the double integral of their acceleration), which begin with the velocities 1
    right = -(by_q * nodes.t[:, None, None] + by_v).reshape(count * n, n)
    bend = np.linalg.solve(_operator(slopes, nodes.twice, nodes.once), right).reshape(count, n, n)
    fields = nodes.t[:, None, None] * np.eye(n) + np.einsum("kl,lij->kij", nodes.twice, bend)
    # divided by t, the determinant is 1 at the start
    quotient = np.concatenate([np.eye(n)[None], fields[1:] / nodes.t[1:, None, None]])
    shape = BarycentricInterpolator(nodes.t, quotient.reshape(count, n * n))
    span = float(nodes.t[-1])

    def determinant(t: Any) -> Any:
        return np.linalg.det(np.asarray(shape(t)).reshape(*np.shape(t), n, n))

    fine = np.linspace(0.0, span, 40 * count)
    values = determinant(fine)
    at_end = bool(abs(values[-1]) < 1e-8 * np.max(np.abs(values)))
    found = []
    for k in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0):
        root: Any = brentq(lambda s: float(determinant(np.asarray(s))), fine[k], fine[k + 1], xtol=1e-14)
        if span - float(root) > 1e-7 * span:
            found.append(float(root))
    return tuple(found), at_end


def _started(guess: Any, first: np.ndarray, last: np.ndarray, span: float) -> Callable[[_Nodes], np.ndarray]:
    """The accelerations at the nodes of the path to begin with."""
    if guess is None:
        return lambda nodes: np.zeros((len(nodes.t), len(first)))
    if not callable(guess):
        raise ValueError(f"guess is a path, a function t -> q; got {guess!r}.")
    value = np.asarray(guess(0.0), float)
    if value.shape != first.shape:
        raise ValueError(f"guess(t) must have shape {first.shape}, one number per coordinate; got shape {value.shape}.")

    def bent(nodes: _Nodes) -> np.ndarray:
        values = np.array([np.asarray(guess(t), float) for t in nodes.t])
        return nodes.slope @ (nodes.slope @ values)

    return bent

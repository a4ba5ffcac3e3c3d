"""Gaits that reach a displacement at the least cost, by two routes: Wong's equations, and descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion import compiled, wong
from holonomy.locomotion.arrays import Row
from holonomy.locomotion.exact_displacement import exactly, of_coefficients
from holonomy.locomotion.gait import Gait
from holonomy.locomotion.local_form import connection_at, curvature_at, power_at
from holonomy.locomotion.mover import Mover
from holonomy.locomotion.reconstruct import Journey, begin, reconstruct, step
from holonomy.locomotion.search import jacobian, least_cost, newton
from holonomy.types import Number, VectorLike

_HARMONICS = 9
_STEPS = 24  # of reconstruction while searching
_NODES = 8  # times at which the unknowns of Wong's equations are taken; divides _STEPS
_COARSE = 7  # harmonics of the gait from which Wong's equations are solved
_ON_GROUP = 1e-8  # how far a displacement may be from the group that it is passed as an element of
_CLOSE = 1e-9  # relative: how well the displacement must be met
_SHRINKINGS = 20  # of a first guess until it is allowed
_KEPT = 1e-10  # relative size of Fourier coefficients of an extremal that are kept; below are errors of integration


class Problem(NamedTuple):
    """The displacement that is wanted, the entries of the algebra in which it must be met, and the element of the
    algebra that leads towards it."""

    target: np.ndarray
    wanted: np.ndarray
    towards: np.ndarray

    @property
    def scale(self) -> float:
        """The size of the displacement."""
        return float(np.linalg.norm(self.towards))


class _Task(NamedTuple):
    mover: Mover
    target: Row


def optimal_gait(
    mover: Mover,
    displacement: Sequence[Number | None] | VectorLike,
    method: str = "wong",
    *,
    start: VectorLike | Gait | None = None,
    harmonics: int = _HARMONICS,
) -> Gait:
    r"""The gait of period 1 that moves the body by a displacement at the least cost \(\frac12\int G\dot r\dot r\,dt\).

    `displacement` is as `perform` reports it, on SE(2) (x, y, theta), on SO(3) a quaternion, on SE(3) a quaternion and
    a place; components that are None are free, those of a rotation only together. Ask for zero net rotation
    explicitly. Where the group does not commute the result depends on the frame at the start, so that the
    gait begins at a shape of its own.

    ``method="wong"`` solves Wong's equations (`wong`) for a closed loop: unknown are the first shape, its momentum and
    the momentum dual to the displacement. ``method="descent"`` minimises the cost over Fourier coefficients up to
    `harmonics`, with the displacement held. Both find a local minimum or extremal near where they begin: `start` is the
    middle of the first, elliptical guess (by default the shape zero), or a gait to begin with.

    The displacement is that of the gait as `perform` finds it, to 1e-9 of its size; gaits that miss it by more are not
    handed over. Raises `ValueError` where no such gait is found, or the displacement has another number of components.
    """
    if method not in ("wong", "descent"):
        raise ValueError(f"optimal_gait knows the methods 'wong' and 'descent', but method={method!r} was given.")
    if mover.inertial and mover.conditions is not None:
        raise ValueError("optimal_gait is for movers whose shape alone determines the motion, without a momentum.")
    problem = _problem(mover, displacement)
    if isinstance(start, Gait):
        guess = _coefficients(start, _COARSE if method == "wong" else harmonics)
    else:
        guess = _first_guess(mover, problem, start)
    if method == "descent":
        return _descend(mover, problem, _resized(guess, harmonics))
    return _extremal(mover, problem, _descend(mover, problem, _resized(guess, _COARSE), coarse=True))


# ── What is asked ─────────────────────────────────────────────────────────────────────────────────────


def _problem(mover: Mover, displacement: object) -> Problem:
    given = list(np.ravel(np.asarray(displacement, dtype=object)))
    lie = mover.lie
    none = np.asarray(lie.displacement(lie.identity, jnp.zeros(lie.dim)))
    if len(given) != len(none):
        raise ValueError(
            f"The displacement has {len(given)} components, but those of this mover have {len(none)}; components that "
            "do not matter are None."
        )
    target, wanted = none.copy(), np.zeros(lie.dim, bool)
    for components, entries in lie.blocks:
        values = [given[i] for i in components]
        if any(x is None for x in values):
            if not all(x is None for x in values):
                raise ValueError(
                    f"The components {', '.join(map(str, components))} of the displacement are those of one rotation: "
                    f"give all of them or None for all, but got {values}."
                )
            continue
        target[list(components)] = [float(x) for x in values]
        wanted[list(entries)] = True
    _refuse_element(mover, target)
    towards = -np.asarray(lie.miss(jnp.asarray(target), lie.identity, jnp.zeros(lie.dim))) * wanted
    if not np.any(towards):
        raise ValueError("The displacement is zero or free in every component: the best gait is to rest.")
    return Problem(target, np.flatnonzero(wanted), towards)


def _refuse_element(mover: Mover, target: np.ndarray) -> None:
    """Raise for numbers that are no displacement, such as a quaternion that is not a unit."""
    lie = mover.lie
    good = np.all(np.isfinite(target))
    if good and len(target) == len(lie.identity) and any(len(components) > 1 for components, _ in lie.blocks):
        again = lie.compose(jnp.asarray(target), lie.inverse(jnp.asarray(target)))
        good = np.abs(np.asarray(again) - np.asarray(lie.identity)).max() < _ON_GROUP
    if not good:
        raise ValueError(
            f"The displacement {target.tolist()} is no element of {mover.group!r}. Pass one as hl.perform reports it; "
            "group_exp of the group makes one from an element of the algebra."
        )


# ── A first guess ─────────────────────────────────────────────────────────────────────────────────────


def _first_guess(mover: Mover, problem: Problem, start: VectorLike | None) -> np.ndarray:
    """Coefficients of the ellipse that would do for constant curvature: a circle in the metric of power."""
    try:
        centre = mover.shape(np.zeros(mover.shape_dim) if start is None else start)
    except ValueError as error:
        raise ValueError(f"The search cannot begin there: {error} Pass start=, a shape in the middle.") from error
    if mover.shape_dim < 2:
        raise ValueError("A mover with one shape variable cannot swim (scallop theorem): every loop encloses nothing.")
    b = np.asarray(mover.curvature(centre))
    w, u = np.linalg.eigh(np.asarray(mover.power(centre)))
    root = u / np.sqrt(w)  # columns orthonormal in the metric
    field = root.T @ np.einsum("c,cij->ij", problem.towards / problem.scale, b) @ root
    if np.abs(field).max() < 1e-12:
        raise ValueError(
            f"The curvature at the shape {np.asarray(centre).tolist()} has no part along the displacement, so that no "
            "small loop there makes it. Pass start=, another shape, or a gait to begin with."
        )
    left, size, right = np.linalg.svd(field)
    # the displacement of a loop is minus the integral of the curvature: field(first, second) must be negative
    first, second = right[0], left[:, 0]
    second = second - (second @ first) * first
    radius = np.sqrt(problem.scale / (np.pi * size[0]))
    coefficients = np.zeros((3, mover.shape_dim))
    coefficients[0] = np.asarray(centre)
    coefficients[1], coefficients[2] = radius * root @ first, radius * root @ (second / np.linalg.norm(second))
    return coefficients


def _coefficients(gait: Gait, harmonics: int) -> np.ndarray:
    """Mean, cosines and sines of a gait, row by row: (1 + 2 harmonics, n)."""
    count = 8 * harmonics
    at = np.asarray(jax.vmap(gait.path)(jnp.arange(count) / count))
    waves = np.fft.rfft(at, axis=0) / count
    return np.concatenate([waves[:1].real, 2 * waves[1 : harmonics + 1].real, -2 * waves[1 : harmonics + 1].imag])


def _resized(coefficients: np.ndarray, harmonics: int) -> np.ndarray:
    old = (len(coefficients) - 1) // 2
    keep = min(old, harmonics)
    out = np.zeros((1 + 2 * harmonics, coefficients.shape[1]))
    out[0] = coefficients[0]
    out[1 : 1 + keep] = coefficients[1 : 1 + keep]
    out[1 + harmonics : 1 + harmonics + keep] = coefficients[1 + old : 1 + old + keep]
    return out


# ── Descent ───────────────────────────────────────────────────────────────────────────────────────────


def _outcome_along(
    task: _Task, rows: Float[Array, "rows shape"], direction: Float[Array, "rows shape"]
) -> tuple[Row, Row]:
    """How far a gait misses the displacement, its cost and least margins, and their derivative in a direction of its
    coefficients."""
    mover = task.mover

    def value(x: Float[Array, "rows shape"]) -> Row:
        journey = reconstruct(mover, of_coefficients(x), _STEPS, jnp.zeros(0))
        miss = mover.lie.miss(task.target, journey.g, journey.turned)
        return jnp.concatenate([miss, 0.5 * journey.energy[None], journey.margins])

    return jax.jvp(value, (rows,), (direction,))


def _descend(mover: Mover, problem: Problem, first: np.ndarray, *, coarse: bool = False) -> Gait:
    size, task = mover.lie.dim, _Task(mover, jnp.asarray(problem.target))
    w, u = np.linalg.eigh(np.asarray(mover.power(first[0])))
    root = u / np.sqrt(w)  # the search is in coordinates in which the metric of power is 1 in the middle
    rows = np.concatenate([problem.wanted, np.arange(size, size + 1 + len(mover.sentences))])
    weights = np.ones(len(rows))
    weights[: len(problem.wanted)] = 1.0 / problem.scale

    def place(y: np.ndarray) -> np.ndarray:
        return y.reshape(first.shape) @ root.T

    def look(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = jacobian(_outcome_along, task, place(y))
        slopes = (slopes.reshape(-1, *first.shape) @ root).reshape(len(values), -1)
        return weights * values[rows], weights[:, None] * slopes[rows]

    for _ in range(_SHRINKINGS):
        if np.all(look((first @ np.linalg.inv(root).T).ravel())[0][len(problem.wanted) + 1 :] > 0):
            break
        first = np.concatenate([first[:1], 0.7 * first[1:]])  # a guess that leaves the allowed shapes
    begin = (first @ np.linalg.inv(root).T).ravel()
    found, message = least_cost(look, begin, len(problem.wanted), coarse=coarse, to_stationary=coarse)
    gap = np.abs(look(found)[0][: len(problem.wanted)]).max()
    if not gap < (1e-3 if coarse else 1e-6):
        raise ValueError(
            f"No gait with this displacement was found near the start ({message}). Ask for less, or pass start=, "
            "another shape or a gait. Where the cost falls towards the limits of the shape there is no best gait."
        )
    return _settled(mover, problem, place(found)) if not coarse else of_coefficients(place(found))


# ── Wong's equations ──────────────────────────────────────────────────────────────────────────────────


def _miss_along(
    task: _Task, nodes: Float[Array, "nodes both"], direction: Float[Array, "nodes both"]
) -> tuple[Row, Row]:
    r"""What is left of the conditions for a closed extremal, and its derivative in a direction of the unknowns.

    The unknowns are shape, its momentum and the body's momentum at several times (multiple shooting, since extremals
    part fast). First the gaps between the pieces; then, from the end to the start, the change of the shape and of
    \(G\dot r + A^\top\mu\), whose vanishing makes the first shape the best one; then how far the displacement is
    missed; then the momenta dual to its components, which vanish for those that are free.
    """
    mover, count, n = task.mover, nodes.shape[0], task.mover.shape_dim

    def value(z: Float[Array, "nodes both"]) -> Row:
        r, pi, mu = z[:, :n], z[:, n : 2 * n], z[:, 2 * n :]
        last = jax.lax.map(lambda at: wong.end(mover, at[0], at[1], at[2], count), (r, pi, mu))
        ends = jnp.concatenate([last.r, last.pi, last.mu], axis=1)
        gaps = (ends[:-1] - z[1:]).reshape(-1)
        g, turned = mover.lie.identity, jnp.sum(last.turned, axis=0)
        for k in range(count):
            g = mover.lie.compose(g, last.g[k])
        dual = _shape_momentum(mover, ends[-1]) - _shape_momentum(mover, z[0])

        def nearby(omega: Row) -> Row:
            return mover.lie.miss(task.target, mover.lie.compose(g, mover.lie.exp(omega)), turned + omega)

        slope = jax.jacfwd(nearby)(jnp.zeros(mover.lie.dim))
        miss = mover.lie.miss(task.target, g, turned)
        return jnp.concatenate([gaps, last.r[-1] - r[0], dual, miss, jnp.linalg.solve(slope.T, last.mu[-1])])

    return jax.jvp(value, (nodes,), (direction,))


def _shape_momentum(mover: Mover, state: Row) -> Row:
    n = mover.shape_dim
    return state[n : 2 * n] + state[2 * n :] @ connection_at(mover, state[:n])


def _extremal(mover: Mover, problem: Problem, guess: Gait) -> Gait:
    n, k, task = mover.shape_dim, mover.lie.dim, _Task(mover, jnp.asarray(problem.target))
    nodes = _first_nodes(mover, guess)
    scale = np.concatenate([np.ones(n), np.full(n, np.abs(nodes[:, n : 2 * n]).max()), np.full(k, 1.0)])
    scale[2 * n :] = np.abs(nodes[:, 2 * n :]).max()
    units = np.tile(scale, len(nodes))
    inner = (len(nodes) - 1) * len(scale)
    free = np.setdiff1d(np.arange(k), problem.wanted)
    after = inner + 2 * n
    rows = np.concatenate([np.arange(after), after + problem.wanted, after + k + free])
    sizes = [units[:inner], scale[: 2 * n], np.full(len(problem.wanted), problem.scale), np.full(len(free), scale[-1])]
    weights = 1.0 / np.concatenate(sizes)

    def look(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = jacobian(_miss_along, task, z.reshape(nodes.shape))
        return weights * values[rows], weights[:, None] * slopes[rows]

    z, left = newton(look, nodes.ravel(), units)
    if not left < _CLOSE:
        raise ValueError(
            f"Wong's equations have no closed solution with this displacement near the start: {left:.1e} of it "
            "is left. Ask for less, pass start=, another shape or a gait, or use method='descent'."
        )
    found = np.asarray(compiled.call(wong.shapes, mover, z.reshape(nodes.shape)))
    return _settled(mover, problem, _smooth(found.reshape(-1, n)))


def _first_nodes(mover: Mover, gait: Gait) -> np.ndarray:
    """The unknowns along a gait; the body's momentum at the start by least squares, and carried along from there."""
    from scipy.linalg import expm

    n, k = mover.shape_dim, mover.lie.dim
    states, pulls, forces, turned = (np.asarray(x) for x in compiled.call(_along_gait, mover, gait))
    structure = np.asarray(mover.lie.structure)
    carried = [np.eye(k)]  # Ad of the element of the group at each sample
    for omega in np.diff(turned, axis=0):
        carried.append(carried[-1] @ expm(np.einsum("kij,i->kj", structure, omega)))
    rows = np.concatenate([pull @ ad.T for pull, ad in zip(pulls, carried, strict=False)])
    start = np.linalg.lstsq(rows, forces.reshape(-1), rcond=1e-8)[0]
    every = len(states) // _NODES
    return np.stack([np.concatenate([states[i, : 2 * n], carried[i].T @ start]) for i in range(0, len(states), every)])


def _along_gait(mover: Mover, gait: Gait) -> tuple[Array, Array, Array, Array]:
    """At equally spaced times of a gait: shape and its momentum, the matrix and the right side of Wong's equations for
    the body's momentum, and the sum of the steps in the algebra."""

    def pi(s: Array) -> Array:
        at, speed = jax.jvp(gait.path, (s,), (jnp.ones_like(s),))
        return power_at(mover, at) @ speed

    def look(s: Array) -> tuple[Array, Array, Array]:
        r, rate = jax.jvp(gait.path, (s,), (jnp.ones_like(s),))
        momentum, change = jax.jvp(pi, (s,), (jnp.ones_like(s),))
        inertial = jax.grad(lambda x: 0.5 * rate @ power_at(mover, x) @ rate)(r)
        pull = jnp.einsum("cij,j->ic", curvature_at(mover, r), rate)
        return jnp.concatenate([r, momentum]), pull, change - inertial

    def onward(at: Journey, index: Array) -> tuple[Journey, Array]:
        return step(mover, gait, index, _STEPS, at), at.turned

    turned = jax.lax.scan(onward, begin(mover, jnp.zeros(0)), jnp.arange(_STEPS))[1]
    return (*jax.lax.map(look, jnp.arange(_STEPS) / _STEPS), turned)


def _smooth(rows: np.ndarray) -> np.ndarray:
    """The Fourier coefficients of a closed curve through equally spaced points, without their rounding errors."""
    harmonics = len(rows) // 4
    waves = np.fft.rfft(rows, axis=0)[: harmonics + 1] / len(rows)
    sizes = np.abs(waves).max(axis=1)
    kept = max(1, int(np.max(np.nonzero(sizes > _KEPT * sizes[1:].max())[0])))
    return np.concatenate([waves[:1].real, 2 * waves[1 : kept + 1].real, -2 * waves[1 : kept + 1].imag])


def _settled(mover: Mover, problem: Problem, rows: np.ndarray) -> Gait:
    """The gait with these coefficients, or one near it, that makes the displacement as it is performed."""
    gait, left = exactly(mover, rows, jnp.asarray(problem.target), problem.wanted, problem.scale)
    if not left < _CLOSE:
        raise ValueError(
            f"The gait that was found misses the displacement by {left:.1e} of it when it is performed, and no gait "
            "near it makes it. Pass start=, another shape or a gait, or use the other method."
        )
    return gait

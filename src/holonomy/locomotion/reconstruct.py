r"""Reconstruction: \(\dot g = g\,\xi\), \(\xi = -A(r)\dot r\,(+\,\Gamma p)\), along a loop of shapes, on the group.

A step writes \(g(t) = g_0\exp\Omega(t)\); \(\Omega\) solves \(\dot\Omega = \mathrm{dexp}^{-1}_{-\Omega}\xi =
\xi + \frac12[\Omega,\xi] + \sum_k \frac{B_{2k}}{(2k)!}\mathrm{ad}_\Omega^{2k}\xi\), a Gauss collocation with 8 stages
(order 16), found by fixed-point iteration in the Lie algebra. The element never leaves the group, and a step back along
the same shapes undoes a step to round-off. Steps are equal; the host doubles their number until the Legendre
coefficients of \(\xi\) over every step have decayed.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion import compiled
from holonomy.locomotion.arrays import Algebra, Element, Row
from holonomy.locomotion.gait import Gait, extent
from holonomy.locomotion.local_form import connection_at, margins_at, power_at
from holonomy.locomotion.momentum import drift
from holonomy.locomotion.mover import Mover
from holonomy.motion.methods.gauss_coefficients import tableau
from holonomy.types import Count, Scalar

STAGES = 8
_ITERATIONS = 16  # each gains one power of the step: up to the order of the collocation
_A, WEIGHTS, NODES = tableau(STAGES)
_AT_NODES = np.polynomial.legendre.legvander(2 * NODES - 1, STAGES - 1)
_LEGENDRE = (2 * np.arange(STAGES) + 1)[:, None] * _AT_NODES.T * WEIGHTS
# B_2k/(2k)!, k = 1, 2, ...: the series converges for |Omega| < 2 pi and is used below 1, where 9 terms are round-off
_BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798]
_DEXP = [b / math.factorial(2 * k + 2) for k, b in enumerate(_BERNOULLI)]
_LARGEST = 1.0  # of Omega over a step
_TOLERANCE = 1e-13  # of the estimated error against the length of the path in the group
_MOST_STEPS = 1 << 15
_FEWEST = 32  # a step is cheap against the call

Stages: TypeAlias = Float[Array, "stages dim"]
Shapes: TypeAlias = Float[Array, "stages shape"]


class Journey(NamedTuple):
    """What a loop of shapes does: the element of the group, the sum of the steps' algebra elements, the momentum left,
    the dissipated energy, the length in the power metric, and how good the numbers are."""

    g: Element
    turned: Algebra
    momentum: Row
    energy: Scalar
    length: Scalar
    error: Scalar
    travelled: Scalar
    margins: Row
    worst: Row
    """Shapes with the least margins, one after another."""


def begin(mover: Mover, momentum: Row) -> Journey:
    """Before the first step."""
    zero, lie = jnp.zeros(()), mover.lie
    limits = len(mover.sentences)
    far = jnp.full(limits, jnp.inf)
    shapes = jnp.zeros(limits * mover.shape_dim)
    return Journey(lie.identity, jnp.zeros(lie.dim), momentum, zero, zero, zero, zero, far, shapes)


def reconstruct(mover: Mover, gait: Gait, steps: Count | int, momentum: Row) -> Journey:
    """The journey of one period, in equal steps."""
    return jax.lax.fori_loop(0, steps, lambda i, at: step(mover, gait, i, steps, at), begin(mover, momentum))


def step(mover: Mover, gait: Gait, index: Count | int, steps: Count | int, at: Journey) -> Journey:
    """The journey after one step more."""
    h = 1.0 / jnp.asarray(steps, float)
    times = (jnp.asarray(index, float) + jnp.asarray(NODES)) * h
    span, lie = h * gait.period, mover.lie

    def look(s: Scalar) -> tuple[Row, Row, Algebra, Scalar, Row]:
        r, slope = jax.jvp(gait.path, (s,), (jnp.ones_like(s),))
        rate = slope / gait.period
        return r, rate, -connection_at(mover, r) @ rate, rate @ power_at(mover, r) @ rate, margins_at(mover, r)

    r, rate, xi, power, margins = jax.lax.map(look, times)
    omega, p_end = jnp.zeros((STAGES, lie.dim)), at.momentum
    if at.momentum.shape[0]:
        omega, xi, p_end = _with_momentum(mover, r, rate, xi, span, at.momentum)
    elif not lie.commutative:
        omega = jax.lax.fori_loop(
            0, _ITERATIONS, lambda _, w: span * (jnp.asarray(_A) @ _dexp_inverse(mover, w, xi)), omega
        )
    last = span * (jnp.asarray(WEIGHTS) @ _dexp_inverse(mover, omega, xi))
    weights = span * jnp.asarray(WEIGHTS)
    error = _error(span * xi) + jnp.where(jnp.max(jnp.abs(last)) > _LARGEST, 1.0, 0.0) * (not lie.commutative)
    least, worst = _least(at, margins, r)
    return Journey(
        lie.compose(at.g, lie.exp(last)),
        at.turned + last,
        p_end,
        at.energy + weights @ power,
        at.length + weights @ jnp.sqrt(jnp.maximum(power, 0.0)),
        at.error + error,
        at.travelled + weights @ jnp.sqrt(jnp.sum(xi * xi, axis=1)),
        least,
        worst,
    )


def _dexp_inverse(mover: Mover, omega: Stages, xi: Stages) -> Stages:
    if mover.lie.commutative:
        return xi

    def one(w: Algebra, x: Algebra) -> Algebra:
        ad = mover.lie.ad(w)
        once = ad @ x
        total, power = x + 0.5 * once, once
        for factor in _DEXP:
            power = ad @ power
            total = total + factor * power
            power = ad @ power
        return total

    return jax.vmap(one)(omega, xi)


def _with_momentum(
    mover: Mover,
    r: Float[Array, "stages shape"],
    rate: Float[Array, "stages shape"],
    xi: Stages,
    span: Scalar,
    start: Row,
) -> tuple[Stages, Stages, Row]:
    """The stages where a momentum drives the body as well."""

    def once(_: Count, state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        omega, p, _, _ = state
        found, force = jax.vmap(lambda a, b, c: drift(mover, a, b, c))(r, rate, p)
        slopes = _dexp_inverse(mover, omega, xi + found)
        a, b = jnp.asarray(_A), jnp.asarray(WEIGHTS)
        return span * (a @ slopes), start[None, :] + span * (a @ force), xi + found, start + span * (b @ force)

    begin = (jnp.zeros_like(xi), jnp.tile(start, (STAGES, 1)), xi, start)
    omega, _, found, end = jax.lax.fori_loop(0, 2 * _ITERATIONS, once, begin)
    return omega, found, end


def _error(xi: Stages) -> Scalar:
    """The estimated error of a step from the decay of Legendre coefficients: it converges twice as fast as these."""
    sizes = jnp.max(jnp.abs(jnp.asarray(_LEGENDRE) @ xi), axis=1)[1:]
    tiny = jnp.finfo(xi.dtype).tiny
    variation, tail = jnp.max(sizes) + tiny, jnp.max(sizes[-2:])
    # coefficients at the level of rounding say nothing of the rest
    resolved = tail <= 8.0 * jnp.finfo(xi.dtype).eps * jnp.max(jnp.abs(xi))
    return jnp.where(resolved, 0.0, variation * (tail / variation) ** (2 * STAGES / (STAGES - 1)))


def _least(at: Journey, margins: Float[Array, "stages limits"], r: Float[Array, "stages shape"]) -> tuple[Row, Row]:
    if not at.margins.shape[0]:
        return at.margins, at.worst
    lowest = jnp.min(margins, axis=0)
    where = r[jnp.argmin(margins, axis=0)].reshape(-1)
    less = lowest < at.margins
    return jnp.minimum(lowest, at.margins), jnp.where(jnp.repeat(less, r.shape[1]), where, at.worst)


class Outcome(NamedTuple):
    """A journey as it is reported: the displacement, its translational part, how far the loop is from closed, where it
    begins and how large it is."""

    journey: Journey
    displacement: Row
    moved: Row
    gap: Row
    first: Row
    size: Row


def outcome(mover: Mover, gait: Gait, steps: Count | int, momentum: Row) -> Outcome:
    """The journey of one period and what is said of it."""
    journey = reconstruct(mover, gait, steps, momentum)
    displacement = mover.lie.displacement(journey.g, journey.turned)
    first = gait.path(jnp.zeros(()))
    gap = gait.path(jnp.ones(())) - first
    return Outcome(journey, displacement, mover.lie.moved(journey.g), gap, first, extent(gait.path))


def resolved(mover: Mover, gait: Gait, momentum: Row | np.ndarray, wanted: int | None = None) -> tuple[Outcome, int]:
    """The journey with as many steps as are wanted or needed, where numbers are known, and their number."""
    pieces = gait.path.pieces
    steps = pieces * max(1, -(-_FEWEST // pieces)) if wanted is None else wanted
    while True:
        found = compiled.call(outcome, mover, gait, np.int64(steps), np.asarray(momentum))
        good = found.journey.error <= _TOLERANCE * found.journey.travelled
        if (
            good
            or wanted is not None
            or 2 * steps > _MOST_STEPS
            or not np.all(np.isfinite(np.asarray(found.displacement)))
        ):
            return found, steps
        steps *= 2

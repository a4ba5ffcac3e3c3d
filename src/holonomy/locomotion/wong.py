r"""Wong's equations: extremals of the cost \(\frac12\int G\dot r\dot r\,dt\) for a given motion in the group.

With \(\pi = G\dot r\) and the momentum \(\mu\) dual to the body velocity \(\xi = -A\dot r\),

\[\dot\pi_i = \tfrac12\partial_iG_{jk}\dot r^j\dot r^k + \mu_cB^c_{ij}\dot r^j,\qquad
\langle\dot\mu,\eta\rangle = \langle\mu,[\xi,\eta]\rangle:\]

a charged particle on shape space in the field B, its charge turning with the body. Integrated by the classical method
of order 4, the element of the group in the Lie algebra (Munthe-Kaas).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion.arrays import Algebra, Element, Row, Shape
from holonomy.locomotion.local_form import connection_at, curvature_at, power_at
from holonomy.locomotion.mover import Mover

_TABLEAU = np.array([[0.0, 1 / 6], [0.5, 1 / 3], [0.5, 1 / 3], [1.0, 1 / 6]])  # node and weight of each stage
STEPS = 400  # of the integration from 0 to 1: an error of about 1e-10


class Extremal(NamedTuple):
    """The state on an extremal: shape, momentum of the shape, momentum of the body, element, its turns, cost so far."""

    r: Shape
    pi: Shape
    mu: Algebra
    g: Element
    turned: Algebra
    cost: Float[Array, ""]


def rates(mover: Mover, r: Shape, pi: Shape, mu: Algebra) -> tuple[Shape, Shape, Algebra, Algebra, Float[Array, ""]]:
    """The rates of change of r, pi and mu, the body velocity, and the rate of the cost."""
    rate = jnp.linalg.solve(power_at(mover, r), pi)
    # forward derivatives, which share their work with those of the curvature
    slope = 0.5 * jnp.einsum("jki,j,k->i", jax.jacfwd(lambda x: power_at(mover, x))(r), rate, rate)
    force = slope + jnp.einsum("c,cij,j->i", mu, curvature_at(mover, r), rate)
    xi = -connection_at(mover, r) @ rate
    return rate, force, mu @ mover.lie.ad(xi), xi, 0.5 * rate @ pi


def start(mover: Mover, r: Shape, pi: Shape, mu: Algebra) -> Extremal:
    """An extremal at its beginning, at the identity."""
    return Extremal(r, pi, mu, mover.lie.identity, jnp.zeros(mover.lie.dim), jnp.zeros(()))


def onward(mover: Mover, at: Extremal, h: Float[Array, ""] | float) -> Extremal:
    """One step."""
    k = mover.lie.dim
    n = at.r.shape[0]

    def slope(y: Row) -> Row:
        r, pi, mu, omega = y[:n], y[n : 2 * n], y[2 * n : 2 * n + k], y[2 * n + k : 2 * n + 2 * k]
        rate, force, turning, xi, power = rates(mover, r, pi, mu)
        once = mover.lie.bracket(omega, xi)
        change = xi + 0.5 * once + mover.lie.bracket(omega, once) / 12.0
        return jnp.concatenate([rate, force, turning, change, power[None]])

    y = jnp.concatenate([at.r, at.pi, at.mu, jnp.zeros(k), at.cost[None]])

    def stage(so_far: tuple[Row, Row], coefficients: Row) -> tuple[tuple[Row, Row], None]:
        total, last = so_far
        new = slope(y + coefficients[0] * h * last)
        return (total + coefficients[1] * h * new, new), None

    # the stages as a loop: one copy of a long formula
    y = jax.lax.scan(stage, (y, jnp.zeros_like(y)), jnp.asarray(_TABLEAU))[0][0]
    omega = y[2 * n + k : 2 * n + 2 * k]
    g = mover.lie.compose(at.g, mover.lie.exp(omega))
    return Extremal(y[:n], y[n : 2 * n], y[2 * n : 2 * n + k], g, at.turned + omega, y[-1])


def end(mover: Mover, r: Shape, pi: Shape, mu: Algebra, parts: int) -> Extremal:
    """The extremal from the identity after the time 1/parts."""
    first = start(mover, r, pi, mu)
    return jax.lax.fori_loop(0, STEPS // parts, lambda _, at: onward(mover, at, 1.0 / STEPS), first)


def shapes(mover: Mover, nodes: Float[Array, "nodes both"]) -> Float[Array, "nodes times shape"]:
    """The shapes on an extremal at equally spaced times, without the last, from its states at some of them."""
    n, count = mover.shape_dim, nodes.shape[0]

    def step(at: Extremal, _: None) -> tuple[Extremal, Shape]:
        return onward(mover, at, 1.0 / STEPS), at.r

    def piece(node: Row) -> Float[Array, "times shape"]:
        first = start(mover, node[:n], node[n : 2 * n], node[2 * n :])
        return jax.lax.scan(step, first, None, length=STEPS // count)[1]

    return jax.lax.map(piece, nodes)

r"""Newton's method for the stages of a variational step, with the exact Jacobian of few unknowns.

The residual of stage j is \(R_j = \partial_w L_j - \sigma + h\sum_k (b_k - a_{jk})\,\partial_y L_k\) with
\(\sigma = D(y_1)^{-\top}(p_0 + h\sum_k b_k\,\partial_x L_k)\) (`moving_chart`). The derivatives of the three slopes of
a stage by its position and velocity make up the derivative by all stage velocities, since \(Y_k = h\sum_l a_{kl}W_l\).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.motion.methods import stage_slopes
from holonomy.spaces import SO3, left_translation
from holonomy.systems import left_invariant
from holonomy.systems.dense_solve import back_substitute, eliminate_small
from holonomy.systems.in_chart import Local
from holonomy.types import AnyArray, Number, Vector


def correction(
    local: Local,
    times: Array,
    p: Vector,
    h: Number,
    coefficients: tuple[Float[AnyArray, "s s"], Float[AnyArray, " s"]],
    w: Float[Array, "s n"],
    middle: tuple[Number, Vector, Vector],
) -> Callable[[Array], Array]:
    """From residuals of the stages to corrections, by the matrix at stage velocities w.

    Potential and forces, which come with the square of the step, have their derivatives in it from the state `middle`;
    p is the momentum with the push of the base point.
    """
    a, b = coefficients
    s, n = w.shape
    first, *others = stage_slopes.parts(local)
    exact = _kinetic(local) if left_invariant.find(local.system) else jax.jacfwd(first, argnums=(1, 2))
    rest = [jax.jacfwd(part, argnums=(1, 2))(*middle) for part in others]
    stages = zip(times, h * (a @ w), w, strict=True)
    by = [jax.tree.map(lambda *terms: sum(terms[1:], terms[0]), exact(*stage), *rest) for stage in stages]
    turn, shift = _shift(local, p, jnp.multiply(h, b @ w))

    def moved(slope: int, k: int, m: int) -> Array:
        """The derivative of a slope of stage k by the velocity of stage m."""
        through, direct = by[k][slope]
        return (h * a[k, m]) * through + direct if k == m else (h * a[k, m]) * through

    columns = []
    for m in range(s):
        position = [moved(0, k, m) for k in range(s)]
        pushed = sum(((h * b[k]) * moved(2, k, m) for k in range(s)), jnp.zeros((n, n), w.dtype))
        start = (h * b[m]) * shift + turn @ pushed
        pulls = [sum(((h * (b[k] - a[j, k])) * position[k] for k in range(s)), -start) for j in range(s)]
        columns.append(jnp.concatenate([moved(1, j, m) + pulls[j] for j in range(s)]))
    held = eliminate_small(jnp.concatenate(columns, axis=1))
    return lambda rows: back_substitute(held, rows.ravel()).reshape(s, n)


def _kinetic(local: Local) -> Callable[[Number, Vector, Vector], stage_slopes.Slopes]:
    r"""Derivatives of the slopes of \(\ell(\xi)\): with \(G = \partial\xi/\partial(y, w)\) they are \(G^\top\ell''G\)
    and second derivatives of \(\mu\cdot\xi\).
    """
    system = local.system

    def slopes(t: Number, y: Vector, w: Vector) -> Any:
        xi = left_translation.body_rate(system.space, y, w)
        mu = left_invariant.momentum(system, t, xi)
        inertia = jax.jacfwd(lambda u: left_invariant.momentum(system, t, u))(xi)
        at = left_translation.rate_matrices(system.space, y, w, mu)
        along, across = inertia @ at.by_velocity, inertia @ at.by_position
        mixed = at.by_velocity.T @ across + at.mixed
        none = jnp.zeros_like(mixed)
        position = at.by_position.T @ across + at.twice, mixed.T
        pairs: Any = position, (mixed, at.by_velocity.T @ along), (none, none)
        return stage_slopes.Slopes(*pairs)

    return slopes


def _shift(local: Local, covector: Vector, end: Vector) -> tuple[Array, Array]:
    """The derivatives of `solve_shift` by the covector and by the end of the step."""
    space = local.system.space
    if isinstance(space, SO3):  # the same formula as the body velocity's
        at = left_translation.rate_matrices(space, end, covector, jnp.zeros_like(end))
        return at.by_velocity, at.by_position
    return jax.jacfwd(lambda c, z: space.solve_shift(local.anchor, z, c), argnums=(0, 1))(covector, end)

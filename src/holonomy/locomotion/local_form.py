r"""A mover's connection, power metric and curvature at a shape, without checks, for code that is being traced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.locomotion.arrays import Connection, Curvature, Row, Shape, ShapeMetric
from holonomy.systems.dense_solve import back_substitute, factor

if TYPE_CHECKING:
    from holonomy.locomotion.mover import Mover


def connection_at(mover: Mover, r: Shape) -> Connection:
    """A(r)."""
    if mover.direct is not None:
        return jnp.asarray(mover.direct(r))
    k = mover.lie.dim
    if mover.conditions is None:
        form = mover.form(r)
        factored = factor(form[:k, :k], definite=True)
        return jax.vmap(lambda column: back_substitute(factored, column), 1, 1)(form[:k, k:])
    rows = mover.conditions(r)
    count = rows.shape[0]
    if count == k:
        return jnp.linalg.solve(rows[:, :k], rows[:, k:])
    form = mover.form(r)
    matrix = jnp.concatenate(
        [
            jnp.concatenate([form[:k, :k], rows[:, :k].T], axis=1),
            jnp.concatenate([rows[:, :k], jnp.zeros((count, count))], axis=1),
        ]
    )
    return jnp.linalg.solve(matrix, jnp.concatenate([form[:k, k:], rows[:, k:]]))[:k]


def power_at(mover: Mover, r: Shape) -> ShapeMetric:
    """G(r)."""
    form, k = mover.form(r), mover.lie.dim
    if mover.direct is not None:
        return form[k:, k:]
    a = connection_at(mover, r)
    across = form[k:, :k] @ a
    return form[k:, k:] - across - across.T + a.T @ form[:k, :k] @ a


def curvature_at(mover: Mover, r: Shape) -> Curvature:
    """B(r)."""
    a = connection_at(mover, r)
    slope = jnp.swapaxes(jax.jacfwd(lambda x: connection_at(mover, x))(r), 1, 2)  # [component, i, j]: d_i A_j
    brackets = jnp.einsum("kab,ai,bj->kij", jnp.asarray(np.asarray(mover.lie.structure)), a, a)
    return slope - jnp.swapaxes(slope, 1, 2) - brackets


def margins_at(mover: Mover, r: Shape) -> Row:
    """How far the shape is inside each limit."""
    return jnp.zeros(0) if mover.margins is None else mover.margins(r)

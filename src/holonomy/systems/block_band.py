r"""Banded systems that need exchanges of rows, in blocks as wide as the band.

A matrix with entries at most b beside its diagonal is cut into blocks of b rows, of which only neighbours couple. The
first b columns of two rows of blocks are factored with exchanges among all their rows, as LAPACK does of a band, which
takes work of order \(n b^2\) and memory of order \(n b\) for n unknowns. So matrices that are neither symmetric nor
definite are solved as safely as whole ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jaxtyping import Array, Float, Int

Rows = Float[Array, "blocks b wide"]


class BandFactors(NamedTuple):
    """The scale of each row; for each block of columns the order in which rows were taken, their multiples that were
    subtracted, the triangular factor and the entries to its right."""

    scale: Float[Array, "blocks b"]
    taken: Int[Array, "blocks two_b"]
    lower: Float[Array, "blocks two_b b"]
    upper: Float[Array, "blocks b b"]
    right: Float[Array, "blocks b two_b"]


def factor(rows: Rows) -> BandFactors:
    """The factorisation of a matrix whose i-th block of rows has entries in the blocks of columns i - 1, i and i + 1.

    Rows are scaled to a largest entry of 1 before they are compared.
    """
    b = rows.shape[1]
    scale = 1.0 / jnp.max(jnp.abs(rows), axis=2)
    rows = rows * scale[:, :, None]
    none = jnp.zeros((b, b), rows.dtype)
    after = jnp.concatenate([rows[1:], jnp.concatenate([none, jnp.eye(b, dtype=rows.dtype), none], axis=1)[None]])

    def eliminate(top: Any, below: Any) -> Any:
        both = jnp.concatenate([jnp.concatenate([top, none], axis=1), below])
        lu, _, taken = jax.lax.linalg.lu(both[:, :b])
        rest = both[taken, b:]
        lower = jnp.tril(lu, -1)
        right = jsl.solve_triangular(lower[:b], rest[:b], lower=True, unit_diagonal=True)
        return rest[b:] - lower[b:] @ right, (taken, lower, jnp.triu(lu[:b]), right)

    return BandFactors(scale, *jax.lax.scan(eliminate, rows[0, :, b:], after)[1])


def solve(factors: BandFactors, values: Float[Array, " n"]) -> Float[Array, " n"]:
    """The solution for a right-hand side, whose length is that of all blocks."""
    scale, taken, lower, upper, right = factors
    count, b = scale.shape
    values = values.reshape(count, b) * scale
    none = jnp.zeros(b, values.dtype)
    after = jnp.concatenate([values[1:], none[None]])

    def forward(top: Any, given: Any) -> Any:
        order, low, below = given
        both = jnp.concatenate([top, below])[order]
        found = jsl.solve_triangular(low[:b], both[:b], lower=True, unit_diagonal=True)
        return both[b:] - low[b:] @ found, found

    def backward(known: Any, given: Any) -> Any:
        triangle, beside, value = given
        found = jsl.solve_triangular(triangle, value - beside @ known)
        return jnp.concatenate([found, known[:b]]), found

    middle = jax.lax.scan(forward, values[0], (taken, lower, after))[1]
    found = jax.lax.scan(backward, jnp.zeros(2 * b, values.dtype), (upper, right, middle), reverse=True)[1]
    return found.reshape(-1)

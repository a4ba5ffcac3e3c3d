r"""Dense factorisation of what sparse elimination leaves: one matrix, or blocks of which only neighbours couple.

Networks such as nets fill up when their unknowns are eliminated one by one. In an order in which coupled unknowns are
near each other (reverse Cuthill–McKee) they are a band, which is cut into blocks as wide as it. A loop over the blocks
takes work of order \(n b^2\) for n unknowns and blocks of b.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import scipy.sparse as sparse
from jaxtyping import Array, Float, Int
from scipy.sparse.csgraph import reverse_cuthill_mckee

from holonomy.systems.rows_of_sums import take
from holonomy.types import AnyArray


class BlockFactors(NamedTuple):
    """Of each block the triangular factor, the exchanges of its rows (None where the matrix is symmetric), and its
    entries with the block before and after, divided by the factor on one side."""

    pivots: Float[Array, "blocks b b"]
    exchanged: Array | None
    before: Float[Array, "blocks b b"]
    after: Float[Array, "blocks b b"]


class Blocks(eqx.Module):
    """Where the entries of a matrix of `size` unknowns stand in `count` blocks of `width` rows.

    Entries number `inside` are part of a block on the diagonal, at the places `above` and `below` the diagonal;
    those number `beside` are part of the block right of it, at the places `right`. Places count through all blocks.
    """

    size: int = eqx.field(static=True)
    count: int = eqx.field(static=True)
    width: int = eqx.field(static=True)
    inside: Int[AnyArray, " inner"]
    above: Int[AnyArray, " inner"]
    below: Int[AnyArray, " inner"]
    beside: Int[AnyArray, " outer"]
    right: Int[AnyArray, " outer"]

    def factor(self, diagonal: Float[Array, " n"], upper: Array, lower: Array | None) -> BlockFactors:
        """The factors of a symmetric matrix, or of one with other entries `lower` below its diagonal."""
        b = self.width
        places = np.arange(self.count * b)
        whole = jnp.concatenate([diagonal, jnp.ones(self.count * b - self.size, diagonal.dtype)])
        zeros = jnp.zeros(self.count * b * b, diagonal.dtype)
        under = upper if lower is None else lower
        inner = zeros.at[places * b + places % b].set(whole)
        inner = inner.at[self.above].set(take(upper, self.inside)).at[self.below].set(take(under, self.inside))
        shape = (self.count, b, b)
        right = zeros.at[self.right].set(take(upper, self.beside)).reshape(shape)
        if lower is None:
            return _definite(inner.reshape(shape), right)
        left = zeros.at[self.right].set(take(lower, self.beside)).reshape(shape)
        return _general(inner.reshape(shape), right, jnp.swapaxes(left, 1, 2))

    def solve(self, factors: BlockFactors, values: Float[Array, " n"]) -> Array:
        """The solution for a right-hand side."""
        b = jnp.pad(values, (0, self.count * self.width - self.size)).reshape(self.count, self.width)
        return (_solve_definite if factors.exchanged is None else _solve_general)(factors, b).reshape(-1)[: self.size]

    def squared_pivots(self, factors: BlockFactors) -> Float[Array, " n"]:
        """The pivots of a symmetric matrix, one for each unknown; NaN where it is not positive definite."""
        return jnp.diagonal(factors.pivots, axis1=1, axis2=2).reshape(-1)[: self.size] ** 2


def _definite(inner: Array, right: Array) -> BlockFactors:
    """By Cholesky's factorisation of each block less what those before it take away."""

    def once(taken: Any, given: Any) -> Any:
        own, beside = given
        low = jnp.linalg.cholesky(own - taken)
        across = jsl.solve_triangular(low, beside, lower=True)
        return across.T @ across, (low, across)

    pivots, after = _along(once, jnp.zeros_like(inner[0]), (inner, right))
    return BlockFactors(pivots, None, _shifted(jnp.swapaxes(after, 1, 2)), after)


def _general(inner: Array, right: Array, left: Array) -> BlockFactors:
    """By triangular factors with exchanges within each block. `left` are the entries below each block."""

    def once(taken: Any, given: Any) -> Any:
        own, beside, below = given
        lu, exchanged = jsl.lu_factor(own - taken)
        across = jsl.lu_solve((lu, exchanged), beside)
        return below @ across, (lu, exchanged, across)

    pivots, exchanged, after = _along(once, jnp.zeros_like(inner[0]), (inner, right, left))
    return BlockFactors(pivots, exchanged, _shifted(left), after)


def _solve_definite(factors: BlockFactors, b: Array) -> Array:
    def forward(known: Any, given: Any) -> Any:
        low, before, value = given
        found = jsl.solve_triangular(low, value - before @ known, lower=True)
        return found, found

    def backward(known: Any, given: Any) -> Any:
        low, after, value = given
        found = jsl.solve_triangular(low, value - after @ known, lower=True, trans=1)
        return found, found

    middle = _along(forward, jnp.zeros_like(b[0]), (factors.pivots, factors.before, b))
    return _along(backward, jnp.zeros_like(b[0]), (factors.pivots, factors.after, middle), reverse=True)


def _solve_general(factors: BlockFactors, b: Array) -> Array:
    def forward(known: Any, given: Any) -> Any:
        lu, exchanged, before, value = given
        found = jsl.lu_solve((lu, exchanged), value - before @ known)
        return found, found

    def backward(known: Any, given: Any) -> Any:
        after, value = given
        found = value - after @ known
        return found, found

    middle = _along(forward, jnp.zeros_like(b[0]), (factors.pivots, factors.exchanged, factors.before, b))
    return _along(backward, jnp.zeros_like(b[0]), (factors.after, middle), reverse=True)


def _along(once: Any, start: Array, given: Any, reverse: bool = False) -> Any:
    """A scan, without a loop where there is one block."""
    if given[0].shape[0] > 1:
        return jax.lax.scan(once, start, given, reverse=reverse)[1]
    found = once(start, jax.tree.map(lambda x: x[0], given))[1]
    return jax.tree.map(lambda x: x[None], found)


def _shifted(blocks: Array) -> Array:
    """At each block that of the one before."""
    return jnp.concatenate([jnp.zeros_like(blocks[:1]), blocks[:-1]])


# ── on the host ───────────────────────────────────────────────────────────────────────────────────────


def along_band(size: int, pairs: Int[np.ndarray, "entries 2"]) -> tuple[np.ndarray, int]:
    """The unknowns in an order in which coupled ones are near each other, and how far apart they are in it."""
    if not len(pairs):
        return np.arange(size), 1
    both = np.concatenate([pairs, pairs[:, ::-1]])
    graph = sparse.csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(size, size))
    order = np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), np.int64)
    place = np.empty(size, np.int64)
    place[order] = np.arange(size)
    return order, int(np.max(np.abs(place[pairs[:, 0]] - place[pairs[:, 1]])))


def blocks(size: int, width: int, row: np.ndarray, column: np.ndarray) -> Blocks:
    """The places of entries above the diagonal in blocks of this width."""
    own = row // width == column // width
    inside, beside = np.flatnonzero(own), np.flatnonzero(~own)

    def places(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return (i * width + j % width).astype(np.int32)

    above, below = places(row[own], column[own]), places(column[own], row[own])
    tables = (inside.astype(np.int32), above, below, beside.astype(np.int32), places(row[~own], column[~own]))
    return Blocks(size, max(1, -(-size // width)), width, *tables)

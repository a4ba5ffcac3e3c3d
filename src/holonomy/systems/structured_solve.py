r"""Solves with a mass matrix whose structure is known, from its products with vectors.

A diagonal matrix is its product with the vector of ones. Of blocks and bands the products with a few vectors of zeros
and ones hold every entry once: as many vectors as a block has rows, or as a band has diagonals. An arrow is eliminated
down to its border. A sparse matrix is eliminated in an order found once, where it stays sparse, as that of a tree
does; any other is solved by conjugate gradients to round-off, with products alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import count as from_zero
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sparse
from jaxtyping import Array, Float

from holonomy.systems import dense_solve
from holonomy.systems.dense_solve import Factored
from holonomy.systems.mass_structure import MassStructure
from holonomy.trace.by_value import ByValue

Vector: TypeAlias = Float[Array, " n"]
Product: TypeAlias = Callable[[Any], Any]

_ROUNDS = 4  # conjugate gradients restart this often from what is left


def entries(structure: MassStructure, product: Product, like: Vector) -> Array | None:
    """The entries of the matrix: its diagonal (n,), its blocks (count, k, k) with ones where a block is smaller, or
    its band (k + 1 + k, n) with `band[k + d, i]` the entry (i, i + d), of an arrow its diagonal and the columns of its
    border (1 + k, n), of a sparse one its diagonal and the entries of its pairs; None where these are not used."""
    n, k = structure.size, structure.width
    if structure.kind == "diagonal":
        return product(jnp.ones_like(like))
    if structure.kind == "sparse":
        return None if structure.pairs is None else _sparse_entries(structure, product, like)
    if structure.kind == "arrow":
        border = structure.border_places
        seeds = np.zeros((1 + border.size, n))
        seeds[0] = 1.0
        seeds[0, border] = 0.0
        seeds[1 + np.arange(border.size), border] = 1.0
        return jax.vmap(product)(jnp.asarray(seeds, like.dtype))
    order = structure.permutation
    if structure.kind == "banded":
        colour = np.arange(n) % (2 * k + 1)
        columns = _products(product, order, colour, 2 * k + 1, like)[:, order]
        rows = np.arange(n)
        at = [rows + d for d in range(-k, k + 1)]
        inside = [(j >= 0) & (j < n) for j in at]
        return jnp.stack(
            [
                jnp.where(ok, columns[np.clip(j, 0, n - 1) % (2 * k + 1), rows], 0.0)
                for j, ok in zip(at, inside, strict=True)
            ]
        )
    places, filled = _block_places(structure)
    colour = np.zeros(n, int)
    colour[places[filled]] = np.broadcast_to(np.arange(k), places.shape)[filled]
    columns = _products(product, order, colour, k, like)
    blocks = jnp.swapaxes(columns[:, order[places]], 0, 1)  # (blocks, column, row): symmetric
    both = filled[:, :, None] & filled[:, None, :]
    return jnp.where(both, blocks, jnp.eye(k, dtype=like.dtype)[None])


def _sparse_entries(structure: MassStructure, product: Product, like: Vector) -> Array:
    """Columns without a common row share one product, in which each of their entries stands alone."""
    assert structure.pairs is not None
    n, pairs = structure.size, structure.pairs.value
    colour = _colours(n, structure.pairs)
    columns = _products(product, np.arange(n), colour, int(colour.max()) + 1, like)
    return jnp.concatenate([columns[colour, np.arange(n)], columns[colour[pairs[:, 1]], pairs[:, 0]]])


@lru_cache(maxsize=16)
def _colours(n: int, pairs: ByValue) -> np.ndarray:
    """A number for each column, different for columns that have a common row."""
    row, column = pairs.value.T
    ones = np.ones(len(row), bool)
    upper: Any = sparse.coo_array((ones, (row, column)), shape=(n, n))
    pattern: Any = sparse.csr_array(upper + upper.T + sparse.eye_array(n, dtype=bool))
    near: Any = sparse.csr_array(pattern @ pattern)
    found = np.full(n, -1)
    for k in range(n):
        taken = set(found[near.indices[near.indptr[k] : near.indptr[k + 1]]].tolist())
        found[k] = next(c for c in from_zero() if c not in taken)
    return found


def _products(product: Product, order: np.ndarray, colour: np.ndarray, count: int, like: Vector) -> Any:
    """The products with the vectors that are one at the places of one colour."""
    seeds = np.zeros((count, order.size))
    seeds[colour, order] = 1.0
    return jax.vmap(product)(jnp.asarray(seeds, like.dtype))


def _block_places(structure: MassStructure) -> tuple[np.ndarray, np.ndarray]:
    """Places in the order of the blocks, (count, k), and which of them are filled."""
    starts = structure.block_starts
    sizes = np.diff(np.append(starts, structure.size))
    inner = np.arange(structure.width)[None, :]
    filled = inner < sizes[:, None]
    return np.where(filled, starts[:, None] + inner, 0), filled


def diagonal(structure: MassStructure, product: Product, like: Vector) -> Vector:
    """The diagonal of the matrix, of kinds whose entries are used."""
    held = entries(structure, product, like)
    assert held is not None
    n, k = structure.size, structure.width
    if structure.kind == "diagonal":
        return held
    if structure.kind == "sparse":
        return held[:n]
    if structure.kind == "arrow":
        border = structure.border_places
        return held[0].at[border].set(held[1 + np.arange(border.size), border])
    order = structure.permutation
    if structure.kind == "banded":
        return jnp.zeros_like(like).at[order].set(held[k])
    places, filled = _block_places(structure)
    return jnp.zeros_like(like).at[order[places[filled]]].set(jnp.diagonal(held, axis1=1, axis2=2)[filled])


def multiplied(structure: MassStructure, held: Array, u: Vector) -> Vector:
    """The product with a vector, from the entries."""
    if structure.kind == "diagonal":
        return held * u
    if structure.kind == "arrow":
        border = structure.border_places
        inner = u.at[border].set(0.0)
        return (held[0] * inner + u[border] @ held[1:]).at[border].set(held[1:] @ u)
    if structure.kind == "sparse":
        assert structure.pairs is not None
        row, column = structure.pairs.value.T
        off = held[structure.size :]
        return (held[: structure.size] * u).at[row].add(off * u[column]).at[column].add(off * u[row])
    order, n, k = structure.permutation, structure.size, structure.width
    turned = u[order]
    if structure.kind == "banded":
        padded = jnp.pad(turned, k)
        total = sum((held[d] * padded[d : d + n] for d in range(2 * k + 1)), start=jnp.zeros_like(u))
        return jnp.zeros_like(u).at[order].set(total)
    places, filled = _block_places(structure)
    out = jnp.einsum("bij,bj->bi", held, jnp.where(filled, turned[places], 0.0))
    return jnp.zeros_like(u).at[order[places[filled]]].set(out[filled])


def factor(structure: MassStructure, product: Product, like: Vector, definite: bool) -> Factored:
    """A factorisation for `back_substitute` of the matrix with these products with vectors."""
    held = entries(structure, product, like)
    if structure.kind == "sparse" and held is None:
        return "map", lambda b: jax.lax.custom_linear_solve(product, b, _conjugate_gradients, symmetric=True)
    if structure.kind == "sparse":
        return "map", _by_elimination(structure, product, held)
    if structure.kind == "diagonal":
        return "map", lambda b: b / held
    if structure.kind == "block-diagonal":
        return "map", _by_blocks(structure, held, definite)
    if structure.kind == "arrow":
        return "map", _by_border(structure, held, definite)

    return "map", _by_band(structure, product, held, definite)


def _by_elimination(structure: MassStructure, product: Product, held: Any) -> Product:
    order, n = structure.elimination, structure.size
    assert order is not None
    own = jax.lax.stop_gradient(held)
    factors = order.factor(own[:n], own[n:])

    def solve(b: Vector) -> Vector:
        return jax.lax.custom_linear_solve(product, b, lambda _, r: order.solve(factors, r), symmetric=True)

    return solve


def _by_blocks(structure: MassStructure, blocks: Any, definite: bool) -> Product:
    places, filled = _block_places(structure)
    order, n = structure.permutation, structure.size
    kind = dense_solve.factor(blocks[0], definite)[0]
    factored = jax.vmap(lambda block: dense_solve.factor(block, definite)[1])(blocks)
    back = np.zeros(n, int)  # where each coordinate stands among the places of the blocks
    back[order[places[filled]]] = np.flatnonzero(filled)

    def solve(b: Vector) -> Vector:
        rows = jnp.where(filled, b[order[places]], 0.0)
        found = jax.vmap(lambda data, row: dense_solve.back_substitute((kind, data), row))(factored, rows)
        return found.reshape(-1)[back]

    return solve


def _by_border(structure: MassStructure, held: Any, definite: bool) -> Product:
    """All but the border eliminated by division; what is left is a small dense matrix."""
    border = structure.border_places
    diagonal = held[0].at[border].set(1.0)
    columns = held[1:].at[:, border].set(0.0)
    scaled = columns / diagonal[None]
    left = dense_solve.factor(held[1:][:, border] - scaled @ columns.T, definite)

    def solve(b: Vector) -> Vector:
        ends = dense_solve.back_substitute(left, b[border] - scaled @ b)
        return (b / diagonal - ends @ scaled).at[border].set(ends)

    return solve


def _by_band(structure: MassStructure, product: Product, held: Any, definite: bool) -> Product:
    order, k = structure.permutation, structure.width
    band = jax.lax.stop_gradient(held)
    through = _tridiagonal(band) if k == 1 else _block_tridiagonal(band, k, definite)

    def solve(b: Vector) -> Vector:
        def turned(_: Product, r: Vector) -> Vector:
            return jnp.zeros_like(r).at[order].set(through(r[order]))

        return jax.lax.custom_linear_solve(product, b, turned, symmetric=True)

    return solve


def _tridiagonal(band: Any) -> Product:
    # this factors at every solve, and still takes a third of the time of two loops with factors that are known
    return lambda r: jax.lax.linalg.tridiagonal_solve(band[0], band[1], band[2], r[:, None])[:, 0]


def _block_tridiagonal(band: Any, k: int, definite: bool) -> Product:
    r"""A symmetric band cut into blocks of k rows, of which only neighbours couple, as \(L D L^\top\) of blocks.

    With pivots \(D_i\) and \(C_i = D_i^{-1} A_{i,i+1}\), L has the blocks \(C_{i-1}^\top\) beside its diagonal. The
    factors do not depend on the right side: of a constant matrix they are computed once, outside of the loop of steps.
    """
    n = band.shape[1]
    count = -(-n // k)
    fill = count * k - n
    wide = jnp.pad(band, ((0, 0), (0, fill))).at[k, n:].set(1.0)
    rows = np.arange(count * k).reshape(count, k)
    inner = np.arange(k)

    def part(shift: int) -> Any:
        """Blocks (i, i + shift): entry (row, column) stands on the diagonal `column - row`."""
        across = inner[None, :] + shift * k - inner[:, None]
        return jnp.where(np.abs(across) <= k, wide[np.clip(across + k, 0, 2 * k)[None], rows[:, :, None]], 0.0)

    def eliminate(before: Any, given: Any) -> Any:
        diagonal, low, up = given
        left = diagonal - jnp.sum(low[:, :, None] * before[None], axis=1)
        held = dense_solve.factor(left, definite)
        across = jax.vmap(lambda column: dense_solve.back_substitute(held, column), 1, 1)(up)
        return across, (across, left)

    _, (across, left) = jax.lax.scan(eliminate, jnp.zeros((k, k), band.dtype), (part(0), part(-1), part(1)))
    kind = dense_solve.factor(left[0], definite)[0]
    pivots = jax.vmap(lambda block: dense_solve.factor(block, definite)[1])(left)

    def forward(before: Any, given: Any) -> Any:
        coupling, right = given  # that of the block before and this one
        found = right - jnp.sum(coupling * before[:, None], axis=0)
        return found, found

    def backward(after: Any, given: Any) -> Any:
        coupling, value = given
        found = value - jnp.sum(coupling * after[None], axis=1)
        return found, found

    def solve(b: Vector) -> Vector:
        right, none = jnp.pad(b, (0, fill)).reshape(count, k), jnp.zeros(k, b.dtype)
        below = jnp.concatenate([jnp.zeros_like(across[:1]), across[:-1]])
        _, reduced = jax.lax.scan(forward, none, (below, right))
        middle = jax.vmap(lambda data, row: dense_solve.back_substitute((kind, data), row))(pivots, reduced)
        _, found = jax.lax.scan(backward, none, (across, middle), reverse=True)
        return found.reshape(-1)[:n]

    return solve


def _conjugate_gradients(product: Product, b: Vector) -> Vector:
    """Conjugate gradients until what is left is rounding; NaN where the matrix is not positive definite."""
    n = b.shape[0]
    eps = jnp.finfo(b.dtype).eps

    def going(carry: Any) -> Any:
        _, _, _, size, count = carry
        return (size > (eps * eps) * jnp.dot(b, b)) & (count < 4 * n)

    def once(carry: Any) -> Any:
        x, r, d, size, count = carry
        image = product(d)
        curve = jnp.dot(d, image)
        length = jnp.where(curve > 0, size / curve, jnp.nan)
        x, r = x + length * d, r - length * image
        new = jnp.dot(r, r)
        return x, r, r + (new / size) * d, new, count + 1

    x = jnp.zeros_like(b)
    for _ in range(_ROUNDS):  # the residual that is carried along drifts from the true one
        r = b - product(x)
        x = jax.lax.while_loop(going, once, (x, r, r, jnp.dot(r, r), jnp.int32(0)))[0]
    return x

r"""Tridiagonal systems by elimination in order, from both ends of the matrix to its middle.

With \(c_i = A_{i,i+1}\), \(a_i = A_{i+1,i}\), the pivots are from the first row on and from the last row back

\[ p_i = d_i - \frac{a_{i-1}c_{i-1}}{p_{i-1}}, \qquad p'_j = d_j - \frac{c_j a_j}{p'_{j+1}}, \]

until one or two unknowns are left in the middle. Each pivot waits for the one before it, and the two eliminations do
not wait for each other: where a processor takes one number after another, both take as long as one. Without exchanges
of rows that is right for matrices near a positive definite one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

if TYPE_CHECKING:
    from holonomy.systems.tridiagonal import Tridiagonal

Vector = Float[Array, " n"]
Ends = Float[Array, "rows 2"]  # of a row and of the one as far from the other end
Both = Float[Array, "2"]


class Pivots(NamedTuple):
    """Of the rows before the middle, seen from both ends: the entries to the next row and back from it, and the inverse
    pivots; and of the one or two rows in the middle the pivots, with the entries beside them."""

    ahead: Ends
    back: Ends
    inverses: Ends
    middle: tuple[Array, ...]

    def solve(self, b: Vector) -> Vector:
        """The solution for a right-hand side."""
        count, n = self.inverses.shape[0], b.shape[0]

        def forward(before: Both, row: tuple[Both, Both, Both]) -> tuple[Both, Both]:
            right, inverse, back = row
            scaled = (right - before) * inverse
            return back * scaled, scaled

        taken, scaled = jax.lax.scan(forward, jnp.zeros(2, b.dtype), (_ends(b, count), self.inverses, self.back))
        inner = self._inner(b[count : n - count], taken)

        def backward(after: Both, row: tuple[Both, Both, Both]) -> tuple[Both, Both]:
            right, inverse, ahead = row
            found = right - (inverse * ahead) * after
            return found, found

        nearest = jnp.stack([inner[0], inner[-1]])
        _, found = jax.lax.scan(backward, nearest, (scaled, self.inverses, self.ahead), reverse=True)
        return jax.lax.optimization_barrier(jnp.concatenate([found[:, 0], jnp.stack(inner), found[::-1, 1]]))

    def _inner(self, b: Vector, taken: Both) -> list[Array]:
        if len(self.middle) == 1:
            return [(b[0] - taken[0] - taken[1]) / self.middle[0]]
        first, second, ahead, back = self.middle
        share = back / first
        last = (b[1] - taken[1] - share * (b[0] - taken[0])) / second
        return [(b[0] - taken[0] - ahead * last) / first, last]

    def over(self, diagonal: Vector) -> Vector:
        """Each pivot over its diagonal entry."""
        inner = jnp.stack(self.middle[:2])
        return jnp.concatenate([1.0 / self.inverses[:, 0], inner, 1.0 / self.inverses[::-1, 1]]) / diagonal


def pivots(matrix: Tridiagonal) -> Pivots:
    """The elimination of a matrix of at least three rows."""
    d, forth, back = matrix
    n = d.shape[0]
    count = (n - 1) // 2
    ahead, behind = _across(forth, back, count), _across(back, forth, count)

    def eliminate(before: Both, row: tuple[Both, Both, Both]) -> tuple[Both, Both]:
        diagonal, forth, back = row
        inverse = 1.0 / (diagonal - before)
        return (forth * back) * inverse, inverse

    taken, inverses = jax.lax.scan(eliminate, jnp.zeros(2, d.dtype), (_ends(d, count), ahead, behind))
    if n % 2:
        return Pivots(ahead, behind, inverses, (d[count] - taken[0] - taken[1],))
    first = d[count] - taken[0]
    second = d[count + 1] - taken[1] - back[count] * forth[count] / first
    return Pivots(ahead, behind, inverses, (first, second, forth[count], back[count]))


def _ends(x: Vector, count: int) -> Ends:
    """So many entries from the first on, and from the last back."""
    return jnp.stack([x[:count], x[::-1][:count]], axis=1)


def _across(first: Vector, second: Vector, count: int) -> Ends:
    """Entries of one array from the first on, and of another one from the last back."""
    return jnp.stack([first[:count], second[::-1][:count]], axis=1)

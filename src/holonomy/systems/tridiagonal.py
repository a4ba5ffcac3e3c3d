r"""Tridiagonal systems near a symmetric positive definite one.

Solutions are those of LAPACK's elimination from one end to the other (on graphics processors of the vendor's library):
one pass over three arrays, where the elimination by levels of `elimination` needs tables of indices, which take as much
memory as the numbers that they point to. Pivots are found by cyclic reduction: every second unknown is eliminated at
once, which leaves a tridiagonal system of half the size,

\[ d'_j = d_{2j+1} - \frac{a_{2j}c_{2j}}{d_{2j}} - \frac{c_{2j+1}a_{2j+1}}{d_{2j+2}}, \qquad
   c'_j = -\frac{c_{2j+1}c_{2j+2}}{d_{2j+2}}, \qquad a'_j = -\frac{a_{2j+1}a_{2j+2}}{d_{2j+2}}, \]

with \(c_i = A_{i,i+1}\), \(a_i = A_{i+1,i}\).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.types import Scalar


class Tridiagonal(NamedTuple):
    r"""A matrix by its diagonal and its entries \(A_{i,i+1}\) (`forth`) and \(A_{i+1,i}\) (`back`)."""

    diagonal: Float[Array, " n"]
    forth: Float[Array, " gaps"]
    back: Float[Array, " gaps"]

    def solve(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """The solution of A x = b."""
        none = jnp.zeros(1, b.dtype)
        below, above = jnp.concatenate([none, self.back]), jnp.concatenate([self.forth, none])
        return jax.lax.linalg.tridiagonal_solve(below, self.diagonal, above, b[:, None])[:, 0]

    @property
    def independence(self) -> Float[Array, " n"]:
        """Each pivot of cyclic reduction over its diagonal entry; not positive where rows depend on each other."""
        d, c, a = self
        pivots: list[Array] = []
        sizes: list[int] = []
        while d.shape[0] > 1:
            sizes.append(d.shape[0])
            more = 1 - d.shape[0] % 2  # an unknown that stands alone: each one that stays has two neighbours
            d, c, a = jnp.pad(d, (0, more), constant_values=1.0), jnp.pad(c, (0, more)), jnp.pad(a, (0, more))
            pivots.append(d[::2])
            inverses = 1.0 / d[::2]
            d = d[1::2] - a[::2] * c[::2] * inverses[:-1] - c[1::2] * a[1::2] * inverses[1:]
            c, a = -c[1:-1:2] * c[2::2] * inverses[1:-1], -a[1:-1:2] * a[2::2] * inverses[1:-1]
        for goes, size in zip(reversed(pivots), reversed(sizes), strict=True):
            both = jnp.stack([goes[:-1], d], axis=1).reshape(-1)
            d = jnp.concatenate([both, goes[-1:]])[:size]
        return d / self.diagonal

    @property
    def least(self) -> Scalar:
        """The least pivot over its diagonal entry, as of `elimination.Factors`."""
        return jnp.min(self.independence)

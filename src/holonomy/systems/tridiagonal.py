r"""Tridiagonal systems near a symmetric positive definite one.

Both solutions and pivots are found by cyclic reduction: every second unknown is eliminated at once, which leaves a
tridiagonal system of half the size,

\[ d'_j = d_{2j+1} - \frac{a_{2j}c_{2j}}{d_{2j}} - \frac{c_{2j+1}a_{2j+1}}{d_{2j+2}}, \qquad
   c'_j = -\frac{c_{2j+1}c_{2j+2}}{d_{2j+2}}, \qquad a'_j = -\frac{a_{2j+1}a_{2j+2}}{d_{2j+2}}, \]

with \(c_i = A_{i,i+1}\), \(a_i = A_{i+1,i}\). Without exchanges of rows that is right for matrices near a positive
definite one, and whole arrays at a time take a third of the time of LAPACK's elimination from one end to the other,
which solves what is left in the end. The elimination by levels of `elimination` does the same with tables of indices,
which take as much memory as the numbers that they point to.

Native code takes one number after another, and there elimination in order is the quickest. It begins at both ends of
the matrix and meets in the middle, so that two eliminations, which do not wait for each other, run at the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.systems.tridiagonal_in_order import Pivots, pivots
from holonomy.trace.repeat import rows_one_by_one
from holonomy.types import Flag, Scalar

__all__ = ["Pivots", "Tridiagonal"]

_REST = 400  # unknowns that are left to LAPACK: fewer levels are compiled sooner
_STRAIGHT = 32  # unknowns up to which native code is written out


class Tridiagonal(NamedTuple):
    r"""A matrix by its diagonal and its entries \(A_{i,i+1}\) (`forth`) and \(A_{i+1,i}\) (`back`)."""

    diagonal: Float[Array, " n"]
    forth: Float[Array, " gaps"]
    back: Float[Array, " gaps"]

    def solve(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """The solution of A x = b."""
        found = self.factor()
        return self._reduced(b) if isinstance(found, Tridiagonal) else found.solve(b)

    def factor(self) -> Tridiagonal | Pivots:
        """What solves with this matrix again and again; in XLA that is quickest with the matrix itself."""
        return pivots(self) if rows_one_by_one() and self.diagonal.shape[0] > _STRAIGHT else self

    def _reduced(self, b: Float[Array, " n"]) -> Float[Array, " n"]:
        """The solution by cyclic reduction."""
        if b.shape[0] <= _REST:
            none = jnp.zeros(1, b.dtype)
            below, above = jnp.concatenate([none, self.back]), jnp.concatenate([self.forth, none])
            return jax.lax.linalg.tridiagonal_solve(below, self.diagonal, above, b[:, None])[:, 0]
        more = 1 - b.shape[0] % 2  # an unknown that stands alone: each one that stays has two neighbours
        d = jnp.pad(self.diagonal, (0, more), constant_values=1.0)
        c, a, right = (jnp.pad(x, (0, more)) for x in (self.forth, self.back, b))
        # kept, or the compiler computes the entries of all levels before anew wherever they are read
        d, c, a, right, inverses = jax.lax.optimization_barrier((d, c, a, right, 1.0 / d[::2]))
        low, high = a[::2] * inverses[:-1], c[1::2] * inverses[1:]
        rest = Tridiagonal(d[1::2] - low * c[::2] - high * a[1::2], -high[:-1] * c[2::2], -low[1:] * a[1:-1:2])
        stay = rest._reduced(right[1::2] - low * right[:-1:2] - high * right[2::2])
        goes = inverses * (right[::2] - jnp.pad(a[1::2] * stay, (1, 0)) - jnp.pad(c[::2] * stay, (0, 1)))
        return jnp.append(jnp.stack([goes[:-1], stay], axis=1).reshape(-1), goes[-1])[: b.shape[0]]

    @property
    def independence(self) -> Float[Array, " n"]:
        """Each pivot of cyclic reduction over its diagonal entry; not positive, or NaN, where rows depend on each
        other."""
        d, c, a = self
        if isinstance(eliminated := self.factor(), Pivots):
            return eliminated.over(d)
        gone: list[Array] = []
        sizes: list[int] = []
        while d.shape[0] > 1:
            sizes.append(d.shape[0])
            more = 1 - d.shape[0] % 2  # an unknown that stands alone: each one that stays has two neighbours
            d, c, a = jnp.pad(d, (0, more), constant_values=1.0), jnp.pad(c, (0, more)), jnp.pad(a, (0, more))
            gone.append(d[::2])
            inverses = 1.0 / d[::2]
            d = d[1::2] - a[::2] * c[::2] * inverses[:-1] - c[1::2] * a[1::2] * inverses[1:]
            c, a = -c[1:-1:2] * c[2::2] * inverses[1:-1], -a[1:-1:2] * a[2::2] * inverses[1:-1]
        for goes, size in zip(reversed(gone), reversed(sizes), strict=True):
            both = jnp.stack([goes[:-1], d], axis=1).reshape(-1)
            d = jnp.concatenate([both, goes[-1:]])[:size]
        return d / self.diagonal

    def independent(self, least: float) -> Flag:
        """Whether every pivot of a symmetric matrix is above this part of its diagonal entry.

        Where no row has less on its diagonal than beside it, no pivot is smaller than the entry after it: each is at
        least its diagonal entry less the entry before it. That is seen without elimination, which is the rule for
        chains of like masses.
        """
        before, after = jnp.abs(jnp.pad(self.back, (1, 0))), jnp.abs(jnp.pad(self.forth, (0, 1)))
        rounding = self.diagonal.shape[0] * jnp.finfo(self.diagonal.dtype).eps
        room = self.diagonal * (1.0 + 8.0 * jnp.finfo(self.diagonal.dtype).eps) - before
        enough = jnp.maximum(least + 16.0 * rounding, 1e-3) * self.diagonal
        plain = jnp.all((room >= after) & (room > enough) & (self.diagonal > 0))
        return jax.lax.cond(plain, lambda _: jnp.bool_(True), lambda one: one.least > least, self)

    @property
    def least(self) -> Scalar:
        """The least pivot over its diagonal entry, as of `elimination.Factors`."""
        return jnp.min(self.independence)

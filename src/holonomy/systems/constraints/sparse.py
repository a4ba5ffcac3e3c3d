r"""Multipliers of many conditions, by products of their normals with vectors and the structure of these.

With N the normals and M the mass matrix, multipliers solve \(N M^{-1} N^\top\lambda = b\). The entries of that matrix
are read off its products with a few vectors of zeros and ones, which hold every entry once, and it is solved by
division, along a chain, or by the elimination of `holonomy.systems.elimination`. Where the mass matrix
couples more than blocks, the inverse has no zeros: then conjugate gradients solve to round-off, with products alone,
led by the matrix that the diagonal of M gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.sparse.linalg import bicgstab, cg
from jaxtyping import Array, Float

from holonomy.systems import lagrangian, structured_solve
from holonomy.systems.constraints.conditions import Held, all_equations
from holonomy.systems.constraints.structure import ConditionStructure
from holonomy.systems.dense_solve import back_substitute
from holonomy.systems.elimination import Elimination, Factors
from holonomy.systems.mass_structure import MassStructure
from holonomy.systems.tridiagonal import Tridiagonal
from holonomy.types import Flag, Number, Vector

if TYPE_CHECKING:
    from holonomy.systems.in_chart import Local
    from holonomy.systems.system import System

Values: TypeAlias = Float[Array, " conditions"]
Map: TypeAlias = Callable[[Any], Any]

_DIRECTION = 1e-10  # to which an iterative solve finds a correction of Newton's method
_ROUNDS = 3  # iterative solves go on from what is left so often


class Normals(NamedTuple):
    """Normals by their products: from velocities to the rates of the conditions, and from multipliers to forces."""

    push: Map
    pull: Map


class Mass(NamedTuple):
    """A mass matrix by its solves, and by division with its diagonal where its inverse is not sparse."""

    solve: Map
    near: Map | None


def structures(local: Local) -> tuple[MassStructure, ConditionStructure] | None:
    """The structures of mass matrix and conditions, where both are used."""
    mass = local.system.mass
    return None if mass is None or mass.conditions is None else (mass, mass.conditions)


def normals(held: Held, t: Number, y: Vector, gradient: bool = False) -> Normals:
    """The normals of the conditions, or the gradient of those on positions alone."""
    if gradient or not held.counts[1]:
        push = jax.linearize(lambda x: held.position(t, x), y)[1]
    else:
        push = jax.linearize(lambda u: held.rates(t, y, u), jnp.zeros_like(y))[1]
    turned = jax.linear_transpose(push, y)
    return Normals(push, lambda values: turned(values)[0])


def mass_at(local: Local, how: MassStructure, t: Number, y: Vector, w: Vector) -> Mass:
    """The mass matrix at a state."""
    product = lagrangian.mass_product(local.lagrangian, t, y, w)
    factored = structured_solve.factor(how, product, y, definite=True)
    if how.kind == "diagonal":  # solved with again and again: divided once
        inverse = back_substitute(factored, jnp.ones_like(y))
        return Mass(lambda b: b * inverse, None)
    near = None
    if how.conditions is not None and not how.conditions.direct:
        diagonal = structured_solve.diagonal(how, product, y)
        near = lambda b: b / diagonal  # noqa: E731
    return Mass(lambda b: back_substitute(factored, b), near)


class Coupling(NamedTuple):
    r"""The matrix \(N_1 M^{-1} N_0^\top\) of multipliers: its entries, on the diagonal and beside it, of \(A_{ij}\)
    and of \(A_{ji}\) for each pair (i, j); and its products, where its entries are those of a matrix near it."""

    how: ConditionStructure
    diagonal: Values
    forth: Float[Array, " entries"]
    back: Float[Array, " entries"]
    product: Map | None

    def solve(self, b: Values) -> Values:
        """A solution for corrections of Newton's method, of a matrix that need not be symmetric."""
        direct = self._solver(symmetric=False)
        if self.product is None:
            return direct(b)
        return bicgstab(self.product, b, tol=_DIRECTION, maxiter=10 * b.shape[0], M=direct)[0]

    def definite_solver(self, product: Map) -> Map:
        """Solves to round-off with a symmetric positive definite matrix of these products, differentiable by them."""
        fixed = jax.lax.stop_gradient((self.diagonal, self.forth, self.back))
        direct = Coupling(self.how, *fixed, None)._solver(symmetric=True)

        def led(multiplied: Map, b: Values) -> Values:
            x = jnp.zeros_like(b)
            for _ in range(_ROUNDS):
                x = x + cg(multiplied, b - multiplied(x), tol=1e-15, maxiter=4 * b.shape[0], M=direct)[0]
            return x

        exactly = led if self.product is not None else lambda _, b: direct(b)
        return lambda b: jax.lax.custom_linear_solve(product, b, exactly, symmetric=True)

    def _solver(self, symmetric: bool) -> Map:
        if self.how.kind == "separate":
            return lambda b: b / self.diagonal
        if self.how.kind == "chain":
            order = self.how.order
            matrix = Tridiagonal(self.diagonal, self.forth, self.back).factor()
            if order is None:
                return matrix.solve
            there, here = order.value, np.argsort(order.value)
            return lambda b: matrix.solve(b[there])[here]
        elimination, factors = self._eliminated(symmetric)
        return lambda b: elimination.solve(factors, b)

    def _eliminated(self, symmetric: bool) -> tuple[Elimination, Factors]:
        elimination = self.how.elimination
        assert elimination is not None
        if symmetric:
            return elimination, elimination.factor(self.diagonal, self.forth)
        return elimination, elimination.factor_general(self.diagonal, self.forth, self.back)

    def multiplied(self, x: Values) -> Values:
        """The product with a vector, from the entries."""
        if self.how.kind == "separate":
            return self.diagonal * x
        if self.how.kind == "chain":
            order = self.how.permutation
            u = x[order]
            found = self.diagonal * u + jnp.pad(self.forth * u[1:], (0, 1)) + jnp.pad(self.back * u[:-1], (1, 0))
            return jnp.zeros_like(x).at[order].set(found)
        assert self.how.pairs is not None
        row, column = self.how.pairs.value.T
        return (self.diagonal * x).at[row].add(self.forth * x[column]).at[column].add(self.back * x[row])

    @property
    def symmetric_part(self) -> Coupling:
        """Half the sum with the transposed matrix."""
        middle = 0.5 * (self.forth + self.back)
        return self._replace(forth=middle, back=middle)

    @property
    def independence(self) -> Values:
        """Each pivot over its diagonal entry, of a symmetric matrix; not positive, or NaN, where conditions depend on
        each other."""
        if self.how.kind == "separate":
            return (self.diagonal > 0).astype(self.diagonal.dtype)
        if self.how.kind == "chain":
            found = Tridiagonal(self.diagonal, self.forth, self.back).independence
            return found if self.how.order is None else found[np.argsort(self.how.order.value)]
        return self._eliminated(symmetric=True)[1].independence

    def independent(self, least: float) -> Flag:
        """Whether every pivot of a symmetric matrix is above this part of its diagonal entry."""
        if self.how.kind == "chain":
            return Tridiagonal(self.diagonal, self.forth, self.back).independent(least)
        return jnp.all(self.independence > least)


def coupling(how: ConditionStructure, ahead: Normals, mass: Mass, begin: Normals, like: Values) -> Coupling:
    """The matrix of multipliers, of normals at one state or at two."""
    near = mass.solve if mass.near is None else mass.near
    exact = None if mass.near is None else lambda u: ahead.push(mass.solve(begin.pull(u)))
    entries = _entries(how, lambda u: ahead.push(near(begin.pull(u))), like)
    return Coupling(how, *entries, exact)


def _entries(how: ConditionStructure, product: Map, like: Values) -> tuple[Array, Array, Array]:
    m = like.shape[0]
    if how.kind == "separate":
        none = jnp.zeros(0, like.dtype)
        return product(jnp.ones_like(like)), none, none
    if how.kind == "chain":
        order = how.permutation
        colour = np.arange(m) % 3
        seeds = np.zeros((3, m))
        seeds[colour, order] = 1.0
        found = jax.vmap(product)(jnp.asarray(seeds, like.dtype))
        found = found if how.order is None else found[:, order]
        # of each row the product with the vector that belongs to it, and to the rows after and before it
        own, after, before = (_chosen(found, (colour + d) % 3) for d in (0, 1, -1))
        return own, after[:-1], before[1:]
    assert how.pairs is not None
    colour, (row, column) = how.colours, how.pairs.value.T
    seeds = np.zeros((int(colour.max()) + 1, m))
    seeds[colour, np.arange(m)] = 1.0
    found = jax.vmap(product)(jnp.asarray(seeds, like.dtype))
    return found[colour, np.arange(m)], found[colour[column], row], found[colour[row], column]


def _chosen(rows: Array, which: np.ndarray) -> Array:
    """Of three rows at each place the one that is named, without a table of indices."""
    return jnp.where(which == 0, rows[0], jnp.where(which == 1, rows[1], rows[2]))


def strengths(how: ConditionStructure, rows: Normals, like: Vector) -> Vector:
    """How strongly the conditions act on each coordinate: the sums of the sizes of the entries of their normals."""
    return jnp.sum(jnp.abs(jax.vmap(rows.pull)(jnp.asarray(how.seeds("rows"), like.dtype))), axis=0)


def sizes(how: ConditionStructure, rows: Normals, like: Vector) -> Values:
    """The lengths of the normals."""
    return jnp.sqrt(jnp.sum(jax.vmap(rows.push)(jnp.asarray(how.seeds("columns"), like.dtype)) ** 2, axis=0))


class SparseBordered(NamedTuple):
    r"""\(\begin{pmatrix} M & -N^\top \\ N & 0\end{pmatrix}\) by the solves of its parts."""

    mass: Mass
    normals: Normals
    multipliers: Map

    def solve(self, force: Vector, rate: Values) -> tuple[Vector, Values]:
        r"""x and \(\mu\) with \(Mx - N^\top\mu = f\) and \(Nx = r\)."""
        free = self.mass.solve(force)
        found = self.multipliers(rate - self.normals.push(free))
        return free + self.mass.solve(self.normals.pull(found)), found


@eqx.filter_jit
def independence_at(system: System, t: Number, q: Vector, v: Vector) -> Values:
    """How independent of others each of many conditions is at a state."""
    local = system.local(q)
    both = structures(local)
    assert both is not None
    mass, rows = mass_at(local, both[0], t, q, v), normals(all_equations(local), t, q)
    return coupling(both[1], rows, mass, rows, jnp.zeros(both[1].total, q.dtype)).independence


def bordered_at(local: Local, held: Held, t: Number, y: Vector, w: Vector, gradient: bool = False) -> SparseBordered:
    """The system of mass and conditions at a state, with all normals or with those of positions alone."""
    both = structures(local)
    assert both is not None
    mass, rows = mass_at(local, both[0], t, y, w), normals(held, t, y, gradient)
    how = both[1].of_positions if gradient else both[1]
    like = jnp.zeros(held.counts[0] if gradient else held.count, y.dtype)
    matrix = coupling(how, rows, mass, rows, like)
    return SparseBordered(mass, rows, matrix.definite_solver(lambda u: rows.push(mass.solve(rows.pull(u)))))

r"""What a Lagrangian implies, exact by automatic differentiation.

For \(L(t,q,v)\): momentum \(p = \partial L/\partial v\), mass matrix \(M = \partial^2 L/\partial v^2\), and Lagrange's
equations \(M a = \partial L/\partial q - \partial_t p - (\partial p/\partial q)\,v + Q\). Nothing assumes that L is
quadratic in v or independent of t.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from holonomy.root_finding import Iterate, implicit, iterate
from holonomy.systems import structured_solve
from holonomy.systems.dense_solve import Factored, back_substitute, factor, solve
from holonomy.systems.mass_structure import MassStructure
from holonomy.trace.repeat import jacobian
from holonomy.types import Count, Flag, Matrix, Number, Scalar, Vector

Lagrangian = Callable[[Number, Vector, Vector], Scalar]
Force = Callable[[Number, Vector, Vector], Vector]
Solves = MassStructure | Callable[[Vector], Vector] | None
"""How the mass matrix is solved: by its structure, by a function from right-hand sides to solutions, or whole."""

_NEWTON = 30  # iterations of the inverse Legendre transform at most


def momentum(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Vector:
    r"""\(\partial L/\partial v\)."""
    return jax.grad(lagrangian, argnums=2)(t, q, v)


def mass_matrix(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Matrix:
    r"""\(\partial^2 L/\partial v^2\)."""
    return jacobian(lambda w: momentum(lagrangian, t, q, w), v)


def energy_function(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Scalar:
    r"""Jacobi's \(h = v\cdot\partial L/\partial v - L\), conserved where L does not name t."""
    value, slope = jax.value_and_grad(lagrangian, argnums=2)(t, q, v)
    return jnp.dot(slope, v) - value


def inertial_force(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Vector:
    r"""\(\partial L/\partial q - \partial_t p - (\partial p/\partial q)\,v\): what M a equals without other forces."""
    _, drift = jax.jvp(lambda s, x: momentum(lagrangian, s, x, v), (t, q), (jnp.ones_like(t), v))
    return jax.grad(lagrangian, argnums=1)(t, q, v) - drift


def factored_mass(
    lagrangian: Lagrangian, t: Number, q: Vector, v: Vector, definite: bool, solves: Solves = None
) -> Factored:
    """The mass matrix factored for `back_substitute`."""
    if solves is None:
        return factor(mass_matrix(lagrangian, t, q, v), definite)
    if isinstance(solves, MassStructure):
        return structured_solve.factor(solves, mass_product(lagrangian, t, q, v), v, definite)
    return "map", solves


def mass_product(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Callable[[Vector], Vector]:
    """The product of the mass matrix with a vector, without the matrix."""
    return lambda u: jax.jvp(lambda w: momentum(lagrangian, t, q, w), (v,), (u,))[1]


def acceleration(
    lagrangian: Lagrangian,
    force: Force | None,
    t: Number,
    q: Vector,
    v: Vector,
    definite: bool,
    solves: Solves = None,
) -> Vector:
    """Lagrange's equations solved for the acceleration."""
    if isinstance(solves, MassStructure) and solves.inert:
        right = jax.grad(lagrangian, argnums=1)(t, q, v)  # the momentum does not depend on t and q
    else:
        right = inertial_force(lagrangian, t, q, v)
    if force is not None:
        right = right + force(t, q, v)
    return back_substitute(factored_mass(lagrangian, t, q, v, definite, solves), right)


def velocity(
    lagrangian: Lagrangian,
    t: Number,
    q: Vector,
    p: Vector,
    guess: Vector,
    definite: bool,
    solves: Solves = None,
) -> Vector:
    r"""The inverse Legendre transform: v with \(\partial L/\partial v = p\), by Newton from a guess.

    One iteration is exact for quadratic L; a second cleans up round-off. Derivatives come from the implicit function
    theorem, not from the iteration.
    """

    def residual(w: Vector) -> Vector:
        return momentum(lagrangian, t, q, w) - p

    def correction(w: Vector) -> Vector:
        return back_substitute(factored_mass(lagrangian, t, q, w, definite, solves), residual(w))

    def judge(it: Iterate, step: Vector) -> tuple[Scalar, None, Flag]:
        size = jnp.max(jnp.abs(step))
        return size, None, ~((size > 0) & ((size < 0.5 * it.change) | (it.made < 1)))

    def find(start: Vector) -> tuple[Vector, Flag, Count]:
        last = iterate(correction, judge, jnp.subtract, start, _NEWTON)
        return last.z, last.done, last.made

    def solve_map(linear: Callable[[Vector], Vector], y: Vector) -> Vector:
        if solves is None:
            return solve(jax.jacfwd(linear)(jnp.zeros_like(y)), y, definite)
        if isinstance(solves, MassStructure):
            return back_substitute(structured_solve.factor(solves, linear, y, definite), y)
        return solves(y)

    return implicit(residual, find, guess, solve_map, inner=True)[0]

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
from holonomy.systems.dense_solve import solve
from holonomy.types import Count, Flag, Matrix, Number, Scalar, Vector

Lagrangian = Callable[[Number, Vector, Vector], Scalar]
Force = Callable[[Number, Vector, Vector], Vector]

_NEWTON = 30  # iterations of the inverse Legendre transform at most


def momentum(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Vector:
    r"""\(\partial L/\partial v\)."""
    return jax.grad(lagrangian, argnums=2)(t, q, v)


def mass_matrix(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Matrix:
    r"""\(\partial^2 L/\partial v^2\)."""
    return jax.jacfwd(lambda w: momentum(lagrangian, t, q, w))(v)


def energy_function(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Scalar:
    r"""Jacobi's \(h = v\cdot\partial L/\partial v - L\), conserved where L does not name t."""
    value, slope = jax.value_and_grad(lagrangian, argnums=2)(t, q, v)
    return jnp.dot(slope, v) - value


def inertial_force(lagrangian: Lagrangian, t: Number, q: Vector, v: Vector) -> Vector:
    r"""\(\partial L/\partial q - \partial_t p - (\partial p/\partial q)\,v\): what M a equals without other forces."""
    _, drift = jax.jvp(lambda s, x: momentum(lagrangian, s, x, v), (t, q), (jnp.ones_like(t), v))
    return jax.grad(lagrangian, argnums=1)(t, q, v) - drift


def acceleration(
    lagrangian: Lagrangian, force: Force | None, t: Number, q: Vector, v: Vector, definite: bool
) -> Vector:
    """Lagrange's equations solved for the acceleration."""
    right = inertial_force(lagrangian, t, q, v)
    if force is not None:
        right = right + force(t, q, v)
    return solve(mass_matrix(lagrangian, t, q, v), right, definite)


def velocity(lagrangian: Lagrangian, t: Number, q: Vector, p: Vector, guess: Vector, definite: bool) -> Vector:
    r"""The inverse Legendre transform: v with \(\partial L/\partial v = p\), by Newton from a guess.

    One iteration is exact for quadratic L; a second cleans up round-off. Derivatives come from the implicit function
    theorem, not from the iteration.
    """

    def residual(w: Vector) -> Vector:
        return momentum(lagrangian, t, q, w) - p

    def correction(w: Vector) -> Vector:
        return solve(mass_matrix(lagrangian, t, q, w), residual(w), definite)

    def judge(it: Iterate, step: Vector) -> tuple[Scalar, None, Flag]:
        size = jnp.max(jnp.abs(step))
        return size, None, ~((size > 0) & ((size < 0.5 * it.change) | (it.made < 1)))

    def find(start: Vector) -> tuple[Vector, Flag, Count]:
        last = iterate(correction, judge, jnp.subtract, start, _NEWTON)
        return last.z, last.done, last.made

    return implicit(residual, find, guess, lambda matrix, y: solve(matrix, y, definite))[0]

r"""The linear system of mass matrix and constraints, and the multipliers that solve it.

Accelerations a and multipliers \(\lambda\) of the conditions that are held solve the Karush-Kuhn-Tucker system

\[ \begin{pmatrix} M & -N^\top \\ N & 0 \end{pmatrix} \begin{pmatrix} a \\ \lambda \end{pmatrix}
   = \begin{pmatrix} f \\ -\dot r|_{a = 0} \end{pmatrix}. \]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.systems import lagrangian
from holonomy.systems.constraints.conditions import Constraints, Held, Normals, all_equations, hold
from holonomy.systems.constraints.sparse import SparseBordered, bordered_at, structures
from holonomy.systems.dense_solve import Factored, back_substitute, factor, solve
from holonomy.types import AnyArray, Number, Vector

if TYPE_CHECKING:
    from holonomy.systems.in_chart import Local


class Bordered(NamedTuple):
    r"""A factorisation of \(\begin{pmatrix} M & -N^\top \\ N & 0\end{pmatrix}\)."""

    mass: Factored
    across: Float[Array, "n r"] | None
    schur: Factored | None
    normals: Normals


def border(
    mass: Float[Array, "n n"], normals: Normals, definite: bool, idle: Array | None = None, pulls: Normals | None = None
) -> Bordered:
    r"""Factor the system of mass and constraints; `definite` promises a positive definite mass matrix.

    With `idle` rows, \(\operatorname{diag}(\mathrm{idle})\) stands in place of the zero: an idle row is zero, and
    its multiplier is the row's right-hand side. With `pulls`, multipliers act along these rather than along normals.
    """
    pulls, symmetric = (normals, True) if pulls is None else (pulls, False)
    if definite:
        factored = factor(mass, definite=True)
        across = jax.vmap(lambda row: back_substitute(factored, row))(pulls).T
        return Bordered(factored, across, factor(with_idle(normals @ across, idle), definite=symmetric), normals)
    r = normals.shape[0]
    whole = jnp.concatenate(
        [
            jnp.concatenate([mass, -pulls.T], axis=1),
            jnp.concatenate([normals, with_idle(jnp.zeros((r, r), mass.dtype), idle)], axis=1),
        ]
    )
    return Bordered(factor(whole, definite=False), None, None, normals)


def with_idle(matrix: Float[Array, "r r"], idle: Array | None) -> Float[Array, "r r"]:
    """A matrix of multipliers with the equations of idle rows."""
    return matrix if idle is None else matrix + jnp.diag(idle)


def bordered_solve(bordered: Bordered | SparseBordered, force: Vector, rate: Array) -> tuple[Vector, Array]:
    r"""x and \(\mu\) with \(Mx - N^\top\mu = f\) and \(Nx = r\)."""
    if isinstance(bordered, SparseBordered):
        return bordered.solve(force, rate)
    if bordered.schur is None or bordered.across is None:
        both = back_substitute(bordered.mass, jnp.concatenate([force, rate]))
        return both[: force.size], both[force.size :]
    free = back_substitute(bordered.mass, force)
    multipliers = back_substitute(bordered.schur, rate - bordered.normals @ free)
    return free + bordered.across @ multipliers, multipliers


def accelerate(local: Local, held: Held, t: Number, y: Vector, w: Vector) -> tuple[Vector, Array]:
    """Accelerations and the multipliers of the held conditions."""
    force = lagrangian.inertial_force(local.lagrangian, t, y, w)
    if local.applied is not None:
        force = force + local.applied(t, y, w)
    if structures(local) is not None:
        bordered = bordered_at(local, held, t, y, w)
    else:
        mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
        bordered = border(mass, held.normals(t, y), local.definite, held.idle, held.pulls(t, y, w))
    return bordered_solve(bordered, force, -held.bias(t, y, w))


def multipliers(local: Local, t: Number, y: Vector, w: Vector) -> Array:
    """The multipliers of all conditions, walls last; of least norm where they are not unique."""
    held = hold(local, t, y, w)
    assert held is not None  # asked only of systems with conditions
    return with_sliding(held, t, y, w, spread(local, held, t, y, accelerate(local, held, t, y, w)[1]))


def spread(local: Local, held: Held, t: Number, y: Vector, values: Array) -> Array:
    r"""Multipliers of all conditions, of least norm, that give the same force as those of the held ones.

    With all normals a combination \(N = B N_h\) of the held ones, \(\lambda = B(B^\top B)^{-1}\lambda_h\).
    """
    values, pushes = held.apart(values)
    if held.pick is None:
        return jnp.concatenate([values, pushes]) if held.walls else values
    few = Held(local, held.pick, held.equations).normals(t, y)
    every = all_equations(local).normals(t, y)
    gram = factor(few @ few.T, definite=True)
    combination = jax.vmap(lambda row: back_substitute(gram, few @ row))(every)
    least = combination @ solve(combination.T @ combination, values, definite=True)
    return jnp.concatenate([least, pushes]) if held.walls else least


def with_sliding(held: Held, t: Number, y: Vector, w: Vector, values: Array) -> Array:
    """Multipliers of all conditions, the tangential forces of contacts that slide filled in."""
    given = held.local.system.constraints
    touch, friction = given.touch, given.walls.friction
    if not held.walls or touch is None or touch.sticking is None:
        return values
    c, total = given.facing[0], given.equations.total
    of_equations, pushes, kept = jnp.split(values, [total, total + c])
    sliding = -(given.of_near(friction.coefficients) * pushes)[:, None] * held.sliding(t, y, w)
    forces = jnp.where(touch.sticking[:, None], kept.reshape(c, friction.dim), sliding)
    return jnp.concatenate([of_equations, pushes, forces.reshape(-1)])


def of_all_walls(given: Constraints, values: Array) -> Array:
    """Multipliers of all conditions, where those of many walls are only known of the ones that are looked at."""
    if given.near is None:
        return values
    m, (c, r), dim = given.equations.total, given.facing, given.walls.friction.dim
    of_equations, pushes, ratchets, tangential = jnp.split(values, [m, m + c, m + c + r])
    parts: list[AnyArray] = [of_equations, given.everywhere(pushes), ratchets]
    if dim:
        parts.append(given.everywhere(tangential.reshape(c, dim)).reshape(-1))
    return jnp.concatenate(parts)

r"""What a momentum adds: \(\xi = -A\dot r + \Gamma(r)p\), and the rate of change of p.

Let \(s_a(r)\) span the directions of the algebra that the constraints leave free, and \(\mu = \partial l/\partial\xi =
K_{\xi\xi}\xi + K_{\xi r}\dot r\). Then \(p_a = \langle\mu, s_a\rangle\) and \(\dot p_a = \langle\mu, [\xi, s_a] +
\dot s_a\rangle\): constraint forces do no work along \(s_a\). Without constraints \(s_a = e_a\), and this is
\(\dot p = \mathrm{ad}^*_\xi p\), the conservation of momentum in space.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion.arrays import Algebra, Row, Shape
from holonomy.locomotion.local_form import connection_at
from holonomy.locomotion.mover import Mover


def momentum_dim(mover: Mover) -> int:
    """How many components of momentum the mover can have."""
    if not mover.inertial:
        return 0
    return mover.lie.dim - _constraint_count(mover)


def _constraint_count(mover: Mover) -> int:
    if mover.conditions is None:
        return 0
    return jax.eval_shape(mover.conditions, jax.ShapeDtypeStruct((mover.shape_dim,), float)).shape[0]


def free_directions(mover: Mover, r: Shape) -> Float[Array, "dim k"]:
    """A basis of the directions that the constraints leave free, smooth in the shape.

    One free direction is the generalised cross product of the constraints' rows, which vanishes nowhere; several are
    the projections of the last basis vectors of the algebra.
    """
    dim = mover.lie.dim
    if mover.conditions is None:
        return jnp.eye(dim)
    rows = mover.conditions(r)[:, :dim]
    count = rows.shape[0]
    if dim - count == 1:
        minors = [(-1.0) ** j * jnp.linalg.det(jnp.delete(rows, j, axis=1)) for j in range(dim)]
        direction = jnp.stack(minors)
        return (direction / jnp.sqrt(direction @ direction))[:, None]
    last = jnp.asarray(np.eye(dim)[:, count:])
    return last - rows.T @ jnp.linalg.solve(rows @ rows.T, rows @ last)


def drift(mover: Mover, r: Shape, rate: Shape, p: Row) -> tuple[Algebra, Row]:
    r"""\(\Gamma(r)p\) and \(\dot p\)."""
    dim = mover.lie.dim
    form = mover.form(r)
    basis, basis_rate = jax.jvp(lambda x: free_directions(mover, x), (r,), (rate,))
    inertia = form[:dim, :dim]
    gained = basis @ jnp.linalg.solve(basis.T @ inertia @ basis, p)
    xi = gained - connection_at(mover, r) @ rate
    mu = inertia @ xi + form[:dim, dim:] @ rate
    turning = jax.vmap(lambda s: mover.lie.bracket(xi, s), 1, 1)(basis)
    return gained, (turning + basis_rate).T @ mu

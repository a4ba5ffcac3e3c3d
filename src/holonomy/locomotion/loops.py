"""Holonomy around a loop: of a mover, of a space, of a metric."""

from __future__ import annotations

from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from holonomy.geometry.metric import Metric, christoffel
from holonomy.locomotion import compiled
from holonomy.locomotion.arrays import Algebra, Connection, Row, Shape, Table
from holonomy.locomotion.gait import Gait, Loop, as_gait
from holonomy.locomotion.groups import Isometries
from holonomy.locomotion.local_form import curvature_at
from holonomy.locomotion.mover import Mover
from holonomy.locomotion.perform import perform
from holonomy.locomotion.reconstruct import NODES, STAGES, WEIGHTS
from holonomy.spaces import SO, Hyperbolic, Sphere
from holonomy.types import AnyArray, ArrayLike, Count, Scalar, Unchecked


def holonomy(connection: Mover | Sphere | Hyperbolic | Metric | Unchecked, loop: Loop) -> AnyArray:
    r"""What comes back changed when a loop is closed: the holonomy of a connection around it.

    `loop` is a `Gait`; a smooth function on [0, 1] that ends where it begins; a list of pieces, each a function on
    [0, 1] or an array of points joined by lines, that begins where the one before ends; or an array of points joined by
    lines.

    - A `Mover`: the element of its group that the loop of shapes moves it by, \(\dot g = -gA(r)\dot r\), g(0) the
      identity.
    - `Sphere(n)` or `Hyperbolic(n)`: the loop is in the space, and the result is the matrix of the isometry that takes
      a tangent vector at its start to the same vector after parallel transport around it. Points of an array are joined
      by geodesics. It is the rolling of a plane on the space, a connection with the isometries as its group.
    - A metric, a function of the coordinates to a matrix: parallel transport in these coordinates. The group is the
      rotations of an orthonormal frame.

    One integration serves all: it stays on the group, so that a transported vector keeps its length to round-off.
    """
    gait = as_gait(loop)
    match connection:
        case Mover():
            return perform(connection, gait).element
        case Sphere() | Hyperbolic():
            found = perform(transport_mover(connection), gait)
            return np.linalg.inv(np.asarray(found.element).reshape(connection.n + 1, connection.n + 1))
        case _ if callable(connection):
            return _of_metric(cast("Metric", connection), gait)
        case _:
            raise ValueError(
                "holonomy takes a Mover, Sphere(n), Hyperbolic(n) or a metric, a function of coordinates to a matrix, "
                f"but got {connection!r}."
            )


def transport_mover(space: Sphere | Hyperbolic) -> Mover:
    r"""Parallel transport on a space as a connection: shapes are points, \(g^{-1}\) carries tangent vectors along.

    The isometry with \(\dot gg^{-1} = \pm(\dot x x^\top - x\dot x^\top)\eta/r^2\) moves the start along the curve and
    its tangent vectors parallel.
    """
    group = Isometries(space)
    eta = np.append(np.ones(space.n), group.sign)
    upper = np.triu_indices(space.n, 1)

    def along(x: Shape, rate: Shape) -> Algebra:
        x, rate = jax.jvp(lambda y: _central(y, eta, group.sign, space.radius), (x,), (rate,))
        turn = group.sign * (jnp.outer(rate, x * eta) - jnp.outer(x, rate * eta)) / space.radius**2
        return jnp.concatenate([space.radius * turn[:-1, -1], turn[upper[1], upper[0]]])

    def connection(x: Shape) -> Connection:
        return jax.vmap(lambda e: along(x, e), out_axes=1)(jnp.eye(space.n + 1))

    return Mover.from_connection(connection, group, space.n + 1)


def _central(x: Shape, eta: np.ndarray, sign: float, radius: float | Scalar) -> Row:
    """The point of the space on the ray through x: straight lines become geodesics."""
    return radius * x / jnp.sqrt(sign * jnp.sum(x * x * jnp.asarray(eta)))


def _frame(metric: Metric, q: Shape) -> Table:
    """An orthonormal frame, as columns."""
    return jnp.linalg.inv(jnp.linalg.cholesky(metric(q))).T


def _of_metric(metric: Metric, gait: Gait) -> AnyArray:
    n = gait.shape_dim
    group = SO(n) if n > 1 else None
    if group is None:
        raise ValueError("A line has no holonomy: parallel transport needs at least two coordinates.")

    def connection(q: Shape) -> Connection:
        frame, slope = _frame(metric, q), jax.jacfwd(lambda x: _frame(metric, x))(q)
        gamma = christoffel(metric, q)  # [i, j, k]
        turning = jnp.linalg.solve(frame, (slope + jnp.einsum("ijk,kb->ibj", gamma, frame)).reshape(n, n * n))
        return -jax.vmap(group.vee, 2, 1)(turning.reshape(n, n, n))

    mover = Mover.from_connection(connection, group, {f"q{i + 1}": "angle" for i in range(n)})
    turn = np.asarray(perform(mover, gait).element).reshape(n, n).T
    first, last = (np.asarray(_frame(metric, gait.path(jnp.asarray(s)))) for s in (0.0, 1.0))
    return last @ turn @ np.linalg.inv(first)


def curvature_integral(mover: Mover, gait: Loop, centre: ArrayLike | None = None) -> AnyArray:
    r"""\(-\iint B\) over the cone from a point to the loop, an element of the algebra.

    For a commutative group it is the displacement, by Stokes's theorem; for other groups it is the displacement of a
    small loop up to terms of third order in its size. `centre` is the tip of the cone, by default the mean of the loop.
    """
    loop = as_gait(gait)
    steps = loop.path.pieces * max(1, -(-16 // loop.path.pieces))
    tip = _middle(loop) if centre is None else np.asarray(centre, float)
    rays, last = 1, None
    while True:
        found = np.asarray(compiled.call(_cone, mover, loop, tip, np.int64(steps), np.int64(rays)))
        if last is not None and (np.abs(found - last).max() <= 1e-13 * (1e-3 + np.abs(found).max()) or rays >= 64):
            return found
        last, steps, rays = found, 2 * steps, 2 * rays


def _middle(gait: Gait) -> np.ndarray:
    return np.mean([np.asarray(gait.path(jnp.asarray(s))) for s in (np.arange(32) + 0.5) / 32], axis=0)


def _cone(mover: Mover, gait: Gait, tip: Shape, steps: Count, rays: Count) -> Algebra:

    def inside(index: Array, total: Row) -> Row:
        i, j = index // rays, index % rays

        def at(node: Array) -> Row:
            s = (i + jnp.asarray(NODES)[node // STAGES]) / steps
            u = (j + jnp.asarray(NODES)[node % STAGES]) / rays
            r, slope = jax.jvp(gait.path, (s,), (jnp.ones_like(s),))
            b = curvature_at(mover, tip + u * (r - tip))
            weight = jnp.asarray(WEIGHTS)[node // STAGES] * jnp.asarray(WEIGHTS)[node % STAGES] / (steps * rays)
            return weight * u * jnp.einsum("kij,i,j->k", b, r - tip, slope)

        return total - jnp.sum(jax.lax.map(at, jnp.arange(STAGES**2)), axis=0)

    return jax.lax.fori_loop(0, steps * rays, inside, jnp.zeros(mover.lie.dim))

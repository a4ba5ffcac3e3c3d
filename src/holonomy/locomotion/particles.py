"""Particles in a space, with the momentum of its isometries zero."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion.arrays import Algebra, Form, Row, Shape, Table
from holonomy.locomotion.drag import FormFunction
from holonomy.locomotion.groups import Group, GroupSpace, Isometries, LieGroup, Translations, as_group
from holonomy.spaces import SE2, SE3, AbstractSpace, Euclidean, Hyperbolic, Sphere
from holonomy.types import ArrayFunction, Numbers


def particle_form(
    places: ArrayFunction, masses: Numbers, space: AbstractSpace, group: Group | None
) -> tuple[FormFunction, Group]:
    r"""The kinetic energy of particles at \(gX_i(r)\), and the group of the isometries g."""
    chosen = _isometries(space) if group is None else group
    lie = as_group(chosen)
    signs = np.ones(space.point_dim)
    if isinstance(space, Hyperbolic):
        signs[-1] = -1.0

    def form(r: Shape) -> Form:
        points = jnp.asarray(places(r), float)
        weights = jnp.broadcast_to(jnp.asarray(masses, float), (points.shape[0],))
        if points.shape[1] != space.point_dim:
            raise ValueError(
                f"places returns rows of length {points.shape[1]}, but a point of {space!r} has {space.point_dim}."
            )

        def velocities(z: Row) -> Float[Array, "particles d"]:
            moving = jax.jvp(lambda x: jnp.asarray(places(x), float), (r,), (z[lie.dim :],))[1]
            return moving + _carried(lie, z[: lie.dim], points)

        rows = jax.vmap(velocities)(jnp.eye(lie.dim + r.shape[0]))
        return jnp.einsum("p,d,apd,bpd->ab", weights, jnp.asarray(signs), rows, rows)

    return form, chosen


def _isometries(space: AbstractSpace) -> Group:
    match space:
        case Euclidean(n=1):
            return space
        case Euclidean(n=2):
            return SE2()
        case Euclidean(n=3):
            return SE3()
        case Sphere() | Hyperbolic():
            return Isometries(space)
        case _:
            raise ValueError(
                f"from_masses knows the isometries of Euclidean(1, 2 or 3), Sphere and Hyperbolic, not of {space!r}."
            )


def _carried(lie: LieGroup, xi: Algebra, points: Float[Array, "particles d"]) -> Float[Array, "particles d"]:
    """The velocities of points that are carried along at the body velocity xi."""
    match lie:
        case Translations():
            return jnp.broadcast_to(xi, points.shape)
        case GroupSpace(space=SE2() | SE3() as space):
            matrix: Table = space.hat(xi)[:-1]
            return points @ matrix[:, :-1].T + matrix[None, :, -1]
        case GroupSpace(space=space):
            return points @ space.hat(xi).T
        case Isometries():
            return points @ lie.hat(xi).T
        case _:
            raise ValueError(f"Points are not moved by {lie!r}.")

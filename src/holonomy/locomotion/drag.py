"""Bodies without inertia in a viscous fluid, from their parts and the resistance of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.locomotion.arrays import Algebra, Element, Form, Row, Shape, Table
from holonomy.locomotion.groups import GroupSpace, LieGroup, Translations
from holonomy.spaces import SE2
from holonomy.types import ArrayFunction, Number, Numbers

FormFunction: TypeAlias = Callable[[Shape], Form]


def link(length: Number, drag: Number = 1.0, drag_ratio: Number = 2.0) -> Float[Array, "3 3"]:
    r"""The resistance of a straight slender link in the plane, about its centre, by resistive force theory.

    Drag \(k_t\) per length along the link and \(k_n = k_t\cdot\)`drag_ratio` across it give
    \(\mathrm{diag}(k_tl, k_nl, k_nl^3/12)\).
    """
    size, along = jnp.asarray(length, float), jnp.asarray(drag, float)
    across = along * jnp.asarray(drag_ratio, float)
    return jnp.diag(jnp.stack([along * size, across * size, across * size**3 / 12.0]))


def ball(radius: Number, viscosity: Number = 1.0, dim: int = 1) -> Float[Array, "dim dim"]:
    r"""Stokes's resistance \(6\pi\mu a\) of a ball to translation; with ``dim=6``, on SE(3), also \(8\pi\mu a^3\) to
    rotation."""
    a, mu = jnp.asarray(radius, float), jnp.asarray(viscosity, float)
    if dim == 6:
        return jnp.diag(jnp.concatenate([jnp.full(3, 6 * jnp.pi * mu * a), jnp.full(3, 8 * jnp.pi * mu * a**3)]))
    return 6.0 * jnp.pi * mu * a * jnp.eye(dim)


def oseen(places: Float[Array, "balls d"], radii: Float[Array, " balls"], viscosity: Number = 1.0) -> Table:
    r"""The resistance of balls that disturb each other: the inverse of the mobility with Oseen's tensor
    \((1 + \hat x\hat x^\top)/(8\pi\mu|x|)\) between different balls."""
    count, d = places.shape
    mu = jnp.asarray(viscosity, float)
    apart = places[:, None, :] - places[None, :, :]
    one = jnp.eye(count)
    distance = jnp.sqrt(jnp.sum(apart**2, axis=-1) + one)  # 1 on the diagonal, where it is not used
    along = apart[..., :, None] * apart[..., None, :] / (distance**2)[..., None, None]
    mutual = (jnp.eye(d)[None, None] + along) * ((1.0 - one) / (8.0 * jnp.pi * mu * distance))[..., None, None]
    own = (one / (6.0 * jnp.pi * mu * radii)[None, :])[..., None, None] * jnp.eye(d)[None, None]
    mobility = jnp.swapaxes(mutual + own, 1, 2).reshape(count * d, count * d)
    return jnp.linalg.inv(mobility)


def drag_form(
    places: ArrayFunction,
    resistances: Numbers | ArrayFunction,
    group: LieGroup,
    n: int,
    flow: ArrayFunction | None,
    dissipation: ArrayFunction | None,
) -> FormFunction:
    r"""K(r) with \(\frac12(\xi,\dot r)^\top K\,(\xi,\dot r)\) half the power dissipated.

    A part at h(r) in the body's frame moves, in its own frame, at \(\mathrm{Ad}_{h^{-1}}\xi + h^{-1}\dot h\).
    """
    dim = group.dim
    if not isinstance(group, (Translations, GroupSpace)):
        raise ValueError(
            "from_drag places parts in the group itself, which is SE2, SE3, SO3 or a Euclidean space; "
            f"{group!r} is none of these."
        )

    def element(row: Row) -> Element:
        if row.shape[0] == group.identity.shape[0]:
            return row
        if isinstance(group, GroupSpace) and isinstance(group.space, SE2) and row.shape == (3,):
            return group.space.from_pose(row)
        raise ValueError(
            f"places returns rows of length {row.shape[0]}, but an element of the group is an array of length "
            f"{group.identity.shape[0]}" + (" or (x, y, angle)" if dim == 3 else "") + "."
        )

    def velocities(r: Shape, xi: Algebra, rate: Shape) -> Float[Array, "parts dim"]:
        h, moving = jax.jvp(lambda x: jax.vmap(element)(_rows(places(x))), (r,), (rate,))
        if isinstance(group, Translations):
            return moving + xi[None, :]
        space = group.space
        carried = jax.vmap(lambda a: space.adjoint(space.inverse(a), xi))(h)
        return carried + jax.vmap(space.body_velocity)(h, moving)

    def form(r: Shape) -> Form:
        base = jnp.eye(dim + n)
        slip = jax.vmap(lambda e: velocities(r, e[:dim], e[dim:]))(base)  # (dim + n, parts, dim)
        if flow is not None:
            slip = slip.at[dim:].add(-jnp.moveaxis(jnp.asarray(flow(r), float), 2, 0))
        count = slip.shape[1]
        matrix = jnp.asarray(resistances(r) if callable(resistances) else resistances, float)
        flat = slip.reshape(dim + n, count * dim)
        if matrix.shape == (count, dim, dim):
            drags = jnp.einsum("pab,mpb->mpa", matrix, slip).reshape(dim + n, count * dim)
        elif matrix.shape == (count * dim, count * dim):
            drags = flat @ matrix.T
        else:
            raise ValueError(
                f"resistances has shape {matrix.shape}, but {count} parts in a group of dimension {dim} need "
                f"({count}, {dim}, {dim}), or ({count * dim}, {count * dim}) for all together."
            )
        whole = flat @ drags.T
        if dissipation is not None:
            whole = whole.at[dim:, dim:].add(jnp.asarray(dissipation(r), float))
        return 0.5 * (whole + whole.T)

    return form


def _rows(places: Numbers) -> Table:
    rows = jnp.asarray(places, float)
    if rows.ndim != 2:
        raise ValueError(f"places returns one row for each part, but its value has shape {np.shape(rows)}.")
    return rows

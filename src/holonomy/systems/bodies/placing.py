"""Where bodies are and how fast: shapes put into a space by its exponential map, moved by isometries."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import AbstractSpace
from holonomy.types import Number, PointLike


def placed(
    space: AbstractSpace, shape: PointLike, at: PointLike | None = None, **isometry: Number
) -> Float[Array, "vertices d"]:
    r"""The points \(\exp_x(E\,y_i)\) of a shape \(y_i\in R^{\dim M}\), E an orthonormal frame at x.

    **Arguments:** `shape`, (vertices, dim), what builders return; `at`, the point x, the origin of the space unless
    given; `isometry`, parameters of isometries by name, applied afterwards in the order in which they are written, such
    as ``rotate_xy=0.3, boost_x=2.0``.
    """
    shape = np.asarray(shape, float)
    if shape.ndim != 2 or shape.shape[1] != space.dim:
        raise ValueError(f"A shape in {space!r} is an array (vertices, {space.dim}); got shape {shape.shape}.")
    x = space.origin if at is None else space.checked_point(at, "at")
    frame = space.frame(x) @ jnp.linalg.inv(jnp.linalg.cholesky(space.metric(x))).T
    points = jax.vmap(lambda y: space.exp(x, frame @ y))(jnp.asarray(shape))
    flows = space.isometries()
    for name, amount in isometry.items():
        _refuse_unknown(space, name, list(flows))
        points = jax.vmap(lambda p, flow=flows[name], s=amount: flow(s, p))(points)
    return points


def killing_velocities(space: AbstractSpace, points: PointLike, **parts: Number) -> Float[Array, "vertices d"]:
    """The velocities of a combination of Killing fields at points, such as ``boost_x=1.0, rotate_yz=0.5``."""
    points = jnp.asarray(points, float)
    fields = space.killing()
    total = jnp.zeros_like(points)
    for name, amount in parts.items():
        _refuse_unknown(space, name, list(fields))
        total = total + amount * jax.vmap(fields[name])(points)
    return total


def _refuse_unknown(space: AbstractSpace, name: str, known: list[str]) -> None:
    if name not in known:
        said = ", ".join(known) if known else "none are known"
        raise ValueError(f"{space!r} has no Killing field {name!r}; its fields are {said}.")

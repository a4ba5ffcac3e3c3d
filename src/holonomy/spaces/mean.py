"""Means of points of a curved space."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.spaces import validation
from holonomy.types import ArrayLike, Count

if TYPE_CHECKING:
    from holonomy.spaces.base import AbstractSpace
    from holonomy.types import PointLike

_DESCENT_STEPS = 60
_NEWTON_STEPS = 3


def frechet_mean(space: AbstractSpace, points: PointLike, weights: PointLike | None) -> Float[Array, " point"]:
    r"""A zero of the mean log, \(\sum_i w_i \log_m x_i = 0\); see `AbstractSpace.mean`.

    Descent, \(m \leftarrow \exp_m\sum_i w_i\log_m x_i\), comes near; Newton's method in the chart at the present point
    ends it at round-off. Only the Newton steps are differentiated: they carry exact derivatives of the result.
    """
    return _search(space, *_checked(space, points, weights))


@eqx.filter_jit
def _search(
    space: AbstractSpace, points: Float[Array, "k point"], weights: Float[Array, " k"]
) -> Float[Array, " point"]:
    weights = weights / jnp.sum(weights)

    def pull(m: Float[Array, " point"], xs: Array, ws: Array) -> Float[Array, " point"]:
        return jnp.sum(ws[:, None] * jax.vmap(space.log, in_axes=(None, 0))(m, xs), axis=0)

    fixed, fixed_weights = jax.lax.stop_gradient((points, weights))
    apart = jax.vmap(lambda m: jnp.sum(fixed_weights * jax.vmap(space.distance, in_axes=(None, 0))(m, fixed) ** 2))
    start = fixed[jnp.argmin(apart(fixed))]

    def descend(_: Count, m: Float[Array, " point"]) -> Float[Array, " point"]:
        return space.exp(m, space.tangent(m, pull(m, fixed, fixed_weights)))

    m = jax.lax.stop_gradient(jax.lax.fori_loop(0, _DESCENT_STEPS, descend, start))
    for _ in range(_NEWTON_STEPS):
        m = _newton(space, m, lambda x: pull(x, points, weights))
    return m


def _newton(space: AbstractSpace, m: Array, pull: Callable[[Array], Array]) -> Array:
    def local(y: Array) -> Array:
        x = space.chart(m, y)
        force = pull(x)
        return jax.jvp(lambda p: space.coordinates(m, p), (x,), (force,))[1]

    zero = jnp.zeros(space.dim, m.dtype)
    return space.chart(m, -jnp.linalg.solve(jax.jacfwd(local)(zero), local(zero)))


def _checked(space: AbstractSpace, points: ArrayLike, weights: ArrayLike | None) -> tuple[Array, Array]:
    points = validation.as_array(points)
    if points.ndim != 2 or points.shape[0] == 0 or points.shape[1] != space.point_dim:
        raise ValueError(
            f"mean needs one or more points as rows of an array of shape (k, {space.point_dim}), but got shape "
            f"{points.shape}."
        )
    weights = jnp.ones(points.shape[0], points.dtype) if weights is None else validation.as_array(weights)
    if weights.shape != points.shape[:1]:
        raise ValueError(f"mean got {points.shape[0]} points but weights of shape {weights.shape}; pass one per point.")
    if validation.known(points, weights, space):
        values = np.asarray(weights)
        if not (np.all(np.isfinite(values)) and np.all(values >= 0) and values.sum() > 0):
            raise ValueError(f"mean needs weights, none negative and not all zero, but got {validation.show(values)}.")
        with jax.ensure_compile_time_eval():
            for i, x in enumerate(points):
                space.checked_point(x, f"points[{i}]")
    return points, weights

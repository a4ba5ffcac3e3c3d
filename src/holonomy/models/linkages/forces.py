"""Tensions of the rods, and inverse kinematics for dragging a hinge."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from holonomy.models.linkages.routes import stretches
from holonomy.models.linkages.surface import Hinges, Point, Surface, Vector, solve_many
from holonomy.spaces import embedded as em
from holonomy.systems.dense_solve import solve
from holonomy.types import AnyArray, Scalar

_PULLS = 40  # iterations: the damping falls from 1e-2 to round-off in 16, the others are for steps that fail


def tensions(surface: Surface, x: Point, v: Vector, gravity: Scalar) -> Float[Array, " rods"]:
    r"""The tension of each rod: \(-\lambda\) of \(M\ddot p = f + N^\top\lambda\), N the rods' directions."""
    hinges, velocity = jax.jvp(surface.hinges, (x,), (v,))

    def stretch(h: Hinges) -> Array:
        return stretches(surface.base, h)

    normals = jax.jacfwd(stretch)(hinges).reshape(surface.rods, -1)
    bias = jax.jvp(lambda h: jax.jvp(stretch, (h,), (velocity,))[1], (hinges,), (velocity,))[1]
    weight = jnp.stack([jnp.zeros(surface.rods - 1), -gravity * surface.masses.weights()], axis=1).reshape(-1)
    across = solve_many(surface.ambient(), jnp.concatenate([normals.T, weight[:, None]], axis=1))
    return solve(normals @ across[:, :-1], bias + normals @ across[:, -1], definite=True)


def drag(surface: Surface, x: Point, hinge: Int[AnyArray, ""], target: Float[Array, " 2"]) -> Point:
    r"""The configuration reached from x by pulling one hinge towards a target.

    Steps that make \(|p_i - target|^2 + \mu\,|\delta p|_M^2\) small, \(\mu\) falling after a step that helped and
    growing after one that did not: a hinge that can reach the target does, one that cannot stops nearest to it, and the
    others move little.
    """

    def gap(y: Point) -> Float[Array, " 2"]:
        return target - jax.lax.dynamic_slice_in_dim(surface.vector(y), 2 * hinge, 2)

    def body(_: Any, state: tuple[Point, Any]) -> tuple[Point, Any]:
        y, mu = state
        columns = surface.round_frame(y)
        j = surface.pushed(y, columns)
        rows, miss = jax.lax.dynamic_slice_in_dim(j, 2 * hinge, 2), gap(y)
        gram = rows.T @ rows + mu * (j.T @ surface.ambient() @ j)
        step = solve(gram, rows.T @ miss, definite=True)
        size = jnp.sqrt(jnp.sum(step * step) + 1e-300)
        new = em.sphere_exp(y, columns @ (step * jnp.minimum(1.0, 0.5 / size)))
        after = gap(new)
        helped = jnp.sum(after * after) < jnp.sum(miss * miss)
        return jnp.where(helped, new, y), jnp.where(helped, mu / 8.0, jnp.minimum(mu * 16.0, 1e6))

    start = jnp.asarray(1e-2, x.dtype)
    return jax.lax.fori_loop(0, _PULLS, body, (x, start))[0]

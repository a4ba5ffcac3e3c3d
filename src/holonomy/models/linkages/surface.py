r"""The sphere of configurations as a surface in the space of hinges, \(x \mapsto (p_1, ..., p_{n-1})\), with mass M.

Everything is computed in coordinates around the point in question that are orthonormal in the kinetic metric there, so
that no point is special.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry import Embedding
from holonomy.geometry.metric import known
from holonomy.models.linkages import sphere_map
from holonomy.models.linkages.mass import Masses
from holonomy.spaces import embedded as em
from holonomy.spaces import validation
from holonomy.systems.dense_solve import back_substitute, factor, solve
from holonomy.types import Scalar, VectorLike

Point = Float[Array, " ambient"]
Vector = Float[Array, " ambient"]
Hinges = Float[Array, "hinges 2"]


@partial(jax.jit, static_argnums=0)
def _hinges(rods: int, base: Scalar, x: Point) -> Hinges:
    """The hinges as one array; jitted, so that JAX traces and differentiates them once and not for every use."""
    return jnp.stack([jnp.stack(p) for p in sphere_map.chain(rods, base, list(x))])


class Surface(eqx.Module):
    """The map from the round sphere to the hinges, and the masses; methods without checks, for code being traced."""

    rods: int = eqx.field(static=True)
    base: Float[Array, ""]
    masses: Masses

    def hinges(self, x: Point) -> Hinges:
        """The moving hinges of a point."""
        return _hinges(self.rods, self.base, x)

    def point(self, hinges: Hinges) -> Point:
        """The point of the sphere with these hinges, or one near it."""
        x = jnp.stack(sphere_map.unchain(self.rods, self.base, [(p[0], p[1]) for p in hinges]))
        return x / jnp.sqrt(jnp.sum(x * x))

    def vector(self, x: Point) -> Float[Array, " coordinates"]:
        """The hinges' coordinates one after the other."""
        return self.hinges(x).reshape(-1)

    def ambient(self) -> Float[Array, "coordinates coordinates"]:
        r"""\(M \otimes I_2\), the inner product of hinge velocities."""
        return jnp.kron(self.masses.matrix(), jnp.eye(2))

    def product(self, a: Hinges, b: Hinges) -> Scalar:
        r"""\(\sum_{ij} M_{ij}\,a_i\cdot b_j\)."""
        diagonal, beside = self.masses.bands()
        across = jnp.sum(a[:-1] * b[1:] + a[1:] * b[:-1], axis=1)
        return jnp.dot(diagonal, jnp.sum(a * b, axis=1)) + jnp.dot(beside, across)

    def push(self, x: Point, v: Vector) -> Hinges:
        """The hinges' velocities."""
        return jax.jvp(self.hinges, (x,), (v,))[1]

    def round_frame(self, x: Point) -> Float[Array, "ambient dim"]:
        """Tangent vectors orthonormal on the round sphere, as columns."""
        return jax.vmap(lambda y: em.sphere_frame(x, y), out_axes=1)(jnp.eye(self.rods - 2, dtype=x.dtype))

    def _scale(self, x: Point) -> Float[Array, "dim dim"]:
        """A with `round_frame(x) @ A` orthonormal in the kinetic metric; upper triangular."""
        j = self.pushed(x, self.round_frame(x))
        return _orthonormal(j.T @ self.ambient() @ j)

    def pushed(self, x: Point, columns: Float[Array, "ambient k"]) -> Float[Array, "coordinates k"]:
        """The hinges' velocities of several tangent vectors, all as columns."""
        return jax.vmap(lambda e: self.push(x, e).reshape(-1), in_axes=1, out_axes=1)(columns)

    def embedding(self, x: Point) -> Embedding:
        """The surface in coordinates around x: zero at x, along `frame(x)`, so orthonormal there."""
        scale = self._scale(x)
        return Embedding(lambda y: self.vector(em.sphere_chart(x, scale @ y)), self.ambient())

    def forms(self, x: Point) -> Forms:
        """Derivatives of the hinges in the coordinates of `embedding(x)`."""
        columns = self.round_frame(x)
        j = self.pushed(x, columns)
        scale = _orthonormal(j.T @ self.ambient() @ j)
        dim = self.rods - 2
        first, last = np.triu_indices(dim)
        pairs = jax.vmap(lambda u, v: self.second(x, u, v), in_axes=1)(columns[:, first], columns[:, last])
        where = np.zeros((dim, dim), int)
        where[first, last] = where[last, first] = np.arange(len(first))
        rows = jnp.einsum("ia,ijN,jb->abN", scale, pairs[where], scale)
        tangents, m = (j @ scale).T, self.ambient()
        across = rows @ m @ tangents.T
        # the columns are orthonormal on the round sphere, so their transpose takes components
        return Forms(columns @ scale, tangents @ m @ j @ columns.T, across, rows - across @ tangents, m)

    def second(self, x: Point, u: Vector, v: Vector) -> Float[Array, " coordinates"]:
        """The second derivative of the hinges' coordinates along u and v, on great circles: tangent and normal part."""
        bent = jax.jvp(lambda y: self.push(y, u), (x,), (v,))[1] - jnp.dot(u, v) * self.push(x, x)
        return bent.reshape(-1)

    def normal(self, x: Point, a: Float[Array, "k coordinates"]) -> Float[Array, "k coordinates"]:
        """The parts of hinge velocities that are M-normal to the surface."""
        j, m = self.pushed(x, self.round_frame(x)), self.ambient()
        return a - (j @ solve_many(j.T @ m @ j, j.T @ m @ a.T)).T

    def bending(self, x: Point, u: Vector, v: Vector) -> Hinges:
        """II(u, v)."""
        return self.normal(x, self.second(x, u, v)[None])[0].reshape(-1, 2)

    def acceleration(self, x: Point, v: Vector, pull: Hinges | None = None) -> Vector:
        r"""\(\ddot x\) of the motion whose hinges accelerate M-normally to the surface, under forces `pull` if any.

        From \(J^\top M(J\tau + D^2\Psi(v,v) - |v|^2 D\Psi(x)) = J^\top F\), \(\ddot x = \tau - |v|^2 x\).
        """
        frame = self.round_frame(x)
        square = jnp.dot(v, v)
        j = self.pushed(x, frame)
        m = self.ambient()
        right = -(m @ self.second(x, v, v))
        right = right if pull is None else right + pull.reshape(-1)
        return frame @ solve(j.T @ m @ j, j.T @ right, definite=True) - square * x


class Forms(NamedTuple):
    """What a surface is at a point, to second order, in a frame that is orthonormal in the kinetic metric.

    `frame` has the frame's vectors as columns, `coframe @ v` the components of a tangent vector; `across` are the
    tangent parts of second derivatives (the Christoffel symbols, upper index last) and `second` their normal parts (the
    second fundamental form); `ambient` is the inner product of hinge velocities.
    """

    frame: Float[Array, "ambient dim"]
    coframe: Float[Array, "dim ambient"]
    across: Float[Array, "dim dim dim"]
    second: Float[Array, "dim dim coordinates"]
    ambient: Float[Array, "coordinates coordinates"]

    def bending(self, u: Vector, v: Vector) -> Float[Array, " coordinates"]:
        """II(u, v)."""
        return jnp.einsum("abN,a,b->N", self.second, self.coframe @ u, self.coframe @ v)

    def products(self) -> Float[Array, "dim dim dim dim"]:
        r"""\(\langle II_{ab}, II_{cd}\rangle\)."""
        return jnp.einsum("abN,NP,cdP->abcd", self.second, self.ambient, self.second)


def solve_many(gram: Float[Array, "dim dim"], right: Float[Array, "dim k"]) -> Float[Array, "dim k"]:
    """The solutions of a positive definite system, one per column."""
    factored = factor(gram, definite=True)
    return jax.vmap(lambda b: back_substitute(factored, b), in_axes=1, out_axes=1)(right)


def _orthonormal(gram: Float[Array, "dim dim"]) -> Float[Array, "dim dim"]:
    """A, upper triangular, with AᵀGA = I."""
    lower = jnp.linalg.cholesky(gram)
    return jax.scipy.linalg.solve_triangular(lower, jnp.eye(gram.shape[0], dtype=gram.dtype), lower=True).T


def sphere_point(value: VectorLike, rods: int, name: str = "x") -> Point:
    """A point of the sphere of configurations, scaled to length one; `ValueError` where it is not near the sphere."""
    x = validation.as_array(value)
    if x.shape != (rods - 1,):
        raise ValueError(
            f"{name} has shape {x.shape}, but a configuration of {rods} rods is a point of the sphere in R^{rods - 1}: "
            f"an array of shape ({rods - 1},). For many at once use jax.vmap; from angles, link.from_angles."
        )
    if known(x):
        values = np.asarray(x)
        size = float(np.linalg.norm(values))
        if not abs(size - 1.0) <= validation.tolerance(x.dtype):
            raise ValueError(
                f"{name} = {validation.show(values)} has length {size:.9g}, but points of the sphere have length 1; "
                "pass "
                f"{name} / |{name}|, or link.from_angles(angles)."
            )
    return x / jnp.sqrt(jnp.sum(x * x))


def tangent(x: Point, value: VectorLike, name: str = "v") -> Vector:
    """A tangent vector at x; `ValueError` where it is not tangent."""
    v = validation.as_array(value)
    if v.shape != x.shape:
        raise ValueError(f"{name} has shape {v.shape}, but a tangent vector at x has the shape of x, {x.shape}.")
    if known(x, v):
        off, size = abs(float(np.dot(np.asarray(x), np.asarray(v)))), float(np.linalg.norm(np.asarray(v)))
        if not off <= validation.tolerance(v.dtype) * (size + 1e-300):
            raise ValueError(
                f"{name} = {validation.show(v)} is not tangent to the sphere at x = {validation.show(x)}: its part "
                "along x has "
                f"size {off:.3g}. Pass {name} - ({name}·x) x if its tangent part is the one you mean."
            )
    return v

"""Surfaces of any dimension in a vector space with a constant metric."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.geometry.curvature import AbstractCurvature, require_surface
from holonomy.geometry.metric import (
    Coordinates,
    as_vector,
    checked,
    known,
    require_resolved,
    traced,
)
from holonomy.types import ArrayLike, Scalar, Vector, VectorLike


class Embedding(eqx.Module):
    r"""The surface \(q \mapsto f(q) \in R^N\) in the constant inner product \(\langle a, b\rangle = a\cdot M b\).

    `f` may return an array of any shape, read as a vector of length N. `ambient` is M as an (N, N) matrix or its
    diagonal (N,), the identity if not given; it may be indefinite (Minkowski space) as long as the surface's own
    metric is positive definite. Curvatures follow from Gauss's equation,
    \(\langle R(u,v)v, u\rangle = \langle II(u,u), II(v,v)\rangle - |II(u,v)|^2\), from second derivatives of f, where
    the curvature of `metric` alone would need third ones.
    """

    f: Callable[[Coordinates], Float[Array, ...]]
    ambient: Float[Array, "N N"] | Float[Array, " N"] | None = None

    def __init__(self, f: Callable[[Coordinates], Float[Array, ...]], ambient: ArrayLike | None = None):
        if not callable(f):
            raise ValueError(f"Embedding needs a function of q that returns a vector, but got {type(f).__name__}.")
        self.f = f
        self.ambient = None if ambient is None else jnp.asarray(ambient, float)
        if self.ambient is None:
            return
        if self.ambient.ndim not in (1, 2) or (self.ambient.ndim == 2 and len(set(self.ambient.shape)) != 1):
            raise ValueError(f"ambient is a square matrix or its diagonal, but has shape {self.ambient.shape}.")
        if self.ambient.ndim == 2 and known(self.ambient) and not np.allclose(self.ambient, self.ambient.T, rtol=1e-12):
            raise ValueError("ambient must be a symmetric matrix, but the one passed is not.")

    def metric(self, q: VectorLike) -> Float[Array, "n n"]:
        r"""The first fundamental form \(g_{ab} = \langle\partial_a f, \partial_b f\rangle\)."""
        j = jax.jacfwd(self.vector)(as_vector(q, "q"))
        return j.T @ self.lower(j)

    def second(self, q: VectorLike) -> Float[Array, "n n N"]:
        r"""The second fundamental form \(II_{ab}\): the part of \(\partial_a\partial_b f\) orthogonal to the
        surface.
        """
        q = as_vector(q, "q")
        checked(self.metric, q)
        second = jnp.moveaxis(jax.jacfwd(jax.jacfwd(self.vector))(q), 0, -1)
        return jax.vmap(jax.vmap(lambda a: self._normal(q, a)))(second)

    def bending(self, q: VectorLike, u: VectorLike, v: VectorLike) -> Float[Array, " N"]:
        """II(u, v), from Jacobian-vector products."""
        q = as_vector(q, "q")
        along = jax.jvp(lambda p: jax.jvp(self.vector, (p,), (v,))[1], (q,), (u,))[1]
        return self._normal(q, along)

    def total_bending(self, q: VectorLike) -> Scalar:
        r"""\(|II|^2 = g^{ac}g^{bd}\langle II_{ab}, II_{cd}\rangle\)."""
        second, inverse = self.second(q), jnp.linalg.inv(self.metric(q))
        products = jnp.einsum("abN,cdN->abcd", second, self.lower_last(second))
        return jnp.einsum("ac,bd,abcd->", inverse, inverse, products)

    def mean(self, q: VectorLike) -> Float[Array, " N"]:
        r"""The mean curvature vector \(\frac1n g^{ab}II_{ab}\), inward and of length 1/r on a sphere of radius r."""
        second, inverse = self.second(q), jnp.linalg.inv(self.metric(q))
        return jnp.einsum("ab,abN->N", inverse, second) / second.shape[0]

    @property
    def curvature(self) -> EmbeddingCurvature:
        """Christoffel symbols and curvatures by Gauss's equation."""
        return EmbeddingCurvature(self)

    def vector(self, q: Coordinates) -> Float[Array, " N"]:
        """f(q) as a vector of length N."""
        value = jnp.asarray(self.f(q)).reshape(-1)
        if self.ambient is not None and self.ambient.shape[0] != value.shape[0]:
            raise ValueError(
                f"f returns {value.shape[0]} numbers, but ambient belongs to vectors of length {self.ambient.shape[0]}."
            )
        return value

    def lower(self, a: Float[Array, "N ..."]) -> Float[Array, "N ..."]:
        r"""\(M a\): vectors to covectors, along the first axis."""
        if self.ambient is None:
            return a
        return jnp.tensordot(self.ambient if self.ambient.ndim == 2 else jnp.diag(self.ambient), a, axes=1)

    def lower_last(self, a: Float[Array, "... N"]) -> Float[Array, "... N"]:
        r"""\(M a\) along the last axis."""
        return jnp.moveaxis(self.lower(jnp.moveaxis(a, -1, 0)), 0, -1)

    def _normal(self, q: Coordinates, a: Float[Array, " N"]) -> Float[Array, " N"]:
        j = jax.jacfwd(self.vector)(q)
        return a - j @ jnp.linalg.solve(j.T @ self.lower(j), j.T @ self.lower(a))


class EmbeddingCurvature(AbstractCurvature):
    """Curvature of an embedded surface at coordinates q, vectors by their components, by Gauss's equation."""

    embedding: Embedding

    def metric_at(self, q: VectorLike) -> Float[Array, "n n"]:
        q = as_vector(q, "q")
        g = checked(self.embedding.metric, q)
        if known(q, g):
            # the error is a small multiple of the metric's own, so three of its digits are asked for
            require_resolved(traced(self.embedding.metric, q), q, limit=1e-3)
        return g

    def christoffel(self, q: VectorLike) -> Float[Array, "n n n"]:
        q = as_vector(q, "q")
        e, g = self.embedding, self.metric_at(q)
        j = jax.jacfwd(e.vector)(q)
        second = jax.jacfwd(jax.jacfwd(e.vector))(q)
        n = q.shape[0]
        return jnp.linalg.solve(g, jnp.tensordot(e.lower(j).T, second, axes=1).reshape(n, n * n)).reshape(n, n, n)

    def operator(self, q: VectorLike, u: VectorLike, v: VectorLike, w: VectorLike) -> Vector:
        q = as_vector(q, "q")
        e, g = self.embedding, self.metric_at(q)
        uw, vw = e.lower(e.bending(q, u, w)), e.lower(e.bending(q, v, w))
        basis = jnp.eye(q.shape[0], dtype=q.dtype)
        along = jax.vmap(lambda a: e.bending(q, u, a) @ vw - e.bending(q, v, a) @ uw)(basis)
        return jnp.linalg.solve(g, along)

    def riemann(self, q: VectorLike) -> Float[Array, "n n n n"]:
        q = as_vector(q, "q")
        g, second = self.metric_at(q), self.embedding.second(q)
        products = jnp.einsum("mkN,jlN->mjkl", second, self.embedding.lower_last(second))
        lowered = products - jnp.swapaxes(products, 2, 3)
        n = q.shape[0]
        return jnp.linalg.solve(g, lowered.reshape(n, -1)).reshape(n, n, n, n)

    def sectional(self, q: VectorLike, u: VectorLike, v: VectorLike) -> Scalar:
        q = as_vector(q, "q")
        u, v = as_vector(u, "u", q.shape[0]), as_vector(v, "v", q.shape[0])
        e, g = self.embedding, self.metric_at(q)
        uu, uv, vv = e.bending(q, u, u), e.bending(q, u, v), e.bending(q, v, v)
        area = (u @ g @ u) * (v @ g @ v) - (u @ g @ v) ** 2
        return (uu @ e.lower(vv) - uv @ e.lower(uv)) / area

    def gaussian(self, q: VectorLike) -> Scalar:
        q = as_vector(q, "q")
        require_surface(q.shape[0])
        e = jnp.eye(2, dtype=q.dtype)
        return self.sectional(q, e[0], e[1])

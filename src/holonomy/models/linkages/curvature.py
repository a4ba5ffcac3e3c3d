"""Curvature of the sphere of configurations in its kinetic metric, at any of its points."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.geometry import AbstractCurvature
from holonomy.geometry.curvature import MetricCurvature, require_surface
from holonomy.models.linkages.compiled import call
from holonomy.models.linkages.surface import Forms, Point, Surface, Vector, sphere_point, tangent
from holonomy.types import Scalar, VectorLike


class LinkageCurvature(AbstractCurvature):
    r"""Curvature at a point x of the sphere, by Gauss's equation or (`intrinsic`) from the kinetic metric alone.

    `sectional` and `operator` take tangent vectors in \(R^{n-1}\). The components of `christoffel`, `riemann` and
    `ricci` belong to coordinates around x whose directions are the columns of `link.frame(x)`, orthonormal in the
    kinetic metric: `metric_at` is the identity, and every point is as good as another.
    """

    surface: Surface
    intrinsic: bool = eqx.field(static=True)

    def metric_at(self, q: VectorLike) -> Float[Array, "n n"]:
        found = self._forms(self._point(q))
        return found.coframe @ found.frame

    def christoffel(self, q: VectorLike) -> Float[Array, "n n n"]:
        if self.intrinsic:
            return call(_christoffel, self.surface, self._point(q))
        return jnp.moveaxis(self._forms(self._point(q)).across, -1, 0)

    def riemann(self, q: VectorLike) -> Float[Array, "n n n n"]:
        if self.intrinsic:
            return call(_riemann, self.surface, self._point(q))
        products = jnp.swapaxes(self._forms(self._point(q)).products(), 1, 2)
        return products - jnp.swapaxes(products, 2, 3)

    def scalar(self, q: VectorLike) -> Scalar:
        return jnp.trace(self.ricci(q))

    def operator(self, q: VectorLike, u: VectorLike, v: VectorLike, w: VectorLike) -> Vector:
        x, vectors = self._vectors(q, u=u, v=v, w=w)
        found = self._forms(x)
        a, b, c = (found.coframe @ y for y in vectors)
        return found.frame @ jnp.einsum("ijkl,j,k,l->i", self.riemann(x), c, a, b)

    def sectional(self, q: VectorLike, u: VectorLike, v: VectorLike) -> Scalar:
        x, vectors = self._vectors(q, u=u, v=v)
        found = self._forms(x)
        a, b = (found.coframe @ y for y in vectors)
        area = jnp.dot(a, a) * jnp.dot(b, b) - jnp.dot(a, b) ** 2
        if self.intrinsic:
            return call(_plane, self.surface, x, a, b) / area
        return jnp.einsum("abcd,abcd->", found.products(), _bivector(a, b)) / area

    def gaussian(self, q: VectorLike) -> Scalar:
        require_surface(self.surface.rods - 2)
        x = self._point(q)
        if self.intrinsic:
            e = jnp.eye(2, dtype=x.dtype)
            return call(_plane, self.surface, x, e[0], e[1])
        products = self._forms(x).products()
        return products[0, 0, 1, 1] - products[0, 1, 0, 1]

    def _forms(self, x: Point) -> Forms:
        return call(forms, self.surface, x)

    def _point(self, q: VectorLike) -> Point:
        return sphere_point(q, self.surface.rods)

    def _vectors(self, q: VectorLike, **vectors: VectorLike) -> tuple[Point, list[Vector]]:
        x = self._point(q)
        return x, [tangent(x, v, name) for name, v in vectors.items()]


# ── by Gauss's equation ───────────────────────────────────────────────────────────────────────────────────────────


def forms(surface: Surface, x: Point) -> Forms:
    """The fundamental forms at a point."""
    return surface.forms(x)


def _bivector(a: Float[Array, " dim"], b: Float[Array, " dim"]) -> Float[Array, "dim dim dim dim"]:
    """What contracts with ⟨II, II⟩ to ⟨II(a, a), II(b, b)⟩ - |II(a, b)|²."""
    return jnp.einsum("a,b,c,d->abcd", a, a, b, b) - jnp.einsum("a,b,c,d->abcd", a, b, a, b)


def fields(surface: Surface, x: Point) -> tuple[Scalar, Scalar]:
    """Gaussian curvature (the scalar curvature for other than four rods) and total bending."""
    second, m = surface.forms(x).second, surface.ambient()
    bending = jnp.sum(second * (second @ m))
    if surface.rods == 4:
        curved = jnp.dot(second[0, 0], m @ second[1, 1]) - jnp.dot(second[0, 1], m @ second[0, 1])
    else:
        trace = jnp.einsum("aaN->N", second)
        curved = jnp.dot(trace, m @ trace) - bending
    return curved, bending


# ── from the metric alone ─────────────────────────────────────────────────────────────────────────────────────────


def _christoffel(surface: Surface, x: Point) -> Array:
    found, zero = MetricCurvature(surface.embedding(x).metric), jnp.zeros(surface.rods - 2, x.dtype)
    return found.christoffel(zero)


def _riemann(surface: Surface, x: Point) -> Array:
    found, zero = MetricCurvature(surface.embedding(x).metric), jnp.zeros(surface.rods - 2, x.dtype)
    return found.riemann(zero)


def _plane(surface: Surface, x: Point, u: Any, v: Any) -> Scalar:
    r"""\(\langle R(u,v)v, u\rangle\) from derivatives of the metric along u and v alone, where \(g = 1\):

    \(D_uD_v g(u,v) - \frac12(D_vD_v g(u,u) + D_uD_u g(v,v)) + |\Gamma(u,v)|^2 - \Gamma(u,u)\cdot\Gamma(v,v)\).
    """
    e, zero = surface.embedding(x), jnp.zeros(surface.rods - 2, x.dtype)

    def g(y: Any, a: Any, b: Any) -> Scalar:
        first, last = (jax.jvp(e.f, (y,), (c,))[1].reshape(-1, 2) for c in (a, b))
        return surface.product(first, last)

    def twice(a: Any, b: Any, c: Any, d: Any) -> Scalar:
        return jax.jvp(lambda y: jax.jvp(lambda z: g(z, c, d), (y,), (b,))[1], (zero,), (a,))[1]

    def once(a: Any, b: Any, c: Any) -> Scalar:
        return jax.jvp(lambda y: g(y, b, c), (zero,), (a,))[1]

    def gamma(a: Any, b: Any) -> Array:
        along = jax.vmap(lambda k: once(a, b, k) + once(b, a, k) - once(k, a, b))
        return 0.5 * along(jnp.eye(surface.rods - 2, dtype=x.dtype))

    bent = twice(u, v, u, v) - 0.5 * (twice(v, v, u, u) + twice(u, u, v, v))
    mixed = gamma(u, v)
    return bent + jnp.dot(mixed, mixed) - jnp.dot(gamma(u, u), gamma(v, v))

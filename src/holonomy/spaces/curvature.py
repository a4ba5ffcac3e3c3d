"""Curvature of a space at its own points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.geometry.curvature import AbstractCurvature, MetricCurvature, require_surface

if TYPE_CHECKING:
    from holonomy.spaces.base import AbstractSpace
    from holonomy.types import Point, PointLike, Scalar, VectorLike
    from holonomy.types import Tangent as Vector


class SpaceCurvature(AbstractCurvature):
    """Curvature of a space at a point array x, from the metric in the chart at x; good at every point.

    `sectional` and `operator` take tangent vectors as arrays of the space; the components of `christoffel`, `riemann`
    and `ricci` belong to `space.frame(x)`, the coordinates of the chart at x (the point's own where the chart is flat).
    """

    space: AbstractSpace

    def metric_at(self, q: PointLike) -> Float[Array, "n n"]:
        return self.space.metric(q)

    def christoffel(self, q: PointLike) -> Float[Array, "n n n"]:
        return _in_chart(self.space, self.space.checked_point(q), MetricCurvature.christoffel)

    def riemann(self, q: PointLike) -> Float[Array, "n n n n"]:
        return _in_chart(self.space, self.space.checked_point(q), MetricCurvature.riemann)

    def operator(self, q: PointLike, u: VectorLike, v: VectorLike, w: VectorLike) -> Vector:
        x, vectors = self._checked(q, u=u, v=v, w=w)
        return self.space.frame(x) @ _in_chart(self.space, x, MetricCurvature.operator, *vectors)

    def sectional(self, q: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x, vectors = self._checked(q, u=u, v=v)
        return _in_chart(self.space, x, MetricCurvature.sectional, *vectors)

    def gaussian(self, q: PointLike) -> Scalar:
        require_surface(self.space.dim)
        return _in_chart(self.space, self.space.checked_point(q), MetricCurvature.gaussian)

    def _checked(self, q: PointLike, **vectors: VectorLike) -> tuple[Point, list[Vector]]:
        x = self.space.checked_point(q)
        return x, [self.space.checked_vector(x, v, name) for name, v in vectors.items()]


@eqx.filter_jit
def _in_chart(space: AbstractSpace, x: Point, method: Callable[..., Array], *vectors: Vector) -> Array:
    """A curvature of the metric in the chart at x, at its centre; vectors turned into components."""
    local = MetricCurvature(lambda y: space.local_metric(x, y))
    components = [jax.jvp(lambda p: space.coordinates(x, p), (x,), (v,))[1] for v in vectors]
    return method(local, jnp.zeros(space.dim, x.dtype), *components)

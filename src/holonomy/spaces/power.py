"""Many points of one space."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import validation
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import AbstractSpace, Picture, powers_are
from holonomy.spaces.smooth import root
from holonomy.types import Covector, Local, LocalLike, Number, Numbers, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector


class Power(AbstractSpace):
    r"""\(M^k\), the configurations of k points of \(M\): their arrays joined end to end; `space ** k` for short.

    As `Product` with k equal factors, but evaluated for all points at once. Killing fields and isometries of the
    i-th point carry its number, counted from 1: `rotate_xy_1`, ....
    """

    space: AbstractSpace
    count: int = eqx.field(static=True)

    def __init__(self, space: AbstractSpace, count: int):
        if not validation.is_count(count):
            raise ValueError(f"the power of a space needs a positive integer, but was given {count!r}.")
        if not isinstance(space, AbstractSpace):
            raise ValueError(f"Power needs a space and a count, as in Power(Sphere(2), 3), but got {space!r}.")
        self.space, self.count = space, int(count)

    @property
    def dim(self) -> int:
        return self.space.dim * self.count

    @property
    def point_dim(self) -> int:
        return self.space.point_dim * self.count

    @property
    def flat_chart(self) -> bool:
        return self.space.flat_chart

    @property
    def origin(self) -> Point:
        """All points at the origin."""
        return jnp.tile(self.space.origin, self.count)

    def split(self, x: PointLike) -> Float[Array, "k point"]:
        """The points (or vectors, or local coordinates) of the single space, one per row."""
        return validation.as_array(x).reshape(self.count, -1)

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        return self._map(self.space.chart, self._point(x), self._local(y))

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        return self._map(self.space.coordinates, self._point(x), self._point(point, "point"))

    def rechart(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        return self._map(self.space.rechart, self._point(x), self._local(y), self._local(z))

    def transition(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        return self._map(self.space.transition, self._point(x), self._local(y), self._local(z))

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        return self._map(self.space.shifted_chart, self._point(x), self._local(xi), self._local(y))

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        return self._map(self.space.pull_shift, self._point(x), self._local(y), self._local(covector, "covector"))

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        return self._map(self.space.solve_shift, self._point(x), self._local(y), self._local(covector, "covector"))

    def rounding(self, x: PointLike) -> Scalar:
        return jnp.max(jax.vmap(self.space.rounding)(self.split(x)))

    @property
    def chart_scale(self) -> Number:
        """The scale of the single space."""
        return self.space.chart_scale

    def project(self, x: PointLike) -> Point:
        return self._map(self.space.project, self._array(x))

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        return self._map(self.space.tangent, self._point(x), self._array(v, "v"))

    def tangent_defect(self, x: PointLike, v: VectorLike) -> Scalar:
        return jnp.linalg.norm(self._map(self.space.tangent_defect, x, v))

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._point(x)
        return jnp.sum(self._map(self.space.inner, x, self._vector(x, u, "u"), self._vector(x, v)))

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        return root(jnp.sum(self._map(self.space.distance, self._point(x), self._point(y, "y")) ** 2))

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        return self._map(self.space.exp, x, self._vector(x, v))

    @property
    def exact_geodesics(self) -> bool:
        return self.space.exact_geodesics

    def geodesic(self, x: Point, v: Vector, t: Number = 1.0) -> tuple[Point, Vector]:
        points, velocities = jax.vmap(lambda a, b: self.space.geodesic(a, b, t))(self.split(x), self.split(v))
        return points.reshape(-1), velocities.reshape(-1)

    def sharp(self, x: Point, covector: Covector) -> Vector:
        return self._map(self.space.sharp, x, covector)

    def tangent_covector(self, x: Point, covector: Covector) -> Covector:
        return self._map(self.space.tangent_covector, x, covector)

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._point(x), self._point(y, "y")
        if not validation.known(x, y, self):
            return self._map(self.space.log, x, y)
        # one by one, so that the space itself can refuse a pair of points that has no log
        return jnp.concatenate([self.space.log(a, b) for a, b in zip(self.split(x), self.split(y), strict=True)])

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        x = self._point(x)
        return self._map(self.space.transport, x, self._vector(x, v), self._vector(x, w, "w"))

    def random(self, key: PRNGKeyArray) -> Point:
        return jax.vmap(self.space.random)(jax.random.split(key, self.count)).reshape(-1)

    def killing(self) -> dict[str, Field]:
        def single(field: Field, i: int) -> Field:
            def whole(x: Point) -> Vector:
                rows = self.split(x)
                return jnp.zeros_like(rows).at[i].set(field(rows[i])).reshape(-1)

            return whole

        return {
            f"{name}_{i + 1}": single(field, i)
            for i in range(self.count)
            for name, field in self.space.killing().items()
        }

    def isometries(self) -> dict[str, Flow]:
        def single(flow: Flow, i: int) -> Flow:
            def whole(s: Number, x: Point) -> Point:
                rows = self.split(x)
                return rows.at[i].set(flow(s, rows[i])).reshape(-1)

            return whole

        return {
            f"{name}_{i + 1}": single(flow, i)
            for i in range(self.count)
            for name, flow in self.space.isometries().items()
        }

    def pictures(self) -> dict[str, Picture]:
        """The pictures of the single space, one row per point."""

        def rows(picture: Picture) -> Picture:
            return lambda x: jax.vmap(picture)(self.split(x))

        return {name: rows(picture) for name, picture in self.space.pictures().items()}

    def from_polar(self, *coordinates: Numbers) -> Point:
        return self._map(self.space.from_polar, self._polar(coordinates))

    def to_polar(self, x: PointLike) -> Local:
        return self._map(self.space.to_polar, self._point(x))

    def _map(self, method: Callable[..., Array], *arrays: PointLike) -> Array:
        return jax.vmap(method)(*(self.split(a) for a in arrays)).reshape(-1)


powers_are(Power)

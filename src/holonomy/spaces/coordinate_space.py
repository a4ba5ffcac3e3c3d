"""Spaces that coordinates describe everywhere: a point is the array of its coordinates, and charts add to it."""

from __future__ import annotations

import jax.numpy as jnp

from holonomy.spaces.base import AbstractSpace
from holonomy.types import Local, LocalLike, Point, PointLike, VectorLike
from holonomy.types import Tangent as Vector


class CoordinateSpace(AbstractSpace):
    """A space whose points are arrays of `dim` coordinates, all of them possible; its metric is for others to say."""

    @property
    def point_dim(self) -> int:
        return self.dim

    @property
    def flat_chart(self) -> bool:
        return True

    @property
    def origin(self) -> Point:
        """The point whose coordinates are zero; it need not lie in the domain of a metric."""
        return jnp.zeros(self.dim)

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        return self._point(x) + self._local(y)

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        return self._point(point, "point") - self._point(x)

    def project(self, x: PointLike) -> Point:
        return self._array(x)

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        return self._array(v, "v")

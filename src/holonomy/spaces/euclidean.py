"""Flat spaces: R^n and the circle."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import axes, polar, validation
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import Picture
from holonomy.spaces.coordinate_space import CoordinateSpace
from holonomy.spaces.smooth import length
from holonomy.types import Covector, Local, Number, Numbers, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector


class Euclidean(CoordinateSpace):
    r"""\(E^n\): points are vectors of \(R^n\), \(\langle u, v\rangle = u\cdot v\), \(d(x, y) = |x - y|\), \(K = 0\).

    Killing fields: `translate_x`, ..., `rotate_xy`, ...; the latter carry x towards y. Polar coordinates (a, b, g):
    \(a\,(\sin b\cos g, \sin b\sin g, \cos b)\); on a line a is signed.
    """

    n: int = eqx.field(static=True)

    def __init__(self, n: int):
        validation.require_dimension("Euclidean", n)
        self.n = int(n)

    @property
    def dim(self) -> int:
        return self.n

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        return jnp.sum(self._array(u, "u") * self._array(v, "v"))

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        return length(self._point(x) - self._point(y, "y"))

    def squared_distance(self, x: PointLike, y: PointLike) -> Scalar:
        return jnp.sum((self._point(x) - self._point(y, "y")) ** 2)

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        return x + self._vector(x, v)

    @property
    def exact_geodesics(self) -> bool:
        return True

    def geodesic(self, x: Point, v: Vector, t: Number = 1.0) -> tuple[Point, Vector]:
        return x + t * v, v

    def sharp(self, x: Point, covector: Covector) -> Vector:
        return covector

    def log(self, x: PointLike, y: PointLike) -> Vector:
        return self._point(y, "y") - self._point(x)

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        return self._array(w, "w")

    def random(self, key: PRNGKeyArray) -> Point:
        return jax.random.normal(key, (self.n,))

    def killing(self) -> dict[str, Field]:
        fields = {f"translate_{a}": axes.translation_field(i) for i, a in enumerate(axes.names(self.n))}
        return fields | {f"rotate_{p}": axes.rotation_field(i, j) for p, i, j in axes.planes(self.n)}

    def isometries(self) -> dict[str, Flow]:
        flows = {f"translate_{a}": axes.translation_flow(i) for i, a in enumerate(axes.names(self.n))}
        return flows | {f"rotate_{p}": axes.rotation_flow(i, j) for p, i, j in axes.planes(self.n)}

    def pictures(self) -> dict[str, Picture]:
        return {"flat": lambda x: x[:3]}

    def from_polar(self, *coordinates: Numbers) -> Point:
        c = self._polar(coordinates)
        return c[0] * polar.direction(c[1:])

    def to_polar(self, x: PointLike) -> Local:
        x = self._point(x)
        return jnp.concatenate([polar.radius(x)[None], polar.angles(x)])


class Circle(CoordinateSpace):
    r"""The circle of radius \(r\): a point is an array holding one angle \(\theta\), and \(\theta + 2\pi\) is the
    same point.

    \(\langle u, v\rangle = r^2 u v\); \(d\) is \(r\) times the smaller angle between two points. Angles are never
    wrapped: a motion that winds around keeps count of its turns. `log` gives the angle in \((-\pi, \pi)\); opposite
    points have none. Killing field: `rotate`.
    """

    radius: float | Float[Array, ""]

    def __init__(self, radius: Number = 1.0):
        validation.require_positive("Circle", "radius", radius)
        self.radius = validation.as_number(radius)

    @property
    def dim(self) -> int:
        return 1

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        return self.radius**2 * jnp.sum(self._array(u, "u") * self._array(v, "v"))

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        return self.radius * jnp.abs(self._turn(self._point(x), self._point(y, "y"))[0])

    def squared_distance(self, x: PointLike, y: PointLike) -> Scalar:
        return (self.radius * self._turn(self._point(x), self._point(y, "y"))[0]) ** 2

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        return x + self._vector(x, v)

    @property
    def exact_geodesics(self) -> bool:
        return True

    def geodesic(self, x: Point, v: Vector, t: Number = 1.0) -> tuple[Point, Vector]:
        return x + t * v, v

    def sharp(self, x: Point, covector: Covector) -> Vector:
        return covector / self.radius**2

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._point(x), self._point(y, "y")
        turn = self._turn(x, y)
        if validation.known(turn) and abs(abs(float(turn[0])) - jnp.pi) < 1e-14:
            raise ValueError(
                f"the angles x = {validation.show(x)} and y = {validation.show(y)} are opposite on the circle, so "
                "two shortest "
                "arcs join them and log is not defined. Move one of them slightly to say which arc you mean."
            )
        return turn

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        return self._array(w, "w")

    def random(self, key: PRNGKeyArray) -> Point:
        return jax.random.uniform(key, (1,), minval=-jnp.pi, maxval=jnp.pi)

    def killing(self) -> dict[str, Field]:
        return {"rotate": axes.translation_field(0)}

    def isometries(self) -> dict[str, Flow]:
        return {"rotate": axes.translation_flow(0)}

    def pictures(self) -> dict[str, Picture]:
        return {"circle": lambda x: self.radius * polar.direction(x)}

    def from_polar(self, *coordinates: Numbers) -> Point:
        return self._polar(coordinates)

    def to_polar(self, x: PointLike) -> Local:
        return self._point(x)

    def _turn(self, x: Point, y: Point) -> Float[Array, " 1"]:
        turn = y - x
        return turn - 2 * jnp.pi * jnp.round(turn / (2 * jnp.pi))

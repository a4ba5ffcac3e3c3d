"""Spheres of any dimension and radius."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import axes, polar, validation
from holonomy.spaces import embedded as em
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import AbstractSpace, Picture
from holonomy.spaces.smooth import arc
from holonomy.types import Covector, Local, LocalLike, Number, Numbers, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector


class Sphere(AbstractSpace):
    r"""\(S^n\) of radius \(r\): \(\{x \in R^{n+1} : |x| = r\}\) with the inner product of \(R^{n+1}\); \(K = 1/r^2\).

    `model="embedded"`: points are vectors of length r in \(R^{n+1}\), tangent vectors are orthogonal to them.
    `model="polar"`: points are the angles (a, b, ..., g) of `from_polar`, for comparison: singular at the poles, where
    \(\sin a = 0\), and wherever a later sine vanishes.

    Polar coordinates: \(x = r\,(\sin a\,\omega, \cos a)\), \(\omega \in S^{n-1}\) the direction of the other angles;
    for n = 3, \(r(\sin a\sin b\cos g, \sin a\sin b\sin g, \sin a\cos b, \cos a)\); a is an angle, not a length.
    Killing fields: `rotate_xy`, ... for every plane of \(R^{n+1}\), x carried towards y.
    `log` fails at antipodal points, which have no shortest geodesic of their own; its conditioning near them is
    \(\pi r/|x+y|\), so that a rounding error in y turns the answer by that much more.
    """

    n: int = eqx.field(static=True)
    radius: float | Float[Array, ""]
    model: str = eqx.field(static=True)

    def __init__(self, n: int, radius: Number = 1.0, model: str = "embedded"):
        validation.require_dimension("Sphere", n)
        validation.require_positive("Sphere", "radius", radius)
        validation.require_choice("Sphere", "model", model, ("embedded", "polar"))
        self.n = int(n)
        self.radius = validation.as_number(radius)
        self.model = model

    @property
    def dim(self) -> int:
        return self.n

    @property
    def point_dim(self) -> int:
        return self.n + 1 if self.model == "embedded" else self.n

    @property
    def flat_chart(self) -> bool:
        return self.model == "polar"

    @property
    def origin(self) -> Point:
        """The north pole (0, ..., 0, r); a = 0 in the polar model."""
        return jnp.zeros(self.point_dim) if self.flat_chart else jnp.zeros(self.n + 1).at[-1].set(self.radius)

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        x, y = self._point(x), self._local(y)
        if self.flat_chart:
            return x + y
        return self.radius * em.sphere_chart(self._unit(x), em.over(y, self.radius))

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        x, point = self._point(x), self._point(point, "point")
        if self.flat_chart:
            return point - x
        return self.radius * em.sphere_coordinates(self._unit(x), self._unit(point))

    def rechart(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        """As for every space, in terms of y and z and a turn that depends on x."""
        if self.flat_chart:
            return self._local(y) + self._local(z)
        x, y, z = self._point(x), self._local(y), self._local(z)
        return self.radius * em.sphere_rechart(self._unit(x), em.over(y, self.radius), em.over(z, self.radius))

    def transition(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        if self.flat_chart:
            return self._local(z) - self._local(y)
        x, y, z = self._point(x), self._local(y), self._local(z)
        return self.radius * em.sphere_transition(self._unit(x), em.over(y, self.radius), em.over(z, self.radius))

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        """The chart at x carried by the rotation that moves x along xi, to first order."""
        x, xi, y = self._point(x), self._local(xi), self._local(y)
        if self.flat_chart:
            return x + xi + y
        return self.radius * em.sphere_shifted_chart(self._unit(x), em.over(xi, self.radius), em.over(y, self.radius))

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        r"""\(((1-k)\,1 + \frac12 yy^\top)\,\pi\), \(k = |y|^2/4\), lengths in units of r."""
        y, covector = em.over(self._local(y), self.radius), self._local(covector, "covector")
        return covector if self.flat_chart else em.sphere_pull_shift(y, covector)

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        y, covector = em.over(self._local(y), self.radius), self._local(covector, "covector")
        return covector if self.flat_chart else em.sphere_solve_shift(y, covector)

    @property
    def chart_scale(self) -> Number:
        """The radius."""
        return self.radius

    def project(self, x: PointLike) -> Point:
        """The nearest point: x scaled to length r. The centre has none and gives NaN."""
        x = self._array(x)
        return x if self.flat_chart else self.radius * self._unit(x)

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        x, v = self._point(x), self._array(v, "v")
        if self.flat_chart:
            return v
        unit = self._unit(x)
        return v - em.dot(unit, v) * unit

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._point(x)
        return em.dot(self._enter(x, self._vector(x, u, "u")), self._enter(x, self._vector(x, v)))

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        r"""\(2r\,\mathrm{atan2}(|x-y|, |x+y|)\), accurate to round-off for near and for nearly antipodal points."""
        return self.radius * em.sphere_angle(self._unit(self._point(x)), self._unit(self._point(y, "y")))

    def squared_distance(self, x: PointLike, y: PointLike) -> Scalar:
        a, b = self._unit(self._point(x)), self._unit(self._point(y, "y"))
        q = em.dot(a - b, a - b) / 4.0
        near = q < 0.5
        close = 4.0 * q * arc(jnp.where(near, q, 0.0), 1) ** 2
        return self.radius**2 * jnp.where(near, close, em.sphere_angle(a, b) ** 2)

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        v = self._enter(x, self._vector(x, v))
        return self._leave(self.radius * em.sphere_exp(self._unit(x), v / self.radius))

    @property
    def exact_geodesics(self) -> bool:
        return self.model == "embedded"

    def geodesic(self, x: Point, v: Vector, t: Number = 1.0) -> tuple[Point, Vector]:
        if self.flat_chart:
            return super().geodesic(x, v, t)
        point, velocity = em.sphere_geodesic(x / self.radius, v / self.radius, t)
        return self.radius * point, self.radius * velocity

    def sharp(self, x: Point, covector: Covector) -> Vector:
        return super().sharp(x, covector) if self.flat_chart else self.tangent(x, covector)

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._point(x), self._point(y, "y")
        unit, other = self._unit(x), self._unit(y)
        if validation.known(unit, other) and np.linalg.norm(np.asarray(unit + other)) < 1e-15:
            raise ValueError(
                f"x = {validation.show(x)} and y = {validation.show(y)} are antipodal on {self!r}, so shortest "
                "geodesics leave x "
                "in every direction and log is not defined. Move one of them to say which geodesic you mean."
            )
        return self._leave_vector(x, self.radius * em.sphere_log(unit, other))

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        x = self._point(x)
        unit = self._unit(x)
        v, w = self._enter(x, self._vector(x, v)), self._enter(x, self._vector(x, w, "w"))
        carried = em.sphere_transport(unit, v / self.radius, w)
        if not self.flat_chart:
            return carried
        return self._leave_vector(self._leave(self.radius * em.sphere_exp(unit, v / self.radius)), carried)

    def random(self, key: PRNGKeyArray) -> Point:
        normal = jax.random.normal(key, (self.n + 1,))
        return self._leave(self.radius * normal / jnp.linalg.norm(normal))

    def killing(self) -> dict[str, Field]:
        return {f"rotate_{p}": self._field(axes.rotation_field(i, j)) for p, i, j in axes.planes(self.n + 1)}

    def isometries(self) -> dict[str, Flow]:
        return {f"rotate_{p}": self._flow(axes.rotation_flow(i, j)) for p, i, j in axes.planes(self.n + 1)}

    def pictures(self) -> dict[str, Picture]:
        """`embedded` (n < 3): the vector itself; `stereographic` from the south pole, the north pole at 0."""

        def stereographic(x: Point) -> Float[Array, " dim"]:
            u = self._unit(x)
            return 2.0 * self.radius * u[:-1] / (1.0 + u[-1])

        flat: dict[str, Picture] = {"stereographic": stereographic}
        return flat if self.n > 2 else {"embedded": lambda x: self.radius * self._unit(x)} | flat

    def from_polar(self, *coordinates: Numbers) -> Point:
        c = self._polar(coordinates)
        return c if self.flat_chart else self._embed(c)

    def to_polar(self, x: PointLike) -> Local:
        return self._point(x) if self.flat_chart else self._angles(self._point(x))

    def isometry_to(self, x: PointLike) -> Float[Array, "ambient ambient"]:
        r"""A rotation matrix of \(R^{n+1}\) that carries the north pole to x, along the shortest great circle."""
        u = self._unit(self._point(x))
        pole = jnp.zeros(self.n + 1, u.dtype).at[-1].set(1.0)
        both = u + pole
        return jnp.eye(self.n + 1) - jnp.outer(both, both) / (1.0 + u[-1]) + 2.0 * jnp.outer(u, pole)

    # ── between the model's arrays and vectors of R^{n+1} ─────────────────────────────────────────────────────────

    def _embed(self, c: Local) -> Float[Array, " ambient"]:
        return self.radius * jnp.append(jnp.sin(c[0]) * polar.direction(c[1:]), jnp.cos(c[0]))

    def _angles(self, x: Float[Array, " ambient"]) -> Local:
        first = jnp.arctan2(polar.radius(x[:-1]), x[-1])
        return jnp.concatenate([first[None], polar.angles(x[:-1])])

    def _unit(self, x: Point) -> Float[Array, " ambient"]:
        x = self._embed(x) if self.flat_chart else x
        return em.unit(x)

    def _enter(self, x: Point, v: Vector) -> Float[Array, " ambient"]:
        return jax.jvp(self._embed, (x,), (v,))[1] if self.flat_chart else v

    def _leave(self, point: Float[Array, " ambient"]) -> Point:
        return self._angles(point) if self.flat_chart else point

    def _leave_vector(self, x: Point, v: Float[Array, " ambient"]) -> Vector:
        if not self.flat_chart:
            return v
        basis = jax.jacfwd(self._embed)(x)
        return (v @ basis) / jnp.sum(basis**2, axis=0)  # polar coordinates are orthogonal

    def _field(self, field: Field) -> Field:
        if not self.flat_chart:
            return lambda x: field(self._array(x))
        return lambda x: self._leave_vector(x, field(self._embed(self._array(x))))

    def _flow(self, flow: Flow) -> Flow:
        return lambda s, x: self._leave(flow(s, self.radius * self._unit(self._array(x))))

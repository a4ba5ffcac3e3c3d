"""Hyperbolic spaces of any dimension and radius."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import axes, polar, validation
from holonomy.spaces import embedded as em
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import AbstractSpace, Picture
from holonomy.spaces.smooth import arc, length
from holonomy.types import Covector, Local, LocalLike, Number, Numbers, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

_ROUNDING = 8.0  # rounding of a product of vectors, in units of the last place of the product of their lengths


class Hyperbolic(AbstractSpace):
    r"""\(H^n\) of radius \(r\): \(\{(s, w) \in R^{n,1} : |s|^2 - w^2 = -r^2, w > 0\}\), time last; \(K = -1/r^2\).

    `model="hyperboloid"`: points are such (s, w), tangent vectors are Minkowski-orthogonal to them. Every formula uses
    s alone and takes \(w = \sqrt{r^2+|s|^2}\), and the timelike part of a tangent vector from its tangency: a point
    stored to relative accuracy \(\varepsilon\) at distance R from the origin is then uncertain by \(\varepsilon r\)
    along and \(\varepsilon r\sinh(R/r)\) across the radius, and nothing is lost beyond that (up to R = 300 r).
    `model="polar"`: points are (a, b, ..., g), singular at a = 0; `model="ball"`: points of the unit ball of Poincaré,
    without singularities, but digits run out towards the boundary. Both are for comparison.

    Polar coordinates: \(r\,(\sinh a\,\omega, \cosh a)\), \(\omega \in S^{n-1}\) the direction of the other angles; for
    n = 3 \(\omega = (\sin b\cos g, \sin b\sin g, \cos b)\); a is dimensionless.
    Killing fields: `rotate_xy`, ... (x carried towards y) and `boost_x`, ....
    """

    n: int = eqx.field(static=True)
    radius: float | Float[Array, ""]
    model: str = eqx.field(static=True)

    def __init__(self, n: int, radius: Number = 1.0, model: str = "hyperboloid"):
        validation.require_dimension("Hyperbolic", n)
        validation.require_positive("Hyperbolic", "radius", radius)
        validation.require_choice("Hyperbolic", "model", model, ("hyperboloid", "polar", "ball"))
        self.n = int(n)
        self.radius = validation.as_number(radius)
        self.model = model

    @property
    def dim(self) -> int:
        return self.n

    @property
    def point_dim(self) -> int:
        return self.n + 1 if self.model == "hyperboloid" else self.n

    @property
    def flat_chart(self) -> bool:
        return self.model != "hyperboloid"

    @property
    def origin(self) -> Point:
        """(0, ..., 0, r); the zero vector in the other models."""
        return self.leave(jnp.zeros(self.n))

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        x, y = self._point(x), self._local(y)
        if self.flat_chart:
            return x + y
        return self.leave(em.hyper_chart(self._spatial(x), em.over(y, self.radius)))

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        x, point = self._point(x), self._point(point, "point")
        if self.flat_chart:
            return point - x
        return self.radius * em.hyper_coordinates(self._spatial(x), self._spatial(point))

    def rechart(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        """As for every space, but from y and z with a turn that depends on x: full accuracy at any distance."""
        if self.flat_chart:
            return self.chart(self._local(y), z)
        x, y, z = self._point(x), self._local(y), self._local(z)
        return self.radius * em.hyper_rechart(self._spatial(x), em.over(y, self.radius), em.over(z, self.radius))

    def transition(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        """As for every space, with full accuracy at any distance."""
        if self.flat_chart:
            return self._local(z) - self._local(y)
        x, y, z = self._point(x), self._local(y), self._local(z)
        return self.radius * em.hyper_transition(self._spatial(x), em.over(y, self.radius), em.over(z, self.radius))

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        """The chart at x carried by the boost that moves x along xi, to first order."""
        x, xi, y = self._point(x), self._local(xi), self._local(y)
        if self.flat_chart:
            return x + xi + y
        return self.leave(em.hyper_shifted_chart(self._spatial(x), em.over(xi, self.radius), em.over(y, self.radius)))

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        r"""\(\sqrt{1+|y|^2}\,\pi\), lengths in units of r."""
        y, covector = em.over(self._local(y), self.radius), self._local(covector, "covector")
        return covector if self.flat_chart else em.height(y) * covector

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        y, covector = em.over(self._local(y), self.radius), self._local(covector, "covector")
        return covector if self.flat_chart else covector / em.height(y)

    def rounding(self, x: PointLike) -> Scalar:
        r"""\(\varepsilon\sinh(R/r)\) at distance R from the origin."""
        s = self._spatial(validation.as_array(x))
        return jnp.zeros(()) if self.flat_chart else jnp.finfo(s.dtype).eps * length(s)

    @property
    def chart_scale(self) -> Number:
        """The radius."""
        return self.radius

    def project(self, x: PointLike) -> Point:
        r"""Keep s and take \(w = \sqrt{r^2 + |s|^2}\). Outside the ball of the ball model there is no projection:
        NaN.
        """
        x = self._array(x)
        if self.model == "ball":
            return jnp.where(jnp.sum(x * x) < 1.0, x, jnp.nan)
        return x if self.flat_chart else self.leave(self._spatial(x))

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        r"""\(v + \langle x, v\rangle_M x/r^2\) on the hyperboloid.

        A product \(\langle x, v\rangle_M\) below the rounding of its two terms is taken as 0: far from the origin it
        would move a vector that is tangent already.
        """
        x, v = self._point(x), self._array(v, "v")
        if self.flat_chart:
            return v
        s = self._spatial(x)
        along, across = em.dot(s, v[:-1]), em.height(s) * v[-1]
        noise = _ROUNDING * jnp.finfo(v.dtype).eps * (length(s) * length(v[:-1]) + jnp.abs(across))
        normal = along - across
        return self._leave_vector(x, v[:-1] + jnp.where(jnp.abs(normal) <= noise, 0.0, normal) * s)

    def tangent_defect(self, x: PointLike, v: VectorLike) -> Scalar:
        if self.flat_chart:
            return jnp.zeros(())
        x, v = validation.as_array(x), validation.as_array(v)
        return jnp.abs(v[-1] - self._leave_vector(x, v[:-1])[-1])

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._point(x)
        u, v = self._enter(x, self._vector(x, u, "u")), self._enter(x, self._vector(x, v))
        return em.hyper_inner(self._spatial(x), u, v)

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        r"""\(2r\,\mathrm{arsinh}\sqrt{Q}\), \(Q = \sinh^2(d/2r)\) without differences, see `embedded.hyper_chord`."""
        return self.radius * em.hyper_distance(self._spatial(self._point(x)), self._spatial(self._point(y, "y")))

    def squared_distance(self, x: PointLike, y: PointLike) -> Scalar:
        q = em.hyper_chord(self._spatial(self._point(x)), self._spatial(self._point(y, "y")))
        return 4.0 * self.radius**2 * q * arc(q, -1) ** 2

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        v = self._enter(x, self._vector(x, v))
        return self.leave(em.hyper_exp(self._spatial(x), v / self.radius))

    @property
    def exact_geodesics(self) -> bool:
        return self.model == "hyperboloid"

    def geodesic(self, x: Point, v: Vector, t: Number = 1.0) -> tuple[Point, Vector]:
        if self.flat_chart:
            return super().geodesic(x, v, t)
        point, velocity = em.hyper_geodesic(self._spatial(x), v[:-1] / self.radius, t)
        point = self._ambient(point)
        return point, self._leave_vector(point, self.radius * velocity)

    def sharp(self, x: Point, covector: Covector) -> Vector:
        if self.flat_chart:
            return super().sharp(x, covector)
        s = self._spatial(x)
        along = covector[:-1] + covector[-1] * s / em.height(s)  # w is a function of s
        return self._leave_vector(x, em.hyper_sharp(s, along))

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._point(x), self._point(y, "y")
        return self._leave_vector(x, self.radius * em.hyper_log(self._spatial(x), self._spatial(y)))

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        x = self._point(x)
        s = self._spatial(x)
        v, w = self._enter(x, self._vector(x, v)), self._enter(x, self._vector(x, w, "w"))
        end = self.leave(em.hyper_exp(s, v / self.radius))
        return self._leave_vector(end, em.hyper_transport(s, v / self.radius, w))

    def random(self, key: PRNGKeyArray) -> Point:
        return self.leave(em.hyper_exp(jnp.zeros(self.n), jax.random.normal(key, (self.n,))))

    def killing(self) -> dict[str, Field]:
        fields = {f"rotate_{p}": self._field(axes.rotation_field(i, j)) for p, i, j in axes.planes(self.n)}
        return fields | {f"boost_{a}": self._field(axes.boost_field(i)) for i, a in enumerate(axes.names(self.n))}

    def isometries(self) -> dict[str, Flow]:
        flows = {f"rotate_{p}": self._flow(axes.rotation_flow(i, j)) for p, i, j in axes.planes(self.n)}
        return flows | {f"boost_{a}": self._flow(axes.boost_flow(i)) for i, a in enumerate(axes.names(self.n))}

    def pictures(self) -> dict[str, Picture]:
        """`poincare` and `klein`: the open unit ball; `hyperboloid` (n < 3): the vector itself."""

        def poincare(x: Point) -> Float[Array, " dim"]:
            s = self._spatial(x)
            return s / (1.0 + em.height(s))

        def klein(x: Point) -> Float[Array, " dim"]:
            s = self._spatial(x)
            return s / em.height(s)

        balls: dict[str, Picture] = {"poincare": poincare, "klein": klein}
        return balls if self.n > 2 else balls | {"hyperboloid": lambda x: self._ambient(self._spatial(x))}

    def from_polar(self, *coordinates: Numbers) -> Point:
        c = self._polar(coordinates)
        return c if self.model == "polar" else self.leave(jnp.sinh(c[0]) * polar.direction(c[1:]))

    def to_polar(self, x: PointLike) -> Local:
        x = self._point(x)
        return x if self.model == "polar" else self._angles(self._spatial(x))

    def isometry_to(self, x: PointLike) -> Float[Array, "ambient ambient"]:
        r"""The boost of \(R^{n,1}\) that carries the origin to x, as a matrix on (s, w)."""
        s = self._spatial(self._point(x))
        w = em.height(s)
        top = jnp.concatenate([jnp.eye(self.n) + jnp.outer(s, s) / (1.0 + w), s[:, None]], axis=1)
        return jnp.concatenate([top, jnp.append(s, w)[None, :]])

    # ── between the model's arrays and spacelike parts of unit hyperboloid points ─────────────────────────────────

    def _spatial(self, x: Point) -> Float[Array, " dim"]:
        if self.model == "polar":
            return jnp.sinh(x[0]) * polar.direction(x[1:])
        if self.model == "ball":
            return 2.0 * x / (1.0 - jnp.sum(x * x))
        return x[:-1] / self.radius

    def _angles(self, s: Float[Array, " dim"]) -> Local:
        return jnp.concatenate([jnp.arcsinh(polar.radius(s))[None], polar.angles(s)])

    def _ambient(self, s: Float[Array, " dim"]) -> Float[Array, " ambient"]:
        return self.radius * jnp.append(s, em.height(s))

    def leave(self, s: Float[Array, " dim"]) -> Point:
        if self.model == "polar":
            return self._angles(s)
        return s / (1.0 + em.height(s)) if self.model == "ball" else self._ambient(s)

    def _enter(self, x: Point, v: Vector) -> Float[Array, " dim"]:
        """Spacelike part, in units of length, of a tangent vector."""
        return self.radius * jax.jvp(self._spatial, (x,), (v,))[1] if self.flat_chart else v[:-1]

    def _leave_vector(self, x: Point, v: Float[Array, " dim"]) -> Vector:
        s = self._spatial(x)
        if not self.flat_chart:
            return jnp.append(v, em.dot(s, v) / em.height(s))
        basis = self.radius * jax.jacfwd(self._spatial)(x)
        pair = jax.vmap(em.hyper_inner, in_axes=(None, 1, None))(s, basis, v)
        return pair / jax.vmap(em.hyper_inner, in_axes=(None, 1, 1))(s, basis, basis)  # both models are orthogonal

    def _field(self, field: Field) -> Field:
        return lambda x: self._leave_vector(x, field(self._ambient(self._spatial(self._array(x))))[:-1])

    def _flow(self, flow: Flow) -> Flow:
        return lambda t, x: self.leave(flow(t, self._ambient(self._spatial(self._array(x))))[:-1] / self.radius)

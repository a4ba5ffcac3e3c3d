"""A conformally flat space whose curvature changes from place to place."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from holonomy.spaces import axes, polar, validation
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import Picture
from holonomy.spaces.coordinate_space import CoordinateSpace
from holonomy.spaces.embedded import dot, wedge_dot
from holonomy.spaces.smooth import arc, cosine, root, sine
from holonomy.types import Count, Local, Numbers, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

_NEWTON_STEPS = 12
_POLISH_STEPS = 2


class Inhomogeneous(CoordinateSpace):
    r"""\(R^n\) with the metric \((|x|^2 + 2)\,I\): negatively curved, most at the origin, flat far away.

    It is the Jacobi metric of the force \(\ddot x = x\) at energy 1, so its geodesics are
    \(x\cosh\tau + u\sinh\tau\), \(|u|^2 = |x|^2 + 2\), of length
    \(s(\tau) = \tau + \tfrac12(|x|^2+1)\sinh 2\tau + x\cdot u\,\sinh^2\tau\). With
    \(D = \sqrt{1+(|p|^2+|q|^2)/2+(p\cdot q)^2/4}\) and
    \(\sinh^2(\delta/2) = |p-q|^2/(4(1+p\cdot q/2+D))\) the distance is \(\delta + \sinh\delta\,(D + p\cdot q/2)\).
    Its only isometries are rotations: `rotate_xy`, .... Polar coordinates as those of `Euclidean`.
    """

    n: int = eqx.field(static=True)

    def __init__(self, n: int):
        validation.require_dimension("Inhomogeneous", n)
        self.n = int(n)

    @property
    def dim(self) -> int:
        return self.n

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        return _factor(self._point(x)) * dot(self._array(u, "u"), self._array(v, "v"))

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        x, y = self._point(x), self._point(y, "y")
        q = _chord(x, y)
        half = jnp.arcsinh(root(q))
        return 2.0 * half + 2.0 * root(q) * jnp.sqrt(1.0 + q) * _stretch(x, y)

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        v = self._vector(x, v)
        t = _time(x, v)
        z = self._square(x, v) * t * t
        # x cosh tau + u sinh tau, with cosh tau - 1 = 2 sinh^2(tau/2)
        return x + 0.5 * z * sine(z / 4.0, -1) ** 2 * x + _factor(x) * t * sine(z, -1) * v

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._point(x), self._point(y, "y")
        q = _chord(x, y)
        # length / sinh(delta) = delta/sinh(delta) + D + p.q/2, the first factor smooth in q = sinh^2(delta/2)
        ratio = _arc_over_sinh(q) + _stretch(x, y)
        return ratio * ((y - x) - 2.0 * q * x) / _factor(x)

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        """The plane of the geodesic turns with its tangent, vectors across it keep their direction; lengths scale."""
        x = self._point(x)
        v, w = self._vector(x, v), self._vector(x, w, "w")
        t = _time(x, v)
        z = self._square(x, v) * t * t
        ratio = jnp.sqrt(_factor(x) / _factor(self.exp(x, v)))
        # the turn from the unit velocity a at the start to b at the end: w + Kw + K^2 w/(1 + a.b), K = b a^T - a b^T,
        # which is a multiple of x v^T - v x^T and so smooth at v = 0, where a itself has no limit
        size = sine(z, -1) * t * ratio

        def turn(u: Vector) -> Vector:
            return size * (x * dot(v, u) - v * dot(x, u))

        once = turn(w)
        aligned = size * dot(x, v) + cosine(z, -1) * ratio
        return ratio * (w + once + turn(once) / (1.0 + aligned))

    def random(self, key: PRNGKeyArray) -> Point:
        return jax.random.normal(key, (self.n,))

    def killing(self) -> dict[str, Field]:
        return {f"rotate_{p}": axes.rotation_field(i, j) for p, i, j in axes.planes(self.n)}

    def isometries(self) -> dict[str, Flow]:
        return {f"rotate_{p}": axes.rotation_flow(i, j) for p, i, j in axes.planes(self.n)}

    def pictures(self) -> dict[str, Picture]:
        return {"conformal": lambda x: x[:3]}

    def from_polar(self, *coordinates: Numbers) -> Point:
        c = self._polar(coordinates)
        return c[0] * polar.direction(c[1:])

    def to_polar(self, x: PointLike) -> Local:
        x = self._point(x)
        return jnp.concatenate([polar.radius(x)[None], polar.angles(x)])

    def _square(self, x: Point, v: Vector) -> Scalar:
        return _factor(x) * dot(v, v)


def _factor(x: Point) -> Scalar:
    return dot(x, x) + 2.0


def _half_inner(x: Point, y: Point) -> Scalar:
    return dot(x, y) / 2.0


def _d(x: Point, y: Point) -> Scalar:
    return jnp.sqrt(1.0 + (dot(x, x) + dot(y, y)) / 2.0 + _half_inner(x, y) ** 2)


def _stretch(x: Point, y: Point) -> Scalar:
    """D + p.q/2, its difference for opposite points written as a quotient."""
    h, d = _half_inner(x, y), _d(x, y)
    opposite = h < 0
    return jnp.where(opposite, (1.0 + (dot(x, x) + dot(y, y)) / 2.0) / (d - jnp.where(opposite, h, 0.0)), d + h)


def _chord(x: Point, y: Point) -> Scalar:
    r"""\(\sinh^2(\delta/2)\)."""
    h, d = _half_inner(x, y), _d(x, y)
    far = h < -0.5
    near = dot(x - y, x - y) / (4.0 * (1.0 + jnp.where(far, 0.0, h) + d))
    return jnp.where(far, (d - 1.0 - h) / 2.0, near)


def _arc_over_sinh(q: Scalar) -> Scalar:
    r"""\(\delta/\sinh\delta\) as a function of \(\sinh^2(\delta/2)\)."""
    return arc(q, -1) / jnp.sqrt(1.0 + q)


def _time(x: Point, v: Vector) -> Scalar:
    r"""\(t = \tau/\ell\), \(\ell = |v|_x\), with \(s(\tau) = \ell\): smooth at v = 0, where \(t = 1/(|x|^2+2)\).

    The length divided by \(\ell\) is \(t + (|x|^2+1)\,t\,\frac{\sinh 2\ell t}{2\ell t} + (|x|^2+2)\,x\cdot v\,
    (t\,\frac{\sinh\ell t}{\ell t})^2\). Newton's method ends at round-off where it is 1; only these last steps are
    differentiated, and each doubles the order of exact derivatives.
    """
    c, square, slope = _factor(x), _factor(x) * dot(v, v), dot(x, v)
    t = jax.lax.stop_gradient(_first_time(x, v))
    for _ in range(_POLISH_STEPS):
        z = square * t * t
        double = sine(4.0 * z, -1)
        excess = t + (c - 1.0) * t * double + c * slope * (t * sine(z, -1)) ** 2 - 1.0
        rate = 1.0 + (c - 1.0) * cosine(4.0 * z, -1) + 2.0 * c * slope * t * double
        t = t - excess / rate
    return t


def _first_time(x: Point, v: Vector) -> Scalar:
    r"""The time, found by counting from the point nearest the origin, where the length is odd.

    \(\sigma + \frac A2\sinh 2\sigma = B\) with \(A^2 = 1 + |x\wedge u|^2\) and \(\sinh 2\tau_* = -x\cdot u/A\).
    Newton's method from above, on a convex function.
    """
    ell = jnp.sqrt(_factor(x) * dot(v, v))
    moving = ell > 1e-4
    safe = jnp.where(moving, ell, 1.0)
    u = _factor(x) * v / safe
    a = jnp.sqrt(1.0 + wedge_dot(x, u, x, u))
    nearest = -0.5 * jnp.arcsinh(dot(x, u) / a)
    goal = ell - nearest + dot(x, u) / 2.0
    size = jnp.abs(goal)
    above = jnp.minimum(size / (1.0 + a), 0.5 * jnp.arcsinh(2.0 * size / a))

    def step(_: Count, sigma: Scalar) -> Scalar:
        return sigma - (sigma + 0.5 * a * jnp.sinh(2.0 * sigma) - size) / (1.0 + a * jnp.cosh(2.0 * sigma))

    sigma = jnp.sign(goal) * jax.lax.fori_loop(0, _NEWTON_STEPS, step, above)
    # so short a geodesic is solved by the leading terms, a quadratic equation
    short = 2.0 / (_factor(x) + jnp.sqrt(_factor(x) ** 2 + 4.0 * _factor(x) * dot(x, v)))
    return jnp.where(moving, (sigma + nearest) / safe, short)

"""The rigid motions of the plane."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import axes, validation
from holonomy.spaces import embedded as em
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import Picture
from holonomy.spaces.group import AbstractGroup
from holonomy.spaces.smooth import root, sine, versine
from holonomy.types import Local, LocalLike, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector


class SE2(AbstractGroup):
    r"""\(SE(2)\): a rigid motion of the plane is (cos, sin, x, y): turn by the angle, then move by (x, y).

    An element of the Lie algebra is \((v_x, v_y, \omega)\) in the body frame.
    \(\langle\cdot,\cdot\rangle = v_x^2 + v_y^2 + \ell^2\omega^2\), \(\ell\) = `length`: the product of a circle and the
    plane, flat, and invariant under the group from the left. Its geodesics turn evenly while their place moves on a
    straight line; the screw motions of the group are `group_exp`.
    The chart at g: move by \((y_0, y_1)\) in the frame of g and turn by the angle \(y_2\).
    Killing fields: `translate_x`, `translate_y`, `rotate_xy` (about the origin, place and frame together),
    `spin_xy` (the frame alone).
    """

    length: float | Float[Array, ""] = eqx.field(default=1.0, converter=validation.as_number)

    def __check_init__(self) -> None:
        validation.require_positive("SE2", "length", self.length)

    @property
    def dim(self) -> int:
        return 3

    @property
    def point_dim(self) -> int:
        return 4

    @property
    def flat_chart(self) -> bool:
        return False

    @property
    def identity(self) -> Point:
        return jnp.array([1.0, 0.0, 0.0, 0.0])

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        x, y = self.project(self._point(x)), self._local(y)
        return self.compose(x, jnp.stack([jnp.cos(y[2]), jnp.sin(y[2]), y[0], y[1]]))

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        x, point = self.project(self._point(x)), self.project(self._point(point, "point"))
        place = plane_turn(x[0], -x[1], point[2:] - x[2:])
        return jnp.append(place, _angle(x, point))

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        xi, y = self._local(xi), self._local(y)
        return self.chart(x, y + jnp.stack([xi[0] - xi[2] * y[1], xi[1] + xi[2] * y[0], xi[2]]))

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        y, p = self._local(y), self._local(covector, "covector")
        return jnp.stack([p[0], p[1], p[2] + y[0] * p[1] - y[1] * p[0]])

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        y, p = self._local(y), self._local(covector, "covector")
        return jnp.stack([p[0], p[1], p[2] - y[0] * p[1] + y[1] * p[0]])

    def project(self, x: PointLike) -> Point:
        x = self._array(x)
        return jnp.concatenate([em.unit(x[:2]), x[2:]])

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        x, v = self.project(self._point(x)), self._array(v, "v")
        return jnp.concatenate([v[:2] - jnp.sum(x[:2] * v[:2]) * x[:2], v[2:]])

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._point(x)
        u, v = self._vector(x, u, "u"), self._vector(x, v)
        return self.length**2 * jnp.sum(u[:2] * v[:2]) + jnp.sum(u[2:] * v[2:])

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        x, y = self.project(self._point(x)), self.project(self._point(y, "y"))
        return root((self.length * _angle(x, y)) ** 2 + jnp.sum((x[2:] - y[2:]) ** 2))

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        v, x = self._vector(x, v), self.project(x)
        rate = x[0] * v[1] - x[1] * v[0]
        return jnp.concatenate([plane_turn(jnp.cos(rate), jnp.sin(rate), x[:2]), x[2:] + v[2:]])

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self.project(self._point(x)), self.project(self._point(y, "y"))
        angle = _angle(x, y)
        if validation.known(angle) and abs(float(angle)) > jnp.pi - 1e-15:
            raise ValueError(
                f"x = {validation.show(x)} and y = {validation.show(y)} differ by a half turn, so two shortest "
                "geodesics of SE2 "
                "join them and log is not defined. Turn one of them slightly to say which way you mean."
            )
        return jnp.concatenate([angle * _quarter(x[:2]), y[2:] - x[2:]])

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        x = self._point(x)
        v, w = self._vector(x, v), self._vector(x, w, "w")
        rate = x[0] * v[1] - x[1] * v[0]
        return jnp.concatenate([plane_turn(jnp.cos(rate), jnp.sin(rate), w[:2]), w[2:]])

    def random(self, key: PRNGKeyArray) -> Point:
        turn, place = jax.random.split(key)
        return self.from_pose(
            jnp.append(jax.random.normal(place, (2,)), jax.random.uniform(turn, (), minval=-jnp.pi, maxval=jnp.pi))
        )

    def killing(self) -> dict[str, Field]:
        def spin(x: Point) -> Vector:
            return jnp.concatenate([_quarter(x[:2]), jnp.zeros(2, x.dtype)])

        def rotate(x: Point) -> Vector:
            return jnp.concatenate([_quarter(x[:2]), _quarter(x[2:])])

        return {
            "translate_x": axes.translation_field(2),
            "translate_y": axes.translation_field(3),
            "rotate_xy": rotate,
            "spin_xy": spin,
        }

    def isometries(self) -> dict[str, Flow]:
        spin, orbit = axes.rotation_flow(0, 1), axes.rotation_flow(2, 3)
        return {
            "translate_x": axes.translation_flow(2),
            "translate_y": axes.translation_flow(3),
            "rotate_xy": lambda s, x: orbit(s, spin(s, x)),
            "spin_xy": spin,
        }

    def pictures(self) -> dict[str, Picture]:
        """`plane`: the place (x, y); `pose`: (x, y, angle)."""
        return {"plane": lambda x: x[2:], "pose": self.to_pose}

    # ── the group ─────────────────────────────────────────────────────────────────────────────────────────────────

    def from_pose(self, pose: Float[Array, " 3"]) -> Point:
        """The motion with place (x, y) and angle theta, given as (x, y, theta)."""
        pose = validation.as_array(pose)
        return jnp.stack([jnp.cos(pose[2]), jnp.sin(pose[2]), pose[0], pose[1]])

    def to_pose(self, g: PointLike) -> Float[Array, " 3"]:
        """(x, y, theta) with theta in (-pi, pi]."""
        g = validation.as_array(g)
        return jnp.append(g[2:], jnp.arctan2(g[1], g[0]))

    def compose(self, g: PointLike, h: PointLike) -> Point:
        g, h = validation.as_array(g), validation.as_array(h)
        return jnp.concatenate([plane_turn(g[0], g[1], h[:2]), g[2:] + plane_turn(g[0], g[1], h[2:])])

    def inverse(self, g: PointLike) -> Point:
        g = validation.as_array(g)
        return jnp.concatenate([jnp.stack([g[0], -g[1]]), -plane_turn(g[0], -g[1], g[2:])])

    def lift(self, g: PointLike, xi: LocalLike) -> Vector:
        g, xi = validation.as_array(g), validation.as_array(xi)
        return jnp.concatenate([xi[2] * _quarter(g[:2]), plane_turn(g[0], g[1], xi[:2])])

    def body_velocity(self, g: PointLike, v: VectorLike) -> Local:
        g, v = validation.as_array(g), validation.as_array(v)
        return jnp.append(plane_turn(g[0], -g[1], v[2:]), g[0] * v[1] - g[1] * v[0])

    def group_exp(self, xi: LocalLike) -> Point:
        xi = validation.as_array(xi)
        z = xi[2] ** 2
        place = plane_turn(sine(z, 1), xi[2] * versine(z, 1), xi[:2])
        return jnp.concatenate([jnp.stack([jnp.cos(xi[2]), jnp.sin(xi[2])]), place])

    def group_log(self, g: PointLike) -> Local:
        g = validation.as_array(g)
        angle = jnp.arctan2(g[1], g[0])
        z = angle**2
        a, b = sine(z, 1), angle * versine(z, 1)
        return jnp.append(plane_turn(a, -b, g[2:]) / (a * a + b * b), angle)

    def matrix(self, g: PointLike) -> Float[Array, "3 3"]:
        g = validation.as_array(g)
        c, s, x, y = g
        zero, one = jnp.zeros_like(c), jnp.ones_like(c)
        return jnp.stack([jnp.stack([c, -s, x]), jnp.stack([s, c, y]), jnp.stack([zero, zero, one])])

    def hat(self, xi: LocalLike) -> Float[Array, "3 3"]:
        xi = validation.as_array(xi)
        vx, vy, turn = xi
        zero = jnp.zeros_like(turn)
        return jnp.stack([jnp.stack([zero, -turn, vx]), jnp.stack([turn, zero, vy]), jnp.zeros(3, xi.dtype)])

    def vee(self, matrix: Float[Array, "3 3"]) -> Local:
        matrix = validation.as_array(matrix)
        return jnp.stack([matrix[0, 2], matrix[1, 2], (matrix[1, 0] - matrix[0, 1]) / 2.0])


def plane_turn(c: Scalar, s: Scalar, v: Float[Array, " 2"]) -> Float[Array, " 2"]:
    """The vector v turned by the angle with this cosine and sine."""
    return jnp.stack([c * v[0] - s * v[1], s * v[0] + c * v[1]])


def _quarter(v: Float[Array, " 2"]) -> Float[Array, " 2"]:
    return jnp.stack([-v[1], v[0]])


def _angle(x: Point, y: Point) -> Scalar:
    # the sine from y - x, so that near frames keep their digits
    d = y[:2] - x[:2]
    return jnp.arctan2(x[0] * d[1] - x[1] * d[0], x[0] * y[0] + x[1] * y[1])

"""The rotations of space."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import embedded as em
from holonomy.spaces import quaternion as qt
from holonomy.spaces import validation
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import Picture
from holonomy.spaces.group import AbstractGroup, hat3, vee3
from holonomy.spaces.smooth import arc, cosine, sine
from holonomy.types import Local, LocalLike, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

# The axis about which each coordinate plane turns, the first axis carried towards the second.
AXES = {"xy": (0.0, 0.0, 1.0), "xz": (0.0, -1.0, 0.0), "yz": (1.0, 0.0, 0.0)}


class SO3(AbstractGroup):
    r"""\(SO(3)\): a rotation is a unit quaternion (w, x, y, z); q and -q are the same rotation.

    \(\langle u, v\rangle = \omega_u\cdot\omega_v\) with the angular velocity \(\omega\) in the body,
    \(\dot q = \frac12 q\omega\); distances are angles of rotation, at most \(\pi\), and \(K = 1/4\). The metric
    is invariant from both sides, so that \(\exp_q(\frac12 q\omega) = q\,\)`group_exp`\((\omega)\). The chart
    at q is \(y \mapsto q\,((1-k), y/2)/(1+k)\), \(k = |y|^2/16\).
    Killing fields: `rotate_xy`, ... turn the body about axes fixed in space, `body_xy`, ... about its own axes.
    `log` fails for rotations that differ by a half turn.
    """

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
        return qt.multiply(self._unit(self._point(x)), qt.small_turn(self._local(y)))

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        x, point = self._unit(self._point(x)), self._unit(self._point(point, "point"))
        return qt.small_turn_inverse(self._difference(x, point))

    def rechart(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        y, z = self._local(y), self._local(z)
        return qt.small_turn_inverse(qt.multiply(qt.small_turn(y), qt.small_turn(z)))

    def transition(self, x: PointLike, y: LocalLike, z: LocalLike) -> Local:
        return self.rechart(x, -self._local(y), z)

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        r"""\(q(1 + \frac12\xi)\) times the turn of y."""
        x, xi, y = self._unit(self._point(x)), self._local(xi), self._local(y)
        return qt.multiply(x, qt.multiply(jnp.concatenate([jnp.ones(1, xi.dtype), 0.5 * xi]), qt.small_turn(y)))

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        r"""\(D^\top\pi\) with \(D = (1-k)\,1 - \frac12\hat y + \frac18 yy^\top\), which is \(1+k\) times a rotation."""
        return _shift(self._local(y), self._local(covector, "covector"), 0.5)

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        y = self._local(y)
        return _shift(y, self._local(covector, "covector"), -0.5) / (1.0 + em.dot(y, y) / 16.0) ** 2

    def project(self, x: PointLike) -> Point:
        return self._unit(self._array(x))

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        unit = self._unit(self._point(x))
        v = self._array(v, "v")
        return v - em.dot(unit, v) * unit

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._point(x)
        return 4.0 * em.dot(self._vector(x, u, "u"), self._vector(x, v))

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        """The angle of the rotation from x to y, in [0, pi]."""
        x, y = self._unit(self._point(x)), self._unit(self._point(y, "y"))
        return 2.0 * em.sphere_angle(x, self._same_side(x, y))

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        return em.sphere_exp(self._unit(x), self._vector(x, v))

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._unit(self._point(x)), self._unit(self._point(y, "y"))
        if validation.known(x, y) and abs(float(np.dot(np.asarray(x), np.asarray(y)))) < 1e-15:
            raise ValueError(
                f"x = {validation.show(x)} and y = {validation.show(y)} differ by a half turn, so two shortest "
                "geodesics of SO3 "
                "join them and log is not defined. Turn one of them slightly to say which way you mean."
            )
        return em.sphere_log(x, self._same_side(x, y))

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        x = self._point(x)
        return em.sphere_transport(self._unit(x), self._vector(x, v), self._vector(x, w, "w"))

    def random(self, key: PRNGKeyArray) -> Point:
        return self._unit(jax.random.normal(key, (4,)))

    def killing(self) -> dict[str, Field]:
        def space(axis: tuple[float, ...]) -> Field:
            return lambda x: 0.5 * qt.multiply(qt.pure(jnp.asarray(axis)), x)

        def body(axis: tuple[float, ...]) -> Field:
            return lambda x: 0.5 * qt.multiply(x, qt.pure(jnp.asarray(axis)))

        fields = {f"rotate_{p}": space(axis) for p, axis in AXES.items()}
        return fields | {f"body_{p}": body(axis) for p, axis in AXES.items()}

    def isometries(self) -> dict[str, Flow]:
        def space(axis: tuple[float, ...]) -> Flow:
            return lambda s, x: qt.multiply(self.group_exp(s * jnp.asarray(axis)), x)

        def body(axis: tuple[float, ...]) -> Flow:
            return lambda s, x: qt.multiply(x, self.group_exp(s * jnp.asarray(axis)))

        flows = {f"rotate_{p}": space(axis) for p, axis in AXES.items()}
        return flows | {f"body_{p}": body(axis) for p, axis in AXES.items()}

    def pictures(self) -> dict[str, Picture]:
        """`rotation_vector`: axis times angle, in the ball of radius pi whose opposite boundary points agree."""
        return {"rotation_vector": self.group_log}

    # ── the group ─────────────────────────────────────────────────────────────────────────────────────────────────

    def compose(self, g: PointLike, h: PointLike) -> Point:
        g, h = validation.as_array(g), validation.as_array(h)
        return qt.multiply(g, h)

    def inverse(self, g: PointLike) -> Point:
        g = validation.as_array(g)
        return qt.conjugate(g)

    def lift(self, g: PointLike, xi: LocalLike) -> Vector:
        g, xi = validation.as_array(g), validation.as_array(xi)
        return 0.5 * qt.multiply(g, qt.pure(xi))

    def body_velocity(self, g: PointLike, v: VectorLike) -> Local:
        g, v = validation.as_array(g), validation.as_array(v)
        return 2.0 * qt.multiply(qt.conjugate(g), v)[1:]

    def group_exp(self, xi: LocalLike) -> Point:
        xi = validation.as_array(xi)
        z = em.dot(xi, xi) / 4.0
        return jnp.concatenate([cosine(z, 1)[None], sine(z, 1) * xi / 2.0])

    def group_log(self, g: PointLike) -> Local:
        g = validation.as_array(g)
        g = g * jnp.where(g[0] < 0, -1.0, 1.0)
        # 2 atan2(|v|, w)/|v|: by the arcsine's series for small turns, w being positive
        z = em.dot(g[1:], g[1:])
        small = z < 0.25
        size = jnp.sqrt(jnp.where(small, 1.0, z))
        return 2.0 * jnp.where(small, arc(jnp.where(small, z, 0.0), 1), jnp.arctan2(size, g[0]) / size) * g[1:]

    def matrix(self, g: PointLike) -> Float[Array, "3 3"]:
        g = validation.as_array(g)
        return qt.to_matrix(g)

    def from_matrix(self, m: Float[Array, "3 3"]) -> Point:
        """The quaternion with w >= 0 of a rotation matrix."""
        m = validation.as_array(m)
        return qt.from_matrix(m)

    def hat(self, xi: LocalLike) -> Float[Array, "3 3"]:
        xi = validation.as_array(xi)
        return hat3(xi)

    def vee(self, matrix: Float[Array, "3 3"]) -> Local:
        matrix = validation.as_array(matrix)
        return vee3(matrix)

    def act(self, g: PointLike) -> Callable[[Float[Array, " 3"]], Float[Array, " 3"]]:
        """The rotation as a map of space."""
        rotation = validation.as_array(g)
        return lambda v: qt.rotate(rotation, v)

    # ── inside ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _unit(self, x: Point) -> Point:
        return em.unit(x)

    def _same_side(self, x: Point, y: Point) -> Point:
        return y * jnp.where(em.dot(x, y) < 0, -1.0, 1.0)

    def _difference(self, x: Point, y: Point) -> Point:
        """x* y, its vector part formed from y - x so that near rotations keep their digits."""
        y = self._same_side(x, y)
        vector = qt.multiply(qt.conjugate(x), y - x)[1:]
        return jnp.concatenate([em.dot(x, y)[None], vector])


def _shift(y: Local, covector: Local, sign: float) -> Local:
    return (1.0 - em.dot(y, y) / 16.0) * covector + sign * jnp.cross(y, covector) + 0.125 * em.dot(y, covector) * y

"""The rigid motions of space."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from holonomy.spaces import axes, validation
from holonomy.spaces import quaternion as qt
from holonomy.spaces.axes import Field, Flow
from holonomy.spaces.base import Picture
from holonomy.spaces.group import AbstractGroup, hat3, vee3
from holonomy.spaces.smooth import remainder, root, versine
from holonomy.spaces.so3 import AXES, SO3
from holonomy.types import Local, LocalLike, Point, PointLike, Scalar, VectorLike
from holonomy.types import Tangent as Vector

_AXES = "xyz"


class SE3(AbstractGroup):
    r"""\(SE(3)\): a rigid motion of space is (w, x, y, z, X, Y, Z): turn by the unit quaternion, then move by (X, Y,
    Z).

    An element of the Lie algebra is \((v, \omega)\) in the body frame, velocity first.
    \(\langle\cdot,\cdot\rangle = |v|^2 + \ell^2|\omega|^2\), \(\ell\) = `length`: the product of SO(3) and \(E^3\),
    invariant under the group from the left. Its geodesics turn evenly while their place moves on a straight line; the
    screw motions of the group are `group_exp`. The chart at g: move by \(y_{0:3}\) in the frame of g and turn as
    `SO3` does. Killing fields: `translate_x`, ...; `rotate_xy`, ... (about the origin, place and frame together);
    `spin_xy`, ... (the frame alone, about axes fixed in space); `body_xy`, ... (the frame alone, about its own axes).
    """

    length: float | Float[Array, ""] = eqx.field(default=1.0, converter=validation.as_number)
    _turns: SO3 = eqx.field(default_factory=SO3, init=False, repr=False)

    def __check_init__(self) -> None:
        validation.require_positive("SE3", "length", self.length)

    @property
    def dim(self) -> int:
        return 6

    @property
    def point_dim(self) -> int:
        return 7

    @property
    def flat_chart(self) -> bool:
        return False

    @property
    def identity(self) -> Point:
        return jnp.zeros(7).at[0].set(1.0)

    def chart(self, x: PointLike, y: LocalLike) -> Point:
        x, y = self.project(self._point(x)), self._local(y)
        place = x[4:] + qt.rotate(x[:4], y[:3])
        return jnp.concatenate([qt.multiply(x[:4], qt.small_turn(y[3:])), place])

    def coordinates(self, x: PointLike, point: PointLike) -> Local:
        x, point = self.project(self._point(x)), self._point(point, "point")
        place = qt.rotate(qt.conjugate(x[:4]), point[4:] - x[4:])
        return jnp.concatenate([place, self._turns.coordinates(x[:4], point[:4])])

    def shifted_chart(self, x: PointLike, xi: LocalLike, y: LocalLike) -> Point:
        x, xi, y = self.project(self._point(x)), self._local(xi), self._local(y)
        place = x[4:] + qt.rotate(x[:4], y[:3] + xi[:3] + jnp.cross(xi[3:], y[:3]))
        return jnp.concatenate([self._turns.shifted_chart(x[:4], xi[3:], y[3:]), place])

    def pull_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        x, y, covector = validation.as_array(x), self._local(y), self._local(covector, "covector")
        turn = self._turns.pull_shift(x[:4], y[3:], covector[3:])
        return jnp.concatenate([covector[:3], turn + jnp.cross(y[:3], covector[:3])])

    def solve_shift(self, x: PointLike, y: LocalLike, covector: LocalLike) -> Local:
        x, y, covector = validation.as_array(x), self._local(y), self._local(covector, "covector")
        turn = covector[3:] - jnp.cross(y[:3], covector[:3])
        return jnp.concatenate([covector[:3], self._turns.solve_shift(x[:4], y[3:], turn)])

    def project(self, x: PointLike) -> Point:
        x = self._array(x)
        return jnp.concatenate([self._turns.project(x[:4]), x[4:]])

    def tangent(self, x: PointLike, v: VectorLike) -> Vector:
        x, v = self._point(x), self._array(v, "v")
        return jnp.concatenate([self._turns.tangent(x[:4], v[:4]), v[4:]])

    def inner(self, x: PointLike, u: VectorLike, v: VectorLike) -> Scalar:
        x = self._point(x)
        u, v = self._vector(x, u, "u"), self._vector(x, v)
        return self.length**2 * self._turns.inner(x[:4], u[:4], v[:4]) + jnp.sum(u[4:] * v[4:])

    def distance(self, x: PointLike, y: PointLike) -> Scalar:
        x, y = self._point(x), self._point(y, "y")
        turn = self.length * self._turns.distance(x[:4], y[:4])
        return root(turn**2 + jnp.sum((x[4:] - y[4:]) ** 2))

    def exp(self, x: PointLike, v: VectorLike) -> Point:
        x = self._point(x)
        v = self._vector(x, v)
        return jnp.concatenate([self._turns.exp(x[:4], v[:4]), x[4:] + v[4:]])

    def log(self, x: PointLike, y: PointLike) -> Vector:
        x, y = self._point(x), self._point(y, "y")
        return jnp.concatenate([self._turns.log(x[:4], y[:4]), y[4:] - x[4:]])

    def transport(self, x: PointLike, v: VectorLike, w: VectorLike) -> Vector:
        x = self._point(x)
        v, w = self._vector(x, v), self._vector(x, w, "w")
        return jnp.concatenate([self._turns.transport(x[:4], v[:4], w[:4]), w[4:]])

    def random(self, key: PRNGKeyArray) -> Point:
        turn, place = jax.random.split(key)
        return jnp.concatenate([self._turns.random(turn), jax.random.normal(place, (3,))])

    def killing(self) -> dict[str, Field]:
        turns, zero = self._turns.killing(), jnp.zeros(3)

        def rotate(plane: str) -> Field:
            axis = jnp.asarray(AXES[plane])
            return lambda x: jnp.concatenate([turns[f"rotate_{plane}"](x[:4]), jnp.cross(axis, x[4:])])

        def alone(name: str) -> Field:
            return lambda x: jnp.concatenate([turns[name](x[:4]), zero])

        fields = {f"translate_{a}": axes.translation_field(4 + i) for i, a in enumerate(_AXES)}
        fields |= {f"rotate_{p}": rotate(p) for p in AXES}
        fields |= {f"spin_{p}": alone(f"rotate_{p}") for p in AXES}
        return fields | {f"body_{p}": alone(f"body_{p}") for p in AXES}

    def isometries(self) -> dict[str, Flow]:
        turns = self._turns.isometries()

        def rotate(plane: str) -> Flow:
            axis = jnp.asarray(AXES[plane])
            return lambda s, x: jnp.concatenate(
                [turns[f"rotate_{plane}"](s, x[:4]), qt.rotate(self._turns.group_exp(s * axis), x[4:])]
            )

        def alone(name: str) -> Flow:
            return lambda s, x: jnp.concatenate([turns[name](s, x[:4]), x[4:]])

        flows = {f"translate_{a}": axes.translation_flow(4 + i) for i, a in enumerate(_AXES)}
        flows |= {f"rotate_{p}": rotate(p) for p in AXES}
        flows |= {f"spin_{p}": alone(f"rotate_{p}") for p in AXES}
        return flows | {f"body_{p}": alone(f"body_{p}") for p in AXES}

    def pictures(self) -> dict[str, Picture]:
        """`place`: (X, Y, Z); `rotation_vector`: axis times angle of the frame."""
        return {"place": lambda x: x[4:], "rotation_vector": lambda x: self._turns.group_log(x[:4])}

    # ── the group ─────────────────────────────────────────────────────────────────────────────────────────────────

    def compose(self, g: PointLike, h: PointLike) -> Point:
        g, h = validation.as_array(g), validation.as_array(h)
        return jnp.concatenate([qt.multiply(g[:4], h[:4]), g[4:] + qt.rotate(g[:4], h[4:])])

    def inverse(self, g: PointLike) -> Point:
        g = validation.as_array(g)
        back = qt.conjugate(g[:4])
        return jnp.concatenate([back, -qt.rotate(back, g[4:])])

    def lift(self, g: PointLike, xi: LocalLike) -> Vector:
        g, xi = validation.as_array(g), validation.as_array(xi)
        return jnp.concatenate([self._turns.lift(g[:4], xi[3:]), qt.rotate(g[:4], xi[:3])])

    def body_velocity(self, g: PointLike, v: VectorLike) -> Local:
        g, v = validation.as_array(g), validation.as_array(v)
        place = qt.rotate(qt.conjugate(g[:4]), v[4:])
        return jnp.concatenate([place, self._turns.body_velocity(g[:4], v[:4])])

    def group_exp(self, xi: LocalLike) -> Point:
        xi = validation.as_array(xi)
        return jnp.concatenate([self._turns.group_exp(xi[3:]), _screw(xi[3:]) @ xi[:3]])

    def group_log(self, g: PointLike) -> Local:
        g = validation.as_array(g)
        omega = self._turns.group_log(g[:4])
        return jnp.concatenate([jnp.linalg.solve(_screw(omega), g[4:]), omega])

    def matrix(self, g: PointLike) -> Float[Array, "4 4"]:
        g = validation.as_array(g)
        top = jnp.concatenate([qt.to_matrix(g[:4]), g[4:, None]], axis=1)
        return jnp.concatenate([top, jnp.array([[0.0, 0.0, 0.0, 1.0]], g.dtype)])

    def from_matrix(self, m: Float[Array, "4 4"]) -> Point:
        """The motion of a homogeneous 4 x 4 matrix."""
        m = validation.as_array(m)
        return jnp.concatenate([qt.from_matrix(m[:3, :3]), m[:3, 3]])

    def hat(self, xi: LocalLike) -> Float[Array, "4 4"]:
        xi = validation.as_array(xi)
        top = jnp.concatenate([hat3(xi[3:]), xi[:3, None]], axis=1)
        return jnp.concatenate([top, jnp.zeros((1, 4), xi.dtype)])

    def vee(self, matrix: Float[Array, "4 4"]) -> Local:
        matrix = validation.as_array(matrix)
        return jnp.concatenate([matrix[:3, 3], vee3(matrix[:3, :3])])


def _screw(omega: Float[Array, " 3"]) -> Float[Array, "3 3"]:
    r"""\(\int_0^1 e^{t\hat\omega} dt\): what a screw motion makes of its constant body velocity."""
    z, m = jnp.sum(omega * omega), hat3(omega)
    return jnp.eye(3) + versine(z, 1) * m + remainder(z, 1) * (m @ m)

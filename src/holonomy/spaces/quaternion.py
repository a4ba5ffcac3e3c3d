"""Unit quaternions (w, x, y, z) as rotations of space: v -> q v q*."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Quaternion = Float[Array, " 4"]
Vector3 = Float[Array, " 3"]


def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """The product pq: the rotation q followed by the rotation p."""
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    return jnp.stack(
        [
            pw * qw - px * qx - py * qy - pz * qz,
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
        ]
    )


def conjugate(q: Quaternion) -> Quaternion:
    """The inverse of a unit quaternion."""
    return jnp.stack([q[0], -q[1], -q[2], -q[3]])


def pure(v: Vector3) -> Quaternion:
    """The quaternion (0, v)."""
    return jnp.concatenate([jnp.zeros(1, v.dtype), v])


def rotate(q: Quaternion, v: Vector3) -> Vector3:
    """The vector v turned by q."""
    t = 2.0 * jnp.cross(q[1:], v)
    return v + q[0] * t + jnp.cross(q[1:], t)


def to_matrix(q: Quaternion) -> Float[Array, "3 3"]:
    """The rotation matrix of a unit quaternion."""
    return jax.vmap(rotate, in_axes=(None, 1), out_axes=1)(q, jnp.eye(3, dtype=q.dtype))


def from_matrix(m: Float[Array, "3 3"]) -> Quaternion:
    """The unit quaternion with w >= 0 of a rotation matrix: the best conditioned of four ways to read it off."""
    # The symmetric matrix 4 q q^T is linear in m; its largest column is q up to a factor that is at least 1.
    a, b, c = m[0, 0], m[1, 1], m[2, 2]
    skew = [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    outer = jnp.stack(
        [
            jnp.stack([1 + a + b + c, *skew]),
            jnp.stack([skew[0], 1 + a - b - c, xy, xz]),
            jnp.stack([skew[1], xy, 1 - a + b - c, yz]),
            jnp.stack([skew[2], xz, yz, 1 - a - b + c]),
        ]
    )
    column = outer[jnp.argmax(jnp.diagonal(outer))]
    return column / jnp.sqrt(jnp.sum(column**2)) * jnp.where(column[0] < 0, -1.0, 1.0)


def small_turn(y: Vector3) -> Quaternion:
    r"""\(((1-k), y/2)/(1+k)\), \(k = |y|^2/16\): the turn about y by \(4\arctan(|y|/4)\); every turn but a full one."""
    k = jnp.sum(y * y) / 16.0
    return jnp.concatenate([(1.0 - k)[None], y / 2.0]) / (1.0 + k)


def small_turn_inverse(q: Quaternion) -> Vector3:
    """The y of `small_turn`, for q or -q, whichever is the smaller turn."""
    sign = jnp.where(q[0] < 0, -1.0, 1.0)
    return 4.0 * q[1:] / (sign + q[0])

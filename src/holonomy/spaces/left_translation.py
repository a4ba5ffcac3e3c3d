r"""Groups as charts see them: velocities in the body's frame, which left translations do not change.

The chart at g of a group is \(y \mapsto g\,\tau(y)\) with \(\tau\) the same everywhere. A curve \(y(t)\) in it has the
body velocity \(\xi = \tau(y)^{-1}\,d\tau(y)\,\dot y\), whatever g. Lines and circles are groups under addition;
products and powers of groups are groups.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from holonomy.spaces import quaternion as qt
from holonomy.spaces.base import AbstractSpace
from holonomy.spaces.euclidean import Circle, Euclidean
from holonomy.spaces.group import AbstractGroup, hat3
from holonomy.spaces.power import Power
from holonomy.spaces.product import Product
from holonomy.spaces.se2 import SE2, plane_turn
from holonomy.spaces.se3 import SE3
from holonomy.spaces.so3 import SO3
from holonomy.types import Local, LocalMatrix, Point
from holonomy.types import Tangent as Vector


def is_group(space: AbstractSpace) -> bool:
    """Whether the functions here know the space."""
    match space:
        case Product():
            return all(is_group(f) for f in space.factors)
        case Power():
            return is_group(space.space)
        case _:
            return isinstance(space, SO3 | SE3 | SE2 | Euclidean | Circle)


def identity(space: AbstractSpace) -> Point:
    """The neutral element."""
    match space:
        case Product():
            return jnp.concatenate([identity(f) for f in space.factors])
        case Power():
            return jnp.tile(identity(space.space), space.count)
        case AbstractGroup():
            return space.identity
        case _:
            return jnp.zeros(space.point_dim)


def body_rate(space: AbstractSpace, y: Local, w: Local) -> Local:
    r"""The body velocity \(\xi\) of a curve with coordinates y and velocity w in the chart at any point."""
    match space:
        case Product():
            cut = zip(space.factors, space.split_local(y), space.split_local(w), strict=True)
            return jnp.concatenate([body_rate(*each) for each in cut])
        case Power():
            rows = jax.vmap(lambda a, b: body_rate(space.space, a, b))(_rows(space, y), _rows(space, w))
            return rows.reshape(-1)
        case SO3():
            return _spin(y, w)
        case SE3():
            back = qt.conjugate(qt.small_turn(y[3:]))
            return jnp.concatenate([qt.rotate(back, w[:3]), _spin(y[3:], w[3:])])
        case SE2():
            return jnp.append(plane_turn(jnp.cos(y[2]), -jnp.sin(y[2]), w[:2]), w[2])
        case _:
            return w


def chart_rate(space: AbstractSpace, y: Local, xi: Local) -> Local:
    """The velocity w of the coordinates y at the body velocity xi, inverse of `body_rate`."""
    match space:
        case Product():
            cut = zip(space.factors, space.split_local(y), space.split_local(xi), strict=True)
            return jnp.concatenate([chart_rate(*each) for each in cut])
        case Power():
            rows = jax.vmap(lambda a, b: chart_rate(space.space, a, b))(_rows(space, y), _rows(space, xi))
            return rows.reshape(-1)
        case SO3():
            return _unspin(y, xi)
        case SE3():
            return jnp.concatenate([qt.rotate(qt.small_turn(y[3:]), xi[:3]), _unspin(y[3:], xi[3:])])
        case SE2():
            return jnp.append(plane_turn(jnp.cos(y[2]), jnp.sin(y[2]), xi[:2]), xi[2])
        case _:
            return xi


class RateMatrices(NamedTuple):
    r"""Derivatives of the body velocity \(\xi = J(y)\,w\), and those of \(\mu\cdot\xi\) twice, for a fixed
    covector \(\mu\).

    **Fields:** `by_velocity`, J; `by_position`, \(\partial\xi/\partial y\); `mixed`,
    \(\partial_w\partial_y(\mu\cdot\xi)\), rows by w; `twice`, \(\partial_y\partial_y(\mu\cdot\xi)\).
    """

    by_velocity: LocalMatrix
    by_position: LocalMatrix
    mixed: LocalMatrix
    twice: LocalMatrix


def rate_matrices(space: AbstractSpace, y: Local, w: Local, mu: Local) -> RateMatrices:
    """The derivatives of `body_rate` at (y, w)."""
    if isinstance(space, SO3):
        return _spin_matrices(y, w, mu)
    by_position, by_velocity = jax.jacfwd(lambda a, b: body_rate(space, a, b), argnums=(0, 1))(y, w)
    slopes = jax.grad(lambda a, b: jnp.dot(mu, body_rate(space, a, b)), argnums=(1, 0))
    mixed, twice = jax.jacfwd(slopes)(y, w)
    return RateMatrices(by_velocity, by_position, mixed, twice)


def lift(space: AbstractSpace, g: Point, xi: Local) -> Vector:
    r"""The velocity \(g\xi\) at g, as an array."""
    match space:
        case Product():
            cut = zip(space.factors, space.split(g), space.split_local(xi), strict=True)
            return jnp.concatenate([lift(*each) for each in cut])
        case Power():
            rows = jax.vmap(lambda a, b: lift(space.space, a, b))(space.split(g), _rows(space, xi))
            return rows.reshape(-1)
        case AbstractGroup():
            return space.lift(g, xi)
        case _:
            return xi


def _spin(y: Local, w: Local) -> Local:
    r"""\(\left((1-k)\,w - \frac12 y\times w + \frac18(y\cdot w)\,y\right)/(1+k)^2\), \(k = |y|^2/16\)."""
    k = jnp.sum(y * y) / 16.0
    part = 1.0 / (1.0 + k)
    return (part * part) * ((1.0 - k) * w - 0.5 * jnp.cross(y, w) + (0.125 * jnp.sum(y * w)) * y)


def _spin_matrices(y: Local, w: Local, mu: Local) -> RateMatrices:
    r"""Derivatives of \(\xi = c^2N\), \(c = 1/(1+k)\); those of c are \(\partial c^2 = -c^2e\,y\), \(e = c/4\)."""
    k = jnp.sum(y * y) / 16.0
    c = 1.0 / (1.0 + k)
    e, square = 0.25 * c, c * c
    yw, ym, mw = jnp.sum(y * w), jnp.sum(y * mu), jnp.sum(mu * w)
    one = np.eye(3, dtype=y.dtype)
    u, v = 0.125 * y, 0.5 * y
    by_velocity = (1.0 - k) * one - hat3(v) + jnp.outer(u, y)
    part = (1.0 - k) * w - jnp.cross(v, w) + yw * u  # N
    co_part = (1.0 - k) * mu + jnp.cross(v, mu) + ym * u  # its transpose on mu
    by_position = 0.5 * hat3(w) + (0.125 * yw) * one + jnp.outer(u, w) - jnp.outer(0.125 * w + e * part, y)
    mixed = (0.125 * ym) * one - 0.5 * hat3(mu) + jnp.outer(u, mu) - jnp.outer(0.125 * mu + e * co_part, y)
    value = jnp.sum(mu * part)
    slope = (0.125 * ym) * w + (0.125 * yw) * mu - mw * u - 0.5 * jnp.cross(w, mu)
    # a symmetric product a b' + b a' collects what is multiplied by y
    half = (0.75 * e * e * value) * y - e * slope
    twice = jnp.outer(0.125 * w, mu) + jnp.outer(half, y)
    twice = twice + twice.T - (0.125 * mw + e * value) * one
    return RateMatrices(square * by_velocity, square * by_position, square * mixed, square * twice)


def _unspin(y: Local, xi: Local) -> Local:
    r"""\((1-k)\,\xi + \frac12 y\times\xi + \frac18(y\cdot\xi)\,y\), \(k = |y|^2/16\)."""
    k = jnp.sum(y * y) / 16.0
    return (1.0 - k) * xi + 0.5 * jnp.cross(y, xi) + (0.125 * jnp.sum(y * xi)) * y


def _rows(space: Power, flat: Local) -> Array:
    return flat.reshape(space.count, -1)

r"""Points and momenta that are carried through many steps without a bias of rounding.

A step of a variational method leads from the point \(x_0\) by the chart's coordinates y to \(x_1\), and from the
momentum \(p_0\) by the push \(\partial A/\partial x\) to \(p_1\) (`motion.methods.moving_chart`). Written afresh in
every step, both would be rounded in their last place each time, and always a little more to one side: momenta of
isometries would drift by a few 1e-18 a step. Here both are sums of changes: the changes are formed with a small
relative error, and what rounding takes from the sums is kept beside them, as a second number.

The momentum is held as an array that changes little from point to point: on spheres and of quaternions as an ambient
vector \(P = Ep\), on \(H^n\) by its components in the frame of boosts. Scaling a point to the length it should have
changes P so that the momentum map stays as it is: \(x\wedge P\) on spheres, \(Pq^{-1}\) of quaternions.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.spaces import embedded as em
from holonomy.spaces import quaternion as qt
from holonomy.spaces.base import AbstractSpace
from holonomy.spaces.carried import Carried
from holonomy.spaces.euclidean import Euclidean
from holonomy.spaces.hyperbolic import Hyperbolic
from holonomy.spaces.power import Power
from holonomy.spaces.product import Product
from holonomy.spaces.se2 import SE2, plane_turn
from holonomy.spaces.se3 import SE3
from holonomy.spaces.so3 import SO3
from holonomy.spaces.sphere import Sphere
from holonomy.types import Local, Number, Point

HeldMomentum = Float[Array, " held"]


class Compensated(NamedTuple):
    """A point and a momentum, each with the digits that rounding took from it."""

    x: Point
    p: HeldMomentum
    x_low: Point
    p_low: HeldMomentum


def begin(space: AbstractSpace, x: Point, p: Local) -> Compensated:
    """The point x with momentum p, a covector of the coordinates of the chart at x."""
    held = _hold(space, x, p)
    return Compensated(x, held, jnp.zeros_like(x), jnp.zeros_like(held))


def momentum(space: AbstractSpace, now: Compensated) -> Local:
    """The momentum as a covector of the coordinates of the chart at the point."""
    return _release(space, now.x, now.p)


def moved(space: AbstractSpace, now: Compensated, y: Local, push: Local) -> Compensated:
    """The state at the coordinates y, after `push` was added to the momentum of shifts of the chart."""
    match space:
        case Product():
            cut = zip(space.factors, _parts(space, now), space.split_local(y), space.split_local(push), strict=True)
            return _joined([moved(*each) for each in cut])
        case Power():
            each = jax.vmap(lambda *one: moved(space.space, Compensated(*one[:4]), *one[4:]))
            rows = each(*(a.reshape(space.count, -1) for a in (*now, y, push)))
            return Compensated(*(a.reshape(-1) for a in rows))
        case _ if space.flat_chart:
            return _added(now, y, push)
        case Sphere():
            return _on_sphere(space, now, y, push)
        case SO3():
            return _turned(now, y, push)
        case SE3():
            return _displaced(now, y, push)
        case SE2():
            return _displaced_in_plane(now, y, push)
        case Hyperbolic():
            return _boosted(space, now, y, push)
        case _:
            pull = jax.vjp(lambda z: space.rechart(now.x, y, z), jnp.zeros_like(y))[1]
            p = pull(space.solve_shift(now.x, y, now.p + push))[0]
            return Compensated(space.chart(now.x, y), p, jnp.zeros_like(now.x), jnp.zeros_like(p))


def knows_geodesics(space: AbstractSpace) -> bool:
    """Whether `along_geodesic` knows the space's geodesics."""
    match space:
        case Product():
            return all(knows_geodesics(f) for f in space.factors)
        case Power() | Carried():
            return knows_geodesics(space.space)
        case Sphere() | Hyperbolic():
            return not space.flat_chart
        case _:
            return isinstance(space, Euclidean)


def along_geodesic(space: AbstractSpace, now: Compensated, t: Number) -> Compensated:
    """The state after the time t on its geodesic, where the momentum held is the velocity, an ambient vector."""
    match space:
        case Product():
            parts = zip(*(space.split(a) for a in now), strict=True)
            return _joined(
                [along_geodesic(f, Compensated(*each), t) for f, each in zip(space.factors, parts, strict=True)]
            )
        case Power():
            rows = jax.vmap(lambda *one: along_geodesic(space.space, Compensated(*one), t))(
                *(space.split(a) for a in now)
            )
            return Compensated(*(a.reshape(-1) for a in rows))
        case Sphere():
            r = space.radius
            move, turn = em.sphere_geodesic_change(now.x / r, now.p / r, t)
            return _added(now, r * move, r * turn)
        case Carried():
            near, still = zip(*(space.split(a) for a in now), strict=True)
            return Compensated(
                *(
                    jnp.concatenate(each)
                    for each in zip(along_geodesic(space.space, Compensated(*near), t), still, strict=True)
                )
            )
        case Hyperbolic():
            r = space.radius
            near = Compensated(*(a[:-1] for a in now))
            move, turn = em.hyper_geodesic_change(near.x / r, near.p / r, t)
            new = _added(near, r * move, r * turn)
            s = new.x / r
            w = em.height(s)
            tails = r * w, em.dot(s, new.p) / w, jnp.zeros_like(w), jnp.zeros_like(w)
            return Compensated(*(jnp.append(a, tail) for a, tail in zip(new, tails, strict=True)))
        case _:
            return _added(now, jnp.multiply(t, now.p) + jnp.multiply(t, now.p_low), jnp.zeros_like(now.p))


def on_space(space: AbstractSpace, now: Compensated) -> Compensated:
    """The state after `along_geodesic`, once or several times: points of spheres at their distance from the centre,
    velocities tangent."""
    match space:
        case Product():
            parts = zip(*(space.split(a) for a in now), strict=True)
            return _joined([on_space(f, Compensated(*each)) for f, each in zip(space.factors, parts, strict=True)])
        case Power():
            rows = jax.vmap(lambda *one: on_space(space.space, Compensated(*one)))(*(space.split(a) for a in now))
            return Compensated(*(a.reshape(-1) for a in rows))
        case Sphere():
            return _scaled(now, space.radius, 1.0)
        case Carried():
            near, still = zip(*(space.split(a) for a in now), strict=True)
            both = zip(on_space(space.space, Compensated(*near)), still, strict=True)
            return Compensated(*(jnp.concatenate(each) for each in both))
        case _:
            return now


def _hold(space: AbstractSpace, x: Point, p: Local) -> HeldMomentum:
    match space:
        case Product():
            cut = zip(space.factors, space.split(x), space.split_local(p), strict=True)
            return jnp.concatenate([_hold(*each) for each in cut])
        case Power():
            rows = jax.vmap(lambda a, b: _hold(space.space, a, b))(space.split(x), p.reshape(space.count, -1))
            return rows.reshape(-1)
        case Sphere(flat_chart=False):
            return em.sphere_frame(em.unit(x), p)
        case SO3():
            return qt.multiply(x, qt.pure(p))
        case SE3():
            return jnp.concatenate([qt.multiply(x[:4], qt.pure(p[3:])), qt.rotate(x[:4], p[:3])])
        case SE2():
            return jnp.append(plane_turn(x[0], x[1], p[:2]), p[2])
        case _:
            return p


def _release(space: AbstractSpace, x: Point, held: HeldMomentum) -> Local:
    match space:
        case Product():
            cut = zip(space.factors, space.split(x), _cut(space, held), strict=True)
            return jnp.concatenate([_release(*each) for each in cut])
        case Power():
            rows = jax.vmap(lambda a, b: _release(space.space, a, b))(space.split(x), held.reshape(space.count, -1))
            return rows.reshape(-1)
        case Sphere(flat_chart=False):
            return em.sphere_coframe(em.unit(x), held)
        case SO3():
            return qt.multiply(qt.conjugate(x), held)[1:]
        case SE3():
            back = qt.conjugate(x[:4])
            return jnp.concatenate([qt.rotate(back, held[4:]), qt.multiply(back, held[:4])[1:]])
        case SE2():
            return jnp.append(plane_turn(x[0], -x[1], held[:2]), held[2])
        case _:
            return held


def _size(space: AbstractSpace) -> int:
    """How many numbers the held momentum has."""
    match space:
        case Product():
            return sum(_size(f) for f in space.factors)
        case Power():
            return space.count * _size(space.space)
        case Sphere(flat_chart=False) | SO3() | SE3():
            return space.point_dim
        case _:
            return space.dim


def _cut(space: Product, held: HeldMomentum) -> list[Array]:
    ends = [0, *accumulate(_size(factor) for factor in space.factors)]
    return [held[a:b] for a, b in pairwise(ends)]


def _parts(space: Product, now: Compensated) -> list[Compensated]:
    arrays = space.split(now.x), _cut(space, now.p), space.split(now.x_low), _cut(space, now.p_low)
    return [Compensated(*each) for each in zip(*arrays, strict=True)]


def _joined(parts: list[Compensated]) -> Compensated:
    return Compensated(*(jnp.concatenate(each) for each in zip(*parts, strict=True)))


# ── changes of point and momentum ─────────────────────────────────────────────────────────────────────────────────


def _on_sphere(space: Sphere, now: Compensated, y: Local, push: Local) -> Compensated:
    r"""With \(U = Ey\), \(\mu = P + E\,push\): the part of \(\mu\) along U is carried parallel, the other one too and
    divided by the cosine of the way, which keeps \(x\wedge P\) in the planes of x.
    """
    r = space.radius
    x = em.unit(now.x)
    y = em.over(y, r)
    k = em.dot(y, y) / 4.0
    u, change = em.sphere_frame(x, y), em.sphere_frame(x, push)
    mu = now.p + change
    along = em.dot(u, mu)
    kick = change + em.over(2.0 * k * mu - 0.5 * along * u, 1.0 - k) - (along / (1.0 + k)) * (x + 0.5 * u)
    new = _added(now, (r / (1.0 + k)) * (u - 2.0 * k * x), kick)
    return _scaled(new, r, 1.0)


def _turned(now: Compensated, y: Local, push: Local) -> Compensated:
    r"""\(q_1 = q_0s\) and \(P_1 = q_0\mu s\) with the turn s of y: whatever s, \(Pq^{-1}\) is kept."""
    q = now.x
    change = qt.multiply(q, qt.pure(push))
    s = _small_turn_less_one(y)
    new = _added(now, qt.multiply(q, s), change + qt.multiply(now.p + change, s))
    return _scaled(new, 1.0, -1.0)


def _displaced(now: Compensated, y: Local, push: Local) -> Compensated:
    """As `_turned`, with the momentum of the place held in space; that of turns is about the place, which moves."""
    q, moment, straight = now.x[:4], now.p[:4], now.p[4:]
    line = qt.rotate(q, push[:3])
    way = qt.rotate(q, y[:3])
    twist = push[3:] - jnp.cross(y[:3], qt.rotate(qt.conjugate(q), straight + line))
    spin = _turned(Compensated(q, moment, now.x_low[:4], now.p_low[:4]), y[3:], twist)
    place = _added(Compensated(now.x[4:], straight, now.x_low[4:], now.p_low[4:]), way, line)
    return _joined([spin, place])


def _displaced_in_plane(now: Compensated, y: Local, push: Local) -> Compensated:
    """As `_displaced`."""
    c, s, sine = now.x[0], now.x[1], jnp.sin(y[2])
    line, way = plane_turn(c, s, push[:2]), plane_turn(c, s, y[:2])
    mu = plane_turn(c, -s, now.p[:2] + line)
    less = -2.0 * jnp.sin(0.5 * y[2]) ** 2  # cos - 1
    frame = jnp.stack([less * c - sine * s, less * s + sine * c])
    spin = push[2] - (y[0] * mu[1] - y[1] * mu[0])
    new = _added(now, jnp.concatenate([frame, way]), jnp.append(line, spin))
    long = em.excess(new.x[:2]) + 2.0 * em.dot(new.x[:2], new.x_low[:2])
    x, x_low = _sum(new.x, new.x_low - 0.5 * long * jnp.append(new.x[:2], jnp.zeros(2, new.x.dtype)))
    return Compensated(x, new.p, x_low, new.p_low)


def _boosted(space: Hyperbolic, now: Compensated, y: Local, push: Local) -> Compensated:
    r = space.radius
    s, y = now.x[:-1] / r, em.over(y, r)
    h = em.height(y)
    less = em.dot(y, y) / (1.0 + h)  # h - 1
    mu = now.p + push
    shift = em.over(y * (em.dot(y, mu) / (1.0 + h)) - less * mu, h)
    nu = mu + shift
    turn = em.half_turn_less_one(em.hyper_half(s), em.hyper_half(y), nu, back=True)
    near = Compensated(now.x[:-1], now.p, now.x_low[:-1], now.p_low)
    new = _added(near, r * (less * s + em.hyper_frame(s, y)), push + shift + turn)
    s = new.x / r
    return Compensated(jnp.append(new.x, r * em.height(s)), new.p, jnp.append(new.x_low, 0.0), new.p_low)


def _small_turn_less_one(y: Local) -> qt.Quaternion:
    k = em.dot(y, y) / 16.0
    return em.over(jnp.concatenate([(-2.0 * k)[None], y / 2.0]), 1.0 + k)


# ── sums ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _added(now: Compensated, dx: Point, dp: HeldMomentum) -> Compensated:
    x, x_low = _sum(now.x, dx + now.x_low)
    p, p_low = _sum(now.p, dp + now.p_low)
    return Compensated(x, p, x_low, p_low)


def _sum(total: Array, change: Array) -> tuple[Array, Array]:
    new = total + change
    return new, change - (new - total)


def _scaled(now: Compensated, r: float | Array, sign: float) -> Compensated:
    """The point scaled to length r, and P with its power `sign`; then P made orthogonal to the point."""
    x = now.x / r
    excess = em.excess(x) + 2.0 * em.dot(x, now.x_low / r)
    less = 0.5 * excess
    along = em.dot(x, now.p) + em.dot(x, now.p_low)
    point, x_low = _sum(now.x, now.x_low - less * now.x)
    p, p_low = _sum(now.p, now.p_low + (sign * jax.lax.stop_gradient(less)) * now.p - along * x)
    return Compensated(point, p, x_low, p_low)

r"""The motion of free balls in a lab: geodesics in closed form, and every contact within a step where it happens.

`hl.EventDriven` does the same from the host; this is one compiled function for a few balls, which looks at all pairs.
With \(\chi = 4S^2(d/2)\), S the sine, the identity or the hyperbolic sine, two balls touch where \(\chi - \chi_0 = 0\).
Times go forward by steps that do not pass a contact (`holonomy.systems.bodies.ball_flight` says why): those of Newton's
method in Euclidean and hyperbolic space, on the sphere those of a parabola below \(\chi\). Needs JAX.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

import holonomy as hl
from holonomy.method_table import Properties
from holonomy.motion import AbstractMethod
from holonomy.motion.methods.base import PositionVelocity, Status
from holonomy.systems.contact.closeness import FOUND, of_squares
from holonomy.systems.result_code import Code

_MOST: Final = 64
"""Contacts within a step; more than that are a failure."""
_TOUCHES: Final = 16.0 * of_squares(FOUND)
"""A gap below this, relative to the size of the contact, is a contact; distances round more often than squares."""
_ITERATIONS: Final = 50


class Balls(eqx.Module):
    """Free balls: a world of their centres, their radius and their restitution."""

    world: hl.World
    radius: Any
    restitution: Any


class Contact(NamedTuple):
    """When the next contact is, and the numbers of the two balls."""

    time: Any
    first: Any
    second: Any


class Colliding(AbstractMethod):
    """Geodesics from contact to contact within each step, exact to round-off."""

    @property
    def order(self) -> int:
        return 1

    @property
    def label(self) -> str:
        return "EventDriven()"

    @property
    def properties(self) -> Properties:
        return Properties(symplectic=True, reversible=True)

    def start(self, system: Any, t: Any, q: Any, v: Any) -> PositionVelocity:
        return PositionVelocity(q, v)

    def read(self, system: Any, t: Any, state: PositionVelocity) -> tuple[Any, Any]:
        return state.q, state.v

    def step(self, system: Any, t: Any, h: Any, state: PositionVelocity) -> tuple[PositionVelocity, Status]:
        world = system.world

        def going(now: Any) -> Any:
            return (now[0] > 0.0) & (now[3] < _MOST)

        def on(now: Any) -> Any:
            left, q, v, count = now
            contact = _next(system, q, v, left)
            met = contact.time < left
            q, v = world.drift(jnp.minimum(contact.time, left), q, v)
            v = jnp.where(met, _reflected(system, q, v, contact), v)
            return jnp.where(met, left - contact.time, 0.0), q, v, count + 1

        begin = (jnp.asarray(h, state.q.dtype), state.q, state.v, jnp.int32(0))
        left, q, v, count = jax.lax.while_loop(going, on, begin)
        code = jnp.where(left > 0.0, jnp.int32(Code.too_many_events), jnp.int32(Code.ok))
        return PositionVelocity(*world.recentred(q, v)), Status(code, count)


def _chord(space: Any, d: Any) -> Any:
    unit = 1.0 if isinstance(space, hl.Euclidean) else space.radius
    half = 0.5 * d / unit
    if not isinstance(space, hl.Euclidean):
        half = jnp.sin(half) if isinstance(space, hl.Sphere) else jnp.sinh(half)
    return (2.0 * unit * half) ** 2


def _next(system: Balls, q: Any, v: Any, until: Any) -> Contact:
    """The first contact of all pairs, with a time beyond `until` where there is none before."""
    world, space = system.world, system.world.point_space
    x, u = world.points(q), world.points(v)
    numbers = jnp.arange(world.count)
    size = _chord(space, 2.0 * system.radius)

    def gap(a: Any, va: Any, b: Any, vb: Any, t: Any) -> tuple[Any, Any]:
        def value(s: Any) -> Any:
            return _chord(space, space.distance(space.geodesic(a, va, s)[0], space.geodesic(b, vb, s)[0])) - size

        return jax.jvp(value, (t,), (jnp.ones_like(t),))

    def contact(a: Any, va: Any, b: Any, vb: Any) -> Any:
        speed = space.norm(a, va) + space.norm(b, vb)
        far = 2.0 * until + 1.0

        def on(now: Any) -> Any:
            t, _, count = now
            g, rate = gap(a, va, b, vb, t)
            approach = rate < -1e-12 * speed * jnp.sqrt(size)
            touches = (g <= _TOUCHES * size) & approach
            g = jnp.maximum(g, 0.0)
            if isinstance(space, hl.Sphere):
                bound = 2.0 * speed**2
                root = jnp.sqrt(rate**2 + 2.0 * bound * g)
                move = jnp.where(rate > 0, (rate + root) / (bound + 1e-300), 2.0 * g / (root - rate + 1e-300))
            else:
                move = jnp.where(rate < 0, -g / jnp.where(rate < 0, rate, -1.0), far)
            after = jnp.where(touches, t, t + move)
            stuck = ~touches & (after <= t)
            return jnp.where(stuck, far, after), touches | stuck, count + 1

        def going(now: Any) -> Any:
            t, done, count = now
            return ~done & (t < until) & (count < _ITERATIONS)

        t, _, _ = jax.lax.while_loop(going, on, (jnp.zeros_like(until), jnp.asarray(False), jnp.int32(0)))
        return t

    def outer(best: Contact, one: Any) -> tuple[Contact, None]:
        i, a, va = one

        def inner(best: Contact, other: Any) -> tuple[Contact, None]:
            j, b, vb = other
            t = jax.lax.cond(j > i, lambda: contact(a, va, b, vb), lambda: 2.0 * until + 1.0)
            better = t < best.time
            return Contact(*(jnp.where(better, new, old) for new, old in zip((t, i, j), best, strict=True))), None

        return jax.lax.scan(inner, best, (numbers, x, u))

    none = Contact(2.0 * until + 1.0, jnp.zeros((), numbers.dtype), jnp.zeros((), numbers.dtype))
    return jax.lax.scan(outer, none, (numbers, x, u))[0]


def _reflected(system: Balls, q: Any, v: Any, contact: Contact) -> Any:
    """The velocities after the two balls that touch have bounced: equal masses, impulses along the geodesic."""
    world, space = system.world, system.world.point_space
    x, u = world.points(q), world.points(v)
    numbers = jnp.arange(world.count)
    first, second = ((numbers == n).astype(x.dtype)[:, None] for n in (contact.first, contact.second))
    a, b, va, vb = (jnp.sum(mask * rows, axis=0) for mask, rows in ((first, x), (second, x), (first, u), (second, u)))
    there, back = space.log(a, b), space.log(b, a)
    there, back = there / space.norm(a, there), back / space.norm(b, back)
    impulse = 0.5 * (1.0 + system.restitution) * (space.inner(a, va, there) + space.inner(b, vb, back))
    u = u - impulse * (first * there[None] + second * back[None])
    return jnp.concatenate([u.reshape(-1), v[u.size :]])

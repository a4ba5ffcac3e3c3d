"""How the Linkage lab moves: Runge and Kutta's method on the sphere, alone or beside another route to the motion."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

import holonomy as hl
from holonomy.models.linkages import routes, sphere_map
from holonomy.models.linkages.surface import Surface
from holonomy.motion.methods.base import AbstractMethod, PositionVelocity, Status, fine, keep_if
from holonomy.systems import System
from holonomy.systems.dense_solve import solve
from holonomy.systems.result_code import Code

_ROUNDING: Final = 1e-14


class Alone(AbstractMethod):
    r"""RK4 for \(\ddot x = a(x, \dot x)\) in \(R^{n-1}\), brought back to the sphere after every step. Order 4.

    No charts, so no poles; the field is smooth around the sphere and tangent to it, so that bringing back changes the
    result by less than the step's own error.
    """

    rods: int = eqx.field(static=True)

    @property
    def beside(self) -> int:
        """How many coordinates there are after those of the point."""
        return 0

    @property
    def order(self) -> int:
        return 4

    @property
    def label(self) -> str:
        return "RK4() on the sphere"

    def start(self, system: System, t: Any, q: Any, v: Any) -> PositionVelocity:
        return PositionVelocity(*_begin(q, v))

    def step(self, system: System, t: Any, h: Any, state: PositionVelocity) -> tuple[PositionVelocity, Status]:
        surface = routes.at(self.rods, system.parameters)
        return PositionVelocity(*self.moved(surface, h, state.q, state.v)), fine()

    def moved(self, surface: Surface, h: Any, x: Any, v: Any) -> tuple[Any, Any]:
        """Point and velocity one step of length h later."""
        slope = jax.jit(lambda y, w: surface.acceleration(y, w))  # so that the stages share one traced body
        a = slope(x, v)
        b = slope(x + h / 2 * v, v + h / 2 * a)
        c = slope(x + h / 2 * v + h * h / 4 * a, v + h / 2 * b)
        d = slope(x + h * v + h * h / 2 * b, v + h * c)
        return _returned(x + h * v + h * h / 6 * (a + b + c), v + h / 6 * (a + 2 * b + 2 * c + d))

    def read(self, system: System, t: Any, state: PositionVelocity) -> tuple[Any, Any]:
        return state.q, state.v


class Both(NamedTuple):
    """The motion on the sphere, the one by another route, and whether that one still goes on."""

    q: Any
    v: Any
    place: Any
    rate: Any
    going: Any


class SideBySide(AbstractMethod):
    """`Alone` beside RK4 on `Linkage.system(route)`.

    Coordinates are the point of the sphere, then those of the other route; where these are NaN at a start, the other
    motion begins in the same state. When it breaks down, as a chart does at its pole, it stands still there, and the
    motion on the sphere goes on.
    """

    rods: int = eqx.field(static=True)
    route: str = eqx.field(static=True)

    @property
    def beside(self) -> int:
        """How many coordinates there are after those of the point: the other route's."""
        return self.rods - 2 if self.route == "chart" else 2 * (self.rods - 1)

    @property
    def order(self) -> int:
        return 4

    @property
    def label(self) -> str:
        return f"RK4() on the sphere, RK4() by {self.route}"

    def start(self, system: System, t: Any, q: Any, v: Any) -> Both:
        surface = routes.at(self.rods, system.parameters)
        n = self.rods - 1
        x, w = _begin(q[:n], v[:n])
        place, rate = _begun(surface, self.route, x, w)
        fresh = jnp.any(jnp.isnan(q[n:]) | jnp.isnan(v[n:]))
        return Both(x, w, jnp.where(fresh, place, q[n:]), jnp.where(fresh, rate, v[n:]), jnp.ones(()))

    def step(self, system: System, t: Any, h: Any, state: Both) -> tuple[Both, Status]:
        surface = routes.at(self.rods, system.parameters)
        x, v = Alone(self.rods).moved(surface, h, state.q, state.v)
        other = _other(self.rods, self.route).with_parameters(**system.parameters)
        old = PositionVelocity(state.place, state.rate)
        new, status = hl.RK4().step(other, t, h, old)
        sound = jnp.all(jnp.isfinite(new.q)) & jnp.all(jnp.isfinite(new.v)) & (status.code == Code.ok)
        going = (state.going > 0) & sound
        kept = keep_if(going, new, PositionVelocity(old.q, jnp.zeros_like(old.v)))
        return Both(x, v, kept.q, kept.v, jnp.where(going, 1.0, 0.0)), fine()

    def read(self, system: System, t: Any, state: Both) -> tuple[Any, Any]:
        return jnp.concatenate([state.q, state.place]), jnp.concatenate([state.v, state.rate])


def _returned(x: Any, v: Any) -> tuple[Any, Any]:
    """The nearest point of the sphere, and the tangent part of the velocity there."""
    x = x / jnp.sqrt(jnp.sum(x * x))
    return x, v - jnp.dot(x, v) * x


def _begin(x: Any, v: Any) -> tuple[Any, Any]:
    """The state itself where it is one, to the last bit; else the nearest one."""
    off = jnp.abs(jnp.dot(x, x) - 1.0) + jnp.abs(jnp.dot(x, v)) / (1.0 + jnp.sqrt(jnp.dot(v, v)))
    return keep_if(off < _ROUNDING, (x, v), _returned(x, v))


def _other(rods: int, route: str) -> System:
    """The other route's system. In the chart, with the acceleration that its Christoffel symbols give in short form."""
    system = hl.Linkage(rods, rods - 1.0).system(route)
    if route != "chart":
        return system

    def acceleration(t: Any, q: Any, v: Any, p: Any) -> Any:
        surface = routes.at(rods, p)
        m = surface.ambient()

        def hinges(y: Any) -> Any:
            return surface.vector(_from_angles(y))

        columns = jax.vmap(lambda e: jax.jvp(hinges, (q,), (e,))[1])(jnp.eye(rods - 2))
        second = jax.jvp(lambda y: jax.jvp(hinges, (y,), (v,))[1], (q,), (v,))[1]
        return -solve(columns @ m @ columns.T, columns @ m @ second, definite=True)

    return system.with_acceleration(acceleration)


def _from_angles(q: Any) -> Any:
    return jnp.stack(sphere_map.from_angles(list(q)))


def _to_angles(x: Any) -> Any:
    c = sphere_map.tails(list(x))
    outer = [jnp.arctan2(x[i], jnp.sqrt(c[i + 1])) for i in range(x.shape[0] - 2)]
    return jnp.stack([*outer, jnp.arctan2(x[-2], x[-1])])


def _begun(surface: Surface, route: str, x: Any, v: Any) -> tuple[Any, Any]:
    """A state of the sphere as one of another route; at a pole, where angles have no velocity, at rest."""
    if route == "chart":
        place, rate = jax.jvp(_to_angles, (x,), (v,))
        return place, jnp.where(jnp.all(jnp.isfinite(rate)), rate, jnp.zeros_like(rate))
    hinges, rates = jax.jvp(surface.hinges, (x,), (v,))
    return hinges.reshape(-1), rates.reshape(-1)


def bent(surface: Surface, route: str, q: Any, v: Any) -> tuple[Any, Any]:
    """Hinges and their velocities in a state of another route."""
    if route == "chart":
        return jax.jvp(lambda y: surface.hinges(_from_angles(y)), (q,), (v,))
    return q.reshape(-1, 2), v.reshape(-1, 2)


def on_sphere(surface: Surface, route: str, q: Any) -> Any:
    """The point of the sphere that a configuration of another route has."""
    return _from_angles(q) if route == "chart" else surface.point(q.reshape(-1, 2))

"""Two routes to the motion of a linkage, side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

import holonomy as hl
from holonomy.models.linkages.mass import Masses
from holonomy.motion.methods.base import AbstractMethod, PositionVelocity, Status, fine, keep_if
from holonomy.systems import System
from holonomy.systems.result_code import Code


class Both(NamedTuple):
    """The motion on the sphere, the one by another route, and whether that one still goes on."""

    q: Any
    v: Any
    other_q: Any
    other_v: Any
    going: Any


class SideBySide(AbstractMethod):
    """RK4 on `Linkage.system("sphere")` and RK4 on `Linkage.system(route)`. Order 4.

    Coordinates are the point of the sphere, then those of the other route; where these are NaN at a start, the other
    motion begins in the same state. When it fails, as a chart does at its pole, it stops there, and the motion on the
    sphere goes on.
    """

    rods: int = eqx.field(static=True)
    route: str = eqx.field(static=True)

    @property
    def order(self) -> int:
        return 4

    @property
    def label(self) -> str:
        return f"RK4() on the sphere, RK4() by {self.route}"

    def start(self, system: System, t: Any, q: Any, v: Any) -> Both:
        n = self.rods - 1
        x, w = q[:n], v[:n]
        place, rate = linkage(self.rods, system.parameters).state(self.route, x, w)
        # at a pole the angles have no velocity: there the other motion stays at rest
        rate = jnp.where(jnp.all(jnp.isfinite(rate)), rate, jnp.zeros_like(rate))
        fresh = jnp.any(jnp.isnan(q[n:]) | jnp.isnan(v[n:]))
        return Both(x, w, jnp.where(fresh, place, q[n:]), jnp.where(fresh, rate, v[n:]), jnp.ones(()))

    def step(self, system: System, t: Any, h: Any, state: Both) -> tuple[Both, Status]:
        method = hl.RK4()
        main, _ = method.step(system, t, h, PositionVelocity(state.q, state.v))
        other = linkage(self.rods, system.parameters).system(self.route)
        old = PositionVelocity(state.other_q, state.other_v)
        new, status = method.step(other, t, h, old)
        sound = jnp.all(jnp.isfinite(new.q)) & jnp.all(jnp.isfinite(new.v)) & (status.code == Code.ok)
        going = (state.going > 0) & sound
        kept = keep_if(going, new, PositionVelocity(old.q, jnp.zeros_like(old.v)))
        return Both(main.q, main.v, kept.q, kept.v, jnp.where(going, 1.0, 0.0)), fine()

    def read(self, system: System, t: Any, state: Both) -> tuple[Any, Any]:
        return jnp.concatenate([state.q, state.other_q]), jnp.concatenate([state.v, state.other_v])


def linkage(rods: int, parameters: Any) -> hl.Linkage:
    """The linkage with the numbers of a system, which may be traced."""
    p, masses = parameters, Masses.of(parameters)
    moments = (masses.first, masses.second)
    return hl.Linkage(rods, p["base"], masses.rod, masses.hinge, rod_moments=moments)


def hinges_of(link: hl.Linkage, route: str, q: Any, v: Any) -> tuple[Any, Any]:
    """Hinges and their velocities in a state of another route."""
    system: Any = link.system(route)
    return jax.jvp(lambda y: system.positions(0.0, y, system.parameters), (q,), (v,))


def on_sphere(link: hl.Linkage, route: str, q: Any) -> Any:
    """The point of the sphere that a configuration of another route has, or one near it."""
    return link.from_angles(q) if route == "chart" else link.surface.point(q.reshape(-1, 2))

r"""Splitting of \(L = T(v) - V(t, q)\) into its kinetic and its potential part, each moved exactly."""

from __future__ import annotations

import abc
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.method_table import Properties
from holonomy.motion.methods.base import AbstractMethod, PositionVelocity, Status, fine
from holonomy.motion.methods.compositions import COMPOSITIONS
from holonomy.motion.methods.splitting_flows import (
    Durations,
    Flows,
    Sums,
    adds_up,
    by_components,
    flows_of,
    flows_of_each,
    many_of,
    summed,
)
from holonomy.systems import System, tracing
from holonomy.systems.bodies import World, colliding
from holonomy.systems.bodies.many_vertices import ByComponents
from holonomy.types import Point, Tangent, Time

State: TypeAlias = PositionVelocity | Sums | ByComponents


class AbstractSplitting(AbstractMethod):
    r"""Drifts \(q \leftarrow q + h\,v\) and kicks \(v \leftarrow v + h\,M^{-1}(-\partial V/\partial q + Q)\) in turn.

    A step of order 2 is half a drift, a kick and half a drift, with one force; others are compositions of it.
    """

    @property
    def parts(self) -> tuple[float, ...]:
        """The steps of order 2, as parts of the whole step."""
        return COMPOSITIONS[self.order]

    @property
    @abc.abstractmethod
    def label(self) -> str:
        """How a user writes the method."""

    @property
    def properties(self) -> Properties:
        return Properties(symplectic=True, reversible=True)

    def refuse_system(self, system: System) -> None:
        why = why_not_separable(system)
        if why:
            raise ValueError(
                f"{self.label} is for systems with L = T(v) - V(t, q) in flat space and for worlds of bodies in "
                f"Euclidean, spherical and hyperbolic spaces and their products, without constraints and with forces "
                f"that do not depend on v; {why}. Use hl.Gauss(3), or method=None to have one picked."
            )

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> State:
        many = many_of(system)
        if many is not None:  # kept by components from step to step: arrays of points cost as much as a kick
            return many.state(q, v)
        return Sums(q, v, jnp.zeros_like(q), jnp.zeros_like(v)) if adds_up(system) else PositionVelocity(q, v)

    def step(self, system: System, t: Time, h: Time, state: State) -> tuple[State, Status]:
        if isinstance(state, ByComponents):
            many = many_of(system)
            assert many is not None
            x, u = self._through(by_components(many), t, h, PositionVelocity(state.q, state.v))
            return many.recentred(state._replace(q=x, v=u)), fine(len(self.parts))
        flows = flows_of(system, state.q)
        if isinstance(state, Sums):
            return Sums(*self._through(summed(system, flows), t, h, state)), fine(len(self.parts))
        return PositionVelocity(*self._through(flows, t, h, state)), fine(len(self.parts))

    def step_of_each(self, world: World, t: Time, times: Durations, state: PositionVelocity) -> PositionVelocity:
        """A step whose length each vertex has for itself; vertices that act on each other must have the same."""
        flows, h = flows_of_each(world, t, times)
        return PositionVelocity(*self._through(flows, t, h, state))

    def _through(self, flows: Flows, t: Any, h: Any, state: PositionVelocity | Sums) -> tuple[Any, ...]:
        kicks = np.asarray(self.parts)
        drifts = 0.5 * (np.append(kicks, 0.0) + np.append(0.0, kicks))  # neighbouring half drifts are one

        def part(now: Any, lengths: Any) -> tuple[Any, None]:
            s, x, u = now
            drift, kick = lengths
            x, u = flows.drift(drift * h, x, u)
            s = s + drift * h
            return (s, x, flows.add(u, self._kicked(flows, kick * h, s, x, u))), None

        begin = (t + jnp.zeros_like(h), *flows.enter(*state))
        if kicks.size == 1:
            (_, x, u), _ = part(begin, (float(drifts[0]), float(kicks[0])))
        else:
            lengths = jnp.asarray(drifts[:-1], state.q.dtype), jnp.asarray(kicks, state.q.dtype)
            (_, x, u), _ = jax.lax.scan(part, begin, lengths)
        return flows.leave(state.q, *flows.drift(float(drifts[-1]) * h, x, u))

    def _kicked(self, flows: Flows, h: Any, t: Any, x: Any, u: Any) -> Any:
        r"""The change of velocity at fixed positions in the time h: exact, or with damping to the order of the method.

        With damping \(\dot u = a + Bu\), whose solution changes u by \(h\sum_k (hB)^k(a + Bu)/(k+1)!\).
        """
        rate = flows.kick(t, x, u)
        damp = flows.damp
        if damp is None:
            return h * rate

        def term(k: Any, now: Any) -> Any:
            last, total = now
            last = (h / k) * damp(t, x, last)
            return last, total + last

        return h * jax.lax.fori_loop(2, self.order + 2, term, (rate, rate))[1]

    def read(self, system: System, t: Time, state: State) -> tuple[Point, Tangent]:
        if isinstance(state, ByComponents):
            many = many_of(system)
            assert many is not None
            return many.read(state)
        return state.q, state.v


class Splitting(AbstractSplitting):
    r"""The composition of drifts and kicks of order 2, 4, 6 or 8. Symplectic, reversible, explicit, no constraints.

    For \(L = T(v) - V(t, q)\) with T quadratic, where points are their own coordinates, and for a `World` in Euclidean,
    spherical or hyperbolic space or a product of these: a drift moves every vertex along its geodesic, a kick adds
    \(-h\nabla V/m\). It computes 1, 5, 9 or 17 forces a step. Forces that are not the gradient of a potential may
    depend on t and q; the step is then reversible, but not symplectic. Damped springs of a `World` act in the kick, by
    forces between their ends, so that the momentum maps stay as they are; the damping of a spring over the mass of its
    ends, times the step, should stay below about 1. Of up to 128 coordinates changes are added with compensation. Balls
    of bodies that collide bounce where they touch, also within a step; such a run is reversible, but not symplectic.
    References: Suzuki, 1990; Kahan and Li, 1997 (`compositions`).
    """

    order_: int = eqx.field(static=True)

    def __init__(self, order: int = 4):
        if order not in COMPOSITIONS:
            raise ValueError(f"Splitting has orders 2, 4, 6 and 8; got {order!r}.")
        self.order_ = int(order)

    @property
    def order(self) -> int:
        return self.order_

    @property
    def label(self) -> str:
        return f"Splitting({self.order_})"


class Verlet(AbstractSplitting):
    r"""Verlet's method, which is `Splitting(2)`: half a drift, a kick, half a drift. Order 2, symplectic, reversible.

    \[ q' = q + \tfrac h2 v, \quad v \leftarrow v + h\,M^{-1}F(t + \tfrac h2, q'), \quad
       q \leftarrow q' + \tfrac h2 v. \]

    One force a step. Reference: Hairer, Lubich and Wanner, *Geometric Numerical Integration*, I.1.4.
    """

    @property
    def order(self) -> int:
        return 2

    @property
    def label(self) -> str:
        return "Verlet()"


def collides_between_steps(system: System) -> bool:
    """Whether the only constraints are balls whose contacts are found between and within steps, on the host."""
    return isinstance(system, World) and not colliding.why_not_colliding_bodies(system)


def why_not_separable(system: System) -> str:
    """Why a system is not T(v) - V(t, q) with forces of t and q alone; empty where it is."""
    if system.constraints and not collides_between_steps(system):
        return "this one has constraints"
    in_space = isinstance(system, World) and system.point_space.exact_geodesics
    if not system.flat and not in_space:
        return f"this one moves on {system.space}"
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
    given = system.forces[1:] if isinstance(system, World) and system.damped else system.forces
    if any(force.depends_on(2, frame.example(velocity=True)) for force in given):
        return "a force on this one depends on v"
    if not in_space and not system.structure.separable:
        return "the Lagrangian of this one has a term of both q and v, or is not quadratic in v"
    return ""

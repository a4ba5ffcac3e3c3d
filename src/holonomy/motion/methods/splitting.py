r"""Splitting of \(L = T(v) - V(t, q)\) into its kinetic and its potential part, each moved exactly."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.method_table import Properties
from holonomy.motion.methods.base import AbstractMethod, PositionVelocity, Status, fine
from holonomy.motion.methods.compositions import COMPOSITIONS
from holonomy.systems import System, tracing
from holonomy.systems.bodies import World
from holonomy.types import Point, Tangent, Time, Tree


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

    @property
    def failures_stay(self) -> bool:
        return True

    def refuse_system(self, system: System) -> None:
        why = why_not_separable(system)
        if why:
            raise ValueError(
                f"{self.label} is for systems with L = T(v) - V(t, q) in flat space and for worlds of bodies in "
                f"Euclidean, spherical and hyperbolic spaces and their products, without constraints and with forces "
                f"that do not depend on v; {why}. Use hl.Gauss(3), or method=None to have one picked."
            )

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> PositionVelocity:
        return PositionVelocity(q, v)

    def step(self, system: System, t: Time, h: Time, state: PositionVelocity) -> tuple[PositionVelocity, Status]:
        flows = _flows(system, state.q)
        kicks = np.asarray(self.parts)
        drifts = 0.5 * (np.append(kicks, 0.0) + np.append(0.0, kicks))  # neighbouring half drifts are one

        def part(now: Any, lengths: Any) -> tuple[Any, None]:
            s, x, u = now
            drift, kick = lengths
            x, u = flows.drift(drift * h, x, u)
            s = s + drift * h
            return (s, x, u + (kick * h) * flows.kick(s, x, u)), None

        begin = (t, *flows.enter(*state))
        if kicks.size == 1:
            (_, x, u), _ = part(begin, (drifts[0], kicks[0]))
        else:
            lengths = jnp.asarray(drifts[:-1], state.q.dtype), jnp.asarray(kicks, state.q.dtype)
            (_, x, u), _ = jax.lax.scan(part, begin, lengths)
        end = flows.leave(state.q, *flows.drift(drifts[-1] * h, x, u))
        return PositionVelocity(*end), fine(kicks.size)

    def read(self, system: System, t: Time, state: PositionVelocity) -> tuple[Point, Tangent]:
        return state.q, state.v


class Splitting(AbstractSplitting):
    r"""The composition of drifts and kicks of order 2, 4, 6 or 8. Symplectic, reversible, explicit, no constraints.

    For \(L = T(v) - V(t, q)\) with T quadratic, where points are their own coordinates, and for a `World` in Euclidean,
    spherical or hyperbolic space or a product of these: a drift moves every vertex along its geodesic, a kick adds
    \(-h\nabla V/m\). It computes 1, 5, 9 or 17 forces a step. Forces that are not the gradient of a potential may
    depend on t and q; the step is then reversible, but not symplectic. References: Suzuki, 1990; Kahan and Li, 1997
    (see `compositions`).
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


class Flows(NamedTuple):
    """The exact flow of the kinetic part and the acceleration of the potential part, in arrays of their own."""

    enter: Callable[[Tree, Tree], tuple[Tree, Tree]]
    drift: Callable[[Tree, Tree, Tree], tuple[Tree, Tree]]
    kick: Callable[[Tree, Tree, Tree], Tree]
    leave: Callable[[Tree, Tree, Tree], tuple[Tree, Tree]]


def _flows(system: System, q: Point) -> Flows:
    if not isinstance(system, World):
        return Flows(_same, lambda h, x, v: (x + h * v, v), system.local(q).acceleration, lambda q, x, v: (x, v))
    many = system.many
    if many is not None:
        return Flows(many.enter, many.drift, many.kick, lambda q, x, v: system.recentred(*many.leave(q, x, v)))
    return Flows(_same, system.drift, system.kick, lambda q, x, v: system.recentred(x, v))


def _same(q: Any, v: Any) -> tuple[Any, Any]:
    return q, v


def why_not_separable(system: System) -> str:
    """Why a system is not T(v) - V(t, q) with forces of t and q alone; empty where it is."""
    if system.constraints:
        return "this one has constraints"
    in_space = isinstance(system, World) and system.point_space.exact_geodesics
    if not system.flat and not in_space:
        return f"this one moves on {system.space}"
    frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
    if any(force.depends_on(2, frame.example(velocity=True)) for force in system.forces):
        return "a force on this one depends on v"
    if not in_space and not system.structure.separable:
        return "the Lagrangian of this one has a term of both q and v, or is not quadratic in v"
    return ""

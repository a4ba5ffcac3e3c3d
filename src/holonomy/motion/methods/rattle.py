"""RATTLE: symplectic motion under holonomic constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from holonomy.method_table import Properties
from holonomy.motion.methods import geodesic_state, phase_state, rattle_geodesic, rattle_sparse
from holonomy.motion.methods.base import AbstractMethod, Status
from holonomy.motion.methods.compositions import COMPOSITIONS
from holonomy.motion.methods.geodesic_state import GeodesicState
from holonomy.motion.methods.phase_state import Phase
from holonomy.motion.methods.rattle_equations import kick_of, to_surface, to_tangent
from holonomy.motion.methods.rattle_geodesic import moves_along_geodesics
from holonomy.motion.methods.splitting_flows import Durations
from holonomy.systems import System
from holonomy.systems.bodies import World
from holonomy.systems.constraints import project, sparse
from holonomy.systems.result_code import Code
from holonomy.types import Multipliers, Point, Tangent, Time

_ORDERS = (2, 4, 6)


class RattleState(NamedTuple):
    """Position and momentum, with the velocity as their only stage; the last multipliers, a guess for the next."""

    phase: Phase
    multipliers: Float[Array, " held"]


class Rattle(AbstractMethod):
    r"""The Lobatto IIIA–IIIB pair with two stages, composed to order 2, 4 or 6. Symplectic, reversible.

    Holds holonomic constraints, positions and velocities, to round-off. With \(P\) the momentum inside the step,

    \[ P = p_0 + \tfrac h2\bigl(\partial_q L(q_0, W_0) + Q_0 + G_0^\top\Lambda_0\bigr)
         = \partial_v L(q_0, W_0) = \partial_v L(q_1, W_1), \]

    \[ q_1 = q_0 + \tfrac h2 (W_0 + W_1), \qquad \varphi(q_1) = 0, \]

    \[ p_1 = P + \tfrac h2\bigl(\partial_q L(q_1, W_1) + Q_1 + G_1^\top\Lambda_1\bigr), \quad
       \dot\varphi(q_1, v_1) = 0, \]

    whatever the Lagrangian, also where the mass matrix depends on q. The multipliers of a run are those of the
    accelerations at its states, and so have the order of q and v. Rods of a `World` in Euclidean, spherical and
    hyperbolic spaces and their products are held along geodesics instead (`rattle_geodesic`), with sparse multipliers,
    where balls collide beside damped springs too: their damping over the mass of their ends, times the step, should
    stay below about 1. Of up to 128 coordinates changes are added with compensation there.
    Reference: Hairer, Lubich and Wanner, *Geometric Numerical Integration*, VII.1.
    """

    order_: int = eqx.field(static=True)
    iteration: str = eqx.field(static=True)

    def __init__(self, order: int = 4, *, iteration: str = "simplified"):
        if order not in _ORDERS:
            raise ValueError(f"Rattle has orders 2, 4 and 6; got {order!r}.")
        self.order_ = int(order)
        self.iteration = iteration

    @property
    def order(self) -> int:
        return self.order_

    @property
    def label(self) -> str:
        return f"Rattle({self.order_})"

    @property
    def properties(self) -> Properties:
        return Properties(symplectic=True, reversible=True)

    def properties_on(self, system: System) -> Properties:
        # elsewhere a step depends on its chart, which moves with the motion
        whole = system.flat or moves_along_geodesics(system) is not None
        return self.properties if whole else Properties()

    @property
    def holds(self) -> tuple[str, ...]:
        return ("holonomic",)

    @property
    def scalar(self) -> bool:
        return self.iteration == "simplified"

    def fallback(self, certain: bool) -> Rattle | None:
        if certain or self.iteration == "newton":
            return None
        return Rattle(self.order_, iteration="newton")

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> RattleState | GeodesicState:
        rigid = moves_along_geodesics(system)
        if rigid is not None:
            assert isinstance(system, World)
            return geodesic_state.start(system, rigid, q, v)
        state = phase_state.enter(system, t, q, v, 1)
        held = system.local(q).hold(t, state.y, state.stages[0])
        assert held is not None
        return RattleState(state, jnp.zeros(held.counts[0], q.dtype))

    def step(
        self, system: System, t: Time, h: Time, state: RattleState | GeodesicState
    ) -> tuple[RattleState | GeodesicState, Status]:
        new, status = self._composed(system, t, h, state)
        if isinstance(state, GeodesicState):
            assert isinstance(system, World)
            return rattle_geodesic.ended(system, state.q, new, status)
        return new._replace(phase=phase_state.recentred(system, new.phase)), status

    def step_of_each(self, world: World, times: Durations, state: GeodesicState) -> tuple[GeodesicState, Status]:
        """A step along geodesics whose length each vertex has for itself; vertices that act on each other must have the
        same. Nothing is recentred."""

        def once(carry: Any, part: Any) -> Any:
            state, code, work = carry
            new, status = rattle_geodesic.single_of_each(world, part * times, state, self.order_)
            return (new, jnp.where(code == Code.ok, status.code, code), work + status.work), None

        first = (state, jnp.int32(Code.ok), jnp.int32(0))
        parts = jnp.asarray(COMPOSITIONS[self.order_], state.q.dtype)
        (state, code, work), _ = jax.lax.scan(once, first, parts)
        return state, Status(code, work)

    def _composed(self, system: System, t: Any, h: Any, state: Any) -> tuple[Any, Status]:
        parts = COMPOSITIONS[self.order_]
        if len(parts) == 1:
            return self._single(system, t, h, state)
        ends = np.concatenate([[0.0], np.cumsum(parts)[:-1]])

        def once(carry: Any, part: Any) -> Any:
            state, code, work = carry
            begin, length = part
            new, status = self._single(system, t + begin * h, length * h, state)
            return (new, jnp.where(code == Code.ok, status.code, code), work + status.work), None

        first = (state, jnp.int32(Code.ok), jnp.int32(0))
        real = jax.tree.leaves(state)[0].dtype
        pieces = (jnp.asarray(ends, real), jnp.asarray(parts, real))
        (state, code, work), _ = jax.lax.scan(once, first, pieces)
        return state, Status(code, work)

    def read(self, system: System, t: Time, state: RattleState | GeodesicState) -> tuple[Point, Tangent]:
        if isinstance(state, GeodesicState):
            return state.q, state.v
        return system.local(state.phase.base).leave(state.phase.y, state.phase.stages[0])

    def multipliers(self, system: System, t: Time, state: RattleState | GeodesicState) -> Multipliers:
        rigid = moves_along_geodesics(system)
        if rigid is None or not isinstance(state, GeodesicState):
            return super().multipliers(system, t, state)
        assert isinstance(system, World)
        return rigid.multipliers(system, t, state.q, state.v)

    def _single(self, system: System, t: Any, h: Any, state: Any) -> tuple[Any, Status]:
        if isinstance(state, GeodesicState):
            assert isinstance(system, World)
            return rattle_geodesic.single(system, t, h, state, self.iteration == "newton", self.order_)
        now = state.phase
        local = system.local(now.base)
        held = local.hold(t, now.y, now.stages[0])
        assert held is not None
        if sparse.structures(local) is not None:
            done = rattle_sparse.step(local, held, t, h, now, state.multipliers)
            return RattleState(
                phase_state.summed(now, done.move, done.kick, done.w[None], h), done.multipliers
            ), done.status
        move, w, multipliers, status = to_surface(local, held, t, h, now, state.multipliers, self.iteration == "newton")
        kick = kick_of(local, held, t, h, now, move, w, multipliers)
        y, p = now.y + (now.y_low + move), now.p + (now.p_low + kick)
        w, pull, found = to_tangent(local, held, t + h, y, p, w)
        new = phase_state.summed(now, move, kick + pull, w[None], h)
        code = jnp.where((status.code == Code.ok) & ~found, jnp.int32(Code.no_convergence), status.code)
        changed = project.turned(local, held, t, h, now.y, y, w)
        # Where the exact Jacobian does not lead to a solution either, a singular position there is the reason.
        both = (changed, code) if self.iteration == "newton" else (code, changed)
        code = project.worse(*both, project.still_redundant(local, held, t + h, y, w))
        return RattleState(new, multipliers), Status(code, status.work)

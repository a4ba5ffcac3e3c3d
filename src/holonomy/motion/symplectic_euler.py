"""The simplest symplectic method."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from holonomy.motion import implicit
from holonomy.motion.gauss import GaussState
from holonomy.motion.method import AbstractMethod, Status
from holonomy.motion.result import Code
from holonomy.systems import System, mechanics
from holonomy.systems.linear import back_substitute, factor


class SymplecticEuler(AbstractMethod):
    r"""The symplectic Euler method in (q, p). Order 1, symplectic, not reversible, no constraints.

    The velocity w of the step solves \(\partial_v L(q, w) = p + h\,\partial_q L(q, w)\); then
    \(q \leftarrow q + h w\) and \(p \leftarrow \partial_v L(q, w)\) at the old q. Implicit only where the mass matrix
    depends on q.
    """

    iteration: str = eqx.field(static=True, default="fixed point")

    def fallback(self, certain: bool) -> SymplecticEuler | None:
        if self.iteration == "newton":
            return None
        return SymplecticEuler("both" if certain else "newton")

    @property
    def scalar(self) -> bool:
        return self.iteration == "fixed point"

    @property
    def order(self) -> int:
        return 1

    @property
    def traits(self) -> str:
        return "symplectic"

    def start(self, system: System, t: Any, q: Any, v: Any) -> GaussState:
        local = system.local(q)
        y, w = local.enter(v)
        p = mechanics.momentum(local.lagrangian, t, y, w)
        return GaussState(q, p, jnp.zeros_like(q), jnp.zeros_like(p), w[None], jnp.ones((), q.dtype))

    def step(self, system: System, t: Any, h: Any, state: GaussState) -> tuple[GaussState, Status]:
        local = system.local(state.q)
        y, p, guess = local.origin, state.p, state.stages[0]

        def balance(w: Any) -> implicit.Balance:
            dq, dv = jax.grad(local.lagrangian, argnums=(1, 2))(t, y, w)
            if local.force is not None:
                dq = dq + local.force(t, y, w)
            size = jnp.max(jnp.abs(dv)) + jnp.max(jnp.abs(h * dq)) + jnp.max(jnp.abs(p))
            return implicit.Balance(dv - (p + h * dq), size, jnp.max(jnp.abs(y)) / jnp.abs(h))

        mass = factor(mechanics.mass_matrix(local.lagrangian, t, y, guess), local.definite)
        w, (found, count) = implicit.solve(balance, lambda r: back_substitute(mass, r), guess, self.iteration)
        q, p, stages = local.onward(y + h * w, mechanics.momentum(local.lagrangian, t, y, w), w[None])
        new = state._replace(q=q, p=p, stages=stages, h=h)
        code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
        return new, Status(code, count)

    def read(self, system: System, t: Any, state: GaussState) -> tuple[Any, Any]:
        local = system.local(state.q)
        y = local.origin
        return local.leave(y, mechanics.velocity(local.lagrangian, t, y, state.p, state.stages[0], local.definite))

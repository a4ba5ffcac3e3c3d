"""The simplest symplectic method."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from holonomy.method_table import Properties
from holonomy.motion.methods import moving_chart, phase_state, projection, variational_step
from holonomy.motion.methods.base import AbstractMethod, Status
from holonomy.motion.methods.phase_state import Phase
from holonomy.systems import System, lagrangian
from holonomy.systems.constraints.project import worse
from holonomy.systems.dense_solve import back_substitute
from holonomy.systems.result_code import Code
from holonomy.types import Point, Tangent, Time


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
    def properties(self) -> Properties:
        return Properties(symplectic=True)

    def properties_on(self, system: System) -> Properties:
        return Properties(symplectic=not system.constraints)  # projection onto constraints is not symplectic

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> Phase:
        return phase_state.enter(system, t, q, v, 1, renewed=True)

    def step(self, system: System, t: Time, h: Time, state: Phase) -> tuple[Phase, Status]:
        local = system.local(state.base)
        y, p, guess = state.y, state.p, state.stages[0]

        def balance(w: Any) -> variational_step.Balance:
            at = moving_chart.slopes(local, t, y, w)
            kick = h * at.position
            begin = moving_chart.plain_momentum(local, p, h * w, kick, h * at.base)
            size = moving_chart.component_sizes(system.space, jnp.abs(at.velocity) + jnp.abs(kick) + jnp.abs(p))
            return variational_step.Balance(at.velocity - (begin + kick), size, jnp.abs(y) / jnp.abs(h))

        mass = lagrangian.factored_mass(local.lagrangian, t, y, guess, local.definite, local.solves(t, y))
        w, (found, count) = variational_step.solve(balance, lambda r: back_substitute(mass, r), guess, self.iteration)
        move, kick = h * w, lagrangian.momentum(local.lagrangian, t, y, w) - p
        code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
        held = local.hold(t, y, w)
        if held is not None:
            end = lagrangian.velocity(local.lagrangian, t + h, y + move, p + kick, w, local.definite)
            x, w, status = projection.finish(local, held, t, h, y + move, end, y)
            move, kick = x - y, lagrangian.momentum(local.lagrangian, t + h, x, w) - p
            code = worse(code, status.code)
        if system.flat:
            new = phase_state.summed(state, move, kick, w[None], h)
        else:
            push = system.space.pull_shift(state.base, move, p + kick) - p
            new = moving_chart.renew(system, state, move, push, (move[None], w[None]), h)
        return new, Status(code, count)

    @property
    def holds(self) -> tuple[str, ...]:
        return ("holonomic", "velocity")

    def read(self, system: System, t: Time, state: Phase) -> tuple[Point, Tangent]:
        return phase_state.leave(system, t, state, state.stages[0])

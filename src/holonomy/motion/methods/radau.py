"""Radau IIA with constraints: for stiff, dissipative and driven motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.method_table import Properties
from holonomy.motion.methods import phase_state
from holonomy.motion.methods.base import AbstractMethod, Status
from holonomy.motion.methods.gauss_coefficients import basis
from holonomy.motion.methods.phase_state import Phase
from holonomy.motion.methods.radau_equations import Equations, tableau
from holonomy.motion.methods.radau_sparse import SparseEquations
from holonomy.root_finding import newton
from holonomy.systems import System, lagrangian
from holonomy.systems.constraints import kkt, project
from holonomy.systems.result_code import Code
from holonomy.types import Multipliers, Point, Tangent, Time

PLACES = ("end", "stages")


class RadauState(NamedTuple):
    """Position, momentum and the last stages' velocities; multipliers of all conditions, and of the last stages.

    A free system has None for both.
    """

    phase: Phase
    multipliers: Multipliers
    reactions: Float[Array, "stages held"] | None


class Radau(AbstractMethod):
    r"""Radau IIA with 2 or 3 stages in (q, p), order 3 or 5, stiffly accurate. Not symplectic, not reversible.

    Unknowns are the stage velocities \(W_i\) and the stage values \(\Lambda_i\) of the multipliers, with
    \(Q_i = q + h\sum_j a_{ij}W_j\) and
    \(\partial_v L(Q_i, W_i) = p + h\sum_j a_{ij}\bigl(\partial_q L + Q + N^\top\Lambda\bigr)_j\).
    Of each holonomic constraint they are fixed, for ``at="end"``, by \(\varphi = \dot\varphi = 0\) at the end of the
    step, for three stages by \(\ddot\varphi = 0\) too; for ``at="stages"`` by \(\varphi = 0\) at every stage. Of each
    velocity constraint by \(a = 0\) at every stage. The multipliers of a run are the last stage's; with velocity
    constraints, three stages and ``at="end"`` those of the accelerations there, as they are without. Observed orders:
    docs/constraints.md. References: Hairer and Wanner, *Solving Ordinary Differential Equations II*, VII.4; Schweizer
    and Li, 2015.
    """

    stages: int = eqx.field(static=True)
    at: str = eqx.field(static=True)
    iteration: str = eqx.field(static=True)

    def __init__(self, stages: int = 3, at: str = "end", *, iteration: str = "simplified"):
        if stages not in (2, 3):
            raise ValueError(f"Radau has 2 stages (order 3) or 3 (order 5); got {stages!r}.")
        if at not in PLACES:
            raise ValueError(f"Radau fixes multipliers at='end' or at='stages'; got at={at!r}.")
        self.stages = int(stages)
        self.at = at
        self.iteration = iteration

    @property
    def order(self) -> int:
        return 2 * self.stages - 1

    @property
    def label(self) -> str:
        return f"Radau({self.stages}, at={self.at!r})"

    @property
    def properties(self) -> Properties:
        return Properties(stiffly_accurate=True)

    @property
    def holds(self) -> tuple[str, ...]:
        return ("holonomic", "velocity")

    @property
    def scalar(self) -> bool:
        return self.iteration == "simplified"

    def fallback(self, certain: bool) -> Radau | None:
        if certain or self.iteration == "newton":
            return None
        return Radau(self.stages, self.at, iteration="newton")

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> RadauState:
        state = phase_state.enter(system, t, q, v, self.stages)
        local, y, w = system.local(q), state.y, state.stages[0]
        held = local.hold(t, y, w)
        if held is None:
            nothing: Any = None  # the multipliers of a system without constraints are never read
            return RadauState(state, nothing, None)
        few = kkt.accelerate(local, held, t, y, w)[1]
        every = kkt.spread(local, held, t, y, few)
        return RadauState(state, every, jnp.broadcast_to(few, (self.stages, *few.shape)))

    def step(self, system: System, t: Time, h: Time, state: RadauState) -> tuple[RadauState, Status]:
        now = state.phase
        local = system.local(now.base)
        held = local.hold(t, now.y, now.stages[-1])
        step: Equations | SparseEquations = Equations(self.stages, self.at, local, held, t, h, now.y, now.p)
        mass, full = system.mass, self.iteration == "newton"
        at_every = None
        if mass is not None and mass.steps is not None:
            step = SparseEquations(step, mass.steps)
            # beside the work for an iterate its own matrix costs little; that of a long chain of rods frozen leads to
            # other roots
            at_every = step.direction_at if full or held is not None else None
        guess = step.join(*(_extrapolated(x, phase_state.ratio(now, h)) for x in (now.stages, state.reactions)))
        z, found, count = newton(
            step.residual,
            step.direction(guess) if at_every is None else lambda residual: residual,
            lambda change: jnp.max(jnp.abs(step.split(change)[0]), axis=0),
            lambda z: jnp.max(jnp.abs(step.split(z)[0]), axis=0) + jnp.abs(now.y) / jnp.abs(h),
            guess,
            full=full and isinstance(step, Equations),
            direction_at=at_every,
        )
        stages, reactions = step.split(z)
        end = step.positions(stages)[-1]
        p = lagrangian.momentum(local.lagrangian, t + h, end, stages[-1])
        every = state.multipliers
        new = phase_state.recentred(system, now._replace(y=end, p=p, stages=stages, h=h))
        code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
        if held is not None and reactions is not None:
            every = kkt.spread(local, held, t + h, end, reactions[-1])
            changed = project.turned(local, held, t, h, now.y, end, stages[-1])
            code = project.worse(changed, code, project.still_redundant(local, held, t + h, end, stages[-1]))
        return RadauState(new, every, reactions), Status(code, count)

    def read(self, system: System, t: Time, state: RadauState) -> tuple[Point, Tangent]:
        return system.local(state.phase.base).leave(state.phase.y, state.phase.stages[-1])

    @property
    def _to_accelerations(self) -> bool:
        return self.at == "end" and self.stages == 3

    def multipliers(self, system: System, t: Time, state: RadauState) -> Multipliers:
        given = system.constraints
        if given.touch is not None or (given.equations.counts[1] and self._to_accelerations):
            return super().multipliers(system, t, state)
        return state.multipliers


def _extrapolated(values: Any, ratio: Any) -> Any:
    """The last step's stage values, as a polynomial in time, at this step's stages."""
    if values is None:
        return None
    stages = len(values)
    nodes = tableau(stages)[1].astype(values.dtype)
    ahead = 1.0 + nodes * ratio
    return jnp.stack([basis(nodes, j, ahead) for j in range(stages)], axis=1) @ values

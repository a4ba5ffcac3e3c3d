"""Radau IIA with constraints: for stiff, dissipative and driven motion."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.method_table import Properties
from holonomy.motion.methods import phase_state
from holonomy.motion.methods.base import AbstractMethod, Status
from holonomy.motion.methods.gauss import basis
from holonomy.motion.methods.phase_state import Phase
from holonomy.systems import System, lagrangian, root_finding
from holonomy.systems.constraints import conditions, project
from holonomy.systems.constraints.conditions import Held, with_idle
from holonomy.systems.dense_solve import back_substitute, factor, positive
from holonomy.systems.in_chart import Local
from holonomy.systems.result_code import Code

PLACES = ("end", "stages")


class RadauState(NamedTuple):
    """Position, momentum and the last stages' velocities; multipliers of all conditions, and of the last stages.

    A free system has None for both.
    """

    phase: Phase
    multipliers: Any
    reactions: Any


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

    def start(self, system: System, t: Any, q: Any, v: Any) -> RadauState:
        state = phase_state.enter(system, t, q, v, self.stages)
        local, y, w = system.local(q), state.y, state.stages[0]
        held = local.hold(t, y, w)
        if held is None:
            return RadauState(state, None, None)
        few = conditions.accelerate(local, held, t, y, w)[1]
        every = conditions.spread(local, held, t, y, few)
        return RadauState(state, every, jnp.broadcast_to(few, (self.stages, *few.shape)))

    def step(self, system: System, t: Any, h: Any, state: RadauState) -> tuple[RadauState, Status]:
        now = state.phase
        local = system.local(now.anchor)
        held = local.hold(t, now.y, now.stages[-1])
        step = _Step(self.stages, self.at, local, held, t, h, now.y, now.p)
        guess = step.join(*(_extrapolated(x, phase_state.ratio(now, h)) for x in (now.stages, state.reactions)))
        z, found, count = root_finding.solve(
            step.residual,
            step.direction(guess),
            lambda change: jnp.max(jnp.abs(step.split(change)[0])),
            lambda z: jnp.max(jnp.abs(step.split(z)[0])) + jnp.max(jnp.abs(now.y)) / jnp.abs(h),
            guess,
            full=self.iteration == "newton",
        )
        stages, reactions = step.split(z)
        end = step.positions(stages)[-1]
        p = lagrangian.momentum(local.lagrangian, t + h, end, stages[-1])
        every, kept = state.multipliers, jnp.bool_(True)
        if held is not None:
            every = conditions.spread(local, held, t + h, end, reactions[-1])
            kept = positive(with_idle(held.normals(t + h, end) @ held.normals(t, now.y).T, held.idle))
        new = phase_state.recentred(system, now._replace(y=end, p=p, stages=stages, h=h))
        code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
        code = jnp.where(kept, code, jnp.int32(Code.rank_change))
        if held is not None:
            code = project.worse(code, project.still_redundant(local, held, t + h, end, stages[-1]))
        return RadauState(new, every, reactions), Status(code, count)

    def read(self, system: System, t: Any, state: RadauState) -> tuple[Any, Any]:
        return system.local(state.phase.anchor).leave(state.phase.y, state.phase.stages[-1])

    @property
    def _to_accelerations(self) -> bool:
        return self.at == "end" and self.stages == 3

    def multipliers(self, system: System, t: Any, state: RadauState) -> Any:
        given = system.constraints
        if given is not None and (given.active is not None or (given.counts[1] and self._to_accelerations)):
            return super().multipliers(system, t, state)
        return state.multipliers


class _Step:
    """The equations of one step. Unknowns: stage velocities, and h times the multipliers of the stages."""

    def __init__(self, stages: int, at: str, local: Local, held: Held | None, t: Any, h: Any, y: Any, p: Any):
        self.s, self.at, self.local, self.held, self.h, self.y, self.p = stages, at, local, held, h, y, p
        self.n = p.size
        self.r = 0 if held is None else held.count
        self.a, c = (jnp.asarray(x, p.dtype) for x in tableau(stages))
        self.times = t + c * h

    def split(self, z: Any) -> tuple[Any, Any]:
        """Stage velocities and multipliers, None where there are none."""
        cut = self.s * self.n
        reactions = z[cut:].reshape(self.s, self.r) / self.h if self.r else None
        return z[:cut].reshape(self.s, self.n), reactions

    def join(self, velocities: Any, reactions: Any) -> Any:
        """The vector of unknowns."""
        return jnp.concatenate([velocities.ravel(), (self.h * reactions).ravel()]) if self.r else velocities.ravel()

    def positions(self, velocities: Any) -> Any:
        """Where the stages are."""
        return self.y[None] + self.h * (self.a @ velocities)

    def _forces(self, t: Any, y: Any, w: Any, reaction: Any) -> tuple[Any, Any]:
        """Forces with those of the constraints, and the momentum."""
        pull, momentum = jax.grad(self.local.lagrangian, argnums=(1, 2))(t, y, w)
        if self.local.applied is not None:
            pull = pull + self.local.applied(t, y, w)
        if self.held is not None:
            pull = pull + reaction @ self.held.normals(t, y)
        return pull, momentum

    def residual(self, z: Any) -> Any:
        """Balance of momenta at the stages, then the conditions, over h where they are of positions."""
        velocities, reactions = self.split(z)
        positions = self.positions(velocities)
        force, momentum = jax.vmap(self._forces)(self.times, positions, velocities, reactions)
        balance = momentum - (self.p[None] + self.h * (self.a @ force))
        if self.held is None:
            return balance.ravel()
        return jnp.concatenate([balance.ravel(), *self._conditions(self.held, positions, velocities, reactions)])

    def _conditions(self, held: Held, positions: Any, velocities: Any, reactions: Any) -> list[Any]:
        m, end = held.counts[0], self.times[-1]
        y, w = positions[-1], velocities[-1]
        inner = list(range(self.s))
        rows = []
        if m and self.at == "stages":
            rows += [held.position(self.times[i], positions[i]) / self.h for i in inner]
        if m and self.at == "end":
            rows += [held.position(end, y) / self.h, held.rates(end, y, w)[:m]]
            if self.s == 3:
                rows.append(self.h * self._second(held, end, y, w, reactions[-1])[:m])
        if held.counts[1]:
            rows += [held.rates(self.times[i], positions[i], velocities[i])[m:] for i in inner]
        if held.idle is None:
            return rows
        # s conditions of each wall that is not in contact: its multipliers are zero
        idle, free = self.h * held.idle, list(range(self.s))
        still = [idle[:m] * reactions[i, :m] for i in free] if m else []
        still += [idle[m:] * reactions[i, m:] for i in free] if held.counts[1] else []
        return [row + zero for row, zero in zip(rows, still, strict=True)]

    def _second(self, held: Held, t: Any, y: Any, w: Any, reaction: Any) -> Any:
        """The rates' own rates, with the acceleration that these multipliers give."""
        force = lagrangian.inertial_force(self.local.lagrangian, t, y, w) + reaction @ held.normals(t, y)
        if self.local.applied is not None:
            force = force + self.local.applied(t, y, w)
        mass = factor(lagrangian.mass_matrix(self.local.lagrangian, t, y, w), self.local.definite)
        return held.normals(t, y) @ back_substitute(mass, force) + held.bias(t, y, w)

    def direction(self, guess: Any) -> Any:
        """Corrections by the matrix with exact derivatives at the guessed end of the step, the same for all stages."""
        velocities, reactions = self.split(guess)
        t, y, w, reaction = (
            self.times[-1],
            self.positions(velocities)[-1],
            velocities[-1],
            (reactions[-1] if self.r else None),
        )
        by_q, by_w = (jax.jacfwd(self._forces, argnums=k)(t, y, w, reaction) for k in (1, 2))
        mass, h, a = by_w[1], self.h, self.a
        matrix = _blocks(jnp.eye(self.s, dtype=y.dtype), mass)
        matrix = matrix + h * _blocks(a, by_q[1] - by_w[0]) - h * h * _blocks(a @ a, by_q[0])
        if self.held is not None:
            normals = self.held.normals(t, y)
            rows = self._slopes(self.held, t, y, w, mass, normals)
            top = jnp.concatenate([matrix, -_blocks(a, normals.T)], axis=1)
            matrix = jnp.concatenate([top, rows])
        factored = factor(matrix, definite=False)
        return lambda r: back_substitute(factored, r)

    def _slopes(self, held: Held, t: Any, y: Any, w: Any, mass: Any, normals: Any) -> Any:
        """Derivatives of the conditions, in the order of `_conditions`."""
        m, k = held.counts
        a, h, unit = self.a, self.h, jnp.eye(self.s, dtype=y.dtype)
        bend = jax.jacfwd(lambda x: held.rates(t, x, w))(y)
        last = slice(self.s - 1, self.s)

        def on_velocities(block: Any) -> Any:
            return jnp.concatenate([block, jnp.zeros((block.shape[0], self.s * self.r), y.dtype)], axis=1)

        def second(rows: Any) -> Any:
            across = _blocks(unit[last], rows @ self._across(mass, normals))
            return jnp.concatenate([jnp.zeros((rows.shape[0], self.s * self.n), y.dtype), across], axis=1)

        parts = []
        if m and self.at == "stages":
            parts.append(on_velocities(_blocks(a, normals[:m])))
        if m and self.at == "end":
            parts.append(on_velocities(_blocks(a[last], normals[:m])))
            parts.append(on_velocities(_blocks(unit[last], normals[:m]) + h * _blocks(a[last], bend[:m])))
            if self.s == 3:
                parts.append(second(normals[:m]))
        if k:
            parts.append(on_velocities(_blocks(unit, normals[m:]) + h * _blocks(a, bend[m:])))
        slopes = jnp.concatenate(parts)
        if held.idle is None:
            return slopes
        zeros = jnp.diag(held.idle)
        on = [_blocks(unit, zeros[rows]) for rows in (slice(0, m), slice(m, m + k))]
        return slopes.at[:, self.s * self.n :].add(jnp.concatenate(on))

    def _across(self, mass: Any, normals: Any) -> Any:
        factored = factor(mass, self.local.definite)
        return jax.vmap(lambda row: back_substitute(factored, row))(normals).T


def _blocks(outer: Any, inner: Any) -> Any:
    """Kronecker's product of matrices."""
    (a, b), (c, d) = outer.shape, inner.shape
    return (outer[:, None, :, None] * inner[None, :, None, :]).reshape(a * c, b * d)


def _extrapolated(values: Any, ratio: Any) -> Any:
    """The last step's stage values, as a polynomial in time, at this step's stages."""
    if values is None:
        return None
    stages = len(values)
    nodes = tableau(stages)[1]
    ahead = 1.0 + jnp.asarray(nodes, values.dtype) * ratio
    return jnp.stack([basis(nodes, j, ahead) for j in range(stages)], axis=1) @ values


@cache
def tableau(stages: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients a and c of Radau IIA."""
    if stages == 2:
        return np.array([[5 / 12, -1 / 12], [3 / 4, 1 / 4]]), np.array([1 / 3, 1.0])
    r = np.sqrt(6.0)
    a = [
        [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
        [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
        [(16 - r) / 36, (16 + r) / 36, 1 / 9],
    ]
    return np.array(a), np.array([(4 - r) / 10, (4 + r) / 10, 1.0])

r"""Gauss collocation on Hamilton's equations, with stage velocities as unknowns."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.method_table import Properties
from holonomy.motion.methods import (
    gauss_coefficients,
    gauss_nonholonomic,
    gauss_on_space,
    moving_chart,
    phase_state,
    variational_step,
)
from holonomy.motion.methods.base import AbstractMethod, Status
from holonomy.motion.methods.phase_state import Phase
from holonomy.systems import System
from holonomy.systems.result_code import Code
from holonomy.trace.repeat import each
from holonomy.types import Point, Tangent, Time

# Velocities from which the next are guessed: beyond this, carrying a polynomial on multiplies rounding too much.
_REMEMBERED = 6


class Gauss(AbstractMethod):
    r"""Gauss collocation with s stages in (q, p). Order 2s, symplectic, reversible.

    On a space whose points are not their own coordinates it is a variational step in a chart that is renewed at every
    step (`moving_chart`): of order 2s, symplectic, without drift of the energy, and momenta of isometries are kept to
    round-off at any step; not reversible.

    Holds velocity constraints by symmetric projection (`gauss_nonholonomic`): reversible then, with energy
    bounded where the motion is reversible. No holonomic constraints.

    The unknowns are the stage velocities \(W_i\): with \(Q_i = q + h\sum_j a_{ij}W_j\) they satisfy
    \(\partial_v L(Q_i, W_i) = p + h\sum_j a_{ij}\,\partial_q L(Q_j, W_j)\), which needs no Legendre transform and is
    collocation on Hamilton's equations whatever L. The step adds up with compensation, so that over many steps errors
    grow like those of a random walk. Reference: Hairer, Lubich and Wanner,
    *Geometric Numerical Integration*, II.1 and VIII.5.
    """

    stages: int = eqx.field(static=True)
    iteration: str = eqx.field(static=True)

    def __init__(self, stages: int = 3, *, iteration: str = "fixed point"):
        if stages not in (1, 2, 3, 4, 5, 6):
            raise ValueError(f"Gauss takes 1 to 6 stages (order twice that); got {stages!r}.")
        self.stages = int(stages)
        self.iteration = iteration

    @property
    def order(self) -> int:
        return 2 * self.stages

    @property
    def scalar(self) -> bool:
        return self.iteration == "fixed point"

    @property
    def label(self) -> str:
        return f"Gauss({self.stages})"

    def fallback(self, certain: bool) -> Gauss | None:
        if self.iteration == "newton":
            return None
        return Gauss(self.stages, iteration="both" if certain else "newton")

    @property
    def properties(self) -> Properties:
        return Properties(symplectic=True, reversible=True)

    def properties_on(self, system: System) -> Properties:
        # the chart of a step belongs to one of its ends
        return self.properties if system.flat else Properties(symplectic=True)

    @property
    def holds(self) -> tuple[str, ...]:
        return ("velocity",)

    def start(self, system: System, t: Time, q: Point, v: Tangent) -> Phase:
        return phase_state.enter(system, t, q, v, 2 * self.stages, renewed=True)

    def step(self, system: System, t: Time, h: Time, state: Phase) -> tuple[Phase, Status]:
        guess = self._guess(state, h)
        if system.constraints:
            whole = tuple(np.asarray(x, state.y.dtype) for x in gauss_coefficients.tableau(self.stages))
            return gauss_nonholonomic.step(system, t, h, state, guess, whole, self.iteration == "newton")
        if not system.flat:
            return gauss_on_space.step(system, t, h, state, guess, self.stages, self.iteration)
        c = np.asarray(gauss_coefficients.tableau(self.stages)[2], state.y.dtype)
        (a, a_low), (b, b_low) = (
            tuple(np.asarray(x, state.y.dtype) for x in pair) for pair in gauss_coefficients.split(self.stages)
        )
        local = system.local(state.base)
        y, p = state.y, state.p
        times = t + c * h

        def until_stages(rows: Any) -> Any:
            return h * (a @ rows + a_low @ rows)

        @jax.jit  # traced once, though the equations need it in several places
        def gradients(w: Any) -> tuple[Any, Any]:
            slopes = each(lambda *at: moving_chart.slopes(local, *at), times, y[None] + until_stages(w), w)
            return slopes.position, slopes.velocity

        def balance(w: Any) -> variational_step.Balance:
            dq, dv = gradients(w)
            momenta = jnp.max(jnp.abs(dv), axis=0, keepdims=True) + jnp.abs(p)[None]
            return variational_step.Balance(dv - (p[None] + until_stages(dq)), momenta, speeds)

        # Sizes that the iteration does not change are found once, outside it; |pull| is at most |dv| + |p| at its end.
        speeds = (jnp.abs(y) / jnp.abs(h) + jnp.max(jnp.abs(guess), axis=0))[None]
        middle = b @ guess
        correct = moving_chart.correction(local, t + 0.5 * h, y + 0.5 * h * middle, middle, p, h, b + b_low)
        w, (found, count) = variational_step.solve(balance, correct, guess, self.iteration)
        dq, _ = gradients(w)
        move, kick = (h * (b @ w), h * (b_low @ w)), (h * (b @ dq), h * (b_low @ dq))
        code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
        return phase_state.summed(state, move, kick, w, h), Status(code, count)

    def read(self, system: System, t: Time, state: Phase) -> tuple[Point, Tangent]:
        _, _, c = gauss_coefficients.tableau(self.stages)
        guess = jnp.asarray(gauss_coefficients.lagrange(c, np.ones(1)), state.y.dtype) @ state.stages[self.stages :]
        return phase_state.leave(system, t, state, guess[0])

    def _guess(self, state: Phase, h: Any) -> Any:
        """The last collocation polynomial, carried on into this step; after equal steps, the one through the last two.

        The second is of order 2s instead of s, and saves two or three iterations of six.
        """
        c = gauss_coefficients.tableau(self.stages)[2]
        last = state.stages[self.stages :]
        near = c.astype(state.y.dtype)
        ahead = 1.0 + near * phase_state.ratio(state, h)
        one = jnp.stack([gauss_coefficients.basis(near, j, ahead) for j in range(self.stages)], axis=1) @ last
        used = min(2 * self.stages, _REMEMBERED)
        if used <= self.stages:
            return one
        nodes = np.concatenate([c - 1.0, c])[-used:]
        two = gauss_coefficients.lagrange(nodes, c + 1.0).astype(state.y.dtype) @ state.stages[-used:]
        return jnp.where((state.h == h) & (state.before == h), two, one)

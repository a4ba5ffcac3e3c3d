r"""Gauss collocation under velocity constraints, kept by symmetric projection.

The multipliers are eliminated, \(\lambda = \lambda(t, q, v)\), which leaves an ordinary differential equation that
keeps \(a(t,q,v) = 0\) only up to the error of the method. One multiplier \(\mu\) then acts at both ends of a step,

\[ \tilde p_0 = p_0 + N_0^\top\mu, \qquad (q_1, \tilde p_1) = \Phi_h(q_0, \tilde p_0), \qquad
   p_1 = \tilde p_1 + N_1^\top\mu, \qquad a(t_1, q_1, v_1) = 0, \]

orthogonal to the constraint in the kinetic metric. With \(-\mu\) the same equations lead back, so that the step
stays reversible. Reference: Hairer, Lubich and Wanner, *Geometric Numerical Integration*, V.4.1.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion.methods import moving_chart, phase_state, stage_slopes
from holonomy.motion.methods.base import Status
from holonomy.motion.methods.phase_state import Phase, Stages
from holonomy.root_finding import newton
from holonomy.systems import System, lagrangian
from holonomy.systems.constraints import project
from holonomy.systems.constraints.kkt import with_idle
from holonomy.systems.dense_solve import back_substitute, eliminate_or_pass, factor
from holonomy.systems.result_code import Code
from holonomy.trace.repeat import each
from holonomy.types import Time


def step(
    system: System, t: Time, h: Time, state: Phase, guess: Stages, tableau: tuple[np.ndarray, ...], full: bool
) -> tuple[Phase, Status]:
    """One step from stages guessed as `guess`; `full` asks for Newton's method with the exact Jacobian."""
    a, b, c = tableau
    local = system.local(state.base)
    (s, n), y, end = guess.shape, state.y, t + h
    held = local.hold(t, y, guess[0])
    assert held is not None
    times, r, idle = t + c * h, held.count, held.idle
    before = held.normals(t, y)
    start = state.p + state.p_low

    def parts(z: Any) -> tuple[Any, Any, Any]:
        return z[: s * n].reshape(s, n), z[s * n : (s + 1) * n], z[(s + 1) * n :]

    def slopes(w: Any) -> stage_slopes.Slopes:
        return each(lambda *at: moving_chart.slopes(local, *at), times, y[None] + h * (a @ w), w)

    def moves(w: Any, at: stage_slopes.Slopes, mu: Any) -> tuple[Any, Any, Any]:
        """The move, the momentum in the chart with which the step begins, and what is added to it until its end."""
        move, force, by_base = (jnp.asarray(h * (b @ rows)) for rows in (w, at.position, at.base))
        begin = moving_chart.plain_momentum(local, start + mu @ before, move, force, by_base)
        return move, begin, force + mu @ held.normals(end, y + (state.y_low + move))

    def residual(z: Any) -> Any:
        w, last, mu = parts(z)
        at = slopes(w)
        move, begin, kick = moves(w, at, mu)
        x = y + (state.y_low + move)
        inner = at.velocity - (begin[None] + h * (a @ at.position))
        final = lagrangian.momentum(local.lagrangian, end, x, last) - (begin + kick)
        rate = held.rates(end, x, last)
        return jnp.concatenate([inner.ravel(), final, rate if idle is None else rate + idle * mu])

    middle: Any = b @ guess
    mass = factor(lagrangian.mass_matrix(local.lagrangian, t + 0.5 * h, y + 0.5 * h * middle, middle), local.definite)
    ahead = held.normals(end, y + h * middle)
    both = jax.vmap(lambda row: back_substitute(mass, row))(before + ahead).T
    matrix, kept = eliminate_or_pass(with_idle(ahead @ both, idle), held.passes)

    z, found, count = newton(
        residual,
        _direction(parts, mass, matrix, before, ahead, both),
        lambda change: jnp.max(jnp.abs(change[: (s + 1) * n].reshape(s + 1, n)), axis=0),
        _size(system, s, both),
        jnp.concatenate([guess.ravel(), guess[-1], jnp.zeros(r, y.dtype)]),
        full=full,
    )
    w, last, mu = parts(z)
    move, begin, kick = moves(w, slopes(w), mu)
    if system.flat:
        new = phase_state.summed(state, move, kick + mu @ before, w, h)
    else:
        push = system.space.pull_shift(state.base, move, begin + kick) - start
        new = moving_chart.renew(system, state, move, push, moving_chart.past(state, a, b, w, h), h)
    code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
    code = jnp.where(kept, code, jnp.int32(Code.rank_change))
    code = project.worse(code, project.still_redundant(local, held, end, y + (state.y_low + move), last))
    return new, Status(code, count)


def _direction(parts: Any, mass: Any, matrix: Any, before: Any, ahead: Any, both: Any) -> Any:
    """Corrections of stages, last velocity and multipliers, by one mass matrix and the normals at both ends."""

    def direction(residual: Any) -> Any:
        inner, final, rate = parts(residual)
        free = back_substitute(mass, final)
        mu = back_substitute(matrix, rate - ahead @ free)
        stages = jax.vmap(lambda x: back_substitute(mass, x + mu @ before))(inner)
        return jnp.concatenate([stages.ravel(), free + both @ mu, mu])

    return direction


def _size(system: System, s: int, both: Any) -> Any:
    """How large each component of the velocities is, those that the multipliers give among them."""
    n = system.space.dim

    def size(z: Any) -> Any:
        rows, mu = z[: (s + 1) * n].reshape(s + 1, n), z[(s + 1) * n :]
        return moving_chart.component_sizes(system.space, jnp.max(jnp.abs(rows), axis=0) + jnp.abs(both @ mu))

    return size

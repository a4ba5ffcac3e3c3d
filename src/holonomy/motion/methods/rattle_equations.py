"""The two systems of equations of a RATTLE step: to the constraints' surface, and to its tangent space."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.motion.methods.base import Status
from holonomy.motion.methods.phase_state import Phase
from holonomy.root_finding import newton
from holonomy.systems import lagrangian
from holonomy.systems.constraints.conditions import Held
from holonomy.systems.constraints.kkt import border, bordered_solve, with_idle
from holonomy.systems.dense_solve import back_substitute, eliminate_or_pass, factor
from holonomy.systems.in_chart import Local
from holonomy.systems.result_code import Code
from holonomy.types import Flag, Time, Vector


def _slopes(local: Local, t: Any, y: Any, w: Any) -> tuple[Any, Any]:
    """Forces without constraints, and the momentum."""
    pull, momentum = jax.grad(local.lagrangian, argnums=(1, 2))(t, y, w)
    return (pull if local.applied is None else pull + local.applied(t, y, w)), momentum


def kick_of(
    local: Local,
    held: Held,
    t: Time,
    h: Time,
    now: Phase,
    move: Vector,
    w: Vector,
    multipliers: Float[Array, " held"],
) -> Vector:
    """What the forces of both ends add to the momentum, without the last multipliers."""
    first = 2.0 * move / h - w
    before, _ = _slopes(local, t, now.y, first)
    after, _ = _slopes(local, t + h, now.y + (now.y_low + move), w)
    return 0.5 * h * (before + after + multipliers @ held.gradient(t, now.y))


def to_surface(
    local: Local, held: Held, t: Time, h: Time, now: Phase, last: Float[Array, " held"], full: bool
) -> tuple[Vector, Vector, Float[Array, " held"], Status]:
    """The move to the new position, the velocity there of the momentum inside the step, and the multipliers.

    `last` are the multipliers of the step before, from which the search begins.
    """
    y, n, v = now.y, now.y.size, now.stages[0]
    begin, end = held.gradient(t, y), y + h * v
    ends = ((t, y), (t + h, end))
    masses = [factor(lagrangian.mass_matrix(local.lagrangian, *at, v), local.definite) for at in ends]
    across = sum((jax.vmap(lambda row, m=m: back_substitute(m, row))(begin).T for m in masses), jnp.zeros_like(begin.T))
    ahead = held.gradient(t + h, end)
    idle = None if held.idle is None else held.idle[: held.counts[0]]
    matrix, kept = eliminate_or_pass(with_idle(0.25 * h * h * (ahead @ across), idle), held.passes)

    def residual(z: Any) -> Any:
        first, second, multipliers = z[:n], z[n : 2 * n], z[2 * n :]
        pull, momentum = _slopes(local, t, y, first)
        inside = now.p + (now.p_low + 0.5 * h * (pull + multipliers @ begin))
        x = y + (now.y_low + 0.5 * h * (first + second))
        other = lagrangian.momentum(local.lagrangian, t + h, x, second)
        gap = held.position(t + h, x)
        return jnp.concatenate([momentum - inside, other - inside, gap if idle is None else gap + idle * multipliers])

    def direction(r: Any) -> Any:
        free = [back_substitute(m, part) for m, part in zip(masses, (r[:n], r[n : 2 * n]), strict=True)]
        # how far the corrections of the velocities alone would miss the surface decides the multipliers
        change = back_substitute(matrix, r[2 * n :] - 0.5 * h * (ahead @ (free[0] + free[1])))
        pulled = 0.5 * h * (change @ begin)
        moved = [f + back_substitute(m, pulled) for f, m in zip(free, masses, strict=True)]
        return jnp.concatenate([*moved, change])

    # A condition is known to the rounding of all positions in it, and so are the velocities that it couples.
    coupled = 0.5 * h * (across @ back_substitute(matrix, jnp.abs(ahead) @ jnp.abs(y)))
    rounding = jnp.abs(y) / jnp.abs(h) + jnp.abs(coupled)
    guess = jnp.concatenate([v, v, last])
    z, found, count = newton(
        residual,
        direction,
        lambda step: _speeds(step, n),
        lambda z: _speeds(z, n) + rounding + jnp.abs(h * (across @ z[2 * n :])),
        guess,
        full=full,
    )
    code = jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))
    code = jnp.where(kept, code, jnp.int32(Code.rank_change))
    return 0.5 * h * (z[:n] + z[n : 2 * n]), z[n : 2 * n], z[2 * n :], Status(code, count)


def _speeds(z: Any, n: int) -> Any:
    """The larger of both velocities, component by component."""
    return jnp.maximum(jnp.abs(z[:n]), jnp.abs(z[n : 2 * n]))


def to_tangent(local: Local, held: Held, t: Time, y: Vector, p: Vector, w: Vector) -> tuple[Vector, Vector, Flag]:
    r"""The velocity on the constraints' tangent space, and \(G^\top\mu\), which brings the momentum there."""
    normals, n = held.normals(t, y), w.size
    idle = held.idle
    mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
    bordered = border(mass, normals, local.definite, idle)

    def residual(z: Any) -> Any:
        momentum = lagrangian.momentum(local.lagrangian, t, y, z[:n])
        rate = held.rates(t, y, z[:n])
        return jnp.concatenate([momentum - p - z[n:] @ normals, rate if idle is None else rate + idle * z[n:]])

    def direction(r: Any) -> Any:
        return jnp.concatenate(bordered_solve(bordered, r[:n], r[n:]))

    guess = jnp.concatenate([w, jnp.zeros(normals.shape[0], w.dtype)])
    speed = jnp.abs(back_substitute(factor(mass, local.definite), p))
    z, found, _ = newton(
        residual,
        direction,
        lambda step: jnp.abs(step[:n]),
        lambda z: jnp.abs(z[:n]) + speed,
        guess,
    )
    return z[:n], z[n:] @ normals, found

r"""The systems of equations of a RATTLE step of many conditions, solved with sparse multipliers.

The equations are those of `rattle_equations`. Where \(L = T(v) - V(t, q)\) with a constant mass matrix M, both
velocities inside the step are the same and follow from the multipliers, which are then the only unknowns:

\[ W = M^{-1}\bigl(p_0 + \tfrac h2(\partial_q L(q_0) + G_0^\top\Lambda)\bigr), \qquad \varphi(q_0 + hW) = 0. \]

Every iterate of Newton's method takes the matrix \(G(q)M^{-1}G_0^\top\) of its own position: that of a long chain is
so ill-conditioned that a frozen one does not converge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.motion.methods.base import Status
from holonomy.motion.methods.phase_state import Phase
from holonomy.root_finding import newton, newton_along
from holonomy.systems import lagrangian
from holonomy.systems.constraints import sparse
from holonomy.systems.constraints.conditions import Held
from holonomy.systems.constraints.sparse import Mass, Normals
from holonomy.systems.constraints.structure import ConditionStructure
from holonomy.systems.dense_solve import RANK
from holonomy.systems.in_chart import Local
from holonomy.systems.mass_structure import MassStructure
from holonomy.systems.result_code import Code
from holonomy.types import Count, Flag, Time, Vector

Multipliers = Float[Array, " held"]


class Step(NamedTuple):
    """What a step changes: position, momentum, the velocity at its end, the multipliers; and its status."""

    move: Vector
    kick: Vector
    w: Vector
    multipliers: Multipliers
    status: Status


class _Known(NamedTuple):
    """What the search for a step's end is given: mass matrices at both ends, and the normals at its begin."""

    how: ConditionStructure
    masses: tuple[Mass, Mass]
    begin: Normals


def step(local: Local, held: Held, t: Time, h: Time, now: Phase, last: Multipliers) -> Step:
    """One step; `last` are the multipliers of the step before, from which the search begins."""
    both = sparse.structures(local)
    assert both is not None
    how, conditions = both
    begin = sparse.normals(held, t, now.y)
    simple, v = how.separable and local.applied is None, now.stages[0]
    mass = sparse.mass_at(local, how, t, now.y, v)
    masses = (mass, mass if simple else sparse.mass_at(local, how, t + h, now.y + h * v, v))
    solve = _by_multipliers if simple else _by_velocities
    known = _Known(conditions, masses, begin)
    move, first, w, multipliers, status = solve(local, held, t, h, now, last, known)
    y = now.y + (now.y_low + move)
    pulls = _force(local, t, now.y, first) + _force(local, t + h, y, w)
    kick = 0.5 * h * (pulls + begin.pull(multipliers))
    end = sparse.normals(held, t + h, y)
    w, pull, alone, found = _to_tangent(local, held, t + h, y, now.p + (now.p_low + kick), w, both, end)
    mixed = sparse.coupling(conditions, end, masses[0], begin, multipliers)
    code = jnp.where((status.code == Code.ok) & ~found, jnp.int32(Code.no_convergence), status.code)
    kept = mixed.symmetric_part.independent(0.0) & alone.independent(RANK**2)
    code = jnp.where((code == Code.ok) & ~kept, jnp.int32(Code.rank_change), code)
    return Step(move, kick + pull, w, multipliers, Status(code, status.work))


def _force(local: Local, t: Any, y: Any, w: Any) -> Any:
    """Forces without constraints."""
    pull = jax.grad(local.lagrangian, argnums=1)(t, y, w)
    return pull if local.applied is None else pull + local.applied(t, y, w)


def _by_multipliers(
    local: Local, held: Held, t: Any, h: Any, now: Phase, last: Any, known: _Known
) -> tuple[Any, Any, Any, Any, Status]:
    """The move, the velocity inside the step twice, and the multipliers, where these are the only unknowns."""
    how, (mass, _), begin = known
    y, v = now.y, now.stages[0]
    rest = lagrangian.momentum(local.lagrangian, t, y, jnp.zeros_like(v))
    free = now.p + (now.p_low + 0.5 * h * _force(local, t, y, v)) - rest

    def velocity(multipliers: Any) -> Any:
        return mass.solve(free + 0.5 * h * begin.pull(multipliers))

    def correction(x: Any) -> Any:
        ahead, value = sparse.normals(held, t + h, x), held.position(t + h, x)
        return sparse.coupling(how, ahead, mass, begin, value).solve(value) / (0.5 * h * h)

    multipliers, found, count = newton_along(
        correction,
        lambda z: 0.5 * h * h * mass.solve(begin.pull(z)),
        lambda x: held.position(t + h, x),
        y + (now.y_low + h * mass.solve(free)),
        last,
        jnp.max(jnp.abs(y)),
    )
    w = velocity(multipliers)
    return h * w, w, w, multipliers, Status(_code(found), count)


def _by_velocities(
    local: Local, held: Held, t: Any, h: Any, now: Phase, last: Any, known: _Known
) -> tuple[Any, Any, Any, Any, Status]:
    """The same with both velocities and the multipliers as unknowns."""
    how, masses, begin = known
    y, n, v = now.y, now.y.size, now.stages[0]
    near = None if masses[0].near is None else lambda b: sum((m.near(b) for m in masses if m.near), jnp.zeros_like(b))
    across = Mass(lambda b: masses[0].solve(b) + masses[1].solve(b), near)

    def place(z: Any) -> Any:
        return y + (now.y_low + 0.5 * h * (z[:n] + z[n : 2 * n]))

    def residual(z: Any) -> Any:
        first, second, multipliers = z[:n], z[n : 2 * n], z[2 * n :]
        inside = now.p + (now.p_low + 0.5 * h * (_force(local, t, y, first) + begin.pull(multipliers)))
        x = place(z)
        momenta = [lagrangian.momentum(local.lagrangian, *at) for at in ((t, y, first), (t + h, x, second))]
        return jnp.concatenate([momenta[0] - inside, momenta[1] - inside, held.position(t + h, x)])

    def direction_at(z: Any, r: Any) -> Any:
        ahead = sparse.normals(held, t + h, place(z))
        free = [m.solve(part) for m, part in zip(masses, (r[:n], r[n : 2 * n]), strict=True)]
        matrix = sparse.coupling(how, ahead, across, begin, last)
        change = matrix.solve(r[2 * n :] - 0.5 * h * ahead.push(free[0] + free[1])) / (0.25 * h * h)
        pulled = 0.5 * h * begin.pull(change)
        return jnp.concatenate([*(f + m.solve(pulled) for f, m in zip(free, masses, strict=True)), change])

    def speeds(z: Any) -> Any:
        return jnp.maximum(jnp.abs(z[:n]), jnp.abs(z[n : 2 * n]))

    rounding = jnp.max(jnp.abs(y)) / jnp.abs(h)
    z, found, count = newton(
        residual,
        lambda r: r,
        speeds,
        lambda z: speeds(z) + rounding + jnp.abs(h * across.solve(begin.pull(z[2 * n :]))),
        jnp.concatenate([v, v, last]),
        direction_at=direction_at,
    )
    first, second = z[:n], z[n : 2 * n]
    return 0.5 * h * (first + second), first, second, z[2 * n :], Status(_code(found), count)


def _code(found: Flag) -> Count:
    return jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))


def _to_tangent(
    local: Local,
    held: Held,
    t: Any,
    y: Any,
    p: Any,
    w: Any,
    both: tuple[MassStructure, ConditionStructure],
    end: Normals,
) -> tuple[Any, Any, sparse.Coupling, Flag]:
    r"""The velocity on the constraints' tangent space, \(G^\top\mu\), which brings the momentum there, the matrix of
    the multipliers \(\mu\), and whether the velocity was found."""
    how, conditions = both
    mass = sparse.mass_at(local, how, t, y, w)
    matrix = sparse.coupling(conditions, end, mass, end, jnp.zeros(held.count, y.dtype))
    solve = matrix.definite_solver(lambda u: end.push(mass.solve(end.pull(u))))
    bordered = sparse.SparseBordered(mass, end, solve)
    n = w.size
    if "v" not in how.depends:  # the momentum is affine in the velocity
        rest = lagrangian.momentum(local.lagrangian, t, y, jnp.zeros_like(w))
        free = mass.solve(p - rest)
        pull = end.pull(solve(-held.rates(t, y, free)))
        # the second time removes what rounding left of the first
        pull = pull + end.pull(solve(-held.rates(t, y, free + mass.solve(pull))))
        return free + mass.solve(pull), pull, matrix, jnp.bool_(True)

    def residual(z: Any) -> Any:
        momentum = lagrangian.momentum(local.lagrangian, t, y, z[:n])
        return jnp.concatenate([momentum - p - end.pull(z[n:]), held.rates(t, y, z[:n])])

    z, found, _ = newton(
        residual,
        lambda r: jnp.concatenate(bordered.solve(r[:n], r[n:])),
        lambda step: jnp.abs(step[:n]),
        lambda z: jnp.abs(z[:n]) + jnp.max(jnp.abs(mass.solve(p))),
        jnp.concatenate([w, jnp.zeros(held.count, w.dtype)]),
    )
    return z[:n], end.pull(z[n:]), matrix, found

r"""Projection onto the constraints, and whether their rank changed.

The state goes to a nearby consistent one along directions that are orthogonal to the constraint surface in the kinetic
metric: \(y + M^{-1}G^\top\mu\) with \(\varphi = 0\), then \(w + M^{-1}N^\top\nu\) with \(r = 0\).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from holonomy.root_finding import newton
from holonomy.systems import lagrangian
from holonomy.systems.constraints import sparse
from holonomy.systems.constraints.conditions import Held, Normals, all_equations
from holonomy.systems.constraints.kkt import Bordered, border, bordered_solve, with_idle
from holonomy.systems.constraints.sparse import bordered_at, structures
from holonomy.systems.dense_solve import RANK, back_substitute, factor, least_pivot, positive
from holonomy.systems.in_chart import Local
from holonomy.systems.result_code import Code
from holonomy.types import Count, Flag, Matrix, Number, Point, Scalar, Tangent, Vector

if TYPE_CHECKING:
    from holonomy.systems.system import System

_Moment: TypeAlias = tuple[Number, Point, Tangent]  # a time and a state

_FOLLOWS = 1e-6  # how far, in units of the state, a condition that follows from the others may be from holding


def settle(local: Local, held: Held, t: Number, y: Vector, w: Vector) -> tuple[Vector, Vector, Count]:
    """Coordinates and velocity of a consistent state near (y, w), and a code of `Result`."""
    found = jnp.bool_(True)
    if held.counts[0]:
        y, found = _on_surface(local, held, t, y, w)
    if structures(local) is not None:
        bordered = bordered_at(local, held, t, y, w)
    else:
        mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
        bordered = border(mass, held.normals(t, y), local.definite, held.idle)
    for _ in range(2):  # the second removes what rounding left of the first
        w = w + bordered_solve(bordered, jnp.zeros_like(w), -held.rates(t, y, w))[0]
    return y, w, jnp.where(found, jnp.int32(Code.ok), jnp.int32(Code.no_convergence))


def _on_surface(local: Local, held: Held, t: Any, y: Any, w: Any) -> tuple[Any, Any]:
    if structures(local) is not None:
        return _on_surface_sparsely(local, held, t, y, w)
    mass = lagrangian.mass_matrix(local.lagrangian, t, y, w)
    idle = None if held.idle is None else held.idle[: held.counts[0]]
    ways = normal_moves(border(mass, held.gradient(t, y), local.definite, idle), y)

    def residual(rise: Any) -> Any:
        value = held.position(t, y + ways @ rise)
        return value if idle is None else value + idle * rise

    rise, found, _ = newton(
        residual,
        lambda r: r,  # moving by ways @ rise changes the conditions by rise
        lambda step: jnp.abs(ways @ step),
        lambda _: jnp.abs(y),
        jnp.zeros(held.counts[0], y.dtype),
    )
    return y + ways @ rise, found


def _on_surface_sparsely(local: Local, held: Held, t: Any, y: Any, w: Any) -> tuple[Any, Any]:
    """The same with multipliers as unknowns, and the matrix of each iterate: that of a long chain of conditions is so
    ill-conditioned that a frozen one does not converge."""
    both = structures(local)
    assert both is not None
    how = both[1].of_positions
    mass, begin = sparse.mass_at(local, both[0], t, y, w), sparse.normals(held, t, y, gradient=True)

    def moved(rise: Any) -> Any:
        return mass.solve(begin.pull(rise))

    def direction_at(rise: Any, value: Any) -> Any:
        ahead = sparse.normals(held, t, y + moved(rise), gradient=True)
        return sparse.coupling(how, ahead, mass, begin, value).solve(value)

    rise, found, _ = newton(
        lambda rise: held.position(t, y + moved(rise)),
        lambda r: r,
        lambda step: jnp.abs(moved(step)),
        lambda _: jnp.full_like(y, jnp.max(jnp.abs(y))),
        jnp.zeros(held.counts[0], y.dtype),
        direction_at=direction_at,
    )
    return y + moved(rise), found


def normal_moves(bordered: Bordered, y: Vector) -> Float[Array, "n r"]:
    """Moves, as columns, orthogonal to the surface in the kinetic metric, that raise one condition each by one."""
    unit = jnp.eye(bordered.normals.shape[0], dtype=y.dtype)
    return jax.vmap(lambda e: bordered_solve(bordered, jnp.zeros_like(y), e)[0])(unit).T


def turned(local: Local, held: Held, t: Number, h: Number, before: Vector, after: Vector, w: Vector) -> Count:
    """A code: whether the normals of the constraints kept their rank from one end of a step to the other."""
    if held.passes:
        return jnp.int32(Code.ok)
    if structures(local) is not None:
        good = independent_sparsely(local, held, (t, before, w), (t + h, after))
        return jnp.where(good, jnp.int32(Code.ok), jnp.int32(Code.rank_change))
    mass = lagrangian.mass_matrix(local.lagrangian, t, before, w) if local.definite else None
    between, angle = independence(held.normals(t, before), held.normals(t + h, after), mass, held.idle)
    return jnp.where(between & (angle > RANK**2), jnp.int32(Code.ok), jnp.int32(Code.rank_change))


def independent_sparsely(local: Local, held: Held, begin: _Moment, end: tuple[Number, Vector]) -> Flag:
    """Whether many conditions stayed independent from one state to a later place, and are so there."""
    both = structures(local)
    assert both is not None
    mass = sparse.mass_at(local, both[0], *begin)
    rows = [sparse.normals(held, s, x) for s, x in (begin[:2], end)]
    like = jnp.zeros(held.count, end[1].dtype)
    mixed, alone = (sparse.coupling(both[1], one, mass, rows[1], like) for one in rows)
    return mixed.symmetric_part.independent(0.0) & alone.independent(RANK**2)


def independence(
    first: Normals, second: Normals, mass: Matrix | None, idle: Float[Array, " r"] | None
) -> tuple[Flag, Scalar]:
    r"""Whether normals stayed independent from one state to the next, and the least squared angle at the second.

    \(N_0 M^{-1} N_1^\top\) is positive for nearby states, and is not where the normals became dependent in between.
    At the second state \(N_1 M^{-1} N_1^\top\) says by which angle, of small ones, a normal differs from a combination
    of the others; below `RANK`, rounding decides the velocity. Without a mass matrix the Euclidean product serves.
    """
    ways = (first.T, second.T)
    if mass is not None:
        factored = factor(mass, definite=True)
        ways = tuple(jax.vmap(lambda row: back_substitute(factored, row))(rows).T for rows in (first, second))
    mixed, alone = (with_idle(second @ way, idle) for way in ways)
    return positive(mixed), least_pivot(alone)


def independence_between(system: System, begin: _Moment, end: _Moment) -> tuple[Flag, Scalar]:
    """`independence` for states (t, q, v) of a system under constraints, which need not be in one chart."""
    (t, q, v), (s, x, _) = begin, end
    local, other = system.local(q), system.local(x)
    at = local.enter(v)
    held = local.hold(t, *at)
    assert held is not None
    if structures(local) is not None:
        good = independent_sparsely(local, held, (t, *at), (s, other.origin))
        return good, good.astype(q.dtype)
    there = Held(other, held.pick, held.equations, held.walls)
    rows = (held.normals(t, at[0]), there.normals(s, other.origin))
    if system.flat:
        mass = lagrangian.mass_matrix(local.lagrangian, t, *at) if local.definite else None
        return independence(*rows, mass, held.idle)
    # the charts at the two ends differ: their covectors are compared in the ambient space
    first = jax.vmap(lambda row: local.leave_momentum(local.origin, row))(rows[0])
    second = jax.vmap(lambda row: other.leave_momentum(other.origin, row))(rows[1])
    return independence(first, second, None, held.idle)


def still_redundant(local: Local, held: Held, t: Number, y: Vector, w: Vector) -> Count:
    """A code: whether conditions that are not held, because they followed from the others, still hold."""
    if held.pick is None:
        return jnp.int32(Code.ok)
    every = all_equations(local)
    m = every.counts[0]
    sizes = jnp.sqrt(jnp.sum(every.normals(t, y) ** 2, axis=1))
    off = jnp.concatenate([every.position(t, y), every.rates(t, y, w)[m:]]) if m else every.rates(t, y, w)
    room = jnp.where(jnp.arange(off.size) < m, 1.0 + jnp.max(jnp.abs(y)), 1.0 + jnp.max(jnp.abs(w)))
    good = jnp.all(jnp.abs(off) <= _FOLLOWS * sizes * room)
    return jnp.where(good, jnp.int32(Code.ok), jnp.int32(Code.rank_change))


def worse(*codes: Count) -> Count:
    """The first code that is not good."""
    result = codes[0]
    for code in codes[1:]:
        result = jnp.where(result == Code.ok, code, result)
    return result

r"""The linear complementarity problem of contact: which surfaces push, and how hard.

For a symmetric positive semidefinite W and a vector b, find x with

\[ 0 \le x, \qquad W x + b \ge 0, \qquad x \cdot (W x + b) = 0, \]

the conditions for a minimum of \(\tfrac12 x\cdot W x + b\cdot x\) over \(x \ge 0\). In contact x are impulses or forces
along normals, W is the normals' inner product in the inverse kinetic metric, b the normal velocities or accelerations
without them: a surface pushes, or is left, never both, and never pulls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from holonomy.systems.dense_solve import RANK, back_substitute, factor

SOLVED, CONTRADICTORY, EXHAUSTED = 0, 1, 2
_NOISE = 64.0  # slack below this many roundings of its own terms is zero
_FOLLOWS = 1e-9  # the same for rows that depend on others, where their multipliers have lost digits
_PIVOTS = 12  # pivots per row before giving up; more than two or three are rare


class Complementary(NamedTuple):
    """A solution: x, the slack W x + b, and a code, SOLVED, CONTRADICTORY (there is none) or EXHAUSTED."""

    values: Float[Array, " c"]
    slack: Float[Array, " c"]
    code: Int[Array, ""]


class _Pivoting(NamedTuple):
    """The state of the search: `table` is W swept on the rows of `basic`; `driven` the row that is raised, or -1."""

    table: Any
    values: Any
    basic: Any
    driven: Any
    count: Any
    code: Any
    done: Any


def complementarity(matrix: Float[Array, "c c"], offset: Float[Array, " c"], among: Bool[Array, " c"]) -> Complementary:
    r"""Solve the problem for the rows `among`; the values of all other rows are zero.

    The row of most negative slack is raised from zero, those that push already following so that their slack stays
    zero; one that would have to pull leaves on the way. Each round lowers \(\tfrac12 x\cdot Wx + b\cdot x\), so that no
    set of rows comes twice and the search ends. The set found is then solved for directly: the result is as exact as a
    linear solve, and differentiable as long as the set stays the same.

    Rows that depend on others are no trouble: W x is unique, and x is of least norm where that is not negative, else
    as near to it as its line from the solution found allows. CONTRADICTORY is a slack that no x ≥ 0 makes good, two
    walls that close on what is between them.
    """
    diagonal = jnp.diagonal(matrix)
    able = among & (diagonal > 0)
    size = jnp.sqrt(jnp.where(diagonal > 0, diagonal, 1.0))
    unit = matrix / (size[:, None] * size[None, :])
    scaled = offset / size
    if offset.shape[0] == 1:
        values = jnp.where(able, jnp.maximum(-scaled, 0.0), 0.0)
        code = jnp.int32(SOLVED)
    else:
        found = _search(*jax.lax.stop_gradient((unit, scaled)), able)
        values, code = _polished(unit, scaled, found), found.code
    values = values / size
    slack = matrix @ values + offset
    stuck = jnp.any(among & ~able & (offset < 0))
    return Complementary(values, slack, jnp.where(stuck & (code == SOLVED), jnp.int32(CONTRADICTORY), code))


# ── The search, on a matrix with ones on its diagonal ─────────────────────────────────────────────────


def _search(unit: Any, scaled: Any, able: Any) -> _Pivoting:
    rows = scaled.shape[0]
    start = _Pivoting(
        jnp.where(able[:, None] & able[None, :], unit, jnp.eye(rows, dtype=unit.dtype)),
        jnp.zeros_like(scaled),
        jnp.zeros(rows, bool),
        jnp.int32(-1),
        jnp.int32(0),
        jnp.int32(SOLVED),
        jnp.bool_(False),
    )

    def once(now: _Pivoting) -> _Pivoting:
        return _pivot(now, unit, scaled, able)

    found = jax.lax.while_loop(lambda now: ~now.done & (now.count < _PIVOTS * rows), once, start)
    spent = ~found.done
    return found._replace(code=jnp.where(spent, jnp.int32(EXHAUSTED), found.code))


def _pivot(now: _Pivoting, unit: Any, scaled: Any, able: Any) -> _Pivoting:
    """Raise one row until its slack is zero or a row that pushes has stopped pushing, whichever is first."""
    index = jnp.arange(scaled.shape[0])
    slack = unit @ now.values + scaled
    rounding = _NOISE * jnp.finfo(scaled.dtype).eps
    left = jnp.diagonal(now.table) > RANK**2
    noise = jnp.where(left, rounding, _FOLLOWS) * (jnp.abs(unit) @ now.values + jnp.abs(scaled))
    wanting = jnp.where(able & ~now.basic & (slack < -noise), slack, jnp.inf)
    # when none is wanting, independent rows without slack join the basic ones, so that these span all that may push
    idle = able & ~now.basic & left & (jnp.abs(slack) <= noise)
    fresh = now.driven < 0
    solved = fresh & ~jnp.any(wanting < 0)
    chosen = jnp.where(solved, jnp.argmax(idle), jnp.argmin(wanting)).astype(jnp.int32)
    row = jnp.where(fresh, chosen, now.driven)
    done = solved & ~jnp.any(idle)

    is_row = index == row
    column = jnp.sum(jnp.where(is_row[None, :], now.table, 0.0), axis=1)
    direction = jnp.where(is_row, 1.0, jnp.where(now.basic, -column, 0.0))
    curvature = jnp.sum(jnp.where(is_row, column, 0.0))
    bends = solved | (curvature > jnp.maximum(RANK**2, rounding * jnp.sum(jnp.abs(direction)) ** 2))
    missing = jnp.where(solved, 0.0, jnp.maximum(-jnp.sum(jnp.where(is_row, slack, 0.0)), 0.0))
    whole = jnp.where(bends, missing / jnp.where(bends, curvature, 1.0), jnp.inf)
    falling = now.basic & (direction < 0)
    ways = jnp.where(falling, now.values / jnp.where(falling, -direction, 1.0), jnp.inf)
    leaver = jnp.argmin(ways)
    blocked = ~solved & (jnp.min(ways) < whole)
    endless = ~done & ~blocked & ~bends

    way = jnp.where(done | endless, 0.0, jnp.where(blocked, jnp.min(ways), whole))
    values = jnp.maximum(now.values + way * direction, 0.0)
    changed = jnp.where(blocked, index == leaver, is_row)
    values = jnp.where(blocked & changed, 0.0, values)
    swept = _sweep(now.table, changed, jnp.where(blocked, -1.0, 1.0))
    stays = done | endless
    return _Pivoting(
        jnp.where(stays, now.table, swept),
        jnp.where(stays, now.values, values),
        jnp.where(stays, now.basic, jnp.where(changed, ~blocked, now.basic)),
        jnp.where(blocked, row, jnp.int32(-1)),
        now.count + 1,
        jnp.where(endless, jnp.int32(CONTRADICTORY), now.code),
        stays,
    )


def _sweep(table: Any, which: Any, sign: Any) -> Any:
    r"""Gauss and Jordan's exchange of one row; `sign` -1 takes it back.

    After it the rows P swept so far hold \(W_{PP}^{-1}W_{P\cdot}\) and the others what is left of W orthogonal to them.
    """
    column = jnp.sum(jnp.where(which[None, :], table, 0.0), axis=1)
    pivot = jnp.sum(jnp.where(which, column, 0.0))
    pivot = jnp.where(pivot == 0, 1.0, pivot)
    rest = table - column[:, None] * column[None, :] / pivot
    edge = sign * column / pivot
    swept = jnp.where(which[:, None], edge[None, :], jnp.where(which[None, :], edge[:, None], rest))
    return jnp.where(which[:, None] & which[None, :], -1.0 / pivot, swept)


# ── The solution on the set found ─────────────────────────────────────────────────────────────────────


def _polished(unit: Any, scaled: Any, found: _Pivoting) -> Any:
    basic = found.basic & (found.values > 0)
    both = basic[:, None] & basic[None, :]
    factored = factor(jnp.where(both, unit, jnp.eye(scaled.size, dtype=unit.dtype)), definite=True)
    right = jnp.where(basic, -scaled, 0.0)
    values = back_substitute(factored, right)
    values = values + back_substitute(factored, jnp.where(basic, right - unit @ values, 0.0))
    values = jnp.where(basic, jnp.maximum(values, 0.0), 0.0)
    return values + jax.lax.stop_gradient(_spread(unit, scaled, found, values) - values)


def _spread(unit: Any, scaled: Any, found: _Pivoting, values: Any) -> Any:
    r"""The same force by multipliers of least norm, as far as none becomes negative.

    Rows that depend on the basic ones are \(B\) times these; then \(B(B^\top B)^{-1}x\) has least norm.
    """
    slack = unit @ values + scaled
    small = _FOLLOWS * (jnp.abs(unit) @ values + jnp.abs(scaled))
    outside = ~found.basic
    able = jnp.diagonal(found.table) <= RANK**2
    also = outside & able & (jnp.abs(slack) <= small)

    def shared() -> Any:
        rows = jnp.where(also[:, None] & found.basic[None, :], found.table, 0.0)
        gram = jnp.eye(scaled.size, dtype=unit.dtype) + rows.T @ rows
        few = back_substitute(factor(gram, definite=True), values)
        least = jnp.where(found.basic, few, rows @ few)
        sinking = least < values
        room = jnp.where(sinking & (least < 0), values / jnp.where(sinking, values - least, 1.0), 1.0)
        return jnp.maximum(values + jnp.min(room) * (least - values), 0.0)

    return jax.lax.cond(jnp.any(also), shared, lambda: values)

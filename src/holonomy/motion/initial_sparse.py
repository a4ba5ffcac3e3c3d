"""Whether many conditions with sparse multipliers hold at an initial state, and are what their structure says."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.systems import System
from holonomy.systems.constraints import sparse
from holonomy.systems.constraints.conditions import all_equations
from holonomy.systems.constraints.structure import ConditionStructure
from holonomy.systems.constraints.tolerance import close, round_off
from holonomy.systems.dense_solve import RANK
from holonomy.systems.mass_structure import LARGEST_DENSE
from holonomy.systems.replace import replace
from holonomy.types import AnyArray, Number, Point, Tangent

_MISS = 1e-10  # of the size of a product: a larger difference is none of rounding
_SAID = 4  # conditions that a message names
_WORTH_SAYING = 1e-3  # of the largest violation: a message names no condition that is violated less
_WORTH_PRINTING = 60  # coordinates up to which a message has the nearest state in numbers


class Seen(NamedTuple):
    """What many conditions say at a state: values, rates, rates at rest, how independent each is of others, how far
    position and velocity are from them, and by how much products with the entries that the structure knows miss."""

    position: Float[AnyArray, " holonomic"]
    rates: Float[AnyArray, " conditions"]
    at_rest: Float[AnyArray, " conditions"]
    independence: Float[AnyArray, " conditions"]
    away: Float[AnyArray, " 2"]
    miss: Float[AnyArray, " 2"]


def look(system: System, t: Number, q: Point, v: Tangent) -> Seen | None:
    """The conditions at a state, for the checks below; None where they are not sparse. For code that is traced."""
    local = system.local(q)
    both = sparse.structures(local)
    if both is None:
        return None
    how = both[1]
    held, mass = all_equations(local), sparse.mass_at(local, both[0], t, q, v)
    rows = sparse.normals(held, t, q)
    random = np.random.default_rng(0)
    u, values = (jnp.asarray(random.standard_normal(size), q.dtype) for size in (how.size, how.total))
    matrix = sparse.coupling(how, rows, mass, rows, values)
    multiplied = rows.push((mass.solve if mass.near is None else mass.near)(rows.pull(values)))
    solve = matrix.definite_solver(lambda x: rows.push(mass.solve(rows.pull(x))))
    position, rates = held.position(t, q), held.rates(t, q, v)
    m = how.counts[0]
    off = jnp.concatenate([position, jnp.zeros(how.counts[1], q.dtype)]) if m else jnp.zeros_like(rates)
    away = [jnp.max(jnp.abs(mass.solve(rows.pull(solve(x))))) for x in (off, rates)]
    pairs = ((rows.push(u), _multiplied(how, rows, u)), (multiplied, matrix.multiplied(values)))
    miss = [jnp.max(jnp.abs(a - b)) / jnp.maximum(jnp.max(jnp.abs(a)), jnp.finfo(q.dtype).tiny) for a, b in pairs]
    at_rest = held.rates(t, q, jnp.zeros_like(v))
    return Seen(position, rates, at_rest, matrix.independence, jnp.stack(away), jnp.stack(miss))


def _multiplied(how: ConditionStructure, rows: sparse.Normals, u: Any) -> Any:
    """The product of the normals with a vector, from their entries where these can differ from zero."""
    assert how.pattern is not None
    seeds, (row, column) = how.seeds("rows"), how.pattern.value.T
    colour = np.argmax(seeds, axis=0)
    entries = jax.vmap(rows.pull)(jnp.asarray(seeds, u.dtype))[colour[row], column]
    return jax.ops.segment_sum(entries * u[column], jnp.asarray(row), num_segments=how.total)


def consistent(
    system: System, t: float, q: AnyArray, v: AnyArray, seen: Seen
) -> tuple[System, AnyArray, AnyArray] | None:
    """The system and its initial state, on all conditions to round-off; None where whole matrices are needed.

    That is where the structure misses a product, and where some of not too many conditions follow from others.
    """
    assert system.mass is not None
    how = system.mass.conditions
    assert how is not None
    finite = all(np.all(np.isfinite(x)) for x in (seen.position, seen.rates, seen.at_rest))
    if not finite or not np.all(seen.miss <= _MISS):
        return None
    dependent = np.flatnonzero(~(np.asarray(seen.independence) > RANK**2))
    if dependent.size:
        if how.total <= LARGEST_DENSE:
            return None
        raise ValueError(
            f"Some of the {how.total} conditions follow from others at the start: {_named(how, dependent)}. Their "
            f"multipliers are not determined; leave them out, or let springs take their place."
        )
    sizes = [max(1.0, float(np.max(np.abs(x)))) for x in (q, v)]
    for away, size, values, name in zip(seen.away, sizes, (seen.position, seen.rates), ("q0", "v0"), strict=True):
        if not away <= close(q.dtype) * size:
            worst = np.argsort(-np.abs(values))[:_SAID]
            worst = worst[np.abs(values[worst]) > _WORTH_SAYING * np.abs(values[worst[0]])]
            said = ", ".join(f"{_label(how, int(r))} by {values[r]:.3g}" for r in worst)
            raise ValueError(
                f"The initial state violates the constraints: {name} is about {away:.3g} away from them; most, {said}. "
                f"{_nearest(system, t, q, v)}"
            )
    if any(away > round_off(q.dtype) * size for away, size in zip(seen.away, sizes, strict=True)):
        q, v = (np.asarray(x) for x in system.project(t, q, v))
    return system, q, v


def _nearest(system: System, t: float, q: AnyArray, v: AnyArray) -> str:
    """The nearest consistent state in words, with its numbers where they are few."""
    if q.size > _WORTH_PRINTING:
        return "system.project(t0, q0, v0) computes the nearest consistent state; pass that if you mean it."
    near_q, near_v = (np.asarray(x).tolist() for x in system.project(t, q, v))
    return (
        f"The nearest consistent state is q0 = {near_q}, v0 = {near_v}; pass that if you mean it "
        f"(system.project(t0, q0, v0) computes it)."
    )


def whole(system: System) -> System:
    """The system with whole matrices."""
    return replace(system, mass=None)


def _label(how: ConditionStructure, row: int) -> str:
    m = how.counts[0]
    return f"holonomic condition {row}" if row < m else f"velocity condition {row - m}"


def _named(how: ConditionStructure, rows: np.ndarray) -> str:
    more = f" and {rows.size - _SAID} more" if rows.size > _SAID else ""
    return ", ".join(_label(how, int(r)) for r in rows[:_SAID]) + more

"""The one place that makes runs: of a motion computed here, of one read from a file, of one recorded live."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion.drive import Driven
from holonomy.motion.events.event import Watched
from holonomy.motion.events.event_log import Events
from holonomy.motion.initial_place import too_few_digits
from holonomy.motion.loops.plain import LARGE, Snapshot
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.problem import Problem
from holonomy.motion.run.positions import Drawn
from holonomy.motion.run.provenance import Provenance
from holonomy.motion.run.result import Result
from holonomy.motion.run.run import Run
from holonomy.motion.run.saved import Saved
from holonomy.systems import System
from holonomy.systems.constraints.conditions import all_equations
from holonomy.systems.constraints.kkt import multipliers
from holonomy.systems.parameters import Parameters
from holonomy.systems.quantities import pull_and_momentum
from holonomy.systems.result_code import Code
from holonomy.types import AnyArray, Whole


def build(
    t: AnyArray,
    rows: Snapshot,
    result: Result,
    work: Whole,
    provenance: Provenance,
    *,
    system: System | None = None,
    method: AbstractMethod | None = None,
    happened: Events | None = None,
    watched: Watched | None = None,
    drawn: Drawn | None = None,
    kinetic: AnyArray | None = None,
    parameters: Parameters | None = None,
    saved: Saved | None = None,
) -> Run:
    """The run whose saved states are `rows` at the times `t`."""
    columns: dict[str, Any] = rows.columns()
    return Run(
        t=t,
        **columns,
        result=result,
        work=work,
        system=system,
        method=method,
        provenance=provenance,
        happened=happened,
        watched=watched,
        drawn=drawn,
        kinetic=kinetic,
        saved_parameters=parameters,
        saved=saved,
    )


def of_problem(
    problem: Problem,
    t: AnyArray,
    rows: Snapshot,
    result: Result,
    work: Whole,
    dt: float,
    *,
    happened: Events | None = None,
    system: System | None = None,
    saved: Saved | None = None,
    **known: Any,
) -> Run:
    """The run of a checked problem with the step dt; `known` are fields of its provenance that the problem lacks.

    `system` is another one than the problem's where members of an ensemble have numbers of their own.
    """
    made = replace(problem.provenance, dt=abs(dt), **known)
    return build(
        t,
        rows,
        result,
        work,
        made,
        system=problem.system if system is None else system,
        method=problem.method,
        happened=happened,
        watched=problem.watched,
        saved=saved,
    )


def of_driven(problem: Problem, driven: Driven, dt: float, **known: Any) -> Run:
    """The run of a problem that was driven from the host."""
    driven = _while_near(problem.system, _while_energy_is_finite(driven))
    return of_problem(
        problem,
        driven.times,
        driven.rows,
        driven.result,
        driven.work,
        dt,
        happened=driven.happened,
        saved=driven.saved,
        engine=driven.engine,
        refusal=driven.refusal,
        fell_back=driven.fell_back,
        rounding=_rounding(problem.system, np.asarray(driven.rows.q)),
        **known,
    )


def _while_energy_is_finite(driven: Driven) -> Driven:
    """The rows before the first without a finite energy, and a result that says so."""
    saved = driven.saved
    times, energy = (driven.times, driven.rows.energy) if saved is None else (saved.t, saved.energy)
    bad = ~np.isfinite(np.asarray(energy))
    if not np.any(bad) or not driven.result.ok:
        return driven
    first = int(np.argmax(bad))
    result = replace(driven.result, code=int(Code.not_finite), t=float(times[first]))
    good = driven.times < times[first] if times[-1] >= times[0] else driven.times > times[first]
    rows = jax.tree.map(lambda column: column[good], driven.rows)
    kept = None if saved is None else saved.until(first)
    return replace(driven, times=driven.times[good], rows=rows, result=result, saved=kept)


def _while_near(system: System, driven: Driven) -> Driven:
    """The rows before the first whose point its array does not hold to enough digits, and a result that says so."""
    if system.flat or not len(driven.times):
        return driven
    q = np.asarray(driven.rows.q)
    limit = too_few_digits(q.dtype)
    stuck = driven.result.code == Code.no_convergence and float(_roundings(system, q[-1:])[0]) > limit / 100
    if not stuck and not _rounding(system, q) > limit:
        return driven
    bad = np.asarray(_roundings(system, q)) > limit
    first = int(np.argmax(bad)) if np.any(bad) else len(q)
    stopped = float(driven.times[min(first, len(q) - 1)])
    result = replace(driven.result, code=int(Code.too_far), t=stopped)
    rows = jax.tree.map(lambda column: column[:first], driven.rows)
    return replace(driven, times=driven.times[:first], rows=rows, result=result)


def _rounding(system: System, q: np.ndarray) -> float:
    """The distance by which storing these points as arrays may have moved one of them."""
    if system.flat or not len(q):
        return 0.0
    # of the rows with the largest entries, one for each column, so that one compiled shape serves all runs; of large
    # states, of which fewer are saved, all rows
    rows = q if q.shape[1] > LARGE else q[np.argmax(np.abs(q), axis=0)]
    return float(np.max(_roundings(system, rows)))


@eqx.filter_jit
def _roundings(system: System, q: Any) -> Any:
    return jax.vmap(system.space.rounding)(q)


def recorded(
    system: System,
    method: AbstractMethod,
    made: Provenance,
    t: AnyArray,
    q: AnyArray,
    v: AnyArray,
    energy: AnyArray,
    result: Result,
) -> Run:
    """The run of states that were computed elsewhere, of a system without walls, a step at a time."""
    seen = jax.jit(jax.vmap(lambda *state: _looked_at(system, *state)))(t, q, v)
    pull, momentum, *held = (np.asarray(x) for x in seen)
    rows = Snapshot(q, v, energy, momentum, pull, *held)
    return build(t, rows, result, result.steps, made, system=system, method=method)


def _looked_at(system: System, t: Any, q: Any, v: Any) -> tuple[Any, ...]:
    """What a snapshot holds besides the state and its energy; nothing of constraints where there are none."""
    pull, momentum = pull_and_momentum(system, t, q, v)
    if not system.constraints.equations.total:
        return pull, momentum
    local = system.local(q)
    y, w = local.enter(v)
    every = all_equations(local)
    missed = [every.position(t, y), every.rates(t, y, w)]
    if system.flat:
        pull = jnp.abs(pull) + jnp.sum(jnp.abs(every.normals(t, y)), axis=0)
    return pull, momentum, multipliers(local, t, y, w), jnp.stack([jnp.max(jnp.abs(x), initial=0.0) for x in missed])

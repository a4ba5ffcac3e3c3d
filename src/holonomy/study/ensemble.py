"""Many runs of one system at once: other starts, other parameters, the same times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.motion import Run, problem, simulate
from holonomy.motion.events.event import Event
from holonomy.motion.loops import pieces, plain
from holonomy.motion.loops.engine_choice import engine_for
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.run import build
from holonomy.motion.run.result import Result
from holonomy.motion.save_times import Plan, plan
from holonomy.systems import System
from holonomy.systems.parameters import Parameters
from holonomy.systems.replace import replace
from holonomy.systems.result_code import Code
from holonomy.trace.native.engine import Engine
from holonomy.types import ArrayLike


def ensemble(
    system: System,
    q0s: ArrayLike,
    v0s: ArrayLike,
    t_end: float,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    dt: float | None = None,
    method: AbstractMethod | str | None = None,
    engine: str | None = None,
    t0: float = 0.0,
    save_every: int = 1,
    save_at: ArrayLike | None = None,
    events: Event | Sequence[object] = (),
    max_events: int = 1000,
) -> Run:
    """The motions of many members, as one `Run` whose arrays have an axis of members before that of time.

    **Arguments:** `q0s` and `v0s`, a row for each member, or one state for all; `parameters`, for some names of
    `system.parameters`, an array with a value for each member; the others as for `simulate`. `engine`: native code
    spreads members over the cores, XLA runs them as one batch, on a GPU where there is one; None picks.

    A member that fails spares the others: its rows from there on are NaN, and `run.result.code` says why, member by
    member. Ctrl-C ends native code in the same way and keeps the rows before; XLA computes a batch as a whole and
    keeps none.
    """
    if dt is None:
        raise ValueError("An ensemble has one step for all its members: pass dt.")
    shape = (system.space.point_dim,)
    q, v = _rows("q0s", q0s, shape), _rows("v0s", v0s, shape)
    batched = {name: _values(system, name, value) for name, value in (parameters or {}).items()}
    count = _members({"q0s": len(q), "v0s": len(v), **{name: len(value) for name, value in batched.items()}})
    q, v = (np.broadcast_to(x, (count, *shape)) for x in (q, v))
    batched = {name: np.broadcast_to(x, (count, *x.shape[1:])) for name, x in batched.items()}
    first = system.with_parameters(**{name: x[0] for name, x in batched.items()})
    given = problem.problem(first, q[0], v[0], t_end, dt, method, engine, t0, save_every, events, max_events)
    if given.is_traced:
        raise ValueError("An ensemble runs on the host; under jit, vmap or grad use jax.vmap over hl.simulate.")
    rows = plan(given.t0, given.t_end, dt, save_every, save_at)
    runner = engine_for(given.system, given.method, engine)
    bare = given.watched is None and not _walls(given.system)
    if runner.native and bare and given.method.engine(given.system, engine) is None:
        done = _natively(given, rows, runner, q, v, batched)
        if done is not None:
            return done
    options: dict[str, Any] = {"dt": dt, "method": given.method, "t0": t0, "save_every": save_every, "save_at": save_at}
    options |= {"events": events, "max_events": max_events}
    return _in_xla(given.system, q, v, batched, t_end, options)


def _in_xla(
    system: System, q: np.ndarray, v: np.ndarray, batched: dict[str, Any], t_end: float, options: dict[str, Any]
) -> Run:
    """The members as one batch of XLA."""

    @jax.jit
    def all_of(values: Any, starts: Any, speeds: Any) -> Run:
        def one(p: Any, x: Any, w: Any) -> Run:
            member = replace(system, parameters=Parameters({**system.parameters, **p}))
            return simulate(member, x, w, t_end, **options)

        return jax.vmap(one)(values, starts, speeds)

    run = all_of({k: jnp.asarray(x) for k, x in batched.items()}, jnp.asarray(q), jnp.asarray(v))
    names = ("q", "v", "energy", "momentum", "pull", "multipliers", "violation", "kinetic")
    saved = {name: getattr(run, name) for name in names}
    saved, result = _while_energy_is_finite(run.t, run.energy, saved, run.result)
    said = replace(run.provenance, engine=f"xla on {jax.default_backend()}", members=len(q), maker="ensemble")
    return replace(run, **saved, result=result, provenance=said)


def _walls(system: System) -> int:
    from holonomy.systems.contact import contact

    return contact.count(system)


def _natively(
    given: problem.Problem, rows: Plan, runner: Engine, q: np.ndarray, v: np.ndarray, batched: dict[str, Any]
) -> Run | None:
    """The members as machine code, spread over the cores; None where the system has none."""
    system, method, count = given.system, given.method, len(q)
    members = replace(system, parameters=Parameters({**system.parameters, **batched})) if batched else system
    axes = _axes(system, set(batched))
    start = (np.float64(rows.t0),)
    begin = runner.batch(_begin, (system, method, *start, q[0], v[0]))
    if begin is None:
        return None
    now: Any = begin(members, method, *start, q, v, axes=(axes, None, None, 0, 0))
    parts: list[Any] = []
    codes = np.full(count, Code.ok, np.int32)
    most = pieces.rows_at_once(system.space.point_dim)
    try:
        for counts, rests, wanted in pieces.cut(rows, system):
            grid = (np.float64(rows.t0), np.float64(rows.dt), pieces.padded(counts.astype(np.int64), most))
            grid = (*grid, pieces.padded(rests.astype(np.float64), most), np.int64(len(counts)))
            single = jax.tree.map(lambda x: x[0], now)
            step = runner.batch(plain.chunk, (system, method, single, *grid))
            if step is None:
                return None
            now, shots, good = step(members, method, now, *grid, axes=(axes, None, 0, *[None] * len(grid)))
            size = len(counts)
            fine = np.arange(size) < np.asarray(good)[:, None]
            parts.append(jax.tree.map(lambda x, f=fine, n=size, w=wanted: _blanked(x[:, :n], f)[:, w], shots))
            codes = np.asarray(now.code)
            if np.all(codes != Code.ok):
                break
    except KeyboardInterrupt:
        if not parts:
            raise  # there is nothing to keep
        codes = np.where(codes == Code.ok, np.int32(Code.interrupted), codes)
    shots = jax.tree.map(lambda *x: np.concatenate(x, axis=1), *parts)
    shots = jax.tree.map(lambda x: _padded(x, len(rows.times)), shots)
    steps = np.asarray(now.index)
    times = np.broadcast_to(rows.times, (count, len(rows.times)))
    reached = Result(codes, rows.t0 + steps * rows.dt, steps)
    shots, result = _while_energy_is_finite(times, shots.energy, shots, reached)
    run = build.of_problem(
        given,
        times,
        shots,
        replace(result, differentiable=np.ones(count, bool)),
        np.asarray(now.work),
        rows.dt,
        engine=runner.name,
        members=count,
        maker="ensemble",
    )
    # as after jax.vmap, every number has an axis of members, those that they share without a copy
    shared = jax.tree.map(lambda x: np.broadcast_to(x, (count, *np.shape(x))), (system, method))
    parameters = Parameters({**shared[0].parameters, **batched})
    return replace(run, system=replace(shared[0], parameters=parameters), method=shared[1])


def _while_energy_is_finite(times: Any, energy: Any, shots: Any, result: Result) -> tuple[Any, Result]:
    """The rows of each member before the first without a finite energy, and results that say so."""
    lost = np.logical_or.accumulate(~np.isfinite(np.asarray(energy)), axis=1)
    codes, stopped = np.asarray(result.code), np.asarray(result.t)
    failed = (codes == Code.ok) & lost[:, -1]
    if not np.any(failed):
        return shots, result
    first = np.take_along_axis(np.asarray(times), np.argmax(lost, axis=1)[:, None], axis=1)[:, 0]
    codes = np.where(failed, np.int32(Code.not_finite), codes)
    blank = jax.tree.map(lambda x: _blanked(np.asarray(x), ~(lost & failed[:, None])), shots)
    return blank, replace(result, code=codes, t=np.where(failed, first, stopped))


def _begin(system: System, method: AbstractMethod, t: Any, q: Any, v: Any) -> plain.Progress:
    now = plain.begin(system, method, t, q, v)
    return now._replace(code=plain.consistent(system, t, q, v)) if system.constraints else now


def _axes(system: System, names: set[str]) -> Any:
    """None for every number of the system but the parameters named, which have a value for each member."""
    none = jax.tree.map(lambda _: None, system)
    marks = {name: 0 if name in names else None for name in system.parameters}
    return replace(none, parameters=Parameters(marks))


def _blanked(x: np.ndarray, good: np.ndarray) -> np.ndarray:
    return np.where(good.reshape(good.shape + (1,) * (x.ndim - 2)), x, np.nan)


def _padded(x: np.ndarray, rows: int) -> np.ndarray:
    """Rows that no member reached."""
    missing = rows - x.shape[1]
    if missing <= 0:
        return x
    return np.concatenate([x, np.full((x.shape[0], missing, *x.shape[2:]), np.nan)], axis=1)


def _real(name: str, value: Any) -> np.ndarray:
    if np.iscomplexobj(value):
        raise ValueError(f"{name} must be real; got complex numbers, whose imaginary parts would be lost.")
    return np.asarray(value, float)


def _rows(name: str, value: Any, shape: tuple[int, ...]) -> Float[np.ndarray, "members point"]:
    array = _real(name, value)
    if array.shape == shape:
        return array[None]
    if array.ndim != 2 or array.shape[1:] != shape or not len(array):
        raise ValueError(f"{name} must be one state of shape {shape} or a row for each member; got {array.shape}.")
    return array


def _values(system: System, name: str, value: Any) -> np.ndarray:
    if name not in system.parameters:
        known = ", ".join(system.parameters) or "none"
        raise ValueError(f"parameters names {name!r}, but the system's parameters are: {known}.")
    array, shape = _real(f"parameters[{name!r}]", value), np.shape(system.parameters[name])
    if array.ndim == 0 or array.shape[1:] != shape or not len(array):
        raise ValueError(
            f"parameters[{name!r}] must have a value of shape {shape} for each member, members first; got shape "
            f"{array.shape}."
        )
    return array


def _members(lengths: dict[str, int]) -> int:
    several = {name: n for name, n in lengths.items() if n > 1}
    if len(set(several.values())) > 1:
        said = ", ".join(f"{name} {n}" for name, n in several.items())
        raise ValueError(f"The members must be as many in each argument; they are: {said}.")
    return next(iter(several.values()), 1)

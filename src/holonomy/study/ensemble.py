"""Many runs of one system at once: other starts, other parameters, the same times."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from holonomy.motion import Run, initial_place, problem, simulate
from holonomy.motion.events.event import Event
from holonomy.motion.loops import pieces, plain
from holonomy.motion.loops.engine_choice import engine_for
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.on_host import AbstractHostMethod
from holonomy.motion.run import build
from holonomy.motion.run.result import Result, SimulationError
from holonomy.motion.save_times import Plan, plan
from holonomy.study import batch_rows
from holonomy.systems import System
from holonomy.systems.bodies import World
from holonomy.systems.bodies.checks import refuse_start
from holonomy.systems.contact import contact
from holonomy.systems.parameters import Parameters
from holonomy.systems.replace import replace
from holonomy.systems.result_code import Code
from holonomy.systems.state_vector import vector
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
    throw: bool | None = None,
) -> Run:
    """The motions of many members, as one `Run` whose arrays have an axis of members before that of time.

    **Arguments:** `q0s` and `v0s`, a state as for `simulate` for each member, or one state for all; `parameters`, for
    some names of `system.parameters`, an array with a value for each member; the others as for `simulate`. `engine`:
    native code spreads members over the cores, XLA runs them as one batch, on a GPU where there is one; None picks.
    Methods that run on the host, and members whose steps need the surer way of a method to solve its equations, run
    one by one. `throw`, what happens where members stop early: True raises `SimulationError`, which names them and
    carries the whole batch, None warns with the same sentence, and False leaves it to `run.result`.

    A member that fails spares the others: its rows from there on are NaN, and `run.result.code` says why, member by
    member. Ctrl-C ends native code in the same way and keeps the rows before; XLA computes a batch as a whole and
    keeps none.

    **Fails** with `ValueError` for what can be known of any member beforehand.
    """
    if dt is None:
        raise ValueError("An ensemble has one step for all its members: pass dt.")
    q, v = _rows("q0s", q0s, system), _rows("v0s", v0s, system)
    batched = {name: _values(system, name, value) for name, value in (parameters or {}).items()}
    count = _members({"q0s": len(q), "v0s": len(v), **{name: len(value) for name, value in batched.items()}})
    q, v, *values = (np.broadcast_to(x, (count, *x.shape[1:])) for x in (q, v, *batched.values()))
    batched = dict(zip(batched, values, strict=True))

    def member(k: int) -> System:
        return system.with_parameters(**{name: x[k] for name, x in batched.items()})

    given = problem.problem(member(0), q[0], v[0], t_end, dt, method, engine, t0, save_every, events, max_events)
    if given.is_traced:
        raise ValueError("An ensemble runs on the host; under jit, vmap or grad use jax.vmap over hl.simulate.")
    options: dict[str, Any] = {"dt": dt, "method": given.method, "t0": t0, "save_every": save_every, "save_at": save_at}
    options |= {"events": events, "max_events": max_events}

    def alone(k: int) -> Run:
        with _naming(k):
            return simulate(member(k), q[k], v[k], t_end, engine=engine, throw=False, **options)

    rows = plan(given.t0, given.t_end, dt, save_every, save_at)
    run = _moved(given, rows, engine, (q, v, batched), alone, t_end, options)
    _say_who_stopped(run, throw)
    return run


def _say_who_stopped(run: Run, throw: bool | None) -> None:
    """Raise or warn where members stopped early, as `throw` says."""
    if throw is False or np.all(np.asarray(run.result.ok)):
        return
    if throw:
        raise SimulationError(run)
    warnings.warn(f"{run.result} throw=True raises an error instead, throw=False says nothing.", stacklevel=3)


def _moved(
    given: problem.Problem,
    rows: Plan,
    engine: str | None,
    members: tuple[np.ndarray, np.ndarray, dict[str, Any]],
    alone: Callable[[int], Run],
    t_end: float,
    options: dict[str, Any],
) -> Run:
    """The batch: members side by side, and those that cannot be moved so one by one."""
    q, v, batched = members
    if isinstance(given.method, AbstractHostMethod):
        return batch_rows.gathered(given, rows.times, [alone(k) for k in range(len(q))], batched)
    run = _together(given, rows, engine, (*_on_space(given.system, q, v), batched), t_end, options)
    stuck = np.flatnonzero(np.asarray(run.result.code) == Code.no_convergence)
    if len(stuck) and run.happened is None and given.method.fallback(certain=False) is not None:
        run = batch_rows.replaced(run, stuck, [alone(int(k)) for k in stuck])
    return batch_rows.while_near(run, given.system)


def _together(
    given: problem.Problem,
    rows: Plan,
    engine: str | None,
    members: tuple[np.ndarray, np.ndarray, dict[str, Any]],
    t_end: float,
    options: dict[str, Any],
) -> Run:
    """All members side by side: as machine code where that is possible and wanted, else in XLA."""
    runner = engine_for(given.system, given.method, engine)
    if runner.native and given.watched is None and not contact.count(given.system):
        done = _natively(given, rows, runner, *members)
        if done is not None:
            return done
    return _in_xla(given.system, *members, t_end, options)


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
    saved, result = batch_rows.while_energy_is_finite(run.t, run.energy, saved, run.result)
    said = replace(run.provenance, engine=f"xla on {jax.default_backend()}", members=len(q), maker="ensemble")
    return replace(run, **saved, result=result, provenance=said)


def _natively(
    given: problem.Problem, rows: Plan, runner: Engine, q: np.ndarray, v: np.ndarray, batched: dict[str, Any]
) -> Run | None:
    """The members as machine code, spread over the cores; None where the system has none."""
    # copied, so that fields which its constructor left at their defaults are set, as they are in `_axes`
    system, method, count = replace(given.system), given.method, len(q)
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
            parts.append(jax.tree.map(lambda x, f=fine, n=size, w=wanted: batch_rows.blanked(x[:, :n], f)[:, w], shots))
            codes = np.asarray(now.code)
            if np.all(codes != Code.ok):
                break
    except KeyboardInterrupt:
        if not parts:
            raise  # there is nothing to keep
        codes = np.where(codes == Code.ok, np.int32(Code.interrupted), codes)
    shots = jax.tree.map(lambda *x: np.concatenate(x, axis=1), *parts)
    shots = jax.tree.map(lambda x: batch_rows.padded(x, len(rows.times)), shots)
    steps = np.asarray(now.index)
    times = np.broadcast_to(rows.times, (count, len(rows.times)))
    reached = Result(codes, rows.t0 + steps * rows.dt, steps)
    shots, result = batch_rows.while_energy_is_finite(times, shots.energy, shots, reached)
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
    members_of, method = batch_rows.shared(system, given, count, batched)
    return replace(run, system=members_of, method=method)


def _begin(system: System, method: AbstractMethod, t: Any, q: Any, v: Any) -> plain.Progress:
    now = plain.begin(system, method, t, q, v)
    return now._replace(code=plain.consistent(system, t, q, v)) if system.constraints else now


@contextmanager
def _naming(k: int) -> Generator[None]:
    """While this is entered, what is wrong with a start is said of member k."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Member {k}: {error}") from error


def _on_space(system: System, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The starts on the space to round-off, as those of single runs; a ValueError for the first member that is off."""
    if isinstance(system, World) and system.radii is not None:
        for k in range(1, len(q)):  # member 0 was checked as a single run is
            with _naming(k):
                refuse_start(system, q[k], v[k])
    if system.flat:
        return q, v
    near, tangent, lost = (np.asarray(x) for x in initial_place.nearest_on_space(system, q, v))
    off, sideways = initial_place.misses_space(q, v, near, tangent)
    for k in np.flatnonzero(off | sideways | (lost > initial_place.too_few_digits(q.dtype)))[:1]:
        with _naming(int(k)):
            initial_place.on_space(system, q[k], v[k])
    return near, tangent


def _axes(system: System, names: set[str]) -> Any:
    """None for every number of the system but the parameters named, which have a value for each member."""
    none = jax.tree.map(lambda _: None, system)
    marks = {name: 0 if name in names else None for name in system.parameters}
    return replace(none, parameters=Parameters(marks))


def _real(name: str, value: Any) -> np.ndarray:
    if np.iscomplexobj(value):
        raise ValueError(f"{name} must be real; got complex numbers, whose imaginary parts would be lost.")
    return np.asarray(value, float)


def _rows(name: str, value: Any, system: System) -> Float[np.ndarray, "members point"]:
    """One row for each member: states in any form that `simulate` takes, or one for all."""
    shape = (system.space.point_dim,)
    if not isinstance(value, Mapping):
        array = _real(name, value)
        if array.ndim == 2 and array.shape[1:] == shape and len(array):
            return array
    try:
        return np.asarray(vector(name, value, shape, system))[None]
    except ValueError:
        if isinstance(value, Mapping):
            raise
    try:
        return np.stack([np.asarray(vector(name, one, shape, system)) for one in np.asarray(value)])
    except ValueError:
        raise ValueError(
            f"{name} must be one state of shape {shape} or a row for each member; got {np.shape(value)}."
        ) from None


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

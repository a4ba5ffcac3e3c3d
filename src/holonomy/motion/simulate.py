"""`simulate`: one function that composes a system, a method and times into a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import jax.numpy as jnp

from holonomy.motion import problem
from holonomy.motion.argument_names import named_arguments
from holonomy.motion.drive import ProgressBar
from holonomy.motion.events import event
from holonomy.motion.events.event import Event
from holonomy.motion.keep import Wanted, driven
from holonomy.motion.loops import plain, with_events_traced
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.problem import Problem
from holonomy.motion.run import build
from holonomy.motion.run.result import Result, SimulationError
from holonomy.motion.run.run import Run
from holonomy.motion.save_times import Plan, plan
from holonomy.motion.step_halving import halve
from holonomy.systems import System
from holonomy.systems.contact import contact
from holonomy.types import ArrayLike, StateLike


class Options(TypedDict, total=False):
    """The options of `simulate` by name, for functions that pass them on and need whole states."""

    dt: float | None
    method: AbstractMethod | str | None
    engine: str | None
    t0: float
    save_every: int
    save_at: ArrayLike | None
    events: Event | Sequence[Event]
    max_events: int
    progress: bool | ProgressBar | None
    throw: bool


@named_arguments
def simulate(
    system: System,
    q0: StateLike,
    v0: StateLike,
    t_end: float,
    *,
    dt: float | None = None,
    method: AbstractMethod | str | None = None,
    engine: str | None = None,
    t0: float = 0.0,
    save_every: int = 1,
    save_at: ArrayLike | None = None,
    save: Wanted | None = None,
    events: Event | Sequence[object] = (),  # of events; anything else is refused with a sentence
    max_events: int = 1000,
    singular: str = "stop",
    progress: bool | ProgressBar | None = None,
    throw: bool = True,
) -> Run:
    """The motion of a system from (q0, v0) at t0 to t_end.

    **Arguments:** `q0` and `v0`, numbers in the order of the coordinates, or by name, ``{"theta": 1.0}``. `dt`, the
    step (for `Adaptive`, the spacing of saved times); None halves the step until halving changes the motion by less
    than the tolerance named in the certificate. `method`, or its name, such as ``"Gauss(2)"``; None to pick one by what
    the system is. `engine`, ``"native"`` (one machine function), ``"xla"``, or None to pick. `save_every` steps, or
    `save_at` given times. `save`, what is kept at these times in place of whole states, as `run.saved`: names that
    `run[name]` knows, functions of (t, q, v), or both by names of your own, ``{"height": lambda t, q, v: q[1]}``; of
    the states the first and the last are kept. `events`, a list of `Event`; `max_events`, how many may happen, impacts
    and changes of contact included, before the run stops with a result code: under jit, vmap or grad that many rows and
    steps are compiled, so keep it small there. `singular`, what happens where the normals of the constraints become
    dependent, as those of a linkage whose bars come into line: ``"stop"``, or ``"pass"`` to go on along the smooth
    branch. `progress`, True for a bar, or a function of the fraction done. `throw`, whether a run that stops early
    raises `SimulationError`, which carries its good part, or is returned.

    **Fails** with `ValueError` for what can be known beforehand, with `SimulationError` for what happens in the run.
    Under a user's jit, vmap or grad nothing is raised: rows after a failure are NaN and `run.result` says why.
    """
    given = problem.problem(system, q0, v0, t_end, dt, method, engine, t0, save_every, events, max_events, singular)
    if dt is None:
        if given.is_traced:
            raise ValueError("Under jit, vmap or grad the number of steps must be known: pass dt.")
        run = halve(given, save_every, save_at, progress, save)
    else:
        whole = 0 if given.is_traced or save is not None else given.q0.shape[0]
        rows = plan(given.t0, given.t_end, dt, save_every, save_at, whole)
        if given.is_traced:
            if save is not None:
                raise ValueError("Under jit, vmap or grad leave out save, and compute what you need from run.q, run.v.")
            return _differentiable(given, rows)
        run = build.of_driven(given, driven(given, rows, progress, save), rows.dt)
    if throw and not run.result.ok:
        raise SimulationError(run)
    return run


def _differentiable(given: Problem, rows: Plan) -> Run:
    """The traced run, with a sentence where JAX finds that a method with error control has no forward derivatives."""
    try:
        return _traced(given, rows)
    except TypeError as error:
        if given.method.fixed_step or "custom_vjp" not in str(error):
            raise
        raise ValueError(
            f"{given.method.label} has derivatives in reverse mode only (jax.grad, jax.vjp, jax.jacrev): its number "
            f"of steps is not known beforehand. For jax.jvp or jax.jacfwd take a fixed step, such as hl.Gauss(3)."
        ) from error


def _traced(given: Problem, rows: Plan) -> Run:
    method = given.method.fallback(certain=True) or given.method
    q, v = jnp.asarray(given.q0), jnp.asarray(given.v0)
    t = jnp.asarray(rows.times, q.dtype)
    if given.watched is not None or contact.count(given.system):
        watched = given.watched or event.none()
        end, shots, happened, last = with_events_traced.traced(
            given.system, method, watched, rows, q, v, given.max_events
        )
        result = Result(end.code, last, end.base.index, end.smooth)
        return build.of_problem(given, t, shots, result, end.work, rows.dt, happened=happened)
    now, shots = plain.traced(given.system, method, rows, q, v)
    result = Result(now.code, rows.t0 + now.index * rows.dt, now.index)
    return build.of_problem(given, t, shots, result, now.work, rows.dt)

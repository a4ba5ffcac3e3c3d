"""Everything about a run that can be known before it starts, with a sentence for every mistake."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from holonomy.motion import initial_place, initial_sizes, initial_sparse, initial_state
from holonomy.motion.events import event
from holonomy.motion.events.event import Event, Watched
from holonomy.motion.initial_contact import refuse_bad_walls
from holonomy.motion.loops.engine_choice import engine_for
from holonomy.motion.methods.base import AbstractMethod
from holonomy.motion.methods.by_name import method_by_name
from holonomy.motion.methods.colliding_bodies import CollidingBodies, colliding
from holonomy.motion.methods.default import default_method
from holonomy.motion.methods.event_driven import EventDriven
from holonomy.motion.methods.radau import Radau
from holonomy.motion.methods.through_singular import passing
from holonomy.motion.run import provenance
from holonomy.motion.run.provenance import Provenance
from holonomy.systems import System, lagrangian, mass_checks
from holonomy.systems.bodies import World
from holonomy.systems.constraints import at_state, massless
from holonomy.systems.contact import contact
from holonomy.systems.replace import replace
from holonomy.systems.state_vector import vector
from holonomy.trace.native.engine import ENGINES, Engine
from holonomy.types import AnyArray, Number, StateLike

LARGE = 24  # coordinates above which no mass matrix is formed that the motion itself does not need

SINGULAR = ("stop", "pass")
_DEGREES = 15.0  # starts of angles below this are taken for radians without a word


@dataclass(frozen=True)
class Problem:
    """A checked initial value problem."""

    system: System
    method: AbstractMethod
    q0: AnyArray
    v0: AnyArray
    t0: float
    t_end: float
    is_traced: bool
    engine: str | None
    provenance: Provenance
    watched: Watched | None
    max_events: int


def problem(
    system: System,
    q0: StateLike,
    v0: StateLike,
    t_end: Number,
    dt: Number | None,
    method: AbstractMethod | str | None,
    engine: str | None,
    t0: Number,
    save_every: int,
    events: Event | Sequence[object] = (),
    max_events: int = 1000,
    singular: str = "stop",
    live: bool = False,
) -> Problem:
    """The problem, or a ValueError that names the argument, its value and what to pass instead; `live` says that the
    steps are taken one by one, as by `Stepper`."""
    if not isinstance(system, System):
        raise ValueError(f"simulate takes a hl.System first; got {type(system).__name__}.")
    if isinstance(method, str):
        method = method_by_name(method)
    if method is not None and not isinstance(method, AbstractMethod):
        raise ValueError(f"method must be one such as hl.Gauss(3) or hl.RK4(), or its name; got {method!r}.")
    start, end = _span(t0, t_end, dt, save_every)
    if engine not in ENGINES:
        raise ValueError(f"engine must be None, 'native' or 'xla'; got {engine!r}.")
    if singular not in SINGULAR:
        raise ValueError(f"singular must be 'stop' or 'pass'; got {singular!r}.")
    shape = (system.space.point_dim,)
    q, v = vector("q0", q0, shape, system), vector("v0", v0, shape, system)
    v = v.astype(q.dtype)
    _warn_of_degrees(system, q)
    seen, most = event.watched(system, events), event.capacity(max_events)
    is_traced = any(isinstance(x, Tracer) for x in jax.tree.leaves((system, method, q, v, seen)))
    q, v = initial_place.placed(system, start, q, v, is_traced, instants=bool(seen.count or contact.count(system)))
    watched = is_traced or live or seen.count > 0
    method, why = default_method(system, watched) if method is None else (method, "asked for")
    method.refuse(q.dtype)
    method.refuse_system(system)
    balls = _settled_balls(system, colliding(method, system, watched), start, q, v)
    if balls is not None:
        return _of_balls(*balls, (start, end), engine, why, is_traced, seen, most)
    initial_state.refuse_unheld(system, method)
    _refuse_all_pairs(system, method)
    if singular == "pass":
        if is_traced:
            raise ValueError("singular='pass' is for runs outside of jit, vmap and grad; leave it out there.")
        system, method = passing(system, method)
    system = _structured(initial_state.with_walls(system, method, end - start), method, is_traced)
    steady = True
    sizes = None if is_traced else initial_sizes.consistent(system, method, start, q, v)
    if sizes is not None:
        system, q, v = sizes
    elif not is_traced:
        system, q, v, steady = _with_mass(system, engine_for(system, method, engine), start, q, v)
    steady = steady and all(action is None for action in seen.actions)  # what an action does to the energy is its own
    made = provenance.of(system, method, steady=steady, why=why, engine="xla", singular=singular)
    return Problem(system, method, q, v, start, end, is_traced, engine, made, seen if seen.count else None, most)


def _structured(system: System, method: AbstractMethod, is_traced: bool) -> System:
    """The system with the structure that its solves use."""
    found = mass_checks.with_structure(system)
    # whether a mass matrix is positive definite, as sparse multipliers ask, cannot be seen in what is traced
    if is_traced and system.constraints and not system.definite:
        return initial_sparse.whole(found)
    return mass_checks.with_steps(found) if isinstance(method, Radau) else found


def _refuse_all_pairs(system: System, method: AbstractMethod) -> None:
    if isinstance(system, World) and system.by_events_only:
        known = default_method(system)[0]
        raise ValueError(f"{method.label} would look at all pairs of balls in every step; use hl.{known}.")


def _span(t0: Number, t_end: Number, dt: Number | None, save_every: int) -> tuple[float, float]:
    """The first and the last time; a ValueError for times and steps that no run can have."""
    start, end = _time("t0", t0), _time("t_end", t_end)
    if start == end:
        raise ValueError(f"t_end must differ from t0; both are {start:g}.")
    if dt is not None and not _time("dt", dt) > 0:
        raise ValueError(f"dt must be positive (a run goes backwards when t_end < t0); got {dt!r}.")
    if not isinstance(save_every, (int, np.integer)) or save_every < 1:
        raise ValueError(f"save_every must be a whole number of steps, at least 1; got {save_every!r}.")
    return start, end


def _of_balls(
    system: World,
    method: EventDriven | CollidingBodies,
    q: AnyArray,
    v: AnyArray,
    span: tuple[float, float],
    engine: str | None,
    why: str,
    is_traced: bool,
    seen: Watched,
    most: int,
) -> Problem:
    """The problem of balls whose contacts are no constraints of a step."""
    if is_traced or seen.count:
        what = "under jit, vmap or grad" if is_traced else "together with events"
        raise ValueError(f"{method.label} does not move balls {what}; with at most 40 of them use hl.Rattle(4).")
    assert system.restitution is not None
    elastic = float(system.restitution) == 1.0
    if span[1] < span[0] and not elastic:
        raise ValueError(
            "A run backwards cannot undo impacts that lose energy; pass collisions=True, or t_end after t0."
        )
    made = provenance.of(system, method, why=why, conservative=elastic and not system.damped)
    if isinstance(method, EventDriven):
        made = replaced(made, order=None)  # there is no error of a step
    return Problem(system, method, q, v, *span, is_traced, engine, made, None, most)


def _settled_balls(
    system: System, method: AbstractMethod, t: float, q: AnyArray, v: AnyArray
) -> tuple[World, EventDriven | CollidingBodies, AnyArray, AnyArray] | None:
    """The world, the method and a start on its rods to round-off, where collisions are found between steps; None where
    they are not, and where some of few rods follow from others, so that balls are to be walls."""
    if not isinstance(system, World) or not isinstance(method, EventDriven | CollidingBodies):
        return None
    if system.rigid is None or any(isinstance(x, Tracer) for x in jax.tree.leaves((system, q, v))):
        return system, method, q, v
    found = initial_sizes.on_sizes(system, system.rigid, t, q, v, or_none=system.balls is not None)
    return None if found is None else (system, method, *found[1:])


def _warn_of_degrees(system: System, q: AnyArray) -> None:
    """Angles are in radians; whole multiples of five far beyond a turn look like degrees."""
    if isinstance(q, Tracer):
        return
    for coordinate, value in zip(system.coordinates, np.asarray(q), strict=True):
        if coordinate.kind == "angle" and abs(value) >= _DEGREES and value % 5.0 == 0.0:
            warnings.warn(
                f"{coordinate.name} starts at {value:g}. Angles are in radians; if these are degrees, write "
                f"jnp.radians({value:g}).",
                stacklevel=5,  # who called simulate
            )
            return


def _time(name: str, value: Any) -> float:
    if isinstance(value, Tracer):
        raise ValueError(f"{name} decides how many steps are compiled, so it cannot be traced; pass a plain number.")
    try:
        number = float("") if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number; got {value!r}.") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite; got {value!r}.")
    return number


def _first_look(system: System, t: Any, q: Any, v: Any, probe: Any) -> tuple[Any, Any, Any, Any]:
    local = system.local(q)
    # A system that brings its own acceleration may be too large for a matrix.
    given = system.direct is not None or system.inverse is not None
    own = given and not system.constraints and q.shape[0] > LARGE
    own = own or (isinstance(system, World) and not system.constraints)  # its masses are known to be positive
    if local.structure is not None:
        mass = mass_checks.look(system, t, q, v, probe)
    else:
        mass = None if own else lagrangian.mass_matrix(local.lagrangian, t, *local.enter(v))
    facing = None
    if contact.count(system):
        local = contact.touching(system, None).local(q)  # of many walls all
        y, w = local.enter(v)
        facing = contact.gaps(system, t, q, v), jax.jacfwd(lambda u: local.wall_rates(t, y, u))(w)
    seen = initial_sparse.look(system, t, q, v)
    seen = at_state.conditions(system, t, q, v) if seen is None else seen
    return mass, system.raw_energy(t, q, v), seen, facing


def _seen(system: System, engine: Engine, t: float, q: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    """What `_first_look` sees, of small systems with constraints by the function that projects onto these."""
    if system.mass is None and at_state.suits(system):
        return *jax.tree.map(np.asarray, engine.call(at_state.state, system, np.float64(t), q, v, seldom=True)), None
    probe = None if system.mass is None else mass_checks.probe(system).astype(q.dtype)
    return jax.tree.map(np.asarray, engine.call(_first_look, system, np.float64(t), q, v, probe, seldom=True))


def _warn_of_sign(detail: str) -> None:
    warnings.warn(
        f"Some velocities have negative kinetic energy at the initial state{detail}. The Lagrangian is kinetic minus "
        "potential energy: look for a wrong sign, unless you mean it.",
        stacklevel=6,
    )


def _with_conditions(
    system: System, engine: Engine, t: float, q: Any, v: Any, mass: Any, seen: initial_sparse.Seen
) -> tuple[System, Any, Any, bool]:
    """`_with_mass` of a system with many conditions; where their structure cannot be used, with whole matrices."""
    judged = mass_checks.judged_with_conditions(system, *mass)
    found = None if judged.mass is None else initial_sparse.consistent(judged, t, q, v, seen)
    if found is None:
        return _with_mass(initial_sparse.whole(system), engine, t, q, v)
    return *found, not np.any(seen.at_rest)


def _with_mass(system: System, engine: Engine, t: float, q: Any, v: Any) -> tuple[System, Any, Any, bool]:
    """The system, marked as having a positive definite mass matrix where the initial state shows one; the state, on
    the constraints to round-off; and whether the constraints let a state at rest stay."""
    mass, energy, seen, facing = _seen(system, engine, t, q, v)
    if not np.isfinite(energy):
        raise ValueError(
            f"The energy at the initial state is {energy}: the Lagrangian has no value at "
            f"q0 = {np.asarray(q).tolist()}, v0 = {np.asarray(v).tolist()}. Start elsewhere."
        )
    if mass is None:
        return system, q, v, True
    if system.mass is not None:
        if seen is not None:
            return _with_conditions(system, engine, t, q, v, mass, seen)
        held, miss = mass
        judged = mass_checks.judged(system, held, miss, "the initial state q0")
        if judged.mass is not None and not judged.definite:
            _warn_of_sign(mass_checks.where_negative(system, held))
        return (judged, q, v, True) if judged.mass is not None else _with_mass(judged, engine, t, q, v)
    if not np.all(np.isfinite(mass)):
        raise ValueError(
            f"The mass matrix at the initial state is not finite: q0 = {np.asarray(q).tolist()}, "
            f"v0 = {np.asarray(v).tolist()}. The Lagrangian or its derivatives have no value there."
        )
    scaled = np.ones(1) if massless.surely_positive(mass) else massless.eigenvalues(mass)[1]
    if massless.is_singular(scaled):
        system = massless.regular(system, np.float64(t), q, v, "the initial state q0")
        mass = np.asarray(system.mass_matrix(t, q, v))
        scaled = massless.eigenvalues(mass)[1]
    if scaled[0] < 0 and system.kinetic is not None:
        own = np.linalg.eigvalsh(0.5 * (mass + mass.T))
        raise ValueError(
            f"The metric is not positive definite at q0 = {np.asarray(q).tolist()}: its eigenvalues are "
            f"{', '.join(f'{x:.4g}' for x in own)}, so some velocities have negative kinetic energy. Look for a wrong "
            "sign, or describe the system by its Lagrangian if you mean it."
        )
    if scaled[0] < 0:
        own = np.linalg.eigvalsh(0.5 * (mass + mass.T))
        _warn_of_sign(f" (the mass matrix has the eigenvalues {', '.join(f'{x:.4g}' for x in own[:4])})")
    if bool(scaled[0] > 0) != system.definite:
        system = replace(system, definite=bool(scaled[0] > 0))
    if facing is not None:
        gaps, normals = facing
        refuse_bad_walls(system, t, q, v, gaps, normals, mass)
    if seen is None:
        return system, q, v, True
    system, q, v = initial_state.consistent(system, t, q, v, mass, seen)
    return system, q, v, not np.any(seen.at_rest)

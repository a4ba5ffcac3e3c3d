r"""From one event to the next: trial steps from a base state that close in on the first event, if there is one.

A trial is a step of the method from the base. What `zero_crossing.span` sees in it decides: nothing, and the trial is
taken; a candidate, and the next trial ends where the earliest one is expected. Trials bracket the event and end on it
to round-off. Only then do base and clock move on, so an event has the order of the method, and of several in one step
the first comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from holonomy.motion.events import wall_selection
from holonomy.motion.events.event import Watched
from holonomy.motion.events.event_log import OF_FRICTION, OF_WALLS
from holonomy.motion.events.zero_crossing import JUMP, TINY, Looked, Seen, Span, jumps, largest, span
from holonomy.motion.methods.base import AbstractMethod, Status, keep_if
from holonomy.systems import System, tracing
from holonomy.systems.constraints.conditions import Touch
from holonomy.systems.contact import contact, contact_friction
from holonomy.systems.quantities import ambient_acceleration
from holonomy.systems.result_code import Code
from holonomy.types import AnyCount, AnyFlag, AnyScalar, Count, Flag, Flags, Point, Scalar, State, Tangent, Values

# A step of a method: of a system, a method, a time, a length and a state, to a new state and how it went.
Step: TypeAlias = Callable[[System, AbstractMethod, AnyScalar, AnyScalar, State], tuple[State, Status]]

TOUCHED = 2.0  # in place of a sign: a row that touched zero may leave it on either side
_TRIALS = 60  # of one search at most; the bracket then counts as narrow
_PATIENT = 8  # trials after which every other one halves the bracket
_TOUCH = 1e-12  # a dip this near to zero, in units of the watched function's size in the step, touches
_APART = 0.99  # of a trial: two zeros of one function closer together at its end are one
_TICK = 4.0  # in units of rounding of a step and of a value: what cannot be told apart
_MET = 16.0  # in those units: a row this near to zero is met together with one that is zero


class Setting(eqx.Module):
    """What does not change along a run: the system, the events, the method, and the grid of time."""

    system: System
    watched: Watched
    method: AbstractMethod
    t0: AnyScalar
    dt: AnyScalar

    @property
    def way(self) -> Scalar:
        """The direction of time, 1 or -1."""
        return jnp.where(self.dt < 0, -1.0, 1.0)

    @property
    def pace(self) -> Scalar:
        """The length of a step."""
        return jnp.abs(self.dt)

    @property
    def counts(self) -> tuple[int, int]:
        """How many events and how many walls there are."""
        return self.watched.count, contact.count(self.system)

    @property
    def labels(self) -> int:
        """How many records a state may make: events, then impacts, contacts and releases of the walls looked at."""
        return self.counts[0] + len(OF_WALLS) * self.facing + len(OF_FRICTION) * self.with_friction

    @property
    def facing(self) -> int:
        """How many walls are looked at together."""
        return contact.facing(self.system)

    @property
    def window(self) -> int:
        """How many of many unilateral constraints are looked at together, 0 for all."""
        return self.system.constraints.walls.window

    @property
    def with_friction(self) -> int:
        """How many of the walls looked at have friction."""
        return contact.facing_with_friction(self.system)

    @property
    def acts(self) -> bool:
        """Whether an event has an action."""
        return any(action is not None for action in self.watched.actions)

    @property
    def timed(self) -> bool:
        """Whether the motion or what is watched names the time."""
        s = self.system
        example = tracing.Frame(s.coordinates, s.parameters, s.space, s.parametric).example(velocity=True)
        return not s.autonomous or any(f.depends_on(0, example) for f in self.watched.sigmas)

    def time(self, index: AnyCount, past: AnyScalar) -> Scalar:
        """The time a length `past` after so many whole steps."""
        return jnp.asarray(self.t0 + index * self.dt + self.way * past)

    def at(self, touch: Touch) -> System:
        """The system in this contact."""
        return contact.touching(self.system, touch)


class Base(NamedTuple):
    """A state from which trials start: so many whole steps and a length `past` since the run began.

    `fresh` are the watched rows that are zero here because they have just been seen to be, and count again once they
    are further from zero than `band`; `side` is the sign they leave zero with, 0 for that of their rate, `TOUCHED` for
    any. `known` says whether `seen` is up to date. `touch` is the contact.
    """

    state: State
    index: AnyCount  # pyright: ignore[reportIncompatibleMethodOverride]
    past: Scalar
    seen: Seen
    fresh: Flags
    band: Values
    side: Values
    known: Flag
    touch: Touch


class Search(NamedTuple):
    """A bracket of the first event, in lengths from the base, with what is seen at its ends; `on` while it is open.

    `size` are the values seen when it began. Where there are many walls, `at` are the watched rows that are looked at,
    and all this is said of them.
    """

    on: Flag
    trial: Scalar
    low: Scalar
    high: Scalar
    at_low: Seen
    at_high: Seen
    size: Values
    count: Count  # pyright: ignore[reportIncompatibleMethodOverride]
    last: Flag
    at: Int[Array, " rows"] | None = None


class Goal(NamedTuple):
    """Where steps lead to: a length after the last whole step, and whether that completes the next one."""

    length: AnyScalar
    whole: AnyFlag


class Trial(NamedTuple):
    """A trial step: its end, what to do, and which rows were met there, of these which touched without crossing.

    `came` is the sign with which a row came to its zero, `band` what could not be told from zero there; `jumps` says
    that a row changed its sign without a zero.
    """

    state: State
    length: Scalar
    seen: Seen
    status: Status
    accept: Flag
    met: Flags
    touched: Flags
    came: Values
    band: Values
    jumps: Flag
    search: Search


def begin(setting: Setting, state: State, touch: Touch) -> Base:
    """The base at the start of a run."""
    blank = jnp.zeros(rows(setting), setting.t0.dtype)
    none, past = jnp.zeros(blank.shape, bool), jnp.zeros((), setting.t0.dtype)
    return Base(state, jnp.int64(0), past, Seen(blank, blank), none, blank, blank, jnp.bool_(False), touch)


def nothing(setting: Setting) -> Search:
    """No search."""
    looked = rows(setting) - (setting.system.constraints.walls.counts[0] - setting.window if setting.window else 0)
    blank = jnp.zeros(looked, setting.t0.dtype)
    zero, seen = jnp.zeros((), setting.t0.dtype), Seen(blank, blank)
    at = jnp.zeros(looked, jnp.int64) if setting.window else None
    return Search(jnp.bool_(False), zero, zero, zero, seen, seen, blank, jnp.int32(0), jnp.bool_(False), at)


def rows(setting: Setting) -> int:
    """How many functions are watched: events, gaps of all walls, pushes of those that are looked at, and what keeps
    friction in its modes."""
    events, sides = setting.counts
    return events + sides + setting.facing + setting.with_friction


# ── What is seen ──────────────────────────────────────────────────────────────────────────────────────


def observe(setting: Setting, system: System, t: AnyScalar, q: Point, v: Tangent) -> Seen:
    """Watched values and rates at a state."""
    along = (jnp.ones_like(t), v, ambient_acceleration(system, t, q, v))
    value, rate = jax.jvp(lambda *state: values(setting, system, *state), (t, q, v), along)
    # a function may have a value and no slope, as a distance has at distance zero
    return Seen(value, jnp.where(jnp.isfinite(rate), setting.way * rate, 0.0))


def values(setting: Setting, system: System, t: AnyScalar, q: Point, v: Tangent) -> Values:
    """Watched values at a state: events, gaps to the walls, and pushes of those in contact."""
    parts = [f(t, q, v, *system.last)[None] for f in setting.watched.sigmas]
    if contact.count(system):
        parts += [contact.gaps(system, t, q, v), contact.pushes(system, t, q, v)]
    if setting.with_friction:
        parts.append(contact_friction.grips(system, t, q, v))
    return jnp.concatenate(parts)


def _looked(setting: Setting, base: Base, size: Any) -> Looked:
    events, active, sides = setting.counts[0], base.touch.active, rows(setting) - setting.counts[0]
    directions = np.array(setting.watched.directions, int)
    falls = np.concatenate([directions <= 0, np.ones(sides, bool)])
    rises = np.concatenate([directions >= 0, np.zeros(sides, bool)])
    held = active
    if setting.window:
        given = setting.at(base.touch).constraints
        held = jnp.concatenate([given.everywhere(active[: setting.window]), active[setting.window :]])
    on = jnp.concatenate([jnp.ones(events, bool), ~held, active, active[: setting.with_friction]])
    slack = jnp.concatenate([jnp.zeros(events), jnp.full(sides, contact.SLACK)]).astype(size.dtype)
    return Looked(on, jnp.asarray(falls), jnp.asarray(rises), slack * size, jnp.where(base.fresh, base.band, 0.0))


def inside(setting: Setting, seen: Seen) -> Seen:
    """What is seen, gaps and pushes not below zero: what is left of them by rounding is no crossing."""
    events = setting.counts[0]
    bounded = np.arange(seen.value.shape[0]) >= events
    return Seen(jnp.where(bounded, jnp.maximum(seen.value, TINY), seen.value), seen.rate)


def _signed(setting: Setting, base: Base, seen: Seen) -> Seen:
    """What is seen at a base: a zero that was just met has the sign with which it is left."""
    side = jnp.where(base.side != 0, base.side, jnp.where(seen.rate < 0, -1.0, 1.0))
    zero = base.fresh | (seen.value == 0)
    # one that only touched leaves zero without an event, however little of the way to the extremum is left
    touched = base.fresh & (base.side == TOUCHED)
    value = jnp.where(touched, 0.0, jnp.where(zero, side * TINY, seen.value))
    return inside(setting, Seen(value, jnp.where(touched, 0.0, seen.rate)))


# ── One trial ─────────────────────────────────────────────────────────────────────────────────────────


def attempt(setting: Setting, base: Base, search: Search, goal: Goal, step: Step) -> tuple[Base, Trial]:
    """One trial step towards the goal; the base with what is seen from it.

    Where the base has not been looked at yet, that is all that is done, and the trial is not to be used.
    """
    method = setting.method
    left = goal.length - base.past
    length = jnp.where(search.on, search.trial, jnp.minimum(left, method.reach(base.state, setting.pace)))
    t = setting.time(base.index, base.past)
    new, status = step(setting.at(base.touch), method, t, setting.way * length, base.state)
    return weigh(setting, base, search, length, new, status)


def weigh(
    setting: Setting, base: Base, search: Search, length: AnyScalar, new: State, status: Status
) -> tuple[Base, Trial]:
    """The trial that a step of given length to a new state is: accepted or not, with the events at its end."""
    method, way = setting.method, setting.way
    t = setting.time(base.index, base.past)
    system = setting.at(base.touch)
    ends = jnp.where(base.known, t + way * length, t)
    q, v = method.read(system, ends, keep_if(base.known, new, base.state))
    seen = observe(setting, system, ends, q, v)
    signed = keep_if(base.known, base.seen, _signed(setting, base, seen))
    size = jnp.max(jnp.abs(q))
    base = base._replace(seen=signed)
    looked = _looked(setting, base, size + setting.pace * jnp.max(jnp.abs(v)))
    at, crowded = wall_selection.rows_to_look_at(setting, base, search, looked, length, seen)
    few, looked, at_end = wall_selection.some_of(at, (base, looked, seen))
    trial = wall_selection.for_all(at, rows(setting), _judged(setting, few, search, looked, length, at_end, t, size))
    trial = trial._replace(seen=seen, search=trial.search._replace(at=at))
    code = _judged_code(status.code, seen, trial.jumps & base.known)
    code = jnp.where((code == Code.ok) & crowded & base.known, jnp.int32(Code.crowded), code)
    status = Status(code, status.work)
    accept = trial.accept & base.known & (status.code == Code.ok)
    open_ = trial.search.on & base.known & ~accept
    trial = trial._replace(state=new, status=status, accept=accept, search=trial.search._replace(on=open_))
    return base._replace(known=jnp.bool_(True)), trial


def _judged_code(code: Any, seen: Seen, jumps: Any) -> Any:
    """The code of a trial step, where what is watched has no value or no zero."""
    code = jnp.where((code == Code.ok) & jumps, jnp.int32(Code.event_jumps), code)
    unknown = ~jnp.all(jnp.isfinite(seen.value))
    return jnp.where((code == Code.ok) & unknown, jnp.int32(Code.event_not_finite), code)


class _Zeros(NamedTuple):
    """Rows at the end of a trial: zero to rounding, zero for all that can be said, touching, on a stretch of zeros.

    `ends` are those to be met here if the bracket cannot become narrower.
    """

    near: Any
    met: Any
    touch: Any
    flat: Any
    ends: Any


def _zeros(
    setting: Setting,
    base: Base,
    seen: Seen,
    length: Any,
    size: Any,
    spans: tuple[Span, Span],
    looked: Looked,
    tick: Any,
) -> _Zeros:
    eps = jnp.finfo(seen.value.dtype).eps
    before, after = spans
    close = jnp.minimum(jnp.abs(seen.rate) * tick, JUMP * size) + _TICK * eps * size
    # An extremum that misses zero by less than the tolerance has a rate of the order of its root.
    level = jnp.abs(seen.rate) * setting.pace <= math.sqrt(_TOUCH) * size
    tangent = looked.on & (jnp.abs(seen.value) <= _TOUCH * size) & level
    # on a stretch where a function is zero, only the beginning of the stretch is an event
    flat = (seen.value == 0) & (seen.rate == 0) & before.cross
    # what has been at zero all the way, as far as can be told, neither touches it nor dips to it
    least = jnp.maximum(jnp.maximum(_TOUCH * size, looked.band), TINY)
    away = jnp.abs(base.seen.value) > least
    left = away | (0.25 * length * jnp.abs(base.seen.rate) > least)
    touch = tangent & away & ~flat
    ends = before.cross | (before.dip & left)
    found = (ends | after.cross | (after.dip & left) | touch) & ~flat
    near = found & ((jnp.abs(seen.value) <= close) | touch)
    met = found & ((jnp.abs(seen.value) <= _MET * close) | touch)
    return _Zeros(near, met, touch, flat, ends)


def _having_left(looked: Looked, first: Seen, last: Seen, length: Any) -> Looked:
    """What is watched after a way from a base: a row that left its zero on the way is at that zero no more."""
    return looked._replace(band=jnp.where(largest(first, last, length) > looked.band, 0.0, looked.band))


def _judged(
    setting: Setting, base: Base, search: Search, looked: Looked, length: Any, seen: Seen, t: Any, reach: Any
) -> Trial:
    eps = jnp.finfo(seen.value.dtype).eps
    # lengths from the base are exact to a rounding of the step; only what names the time sees a rounding of that
    tick = _TICK * eps * (setting.pace + (jnp.abs(t) if setting.timed else 0.0))
    last, count = search.on & search.last, jnp.where(search.on, search.count, 0)
    low, high = jnp.where(search.on, search.low, 0.0), jnp.where(search.on, search.high, length)
    at_low, at_high = keep_if(search.on, search.at_low, base.seen), keep_if(search.on, search.at_high, seen)
    before = span(at_low, seen, length - low, _having_left(looked, base.seen, at_low, low))
    after = span(inside(setting, seen), at_high, high - length, _having_left(looked, base.seen, seen, length))
    rising = jnp.abs(base.seen.rate) * setting.pace
    whole = jnp.where(search.on, search.size, jnp.maximum(jnp.abs(base.seen.value), jnp.abs(seen.value)) + rising)
    size = jnp.minimum(whole, jnp.maximum(jnp.abs(base.seen.value), jnp.abs(at_high.value)) + rising)
    # what changes its sign from one end of the bracket to the other does not touch
    through = (length < high) & ((at_low.value > 0) != (at_high.value > 0))
    zeros = _zeros(setting, base, seen, length, size, (before, after), looked._replace(on=looked.on & ~through), tick)
    found = jnp.any(before.any | after.any | zeros.touch)
    far = jnp.asarray(jnp.inf, seen.value.dtype)
    expected = jnp.where(before.any, low + before.where * (length - low), far)
    first = jnp.min(expected, initial=jnp.inf)
    second = jnp.min(jnp.where(after.any, length + after.where * (high - length), far), initial=jnp.inf)
    # a row that is met here may have been zero before; its own zero here is expected close to the end
    sooner = (expected < length - _MET * tick) & (~zeros.met | (before.where < _APART))
    fire = (jnp.any(zeros.near) & ~jnp.any(sooner)) | (last & jnp.any(zeros.ends))
    some = jnp.any(before.any)
    new_low, new_high = jnp.where(some, low, length), jnp.where(some, length, high)
    narrow = (new_high - new_low <= tick) | (count >= _TRIALS)
    halve = ((count >= _PATIENT) & (count % 2 == 0)) | jnp.any(zeros.flat)
    aim = jnp.where(halve, 0.5 * (new_low + new_high), jnp.where(some, first, second))
    aim = jnp.clip(aim, new_low + 0.25 * tick, new_high - 0.25 * tick)
    # gaps and pushes leave zero with one sign, so that they need no band
    band = jnp.where(np.arange(whole.shape[0]) < setting.counts[0], _TOUCH * whole, 0.0)
    noise = contact.SLACK * (1.0 + reach)
    # forces and slips may jump in a step in which friction changes its direction; a user's functions may not
    given = np.arange(whole.shape[0]) < whole.shape[0] - setting.facing - setting.with_friction
    origin = jnp.where(before.cross, at_low.value, jnp.where(after.cross, seen.value, -seen.rate))
    ends = keep_if(some, at_low, inside(setting, seen)), keep_if(some, seen, at_high)
    return Trial(
        None,
        length,
        seen,
        Status(None, None),
        fire | ~found | last,
        fire & (zeros.met | (last & zeros.ends)),
        zeros.touch,
        jnp.where(origin < 0, -1.0, 1.0),
        band,
        jnp.any(given & looked.on & search.on & jumps(at_low, seen, last & before.cross, whole, tick, noise)),
        Search(found, jnp.where(narrow, new_high, aim), new_low, new_high, *ends, whole, count + 1, narrow),
    )

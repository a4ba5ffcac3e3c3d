r"""From one event to the next: trial steps from a base state that close in on the first event, if there is one.

A trial is a step of the method from the base. What `zero_crossing.span` sees in it decides: nothing, and the trial is
taken; a candidate, and the next trial ends where the earliest one is expected. Trials bracket the event and end on it
to round-off. Only then do base and clock move on, so an event has the order of the method, and of several in one step
the first comes first.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion.events.event import Watched
from holonomy.motion.events.zero_crossing import TINY, Looked, Seen, span
from holonomy.motion.methods.base import AbstractMethod, Status, keep_if
from holonomy.systems import System, tracing
from holonomy.systems.contact import contact
from holonomy.systems.contact import contact_friction as rubbing
from holonomy.systems.quantities import ambient_acceleration
from holonomy.systems.result_code import Code

_TRIALS = 60
_PATIENT = 8  # trials after which every other one halves the bracket
_TOUCH = 1e-12  # a dip this near to zero, in units of the watched function's size in the step, touches
_NO_STEP = 1e-7  # of dt: what is left of a step below this is not worth a step of the method
_SHORT = 0.5  # of dt: the guesses of a method's next step are of no use after a shorter one


class Setting(eqx.Module):
    """What does not change along a run: the system, the events, the method, and the grid of time."""

    system: System
    watched: Watched
    method: AbstractMethod
    t0: Any
    dt: Any

    @property
    def way(self) -> Any:
        """The direction of time, 1 or -1."""
        return jnp.where(self.dt < 0, -1.0, 1.0)

    @property
    def pace(self) -> Any:
        """The length of a step."""
        return jnp.abs(self.dt)

    @property
    def counts(self) -> tuple[int, int]:
        """How many events and how many walls there are."""
        return self.watched.count, contact.count(self.system)

    @property
    def labels(self) -> int:
        """How many kinds of record there are: events, then impacts, contacts and releases of each wall."""
        events, sides = self.counts
        return events + 3 * sides + 2 * self.rubbing

    @property
    def rubbing(self) -> int:
        """How many walls have friction."""
        return contact.rough(self.system)

    @property
    def timed(self) -> bool:
        """Whether the motion or what is watched names the time."""
        system = self.system
        frame = tracing.Frame(system.coordinates, system.parameters, system.space, system.parametric)
        example = frame.example(velocity=True)
        return not system.autonomous or any(f.depends_on(0, example) for f in self.watched.sigmas)

    def time(self, index: Any, past: Any) -> Any:
        """The time a length `past` after so many whole steps."""
        return self.t0 + index * self.dt + self.way * past

    def at(self, touch: Any) -> System:
        """The system in this contact."""
        return contact.touching(self.system, touch)


class Base(NamedTuple):
    """A state from which trials start: so many whole steps and a length `past` since the run began.

    `fresh` are the watched rows that are zero here because they have just been seen to be; `side` is the sign they
    leave zero with, 0 for that of their rate. `known` says whether `seen` is up to date. `touch` is the contact.
    """

    state: Any
    index: Any
    past: Any
    seen: Seen
    fresh: Any
    side: Any
    known: Any
    touch: Any


class Search(NamedTuple):
    """A bracket of the first event, in lengths from the base, with what is seen at its ends; `on` while it is open."""

    on: Any
    trial: Any
    low: Any
    high: Any
    at_low: Seen
    at_high: Seen
    count: Any
    last: Any


class Goal(NamedTuple):
    """Where steps lead to: a length after the last whole step, and whether that completes the next one."""

    length: Any
    whole: Any


class Trial(NamedTuple):
    """A trial step: its end, what to do, and which rows were met there, of these which touched without crossing."""

    state: Any
    length: Any
    seen: Seen
    status: Status
    accept: Any
    met: Any
    touched: Any
    search: Search


def begin(setting: Setting, state: Any, touch: Any) -> Base:
    """The base at the start of a run."""
    rows = _rows(setting)
    blank = jnp.zeros(rows, setting.t0.dtype)
    return Base(
        state,
        jnp.int64(0),
        jnp.zeros((), setting.t0.dtype),
        Seen(blank, blank),
        jnp.zeros(rows, bool),
        blank,
        jnp.bool_(False),
        touch,
    )


def nothing(setting: Setting) -> Search:
    """No search."""
    blank = jnp.zeros(_rows(setting), setting.t0.dtype)
    zero, seen = jnp.zeros((), setting.t0.dtype), Seen(blank, blank)
    return Search(jnp.bool_(False), zero, zero, zero, seen, seen, jnp.int32(0), jnp.bool_(False))


def _rows(setting: Setting) -> int:
    events, sides = setting.counts
    return events + 2 * sides + setting.rubbing


# ── What is seen ──────────────────────────────────────────────────────────────────────────────────────


def observe(setting: Setting, system: System, t: Any, q: Any, v: Any) -> Seen:
    """Watched values and rates at a state."""
    along = (jnp.ones_like(t), v, ambient_acceleration(system, t, q, v))
    value, rate = jax.jvp(lambda *state: values(setting, system, *state), (t, q, v), along)
    return Seen(value, setting.way * rate)


def values(setting: Setting, system: System, t: Any, q: Any, v: Any) -> Any:
    """Watched values at a state: events, gaps to the walls, and pushes of those in contact."""
    parts = [f(t, q, v, *system.last)[None] for f in setting.watched.sigmas]
    if contact.count(system):
        parts += [contact.gaps(system, t, q, v), contact.pushes(system, t, q, v)]
    if setting.rubbing:
        parts.append(rubbing.grips(system, t, q, v))
    return jnp.concatenate(parts)


def _looked(setting: Setting, touch: contact.Touch, size: Any) -> Looked:
    events, active, rows = setting.counts[0], touch.active, _rows(setting) - setting.counts[0]
    directions = np.array(setting.watched.directions, int)
    falls = np.concatenate([directions <= 0, np.ones(rows, bool)])
    rises = np.concatenate([directions >= 0, np.zeros(rows, bool)])
    on = jnp.concatenate([jnp.ones(events, bool), ~active, active, active[: setting.rubbing]])
    slack = jnp.concatenate([jnp.zeros(events), jnp.full(rows, contact.SLACK)]).astype(size.dtype)
    return Looked(on, jnp.asarray(falls), jnp.asarray(rises), slack * size)


def _inside(setting: Setting, seen: Seen) -> Seen:
    """What is seen, gaps and pushes not below zero: what is left of them by rounding is no crossing."""
    events = setting.counts[0]
    bounded = np.arange(_rows(setting)) >= events
    return Seen(jnp.where(bounded, jnp.maximum(seen.value, TINY), seen.value), seen.rate)


def _signed(setting: Setting, base: Base, seen: Seen) -> Seen:
    """What is seen at a base: a zero that was just met has the sign with which it is left."""
    side = jnp.where(base.side != 0, base.side, jnp.where(seen.rate < 0, -1.0, 1.0))
    zero = base.fresh | (seen.value == 0)
    # one that only touched leaves on the side it came from, however little of the way to the extremum is left
    rate = jnp.where(base.fresh & (base.side * seen.rate < 0), 0.0, seen.rate)
    return _inside(setting, Seen(jnp.where(zero, side * TINY, seen.value), rate))


# ── One trial ─────────────────────────────────────────────────────────────────────────────────────────


def attempt(setting: Setting, base: Base, search: Search, goal: Goal, step: Any) -> tuple[Base, Trial]:
    """One trial step towards the goal; the base with what is seen from it.

    Where the base has not been looked at yet, that is all that is done, and the trial is not to be used.
    """
    method = setting.method
    left = goal.length - base.past
    length = jnp.where(search.on, search.trial, jnp.minimum(left, method.reach(base.state, setting.pace)))
    t = setting.time(base.index, base.past)
    new, status = step(setting.at(base.touch), method, t, setting.way * length, base.state)
    return weigh(setting, base, search, length, new, status)


def weigh(setting: Setting, base: Base, search: Search, length: Any, new: Any, status: Status) -> tuple[Base, Trial]:
    """What to make of a trial step of given length to a new state."""
    method, way = setting.method, setting.way
    t = setting.time(base.index, base.past)
    system = setting.at(base.touch)
    ends = jnp.where(base.known, t + way * length, t)
    q, v = method.read(system, ends, keep_if(base.known, new, base.state))
    seen = observe(setting, system, ends, q, v)
    signed = keep_if(base.known, base.seen, _signed(setting, base, seen))
    trial = _judged(setting, base._replace(seen=signed), search, length, seen, t, jnp.max(jnp.abs(q)))
    accept = trial.accept & base.known & (status.code == Code.ok)
    open_ = trial.search.on & base.known & ~accept
    trial = trial._replace(state=new, status=status, accept=accept, search=trial.search._replace(on=open_))
    return base._replace(seen=signed, known=jnp.bool_(True)), trial


def _judged(setting: Setting, base: Base, search: Search, length: Any, seen: Seen, t: Any, reach: Any) -> Trial:
    eps = jnp.finfo(seen.value.dtype).eps
    # lengths from the base are exact to a rounding of the step; only what names the time sees a rounding of that
    tick = 4.0 * eps * (setting.pace + (jnp.abs(t) if setting.timed else 0.0))
    last, count = search.on & search.last, jnp.where(search.on, search.count, 0)
    low, high = jnp.where(search.on, search.low, 0.0), jnp.where(search.on, search.high, length)
    at_low, at_high = keep_if(search.on, search.at_low, base.seen), keep_if(search.on, search.at_high, seen)
    looked = _looked(setting, base.touch, 1.0 + reach)
    before = span(at_low, seen, length - low, looked)
    after = span(_inside(setting, seen), at_high, high - length, looked)
    size = jnp.maximum(jnp.abs(base.seen.value), jnp.abs(at_high.value)) + jnp.abs(base.seen.rate) * setting.pace
    close = jnp.abs(seen.rate) * tick + 4.0 * eps * size
    # An extremum that misses zero by less than the tolerance has a rate of the order of its root.
    level = jnp.abs(seen.rate) * setting.pace <= math.sqrt(_TOUCH) * size
    tangent = looked.on & (jnp.abs(seen.value) <= _TOUCH * size) & level
    touch = tangent & (jnp.abs(base.seen.value) > jnp.maximum(_TOUCH * size, TINY))
    found = before.any | after.any | touch
    near = found & ((jnp.abs(seen.value) <= close) | touch)
    met = found & ((jnp.abs(seen.value) <= 16.0 * close) | touch)
    far = jnp.asarray(jnp.inf, seen.value.dtype)
    first = jnp.min(jnp.where(before.any, low + before.where * (length - low), far), initial=jnp.inf)
    second = jnp.min(jnp.where(after.any, length + after.where * (high - length), far), initial=jnp.inf)
    sooner = before.any & ~met & (low + before.where * (length - low) < length - 16.0 * tick)
    fire = (jnp.any(near) & ~jnp.any(sooner)) | (last & jnp.any(before.any))
    some = jnp.any(before.any)
    new_low, new_high = jnp.where(some, low, length), jnp.where(some, length, high)
    narrow = (new_high - new_low <= tick) | (count >= _TRIALS)
    halve = (count >= _PATIENT) & (count % 2 == 0)
    aim = jnp.where(halve, 0.5 * (new_low + new_high), jnp.where(some, first, second))
    aim = jnp.clip(aim, new_low + 0.25 * tick, new_high - 0.25 * tick)
    return Trial(
        None,
        length,
        seen,
        Status(None, None),
        fire | ~jnp.any(found),
        fire & (met | (last & before.any)),
        touch,
        Search(
            jnp.any(found),
            jnp.where(narrow, new_high, aim),
            new_low,
            new_high,
            keep_if(some, at_low, _inside(setting, seen)),
            keep_if(some, seen, at_high),
            count + 1,
            narrow,
        ),
    )


# ── Moving on ─────────────────────────────────────────────────────────────────────────────────────────


class Landing(NamedTuple):
    """An event applied: the state before and after, in the space's points, records made, and how it went."""

    q: Any
    before: Any
    after: Any
    made: Any
    delay: Any
    touch: Any
    code: Any
    smooth: Any


def is_short(setting: Setting, length: Any) -> Any:
    """Whether a step was so short that the method has to begin anew after it."""
    return setting.method.fixed_step & (length < _SHORT * setting.pace)


def land(setting: Setting, base: Base, met: Any, touched: Any, t: Any, q: Any, v: Any) -> Landing:
    """What the rows that were met do to a state: actions of events, then impacts and changes of contact."""
    events, sides = setting.counts
    system, space = setting.system, setting.system.space
    place, speed = q, v
    acted = jnp.bool_(False)
    for k, action in enumerate(setting.watched.actions):
        if action is not None:
            place, speed = keep_if(met[k], action(t, place, speed, *system.last), (place, speed))
            acted = acted | met[k]
    if not system.flat and any(a is not None for a in setting.watched.actions):
        point = space.project(place)
        place, speed = keep_if(acted, (point, space.tangent(point, speed)), (place, speed))
    made, delay = met[:events], jnp.zeros(setting.labels, q.dtype)
    code, smooth, touch = jnp.int32(Code.ok), jnp.sum(met) <= 1, base.touch
    if sides:
        reached, freed, turned = (met[events + k * sides : events + (k + 1) * sides] for k in range(3))
        turned = turned if setting.rubbing else jnp.zeros_like(reached)
        if contact.given(system).as_rates:
            place, speed = contact.returned(contact.touching(system, base.touch), t, place, speed)
        told = contact.settle(
            system, setting.way, setting.pace, t, place, speed, base.touch, reached, freed, touched[events:][:sides],
            turned,
        )  # fmt: skip
        matters = acted | jnp.any(met[events:])
        speed, touch = keep_if(matters, (told.v, told.touch), (speed, touch))
        code = jnp.where(matters, told.code, code)
        code = jnp.where(
            jnp.any(touch.active) & (code == Code.ok) & (not setting.method.grips), jnp.int32(Code.no_contact), code
        )
        made = jnp.concatenate([made, told.made & matters])
        delay = jnp.concatenate([delay[:events], told.delay])
        smooth = smooth & (told.smooth | ~matters)
    smooth = smooth & ~jnp.any(met & touched)
    return Landing(place, v, speed, made, delay, touch, code, smooth)


def leave(setting: Setting, base: Base, trial: Trial, landing: Landing, goal: Goal) -> Base:
    """The base after a trial that met an event or was short: a new start of the method where that left the state."""
    method = setting.method
    past, reached = _further(base, trial, goal)
    t = setting.time(base.index, past)
    system = setting.at(landing.touch)
    # What is left of the step may be too short to be one: its first order is exact to round-off then.
    rest = goal.length - past
    tiny = rest <= _NO_STEP * setting.pace
    place, speed = landing.q, landing.after
    place, speed = keep_if(tiny & ~reached, _nudged(system, t, place, speed, setting.way * rest), (place, speed))
    past = jnp.where(tiny, goal.length, past)
    state = method.start(system, setting.time(base.index, past), place, speed)
    events = setting.counts[0]
    keeps = jnp.where(base.seen.value < 0, -1.0, 1.0)
    side = jnp.where(trial.touched[:events], keeps[:events], 0.0)
    side = jnp.concatenate([side, jnp.ones(_rows(setting) - events, side.dtype)])
    known = ~jnp.any(trial.met) & ~tiny
    seen = _inside(setting, trial.seen)
    return _counted(Base(state, base.index, past, seen, trial.met, side, known, landing.touch), goal, tiny)


def go_on(setting: Setting, base: Base, trial: Trial, goal: Goal) -> Base:
    """The base at the end of a trial that met nothing."""
    past, reached = _further(base, trial, goal)
    quiet = jnp.zeros_like(base.fresh)
    new = base._replace(state=trial.state, past=past, seen=_inside(setting, trial.seen), fresh=quiet)
    return _counted(new, goal, reached)


def _further(base: Base, trial: Trial, goal: Goal) -> tuple[Any, Any]:
    reached = trial.length >= goal.length - base.past
    return jnp.where(reached, goal.length, base.past + trial.length), reached


def _counted(base: Base, goal: Goal, reached: Any) -> Base:
    """The base, counted as one whole step more where it has completed one."""
    done = reached & goal.whole
    past = jnp.where(done, jnp.zeros_like(base.past), base.past)
    return base._replace(index=base.index + done.astype(base.index.dtype), past=past)


def _nudged(system: System, t: Any, q: Any, v: Any, h: Any) -> tuple[Any, Any]:
    local = system.local(q)
    y, w = local.enter(v)
    return local.leave(y + h * w, w + h * local.acceleration(t, y, w))

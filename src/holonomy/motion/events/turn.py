"""The end of an accepted trial: what the events there do, and the base from which the motion goes on.

Runs on the host and traced runs share this turn; they differ in how they come to the trial, and in what they keep.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from holonomy.motion.events import locate
from holonomy.motion.events.locate import Base, Goal, Setting, Trial
from holonomy.motion.loops import plain
from holonomy.motion.methods.base import keep_if
from holonomy.systems import System
from holonomy.systems.constraints.conditions import Touch
from holonomy.systems.contact import contact
from holonomy.systems.result_code import Code
from holonomy.types import Count, Delays, Flag, Flags, Number, Point, Records, Tangent

_NO_STEP = 1e-7  # of dt: what is left of a step below this is not worth a step of the method
_SHORT = 0.5  # of dt: the guesses of a method's next step are of no use after a shorter one
_ROUNDINGS = 64.0  # a function that an action leaves within so many roundings of its terms is still zero


class Landing(NamedTuple):
    """An event applied: the state before and after, in the space's points, records made, and how it went.

    `fresh` are the rows that were met, here or before, and are still zero.
    """

    q: Point
    before: Tangent
    after: Tangent
    made: Records
    delay: Delays
    touch: Touch
    fresh: Flags
    code: Count
    smooth: Flag


def is_short(setting: Setting, length: Number) -> Flag:
    """Whether a step was so short that the method has to begin anew after it."""
    return jnp.asarray(setting.method.fixed_step & (length < _SHORT * setting.pace))


def landed(setting: Setting, base: Base, trial: Trial, goal: Goal) -> tuple[Base, Landing]:
    """The base after a trial that met an event or was short, and what the event did.

    The code of the landing is `Code.event` where a terminal event ends the run; the base is then at the event.
    """
    length = base.past + trial.length
    t = setting.time(base.index, length)
    q, v = setting.method.read(setting.at(base.touch), t, trial.state)
    told = _land(setting, base, trial, t, q, v)
    moved = _leave(setting, base, trial, told, goal)
    ends = jnp.bool_(False)
    for k, final in enumerate(setting.watched.terminal):
        ends = ends | (trial.met[k] if final else False)
    code = jnp.where((told.code == Code.ok) & ends, jnp.int32(Code.event), told.code)
    # The last state of a run that ends here is the one at the event, not at the end of its step.
    return keep_if(ends, moved._replace(index=base.index, past=length), moved), told._replace(code=code)


def flown(setting: Setting, base: Base, trial: Trial, goal: Goal) -> Base:
    """The base at the end of a trial that met nothing."""
    past, reached = _further(base, trial, goal)
    seen, fresh = locate.inside(setting, trial.seen), _stayed(base, trial)
    return _counted(base._replace(state=trial.state, past=past, seen=seen, fresh=fresh), goal, reached)


def _stayed(base: Base, trial: Trial) -> Any:
    """The rows that were zero at the base and have not left zero since."""
    return base.fresh & (jnp.abs(trial.seen.value) <= base.band) & (base.band > 0)


# ── At an event ───────────────────────────────────────────────────────────────────────────────────────


def _land(setting: Setting, base: Base, trial: Trial, t: Any, q: Any, v: Any) -> Landing:
    """What the rows that were met do to a state: actions of events, then impacts and changes of contact."""
    events, sides = setting.counts
    met, touched, system = trial.met, trial.touched, setting.system
    place, speed, acted, code = _acted(setting, met, t, q, v)
    made, delay = met[:events], jnp.zeros(setting.labels, q.dtype)
    smooth, touch = jnp.sum(met) <= 1, base.touch
    if sides:
        reached, freed = met[events:][:sides], met[events + sides :][: setting.facing]
        turned = met[-setting.with_friction :] if setting.with_friction else jnp.zeros_like(freed)
        if system.constraints.treatment.as_rates:
            place, speed = contact.returned(contact.touching(system, base.touch), t, place, speed)
        told = contact.settle(
            system, setting.way, setting.pace, t, place, speed, base.touch, reached, freed, touched[events:][:sides],
            turned,
        )  # fmt: skip
        matters = acted | jnp.any(met[events:])
        speed, touch = keep_if(matters, (told.v, told.touch), (speed, touch))
        code = jnp.where(matters & (code == Code.ok), told.code, code)
        code = jnp.where(
            jnp.any(touch.active) & (code == Code.ok) & (not setting.method.grips), jnp.int32(Code.no_contact), code
        )
        made = jnp.concatenate([made, told.made & matters])
        delay = jnp.concatenate([delay[:events], told.delay])
        smooth = smooth & (told.smooth | ~matters)
    smooth = smooth & ~jnp.any(met & touched)
    fresh = (met | _stayed(base, trial)) & (~acted | _still_zero(setting, t, (q, v), (place, speed)))
    return Landing(place, v, speed, made, delay, touch, fresh, code, smooth)


def _acted(setting: Setting, met: Any, t: Any, q: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    """The state after the actions of the events that were met, whether there was one, and a code."""
    system, space = setting.system, setting.system.space
    place, speed, acted, code = q, v, jnp.bool_(False), jnp.int32(Code.ok)
    if not setting.acts:
        return place, speed, acted, code
    for k, action in enumerate(setting.watched.actions):
        if action is not None:
            place, speed = keep_if(met[k], action(t, place, speed, *system.last), (place, speed))
            acted = acted | met[k]
    if not system.flat:
        point = space.project(place)
        place, speed = keep_if(acted, (point, space.tangent(point, speed)), (place, speed))
    if system.constraints:
        code = jnp.where(acted, plain.consistent(system, t, place, speed), code)
    return place, speed, acted, code


def _still_zero(setting: Setting, t: Any, before: tuple[Any, Any], after: tuple[Any, Any]) -> Any:
    """Which of the watched rows an action left where they were, at zero up to rounding; pushes begin anew."""
    quiet = jnp.zeros(locate.rows(setting), bool)
    if not setting.acts:
        return quiet
    system = setting.system

    def near(state: Any) -> Any:
        parts = [f(t, *state, *system.last)[None] for f in setting.watched.sigmas]
        return jnp.concatenate([*parts, contact.gaps(system, t, *state)] if contact.count(system) else parts)

    value = near(after)
    slopes = jax.jacfwd(near)(after)
    terms = sum((jnp.abs(s) @ jnp.abs(x) for s, x in zip(slopes, after, strict=True)), jnp.abs(value))
    rounding = _ROUNDINGS * jnp.finfo(value.dtype).eps * jnp.where(jnp.isfinite(terms), terms, 0.0)
    zero = jnp.abs(value) <= rounding + 2.0 * jnp.abs(near(before))
    return jnp.concatenate([zero, quiet[value.size :]])


# ── Moving on ─────────────────────────────────────────────────────────────────────────────────────────


def _leave(setting: Setting, base: Base, trial: Trial, landing: Landing, goal: Goal) -> Base:
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
    # one that crossed leaves on the other side, one that touched on either; where the state changed, its rate decides
    acts = np.array([a is not None for a in setting.watched.actions], bool)
    changed = jnp.any(trial.met[events:]) | jnp.any(trial.met[:events] & acts)
    side = jnp.where(trial.met[:events] & ~changed, -trial.came[:events], 0.0)
    side = jnp.where(trial.touched[:events], locate.TOUCHED, side)
    side = jnp.concatenate([side, jnp.ones(locate.rows(setting) - events, side.dtype)])
    known = ~jnp.any(trial.met) & ~tiny
    seen, band = locate.inside(setting, trial.seen), jnp.where(trial.met, trial.band, base.band)
    return _counted(Base(state, base.index, past, seen, landing.fresh, band, side, known, landing.touch), goal, tiny)


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
